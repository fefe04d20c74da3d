//! The promotion gate: what a candidate must pass to become curated, in a fixed order, as decisions over what others tell.
//!
//! Evidence shape, the adapter's veto, near-duplicate with what is curated, then the decision: of a person, a model, a
//! replay, or by rule. What the gate wants of other rooms are traits it owns; it writes nothing itself, [`pass`] does.

pub mod decay;
mod names;
mod near;
pub mod pass;
mod replayed;
mod shape;

use std::pin::Pin;

use airlock_types::Catalogue;
use serde_json::{Value, json};

use crate::store::{Candidate, CandidateState, Content, ItemId, Mode};

pub use names::{Removed, unknown_name};
pub use near::{Known, Near, Nearness, embedded};
pub use replayed::{CaseReplay, Grade, REPEATS, Replayed, Ruling};
pub use shape::{SqlCheck, Unshaped, sql_fragments, sql_texts, well_shaped};

/// Cosine from which a candidate is nearly the same as what is curated.
pub const THRESHOLD: f64 = 0.90;

/// An answer that is waited for.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The domain's own rules. They can only reject.
pub trait Veto: Send + Sync {
    /// The objection, if there is one; an error when the rules cannot be heard.
    fn judge<'a>(&'a self, content: &'a Content) -> Answering<'a, Result<Option<String>, String>>;
}

/// A person who is shown candidates.
pub trait Person: Send + Sync {
    /// What the person says; `None` leaves the candidate where it is.
    fn decide<'a>(&'a self, candidate: &'a Candidate) -> Answering<'a, Option<bool>>;
}

/// A model that is asked for a review.
pub trait Review: Send + Sync {
    /// Its reply as it came, or why there is none.
    fn review<'a>(&'a self, candidate: &'a Candidate) -> Answering<'a, Result<String, String>>;
}

/// Golden cases asked with and without a candidate.
pub trait Replay: Send + Sync {
    /// The table of both arms, or why it could not be made.
    fn replay<'a>(&'a self, id: ItemId, content: &'a Content) -> Answering<'a, Result<Replayed, String>>;
    /// From now on the candidate is part of what is known.
    fn promoted(&self, id: ItemId, content: &Content, replayed: &Replayed);
}

/// Vectors of texts.
pub trait Embed: Send + Sync {
    /// The model that makes them.
    fn model(&self) -> &str;
    /// One vector for each text.
    fn embed<'a>(&'a self, texts: &'a [String]) -> Answering<'a, Result<Vec<Vec<f32>>, String>>;
}

/// Who decides on what passed the checks. Without one nothing is decided.
pub enum Decider<'a> {
    /// Nobody: every candidate is left where it is.
    Nobody,
    /// A person.
    Person(&'a dyn Person),
    /// A model that must say PROMOTE.
    Model(&'a dyn Review),
    /// A replay of golden cases.
    Replay(&'a dyn Replay),
    /// The checks alone. Never for what carries SQL.
    Auto,
}

/// What the gate says of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It becomes curated.
    Promote,
    /// It is refused and kept.
    Reject,
    /// It is nearly the same as this curated item.
    Duplicate(ItemId),
    /// It is left where it is.
    Skip,
}

impl Verdict {
    /// The word on every surface.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Promote => "promote",
            Self::Reject => "reject",
            Self::Duplicate(_) => "duplicate",
            Self::Skip => "skip",
        }
    }
}

/// A verdict, the step that gave it, and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    /// The verdict.
    pub verdict: Verdict,
    /// How it came about.
    pub mode: Mode,
    /// Why, in a sentence.
    pub why: String,
    /// What it rests on.
    pub evidence: Value,
    /// The table, when golden cases were replayed.
    pub replayed: Option<Replayed>,
}

impl Ruled {
    fn by_gate(verdict: Verdict, step: &str, why: String) -> Self {
        Self { verdict, mode: Mode::Gate, why, evidence: json!({"step": step}), replayed: None }
    }

    fn new(verdict: Verdict, mode: Mode, why: impl Into<String>, evidence: Value) -> Self {
        Self { verdict, mode, why: why.into(), evidence, replayed: None }
    }
}

/// The gate of one domain.
pub struct Gate<'a> {
    /// Whether SQL may run in the domain.
    pub sql: &'a SqlCheck<'a>,
    /// The relations of the domain.
    pub catalogue: &'a Catalogue,
    /// The domain's own rules.
    pub veto: &'a dyn Veto,
    /// What is curated, to compare with.
    pub near: Nearness<'a>,
    /// From which similarity a candidate is a duplicate.
    pub threshold: f64,
    /// Who decides.
    pub decider: Decider<'a>,
}

impl Gate<'_> {
    /// Rules on a candidate. Nothing is written. What is disputed came from an ask whose answer somebody called wrong: a
    /// person alone decides on it.
    pub async fn rule(&self, candidate: &Candidate, disputed: bool) -> Ruled {
        let Candidate { content, origin, evidence, .. } = candidate;
        if let Err(Unshaped(why)) = well_shaped(content, *origin, evidence, self.sql, self.catalogue) {
            return Ruled::by_gate(Verdict::Reject, "shape", why);
        }
        match self.veto.judge(&candidate.content).await {
            Ok(None) => {}
            Ok(Some(reason)) => {
                return Ruled::by_gate(Verdict::Reject, "veto", format!("the domain's adapter: {reason}"));
            }
            // Rules that cannot be heard are not rules that agree, and not rules that object.
            Err(why) => {
                let why = format!("the domain's adapter could not be heard: {why}");
                return Ruled::by_gate(Verdict::Skip, "veto", why);
            }
        }
        let nearest = self.near.nearest(&candidate.content).await;
        if let Some(near) = nearest.filter(|near| near.similarity >= self.threshold) {
            let Near { known, similarity, method } = near;
            let why = format!("nearly the same as {known} is curated ({similarity:.3} by {method})");
            // What came with a pack has no row to point at.
            let verdict = known.item().map_or(Verdict::Reject, Verdict::Duplicate);
            return Ruled {
                evidence: json!({"step": "near", "of": known.to_string(), "similarity": similarity, "method": method}),
                ..Ruled::by_gate(verdict, "near", why)
            };
        }
        self.decision(candidate, disputed).await
    }

    async fn decision(&self, candidate: &Candidate, disputed: bool) -> Ruled {
        let waits = candidate.state == CandidateState::NeedsEvidence;
        match &self.decider {
            Decider::Model(_) | Decider::Replay(_) | Decider::Auto if disputed => {
                let why = "the answer that it was taken from was called wrong: a person decides";
                Ruled::new(Verdict::Skip, Mode::Gate, why, Value::Null)
            }
            Decider::Nobody => Ruled::new(Verdict::Skip, Mode::Gate, "no mode was given", Value::Null),
            Decider::Auto if waits => {
                let why = "it needs evidence: a replay, a review or a person can give it";
                Ruled::new(Verdict::Skip, Mode::Gate, why, Value::Null)
            }
            Decider::Person(person) => match person.decide(candidate).await {
                Some(true) => Ruled::new(Verdict::Promote, Mode::Person, "a person approved it", Value::Null),
                Some(false) => Ruled::new(Verdict::Reject, Mode::Person, "a person refused it", Value::Null),
                None => Ruled::new(Verdict::Skip, Mode::Person, "left for later", Value::Null),
            },
            Decider::Model(model) => reviewed(model.review(candidate).await),
            Decider::Replay(replay) => match replay.replay(candidate.id, &candidate.content).await {
                Ok(replayed) => {
                    let (ruling, why) = replayed.ruling();
                    let verdict = match ruling {
                        Ruling::Helps => Verdict::Promote,
                        Ruling::Harms => Verdict::Reject,
                        Ruling::Unproven => Verdict::Skip,
                    };
                    let evidence = json!({"replay": &replayed});
                    Ruled { replayed: Some(replayed), ..Ruled::new(verdict, Mode::Replay, why, evidence) }
                }
                Err(why) => Ruled::new(Verdict::Skip, Mode::Replay, why, Value::Null),
            },
            Decider::Auto if carries_sql(&candidate.content) => {
                let why = "it carries SQL, which is never promoted by rule";
                Ruled::new(Verdict::Skip, Mode::Auto, why, Value::Null)
            }
            Decider::Auto => Ruled::new(Verdict::Promote, Mode::Auto, "the checks passed", Value::Null),
        }
    }
}

/// A model's review, fail-closed: nothing but the one word promotes.
fn reviewed(reply: Result<String, String>) -> Ruled {
    match reply {
        Ok(reply) if reply.trim() == "PROMOTE" => {
            Ruled::new(Verdict::Promote, Mode::Model, "the model said PROMOTE", json!({"reply": reply}))
        }
        Ok(reply) => {
            let reply: String = reply.chars().take(500).collect();
            let why = "the model did not say PROMOTE";
            Ruled::new(Verdict::Reject, Mode::Model, why, json!({"reply": reply}))
        }
        Err(error) => {
            let why = format!("the model could not be asked: {error}");
            Ruled::new(Verdict::Reject, Mode::Model, why, Value::Null)
        }
    }
}

fn carries_sql(content: &Content) -> bool {
    match content {
        Content::Example(_) | Content::Golden(_) => true,
        Content::Lesson(lesson) => !sql_fragments(&lesson.text).is_empty(),
    }
}

#[cfg(test)]
mod tests;
