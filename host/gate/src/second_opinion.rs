//! The second opinion: another parser reads the same text. It cannot approve anything; when it sees a relation or a function
//! that the walk did not, one of the two misread the text, and the text is refused.
//!
//! What it cannot read it has no opinion on. What it sees is compared by last name, through a table of the special forms that
//! it calls functions and PostgreSQL does not.

use std::convert::Infallible;
use std::fmt;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, Statement, Visit, Visitor};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::rejection::{Refusal, RejectionCode};
use crate::walk::Seen;

/// Nesting that the second parser reads; deeper texts go without its opinion.
const DEPTH: usize = 400;

/// PostgreSQL cuts names at this many bytes.
const NAME_BYTES: usize = 63;

/// What the second parser calls a function and PostgreSQL's grammar a form of its own. All of them only compute, or are
/// refused by the walk where PostgreSQL sees them.
const SPECIAL_FORMS: &[&str] = &[
    "all",
    "any",
    "array",
    "cast",
    "ceil",
    "ceiling",
    "coalesce",
    "collation",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "exists",
    "extract",
    "floor",
    "greatest",
    "grouping",
    "interval",
    "is_normalized",
    "json",
    "json_array",
    "json_arrayagg",
    "json_exists",
    "json_object",
    "json_objectagg",
    "json_query",
    "json_scalar",
    "json_serialize",
    "json_table",
    "json_value",
    "least",
    "localtime",
    "localtimestamp",
    "normalize",
    "nullif",
    "overlaps",
    "overlay",
    "position",
    "row",
    "some",
    "substring",
    "table",
    "time",
    "timestamp",
    "treat",
    "trim",
    "unnest",
    "values",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
    "array_agg",
    "rollup",
    "cube",
    "grouping_sets",
    "sets",
];

/// What the second parser sees in a text.
pub(crate) enum Opinion {
    /// It cannot read it.
    None,
    /// Something other than one query, and what only the first parser sees instead.
    NotOneQuery(&'static str),
    /// One query that names these.
    Query(Vec<Named>),
}

/// A name in a place that matters.
pub(crate) enum Named {
    Relation(Option<String>),
    Function(Option<String>),
}

/// Lets the second parser read a text. It needs nothing of the first parser's, so both can read at the same time.
pub(crate) fn read(text: &str) -> Opinion {
    let dialect = PostgreSqlDialect {};
    let parser = Parser::new(&dialect).with_recursion_limit(DEPTH);
    let Ok(statements) = parser.try_with_sql(text).and_then(|mut parser| parser.parse_statements()) else {
        return Opinion::None;
    };
    match statements.as_slice() {
        [Statement::Query(query)] => {
            let mut listener = Listener { named: Vec::new() };
            let ControlFlow::Continue(()) = query.visit(&mut listener);
            Opinion::Query(listener.named)
        }
        [_] => Opinion::NotOneQuery("a query"),
        _ => Opinion::NotOneQuery("a single statement"),
    }
}

impl Opinion {
    /// Objects to what the walk did not see.
    pub(crate) fn hear(&self, seen: &Seen) -> Result<(), Box<Refusal>> {
        let unseen = match self {
            Self::None => return Ok(()),
            Self::NotOneQuery(what) => (*what).to_owned(),
            Self::Query(named) => match named.iter().find(|named| !named.is_seen(seen)) {
                Some(named) => named.to_string(),
                None => return Ok(()),
            },
        };
        Err(Refusal::new(
            RejectionCode::SecondOpinion,
            format!("two parsers read the statement differently: only one of them sees {unseen}"),
        )
        .hint("Write it in a plainer way: ordinary quotes, no unusual comments."))
    }
}

impl Named {
    fn is_seen(&self, seen: &Seen) -> bool {
        let function = |name: &str| seen.functions.contains(name) || SPECIAL_FORMS.contains(&name);
        match self {
            Self::Relation(Some(name)) => seen.relations.contains(name) || function(name),
            Self::Function(Some(name)) => function(name),
            Self::Relation(None) | Self::Function(None) => false,
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relation(Some(name)) => write!(f, "the relation {name}"),
            Self::Relation(None) => f.write_str("a relation"),
            Self::Function(Some(name)) => write!(f, "the function {name}"),
            Self::Function(None) => f.write_str("a function"),
        }
    }
}

struct Listener {
    named: Vec<Named>,
}

impl Visitor for Listener {
    type Break = Infallible;

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Infallible> {
        self.named.push(Named::Relation(last(relation)));
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<Infallible> {
        if let Expr::Function(function) = expression {
            self.named.push(Named::Function(last(&function.name)));
        }
        ControlFlow::Continue(())
    }
}

/// The last part of a name as PostgreSQL would store it.
fn last(name: &ObjectName) -> Option<String> {
    match name.0.last()? {
        ObjectNamePart::Identifier(identifier) => Some(stored(identifier)),
        ObjectNamePart::Function(function) => Some(stored(&function.name)),
    }
}

fn stored(identifier: &Ident) -> String {
    let mut name = if identifier.quote_style.is_some() {
        identifier.value.replace("\"\"", "\"")
    } else {
        identifier.value.to_ascii_lowercase()
    };
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(relations: &[&str], functions: &[&str]) -> Seen {
        Seen {
            relations: relations.iter().map(|&name| name.to_owned()).collect(),
            functions: functions.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn it_objects_only_to_what_the_walk_did_not_see() {
        for (text, relations, functions, agrees) in [
            ("SELECT count(*) FROM a", &["a"][..], &["count"][..], true),
            ("SELECT count(*) FROM a", &["a"], &[], false),
            ("SELECT * FROM a, b", &["a"], &[], false),
            ("SELECT * FROM generate_series(1, 2)", &[], &["generate_series"], true),
            ("SELECT coalesce(x, 1), extract(year FROM y) FROM a", &["a"], &[], true),
            ("DELETE FROM a", &["a"], &[], false),
            ("SELECT 1; SELECT 2", &[], &[], false),
            ("this is not SQL at all", &[], &[], true),
        ] {
            assert_eq!(read(text).hear(&seen(relations, functions)).is_ok(), agrees, "{text}");
        }
    }
}
