//! A finished ask run again from its account: the same inputs, the same components, the same replies, and then the first
//! difference, if there is one. Nothing is logged, nothing is learned, and no model is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use airlock_models::Models;
use airlock_runtime::{Component, DomainScope, Stage, StageSet};
use airlock_types::{AskId, AskRequest, ContentHash, DomainName, FieldError, RawAskRequest};
use serde::Serialize;
use thiserror::Error;

use crate::account::{Account, Bookkeeper, Step};
use crate::ask::Ask;
use crate::host::{AskError, Current, Host, clock};
use crate::progress::Reporter;
use crate::timeline::Recorder;

/// Why an ask cannot be run again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RerunError {
    /// It was kept in part.
    #[error("the record of the ask is not whole: {0}")]
    NotWhole(String),
    /// The request is of another version.
    #[error("the request in the record cannot be read: {0}")]
    Request(String),
    /// It cannot be begun.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// The first thing that came out otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which step it is, from 1.
    pub at: usize,
    /// `component`, `context`, `request`, `draft`, `verdict`, `error`, `rows`, `probe`, `outcome`, `sentence`.
    pub what: &'static str,
    /// What it was when the ask was asked.
    pub was: String,
    /// What it is now.
    pub is: String,
}

/// What came of running an ask again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rerun {
    /// Whether everything came out the same.
    pub same: bool,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Steps that were the same before it.
    pub steps: usize,
    /// Steps when the ask was asked.
    pub of: usize,
    /// What else is not as it was.
    pub notes: Vec<String>,
}

impl Host {
    /// The components that an ask was answered by, as far as they are at hand: those in service where they are the same,
    /// else what `find` has. What is missing is told.
    pub fn stages_at(
        &self,
        account: &Account,
        domain: &DomainName,
        find: impl Fn(Stage, ContentHash) -> Option<Component>,
    ) -> (Arc<StageSet>, Vec<String>) {
        let (mut set, mut notes) = (self.registry().current(), Vec::new());
        let mut seen = BTreeSet::new();
        for step in &account.steps {
            let Step::Component { stage, component, digest } = step else { continue };
            let Some(stage) = Stage::ALL.iter().copied().find(|known| known.as_str() == stage) else {
                continue;
            };
            let serves =
                |set: &StageSet| set.component(stage, domain).is_some_and(|now| now.digest() == *digest);
            if !seen.insert((stage, *digest)) || serves(&set) {
                continue;
            }
            let with = find(stage, *digest).and_then(|component| {
                let scopes = [DomainScope::Only(domain.clone()), DomainScope::Any];
                scopes.iter().find_map(|scope| set.with(stage, scope, &component).ok().filter(&serves))
            });
            match with {
                Some(with) => set = Arc::new(with),
                None => notes.push(format!(
                    "`{component}` ({}) of the stage {stage} is not at hand: what serves now runs in its place",
                    digest.short()
                )),
            }
        }
        (set, notes)
    }

    /// Runs an ask again.
    ///
    /// # Errors
    /// When its account is not whole, or its domain is not here.
    pub async fn rerun(
        &self,
        ask: AskId,
        account: &Account,
        stages: Arc<StageSet>,
    ) -> Result<Rerun, RerunError> {
        if let Some(why) = &account.left_out {
            return Err(RerunError::NotWhole(why.clone()));
        }
        let request = request(account)?;
        let current = self.current(request.domain.as_ref(), &request.question, &Recorder::idle()).await?;
        let Current { domain, missing, .. } = current;
        let mut notes: Vec<String> = missing.into_iter().map(str::to_owned).collect();
        if domain.pack().hash != account.pack {
            notes.push(format!(
                "the pack was {} and is {}",
                account.pack.short(),
                domain.pack().hash.short()
            ));
        }
        if account.schema.is_some_and(|was| was != domain.fingerprint()) {
            notes.push("what the reader sees of the data source's schema changed".to_owned());
        }
        let clock = clock(&request, &domain).map_err(AskError::Now)?;
        let mut desk = self.desk(&domain, Reporter::silent());
        desk.live = false;
        desk.stages = stages;
        desk.models = Arc::new(Models::replaying(account.model.as_deref(), &account.exchanges()));
        desk.model = account.model.is_some();
        desk.books = Bookkeeper::of(ask);
        let prior = account.prior.clone().map(Into::into);
        let mut finished = Ask::new(&request, &domain, clock, prior, desk).run().await;
        let now = finished.books.steps.take().unwrap_or_default();
        let difference = first_difference(&account.steps, &now);
        Ok(Rerun {
            same: difference.is_none(),
            steps: difference.as_ref().map_or(account.steps.len(), |difference| difference.at - 1),
            of: account.steps.len(),
            difference,
            notes,
        })
    }
}

/// The request as it was, at the moment it was answered for.
fn request(account: &Account) -> Result<AskRequest, RerunError> {
    let unreadable = |why: String| RerunError::Request(why);
    let raw: RawAskRequest =
        serde_json::from_value(account.request.clone()).map_err(|error| unreadable(error.to_string()))?;
    let raw = RawAskRequest { now: Some(account.now.clone()), ..raw };
    AskRequest::try_from(raw).map_err(|error: FieldError| unreadable(error.to_string()))
}

/// The first step that is not the same.
fn first_difference(was: &[Step], is: &[Step]) -> Option<Difference> {
    let longest = was.len().max(is.len());
    (0..longest).find_map(|at| {
        let (was, is) = (was.get(at), is.get(at));
        let same = match (was, is) {
            (Some(was), Some(is)) => same(was, is),
            _ => false,
        };
        (!same).then(|| {
            let (what, was, is) = told(was, is);
            Difference { at: at + 1, what, was, is }
        })
    })
}

fn same(was: &Step, is: &Step) -> bool {
    match (was, is) {
        // The reply is the recorded one; that it was asked for by the same words is what counts.
        (Step::Model { exchanged: was, .. }, Step::Model { exchanged: is, .. }) => was.key == is.key,
        (was, is) => was == is,
    }
}

/// What a difference is about, and both sides of it in words.
fn told(was: Option<&Step>, is: Option<&Step>) -> (&'static str, String, String) {
    let nothing = || "the ask had ended".to_owned();
    match (was, is) {
        (Some(Step::Context { blocks: was }), Some(Step::Context { blocks: is })) => {
            let of = |blocks: &[(String, ContentHash)], other: &[(String, ContentHash)]| {
                let own: Vec<String> = blocks
                    .iter()
                    .filter(|block| !other.contains(block))
                    .map(|(kind, hash)| format!("{kind} {}", hash.short()))
                    .collect();
                if own.is_empty() { "nothing else".to_owned() } else { own.join(", ") }
            };
            ("context", of(was, is), of(is, was))
        }
        (
            Some(Step::Rows { rows: was, count: a, .. }),
            Some(Step::Rows { rows: is, count: b, probe, .. }),
        ) => (
            if *probe { "probe" } else { "rows" },
            format!("{a} rows {}", was.short()),
            format!("{b} rows {}", is.short()),
        ),
        (Some(Step::Ended { outcome: was, words: a }), Some(Step::Ended { outcome: is, words: b })) => {
            if was == is {
                ("sentence", a.short(), b.short())
            } else {
                ("outcome", was.as_str().to_owned(), is.as_str().to_owned())
            }
        }
        (was, is) => {
            let what = was.or(is).map_or("outcome", kind);
            (what, was.map_or_else(nothing, words), is.map_or_else(nothing, words))
        }
    }
}

const fn kind(step: &Step) -> &'static str {
    match step {
        Step::Component { .. } => "component",
        Step::Context { .. } => "context",
        Step::Model { .. } => "request",
        Step::Draft { .. } => "draft",
        Step::Allowed => "verdict",
        Step::Failed { .. } => "error",
        Step::Rows { probe: true, .. } => "probe",
        Step::Rows { .. } => "rows",
        Step::Ended { .. } => "outcome",
    }
}

fn words(step: &Step) -> String {
    match step {
        Step::Component { stage, component, digest } => {
            format!("`{component}` ({}) for {stage}", digest.short())
        }
        Step::Context { blocks } => format!("{} context blocks", blocks.len()),
        Step::Model { purpose, exchanged } => {
            format!("the model was asked to {purpose} by {}", exchanged.key.short())
        }
        Step::Draft { origin, sql } => format!("{origin} wrote: {sql}"),
        Step::Allowed => "the text was let through".to_owned(),
        Step::Failed { error_type, message, .. } => format!("{}: {message}", error_type.as_str()),
        Step::Rows { probe: true, count, .. } => format!("a diagnostic gave {count} rows"),
        Step::Rows { count, .. } => format!("{count} rows"),
        Step::Ended { outcome, .. } => format!("the ask ended as {}", outcome.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use airlock_models::Exchanged;
    use airlock_types::{ErrorType, Outcome};

    use super::*;

    fn hash(text: &str) -> ContentHash {
        ContentHash::of(text)
    }

    fn model(key: &str, text: &str) -> Step {
        let exchanged = Exchanged {
            key: hash(key),
            model: "m".to_owned(),
            text: Some(text.to_owned()),
            error: None,
            truncated: false,
            tokens: airlock_types::ask::Tokens::default(),
        };
        Step::Model { purpose: "write-sql".to_owned(), exchanged }
    }

    fn rows(rows: &str, probe: bool) -> Step {
        Step::Rows { probe, columns: hash("c"), rows: hash(rows), count: 1, truncated: false }
    }

    fn context(blocks: &[(&str, &str)]) -> Step {
        Step::Context { blocks: blocks.iter().map(|(kind, text)| ((*kind).to_owned(), hash(text))).collect() }
    }

    #[test]
    fn the_first_difference_is_named_with_both_of_its_sides() {
        let draft = |sql: &str| Step::Draft { origin: "generator".to_owned(), sql: sql.to_owned() };
        let component = |digest: &str| Step::Component {
            stage: "planner".to_owned(),
            component: "planner".to_owned(),
            digest: hash(digest),
        };
        let failed = |message: &str| Step::Failed {
            error_type: ErrorType::UnknownColumn,
            sqlstate: Some("42703".to_owned()),
            message: message.to_owned(),
        };
        let ended = |outcome, words: &str| Step::Ended { outcome, words: hash(words) };
        let answered = || ended(Outcome::Answered, "3");
        for (was, is, want) in [
            (vec![], vec![], None),
            (vec![component("a"), answered()], vec![component("a"), answered()], None),
            (
                vec![component("a"), answered()],
                vec![component("b"), answered()],
                Some((1, "component", "for planner")),
            ),
            (
                vec![context(&[("tables", "x"), ("lessons", "y")])],
                vec![context(&[("tables", "x"), ("lessons", "z")])],
                Some((1, "context", "lessons")),
            ),
            (vec![context(&[("tables", "x")])], vec![context(&[])], Some((1, "context", "nothing else"))),
            (vec![model("p", "a")], vec![model("p", "")], None),
            (vec![model("p", "a")], vec![model("q", "a")], Some((1, "request", "write-sql"))),
            (vec![draft("SELECT 1")], vec![draft("SELECT 2")], Some((1, "draft", "SELECT 2"))),
            (vec![draft("x"), Step::Allowed], vec![draft("x"), failed("gone")], Some((2, "verdict", "gone"))),
            (vec![failed("a")], vec![failed("b")], Some((1, "error", "unknown_column: b"))),
            (vec![rows("a", false)], vec![rows("b", false)], Some((1, "rows", "1 rows"))),
            (vec![rows("a", true)], vec![rows("b", true)], Some((1, "probe", "1 rows"))),
            (vec![answered()], vec![ended(Outcome::Refused, "no")], Some((1, "outcome", "refused"))),
            (vec![answered()], vec![ended(Outcome::Answered, "4")], Some((1, "sentence", ""))),
            (vec![Step::Allowed, answered()], vec![Step::Allowed], Some((2, "outcome", "the ask had ended"))),
        ] {
            let found = first_difference(&was, &is);
            let got = found.as_ref().map(|found| (found.at, found.what, found.is.as_str()));
            match (got, want) {
                (None, None) => {}
                (Some((at, what, is)), Some((want_at, want_what, part))) => {
                    assert_eq!((at, what), (want_at, want_what), "{found:?}");
                    assert!(is.contains(part), "{found:?}");
                }
                (got, want) => panic!("{got:?}, wanted {want:?}"),
            }
        }
    }
}
