//! Why a model gave no reply. Every case is infrastructure: it ends an ask as failed and never counts as an attempt.
//!
//! `Display` is for whoever asked, and has none of the text that a provider sent: that may hold account names, limits,
//! parts of the prompt. [`ModelError::in_full`] has it, for the operator's log.

use std::time::Duration;

use airlock_types::ContentHash;
use thiserror::Error;

/// No reply, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No model is configured for the role.
    #[error(
        "no model is configured for the role `{role}`: set [models.roles.{role}], or AIRLOCK_MODEL_URL and AIRLOCK_MODEL"
    )]
    NotConfigured {
        /// The role.
        role: &'static str,
    },
    /// Nothing answered at the endpoint.
    #[error(
        "the model endpoint `{endpoint}` cannot be reached ({why}): is it running, and is the address right?"
    )]
    Unreachable {
        /// Host and port.
        endpoint: String,
        /// What the network said.
        why: String,
    },
    /// The deadline passed.
    #[error("the model endpoint `{endpoint}` did not answer within {}: raise models.deadline_seconds or ask a faster model", seconds(*after))]
    TimedOut {
        /// Host and port.
        endpoint: String,
        /// The deadline.
        after: Duration,
    },
    /// Too many requests, still after retries.
    #[error("the model endpoint `{endpoint}` takes no more requests just now: ask again in a moment")]
    Busy {
        /// Host and port.
        endpoint: String,
        /// What it said, bounded and without the key.
        message: String,
    },
    /// The daily quota of every key is spent.
    #[error("the quota of every key for the model endpoint `{endpoint}` is spent")]
    QuotaSpent {
        /// Host and port.
        endpoint: String,
        /// What it said, bounded and without the key.
        message: String,
    },
    /// It answered with an error of its own.
    #[error(
        "the model endpoint `{endpoint}` answered with an error (HTTP status {status}); the log has what it said"
    )]
    Answered {
        /// Host and port.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// What it said, bounded and without the key.
        message: String,
    },
    /// What it sent is not what the protocol says.
    #[error(
        "the model endpoint `{endpoint}` sent what is not a reply of its protocol ({why}): is `kind` right for it?"
    )]
    Unreadable {
        /// Host and port.
        endpoint: String,
        /// What is wrong with it, in words that hold nothing of it.
        why: String,
    },
    /// Recorded replies stand in for the model, and this request is not among them.
    #[error(
        "there is no recorded reply to this request: {folder} has no {key}.json; record it with a model, or play a recording \
         of the same questions, components and knowledge"
    )]
    NotRecorded {
        /// SHA-256 of the canonical request.
        key: ContentHash,
        /// Where it was looked for.
        folder: String,
    },
    /// There was no reply when this was recorded.
    #[error("{message}")]
    Recorded {
        /// Why there was none.
        message: String,
    },
    /// A recorded reply cannot be read or written.
    #[error("the recorded reply {file} cannot be used: {why}")]
    Recording {
        /// Its file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

impl ModelError {
    /// The error with what the provider said: for a log, never for whoever asked.
    #[must_use]
    pub fn in_full(&self) -> String {
        match self {
            Self::Busy { message, .. }
            | Self::QuotaSpent { message, .. }
            | Self::Answered { message, .. }
                if !message.is_empty() =>
            {
                format!("{self}; it said: {message}")
            }
            _ => self.to_string(),
        }
    }

    /// Whether it was the clock that ended it: 504 rather than 502 or 503.
    #[must_use]
    pub const fn is_timeout(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    /// The kind in a word, for metrics and traces.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NotConfigured { .. } => "not_configured",
            Self::Unreachable { .. } => "unreachable",
            Self::TimedOut { .. } => "timeout",
            Self::Busy { .. } => "busy",
            Self::QuotaSpent { .. } => "quota_spent",
            Self::Answered { .. } => "answered_error",
            Self::Unreadable { .. } => "unreadable",
            Self::NotRecorded { .. } => "not_recorded",
            Self::Recorded { .. } => "recorded",
            Self::Recording { .. } => "recording",
        }
    }

    /// Whether another provider may do better than this one.
    #[must_use]
    pub(crate) const fn spare_may_help(&self) -> bool {
        !matches!(self, Self::NotConfigured { .. })
    }
}
