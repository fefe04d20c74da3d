//! From PostgreSQL's codes to kinds of failure: the one table that chooses what a repair may do.

use airlock_types::{ErrorType, Failure};

use crate::redact;
use crate::wire::ServerError;

/// The kinds of single codes. A code that is not here is judged by its class, and after that it is unknown: guessing at a
/// failure nobody has seen is how an agent starts inventing.
pub const CODES: &[(&str, ErrorType)] = &[
    ("42601", ErrorType::SyntaxError),
    ("42703", ErrorType::UnknownColumn),
    ("42P01", ErrorType::UnknownTable),
    ("42702", ErrorType::AmbiguousColumn),
    ("42725", ErrorType::AmbiguousFunction),
    ("42883", ErrorType::UnknownFunction),
    ("42P02", ErrorType::StrayParameter),
    ("42804", ErrorType::TypeMismatch),
    ("22P02", ErrorType::TypeMismatch),
    ("42846", ErrorType::TypeMismatch),
    ("22007", ErrorType::TypeMismatch),
    ("22008", ErrorType::TypeMismatch),
    ("42P18", ErrorType::TypeMismatch),
    ("42P22", ErrorType::TypeMismatch),
    ("42803", ErrorType::GroupingError),
    ("42P20", ErrorType::WindowingError),
    ("42P10", ErrorType::InvalidReference),
    ("0A000", ErrorType::Unsupported),
    ("21000", ErrorType::CardinalityViolation),
    // Values that a function does not take: patterns, paths, JSON, formats, encodings.
    ("2200B", ErrorType::TypeMismatch),
    ("2200C", ErrorType::TypeMismatch),
    ("2200D", ErrorType::TypeMismatch),
    ("2200F", ErrorType::TypeMismatch),
    ("2200L", ErrorType::TypeMismatch),
    ("2200M", ErrorType::TypeMismatch),
    ("2200N", ErrorType::TypeMismatch),
    ("2200S", ErrorType::TypeMismatch),
    ("2200T", ErrorType::TypeMismatch),
    ("22001", ErrorType::TypeMismatch),
    ("22004", ErrorType::TypeMismatch),
    ("22009", ErrorType::TypeMismatch),
    ("2201B", ErrorType::TypeMismatch),
    ("22018", ErrorType::TypeMismatch),
    ("22019", ErrorType::TypeMismatch),
    ("22021", ErrorType::TypeMismatch),
    ("22023", ErrorType::TypeMismatch),
    ("22025", ErrorType::TypeMismatch),
    ("22026", ErrorType::TypeMismatch),
    ("2202E", ErrorType::TypeMismatch),
    ("22030", ErrorType::TypeMismatch),
    ("22031", ErrorType::TypeMismatch),
    ("22032", ErrorType::TypeMismatch),
    ("22033", ErrorType::TypeMismatch),
    ("22035", ErrorType::TypeMismatch),
    ("22036", ErrorType::TypeMismatch),
    ("22037", ErrorType::TypeMismatch),
    ("22039", ErrorType::TypeMismatch),
    ("2203A", ErrorType::TypeMismatch),
    ("2203B", ErrorType::TypeMismatch),
    ("2203C", ErrorType::TypeMismatch),
    ("2203D", ErrorType::TypeMismatch),
    ("2203E", ErrorType::TypeMismatch),
    ("2203F", ErrorType::TypeMismatch),
    ("2203G", ErrorType::TypeMismatch),
    ("22P03", ErrorType::TypeMismatch),
    ("22P05", ErrorType::TypeMismatch),
    ("22P06", ErrorType::TypeMismatch),
    ("42704", ErrorType::TypeMismatch),
    ("42809", ErrorType::TypeMismatch),
    ("42P21", ErrorType::TypeMismatch),
    // Several where one is wanted.
    ("22034", ErrorType::CardinalityViolation),
    ("22038", ErrorType::CardinalityViolation),
    // Numbers that a function, a frame, a limit or a sample does not take.
    ("22011", ErrorType::OutOfRange),
    ("22013", ErrorType::OutOfRange),
    ("22014", ErrorType::OutOfRange),
    ("22015", ErrorType::OutOfRange),
    ("22016", ErrorType::OutOfRange),
    ("2201E", ErrorType::OutOfRange),
    ("2201F", ErrorType::OutOfRange),
    ("2201G", ErrorType::OutOfRange),
    ("2201W", ErrorType::OutOfRange),
    ("2201X", ErrorType::OutOfRange),
    ("2202G", ErrorType::OutOfRange),
    ("2202H", ErrorType::OutOfRange),
    ("22P01", ErrorType::OutOfRange),
    // Names and clauses.
    ("42701", ErrorType::AmbiguousColumn),
    ("42712", ErrorType::AmbiguousColumn),
    ("42P09", ErrorType::AmbiguousColumn),
    ("42P19", ErrorType::InvalidReference),
    ("42611", ErrorType::SyntaxError),
    ("42622", ErrorType::SyntaxError),
    ("54000", ErrorType::TooComplex),
    ("54011", ErrorType::TooComplex),
    ("54023", ErrorType::TooComplex),
    ("22012", ErrorType::DivisionByZero),
    ("22003", ErrorType::OutOfRange),
    ("53200", ErrorType::Resource),
    ("53400", ErrorType::Resource),
    ("53100", ErrorType::Resource),
    ("54001", ErrorType::TooComplex),
    ("42501", ErrorType::PermissionDenied),
    ("25006", ErrorType::PermissionDenied),
    ("40001", ErrorType::Retry),
    ("40P01", ErrorType::Retry),
    ("53300", ErrorType::Infrastructure),
    ("55P03", ErrorType::Infrastructure),
    // The server ended an idle transaction: this host was too slow between two messages.
    ("25P03", ErrorType::Infrastructure),
    ("25P04", ErrorType::Timeout),
];

/// The kind of a code. 57014 is three things: the statement timeout and somebody else's cancellation share the code and
/// differ in the message only, which the server may translate; [`crate::Source::run`] knows its own timeout and corrects
/// what the message cannot tell.
#[must_use]
pub fn classify(code: &str, message: &str) -> ErrorType {
    if let Some((_, kind)) = CODES.iter().find(|(known, _)| *known == code) {
        return *kind;
    }
    match code {
        "57014" if message.contains("statement timeout") => ErrorType::Timeout,
        "57014" if message.contains("lock timeout") => ErrorType::Infrastructure,
        "57014" => ErrorType::Cancelled,
        // A value of more than a gigabyte was about to be made.
        "XX000" if message.starts_with("invalid memory alloc request size") => ErrorType::Resource,
        _ if code.starts_with("08") || code.starts_with("57P") => ErrorType::Infrastructure,
        _ => ErrorType::Unknown,
    }
}

impl ServerError {
    /// This error as the failure of `sql`, values of rows cut out.
    #[must_use]
    pub fn to_failure(&self, sql: &str) -> Failure {
        let mut failure = Failure::new(classify(&self.code, &self.message), redact::message(self, sql), sql);
        failure.hint = redact::hint(self);
        failure.sqlstate = Some(self.code.clone());
        failure.position = self.position;
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_one_row() {
        for (index, (code, _)) in CODES.iter().enumerate() {
            assert_eq!(code.len(), 5, "{code}");
            assert_eq!(CODES.iter().position(|(other, _)| other == code), Some(index), "{code} twice");
        }
    }

    #[test]
    fn each_code_says_what_a_repair_may_do() {
        for (code, want, repairable) in [
            ("42601", ErrorType::SyntaxError, true),
            ("42703", ErrorType::UnknownColumn, true),
            ("42P01", ErrorType::UnknownTable, true),
            ("42702", ErrorType::AmbiguousColumn, true),
            ("42725", ErrorType::AmbiguousFunction, true),
            ("42883", ErrorType::UnknownFunction, true),
            ("42P02", ErrorType::StrayParameter, true),
            ("42804", ErrorType::TypeMismatch, true),
            ("22P02", ErrorType::TypeMismatch, true),
            ("42846", ErrorType::TypeMismatch, true),
            ("22007", ErrorType::TypeMismatch, true),
            ("22008", ErrorType::TypeMismatch, true),
            ("42P18", ErrorType::TypeMismatch, true),
            ("42P22", ErrorType::TypeMismatch, true),
            // Two failures of one look that are mended in two ways.
            ("42803", ErrorType::GroupingError, true),
            ("42P20", ErrorType::WindowingError, true),
            ("42P10", ErrorType::InvalidReference, true),
            ("0A000", ErrorType::Unsupported, true),
            ("21000", ErrorType::CardinalityViolation, true),
            ("22012", ErrorType::DivisionByZero, true),
            ("22003", ErrorType::OutOfRange, true),
            ("53200", ErrorType::Resource, true),
            ("53400", ErrorType::Resource, true),
            ("54001", ErrorType::TooComplex, true),
            // What the reader may not do is never tried in another way.
            ("42501", ErrorType::PermissionDenied, false),
            ("25006", ErrorType::PermissionDenied, false),
            ("40001", ErrorType::Retry, false),
            ("40P01", ErrorType::Retry, false),
            ("08000", ErrorType::Infrastructure, false),
            ("08P01", ErrorType::Infrastructure, false),
            ("53300", ErrorType::Infrastructure, false),
            ("55P03", ErrorType::Infrastructure, false),
            ("57P01", ErrorType::Infrastructure, false),
            ("57P02", ErrorType::Infrastructure, false),
            ("57P05", ErrorType::Infrastructure, false),
            // Nobody has seen it.
            ("P0001", ErrorType::Unknown, false),
            ("23505", ErrorType::Unknown, false),
        ] {
            let kind = classify(code, "");
            assert_eq!((kind, kind.repairable()), (want, repairable), "{code}");
        }
    }

    #[test]
    fn codes_with_several_meanings_and_classes() {
        for (code, message, want) in [
            ("57014", "canceling statement due to statement timeout", ErrorType::Timeout),
            ("57014", "canceling statement due to user request", ErrorType::Cancelled),
            ("57014", "storniere Anfrage wegen Zeitüberschreitung der Anfrage", ErrorType::Cancelled),
            ("08006", "", ErrorType::Infrastructure),
            ("57P01", "", ErrorType::Infrastructure),
            ("57P03", "", ErrorType::Infrastructure),
            ("2201B", "", ErrorType::TypeMismatch),
            ("2201X", "", ErrorType::OutOfRange),
            ("22034", "", ErrorType::CardinalityViolation),
            ("22000", "", ErrorType::Unknown),
            ("XX000", "", ErrorType::Unknown),
            ("XX000", "invalid memory alloc request size 4096000004", ErrorType::Resource),
            ("", "", ErrorType::Unknown),
        ] {
            assert_eq!(classify(code, message), want, "{code} {message}");
        }
    }

    #[test]
    fn every_kind_that_only_postgresql_reports_has_a_code() {
        for kind in ErrorType::ALL {
            let from_elsewhere = matches!(
                kind,
                ErrorType::EmptyResult
                    | ErrorType::Finding
                    | ErrorType::DuplicateDraft
                    | ErrorType::Forbidden
                    | ErrorType::Cancelled
                    | ErrorType::Unknown
            );
            assert!(from_elsewhere || CODES.iter().any(|(_, known)| known == kind), "{kind:?}");
        }
    }
}
