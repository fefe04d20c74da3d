//! `airlock lessons`: lessons proposed, curated, taken out of service and imported.

mod import;

use airlock_knowledge::store::Kind;

use super::curation::{Curator, Verb};
use crate::cli::Lessons;
use crate::config::Config;
use crate::exit::Exit;

/// Lists, shows, decides or imports.
///
/// # Errors
/// When the item is not there, or the store does not answer.
pub async fn run(command: Lessons, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let of = match &command {
        Lessons::List(list) => &list.of,
        Lessons::Show(one) => &one.of,
        Lessons::Approve(decide)
        | Lessons::Reject(decide)
        | Lessons::Demote(decide)
        | Lessons::Restore(decide)
        | Lessons::SetBack(decide) => &decide.of,
        Lessons::Edit(edit) => &edit.decide.of,
        Lessons::Import { of, .. } => of,
    };
    let curator = Curator::open(config, of, json).await?;
    let done = match &command {
        Lessons::List(list) => curator.list(Kind::Lesson, list).await,
        Lessons::Show(one) => curator.show(Kind::Lesson, one).await,
        Lessons::Approve(decide) => curator.decide(Kind::Lesson, decide, Verb::Promote).await,
        Lessons::Reject(decide) => curator.decide(Kind::Lesson, decide, Verb::Reject).await,
        Lessons::Demote(decide) => curator.decide(Kind::Lesson, decide, Verb::Demote).await,
        Lessons::Restore(decide) => curator.decide(Kind::Lesson, decide, Verb::Restore).await,
        Lessons::SetBack(decide) => curator.decide(Kind::Lesson, decide, Verb::SetBack).await,
        Lessons::Edit(edit) => curator.edit(Kind::Lesson, edit).await,
        Lessons::Import { file, .. } => import::run(&curator, config, file, json).await,
    };
    curator.close(done).await
}
