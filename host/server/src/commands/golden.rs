//! `airlock golden`: questions whose right answer is known, proposed by feedback and promoted by a person.

use airlock_knowledge::store::Kind;

use super::curation::{Action, Curator};
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
        Golden::Promote(decide) | Golden::Deactivate(decide) => &decide.of,
    };
    let curator = Curator::open(config, of, json).await?;
    let done = match &command {
        Golden::List(list) => curator.list(Kind::Golden, list).await,
        Golden::Promote(decide) => curator.decide(Kind::Golden, decide, &Action::Promote).await,
        Golden::Deactivate(decide) => curator.decide(Kind::Golden, decide, &Action::Demote).await,
    };
    curator.close(done).await
}
