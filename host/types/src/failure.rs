//! Failures of one text: what PostgreSQL or the gate said, in words that choose the repair.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The kind of a failure; it alone chooses what happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorType {
    /// The grammar could not read it (42601).
    SyntaxError,
    /// A column that is not there (42703).
    UnknownColumn,
    /// A relation that is not there (42P01).
    UnknownTable,
    /// A column name that several relations in scope have (42702).
    AmbiguousColumn,
    /// A call that several overloads fit (42725).
    AmbiguousFunction,
    /// A function that is not there, usually another dialect's (42883).
    UnknownFunction,
    /// A `$1` with nothing to bind (42P02).
    StrayParameter,
    /// Types that do not fit (42804, 22P02, 42846, 22007, 22008, 42P18, 42P22).
    TypeMismatch,
    /// A column neither grouped nor aggregated (42803).
    GroupingError,
    /// A window function where none may stand (42P20).
    WindowingError,
    /// A rule about references was broken (42P10).
    InvalidReference,
    /// PostgreSQL does not do this (0A000).
    Unsupported,
    /// A scalar subquery gave several rows (21000).
    CardinalityViolation,
    /// Division by zero (22012).
    DivisionByZero,
    /// A number outside its type (22003).
    OutOfRange,
    /// It took too long (57014 by the statement timeout, or the host's deadline).
    Timeout,
    /// It took too much memory or disk (53200, 53400, 53100).
    Resource,
    /// Too large or too deep to be read or planned (54001, the gate's caps, a cost ceiling).
    TooComplex,
    /// It ran and gave no row, and the diagnostic found a reason to doubt it.
    EmptyResult,
    /// A domain's rule blocks it.
    Finding,
    /// Equal to an earlier draft of the same ask.
    DuplicateDraft,
    /// It would write, or reach what is out of bounds. Never repaired.
    Forbidden,
    /// The credential may not (42501, 25006). Never repaired.
    PermissionDenied,
    /// Serialization failure or deadlock (40001, 40P01): run once more, no attempt used.
    Retry,
    /// The server or the way to it is at fault (08xxx, 53300, 57P0x, 55P03). Never an attempt.
    Infrastructure,
    /// The asker went away. Never an attempt.
    Cancelled,
    /// Anything else. Never repaired.
    Unknown,
}

impl ErrorType {
    /// Every kind, for tables that must be complete.
    pub const ALL: &'static [Self] = &[
        Self::SyntaxError,
        Self::UnknownColumn,
        Self::UnknownTable,
        Self::AmbiguousColumn,
        Self::AmbiguousFunction,
        Self::UnknownFunction,
        Self::StrayParameter,
        Self::TypeMismatch,
        Self::GroupingError,
        Self::WindowingError,
        Self::InvalidReference,
        Self::Unsupported,
        Self::CardinalityViolation,
        Self::DivisionByZero,
        Self::OutOfRange,
        Self::Timeout,
        Self::Resource,
        Self::TooComplex,
        Self::EmptyResult,
        Self::Finding,
        Self::DuplicateDraft,
        Self::Forbidden,
        Self::PermissionDenied,
        Self::Retry,
        Self::Infrastructure,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// The word on every surface, such as `unknown_column`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SyntaxError => "syntax_error",
            Self::UnknownColumn => "unknown_column",
            Self::UnknownTable => "unknown_table",
            Self::AmbiguousColumn => "ambiguous_column",
            Self::AmbiguousFunction => "ambiguous_function",
            Self::UnknownFunction => "unknown_function",
            Self::StrayParameter => "stray_parameter",
            Self::TypeMismatch => "type_mismatch",
            Self::GroupingError => "grouping_error",
            Self::WindowingError => "windowing_error",
            Self::InvalidReference => "invalid_reference",
            Self::Unsupported => "unsupported",
            Self::CardinalityViolation => "cardinality_violation",
            Self::DivisionByZero => "division_by_zero",
            Self::OutOfRange => "out_of_range",
            Self::Timeout => "timeout",
            Self::Resource => "resource",
            Self::TooComplex => "too_complex",
            Self::EmptyResult => "empty_result",
            Self::Finding => "finding",
            Self::DuplicateDraft => "duplicate_draft",
            Self::Forbidden => "forbidden",
            Self::PermissionDenied => "permission_denied",
            Self::Retry => "retry",
            Self::Infrastructure => "infrastructure",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a repair may be tried at all. Guessing at a failure nobody has seen is how an agent starts inventing,
    /// so the list is explicit.
    #[must_use]
    pub const fn repairable(self) -> bool {
        match self {
            Self::SyntaxError
            | Self::UnknownColumn
            | Self::UnknownTable
            | Self::AmbiguousColumn
            | Self::AmbiguousFunction
            | Self::UnknownFunction
            | Self::StrayParameter
            | Self::TypeMismatch
            | Self::GroupingError
            | Self::WindowingError
            | Self::InvalidReference
            | Self::Unsupported
            | Self::CardinalityViolation
            | Self::DivisionByZero
            | Self::OutOfRange
            | Self::Timeout
            | Self::Resource
            | Self::TooComplex
            | Self::EmptyResult
            | Self::Finding
            | Self::DuplicateDraft => true,
            Self::Forbidden
            | Self::PermissionDenied
            | Self::Retry
            | Self::Infrastructure
            | Self::Cancelled
            | Self::Unknown => false,
        }
    }

    /// Whether the failure says nothing about the text: it ends the ask as failed and uses no attempt.
    #[must_use]
    pub const fn is_infrastructure(self) -> bool {
        matches!(self, Self::Infrastructure | Self::Cancelled | Self::Retry)
    }
}

/// Why one text did not answer: the same shape from the gate, from PostgreSQL and from a domain's rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    /// The kind.
    pub error_type: ErrorType,
    /// What was said, values of rows cut out.
    pub message: String,
    /// What to write instead, where somebody knows.
    pub hint: Option<String>,
    /// Five characters, when PostgreSQL reported it.
    pub sqlstate: Option<String>,
    /// 1-based character position in `sql`.
    pub position: Option<u32>,
    /// [`ErrorType::repairable`], written out for readers of the record.
    pub repairable: bool,
    /// The text that failed.
    pub sql: String,
}

impl Failure {
    /// A failure of `sql` of this kind, with nothing but a message.
    pub fn new(error_type: ErrorType, message: impl Into<String>, sql: impl Into<String>) -> Self {
        Self {
            error_type,
            message: message.into(),
            hint: None,
            sqlstate: None,
            position: None,
            repairable: error_type.repairable(),
            sql: sql.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_kind_is_the_same_in_json_and_in_rust() {
        for kind in ErrorType::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
