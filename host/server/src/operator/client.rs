//! The operator's side of the socket.

use std::path::Path;

use anyhow::Context;
use tokio::io::BufReader;
use tokio::net::UnixStream;

use super::protocol::{CaseGraded, REPLY_LIMIT, Reply, Request, receive, send};
use crate::config::Config;

/// Asks the running host of a configuration; `None` when none runs.
///
/// # Errors
/// When the host does not answer as a host does.
pub async fn ask(
    config: &Config,
    request: &Request,
    graded: impl FnMut(CaseGraded),
) -> anyhow::Result<Option<Reply>> {
    let path = &config.operator_socket;
    match UnixStream::connect(path).await {
        Ok(stream) => converse(stream, request, graded).await.map(Some),
        Err(error) if is_nobody(&error) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("the host at {} cannot be reached", path.display())),
    }
}

/// Whether no host listens, rather than one that this user may not speak to.
fn is_nobody(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused)
}

async fn converse(
    mut stream: UnixStream,
    request: &Request,
    mut graded: impl FnMut(CaseGraded),
) -> anyhow::Result<Reply> {
    send(&mut stream, request).await.context("the host went away")?;
    let mut lines = BufReader::new(stream);
    loop {
        let reply = receive(&mut lines, REPLY_LIMIT).await.context("the host is of another version")?;
        match reply
            .context("the host went away before it was done; `airlock plugin history` tells what it did")?
        {
            Reply::Graded(case) => graded(case),
            last => return Ok(last),
        }
    }
}

/// What to say when no host runs.
pub fn nobody(path: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "no host listens at {}: start one with `airlock serve` or `airlock demo`, or name its configuration with --config",
        path.display()
    )
}
