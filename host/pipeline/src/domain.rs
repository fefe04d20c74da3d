//! A domain in service: its pack, its data source, its catalogue, its gate and its knowledge.

mod told;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use airlock_database::{DatabaseError, Scope, Source};
use airlock_gate::{AllowedFunction, Gate, Policy};
use airlock_knowledge::index::vectors::Kind;
use airlock_knowledge::pack::{GoldenCase, GoldenOutcome, PackFunction, PackScope};
use airlock_knowledge::records::{Example, Lesson};
use airlock_knowledge::store::{Content, Curation, ItemId, Learned, LearnedVectors};
use airlock_knowledge::{
    ColumnClass, Curated, Degrade, ExampleHit, Knowledge, LessonHit, Nearby, Pack, PackReport, PassageHit,
    TableHit, Vectors,
};
use airlock_runtime::contract::types::TableRef as ContractTable;
use airlock_runtime::contract::work::{SelectedTable, Selection};
use airlock_types::{Catalogue, ColumnRef, ContentHash, DomainName, TableRef};
use thiserror::Error;

use crate::convert;
use crate::embedding::Asked;
use crate::rerank::{Found, Ranked};

use crate::golden::Withheld;

/// Values of one column that are indexed at most.
const VALUES: u32 = 5_000;

/// Learned items up to which vectors are made of them: as many as are compared one by one. With more, keywords find them.
const EMBEDDED: usize = 3_000;
/// Golden questions suggested to newcomers.
const SUGGESTIONS: usize = 6;

/// What takes part in a text and keeps it from being learned from, and its rows from models.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Guarded {
    /// A personal or secret column.
    #[error("its SQL touches the {} column {}", .0.as_str(), .1)]
    Column(ColumnClass, ColumnRef),
    /// A table that may hold a column whose class is lost.
    #[error("its SQL reads {0}, which may hold a column whose class was lost with its name")]
    Unclassed(TableRef),
}

/// Why a domain is not in service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DomainError {
    /// The data source cannot be read.
    #[error("domain `{domain}`: its data source cannot be read: {error}")]
    Source {
        /// The domain.
        domain: DomainName,
        /// Why.
        error: DatabaseError,
    },
    /// There is nothing to ask about.
    #[error(
        "domain `{0}`: the reader sees none of its relations: check `schemas` or `only` in domain.toml, and what the \
         reader role is granted"
    )]
    Empty(DomainName),
    /// The pack and the data source do not fit.
    #[error("{0}")]
    Pack(PackReport),
}

/// A domain in service. Made once, shared by every ask, replaced as a whole. Cheap to clone.
#[derive(Clone)]
pub struct Domain {
    name: DomainName,
    knowledge: Arc<Knowledge>,
    catalogue: Arc<Catalogue>,
    gate: Gate,
    source: Source,
    golden: Arc<[GoldenCase]>,
    withheld: Option<Arc<Withheld>>,
    pack: Arc<Pack>,
    /// What comes with the pack, for the index of what was learned beside it.
    curated: Arc<Curated>,
    /// The canonical SQL of its examples, once somebody asked.
    example_sql: Arc<OnceLock<BTreeSet<String>>>,
    learned: Option<Learned>,
    degrade: Degrade,
    /// Vectors of what is known, where there is an embedder.
    vectors: Option<Arc<Vectors>>,
    /// Vectors of what was learned, once they are made.
    learned_vectors: Option<LearnedVectors>,
    /// The question at hand, with its vector.
    asked: Option<Arc<Asked>>,
    /// What a cross-encoder said of what is found for it.
    ranked: Option<Arc<Ranked>>,
    mark: ContentHash,
    /// Hash of the values that were read of it.
    values: ContentHash,
    /// Hash of what the reader sees of the schema.
    fingerprint: ContentHash,
    /// What of the pack does not hold over the source as it is.
    lost: Arc<PackReport>,
}

/// What of the data source belongs to a pack's domain.
#[must_use]
pub fn scope(pack: &Pack) -> Scope {
    match &pack.settings.scope {
        PackScope::Schemas(schemas) => Scope { schemas: schemas.clone(), only: Vec::new() },
        PackScope::Only(tables) => Scope {
            schemas: Vec::new(),
            only: tables
                .iter()
                .map(|table| {
                    TableRef::new(
                        table.value.schema.clone().unwrap_or_else(|| "public".to_owned()),
                        table.value.name.clone(),
                    )
                })
                .collect(),
        },
    }
}

/// What a pack says to the gate.
#[must_use]
pub fn policy(pack: &Pack) -> Policy {
    Policy {
        row_cap: pack.settings.row_cap,
        allowed_functions: allowed_functions(
            pack.settings.allowed_functions.iter().map(|function| &function.value),
        ),
        ..Policy::default()
    }
}

fn allowed_functions<'a>(functions: impl Iterator<Item = &'a PackFunction>) -> Vec<AllowedFunction> {
    functions
        .map(|function| AllowedFunction { signature: function.signature.clone(), body: Some(function.body) })
        .collect()
}

impl Domain {
    /// Puts a pack in service over its data source: reads the catalogue, holds the pack against it, reads the values
    /// that the pack lets be indexed. What of the pack does not hold is left out and told, so that a changed schema does not
    /// take the rest out of service.
    ///
    /// # Errors
    /// When the source cannot be read, or the reader sees nothing of it.
    pub async fn open(pack: &Pack, source: Source) -> Result<Self, DomainError> {
        let opened = Self::opened(pack, source).await?;
        opened.tell_lost();
        Ok(opened)
    }

    /// The same for a pack that is to be put in use now: it holds in every part, or is not opened.
    ///
    /// # Errors
    /// As [`Domain::open`]; a pack that does not fit is reported whole.
    pub async fn open_whole(pack: &Pack, source: Source) -> Result<Self, DomainError> {
        let opened = Self::opened(pack, source).await?;
        match opened.lost.is_empty() {
            true => Ok(opened),
            false => Err(DomainError::Pack(PackReport::clone(&opened.lost))),
        }
    }

    /// A pack over its source, of which the reader sees something.
    async fn opened(pack: &Pack, source: Source) -> Result<Self, DomainError> {
        let opened = Self::over(Arc::new(pack.clone()), source, Degrade::default()).await?;
        match opened.catalogue.is_empty() {
            true => Err(DomainError::Empty(opened.name)),
            false => Ok(opened),
        }
    }

    /// The same domain without some of what it knows, to see how an ask does without.
    ///
    /// # Errors
    /// As [`Domain::open`].
    pub async fn degraded(&self, degrade: Degrade) -> Result<Self, DomainError> {
        let (pack, catalogue) = (Arc::clone(&self.pack), Arc::clone(&self.catalogue));
        let degraded = Self::assemble(pack, self.source.clone(), catalogue, degrade, self.mark).await?;
        let learned = self.learned.as_ref().map(|learned| degraded.reindexed(learned));
        Ok(Self { learned, ..degraded })
    }

    /// The same domain over its source as it is now.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub(crate) async fn reopened(&self) -> Result<Self, DomainError> {
        let reopened = Self::over(Arc::clone(&self.pack), self.source.clone(), self.degrade).await?;
        if reopened.lost != self.lost {
            reopened.tell_lost();
        }
        let learned = self.learned.as_ref().map(|learned| reopened.reindexed(learned));
        Ok(Self { learned, ..reopened })
    }

    async fn over(pack: Arc<Pack>, source: Source, degrade: Degrade) -> Result<Self, DomainError> {
        let unread = |error| DomainError::Source { domain: pack.name.clone(), error };
        // The mark first: what changes between the two is noticed at the next look.
        let mark = source.catalogue_mark().await.map_err(unread)?;
        let catalogue = Arc::new(source.catalogue(&scope(&pack)).await.map_err(unread)?);
        Self::assemble(pack, source, catalogue, degrade, mark).await
    }

    /// One line of the log for each part of the pack that does not hold.
    fn tell_lost(&self) {
        let PackReport { problems, dropped } = &*self.lost;
        for problem in problems {
            tracing::warn!(domain = %self.name, %problem, "a part of the pack does not fit its data source and is left out");
        }
        if *dropped > 0 {
            tracing::warn!(domain = %self.name, dropped, "so many further parts of the pack do not fit");
        }
        for table in self.knowledge.exposure().closed() {
            tracing::warn!(domain = %self.name, %table, "the pack names the class of a column that is gone; no value of this table goes to a model");
        }
    }

    async fn assemble(
        pack: Arc<Pack>,
        source: Source,
        catalogue: Arc<Catalogue>,
        degrade: Degrade,
        mark: ContentHash,
    ) -> Result<Self, DomainError> {
        let (bound, lost) = pack.bind_what_holds(&catalogue);
        let fingerprint = airlock_database::catalogue::fingerprint(&catalogue);
        let name = pack.name.clone();
        let unread = |error| DomainError::Source { domain: name.clone(), error };
        let mut values: Vec<(ColumnRef, Vec<String>)> = Vec::new();
        for column in bound.exposure.columns_to_read() {
            let found = source.distinct_values(&column, VALUES).await.map_err(unread)?;
            values.push((column, found));
        }
        let read = ContentHash::of(format!("{values:?}"));
        let curated = Curated::of_pack(&pack, &bound);
        let gate = Gate::new(Arc::clone(&catalogue), policy(&pack));
        let (bound, seen, values) = degrade.apply(bound, &catalogue, values);
        let knowledge = Knowledge::from_bound(&pack, bound, seen, values, curated.clone());
        let golden = pack.golden.clone().into();
        Ok(Self {
            name,
            knowledge: Arc::new(knowledge),
            catalogue,
            gate,
            source,
            golden,
            withheld: None,
            pack,
            curated: Arc::new(curated),
            example_sql: Arc::default(),
            learned: None,
            degrade,
            vectors: None,
            learned_vectors: None,
            asked: None,
            ranked: None,
            mark,
            values: read,
            fingerprint,
            lost: Arc::new(lost),
        })
    }

    /// The same domain with the values of its columns read again; `None` when they are what they were.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub(crate) async fn with_values_read(&self) -> Result<Option<Self>, DomainError> {
        if self.knowledge.exposure().columns_to_read().is_empty() {
            return Ok(None);
        }
        let (pack, catalogue) = (Arc::clone(&self.pack), Arc::clone(&self.catalogue));
        let read = Self::assemble(pack, self.source.clone(), catalogue, self.degrade, self.mark).await?;
        Ok((read.values != self.values).then_some(read))
    }

    /// This domain with what another one, of the same pack and schema, knows; itself when they are not the same.
    pub(crate) fn with_knowledge_of(&self, other: &Self) -> Self {
        if self.pack.hash != other.pack.hash || self.mark != other.mark {
            return self.clone();
        }
        Self { knowledge: Arc::clone(&other.knowledge), values: other.values, ..self.clone() }
    }

    /// The mark of the source when the catalogue was read.
    pub(crate) const fn mark(&self) -> ContentHash {
        self.mark
    }

    /// The domain's name.
    #[must_use]
    pub const fn name(&self) -> &DomainName {
        &self.name
    }

    /// What is known about it.
    #[must_use]
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The pack it was made from.
    #[must_use]
    pub fn pack(&self) -> &Pack {
        &self.pack
    }

    /// Hash of what the reader sees of the schema: equal when nothing that a text could depend on changed, whatever else was
    /// done in the database.
    pub(crate) const fn fingerprint(&self) -> ContentHash {
        self.fingerprint
    }

    /// What of the pack does not hold over the source as it is, and is left out.
    #[must_use]
    pub fn lost(&self) -> &PackReport {
        &self.lost
    }

    /// Golden cases of its pack that serve as examples: those that the gate approves.
    #[must_use]
    pub fn verified_examples(&self) -> usize {
        self.curated.examples.len()
    }

    /// Its relations.
    #[must_use]
    pub const fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Its gate.
    #[must_use]
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Its data source.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Questions a newcomer can begin with: golden cases that have an answer.
    pub fn suggestions(&self) -> impl Iterator<Item = &str> {
        let answered = self.golden.iter().filter(|case| case.outcome == GoldenOutcome::Answered);
        answered.take(SUGGESTIONS).map(|case| case.question.as_str())
    }

    /// Questions whose right answer is known, from its pack.
    #[must_use]
    pub fn golden(&self) -> &[GoldenCase] {
        &self.golden
    }

    /// The same domain without what would give a golden case away while it is graded.
    pub(crate) fn withholding(&self, withheld: Withheld) -> Self {
        Self { withheld: Some(Arc::new(withheld)), ..self.clone() }
    }

    /// What was learned about it, as the store last had it.
    pub(crate) const fn learned(&self) -> Option<&Learned> {
        self.learned.as_ref()
    }

    /// The same domain with this much learned.
    pub(crate) fn with_learned(&self, learned: Option<Learned>) -> Self {
        Self { learned, ..self.clone() }
    }

    /// The items of the store in service, indexed beside the pack's.
    pub(crate) fn learn(&self, number: i64, items: Vec<Curation>) -> Learned {
        Learned::new(number, items, &self.curated, |content| self.admits(content))
    }

    /// The same items under an index made of them.
    pub(crate) fn reindexed(&self, learned: &Learned) -> Learned {
        learned.reindexed(&self.curated, |content| self.admits(content))
    }

    /// The same domain as if one more were curated: for a replay.
    pub(crate) fn supposing(&self, id: ItemId, content: &Content) -> Self {
        let learned = self.learned.clone().unwrap_or_else(|| self.learn(0, Vec::new()));
        let one = (id, &self.name, content);
        let learned = learned.supposing(one, &self.curated, |content| self.admits(content));
        self.with_learned(Some(learned))
    }

    /// Whether an item of the store is among what is near a question.
    pub(crate) fn finds(&self, id: ItemId, question: &str, k: usize) -> bool {
        let id = id.to_string();
        self.examples(question, k).iter().any(|hit| hit.example.id == id)
            || self.lessons(question, k).iter().any(|hit| hit.lesson.id == id)
    }

    /// Examples that come with the pack.
    pub(crate) fn pack_examples(&self) -> impl Iterator<Item = &Example> {
        self.curated.examples.iter()
    }

    /// Whether the pack has an example with this canonical SQL.
    pub(crate) fn has_example_sql(&self, canonical: &str) -> bool {
        let sql = |example: &Example| airlock_gate::canonical(&example.sql).ok();
        self.example_sql.get_or_init(|| self.pack_examples().filter_map(sql).collect()).contains(canonical)
    }

    /// Whether the pack has an example of this question with the same SQL.
    #[must_use]
    pub fn has_pack_example(&self, question: &str, sql: &str) -> bool {
        let canonical = airlock_gate::canonical(sql).ok();
        let same = |example: &Example| {
            example.question.to_lowercase() == question.trim().to_lowercase()
                && airlock_gate::canonical(&example.sql).ok() == canonical
        };
        canonical.is_some() && self.pack_examples().any(same)
    }

    /// Lessons that come with the pack.
    pub(crate) fn pack_lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.curated.lessons.iter()
    }

    /// Whether what was learned fits the domain as it is: an example whose SQL may not run teaches what must not be written.
    fn admits(&self, content: &Content) -> bool {
        match content {
            Content::Example(example) => self.gate.check(&example.sql).is_ok(),
            Content::Lesson(_) | Content::Golden(_) => true,
        }
    }

    /// Verified examples near a question. Everything that shows examples takes them from here.
    pub(crate) fn examples(&self, query: &str, k: usize) -> Vec<ExampleHit> {
        let near = |k| match &self.learned {
            Some(learned) if !learned.is_empty() => learned.examples(query, self.nearby_learned(query), k),
            _ => self.knowledge.examples_near(query, self.nearby(query), k),
        };
        let near = |k| self.ordered(query, k, near);
        let Some(withheld) = &self.withheld else { return near(k) };
        let mut hits = near(k.saturating_add(withheld.spare()));
        hits.retain(|hit| !withheld.holds(&hit.example));
        hits.truncate(k);
        hits
    }

    /// Lessons near a question. Everything that shows lessons takes them from here.
    pub(crate) fn lessons(&self, query: &str, k: usize) -> Vec<LessonHit> {
        self.ordered(query, k, |k| match &self.learned {
            Some(learned) if !learned.is_empty() => learned.lessons(query, self.nearby_learned(query), k),
            _ => self.knowledge.lessons_near(query, self.nearby(query), k),
        })
    }

    /// Tables near a question.
    pub(crate) fn tables(&self, query: &str, k: usize) -> Vec<TableHit> {
        self.ordered(query, k, |k| self.knowledge.tables_near(query, self.nearby(query), k))
    }

    /// Passages near a question.
    pub(crate) fn passages(&self, query: &str, k: usize) -> Vec<PassageHit> {
        self.ordered(query, k, |k| self.knowledge.passages_near(query, self.nearby(query), k))
    }

    /// A ranking in the order of the cross-encoder, where one read it.
    fn ordered<H: Found>(&self, query: &str, k: usize, near: impl Fn(usize) -> Vec<H>) -> Vec<H> {
        match &self.ranked {
            Some(ranked) => ranked.order(query, k, near),
            None => near(k),
        }
    }

    /// The best of each ranking that a cross-encoder reads: what tells each from the others, and its text.
    pub(crate) fn found(&self, question: &str, depth: usize) -> [(Kind, Vec<(String, String)>); 4] {
        fn of<H: Found>(hits: Vec<H>, text: impl Fn(&H) -> Option<String>) -> (Kind, Vec<(String, String)>) {
            (H::KIND, hits.iter().filter_map(|hit| Some((hit.key(), text(hit)?))).collect())
        }
        [
            of(self.tables(question, depth), |hit| self.knowledge.sentence(&hit.table)),
            of(self.examples(question, depth), |hit| Some(hit.example.question.clone())),
            of(self.lessons(question, depth), |hit| Some(hit.lesson.sentence())),
            of(self.passages(question, depth), |hit| Some(hit.text.clone())),
        ]
    }

    /// The vectors of what it knows.
    pub(crate) const fn vectors(&self) -> Option<&Arc<Vectors>> {
        self.vectors.as_ref()
    }

    /// The same domain with vectors.
    pub(crate) fn with_vectors(&self, vectors: Option<Arc<Vectors>>) -> Self {
        Self { vectors, ..self.clone() }
    }

    /// The same domain as a question with a vector sees it.
    pub(crate) fn with_asked(&self, asked: Asked) -> Self {
        Self { asked: Some(Arc::new(asked)), ..self.clone() }
    }

    /// The same domain as a question sees it whose hits a cross-encoder read.
    pub(crate) fn with_ranked(&self, ranked: Ranked) -> Self {
        Self { ranked: Some(Arc::new(ranked)), ..self.clone() }
    }

    /// Whether another has the very same knowledge in memory.
    pub(crate) fn knows_the_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.knowledge, &other.knowledge)
    }

    /// What was learned and has no vectors yet. More than [`EMBEDDED`] items have none: an index over them would be made anew
    /// with each that is learned.
    pub(crate) fn unembedded(&self) -> Option<&Learned> {
        let learned = self.learned.as_ref().filter(|learned| (1..=EMBEDDED).contains(&learned.len()))?;
        learned.vectors(self.learned_vectors.as_ref()).is_none().then_some(learned)
    }

    /// The same domain with vectors of what it learned.
    pub(crate) fn with_learned_vectors(&self, vectors: LearnedVectors) -> Self {
        Self { learned_vectors: Some(vectors), ..self.clone() }
    }

    fn nearby_learned<'a>(&'a self, query: &str) -> Option<Nearby<'a>> {
        let vectors = self.learned.as_ref()?.vectors(self.learned_vectors.as_ref())?;
        self.asked.as_ref()?.nearby(vectors, query)
    }

    fn nearby<'a>(&'a self, query: &str) -> Option<Nearby<'a>> {
        self.asked.as_ref()?.nearby(self.vectors.as_ref()?, query)
    }

    /// A gate with the domain's rules and another row cap.
    pub(crate) fn gate_with_cap(&self, row_cap: u32) -> Gate {
        let functions = self.knowledge.settings().allowed_functions.iter().map(|function| &function.value);
        let policy = Policy { row_cap, allowed_functions: allowed_functions(functions), ..Policy::default() };
        Gate::new(Arc::clone(&self.catalogue), policy)
    }

    /// Rows an answer has at most.
    #[must_use]
    pub fn row_cap(&self) -> u32 {
        self.knowledge.settings().row_cap
    }

    /// Drafts that a model writes for a question.
    #[must_use]
    pub fn candidates(&self) -> u32 {
        self.knowledge.settings().candidates
    }

    /// Time zone and first month of the fiscal year.
    #[must_use]
    pub fn calendar(&self) -> (&str, u8) {
        let settings = self.knowledge.settings();
        (&settings.time_zone, settings.fiscal_year_start)
    }

    /// Class of a column.
    #[must_use]
    pub fn class(&self, column: &ColumnRef) -> ColumnClass {
        self.knowledge.exposure().class(column)
    }

    /// The tables nearest to a question, filled up with the largest in use: what a model gets to see when no table is known
    /// to fit.
    pub(crate) fn nearest(&self, question: &str, width: u32) -> Selection {
        let width = usize::try_from(width).unwrap_or(usize::MAX);
        let mut tables: Vec<TableRef> =
            self.tables(question, width).into_iter().map(|hit| hit.table).collect();
        let mut rest: Vec<_> = self.knowledge.views().iter().filter(|view| view.in_use).collect();
        rest.sort_by_key(|view| std::cmp::Reverse(view.row_estimate));
        tables.extend(rest.into_iter().map(|view| view.table.clone()));
        let mut seen = BTreeSet::new();
        tables.retain(|table| seen.insert(table.clone()));
        tables.truncate(width);
        let tables = tables.iter().map(|table| SelectedTable {
            table: convert::table(table),
            columns: Vec::new(),
            reason: "near to the question, or among the largest".to_owned(),
            score: 0.0,
        });
        Selection { tables: tables.collect(), joins: Vec::new(), attributes: Vec::new() }
    }

    pub(crate) fn knows(&self, table: &ContractTable) -> bool {
        self.knowledge.view(&TableRef::new(&table.schema, &table.name)).is_some()
    }
}
