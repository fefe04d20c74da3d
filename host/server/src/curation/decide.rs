//! One decision of a person: looked up, held against the gate where it puts something in service, carried out by its hash.

use airlock_knowledge::promotion::Unshaped;
use airlock_knowledge::store::{
    Content, ContentError, Decided, Decision, ExampleContent, ItemId, Kind, NewCurated, Origin, Promote,
    StoreError,
};
use airlock_pipeline::Domain;
use airlock_types::{ContentHash, DomainName};
use thiserror::Error;

use super::look::{Item, find};

/// Characters of a reason.
const WHY: usize = 2_000;

/// What a decision does. What puts something in service comes with the domain whose gate it must pass.
pub enum Action<'a> {
    /// A candidate becomes curated.
    Promote(&'a Domain),
    /// A candidate is refused.
    Reject,
    /// A curated item leaves service.
    Demote,
    /// A curated item comes back.
    Restore(&'a Domain),
    /// A decision is taken back: the candidate waits again, and what it became leaves service.
    SetBack,
    /// It says something else.
    Edit(&'a Domain, Content),
}

/// On what, by whom.
pub struct Wanted<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// What it must be.
    pub kind: Kind,
    /// The item: of either shelf.
    pub id: ItemId,
    /// Hash of the content that was looked at.
    pub seen: ContentHash,
    /// Who decides, and why.
    pub by: &'a Decision,
}

/// Why nothing was decided.
#[derive(Debug, Error)]
pub enum NotDecided {
    /// It is something else.
    #[error("`{id}` is of kind {kind}")]
    OtherKind {
        /// The item.
        id: ItemId,
        /// What it is.
        kind: Kind,
    },
    /// It must not be in service.
    #[error("{0}")]
    Unfit(String),
    /// The store, conflicts included.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Unshaped> for NotDecided {
    fn from(Unshaped(why): Unshaped) -> Self {
        Self::Unfit(why)
    }
}

impl From<ContentError> for NotDecided {
    fn from(error: ContentError) -> Self {
        Self::Store(error.into())
    }
}

/// Carries a decision out.
///
/// # Errors
/// [`NotDecided`]; nothing was changed then.
pub async fn decide(
    promote: &Promote,
    wanted: &Wanted<'_>,
    action: Action<'_>,
) -> Result<Decided, NotDecided> {
    let Wanted { domain, kind, id, seen, by } = *wanted;
    has_reason(by)?;
    let item = find(promote, domain, id).await?;
    if item.kind() != kind {
        return Err(NotDecided::OtherKind { id, kind: item.kind() });
    }
    let decided = match (action, item) {
        (Action::Promote(live), Item::Candidate(candidate)) => {
            // What was changed or decided on meanwhile is a conflict, whatever the gate says of it.
            if candidate.state.waits() && candidate.hash == seen {
                live.fits(&candidate.content)?;
            }
            promote.promote(domain, id, seen, by).await
        }
        (Action::Reject, Item::Candidate(_)) => promote.reject(domain, id, seen, by).await,
        (Action::Promote(_) | Action::Reject, Item::Curated(item)) => {
            Err(StoreError::Decided { id, state: item.state.to_string() })
        }
        (Action::Restore(live), Item::Curated(item)) => {
            if item.hash == seen {
                live.fits(&item.content)?;
            }
            promote.restore(domain, id, seen, by).await
        }
        (Action::Demote, Item::Curated(_)) => promote.demote(domain, id, seen, by).await,
        (Action::Restore(_) | Action::Demote, Item::Candidate(_)) => {
            Err(StoreError::NotFound { what: "curated item", id })
        }
        (Action::SetBack, Item::Candidate(_)) => promote.set_back(domain, id, seen, by).await,
        (Action::SetBack, Item::Curated(item)) => match item.candidate {
            None => promote.withdraw(domain, id, seen, by).await,
            Some(_) if item.hash != seen => {
                Err(StoreError::Changed { id, seen, now: item.hash, content: Box::new(item.content) })
            }
            // The candidate may say what it said before the item was edited.
            Some(candidate) => {
                let hash = promote.candidate(domain, candidate).await?.hash;
                promote.set_back(domain, candidate, hash, by).await
            }
        },
        (Action::Edit(live, content), item) => {
            content.check()?;
            let content = content.without_comments();
            if content.kind() == kind {
                live.fits(&content)?;
            }
            match item {
                Item::Candidate(_) => promote.edit_candidate(domain, id, seen, &content, by).await,
                Item::Curated(_) => promote.edit(domain, id, seen, &content, by).await,
            }
        }
    };
    Ok(decided?)
}

/// Curates an example that a person wrote.
///
/// # Errors
/// As [`decide`]; one that is curated already is a conflict.
pub async fn author(
    promote: &Promote,
    live: &Domain,
    example: ExampleContent,
    by: &Decision,
) -> Result<Decided, NotDecided> {
    has_reason(by)?;
    if live.has_pack_example(&example.question, &example.sql) {
        return Err(NotDecided::Unfit(
            "question: the pack has it as an example, with the same SQL".to_owned(),
        ));
    }
    let content = Content::from(example);
    content.check()?;
    let content = content.without_comments();
    live.fits(&content)?;
    let new = NewCurated { domain: live.name().clone(), content, origin: Origin::Person };
    Ok(promote.add(new, by).await?)
}

fn has_reason(by: &Decision) -> Result<(), ContentError> {
    let length = by.why.chars().count();
    if length > WHY {
        return Err(ContentError::TooLong { field: "why", length, limit: WHY });
    }
    Ok(())
}
