//! Everything a domain knows, merged and findable: what the catalog and retrieval imports of a component are served from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use airlock_types::{Catalogue, ColumnRef, ContentHash, DomainName, TableRef};

use crate::curated::Curated;
use crate::exposure::Exposure;
use crate::index::bm25f::{Bm25f, Match};
use crate::index::documents;
use crate::index::passages::{Passage, passages};
use crate::index::query::Query;
use crate::index::tables::TableIndex;
use crate::index::values::{ValueHit, ValueIndex};
use crate::index::vectors::{Kind, Text};
use crate::index::words::words;
use crate::joins::{Join, JoinGraph};
use crate::near::{self, Fused, Nearby};
use crate::pack::{BoundPack, BoundTerm, Pack, PackReport, Settings};
use crate::records::{
    ColumnHit, Example, ExampleHit, Lesson, LessonHit, PassageHit, TableHit, TermHit, TermRecord,
};
use crate::tables::{TableView, views};

/// Most hits of one call.
pub const HITS: usize = 50;

/// What a named term is worth above any number of words of definitions.
const NAMED: f64 = 100.0;

/// A domain's knowledge. Immutable: a changed pack, catalogue or value makes a new one.
#[derive(Debug)]
pub struct Knowledge {
    domain: DomainName,
    pack_hash: ContentHash,
    settings: Settings,
    catalogue: Arc<Catalogue>,
    exposure: Exposure,
    entities: BTreeMap<String, Vec<ColumnRef>>,
    views: Vec<TableView>,
    position: HashMap<TableRef, usize>,
    joins: JoinGraph,
    tables: TableIndex,
    columns: Shelf<ColumnRef>,
    values: ValueIndex,
    examples: Shelf<Arc<Example>>,
    lessons: Shelf<Arc<Lesson>>,
    terms: Terms,
    passages: Shelf<Passage>,
}

/// Things and the index that finds them: the document with a number is the thing at that place.
#[derive(Debug)]
struct Shelf<T> {
    items: Vec<T>,
    index: Bm25f,
}

impl<T> Shelf<T> {
    fn best(&self, query: &Query<'_>, keep: usize) -> impl Iterator<Item = (&T, Match)> {
        self.index
            .best(query, keep)
            .into_iter()
            .filter_map(|found| Some((self.items.get(found.document)?, found)))
    }

    fn fused(
        &self,
        kind: Kind,
        query: &Query<'_>,
        nearby: Option<Nearby<'_>>,
    ) -> impl Iterator<Item = (&T, Fused)> {
        near::fused(kind, self.index.search(query), nearby)
            .into_iter()
            .filter_map(|found| Some((self.items.get(found.place)?, found)))
    }
}

/// Terms and the phrases that name each.
#[derive(Debug)]
struct Terms {
    shelf: Shelf<Arc<TermRecord>>,
    phrases: Vec<Vec<Vec<String>>>,
}

impl Knowledge {
    /// Merges a pack with the catalogue, and indexes it with the distinct values that were read of the columns of
    /// [`Exposure::columns_to_read`]. Values of columns that may not be seen are dropped here, whoever read them.
    ///
    /// # Errors
    /// [`PackReport`] when the pack does not fit the catalogue.
    pub fn new(
        pack: &Pack,
        catalogue: Arc<Catalogue>,
        values: Vec<(ColumnRef, Vec<String>)>,
    ) -> Result<Self, PackReport> {
        let bound = pack.bind(&catalogue)?;
        let curated = Curated::of_pack(pack, &bound);
        Ok(Self::from_bound(pack, bound, catalogue, values, curated))
    }

    /// The same from a pack that was bound before, or of which only what still holds is wanted, and with curated knowledge
    /// from wherever it is kept.
    #[must_use]
    pub fn from_bound(
        pack: &Pack,
        bound: BoundPack,
        catalogue: Arc<Catalogue>,
        values: Vec<(ColumnRef, Vec<String>)>,
        curated: Curated,
    ) -> Self {
        let views = views(&catalogue, &bound, &values);
        let indexed = indexed_values(&views, &bound.exposure, values);
        let dead: BTreeSet<TableRef> =
            views.iter().filter(|view| !view.in_use).map(|view| view.table.clone()).collect();
        let joins = JoinGraph::new(&catalogue, &bound.joins, dead);
        Self {
            domain: pack.name.clone(),
            pack_hash: pack.hash,
            settings: pack.settings.clone(),
            tables: TableIndex::new(&views, &bound.terms, joins.all()),
            joins,
            columns: columns(&views),
            values: ValueIndex::new(&indexed),
            examples: example_shelf(curated.examples),
            lessons: lesson_shelf(curated.lessons),
            terms: Terms::new(&bound.terms),
            passages: passage_shelf(pack),
            position: views.iter().enumerate().map(|(at, view)| (view.table.clone(), at)).collect(),
            views,
            exposure: bound.exposure,
            entities: bound.entities,
            catalogue,
        }
    }

    /// The domain.
    #[must_use]
    pub fn domain(&self) -> &DomainName {
        &self.domain
    }

    /// Hash of the pack it was made from.
    #[must_use]
    pub fn pack_hash(&self) -> ContentHash {
        self.pack_hash
    }

    /// `domain.toml` of that pack.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The catalogue it was made from.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The columns that hold the governed keys of a kind of entity, in the order of the notes.
    #[must_use]
    pub fn entity_columns(&self, kind: &str) -> &[ColumnRef] {
        self.entities.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Who may see which values.
    #[must_use]
    pub fn exposure(&self) -> &Exposure {
        &self.exposure
    }

    /// All tables, by schema and name.
    #[must_use]
    pub fn views(&self) -> &[TableView] {
        &self.views
    }

    /// One table.
    #[must_use]
    pub fn view(&self, table: &TableRef) -> Option<&TableView> {
        self.views.get(*self.position.get(table)?)
    }

    /// A table in words, as it is embedded and as a cross-encoder reads it.
    #[must_use]
    pub fn sentence(&self, table: &TableRef) -> Option<String> {
        self.view(table).map(near::sentence)
    }

    /// All joins, foreign keys first and guesses last.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        self.joins.all()
    }

    /// Joins in which a table takes either side.
    pub fn joins_of<'a>(&'a self, table: &TableRef) -> impl Iterator<Item = &'a Join> + use<'a> {
        self.joins.of(table)
    }

    /// The shortest chain of joins between two tables, verified ones preferred; empty when there is none within
    /// `max_hops`.
    #[must_use]
    pub fn join_path(&self, from: &TableRef, to: &TableRef, max_hops: usize) -> Vec<Join> {
        self.joins.path(from, to, max_hops)
    }

    /// The texts that an embedder makes vectors of.
    #[must_use]
    pub fn texts(&self) -> Vec<Text> {
        let mut texts = near::tables(&self.views);
        texts.extend(near::examples(self.examples.items.iter().map(AsRef::as_ref)));
        texts.extend(near::lessons(self.lessons.items.iter().map(AsRef::as_ref)));
        texts.extend(near::terms(self.terms.shelf.items.iter().map(AsRef::as_ref)));
        texts.extend(near::passages(self.passages.items.iter().map(|passage| passage.text.as_str())));
        texts
    }

    /// Tables in use that are near to a question.
    #[must_use]
    pub fn tables(&self, query: &str, k: usize) -> Vec<TableHit> {
        self.tables_near(query, None, k)
    }

    /// The same by keywords and by vectors.
    #[must_use]
    pub fn tables_near(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<TableHit> {
        let query = Query::new(query);
        let near = nearby.map_or_else(Vec::new, |nearby| nearby.of(Kind::Table));
        let mut values = self.values.search(&query);
        values.extend(self.values.kin(&query));
        let mut hits = self.tables.search(&query, &values, &near);
        hits.truncate(k.min(HITS));
        hits
    }

    /// Columns that are near to a question.
    #[must_use]
    pub fn columns(&self, query: &str, k: usize) -> Vec<ColumnHit> {
        let query = Query::new(query);
        let found = self.columns.best(&query, k.min(HITS));
        found
            .map(|(column, found)| ColumnHit {
                column: column.clone(),
                score: f64::from(found.score),
                matched: found.words(&query),
            })
            .collect()
    }

    /// Values that a question names.
    #[must_use]
    pub fn values(&self, query: &str, k: usize) -> Vec<ValueHit> {
        let mut hits = self.values.search(&Query::new(query));
        hits.truncate(k.min(HITS));
        hits
    }

    /// The indexed values of one column, in the order that they were handed in; none when the column is not indexed.
    pub fn values_of<'a>(&'a self, column: &ColumnRef) -> impl Iterator<Item = &'a str> + use<'a> {
        self.values.of_column(column)
    }

    /// Verified examples whose questions are near.
    #[must_use]
    pub fn examples(&self, query: &str, k: usize) -> Vec<ExampleHit> {
        self.examples_near(query, None, k)
    }

    /// The same by keywords and by vectors.
    #[must_use]
    pub fn examples_near(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<ExampleHit> {
        let query = Query::new(query);
        let found = self.examples.fused(Kind::Example, &query, nearby).take(k.min(HITS));
        found
            .map(|(example, found)| ExampleHit {
                example: Arc::clone(example),
                score: found.score,
                matched: found.keywords.map_or_else(Vec::new, |found| found.words(&query)),
            })
            .collect()
    }

    /// Lessons that are near.
    #[must_use]
    pub fn lessons(&self, query: &str, k: usize) -> Vec<LessonHit> {
        self.lessons_near(query, None, k)
    }

    /// The same by keywords and by vectors.
    #[must_use]
    pub fn lessons_near(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<LessonHit> {
        let query = Query::new(query);
        let found = self.lessons.fused(Kind::Lesson, &query, nearby).take(k.min(HITS));
        found
            .map(|(lesson, found)| LessonHit {
                lesson: Arc::clone(lesson),
                score: found.score,
                matched: found.keywords.map_or_else(Vec::new, |found| found.words(&query)),
            })
            .collect()
    }

    /// Terms of the glossary, those that the question names before those whose definition is near. A term with several
    /// metrics is several records.
    #[must_use]
    pub fn glossary(&self, query: &str, k: usize) -> Vec<TermHit> {
        self.terms.search(&Query::new(query), k.min(HITS))
    }

    /// Passages of documents; of two that overlap only the nearer.
    #[must_use]
    pub fn passages(&self, query: &str, k: usize) -> Vec<PassageHit> {
        self.passages_near(query, None, k)
    }

    /// The same by keywords and by vectors.
    #[must_use]
    pub fn passages_near(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<PassageHit> {
        let query = Query::new(query).about();
        let mut kept: Vec<(&Passage, Fused)> = Vec::new();
        for (passage, found) in self.passages.fused(Kind::Passage, &query, nearby) {
            if kept.len() >= k.min(HITS) {
                break;
            }
            if !kept.iter().any(|(other, _)| other.overlaps(passage)) {
                kept.push((passage, found));
            }
        }
        kept.into_iter()
            .map(|(passage, found)| PassageHit {
                source: passage.source.clone(),
                text: passage.text.clone(),
                score: found.score,
                matched: found.keywords.map_or_else(Vec::new, |found| found.words(&query)),
            })
            .collect()
    }
}

impl Terms {
    fn new(terms: &[BoundTerm]) -> Self {
        let items: Vec<Arc<TermRecord>> = terms.iter().flat_map(records).map(Arc::new).collect();
        let stems = |text: &String| words(text).into_iter().map(|word| word.stem).collect::<Vec<String>>();
        let phrases = items
            .iter()
            .map(|term| std::iter::once(&term.name).chain(&term.synonyms).map(stems).collect())
            .collect();
        let index = documents::terms(items.iter().map(AsRef::as_ref));
        Self { shelf: Shelf { items, index }, phrases }
    }

    fn search(&self, query: &Query<'_>, k: usize) -> Vec<TermHit> {
        let mut hits: Vec<(usize, TermHit)> = Vec::new();
        for found in self.shelf.index.search(query) {
            let (Some(term), Some(phrases)) =
                (self.shelf.items.get(found.document), self.phrases.get(found.document))
            else {
                continue;
            };
            // The longest phrase names a term most exactly: `net revenue` before `revenue`.
            let phrase =
                phrases.iter().filter_map(|phrase| query.find_phrase(phrase)).max_by_key(|(a, b)| b - a);
            let named = phrase.is_some();
            let (bonus, matched) = match phrase {
                Some((first, last)) => {
                    (NAMED * (last - first + 1) as f64, query.span(first, last).to_owned())
                }
                None => (0.0, found.words(query).join(" ")),
            };
            let hit =
                TermHit { term: Arc::clone(term), score: f64::from(found.score) + bonus, named, matched };
            hits.push((found.document, hit));
        }
        hits.sort_by(|(a, left), (b, right)| right.score.total_cmp(&left.score).then(a.cmp(b)));
        hits.into_iter().map(|(_, hit)| hit).take(k).collect()
    }
}

/// One record for each metric of a term, or one for the term alone.
fn records(term: &BoundTerm) -> Vec<TermRecord> {
    let plain = TermRecord {
        name: term.name.clone(),
        synonyms: term.synonyms.clone(),
        definition: term.definition.clone(),
        table: None,
        metric_sql: None,
        filter_sql: None,
    };
    if term.metrics.is_empty() {
        return vec![plain];
    }
    let with = |metric: &crate::pack::BoundMetric| TermRecord {
        table: Some(metric.table.clone()),
        metric_sql: metric.sql.clone(),
        filter_sql: metric.filter.clone(),
        ..plain.clone()
    };
    term.metrics.iter().map(with).collect()
}

/// The values that may be found, enum labels included.
fn indexed_values(
    views: &[TableView],
    exposure: &Exposure,
    values: Vec<(ColumnRef, Vec<String>)>,
) -> Vec<(ColumnRef, Vec<String>)> {
    let mut indexed: Vec<(ColumnRef, Vec<String>)> =
        values.into_iter().filter(|(column, _)| exposure.may_index_values(column)).collect();
    for view in views.iter().filter(|view| view.in_use) {
        for column in view.columns.iter().filter(|column| !column.enum_labels.is_empty()) {
            let reference = ColumnRef { table: view.table.clone(), column: column.name.clone() };
            if exposure.may_tell(&reference) && !indexed.iter().any(|(known, _)| *known == reference) {
                indexed.push((reference, column.enum_labels.clone()));
            }
        }
    }
    indexed.sort();
    indexed
}

fn columns(views: &[TableView]) -> Shelf<ColumnRef> {
    let items = views
        .iter()
        .flat_map(|view| {
            view.columns
                .iter()
                .map(|column| ColumnRef { table: view.table.clone(), column: column.name.clone() })
        })
        .collect();
    Shelf { items, index: documents::columns(views) }
}

fn example_shelf(examples: Vec<Example>) -> Shelf<Arc<Example>> {
    let index = documents::examples(examples.iter());
    Shelf { items: examples.into_iter().map(Arc::new).collect(), index }
}

fn lesson_shelf(lessons: Vec<Lesson>) -> Shelf<Arc<Lesson>> {
    let index = documents::lessons(lessons.iter());
    Shelf { items: lessons.into_iter().map(Arc::new).collect(), index }
}

fn passage_shelf(pack: &Pack) -> Shelf<Passage> {
    let items = passages(&pack.documents);
    let index = documents::passages(&items);
    Shelf { items, index }
}
