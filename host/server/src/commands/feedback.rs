//! `airlock feedback`: a verdict on an answer. It is recorded, and proposes; it decides nothing.

use airlock_pipeline::learning::{FeedbackError, Judgement};
use serde_json::json;

use super::curation::{Curator, failure, person};
use crate::boot;
use crate::cli::{Feedback, Of, Verdict};
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::output;
use crate::store::{self, Purpose};

/// Records a verdict.
///
/// # Errors
/// When the ask is not in the log, the SQL is refused, or the store does not answer.
pub async fn run(feedback: Feedback, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let open = store::open(config, Purpose::Command).await?;
    let asked = match open.store() {
        Some(store) => store.report().asked(feedback.ask).await.map_err(failure),
        None => Err(usage("there is no knowledge store: configure [store], or start `airlock serve` once")),
    };
    open.close().await?;
    let Some(asked) = asked? else {
        return Err(usage(format!(
            "there is no ask `{}` in the log: it was never finished, or is too old",
            feedback.ask
        )));
    };
    let of = Of { domain: Some(asked.domain.clone()) };
    let curator = Curator::open(config, &of, json).await?;
    let done = async {
        let domain = curator.live().await?;
        let judgement = Judgement {
            ask: feedback.ask,
            right: feedback.verdict == Verdict::Right,
            sql: feedback.sql.clone(),
            note: feedback.note.clone(),
            who: Some(person()),
        };
        let handles = (&curator.store().log(), &curator.store().distill());
        let mut recorded = judgement.record(&asked, &domain, handles, "cli").await;
        if let Ok(recorded) = &mut recorded
            && (judgement.sql.is_some() || judgement.note.is_some())
        {
            let host = boot::host(config).await?.with_store(curator.store().recall());
            let domain = host.caught_up(Some(&curator.domain)).await.map_err(usage)?;
            let learned = host.distil_told(&judgement, &asked, &domain, handles.1).await.map_err(failure)?;
            recorded.candidates.extend(learned);
        }
        match recorded {
            Ok(recorded) if json => output::json(
                &json!({"ok": true, "feedback": recorded.feedback, "candidates": recorded.candidates}),
            ),
            Ok(recorded) => {
                output::line(format!("Recorded ({}).", recorded.feedback))?;
                match recorded.candidates.len() {
                    0 => output::line("Nothing new is proposed by it."),
                    n => output::line(format!(
                        "Proposed by it: {n}; `airlock golden list`, `airlock examples list` and `airlock lessons list` show them."
                    )),
                }
            }
            Err(FeedbackError::Store(error)) => Err(failure(error)),
            Err(error) => Err(usage(error)),
        }
        .map(|()| Exit::Done)
    };
    let done = done.await;
    curator.close(done).await
}
