//! What is done about each kind of failure: edits that need no model, and the words a model is given.

mod advice;
mod ambiguous;
mod arithmetic;
mod calls;
mod columns;
mod filters;
mod functions;
mod grouping;
mod keywords;
mod left_out;
mod losses;
mod repeated;
mod spelling;
mod syntax;
mod tables;
mod types;

use airlock_plugin_sdk::Host;

use crate::case::{Case, Proposal};

pub use advice::{advised, scope_in_words};

/// Edits, the best first. What costs look-ups is found only when those before it were not it.
pub type Proposals<'c> = Box<dyn Iterator<Item = Proposal> + 'c>;

/// A family of edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edits {
    /// None: only a new query helps.
    None,
    Syntax,
    Columns,
    Tables,
    Ambiguous,
    Functions,
    Types,
    Grouping,
    Windows,
    Distinct,
    OneOfMany,
    Division,
    Emptied,
}

/// What a model needs to know beside the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    Nothing,
    /// Tables whose names or synonyms are near the one that is not there.
    Tables,
    /// The columns of what the query reads.
    Columns,
    /// The columns with their types and permitted samples.
    Types,
    /// The spellings that the data has.
    Spellings,
}

/// What is done about one kind of failure.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// The contract's word for it.
    pub error_type: &'static str,
    /// What can be edited without a model.
    pub edits: Edits,
    /// Whether more tables may be what is missing.
    pub widen: bool,
    /// The words for a model.
    pub advice: &'static str,
    pub tell: Tell,
}

/// Every kind of failure that can be repaired.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        error_type: "syntax_error",
        edits: Edits::Syntax,
        widen: false,
        advice: "PostgreSQL could not read the query. Correct the syntax at the place shown and leave the rest as it is. \
                 Mind that it must be PostgreSQL's dialect.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "unknown_column",
        edits: Edits::Columns,
        widen: true,
        advice: "A column does not exist where the query looks for it. Use only columns of the context, each with the \
                 alias of the table that has it; if another table has it, join that table.",
        tell: Tell::Columns,
    },
    Strategy {
        error_type: "unknown_table",
        edits: Edits::Tables,
        widen: true,
        advice: "A table or alias does not exist. Use only tables of the context, spelled as they are there, and give each \
                 alias in FROM before it is used.",
        tell: Tell::Tables,
    },
    Strategy {
        error_type: "ambiguous_column",
        edits: Edits::Ambiguous,
        widen: false,
        advice: "Several tables of the query have a column of this name. Qualify every column with the alias of the \
                 table that is meant.",
        tell: Tell::Columns,
    },
    Strategy {
        error_type: "ambiguous_function",
        edits: Edits::None,
        widen: false,
        advice: "Several functions fit this call. Cast the arguments explicitly so that one fits.",
        tell: Tell::Types,
    },
    Strategy {
        error_type: "unknown_function",
        edits: Edits::Functions,
        widen: false,
        advice: "PostgreSQL has no such function or operator for these types; it is usually another dialect's. Use \
                 PostgreSQL's own, and cast where the types differ.",
        tell: Tell::Types,
    },
    Strategy {
        error_type: "stray_parameter",
        edits: Edits::None,
        widen: false,
        advice: "The query has a parameter such as $1, and there is nothing to bind to it. Write the value as a literal.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "type_mismatch",
        edits: Edits::Types,
        widen: false,
        advice: "Types do not fit. Compare and combine values of the same type: cast explicitly, and write literals in \
                 the form the column's type has.",
        tell: Tell::Types,
    },
    Strategy {
        error_type: "grouping_error",
        edits: Edits::Grouping,
        widen: false,
        advice: "A selected or ordered column is neither grouped nor aggregated. Add it to GROUP BY if the answer is to \
                 be split by it, else aggregate it or leave it out. For the row that has the largest or smallest value, order by the \
                 value with LIMIT 1 and aggregate nothing. Conditions on aggregates belong in HAVING.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "windowing_error",
        edits: Edits::Windows,
        widen: false,
        advice: "A window function may not stand there. Compute it in a subquery or CTE, and filter, group or join on \
                 its result outside.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "invalid_reference",
        edits: Edits::Distinct,
        widen: false,
        advice: "A rule about references is broken. With SELECT DISTINCT, ORDER BY may name only selected expressions; \
                 positions in ORDER BY and GROUP BY must exist; DISTINCT ON must begin the ORDER BY.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "unsupported",
        edits: Edits::None,
        widen: false,
        advice: "PostgreSQL does not do this. Express it in another way.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "cardinality_violation",
        edits: Edits::OneOfMany,
        widen: false,
        advice: "A subquery that must give one row gave several. Aggregate it, correlate it with the outer row, or join it.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "division_by_zero",
        edits: Edits::Division,
        widen: false,
        advice: "A divisor was zero. Divide by NULLIF(divisor, 0).",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "out_of_range",
        edits: Edits::None,
        widen: false,
        advice: "A number is outside of what it may be there. Cast the operands to numeric where a result is too large for \
                 its type, and leave out rows whose value a function does not take.",
        tell: Tell::Types,
    },
    Strategy {
        error_type: "timeout",
        edits: Edits::None,
        widen: false,
        advice: "The query took too long. Simplify it: drop joins that the answer does not need, aggregate before joining, \
                 narrow the range of time, avoid functions on columns that are filtered.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "resource",
        edits: Edits::None,
        widen: false,
        advice: "The query took too much memory or disk. Aggregate before joining, select fewer columns, and check that no \
                 join multiplies rows.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "too_complex",
        edits: Edits::None,
        widen: false,
        advice: "The query is too large or too costly. Write a simpler one: fewer joins and subqueries, aggregation first.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "empty_result",
        edits: Edits::Emptied,
        widen: false,
        advice: "The query ran and found nothing, and a text it compares with is spelled otherwise in the data. Compare \
                 with the spellings shown and change nothing else.",
        tell: Tell::Spellings,
    },
    Strategy {
        error_type: "finding",
        edits: Edits::None,
        widen: false,
        advice: "A rule of this domain forbids the query as it is. Do what the rule says to do instead.",
        tell: Tell::Nothing,
    },
    Strategy {
        error_type: "duplicate_draft",
        edits: Edits::None,
        widen: false,
        advice: "The same query was written before, and it failed. Write one that differs in what made it fail.",
        tell: Tell::Nothing,
    },
];

/// The strategy for a word of the contract, none for a failure that is not to be guessed at.
pub fn strategy(error_type: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.error_type == error_type)
}

impl Edits {
    /// Edits that may repair the case, the best first.
    pub fn propose<'c>(self, case: &'c Case<'_, impl Host>) -> Proposals<'c> {
        let proposals = match self {
            Self::Columns => return columns::propose(case),
            Self::Tables => return tables::propose(case),
            Self::None => Vec::new(),
            Self::Syntax => syntax::propose(case),
            Self::Ambiguous => ambiguous::propose(case),
            Self::Functions => functions::propose(case),
            Self::Types => types::propose(case),
            Self::Grouping => grouping::propose(case),
            Self::Windows => filters::windows(case).into_iter().collect(),
            Self::Distinct => filters::distinct_order(case).into_iter().collect(),
            Self::OneOfMany => filters::one_of_many(case).into_iter().collect(),
            Self::Division => arithmetic::propose(case),
            Self::Emptied => spelling::propose(case).into_iter().chain(losses::propose(case)).collect(),
        };
        Box::new(proposals.into_iter())
    }
}
