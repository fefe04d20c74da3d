//! Why a text was refused: a stable code, the place, a sentence for a person, and what to write instead.

use std::fmt;

use airlock_types::{ErrorType, Failure};
use serde::{Serialize, Serializer};

/// Declares the codes once: the variant, its word, the kind of failure it is.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident, $word:literal, $kind:ident;)*) => {
        /// A stable name for each kind of refusal.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RejectionCode { $($(#[$doc])* $variant,)* }

        impl RejectionCode {
            /// Every code, for tables that must be complete.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word on every surface, such as `unknown-column`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The kind of failure it is, which chooses the repair.
            #[must_use]
            pub const fn error_type(self) -> ErrorType {
                match self { $(Self::$variant => ErrorType::$kind,)* }
            }
        }
    };
}

codes! {
    /// More bytes than the limit.
    TooLong, "too-long", TooComplex;
    /// More tokens than the limit.
    TooManyTokens, "too-many-tokens", TooComplex;
    /// More nodes than the limit.
    TooManyNodes, "too-many-nodes", TooComplex;
    /// Nested deeper than the limit.
    TooDeep, "too-deep", TooComplex;
    /// A value that the text could make very large.
    LargeValue, "large-value", TooComplex;
    /// An invisible or control character.
    HiddenCharacter, "hidden-character", SyntaxError;
    /// PostgreSQL's grammar cannot read it.
    Syntax, "syntax-error", SyntaxError;
    /// No statement at all.
    Empty, "empty-statement", SyntaxError;
    /// Syntax that the connected server's version does not have.
    NewerSyntax, "newer-syntax", Unsupported;
    /// Syntax that the gate does not know.
    UnsupportedSyntax, "unsupported-syntax", Unsupported;
    /// A `$1` with nothing to bind.
    StrayParameter, "stray-parameter", StrayParameter;
    /// More than one statement.
    SeveralStatements, "several-statements", Forbidden;
    /// Not a statement that reads.
    NotAQuery, "not-a-query", Forbidden;
    /// A data-modifying statement inside a query.
    DataModifying, "data-modifying", Forbidden;
    /// `SELECT INTO`.
    SelectInto, "select-into", Forbidden;
    /// `FOR UPDATE` and its kin.
    RowLock, "row-lock", Forbidden;
    /// A relation the domain does not list.
    UnknownRelation, "unknown-relation", UnknownTable;
    /// A name that starts with another database than the connected one.
    OtherDatabase, "other-database", UnknownTable;
    /// A relation of PostgreSQL's own catalogue.
    SystemRelation, "system-relation", Forbidden;
    /// A column that is not there.
    UnknownColumn, "unknown-column", UnknownColumn;
    /// A system column such as `ctid`.
    SystemColumn, "system-column", Forbidden;
    /// A column name that several relations in scope have.
    AmbiguousColumn, "ambiguous-column", AmbiguousColumn;
    /// A function that is not known.
    UnknownFunction, "unknown-function", UnknownFunction;
    /// A function that is out of bounds.
    ForbiddenFunction, "forbidden-function", Forbidden;
    /// A known name for which the database has an overload that nobody vetted.
    OverloadedFunction, "overloaded-function", UnknownFunction;
    /// An allowed function whose body is not the one that was allowed.
    ChangedFunction, "changed-function", Forbidden;
    /// Who or where the session is: users, roles, databases, settings.
    SessionInformation, "session-information", Forbidden;
    /// An operator that does not exist; often another dialect's spelling.
    UnknownOperator, "unknown-operator", UnknownFunction;
    /// An operator from outside `pg_catalog`, or one that has an overload there, that nobody vetted.
    ForbiddenOperator, "forbidden-operator", Forbidden;
    /// A type that is not known.
    UnknownType, "unknown-type", UnknownFunction;
    /// A type to which nothing may be cast.
    ForbiddenType, "forbidden-type", Forbidden;
    /// A use of a column whose type brings its own code.
    OpaqueColumn, "opaque-column", Forbidden;
    /// XML that is put together from text, or that declares entities.
    UnsafeXml, "unsafe-xml", Forbidden;
    /// The second parser saw something that the first did not.
    SecondOpinion, "second-opinion", Forbidden;
    /// A defect of the gate itself; nothing was approved.
    Internal, "internal", Unknown;
}

impl fmt::Display for RejectionCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RejectionCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text that will not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// The stable code.
    pub code: RejectionCode,
    /// One sentence a person understands.
    pub message: String,
    /// What to write instead, where there is something.
    pub hint: Option<String>,
    /// 1-based character position in the text.
    pub position: Option<u32>,
}

impl Rejection {
    /// The kind of failure it is, which chooses the repair.
    #[must_use]
    pub const fn error_type(&self) -> ErrorType {
        self.code.error_type()
    }

    /// The same refusal in the shape that PostgreSQL's failures have.
    #[must_use]
    pub fn to_failure(&self, sql: &str) -> Failure {
        let mut failure = Failure::new(self.error_type(), self.message.clone(), sql);
        failure.hint.clone_from(&self.hint);
        failure.position = self.position;
        failure
    }
}

/// A refusal on its way out of the walk: it knows a byte offset and not yet a position in characters.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: RejectionCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) offset: Option<usize>,
}

impl Refusal {
    pub(crate) fn new(code: RejectionCode, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, message: message.into(), hint: None, offset: None })
    }

    /// Says where. pg_query writes -1 for "nowhere", which stays nowhere.
    pub(crate) fn at(mut self: Box<Self>, location: i32) -> Box<Self> {
        self.offset = usize::try_from(location).ok();
        self
    }

    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn maybe_hint(mut self: Box<Self>, hint: Option<String>) -> Box<Self> {
        self.hint = hint;
        self
    }

    /// The refusal as the outside sees it.
    pub(crate) fn into_rejection(self, text: &str) -> Rejection {
        let position = self.offset.and_then(|offset| {
            let before = text.get(..offset.min(text.len()))?;
            u32::try_from(before.chars().count() + 1).ok()
        });
        Rejection { code: self.code, message: self.message, hint: self.hint, position }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "SELECT 'ż', x";
        let refusal = Refusal::new(RejectionCode::UnknownColumn, "no x").at(13);
        assert_eq!(refusal.into_rejection(text).position, Some(13));
        assert_eq!(Refusal::new(RejectionCode::Empty, "").at(-1).into_rejection(text).position, None);
    }

    #[test]
    fn words_are_unique_and_kebab_case() {
        let words: std::collections::BTreeSet<_> =
            RejectionCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), RejectionCode::ALL.len());
        assert!(words.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }
}
