//! Looking at stored knowledge: both shelves as one list, and one item with its history.

use std::str::FromStr;

use airlock_knowledge::store::{
    Candidate, CandidateState, Content, Curation, CurationState, Filter, ItemId, Kind, Order, Origin,
    Promote, StoreError,
};
use airlock_types::{ContentHash, DomainName};
use serde::Serialize;
use serde_json::Value;

/// An item of either shelf.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// It is proposed.
    Candidate(Candidate),
    /// It is curated.
    Curated(Curation),
}

impl Item {
    /// Its identity.
    pub const fn id(&self) -> ItemId {
        match self {
            Self::Candidate(candidate) => candidate.id,
            Self::Curated(item) => item.id,
        }
    }

    /// What it is.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Candidate(candidate) => candidate.kind,
            Self::Curated(item) => item.content.kind(),
        }
    }

    /// Hash of what it says.
    pub const fn hash(&self) -> ContentHash {
        match self {
            Self::Candidate(candidate) => candidate.hash,
            Self::Curated(item) => item.hash,
        }
    }

    /// What it says.
    pub const fn content(&self) -> &Content {
        match self {
            Self::Candidate(candidate) => &candidate.content,
            Self::Curated(item) => &item.content,
        }
    }

    /// Where it came from.
    pub const fn origin(&self) -> Origin {
        match self {
            Self::Candidate(candidate) => candidate.origin,
            Self::Curated(item) => item.origin,
        }
    }

    /// Whether it was proposed, or came of asks and was put back from a snapshot: what speaks for such an item, and what it
    /// says, may be what others asked.
    pub const fn was_proposed(&self) -> bool {
        match self {
            Self::Candidate(_) => true,
            Self::Curated(item) => {
                item.candidate.is_some() || !matches!(item.origin, Origin::Person | Origin::Imported)
            }
        }
    }

    /// The word of the state it is in.
    pub const fn state(&self) -> &'static str {
        match self {
            Self::Candidate(candidate) => candidate.state.as_str(),
            Self::Curated(item) => item.state.as_str(),
        }
    }

    /// As JSON, with the shelf it is on and its kind.
    ///
    /// # Errors
    /// Never: its fields are texts, numbers and lists.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        #[derive(Serialize)]
        struct Shown<'a, T> {
            shelf: &'static str,
            kind: Kind,
            #[serde(flatten)]
            item: &'a T,
        }
        match self {
            Self::Candidate(item) => {
                serde_json::to_value(Shown { shelf: "candidate", kind: item.kind, item })
            }
            Self::Curated(item) => {
                serde_json::to_value(Shown { shelf: "curated", kind: item.content.kind(), item })
            }
        }
    }
}

/// A shelf, and a state of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// Both, in whatever state.
    Both,
    /// What is proposed.
    Candidates(Option<CandidateState>),
    /// What is curated.
    Curated(Option<CurationState>),
}

impl FromStr for Shelf {
    type Err = String;

    /// A shelf or a state names what is wanted.
    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "candidate" => return Ok(Self::Candidates(None)),
            "curated" => return Ok(Self::Curated(None)),
            _ => {}
        }
        if let Ok(state) = word.parse() {
            return Ok(Self::Candidates(Some(state)));
        }
        word.parse().map(|state| Self::Curated(Some(state))).map_err(|_: String| {
            let words = CandidateState::ALL.iter().map(|state| state.as_str());
            let words: Vec<&str> =
                words.chain(CurationState::ALL.iter().map(|state| state.as_str())).collect();
            let shown: String = word.chars().take(40).collect();
            format!("`{shown}` is none of {}", words.join(", "))
        })
    }
}

/// What is to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Of this domain.
    pub domain: DomainName,
    /// Of this kind.
    pub kind: Kind,
    /// From there.
    pub shelf: Shelf,
    /// By origin.
    pub origin: Option<Origin>,
    /// The order, by time.
    pub order: Order,
    /// Items at most.
    pub limit: i64,
    /// The last item of the page before.
    pub after: Option<ItemId>,
}

/// A page of the list, both shelves together by time, and whether there is more.
///
/// # Errors
/// When the store does not answer.
pub async fn list(promote: &Promote, listing: &Listing) -> Result<(Vec<Item>, bool), StoreError> {
    let Listing { domain, kind, shelf, origin, order, limit, after } = listing.clone();
    let (candidates, curated) = match shelf {
        Shelf::Both => (Some(None), Some(None)),
        Shelf::Candidates(state) => (Some(state), None),
        Shelf::Curated(state) => (None, Some(state)),
    };
    let (domain, kind, wanted) = (Some(domain), Some(kind), limit.saturating_add(1));
    let mut items = Vec::new();
    if let Some(state) = candidates {
        let filter = Filter { domain: domain.clone(), kind, state, origin, order, limit: wanted, after };
        items.extend(promote.candidates(&filter).await?.into_iter().map(Item::Candidate));
    }
    if let Some(state) = curated {
        let filter = Filter { domain, kind, state, origin, order, limit: wanted, after };
        items.extend(promote.curations(&filter).await?.into_iter().map(Item::Curated));
    }
    // Identities are ordered by time on both shelves.
    match order {
        Order::OldestFirst => items.sort_by_key(Item::id),
        Order::NewestFirst => items.sort_by_key(|item| std::cmp::Reverse(item.id())),
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    Ok((items, more))
}

/// One item, on whichever shelf it is.
///
/// # Errors
/// [`StoreError::NotFound`] when this domain has none of that identity.
pub async fn find(promote: &Promote, domain: &DomainName, id: ItemId) -> Result<Item, StoreError> {
    match promote.candidate(domain, id).await {
        Ok(candidate) => Ok(Item::Candidate(candidate)),
        Err(StoreError::NotFound { .. }) => match promote.curated(domain, id).await {
            Err(StoreError::NotFound { id, .. }) => Err(StoreError::NotFound { what: "item", id }),
            found => found.map(Item::Curated),
        },
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_a_shelf_or_a_state_of_one() {
        for (word, want) in [
            ("candidate", Some(Shelf::Candidates(None))),
            ("curated", Some(Shelf::Curated(None))),
            ("proposed", Some(Shelf::Candidates(Some(CandidateState::Proposed)))),
            ("stale", Some(Shelf::Curated(Some(CurationState::Stale)))),
            ("Proposed", None),
            ("", None),
        ] {
            assert_eq!(word.parse::<Shelf>().ok(), want, "{word}");
        }
        let long = "x".repeat(500);
        assert!(long.parse::<Shelf>().unwrap_err().len() < 200);
    }
}
