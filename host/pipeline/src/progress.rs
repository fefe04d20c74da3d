//! What an ask is doing, as typed events: the same for every surface that shows progress.

use airlock_types::{ErrorType, Outcome};
use serde::Serialize;

/// One event. Events come in the order of the work; the last one is always [`Progress::Ended`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Progress {
    /// A stage began.
    Stage {
        /// `planner`, `linker`, `generator`, `composer`, `repair`, `answerer`, `domain`.
        stage: &'static str,
    },
    /// A model is being asked.
    Asking {
        /// What for, such as `write-sql`.
        purpose: String,
        /// The model.
        model: String,
    },
    /// The tables that were chosen.
    Linked {
        /// `schema.name` of each.
        tables: Vec<String>,
    },
    /// A text was offered.
    Drafted {
        /// Which attempt this is, from 1.
        attempt: u32,
        /// Who wrote it.
        origin: String,
        /// The text.
        sql: String,
    },
    /// It is running.
    Running {
        /// Which attempt.
        attempt: u32,
    },
    /// It gave rows.
    Rows {
        /// Which attempt.
        attempt: u32,
        /// How many.
        row_count: u64,
    },
    /// It did not answer.
    Failed {
        /// Which attempt.
        attempt: u32,
        /// Why.
        error_type: ErrorType,
        /// What was said.
        message: String,
    },
    /// What repair chose to do.
    Repair {
        /// `rewrite`, `regenerate`, `widen` or `stop`.
        action: &'static str,
        /// In a sentence.
        detail: String,
    },
    /// The ask is over.
    Ended {
        /// How.
        outcome: Outcome,
    },
}

/// Where events go. A receiver that does not keep up loses events, never time of the ask.
#[derive(Debug, Clone, Default)]
pub struct Reporter(Option<tokio::sync::mpsc::Sender<Progress>>);

impl Reporter {
    /// Nobody listens.
    #[must_use]
    pub const fn silent() -> Self {
        Self(None)
    }

    /// Events go to this channel.
    #[must_use]
    pub const fn to(sender: tokio::sync::mpsc::Sender<Progress>) -> Self {
        Self(Some(sender))
    }

    pub(crate) fn tell(&self, event: Progress) {
        if let Some(sender) = &self.0 {
            // A full channel means a slow listener; the record at the end holds everything anyway.
            let _ = sender.try_send(event);
        }
    }
}
