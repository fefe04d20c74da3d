//! `airlock golden`: questions whose right answer is known, proposed by feedback and promoted by a person.

use airlock_knowledge::store::Kind;

use super::curation::{Curator, Verb};
use crate::cli::Golden;
use crate::config::Config;
use crate::exit::Exit;

/// Lists or decides.
///
/// # Errors
/// When the item is not there, or the store does not answer.
pub async fn run(command: Golden, config: &Config, json: bool) -> anyhow::Result<Exit> {
    let of = match &command {
        Golden::List(list) => &list.of,
        Golden::Show(one) => &one.of,
        Golden::Promote(decide)
        | Golden::Reject(decide)
        | Golden::Deactivate(decide)
        | Golden::Restore(decide)
        | Golden::SetBack(decide) => &decide.of,
        Golden::Edit(edit) => &edit.decide.of,
    };
    let curator = Curator::open(config, of, json).await?;
    let done = match &command {
        Golden::List(list) => curator.list(Kind::Golden, list).await,
        Golden::Promote(decide) => curator.decide(Kind::Golden, decide, Verb::Promote).await,
        Golden::Show(one) => curator.show(Kind::Golden, one).await,
        Golden::Reject(decide) => curator.decide(Kind::Golden, decide, Verb::Reject).await,
        Golden::Restore(decide) => curator.decide(Kind::Golden, decide, Verb::Restore).await,
        Golden::SetBack(decide) => curator.decide(Kind::Golden, decide, Verb::SetBack).await,
        Golden::Edit(edit) => curator.edit(Kind::Golden, edit).await,
        Golden::Deactivate(decide) => curator.decide(Kind::Golden, decide, Verb::Demote).await,
    };
    curator.close(done).await
}
