//! Drift of the domains in service: their catalogue of now held against what it was when people wrote about it.
//!
//! A host is handed the snapshots ([`Host::set_snapshots`]) and keeps nothing else: what is told is found anew from the
//! catalogue each time, so it ends by itself when a table is back.

use std::collections::BTreeMap;

use airlock_knowledge::drift::{Change, Marked, Marks};
use airlock_knowledge::store::{Content, TakenSnapshot};
use airlock_knowledge::{Curated, Pack, PackReport};
use airlock_types::{Catalogue, DomainName, Outcome, TableRef};
use arc_swap::ArcSwap;
use serde::Serialize;

use crate::context::Block;
use crate::domain::Domain;
use crate::host::Host;

/// The snapshots by domain, replaced as a whole.
pub(crate) type Snapshots = ArcSwap<BTreeMap<DomainName, TakenSnapshot>>;

/// Changes of one table that an answer tells of.
const TOLD: usize = 3;

/// How a domain stands to its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DomainDrift {
    /// The domain.
    pub domain: DomainName,
    /// When the snapshot was taken; absent when there is none, and then nothing can be told.
    pub since: Option<jiff::Timestamp>,
    /// By whom.
    pub taken_by: Option<String>,
    /// What is drift.
    pub changes: Vec<Change>,
    /// What of the pack does not hold over the schema of now, and is left out.
    pub lost: PackReport,
    /// What rests on the tables that drifted.
    pub marked: Vec<Marked>,
}

impl DomainDrift {
    /// A catalogue held against a snapshot. `learned` are the items of the store, by id; `lost` is what of the pack does not
    /// hold over that catalogue.
    #[must_use]
    pub fn of(
        pack: &Pack,
        catalogue: &std::sync::Arc<Catalogue>,
        taken: Option<&TakenSnapshot>,
        learned: &[(String, &Content)],
        lost: PackReport,
    ) -> Self {
        let changes = taken.map(|taken| taken.snapshot.drift(catalogue)).unwrap_or_default();
        let marked =
            if changes.is_empty() { Vec::new() } else { marks(pack, catalogue, learned).of(&changes) };
        Self {
            domain: pack.name.clone(),
            since: taken.map(|taken| taken.taken_at),
            taken_by: taken.map(|taken| taken.taken_by.clone()),
            changes,
            lost,
            marked,
        }
    }

    /// Whether anything drifted, or the pack names what is not there.
    #[must_use]
    pub fn drifted(&self) -> bool {
        !self.changes.is_empty() || !self.lost.is_empty()
    }

    /// How many tables did.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.marked.len()
    }
}

/// What people wrote and what was learned, as far as it may name a table.
fn marks(pack: &Pack, catalogue: &std::sync::Arc<Catalogue>, learned: &[(String, &Content)]) -> Marks {
    let first = catalogue.search_path.first().map_or("public", String::as_str);
    let noted = pack.notes.iter().map(|note| {
        let name = &note.table.value;
        TableRef::new(name.schema.as_deref().unwrap_or(first), &name.name)
    });
    let golden = pack.golden.iter().filter_map(|case| {
        let sql = case.sql.as_ref()?;
        Some((case.id.value.clone(), sql.value.clone()))
    });
    let curated = Curated::of_pack(pack, &pack.bind_what_holds(catalogue).0);
    let lessons = curated.lessons.into_iter().map(|lesson| (lesson.id, lesson.text));
    let mut marks = Marks { notes: noted.collect(), examples: golden.collect(), lessons: lessons.collect() };
    for (id, content) in learned {
        match content {
            Content::Example(example) => marks.examples.push((id.clone(), example.sql.clone())),
            Content::Golden(golden) => {
                marks.examples.extend(golden.sql.iter().map(|sql| (id.clone(), sql.clone())));
            }
            Content::Lesson(lesson) => marks.lessons.push((id.clone(), lesson.text.clone())),
        }
    }
    marks
}

impl Host {
    /// Hands over the snapshots that drift is told against.
    pub fn set_snapshots(&self, snapshots: impl IntoIterator<Item = TakenSnapshot>) {
        let by_domain = snapshots.into_iter().map(|taken| (taken.domain.clone(), taken));
        self.snapshots.store(std::sync::Arc::new(by_domain.collect()));
    }

    /// How each domain stands to its snapshot, by the catalogue as it was last read: cheap, for health and metrics.
    #[must_use]
    pub fn drift(&self) -> Vec<DomainDrift> {
        let snapshots = self.snapshots.load();
        self.domains()
            .map(|domain| {
                let learned: Vec<(String, &Content)> = domain
                    .learned()
                    .into_iter()
                    .flat_map(airlock_knowledge::store::Learned::items)
                    .map(|item| (item.id.to_string(), &item.content))
                    .collect();
                let lost = domain.lost().clone();
                DomainDrift::of(
                    domain.pack(),
                    domain.catalogue(),
                    snapshots.get(domain.name()),
                    &learned,
                    lost,
                )
            })
            .collect()
    }

    /// What became of a table since people wrote about it, in sentences; nothing when it did not drift.
    #[must_use]
    pub fn drift_of(&self, domain: &Domain, table: &TableRef) -> Vec<String> {
        let snapshots = self.snapshots.load();
        let Some(taken) = snapshots.get(domain.name()) else { return Vec::new() };
        let changes = taken.snapshot.drift_of(table, domain.catalogue());
        let Some(told) = told(&changes) else { return Vec::new() };
        vec![format!(
            "{table} changed since people wrote about it, so notes and examples may be wrong: {told}."
        )]
    }

    /// The same for the tables that an answer used. An ask that came to none is told what the domain lost: it may be why.
    pub(crate) fn drift_warnings(
        &self,
        domain: &Domain,
        tables_used: &[String],
        outcome: Outcome,
    ) -> Vec<String> {
        let snapshots = self.snapshots.load();
        let Some(taken) = snapshots.get(domain.name()) else { return Vec::new() };
        match outcome {
            Outcome::Answered | Outcome::Clarification => {
                let tables = tables_used.iter().filter_map(|name| name.split_once('.'));
                tables
                    .flat_map(|(schema, name)| self.drift_of(domain, &TableRef::new(schema, name)))
                    .collect()
            }
            Outcome::Refused | Outcome::GaveUp => {
                let changes = taken.snapshot.drift(domain.catalogue());
                let told = told(&changes).map(|told| {
                    format!("The schema changed since people wrote about it, which may be why: {told}.")
                });
                told.into_iter().collect()
            }
            Outcome::Failed => Vec::new(),
        }
    }

    /// The block of a context that says which of its tables changed since people wrote about them.
    pub(crate) fn drift_block(&self, domain: &Domain, tables: &[TableRef]) -> Option<Block> {
        let told: Vec<String> = tables.iter().flat_map(|table| self.drift_of(domain, table)).collect();
        Block::new("drift", "authoritative", &told.join("\n"))
    }

    /// Looks at the source of every domain, at most a moment old, whether or not anybody asks: so health and metrics tell
    /// of a schema that changed in a night without questions.
    pub async fn look_at_sources(&self) {
        // One that is slow is waited for by itself, and not by the others.
        let looks = self.domains.values().map(|served| async { drop(served.fresh().await) });
        futures_util::future::join_all(looks).await;
    }
}

/// The first changes in words, and how many more there are; `None` when there is none.
fn told(changes: &[Change]) -> Option<String> {
    let more = changes.len().saturating_sub(TOLD);
    let mut told: Vec<String> = changes.iter().take(TOLD).map(ToString::to_string).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    (!told.is_empty()).then(|| told.join("; "))
}
