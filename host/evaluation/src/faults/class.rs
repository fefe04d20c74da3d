//! The classes of faults: what is broken, and how a right query is broken so.

use super::query::{Chance, Query};
use super::{dialect, names, shape, values};

/// A broken text; the right one beside it, where the query itself had to be changed to have something to break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub sql: String,
    pub right: Option<String>,
}

impl Broken {
    /// A query that is right as it was.
    pub fn of(sql: Option<String>) -> Option<Self> {
        Some(Self { sql: sql?, right: None })
    }

    pub fn beside(sql: Option<String>, right: Option<String>) -> Option<Self> {
        Some(Self { sql: sql?, right: Some(right?) })
    }
}

type Make = fn(&Query<'_>, &mut Chance) -> Option<Broken>;

/// One way to break a query.
pub struct Class {
    pub name: &'static str,
    /// Whether what PostgreSQL says names the thing that is wrong.
    pub named: bool,
    pub make: Make,
}

const fn class(name: &'static str, named: bool, make: Make) -> Class {
    Class { name, named, make }
}

/// Every class.
pub const CLASSES: &[Class] = &[
    class("column misspelt", true, names::column_misspelt),
    class("column in another number", true, names::column_plural),
    class("column in another case, in quotes", true, names::column_case),
    class("table misspelt", true, names::table_misspelt),
    class("table in another number", true, names::table_plural),
    class("table in another case, in quotes", true, names::table_case),
    class("column of another table", true, names::column_elsewhere),
    class("column ambiguous", true, names::column_unqualified),
    class("table name for its alias", true, names::alias_unused),
    class("alias misspelt", true, names::alias_misspelt),
    class("table left out of FROM", true, names::join_left_out),
    class("alias in WHERE", true, names::alias_in_where),
    class("alias in HAVING", true, names::alias_in_having),
    class("IFNULL, NVL, ISNULL", true, dialect::if_null),
    class("YEAR(), MONTH()", true, dialect::year),
    class("GETDATE(), CURDATE()", true, dialect::today),
    class("DATE_SUB, DATEADD", true, dialect::date_sub),
    class("DATEDIFF", true, dialect::date_diff),
    class("DATE_FORMAT, STRFTIME", true, dialect::date_format),
    class("IF(), IIF()", true, dialect::iif),
    class("LEN, INSTR, GROUP_CONCAT", true, dialect::text_functions),
    class("backticks", true, dialect::backticks),
    class("brackets", true, dialect::brackets),
    class("TOP n", true, dialect::top),
    class("LIMIT a, b", true, dialect::limit_pair),
    class("texts in double quotes", true, dialect::double_quotes),
    class("==", true, dialect::double_equals),
    class("GROUP BY lacks a column", true, shape::group_by_lacks),
    class("no GROUP BY", true, shape::no_group_by),
    class("aggregate in WHERE", true, shape::aggregate_in_where),
    class("window in WHERE", true, shape::window_in_where),
    class("ORDER BY beside DISTINCT", true, shape::distinct_order),
    class("scalar subquery of many rows", false, shape::many_rows),
    class("parenthesis not closed", true, shape::unclosed),
    class("comma before nothing", true, shape::stray_comma),
    class("keyword left out", true, shape::keyword_left_out),
    class("keyword misspelt", true, shape::keyword_misspelt),
    class("cast left out", true, values::cast_left_out),
    class("text compared with a number", true, values::text_as_number),
    class("number matched as a text", true, values::number_like),
    class("interval without its word", true, values::interval_left_out),
    class("division by zero", false, values::division_by_zero),
    class("literal in another case", false, values::literal_case),
    class("literal with a space", false, values::literal_space),
    class("literal misspelt", false, values::literal_misspelt),
    class("BETWEEN on timestamps", false, values::between_timestamps),
    class("one day of timestamps", false, values::one_day_of_timestamps),
    class("division of integers", false, values::integer_division),
];
