//! `airlock mcp`: one agent over stdin and stdout, on a host of its own.

use std::sync::Arc;

use super::serve::signal;
use crate::config::Config;
use crate::exit::Exit;
use crate::store::Purpose;
use crate::{boot, mcp};

/// Serves until stdin closes or a signal comes.
///
/// # Errors
/// When the host cannot be put in service.
pub async fn run(config: &Config) -> anyhow::Result<Exit> {
    let (host, store) = boot::host_with_store(config, Purpose::Command).await?;
    let host = Arc::new(host);
    let following = host.follow_store();
    // The client waits for an answer to its first message, not for vectors.
    let embedding = tokio::spawn({
        let host = Arc::clone(&host);
        async move { host.embed_domains().await }
    });
    let served = mcp::serve_stdio(Arc::clone(&host), store.store().cloned(), signal()).await;
    embedding.abort();
    drop(following);
    host.learning_settled().await;
    store.close().await?;
    served.map(|()| Exit::Done)
}
