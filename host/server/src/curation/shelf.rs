//! What is curated of a domain as lines of JSON, and bringing it back to that by decisions: nothing is written but what a
//! person could have decided one by one, and every step is in the history.

use std::io::Write;

use airlock_knowledge::store::{
    Content, Curation, CurationState, Decision, Filter, ItemId, Kind, NewCurated, Origin, Promote, StoreError,
};
use airlock_pipeline::Domain;
use airlock_types::{ContentHash, DomainName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decide::{Action, NotDecided, Wanted, decide};

/// A line of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The item.
    pub id: ItemId,
    /// What it is.
    pub kind: Kind,
    /// Where it stood.
    pub state: CurationState,
    /// Where it came from.
    pub origin: Origin,
    /// Hash of what it said.
    pub hash: ContentHash,
    /// What it said.
    pub content: Value,
}

impl Kept {
    /// The line of an item.
    ///
    /// # Errors
    /// Never: its fields are texts and lists.
    pub fn of(item: &Curation) -> Result<Self, serde_json::Error> {
        let content = serde_json::to_value(&item.content)?;
        let (kind, state, origin) = (item.content.kind(), item.state, item.origin);
        Ok(Self { id: item.id, kind, state, origin, hash: item.hash, content })
    }

    /// What it said, if that is what its hash says.
    ///
    /// # Errors
    /// When somebody changed the line, or it cannot be kept.
    pub fn content(&self) -> Result<Content, String> {
        let content = Content::parse(self.kind, &self.content).map_err(|error| error.to_string())?;
        if content.hash() == self.hash {
            return Ok(content);
        }
        Err(format!("hash: the content's is {}, the line says {}", content.hash(), self.hash))
    }
}

/// Items of one page while a snapshot is written.
const PAGE: i64 = 1_000;

/// Writes what is curated of a domain, in whatever state, a line each; gives how many.
///
/// # Errors
/// When the store does not answer, or what is written to does not take it.
pub async fn write_down(
    promote: &Promote,
    domain: &DomainName,
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    let (mut count, mut after) = (0, None);
    loop {
        let filter = Filter {
            domain: Some(domain.clone()),
            state: None::<CurationState>,
            limit: PAGE,
            after,
            ..Filter::default()
        };
        let page = promote.curations(&filter).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        for item in &page {
            writeln!(out, "{}", serde_json::to_string(&Kept::of(item)?)?)?;
            count += 1;
        }
    }
    out.flush()?;
    Ok(count)
}

/// What bringing a line back came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutBack {
    /// It was as the line says.
    Same,
    /// It is now.
    Done,
}

/// Brings one item to where a line of a snapshot says it was. The same content under another identity counts as the same.
///
/// # Errors
/// [`NotDecided`]: what the gate refuses today stays out of service.
pub async fn put_back(
    promote: &Promote,
    live: &Domain,
    kept: &Kept,
    content: Content,
    by: &Decision,
) -> Result<PutBack, NotDecided> {
    let (domain, id) = (live.name(), kept.id);
    let now = match promote.curated(domain, id).await {
        Err(StoreError::NotFound { .. }) => {
            return if kept.state == CurationState::Active {
                added(promote, live, kept.origin, content, by).await
            } else {
                // What was out of service is not brought into it to be taken out again.
                Ok(PutBack::Same)
            };
        }
        found => found?,
    };
    let mut seen = now.hash;
    let wanted = |seen| Wanted { domain, kind: kept.kind, id, seen, by };
    let mut done = PutBack::Same;
    if now.hash != kept.hash {
        seen = kept.hash;
        decide(promote, &wanted(now.hash), Action::Edit(live, content.clone())).await?;
        done = PutBack::Done;
    }
    let action = match (now.state, kept.state) {
        (from, to) if from == to => return Ok(done),
        (CurationState::Withdrawn, CurationState::Active) => match now.candidate {
            Some(candidate) => {
                let candidate = promote.candidate(domain, candidate).await?;
                let wanted = Wanted { id: candidate.id, ..wanted(candidate.hash) };
                decide(promote, &wanted, Action::Promote(live)).await?;
                return Ok(PutBack::Done);
            }
            None => Action::Restore(live),
        },
        (_, CurationState::Active) => Action::Restore(live),
        (CurationState::Active, CurationState::Withdrawn) => Action::SetBack,
        (CurationState::Active, _) => Action::Demote,
        // Out of service is out of service.
        _ => return Ok(done),
    };
    decide(promote, &wanted(seen), action).await?;
    Ok(PutBack::Done)
}

async fn added(
    promote: &Promote,
    live: &Domain,
    origin: Origin,
    content: Content,
    by: &Decision,
) -> Result<PutBack, NotDecided> {
    live.fits(&content)?;
    let new = NewCurated { domain: live.name().clone(), content, origin };
    match promote.add(new, by).await {
        Ok(_) => Ok(PutBack::Done),
        Err(StoreError::Decided { .. }) => Ok(PutBack::Same),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_that_was_changed_is_noticed() {
        let content =
            Content::parse(Kind::Example, &json!({"question": "How many?", "sql": "SELECT 1"})).unwrap();
        let line = |content: Value, hash: ContentHash| {
            let kind = Kind::Example;
            let (id, state, origin) = (ItemId::now(), CurationState::Active, Origin::Person);
            Kept { id, kind, state, origin, hash, content }
        };
        let said = serde_json::to_value(&content).unwrap();
        assert_eq!(line(said.clone(), content.hash()).content().unwrap(), content);
        let mut other = said;
        other["sql"] = json!("SELECT 2");
        assert!(line(other, content.hash()).content().unwrap_err().contains("hash"));
        assert!(line(json!({"question": "x"}), content.hash()).content().unwrap_err().contains("content"));
    }
}
