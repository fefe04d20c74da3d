//! What is curated and does not help any more leaves service: it went wrong too often, or the schema lost what it names.
//!
//! It is a decision like any other, each with its own mode, and a person takes it back. Nothing here puts anything in
//! service, and what comes with a pack is not touched.

use airlock_knowledge::promotion::{Removed, sql_texts, unknown_name};
use airlock_knowledge::store::{
    Content, Curation, CurationState, Decision, Filter, ItemId, Kind, Mode, Promote, StoreError,
};
use airlock_types::DomainName;
use serde::Serialize;
use serde_json::json;

use crate::domain::Domain;

/// How a look is made.
#[derive(Debug, Clone)]
pub struct DecayOptions {
    /// Write nothing.
    pub dry_run: bool,
    /// Who began it, for the history.
    pub who: String,
    /// What the schema lost since it was looked at before, where that is known.
    pub removed: Removed,
}

impl DecayOptions {
    /// A look that writes, begun by somebody, with nothing known of an earlier schema.
    #[must_use]
    pub fn new(who: &str) -> Self {
        Self { dry_run: false, who: who.to_owned(), removed: Removed::default() }
    }
}

/// An item that leaves service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outdated {
    /// The item.
    pub id: ItemId,
    /// What it is.
    pub kind: Kind,
    /// Where it goes.
    pub state: CurationState,
    /// Why.
    pub why: String,
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecayReport {
    /// The domain.
    pub domain: DomainName,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Items in service.
    pub looked_at: usize,
    /// Those that leave it.
    pub outdated: Vec<Outdated>,
    /// Those that somebody else decided on meanwhile.
    pub overtaken: usize,
}

/// Looks at everything that a domain has in service: what the schema does not bear any more, then what does not help.
///
/// # Errors
/// When the store does not answer; what was decided until then stays decided.
pub async fn decay(
    domain: &Domain,
    promote: &Promote,
    options: &DecayOptions,
) -> Result<DecayReport, StoreError> {
    let mut report = superseded(domain, promote, options).await?;
    let gone: Vec<ItemId> = report.outdated.iter().map(|item| item.id).collect();
    for (item, fared) in promote.fared(domain.name()).await? {
        if gone.contains(&item.id) {
            continue;
        }
        if let Some(why) = fared.stopped_helping() {
            let evidence = json!({"fared": fared});
            let by = Decision { evidence, ..Decision::new(Mode::Decay, &options.who, &why) };
            leaves(promote, &item, CurationState::Stale, &by, &mut report).await?;
        }
    }
    Ok(report)
}

/// Looks for what the schema does not bear any more, and for nothing else.
///
/// # Errors
/// As [`decay`].
pub async fn superseded(
    domain: &Domain,
    promote: &Promote,
    options: &DecayOptions,
) -> Result<DecayReport, StoreError> {
    let (name, dry_run) = (domain.name(), options.dry_run);
    let mut report =
        DecayReport { domain: name.clone(), dry_run, looked_at: 0, outdated: Vec::new(), overtaken: 0 };
    // A reader that sees nothing says something of its grants and nothing of what was learned.
    if domain.catalogue().is_empty() {
        return Ok(report);
    }
    let mut after = None;
    loop {
        let filter = Filter {
            domain: Some(name.clone()),
            state: Some(CurationState::Active),
            limit: 1_000,
            after,
            ..Filter::default()
        };
        let page = promote.curations(&filter).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        report.looked_at += page.len();
        for item in &page {
            if let Some(why) = misfit(&item.content, domain, &options.removed) {
                let by = Decision::new(Mode::Schema, &options.who, &why);
                leaves(promote, item, CurationState::Superseded, &by, &mut report).await?;
            }
        }
    }
    Ok(report)
}

async fn leaves(
    promote: &Promote,
    item: &Curation,
    state: CurationState,
    by: &Decision,
    report: &mut DecayReport,
) -> Result<(), StoreError> {
    let decided = match state {
        _ if report.dry_run => Ok(()),
        CurationState::Superseded => {
            promote.supersede(&item.domain, item.id, item.hash, by).await.map(|_| ())
        }
        _ => promote.demote(&item.domain, item.id, item.hash, by).await.map(|_| ()),
    };
    match decided {
        Ok(()) => {
            let (id, kind, why) = (item.id, item.content.kind(), by.why.clone());
            report.outdated.push(Outdated { id, kind, state, why });
            Ok(())
        }
        Err(error) if error.is_conflict() => {
            report.overtaken += 1;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Why an item does not fit the schema as it is.
fn misfit(content: &Content, domain: &Domain, removed: &Removed) -> Option<String> {
    let texts = sql_texts(content, domain.catalogue());
    let refused = texts.iter().find_map(|text| domain.gate().check(text).err());
    refused
        .map(|rejection| format!("the gate refuses its SQL now: {}", rejection.message))
        .or_else(|| unknown_name(content, domain.catalogue()))
        .or_else(|| removed.named_by(content))
}
