//! The account of one ask: what happened, in order, so that the ask can be run again and held against it.
//!
//! It holds what went in, what models said and what came of each step, and never a row: of a result it keeps a hash. The
//! hashes are salted with the ask's identity, so that two asks with the same result cannot be told to have it.

use std::sync::{Mutex, PoisonError};

use airlock_database::ResultSet;
use airlock_knowledge::store::ModelCost;
use airlock_models::{Call, Exchanged, ModelError, Reply};
use airlock_runtime::contract::types::Turn;
use airlock_runtime::{Component, Stage};
use airlock_types::ask::Tokens;
use airlock_types::{Answer, AskId, AskRequest, Clock, ContentHash, ErrorType, Failure, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::Block;
use crate::domain::Domain;

/// Steps of one ask at most. Three attempts with every model call that the budget allows stay well below.
const STEPS: usize = 256;
/// Bytes of a record at most; what models said is left out of a larger one.
const BYTES: usize = 512 * 1024;
/// The shape of records; one of another shape is not replayed.
const VERSION: u32 = 1;

/// A hash of something that may be guessed, with the ask's identity in it.
#[derive(Debug, Clone, Copy)]
struct Salt(AskId);

impl Salt {
    fn hash(self, what: &str) -> ContentHash {
        ContentHash::of(format!("{}\n{what}", self.0))
    }
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A component was called for a stage.
    Component {
        /// The stage.
        stage: String,
        /// Its name in the grants.
        component: String,
        /// SHA-256 of the component.
        digest: ContentHash,
    },
    /// Context blocks were gathered.
    Context {
        /// Kind and hash of each.
        blocks: Vec<(String, ContentHash)>,
    },
    /// A model was asked.
    Model {
        /// What for.
        purpose: String,
        /// What was said.
        #[serde(flatten)]
        exchanged: Exchanged,
    },
    /// A text was offered.
    Draft {
        /// Who wrote it.
        origin: String,
        /// The text.
        sql: String,
    },
    /// The gate and the domain's rules let it run.
    Allowed,
    /// It failed.
    Failed {
        /// How.
        error_type: ErrorType,
        /// PostgreSQL's code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sqlstate: Option<String>,
        /// What was said.
        message: String,
    },
    /// It gave rows; or a diagnostic of an empty result did.
    Rows {
        /// Whether it was a diagnostic.
        probe: bool,
        /// Names and types of the columns.
        columns: ContentHash,
        /// The rows, whatever their order.
        rows: ContentHash,
        /// How many.
        count: usize,
        /// Whether there were more.
        truncated: bool,
    },
    /// The ask ended.
    Ended {
        /// How.
        outcome: Outcome,
        /// The sentence, or the reason.
        words: ContentHash,
    },
}

/// What of an ask is kept for a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Account {
    version: u32,
    /// The request as it came.
    pub request: serde_json::Value,
    /// The moment it was answered for.
    pub now: String,
    /// Question and SQL of the ask that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
    /// Hash of the pack.
    pub pack: ContentHash,
    /// Fingerprint of the schema; absent in records of versions that kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ContentHash>,
    /// The model of the role that writes SQL, when one was configured.
    pub model: Option<String>,
    /// What happened.
    pub steps: Vec<Step>,
    /// Why it is not whole, if it is not: then it cannot be replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// The ask that a follow-up refers to. Its sentence is not kept: it may quote rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// Its question.
    pub question: String,
    /// Its SQL.
    pub sql: Option<String>,
}

impl From<&Turn> for Prior {
    fn from(turn: &Turn) -> Self {
        Self { question: turn.question.clone(), sql: turn.sql.clone() }
    }
}

impl From<Prior> for Turn {
    fn from(Prior { question, sql }: Prior) -> Self {
        Self { question, sql, answer: None }
    }
}

impl Account {
    /// Reads a record. `None` when it is of another shape.
    #[must_use]
    pub fn read(record: serde_json::Value) -> Option<Self> {
        serde_json::from_value(record).ok().filter(|account: &Self| account.version == VERSION)
    }

    /// The domain.
    #[must_use]
    pub fn domain(&self) -> Option<airlock_types::DomainName> {
        self.request.get("domain")?.as_str()?.parse().ok()
    }

    /// What models said, in order.
    #[must_use]
    pub fn exchanges(&self) -> Vec<Exchanged> {
        let said = self.steps.iter().filter_map(|step| match step {
            Step::Model { exchanged, .. } => Some(exchanged.clone()),
            _ => None,
        });
        said.collect()
    }
}

/// Writes the account of one ask. What each model cost is counted always, the steps where they are wanted.
pub(crate) struct Bookkeeper {
    salt: Option<Salt>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    steps: Vec<Step>,
    full: bool,
    costs: Vec<ModelCost>,
}

/// What was counted and written of a finished ask.
#[derive(Debug, Default)]
pub struct Books {
    /// What each model cost.
    pub costs: Vec<ModelCost>,
    pub(crate) steps: Option<Vec<Step>>,
    full: bool,
}

impl Bookkeeper {
    /// One that counts and writes no steps.
    pub(crate) const fn counting() -> Self {
        Self { salt: None, book: Mutex::new(Book { steps: Vec::new(), full: false, costs: Vec::new() }) }
    }

    /// One that writes the steps of this ask.
    pub(crate) fn of(ask: AskId) -> Self {
        Self { salt: Some(Salt(ask)), ..Self::counting() }
    }

    fn write(&self, step: impl FnOnce(Salt) -> Step) {
        let Some(salt) = self.salt else { return };
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        if book.steps.len() < STEPS {
            book.steps.push(step(salt));
        } else {
            book.full = true;
        }
    }

    pub(crate) fn component(&self, stage: Stage, component: &Component) {
        self.write(|_| Step::Component {
            stage: stage.as_str().to_owned(),
            component: component.name().to_owned(),
            digest: component.digest(),
        });
    }

    pub(crate) fn context(&self, blocks: &[Block]) {
        self.write(|_| Step::Context {
            blocks: blocks.iter().map(Block::used).map(|used| (used.kind, used.hash)).collect(),
        });
    }

    pub(crate) fn model(&self, purpose: &str, wanted: &str, call: &Call, reply: &Result<Reply, ModelError>) {
        if let Ok(reply) = reply {
            let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            book.count(reply);
        }
        self.write(|_| Step::Model {
            purpose: purpose.to_owned(),
            exchanged: Exchanged {
                key: call.key(),
                model: reply.as_ref().map_or(wanted, |reply| &reply.model).to_owned(),
                text: reply.as_ref().ok().map(|reply| reply.text.clone()),
                error: reply.as_ref().err().map(ToString::to_string),
                truncated: reply.as_ref().is_ok_and(|reply| reply.truncated),
                tokens: reply.as_ref().map_or_else(|_| Tokens::default(), |reply| reply.tokens),
            },
        });
    }

    pub(crate) fn draft(&self, origin: &str, sql: &str) {
        self.write(|_| Step::Draft { origin: origin.to_owned(), sql: sql.to_owned() });
    }

    pub(crate) fn allowed(&self) {
        self.write(|_| Step::Allowed);
    }

    pub(crate) fn failed(&self, failure: &Failure) {
        self.write(|_| Step::Failed {
            error_type: failure.error_type,
            sqlstate: failure.sqlstate.clone(),
            message: failure.message.clone(),
        });
    }

    pub(crate) fn rows(&self, probe: bool, result: &ResultSet) {
        self.write(|salt| {
            let mut rows: Vec<String> = result.rows.iter().map(|row| json!(row).to_string()).collect();
            rows.sort_unstable();
            Step::Rows {
                probe,
                columns: salt.hash(&json!(result.columns).to_string()),
                rows: salt.hash(&rows.join("\n")),
                count: result.rows.len(),
                truncated: result.truncated,
            }
        });
    }

    pub(crate) fn ended(&self, answer: &Answer) {
        let words = answer.answer.as_deref().or(answer.reason.as_deref()).unwrap_or_default();
        self.write(|salt| Step::Ended { outcome: answer.outcome, words: salt.hash(words) });
    }

    /// What was counted and written.
    pub(crate) fn close(self) -> Books {
        let Book { steps, full, costs } = self.book.into_inner().unwrap_or_else(PoisonError::into_inner);
        Books { costs, steps: self.salt.map(|_| steps), full }
    }
}

impl Book {
    fn count(&mut self, reply: &Reply) {
        let of = |cost: &&mut ModelCost| cost.model == reply.model;
        match self.costs.iter_mut().find(of) {
            Some(sum) => {
                sum.calls += 1;
                sum.tokens.input += reply.tokens.input;
                sum.tokens.output += reply.tokens.output;
                sum.cost = sum.cost.zip(reply.cost).map(|(sum, cost)| sum + cost);
            }
            None => self.costs.push(ModelCost {
                model: reply.model.clone(),
                calls: 1,
                tokens: reply.tokens,
                cost: reply.cost,
            }),
        }
    }
}

impl Books {
    /// The record of an ask; none when its steps were not written.
    pub(crate) fn account(
        &mut self,
        request: &AskRequest,
        domain: &Domain,
        clock: &Clock,
        prior: Option<Prior>,
        model: Option<&str>,
    ) -> Option<String> {
        let steps = self.steps.take()?;
        let mut account = Account {
            version: VERSION,
            request: json!(AskRequest { domain: Some(domain.name().clone()), ..request.clone() }),
            now: clock.instant(),
            prior,
            pack: domain.pack().hash,
            schema: Some(domain.fingerprint()),
            model: model.map(str::to_owned),
            steps,
            left_out: self.full.then(|| format!("it had more than {STEPS} steps")),
        };
        let record = serde_json::to_string(&account).ok()?;
        if record.len() <= BYTES {
            return Some(record);
        }
        account.steps.clear();
        account.left_out = Some(format!("it had more than {BYTES} bytes"));
        serde_json::to_string(&account).ok()
    }
}
