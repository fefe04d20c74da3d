//! What a domain has curated, found by the words of a question: items of the store beside those of the pack.
//!
//! Two parts that age apart. The items are as the store has them at a number; the index may be older. A hit counts only if
//! the item is there with the hash it was indexed with, so an old index can miss and never bring back what was taken out
//! of service or changed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use airlock_types::{ContentHash, DomainName};

use super::content::Content;
use super::id::ItemId;
use super::promote::{Curation, CurationState};
use crate::curated::Curated;
use crate::index::bm25f::Bm25f;
use crate::index::documents;
use crate::index::query::Query;
use crate::index::vectors::{Kind, Text, Vectors};
use crate::near::{self, Fused, Nearby};
use crate::records::{Example, ExampleHit, Lesson, LessonHit};

/// Most hits of one call.
const HITS: usize = 50;
/// Hits beyond those that are asked for, in place of items that left service since the index was made.
const SPARE: usize = 50;

/// A thing in the index and what it must still be to count: nothing for what comes with the pack.
struct Doc<T> {
    thing: Arc<T>,
    item: Option<(ItemId, ContentHash)>,
}

struct Shelf<T> {
    docs: Vec<Doc<T>>,
    index: Bm25f,
}

struct Index {
    examples: Shelf<Example>,
    lessons: Shelf<Lesson>,
}

/// Vectors of what was indexed. They are by place, and so count under the very index they were made of.
#[derive(Clone)]
pub struct LearnedVectors {
    index: Arc<Index>,
    vectors: Arc<Vectors>,
}

/// What a domain has curated, at a number of the store. Cheap to clone.
#[derive(Clone)]
pub struct Learned {
    number: i64,
    items: Arc<HashMap<ItemId, Arc<Curation>>>,
    index: Arc<Index>,
}

impl Learned {
    /// The items in service at a number of the store, indexed with what comes with the pack. What `admit` refuses is kept and
    /// not found: an example whose SQL the domain's gate does not let run.
    #[must_use]
    pub fn new(number: i64, items: Vec<Curation>, pack: &Curated, admit: impl Fn(&Content) -> bool) -> Self {
        let items = items
            .into_iter()
            .filter(|item| item.state == CurationState::Active)
            .map(|item| (item.id, Arc::new(item)))
            .collect();
        let index = Arc::new(Index::new(&items, pack, admit));
        Self { number, items: Arc::new(items), index }
    }

    /// The same at a later number: these items changed, and `rows` is what they are now. The index stays: what is new is not
    /// found until [`Learned::reindexed`].
    #[must_use]
    pub fn updated(&self, number: i64, changed: &BTreeSet<ItemId>, rows: Vec<Curation>) -> Self {
        if changed.is_empty() {
            return Self { number, ..self.clone() };
        }
        let mut items = HashMap::clone(&self.items);
        items.retain(|id, _| !changed.contains(id));
        let active = rows.into_iter().filter(|item| item.state == CurationState::Active);
        items.extend(active.map(|item| (item.id, Arc::new(item))));
        Self { number, items: Arc::new(items), index: Arc::clone(&self.index) }
    }

    /// The same with an index of what is there now.
    #[must_use]
    pub fn reindexed(&self, pack: &Curated, admit: impl Fn(&Content) -> bool) -> Self {
        Self { index: Arc::new(Index::new(&self.items, pack, admit)), ..self.clone() }
    }

    /// These items under the index of another one, which was made of them or of what they were.
    #[must_use]
    pub fn with_index_of(&self, other: &Self) -> Self {
        Self { index: Arc::clone(&other.index), ..self.clone() }
    }

    /// The same as if one more were curated: in memory, for a replay. Nothing is written.
    #[must_use]
    pub fn supposing(
        &self,
        (id, domain, content): (ItemId, &DomainName, &Content),
        pack: &Curated,
        admit: impl Fn(&Content) -> bool,
    ) -> Self {
        let supposed = Curation::supposed(id, domain, content);
        self.updated(self.number, &BTreeSet::from([id]), vec![supposed]).reindexed(pack, admit)
    }

    /// The number of the store they are current at.
    #[must_use]
    pub const fn number(&self) -> i64 {
        self.number
    }

    /// Items of the store in service.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the store has none in service.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items of the store in service.
    pub fn items(&self) -> impl Iterator<Item = &Curation> {
        self.items.values().map(AsRef::as_ref)
    }

    /// The texts of what is indexed, for an embedder.
    #[must_use]
    pub fn texts(&self) -> Vec<Text> {
        let mut texts = near::examples(self.index.examples.docs.iter().map(|doc| doc.thing.as_ref()));
        texts.extend(near::lessons(self.index.lessons.docs.iter().map(|doc| doc.thing.as_ref())));
        texts
    }

    /// The vectors of [`Learned::texts`], for what is indexed now.
    #[must_use]
    pub fn embedded(&self, vectors: Vectors) -> LearnedVectors {
        LearnedVectors { index: Arc::clone(&self.index), vectors: Arc::new(vectors) }
    }

    /// The vectors, if they are of what is indexed now.
    #[must_use]
    pub fn vectors<'a>(&self, made: Option<&'a LearnedVectors>) -> Option<&'a Vectors> {
        made.filter(|made| Arc::ptr_eq(&made.index, &self.index)).map(|made| made.vectors.as_ref())
    }

    /// Verified examples whose questions are near, the pack's and the store's: by keywords, and by vectors where there are any.
    #[must_use]
    pub fn examples(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<ExampleHit> {
        let query = Query::new(query);
        let found = self.found(Kind::Example, &self.index.examples, &query, nearby, k.min(HITS));
        found
            .into_iter()
            .map(|(example, found)| ExampleHit {
                example,
                score: found.score,
                matched: found.keywords.map_or_else(Vec::new, |found| found.words(&query)),
            })
            .collect()
    }

    /// Lessons that are near, the pack's and the store's.
    #[must_use]
    pub fn lessons(&self, query: &str, nearby: Option<Nearby<'_>>, k: usize) -> Vec<LessonHit> {
        let query = Query::new(query);
        let found = self.found(Kind::Lesson, &self.index.lessons, &query, nearby, k.min(HITS));
        found
            .into_iter()
            .map(|(lesson, found)| LessonHit {
                lesson,
                score: found.score,
                matched: found.keywords.map_or_else(Vec::new, |found| found.words(&query)),
            })
            .collect()
    }

    /// The best that are still what they were indexed as.
    fn found<T>(
        &self,
        kind: Kind,
        shelf: &Shelf<T>,
        query: &Query<'_>,
        nearby: Option<Nearby<'_>>,
        k: usize,
    ) -> Vec<(Arc<T>, Fused)> {
        let current = |found: Fused| {
            let doc = shelf.docs.get(found.place)?;
            let current = match doc.item {
                None => true,
                Some((id, hash)) => self.items.get(&id).is_some_and(|item| item.hash == hash),
            };
            current.then(|| (Arc::clone(&doc.thing), found))
        };
        let ranked = |keywords| near::fused(kind, keywords, nearby).into_iter();
        // A ranking that is fused with another counts places far down.
        let wanted = SPARE + if nearby.is_some() { HITS } else { k };
        let few = shelf.index.best(query, wanted);
        let all = few.len() < wanted;
        let found: Vec<_> = ranked(few).filter_map(current).take(k).collect();
        if found.len() == k || all {
            return found;
        }
        // Much of what is near left service since the index was made.
        ranked(shelf.index.search(query)).filter_map(current).take(k).collect()
    }
}

impl Index {
    fn new(items: &HashMap<ItemId, Arc<Curation>>, pack: &Curated, admit: impl Fn(&Content) -> bool) -> Self {
        let mut examples: Vec<Doc<Example>> = pack
            .examples
            .iter()
            .map(|example| Doc { thing: Arc::new(example.clone()), item: None })
            .collect();
        let mut lessons: Vec<Doc<Lesson>> =
            pack.lessons.iter().map(|lesson| Doc { thing: Arc::new(lesson.clone()), item: None }).collect();
        // The newest first: of what is equally near, what was decided on last counts. The same on every host.
        let mut sorted: Vec<&Arc<Curation>> = items.values().collect();
        sorted.sort_by_key(|item| Reverse((item.changed_at, item.id)));
        for item in sorted {
            let mark = Some((item.id, item.hash));
            if !admit(&item.content) {
                tracing::info!(id = %item.id, domain = %item.domain, "a curated item does not fit its domain any more and is not recalled");
                continue;
            }
            match &item.content {
                Content::Example(content) => {
                    let (question, sql) = (content.question.clone(), content.sql.clone());
                    let example = Example { id: item.id.to_string(), question, sql };
                    examples.push(Doc { thing: Arc::new(example), item: mark });
                }
                Content::Lesson(content) => {
                    let lesson = Lesson {
                        id: item.id.to_string(),
                        kind: content.kind,
                        text: content.text.clone(),
                        trigger: content.trigger.clone(),
                        tags: content.tags.clone(),
                    };
                    lessons.push(Doc { thing: Arc::new(lesson), item: mark });
                }
                // A golden case grades; as an example it would give itself away.
                Content::Golden(_) => {}
            }
        }
        Self {
            examples: Shelf {
                index: documents::examples(examples.iter().map(|doc| doc.thing.as_ref())),
                docs: examples,
            },
            lessons: Shelf {
                index: documents::lessons(lessons.iter().map(|doc| doc.thing.as_ref())),
                docs: lessons,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::content::ExampleContent;
    use crate::store::rows::Origin;

    fn item(id: ItemId, question: &str, state: CurationState) -> Curation {
        let content: Content =
            ExampleContent { question: question.to_owned(), sql: "SELECT 1".to_owned(), scope: Vec::new() }
                .into();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let hash = content.hash();
        let domain = "shop".parse().unwrap();
        Curation {
            id,
            domain,
            state,
            content,
            hash,
            origin: Origin::Person,
            candidate: None,
            made_at: now,
            changed_at: now,
        }
    }

    fn questions(learned: &Learned) -> Vec<String> {
        learned
            .examples("overdue invoices", None, 9)
            .into_iter()
            .map(|hit| hit.example.question.clone())
            .collect()
    }

    #[test]
    fn of_equally_near_examples_the_one_decided_on_last_comes_first_tried_or_in_service() {
        let pack = Curated::default();
        let (old, tried) = (ItemId::now(), ItemId::now());
        // A candidate is older than what was curated after it was handed in.
        let (tried, old) = if tried < old { (tried, old) } else { (old, tried) };
        let first =
            Learned::new(1, vec![item(old, "Overdue invoices", CurationState::Active)], &pack, |_| true);
        let content: Content = ExampleContent {
            question: "overdue invoices".to_owned(),
            sql: "SELECT 2".to_owned(),
            scope: Vec::new(),
        }
        .into();
        let supposed = first.supposing((tried, &"shop".parse().unwrap(), &content), &pack, |_| true);
        assert_eq!(questions(&supposed), ["overdue invoices", "Overdue invoices"]);
        let later = jiff::Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1);
        let promoted =
            Curation { changed_at: later, ..item(ItemId::now(), "overdue invoices", CurationState::Active) };
        let served = first.updated(2, &[promoted.id].into(), vec![promoted]).reindexed(&pack, |_| true);
        assert_eq!(questions(&served), questions(&supposed));
    }

    #[test]
    fn vectors_find_what_no_word_does_and_count_under_their_own_index_alone() {
        let pack = Curated::default();
        let (one, two) = (ItemId::now(), ItemId::now());
        let items = vec![
            item(one, "overdue invoices", CurationState::Active),
            item(two, "red bicycles", CurationState::Active),
        ];
        let learned = Learned::new(1, items, &pack, |_| true);
        assert_eq!(learned.texts().len(), 2);
        let texts = learned.texts();
        let of = |text: &Text| if text.text.contains("invoices") { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        let vectors = Vectors::new("m", &texts, &texts.iter().map(of).collect::<Vec<_>>()).unwrap();
        let made = learned.embedded(vectors);
        let near = |learned: &Learned| -> Vec<String> {
            let nearby =
                learned.vectors(Some(&made)).map(|vectors| Nearby { vectors, question: &[0.9, 0.1] });
            let hits = learned.examples("unpaid bills", nearby, 1);
            hits.into_iter().map(|hit| hit.example.question.clone()).collect()
        };
        assert_eq!(near(&learned), ["overdue invoices"]);
        // Gone from the store, it is not found; under another index the vectors do not count.
        assert_eq!(near(&learned.updated(2, &[one].into(), Vec::new())), ["red bicycles"]);
        assert!(near(&learned.reindexed(&pack, |_| true)).is_empty());
    }

    #[test]
    fn an_old_index_misses_and_never_brings_back() {
        let pack = Curated::default();
        let (one, two) = (ItemId::now(), ItemId::now());
        let first =
            Learned::new(1, vec![item(one, "overdue invoices", CurationState::Active)], &pack, |_| true);
        assert_eq!(questions(&first), ["overdue invoices"]);

        let changed: BTreeSet<ItemId> = [one, two].into();
        for (rows, before, after) in [
            // Gone, stale, changed, and one more: the old index shows none of it.
            (vec![], vec![], vec![]),
            (vec![item(one, "overdue invoices", CurationState::Stale)], vec![], vec![]),
            (
                vec![item(one, "overdue invoices of May", CurationState::Active)],
                vec![],
                vec!["overdue invoices of May"],
            ),
            (
                vec![item(two, "overdue invoices too", CurationState::Active)],
                vec![],
                vec!["overdue invoices too"],
            ),
        ] {
            let next = first.updated(2, &changed, rows);
            assert_eq!(
                (next.number(), questions(&next)),
                (2, before.into_iter().map(str::to_owned).collect())
            );
            assert_eq!(questions(&next.reindexed(&pack, |_| true)), after);
            assert!(questions(&next.reindexed(&pack, |_| false)).is_empty());
        }
    }
}
