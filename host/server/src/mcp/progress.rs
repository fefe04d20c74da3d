//! What a pipeline is doing, as progress notifications of the call that wants them.

use std::time::Duration;

use airlock_pipeline::Progress;
use airlock_pipeline::progress::Reporter;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;

/// Events that wait to be sent; further ones are dropped rather than waited for.
const WAITING: usize = 64;
/// How long the last events of a call may take to leave.
const LAST: Duration = Duration::from_secs(1);

/// Where the events of one call go: nowhere, when its client did not ask for them.
pub(super) struct Listener(Option<(ProgressToken, Peer<RoleServer>)>);

impl Listener {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self(context.meta.get_progress_token().map(|token| (token, context.peer.clone())))
    }

    /// Does the work, and tells its events beside it. Dropping this drops the work.
    pub(super) async fn beside<T>(self, work: impl AsyncFnOnce(Reporter) -> T) -> T {
        let Some((token, peer)) = self.0 else { return work(Reporter::silent()).await };
        let (sender, mut events) = mpsc::channel(WAITING);
        let telling = async {
            let mut step = 0.0;
            while let Some(event) = events.recv().await {
                step += 1.0;
                let told = ProgressNotificationParam::new(token.clone(), step).with_message(words(&event));
                // A client that has gone is noticed elsewhere.
                let _ = peer.notify_progress(told).await;
            }
        };
        let working = work(Reporter::to(sender));
        let (mut telling, mut working) = (std::pin::pin!(telling), std::pin::pin!(working));
        let done = tokio::select! {
            done = &mut working => done,
            // It ends when the work has let go of the sender, which it does before it is done at the latest.
            () = &mut telling => return working.await,
        };
        let _ = tokio::time::timeout(LAST, telling).await;
        done
    }
}

/// One event in words.
fn words(event: &Progress) -> String {
    match event {
        Progress::Stage { stage } => format!("{stage} begins"),
        Progress::Asking { purpose, model } => format!("asking {model} to {}", purpose.replace('-', " ")),
        Progress::Linked { tables } => format!("looking at {}", tables.join(", ")),
        Progress::Drafted { attempt, origin, .. } => format!("attempt {attempt}: {origin} wrote SQL"),
        Progress::Running { attempt } => format!("attempt {attempt}: running"),
        Progress::Rows { attempt, row_count } => format!("attempt {attempt}: {row_count} rows"),
        Progress::Failed { attempt, error_type, message } => {
            format!("attempt {attempt} failed ({}): {message}", error_type.as_str())
        }
        Progress::Repair { action, detail } => format!("repair, {action}: {detail}"),
        Progress::Ended { outcome } => format!("ended: {}", outcome.as_str()),
        _ => "working".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_in_words() {
        for (event, want) in [
            (Progress::Stage { stage: "planner" }, "planner begins"),
            (
                Progress::Asking { purpose: "write-sql".to_owned(), model: "m".to_owned() },
                "asking m to write sql",
            ),
            (Progress::Rows { attempt: 1, row_count: 3 }, "attempt 1: 3 rows"),
        ] {
            assert_eq!(words(&event), want);
        }
    }
}
