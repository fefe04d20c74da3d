//! How an ask comes back: its record, and what was at fault when it was not the question.

use airlock_models::ModelError;
use airlock_runtime::{CallError, Stage};
use airlock_types::{Answer, ErrorType, Failure};
use thiserror::Error;

use crate::account::Books;
use crate::timeline::Timeline;

/// What was at fault when it was not the question.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// No model, and nothing that could do without.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The data source, or the way to it.
    #[error("{}", .0.message)]
    Database(Failure),
    /// A component.
    #[error("{}", .0.for_asker())]
    Component(#[from] CallError),
    /// Nothing serves a stage.
    #[error("no component serves the stage `{0}`: load one, then ask again")]
    NoComponent(Stage),
    /// What serves a stage failed too often and is no longer called.
    #[error("the component that serves the stage `{0}` is in quarantine because it failed repeatedly")]
    Quarantined(Stage),
    /// The ask's own deadline.
    #[error("the question was not answered within its deadline")]
    Deadline,
}

impl Fault {
    /// The kind in a word, for metrics and traces.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Model(error) => error.kind(),
            Self::Database(failure) => failure.error_type.as_str(),
            Self::Component(_) => "component",
            Self::NoComponent(_) => "no_component",
            Self::Quarantined(_) => "quarantined",
            Self::Deadline => "deadline",
        }
    }

    /// Whether time ran out, rather than something being down or wrong.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Model(error) => error.is_timeout(),
            Self::Database(failure) => failure.error_type == ErrorType::Timeout,
            Self::Deadline => true,
            _ => false,
        }
    }

    /// Whether the data source refused this host what the ask needs: no waiting helps, somebody has to grant it.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Database(failure) if failure.error_type == ErrorType::PermissionDenied)
    }

    /// Whether the same ask may work in a while.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        let passing =
            matches!(self, Self::Model(_) | Self::Database(_) | Self::NoComponent(_) | Self::Quarantined(_));
        passing && !self.is_refusal()
    }
}

/// A finished ask: its record, and what was at fault if it failed.
#[derive(Debug)]
pub struct Finished {
    /// The record.
    pub answer: Answer,
    /// Present exactly when the outcome is `failed`.
    pub fault: Option<Fault>,
    /// What was done, where anybody observes; taken by those who do.
    pub(crate) timeline: Option<Timeline>,
    /// What its models cost, and what happened where that is kept.
    pub(crate) books: Books,
}
