//! The timeline of one ask: what was done, within what, when and for how long. What operators see of an ask is made of it.
//!
//! It is written only where somebody observes the host, and holds a bounded number of spans. Times are of the monotonic
//! clock; one reading of the wall clock says when the ask began.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use airlock_database::Timed;
use airlock_gate::{Approved, Rejection};
use airlock_models::{Call, ModelError, Reply};
use airlock_runtime::{Component, Stage};
use airlock_types::ContentHash;
use airlock_types::ask::Tokens;

use crate::fault::Fault;

/// Spans of one ask. Three attempts with every model call that the budget allows stay well below.
const SPANS: usize = 256;

/// What was done during one ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The wall clock at its beginning.
    pub began: SystemTime,
    /// How long it took, from the request to the record.
    pub took: Duration,
    /// Each span stands behind the one that it is within.
    pub spans: Vec<Span>,
    /// Spans that found no room.
    pub dropped: u32,
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// What.
    pub doing: Doing,
    /// The place in the list of the span that it is within; the ask itself when absent.
    pub within: Option<usize>,
    /// Its beginning, from that of the timeline.
    pub begun: Duration,
    /// How long it took.
    pub took: Duration,
    /// What went wrong, when something did.
    pub trouble: Option<Trouble>,
}

/// Why a span did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// One of a few words: `timeout`, `unknown_column`, `busy`.
    pub kind: Cow<'static, str>,
    /// PostgreSQL's code, when it was PostgreSQL.
    pub sqlstate: Option<String>,
    /// In a sentence, which may quote the text that failed.
    pub message: String,
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Doing {
    /// The domain was brought up to date, and the question made a vector.
    Prepare,
    /// A cross-encoder read the question beside what was found for it.
    Rerank {
        /// The model.
        model: String,
        /// Pairs that it compared.
        pairs: usize,
    },
    /// A component served a stage: every call of it, and every model that it asked.
    Stage {
        /// The stage.
        stage: &'static str,
        /// The component's name in the grants.
        component: String,
        /// SHA-256 of the component.
        digest: ContentHash,
    },
    /// A model was asked.
    Model(Box<ModelCall>),
    /// The gate read a text.
    Gate {
        /// Which attempt it is, from 1; none for a probe.
        attempt: Option<u32>,
        /// The code of the rejection, when it was rejected.
        rejected: Option<&'static str>,
    },
    /// A connection was waited for, or made.
    Wait,
    /// PostgreSQL ran a checked text.
    Statement(Box<Statement>),
    /// Repair chose what to do.
    Repair {
        /// `rewrite`, `regenerate`, `widen` or `stop`.
        action: &'static str,
    },
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// The role it was asked for.
    pub role: &'static str,
    /// What for, such as `write-sql`.
    pub purpose: String,
    /// The model that was to answer.
    pub wanted: String,
    /// The model that answered, when one did.
    pub answered: Option<String>,
    /// The protocol it is asked by, such as `anthropic`.
    pub provider: &'static str,
    /// Tokens as the provider counted them.
    pub tokens: Tokens,
    /// US dollars; `None` when the price is unknown.
    pub cost: Option<f64>,
    /// Requests that it took, spare keys and spare providers included.
    pub requests: u32,
    /// The stage's own limit of the reply.
    pub max_output_tokens: Option<u32>,
    /// Whether the provider cut the reply.
    pub truncated: bool,
    /// What was said, where an observer wants it.
    pub said: Option<Said>,
}

/// What was said to a model, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Standing instructions.
    pub system: String,
    /// The question, context included.
    pub prompt: String,
    /// The reply without its reasoning.
    pub reply: Option<String>,
}

/// A checked text that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The attempt it belongs to, from 1.
    pub attempt: u32,
    /// Whether it only found out why a result is empty.
    pub probe: bool,
    /// The text.
    pub sql: String,
    /// Relations it reads.
    pub tables: Vec<String>,
    /// Rows it gave.
    pub rows: Option<u64>,
}

/// A span that is open; none when nothing is written or the timeline is full.
#[must_use]
pub(crate) struct Mark(Option<usize>);

/// Writes the timeline of one ask; does nothing where nobody observes.
pub(crate) struct Recorder(Option<Sheet>);

struct Sheet {
    began: SystemTime,
    begun: Instant,
    /// Whether what is said to models is kept.
    content: bool,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    spans: Vec<Span>,
    /// Open spans, the innermost last.
    open: Vec<usize>,
    dropped: u32,
}

impl Recorder {
    /// Nobody observes.
    pub(crate) const fn idle() -> Self {
        Self(None)
    }

    /// A timeline that begins now.
    pub(crate) fn begin(content: bool) -> Self {
        let (began, begun) = (SystemTime::now(), Instant::now());
        Self(Some(Sheet { began, begun, content, written: Mutex::default() }))
    }

    /// The timeline as it stands.
    pub(crate) fn finish(self) -> Option<Timeline> {
        let Sheet { began, begun, written, .. } = self.0?;
        let Written { spans, dropped, .. } = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some(Timeline { began, took: begun.elapsed(), spans, dropped })
    }

    fn write<T>(&self, with: impl FnOnce(&Sheet, &mut Written) -> T) -> Option<T> {
        let sheet = self.0.as_ref()?;
        let mut written = sheet.written.lock().unwrap_or_else(PoisonError::into_inner);
        Some(with(sheet, &mut written))
    }

    /// Opens a span within the one that is open.
    pub(crate) fn open(&self, doing: impl FnOnce() -> Doing) -> Mark {
        let opened = self.write(|sheet, written| {
            let at = written.push(sheet.begun.elapsed(), Duration::ZERO, None, doing)?;
            written.open.push(at);
            Some(at)
        });
        Mark(opened.flatten())
    }

    /// Closes a span, and lets `end` write how it ended.
    pub(crate) fn close(&self, mark: Mark, end: impl FnOnce(&mut Span)) {
        let Mark(Some(at)) = mark else { return };
        self.write(|sheet, written| {
            written.open.retain(|open| *open < at);
            if let Some(span) = written.spans.get_mut(at) {
                span.took = sheet.begun.elapsed().saturating_sub(span.begun);
                end(span);
            }
        });
    }

    /// Writes a span that takes no time.
    pub(crate) fn note(&self, doing: impl FnOnce() -> Doing) {
        self.write(|sheet, written| written.push(sheet.begun.elapsed(), Duration::ZERO, None, doing));
    }

    /// Opens the span of a stage.
    pub(crate) fn stage(&self, stage: Stage, component: &Component) -> Mark {
        self.open(|| Doing::Stage {
            stage: stage.as_str(),
            component: component.name().to_owned(),
            digest: component.digest(),
        })
    }

    /// Closes a span that a fault may have ended.
    pub(crate) fn close_with<T>(&self, mark: Mark, ended: &Result<T, Fault>) {
        self.close(mark, |span| span.trouble = ended.as_ref().err().map(Trouble::from));
    }

    /// Closes the span of a check by the gate.
    pub(crate) fn checked(&self, mark: Mark, verdict: &Result<Approved, Rejection>) {
        self.close(mark, |span| {
            let Err(rejection) = verdict else { return };
            if let Doing::Gate { rejected, .. } = &mut span.doing {
                *rejected = Some(rejection.code.as_str());
            }
            span.trouble = Some(Trouble {
                kind: rejection.code.as_str().into(),
                sqlstate: None,
                message: rejection.message.clone(),
            });
        });
    }

    /// Writes the wait for a connection and the run of a text, which both are over.
    pub(crate) fn ran(&self, attempt: u32, probe: bool, approved: &Approved, timed: &Timed) {
        let trouble = timed.result.as_ref().err().map(|failure| Trouble {
            kind: failure.error_type.as_str().into(),
            sqlstate: failure.sqlstate.clone(),
            message: failure.message.clone(),
        });
        self.write(|sheet, written| {
            let now = sheet.begun.elapsed();
            let sent = now.saturating_sub(timed.ran);
            // Whoever got no connection ran nothing.
            let (waiting, running) = match trouble {
                Some(trouble) if timed.ran.is_zero() => (Some(trouble), None),
                trouble => (None, Some(trouble)),
            };
            written.push(sent.saturating_sub(timed.waited), timed.waited, waiting, || Doing::Wait);
            if let Some(trouble) = running {
                written.push(sent, timed.ran, trouble, || {
                    Doing::Statement(Box::new(Statement {
                        attempt,
                        probe,
                        sql: approved.text().to_owned(),
                        tables: approved.facts().tables.iter().map(ToString::to_string).collect(),
                        rows: timed.result.as_ref().ok().map(|result| result.rows.len() as u64),
                    }))
                });
            }
        });
    }

    /// Opens the span of a question to a model.
    pub(crate) fn asking(
        &self,
        purpose: &str,
        wanted: &str,
        provider: Option<&'static str>,
        call: &Call,
    ) -> Mark {
        let content = self.0.as_ref().is_some_and(|sheet| sheet.content);
        self.open(|| {
            Doing::Model(Box::new(ModelCall {
                role: call.role.as_str(),
                purpose: purpose.to_owned(),
                wanted: wanted.to_owned(),
                answered: None,
                provider: provider.unwrap_or("unknown"),
                tokens: Tokens::default(),
                cost: None,
                requests: 0,
                max_output_tokens: call.max_output_tokens,
                truncated: false,
                said: content.then(|| Said {
                    system: call.system.clone(),
                    prompt: call.prompt.clone(),
                    reply: None,
                }),
            }))
        })
    }

    /// Closes the span of a question to a model.
    pub(crate) fn replied(&self, mark: Mark, reply: &Result<Reply, ModelError>) {
        self.close(mark, |span| {
            let Doing::Model(call) = &mut span.doing else { return };
            match reply {
                Ok(reply) => {
                    call.answered = Some(reply.model.clone());
                    (call.tokens, call.cost) = (reply.tokens, reply.cost);
                    (call.requests, call.truncated) = (reply.requests, reply.truncated);
                    if let Some(said) = &mut call.said {
                        said.reply = Some(reply.text.clone());
                    }
                }
                Err(error) => span.trouble = Some(Trouble::from(error)),
            }
        });
    }
}

/// A text with its literals replaced; none when it cannot be read as a query.
#[must_use]
pub fn masked(sql: &str) -> Option<String> {
    airlock_gate::without_literals(sql).ok()
}

impl Written {
    fn push(
        &mut self,
        begun: Duration,
        took: Duration,
        trouble: Option<Trouble>,
        doing: impl FnOnce() -> Doing,
    ) -> Option<usize> {
        if self.spans.len() >= SPANS {
            self.dropped = self.dropped.saturating_add(1);
            return None;
        }
        let within = self.open.last().copied();
        self.spans.push(Span { doing: doing(), within, begun, took, trouble });
        Some(self.spans.len() - 1)
    }
}

impl From<&ModelError> for Trouble {
    fn from(error: &ModelError) -> Self {
        Self { kind: error.kind().into(), sqlstate: None, message: error.in_full() }
    }
}

impl From<&Fault> for Trouble {
    fn from(fault: &Fault) -> Self {
        let sqlstate = match fault {
            Fault::Database(failure) => failure.sqlstate.clone(),
            _ => None,
        };
        Self { kind: fault.kind().into(), sqlstate, message: fault.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use airlock_types::ask::ResultColumn;
    use airlock_types::{ErrorType, Failure};

    use super::*;

    fn repair(action: &'static str) -> Doing {
        Doing::Repair { action }
    }

    #[test]
    fn spans_stand_within_the_one_that_is_open() {
        let recorder = Recorder::begin(false);
        let outer = recorder.open(|| Doing::Prepare);
        recorder.note(|| repair("rewrite"));
        let inner = recorder.open(|| Doing::Wait);
        recorder.note(|| repair("widen"));
        recorder.close(inner, |span| {
            span.trouble = Some(Trouble { kind: "busy".into(), sqlstate: None, message: String::new() });
        });
        recorder.close(outer, |_| {});
        recorder.note(|| repair("stop"));
        let timeline = recorder.finish().unwrap();
        let within: Vec<_> = timeline.spans.iter().map(|span| span.within).collect();
        assert_eq!(within, [None, Some(0), Some(0), Some(2), None]);
        assert_eq!(timeline.spans[2].trouble.as_ref().unwrap().kind, "busy");
        for span in &timeline.spans {
            assert!(span.begun + span.took <= timeline.took, "{span:?}");
        }
    }

    #[test]
    fn a_span_that_was_left_open_encloses_nothing_that_follows_its_own_end() {
        let recorder = Recorder::begin(false);
        let outer = recorder.open(|| Doing::Prepare);
        let _left = recorder.open(|| Doing::Wait);
        recorder.close(outer, |_| {});
        recorder.note(|| repair("stop"));
        assert_eq!(recorder.finish().unwrap().spans[2].within, None);
    }

    #[test]
    fn an_ask_without_end_has_a_timeline_with_one() {
        let recorder = Recorder::begin(false);
        for _ in 0..SPANS + 7 {
            let mark = recorder.open(|| Doing::Wait);
            recorder.close(mark, |_| {});
        }
        let timeline = recorder.finish().unwrap();
        assert_eq!((timeline.spans.len(), timeline.dropped), (SPANS, 7));
    }

    #[test]
    fn nothing_is_made_where_nobody_observes() {
        let recorder = Recorder::idle();
        let mark = recorder.open(|| panic!("a span was made"));
        recorder.close(mark, |_| panic!("a span was closed"));
        recorder.note(|| panic!("a note was made"));
        assert_eq!(recorder.finish(), None);
    }

    #[test]
    fn a_run_is_a_wait_and_a_statement_and_one_without_a_connection_a_wait_alone() {
        let catalogue = airlock_types::Catalogue::default();
        let gate = airlock_gate::Gate::new(std::sync::Arc::new(catalogue), airlock_gate::Policy::default());
        let approved = gate.check("SELECT 1 AS one").unwrap();
        let result = airlock_database::ResultSet {
            columns: vec![ResultColumn { name: "one".to_owned(), sql_type: "integer".to_owned() }],
            rows: vec![vec![1.into()]],
            truncated: false,
            duration: Duration::ZERO,
        };
        let failed = |kind| Err(Failure::new(kind, "no", "SELECT 1"));
        let milliseconds = Duration::from_millis;
        for (timed, want) in [
            (
                Timed { waited: milliseconds(1), ran: milliseconds(2), result: Ok(result) },
                vec![("wait", None), ("statement", None)],
            ),
            (
                Timed {
                    waited: milliseconds(1),
                    ran: milliseconds(2),
                    result: failed(ErrorType::UnknownColumn),
                },
                vec![("wait", None), ("statement", Some("unknown_column"))],
            ),
            (
                Timed {
                    waited: milliseconds(1),
                    ran: Duration::ZERO,
                    result: failed(ErrorType::Infrastructure),
                },
                vec![("wait", Some("infrastructure"))],
            ),
        ] {
            let recorder = Recorder::begin(false);
            recorder.ran(1, false, &approved, &timed);
            let timeline = recorder.finish().unwrap();
            let seen: Vec<_> = timeline
                .spans
                .iter()
                .map(|span| {
                    let name = if matches!(span.doing, Doing::Wait) { "wait" } else { "statement" };
                    (name, span.trouble.as_ref().map(|trouble| trouble.kind.as_ref()))
                })
                .collect();
            assert_eq!(seen, want);
        }
    }
}
