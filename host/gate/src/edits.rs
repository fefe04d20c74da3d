//! The row cap as an edit of bytes: the text that runs is the text that was handed in, but for one number.

use pg_query::NodeEnum;
use pg_query::protobuf::{self, AConst, Integer, LimitOption, ParseResult, SelectStmt, Token, a_const};

use crate::approved::RowLimit;
use crate::parse;
use crate::rejection::Refusal;
use crate::scan::Scan;

/// A statement with its cap, and the tree of exactly that statement.
pub(crate) struct Capped {
    pub(crate) statement: String,
    pub(crate) tree: ParseResult,
    pub(crate) limit: RowLimit,
}

/// Caps the rows of a text. One row over the cap is let through, so that a cut result can be told.
pub(crate) fn cap(text: &str, scan: &Scan, row_cap: u32) -> Result<Capped, Box<Refusal>> {
    let most = row_cap.saturating_add(1);
    if !may_limit_itself(scan)
        && let Some(capped) = append(text, scan, most)
    {
        return Ok(capped);
    }
    let tree = parse::tree(text, scan)?;
    let own = parse::single_query(&tree)?;
    let as_it_is = |tree, limit| Capped { statement: text.to_owned(), tree, limit };
    match own.limit_count.as_ref().and_then(|node| node.node.as_ref()) {
        None => Ok(match append(text, scan, most) {
            Some(capped) if is_same_but_limit(&tree, &capped.tree) => capped,
            _ => as_it_is(tree, RowLimit::Portal),
        }),
        _ if own.limit_option == LimitOption::WithTies as i32 => Ok(as_it_is(tree, RowLimit::Portal)),
        Some(NodeEnum::AConst(AConst { isnull: false, val: Some(a_const::Val::Ival(count)), .. }))
            if u32::try_from(count.ival).is_ok_and(|count| count <= most) =>
        {
            Ok(as_it_is(tree, RowLimit::Within))
        }
        Some(NodeEnum::AConst(constant)) => Ok(match replace(text, scan, constant, most) {
            Some(capped) if is_same_but_limit(&tree, &capped.tree) => capped,
            _ => as_it_is(tree, RowLimit::Portal),
        }),
        Some(_) => Ok(as_it_is(tree, RowLimit::Portal)),
    }
}

/// Whether a LIMIT or FETCH stands outside all brackets. Both words are reserved, so without them there is no limit; with
/// them there may be one, or a column label.
fn may_limit_itself(scan: &Scan) -> bool {
    let mut open = 0_i32;
    let mut wrapped = false;
    for (index, lexeme) in scan.lexemes.iter().enumerate() {
        if lexeme.is(Token::Ascii40) || lexeme.is(Token::Ascii91) {
            open += 1;
            wrapped |= index == 0;
        } else if lexeme.is(Token::Ascii41) || lexeme.is(Token::Ascii93) {
            open -= 1;
        } else if (lexeme.is(Token::Limit) || lexeme.is(Token::Fetch)) && (open <= 0 || wrapped) {
            return true;
        }
    }
    false
}

/// The text with ` LIMIT most` after its last token.
///
/// Only the edited text is read. It ends in `LIMIT number` and its outermost query has exactly that number, at exactly
/// that place, as its limit; so taking the two tokens away again leaves a sentence of the grammar with the same tree
/// but for the limit, since every rule that ends in a limit clause has a twin without it.
fn append(text: &str, scan: &Scan, most: u32) -> Option<Capped> {
    let end = scan.end_of_statement();
    let added = format!(" LIMIT {most}");
    let mut statement = String::with_capacity(text.len() + added.len());
    statement.push_str(text.get(..end)?);
    statement.push_str(&added);
    statement.push_str(text.get(end..)?);
    let place = end + " LIMIT ".len();
    let tree = pg_query::parse(&statement, 0).ok()?.protobuf;
    let query = parse::single_query(&tree).ok()?;
    has_limit(query, most, place).then_some(Capped { statement, tree, limit: RowLimit::Within })
}

/// The text with its limit's token replaced, padded so that nothing after it moves.
fn replace(text: &str, scan: &Scan, constant: &AConst, most: u32) -> Option<Capped> {
    let token = scan.at(constant.location)?;
    let width = token.end - token.start;
    let number = most.to_string();
    if number.len() > width {
        return None;
    }
    let mut statement = String::with_capacity(text.len());
    statement.push_str(text.get(..token.start)?);
    statement.push_str(&format!("{number:<width$}"));
    statement.push_str(text.get(token.end..)?);
    let tree = pg_query::parse(&statement, 0).ok()?.protobuf;
    let query = parse::single_query(&tree).ok()?;
    has_limit(query, most, token.start).then_some(Capped { statement, tree, limit: RowLimit::Within })
}

fn has_limit(query: &SelectStmt, most: u32, place: usize) -> bool {
    let count = query.limit_count.as_ref().and_then(|node| node.node.as_ref());
    matches!(count, Some(NodeEnum::AConst(AConst { isnull: false, location, val: Some(a_const::Val::Ival(Integer { ival })) }))
        if usize::try_from(*location) == Ok(place) && u32::try_from(*ival) == Ok(most))
}

/// Whether two trees differ in nothing but the outermost limit.
fn is_same_but_limit(one: &ParseResult, other: &ParseResult) -> bool {
    let without = |tree: &ParseResult| {
        let mut tree = tree.clone();
        for statement in &mut tree.stmts {
            statement.stmt_len = 0;
            if let Some(protobuf::Node { node: Some(NodeEnum::SelectStmt(query)) }) =
                statement.stmt.as_deref_mut()
            {
                query.limit_count = None;
                query.limit_option = LimitOption::Default as i32;
            }
        }
        tree
    };
    without(one) == without(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Limits;

    fn capped(text: &str) -> Capped {
        let scan = crate::scan::scan(text, &Limits::default(), 180_000).unwrap();
        cap(text, &scan, 200).unwrap()
    }

    #[test]
    fn the_cap_is_edited_in_where_it_belongs() {
        for (text, want, limit) in [
            ("SELECT 1", "SELECT 1 LIMIT 201", RowLimit::Within),
            ("SELECT 1;", "SELECT 1 LIMIT 201;", RowLimit::Within),
            ("SELECT 1 -- done", "SELECT 1 LIMIT 201 -- done", RowLimit::Within),
            ("SELECT 1 /* a */ ; -- b", "SELECT 1 LIMIT 201 /* a */ ; -- b", RowLimit::Within),
            ("SELECT a FROM t OFFSET 3", "SELECT a FROM t OFFSET 3 LIMIT 201", RowLimit::Within),
            ("SELECT a FROM t LIMIT 5", "SELECT a FROM t LIMIT 5", RowLimit::Within),
            ("SELECT a FROM t LIMIT 5000", "SELECT a FROM t LIMIT 201 ", RowLimit::Within),
            ("SELECT a FROM t LIMIT 5000 OFFSET 2", "SELECT a FROM t LIMIT 201  OFFSET 2", RowLimit::Within),
            ("SELECT a FROM t LIMIT ALL", "SELECT a FROM t LIMIT 201", RowLimit::Within),
            ("SELECT a FROM t LIMIT NULL", "SELECT a FROM t LIMIT 201 ", RowLimit::Within),
            ("SELECT a FROM t LIMIT 10 + 5", "SELECT a FROM t LIMIT 10 + 5", RowLimit::Portal),
            ("SELECT a FROM t LIMIT (SELECT 5000)", "SELECT a FROM t LIMIT (SELECT 5000)", RowLimit::Portal),
            (
                "SELECT a FROM t FETCH FIRST ROW ONLY",
                "SELECT a FROM t FETCH FIRST ROW ONLY",
                RowLimit::Within,
            ),
            (
                "SELECT a FROM t FETCH FIRST 5000 ROWS ONLY",
                "SELECT a FROM t FETCH FIRST 201  ROWS ONLY",
                RowLimit::Within,
            ),
            (
                "SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
                "SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
                RowLimit::Portal,
            ),
            ("(SELECT a FROM t LIMIT 5)", "(SELECT a FROM t LIMIT 5)", RowLimit::Within),
            ("(SELECT a FROM t)", "(SELECT a FROM t) LIMIT 201", RowLimit::Within),
            (
                "(SELECT 1 LIMIT 2) UNION ALL (SELECT 2) ORDER BY 1",
                "(SELECT 1 LIMIT 2) UNION ALL (SELECT 2) ORDER BY 1 LIMIT 201",
                RowLimit::Within,
            ),
            ("SELECT (SELECT 1 LIMIT 1)", "SELECT (SELECT 1 LIMIT 1) LIMIT 201", RowLimit::Within),
            ("SELECT 'LIMIT 999999'", "SELECT 'LIMIT 999999' LIMIT 201", RowLimit::Within),
            ("SELECT 1 AS limit", "SELECT 1 AS limit LIMIT 201", RowLimit::Within),
            ("TABLE t", "TABLE t LIMIT 201", RowLimit::Within),
            ("VALUES (1), (2)", "VALUES (1), (2) LIMIT 201", RowLimit::Within),
            ("SELECT", "SELECT LIMIT 201", RowLimit::Within),
        ] {
            let got = capped(text);
            assert_eq!((got.statement.as_str(), got.limit), (want, limit), "{text}");
            // What the fast path argues from the grammar is seen here on both trees.
            let original = pg_query::parse(text, 0).unwrap().protobuf;
            assert!(is_same_but_limit(&original, &got.tree), "{text}");
        }
    }

    #[test]
    fn a_wide_cap_still_fits_or_goes_through_a_portal() {
        let text = "SELECT a FROM t LIMIT ALL";
        let scan = crate::scan::scan(text, &Limits::default(), 180_000).unwrap();
        assert_eq!(cap(text, &scan, 100_000).unwrap().limit, RowLimit::Portal);
    }
}
