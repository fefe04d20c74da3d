//! What somebody said of the asks that candidates came from.

use std::collections::HashSet;

use airlock_types::AskId;

use super::{Candidate, Promote};
use crate::store::error::StoreError;
use crate::store::id::ItemId;
use crate::store::rows::{Origin, get};

impl Candidate {
    /// The ask it was taken from by itself. What somebody said of an answer has that ask in its evidence too, and rests on
    /// their word instead.
    fn taken_from(&self) -> Option<ItemId> {
        let by_itself = matches!(self.origin, Origin::Agent | Origin::Distilled);
        let ask = self.evidence.get("ask").filter(|_| by_itself && self.evidence.get("verdict").is_none())?;
        ask.as_str()?.parse::<AskId>().ok().map(ItemId::from)
    }
}

impl Promote {
    /// Those of the candidates whose own ask was answered wrongly, by the last that somebody said of it.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn disputed(&self, candidates: &[Candidate]) -> Result<HashSet<ItemId>, StoreError> {
        let asks: Vec<ItemId> = candidates.iter().filter_map(Candidate::taken_from).collect();
        if asks.is_empty() {
            return Ok(HashSet::new());
        }
        let query = "SELECT ask FROM (
                SELECT DISTINCT ON (ask) ask, verdict FROM airlock.feedback WHERE ask = ANY($1) ORDER BY ask, at DESC, id DESC
            ) AS last WHERE verdict <> 'right'";
        let lease = self.pool().lease().await?;
        let rows = lease.query(query, &[&asks]).await.map_err(|error| lease.error(&error))?;
        let wrong: HashSet<ItemId> = rows.iter().map(|row| get(row, "ask")).collect::<Result<_, _>>()?;
        let is_disputed =
            |candidate: &&Candidate| candidate.taken_from().is_some_and(|ask| wrong.contains(&ask));
        Ok(candidates.iter().filter(is_disputed).map(|candidate| candidate.id).collect())
    }
}
