//! `airlock context`: what a model would see, block by block.

use airlock_types::Question;
use serde_json::json;

use crate::cli::Context;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::Purpose;
use crate::{boot, output};

/// Shows the blocks of a question.
///
/// # Errors
/// When the domain cannot be opened.
pub async fn run(context: Context, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let question = Question::parse(&context.question).map_err(usage)?;
    let domain = context.domain.map(|name| name.parse()).transpose().map_err(usage)?;
    let (host, store) = boot::host_with_store(config, Purpose::Command).await?;
    host.embed_domains().await;
    let blocks = host.context(&question, domain.as_ref()).await;
    store.close().await?;
    let blocks = blocks?;
    for block in &blocks {
        if as_json {
            output::json(&json!({"kind": block.kind, "vouched_by": block.vouched_by, "text": block.text}))?;
        } else {
            output::line(block.render())?;
        }
    }
    Ok(Exit::Done)
}
