//! Examples, lessons, golden cases and the gate, as a person types them.

use std::path::PathBuf;

use airlock_knowledge::store::{ItemId, Origin};
use airlock_types::{AskId, ContentHash, DomainName};
use clap::{Args, Subcommand, ValueEnum};

/// Which domain; may be left out when there is only one.
#[derive(Debug, Args)]
pub struct Of {
    /// The domain; may be left out when there is only one.
    #[arg(long)]
    pub domain: Option<DomainName>,
}

#[derive(Debug, Subcommand)]
pub enum Examples {
    /// List examples: what is proposed and what is curated.
    List(List),
    /// Show one, with the hash that a decision names.
    Show(One),
    /// Approve a proposed one.
    Approve(Decide),
    /// Reject a proposed one; it is kept, so that it is not proposed again.
    Reject(Decide),
    /// Take a curated one out of service; it can come back.
    Demote(Decide),
    /// Bring one back that is out of service.
    Restore(Decide),
    /// Take a decision back: a proposed one waits again, and what it became leaves service.
    SetBack(Decide),
    /// Change what one says, and show the change. A proposed one waits for a decision again.
    Edit(Edit),
    /// Add one of your own; it is in service at once.
    Add {
        #[command(flatten)]
        of: Of,
        /// The question.
        #[arg(long)]
        question: String,
        /// The SQL that answers it; `-` reads it from stdin.
        #[arg(long)]
        sql: String,
        /// Only for this schema or schema.table; may be given again.
        #[arg(long)]
        scope: Vec<String>,
        /// Why, for the history.
        #[arg(long, default_value = "a person wrote it")]
        why: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum Lessons {
    /// List lessons: what is proposed and what is curated.
    List(List),
    /// Show one, with the hash that a decision names.
    Show(One),
    /// Approve a proposed one.
    Approve(Decide),
    /// Reject a proposed one; it is kept, so that it is not proposed again.
    Reject(Decide),
    /// Take a curated one out of service; it can come back.
    Demote(Decide),
    /// Bring one back that is out of service.
    Restore(Decide),
    /// Take a decision back: a proposed one waits again, and what it became leaves service.
    SetBack(Decide),
    /// Change what one says, and show the change. A proposed one waits for a decision again.
    Edit(Edit),
    /// Propose the rules of a hand-written list, and name the golden questions that should test them.
    Import {
        /// The list: one rule an item or paragraph; headings say when they apply.
        file: PathBuf,
        #[command(flatten)]
        of: Of,
    },
}

#[derive(Debug, Subcommand)]
pub enum Golden {
    /// List golden cases: what is proposed and what is in use, beside those of the pack.
    List(List),
    /// Show one, with the hash that a decision names.
    Show(One),
    /// Promote a proposed one: from then on it grades.
    Promote(Decide),
    /// Reject a proposed one; it is kept, so that it is not proposed again.
    Reject(Decide),
    /// Take one out of use; it can come back.
    Deactivate(Decide),
    /// Bring one back that is out of use.
    Restore(Decide),
    /// Take a decision back: a proposed one waits again, and what it became leaves service.
    SetBack(Decide),
    /// Change what one says, and show the change. A proposed one waits for a decision again.
    Edit(Edit),
}

#[derive(Debug, Subcommand)]
pub enum Knowledge {
    /// Rule on what is proposed: shape, the adapter's veto, near-duplicates, then the decision. Without a mode nothing is
    /// decided.
    Promote {
        #[command(flatten)]
        of: Of,
        /// Who decides on what passed the checks.
        #[arg(long, value_enum)]
        mode: Option<PromoteMode>,
        /// Rule on everything and write nothing.
        #[arg(long)]
        dry_run: bool,
        /// From which similarity a candidate is nearly the same as what is curated.
        #[arg(long, value_name = "COSINE", default_value_t = airlock_knowledge::promotion::THRESHOLD)]
        threshold: f64,
        /// Candidates at most.
        #[arg(long, default_value_t = 10_000)]
        limit: usize,
    },
    /// Every decision: who, when, why, on what.
    History {
        #[command(flatten)]
        of: Of,
        /// Only of this item.
        #[arg(long, value_name = "ID")]
        item: Option<ItemId>,
        /// Decisions at most.
        #[arg(long, default_value_t = 100)]
        limit: i64,
    },
    /// Hold every stored SQL against the gate and the catalogue of now.
    Recheck(Of),
    /// Take out of service what does not help any more, and what names what the schema does not have any more. It can be
    /// restored.
    Decay {
        #[command(flatten)]
        of: Of,
        /// Say what would leave service, and write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Write what is curated into a file, a line each; `-` is stdout.
    Snapshot {
        file: PathBuf,
        #[command(flatten)]
        of: Of,
    },
    /// Bring what is curated back to a snapshot, by decisions that the history has. What was curated since stays.
    Restore {
        file: PathBuf,
        #[command(flatten)]
        of: Of,
        /// Why, for the history.
        #[arg(long, default_value = "a snapshot was restored")]
        why: String,
    },
    /// Look for patterns in the asks, queries and corrections of the last 90 days; what is found waits for evidence.
    Mine {
        #[command(flatten)]
        of: Of,
        /// Tell what is found and hand in nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// How much there is, by kind, state and source.
    Audit(Of),
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PromoteMode {
    /// You, one by one.
    Person,
    /// The model of the role `review`; anything but PROMOTE is a no.
    Model,
    /// The golden cases, with and without the candidate.
    Replay,
    /// The checks alone; never what carries SQL.
    Auto,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub of: Of,
    /// candidate, or one of proposed, `needs_evidence`, duplicate, rejected, promoted; curated, or one of active, stale,
    /// superseded, withdrawn.
    #[arg(long)]
    pub state: Option<String>,
    /// person, agent, distilled, mined, adapter, feedback, imported.
    #[arg(long)]
    pub source: Option<Origin>,
    /// The newest first.
    #[arg(long)]
    pub newest: bool,
    /// Items at most.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=900))]
    pub limit: i64,
    /// Go on after this item.
    #[arg(long, value_name = "ID")]
    pub after: Option<ItemId>,
}

#[derive(Debug, Args)]
pub struct One {
    /// The item, as the list shows it.
    pub id: ItemId,
    #[command(flatten)]
    pub of: Of,
}

#[derive(Debug, Args)]
pub struct Decide {
    /// The item, as the list shows it.
    pub id: ItemId,
    #[command(flatten)]
    pub of: Of,
    /// Hash of the content you looked at, as `show` gives it.
    #[arg(long)]
    pub hash: ContentHash,
    /// Why, for the history.
    #[arg(long, default_value = "")]
    pub why: String,
}

#[derive(Debug, Args)]
pub struct Edit {
    #[command(flatten)]
    pub decide: Decide,
    /// File of the new content in JSON, as `show --json` gives it under `content`; `-` reads it from stdin.
    #[arg(long, value_name = "FILE")]
    pub content: String,
}

#[derive(Debug, Args)]
pub struct Feedback {
    /// The ask, as its answer names it.
    pub ask: AskId,
    /// What you think of it.
    #[arg(value_enum)]
    pub verdict: Verdict,
    /// SQL that would be right.
    #[arg(long)]
    pub sql: Option<String>,
    /// In your words.
    #[arg(long)]
    pub note: Option<String>,
}

/// A verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Verdict {
    /// It is right.
    Right,
    /// It is wrong.
    Wrong,
}
