//! `airlock context`: what a model would see, block by block.

use airlock_pipeline::{Asker, ContextError, Shown, Surface};
use airlock_types::{AskRequest, Question};

use crate::cli::Context;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::http::context_block;
use crate::store::Purpose;
use crate::{boot, output};

/// Shows the blocks of a question.
///
/// # Errors
/// When the domain cannot be opened.
pub async fn run(context: Context, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let question = Question::parse(&context.question).map_err(usage)?;
    let domain = context.domain.map(|name| name.parse()).transpose().map_err(usage)?;
    let request = AskRequest { domain, now: context.now, ..AskRequest::new(question) };
    let (host, store) = boot::host_with_store(config, Purpose::Command).await?;
    host.embed_domains().await;
    let shown = host.context(&request, &Asker::local(Surface::Cli)).await;
    store.close().await?;
    let Shown { blocks, missing, reranked } = shown.map_err(|error| match error {
        ContextError::Ask(error) => usage(error),
        error => error.into(),
    })?;
    for block in &blocks {
        if as_json {
            output::json(&context_block(block))?;
        } else {
            output::line(block.render())?;
        }
    }
    if let Some(reranked) = reranked {
        let (pairs, took) = (reranked.pairs, reranked.took.as_millis());
        output::remark("note", format!("{} compared {pairs} pairs in {took} ms", reranked.model));
    }
    for missing in missing {
        output::remark("warning", missing);
    }
    Ok(Exit::Done)
}
