//! A cross-encoder over what retrieval found for a question: once, before the first stage, over the best of each ranking.
//!
//! It changes the order and nothing else: what it read takes the places that retrieval gave to it, best first, and each place
//! keeps its score. When it is down or slow, the order of retrieval stays, and the answer says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_knowledge::index::vectors::Kind;
use airlock_knowledge::{ExampleHit, LessonHit, PassageHit, TableHit};
use airlock_models::{Condition, RerankError, Reranker};

use crate::domain::Domain;
use crate::embedding::looks_for;
use crate::host::Host;
use crate::timeline::{Doing, Recorder, Trouble};

/// Time the comparison of a question with what was found may take before the ask goes on.
const PATIENCE: Duration = Duration::from_secs(3);

/// What an answer says whose context stands in the order of retrieval although a reranker is configured.
pub(crate) const ORDER_OF_RETRIEVAL: &str = "The reranker is down or too slow: tables, examples, lessons or passages stand in the order in which they were \
     found.";

/// Something that was found.
pub(crate) trait Found: Clone {
    /// Of which ranking.
    const KIND: Kind;
    /// What tells it from the others there.
    fn key(&self) -> String;
    /// How near it is.
    fn score(&mut self) -> &mut f64;
}

impl Found for TableHit {
    const KIND: Kind = Kind::Table;
    fn key(&self) -> String {
        self.table.to_string()
    }
    fn score(&mut self) -> &mut f64 {
        &mut self.score
    }
}

impl Found for ExampleHit {
    const KIND: Kind = Kind::Example;
    fn key(&self) -> String {
        self.example.id.clone()
    }
    fn score(&mut self) -> &mut f64 {
        &mut self.score
    }
}

impl Found for LessonHit {
    const KIND: Kind = Kind::Lesson;
    fn key(&self) -> String {
        self.lesson.id.clone()
    }
    fn score(&mut self) -> &mut f64 {
        &mut self.score
    }
}

impl Found for PassageHit {
    const KIND: Kind = Kind::Passage;
    fn key(&self) -> String {
        self.text.clone()
    }
    fn score(&mut self) -> &mut f64 {
        &mut self.score
    }
}

/// What a cross-encoder said of a question's pairs.
#[derive(Debug, Default)]
pub(crate) struct Ranked {
    question: String,
    /// How many of a ranking were read.
    depth: usize,
    scores: BTreeMap<(Kind, String), f32>,
}

impl Ranked {
    /// The best `k` of a ranking in the order of the cross-encoder, where the question itself is looked for. `near` gives a
    /// ranking as deep as it is told.
    pub(crate) fn order<H: Found>(
        &self,
        query: &str,
        k: usize,
        near: impl FnOnce(usize) -> Vec<H>,
    ) -> Vec<H> {
        if !looks_for(query, &self.question) {
            return near(k);
        }
        let mut hits = near(k.max(self.depth));
        let mut read: Vec<(f32, H)> = Vec::new();
        let mut places: Vec<(usize, f64)> = Vec::new();
        for (at, hit) in hits.iter_mut().enumerate() {
            if let Some(score) = self.scores.get(&(H::KIND, hit.key())) {
                places.push((at, *hit.score()));
                read.push((*score, hit.clone()));
            }
        }
        read.sort_by(|a, b| b.0.total_cmp(&a.0));
        for ((at, score), (_, mut hit)) in places.into_iter().zip(read) {
            *hit.score() = score;
            if let Some(place) = hits.get_mut(at) {
                *place = hit;
            }
        }
        hits.truncate(k);
        hits
    }
}

/// What the reranker did for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranked {
    /// The model.
    pub model: String,
    /// Pairs that it compared.
    pub pairs: usize,
    /// How long it took.
    pub took: Duration,
    /// Why some or all stand in the order of retrieval, when they do.
    pub degraded: Option<String>,
}

impl Reranked {
    /// What the answer says of it.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        self.degraded.as_ref().map(|_| ORDER_OF_RETRIEVAL)
    }
}

/// Compares the question with the best of each ranking, the tables first.
async fn compare(reranker: &Reranker, domain: &Domain, question: &str) -> (Ranked, Option<Stopped>) {
    let question = question.trim();
    let depth = reranker.pairs();
    let mut ranked = Ranked { question: question.to_owned(), depth, scores: BTreeMap::new() };
    let until = tokio::time::Instant::now() + PATIENCE;
    for (kind, found) in domain.found(question, depth) {
        // One alone has no order.
        if found.len() < 2 {
            continue;
        }
        let (keys, texts): (Vec<String>, Vec<String>) = found.into_iter().unzip();
        match tokio::time::timeout_at(until, reranker.scores(question, &texts)).await {
            Ok(Ok(scores)) => {
                ranked.scores.extend(keys.into_iter().map(|key| (kind, key)).zip(scores));
            }
            Ok(Err(error)) => return (ranked, Some(Stopped::Failed(error))),
            Err(_) => return (ranked, Some(Stopped::TooSlow)),
        }
    }
    (ranked, None)
}

/// Why not everything was compared.
enum Stopped {
    Failed(RerankError),
    TooSlow,
}

impl Stopped {
    fn trouble(&self) -> Trouble {
        let (kind, message) = match self {
            Self::Failed(error) => ("reranker", error.to_string()),
            Self::TooSlow => {
                ("timeout", format!("the reranker took more than {} seconds", PATIENCE.as_secs()))
            }
        };
        Trouble { kind: kind.into(), sqlstate: None, message }
    }
}

impl Host {
    /// The same host with a cross-encoder over what retrieval finds.
    #[must_use]
    pub fn with_reranker(mut self, reranker: Reranker) -> Self {
        self.reranker = Some(Arc::new(reranker));
        self
    }

    /// The reranker's model and how it does, where there is one.
    #[must_use]
    pub fn reranker(&self) -> Option<(&str, Condition)> {
        let reranker = self.reranker.as_ref()?;
        Some((reranker.model(), reranker.condition()))
    }

    /// Uses the embedder and the reranker once, so that how they do is known: for whoever looks at an installation.
    pub async fn try_encoders(&self) {
        if let Some(embedding) = &self.embedding
            && let Err(error) = embedding.embedder().question("a question").await
        {
            tracing::debug!(%error, "the embedder was tried");
        }
        if let Some(reranker) = &self.reranker
            && let Err(error) = reranker.scores("a question", &["a document".to_owned()]).await
        {
            tracing::debug!(%error, "the reranker was tried");
        }
    }

    /// A domain as a question sees it whose hits were read by the cross-encoder, where there is one.
    pub(crate) async fn reranked(
        &self,
        domain: Arc<Domain>,
        question: &str,
        timeline: &Recorder,
    ) -> (Arc<Domain>, Option<Reranked>) {
        let Some(reranker) = &self.reranker else { return (domain, None) };
        let begun = Instant::now();
        let mark = timeline.open(|| Doing::Rerank { model: reranker.model().to_owned(), pairs: 0 });
        let (ranked, stopped) = compare(reranker, &domain, question).await;
        let compared = ranked.scores.len();
        let trouble = stopped.as_ref().map(Stopped::trouble);
        let reranked = Reranked {
            model: reranker.model().to_owned(),
            pairs: compared,
            took: begun.elapsed(),
            degraded: trouble.as_ref().map(|trouble| trouble.message.clone()),
        };
        tracing::debug!(
            pairs = compared,
            took_ms = reranked.took.as_millis(),
            degraded = reranked.degraded,
            "hits are reranked"
        );
        timeline.close(mark, |span| {
            if let Doing::Rerank { pairs, .. } = &mut span.doing {
                *pairs = compared;
            }
            span.trouble = trouble;
        });
        (Arc::new(domain.with_ranked(ranked)), Some(reranked))
    }
}

#[cfg(test)]
mod tests {
    use airlock_types::TableRef;

    use super::*;

    fn hits(names: &[&str]) -> Vec<TableHit> {
        let hit = |(at, name): (usize, &&str)| TableHit {
            table: TableRef::new("public", *name),
            score: 10.0 - at as f64,
            matched: vec![(*name).to_owned()],
        };
        names.iter().enumerate().map(hit).collect()
    }

    #[test]
    fn what_was_read_changes_places_and_the_places_keep_their_scores() {
        let all = ["a", "b", "c", "d", "e"];
        let scores = [("a", -3.0), ("b", 0.5), ("d", 2.0)];
        let ranked = Ranked {
            question: "how many a".to_owned(),
            depth: 4,
            scores: scores.map(|(name, score)| ((Kind::Table, format!("public.{name}")), score)).into(),
        };
        for (query, k, want, deep) in [
            ("how many a", 5, &["d", "b", "c", "a", "e"][..], 5),
            (" how many a of late", 2, &["d", "b"], 4),
            ("how many apples", 2, &["a", "b"], 2),
            ("something else", 3, &["a", "b", "c"], 3),
        ] {
            let found = ranked.order(query, k, |depth| {
                assert_eq!(depth, deep, "{query}");
                let mut hits = hits(&all);
                hits.truncate(depth);
                hits
            });
            let names: Vec<&str> = found.iter().map(|hit| hit.table.name.as_str()).collect();
            assert_eq!(names, want, "{query}");
            for (at, hit) in found.iter().enumerate() {
                assert_eq!(
                    (hit.score, hit.matched.as_slice()),
                    (10.0 - at as f64, &[hit.table.name.clone()][..])
                );
            }
        }
    }
}
