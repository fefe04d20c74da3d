//! The query block around a place: its clauses, what it reads, and under which names.

use std::ops::Range;

use crate::tokens::{Kind, Tokens};

/// One SELECT with its clauses, as token ranges. A subquery's tokens lie inside its parent's range, on a deeper level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// From its SELECT to the token behind its last.
    pub range: Range<usize>,
    /// Parentheses around it.
    pub depth: usize,
    clauses: Vec<(Clause, Range<usize>)>,
}

/// A clause of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clause {
    Select,
    From,
    Where,
    GroupBy,
    Having,
    Window,
    /// Another dialect's filter on windows.
    Qualify,
    OrderBy,
    Limit,
}

/// What FROM or JOIN names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The tokens of its name, none for a subquery or a function.
    pub name: Option<Range<usize>>,
    /// The schema as written, if one was.
    pub schema: Option<String>,
    /// The relation, folded; none for a subquery or a function.
    pub relation: Option<String>,
    /// Its alias, folded.
    pub alias: Option<String>,
}

impl Source {
    /// The name by which columns are qualified.
    pub fn visible(&self) -> Option<&str> {
        self.alias.as_deref().or(self.relation.as_deref())
    }
}

/// Keywords that end a name in FROM, so that they are no alias.
const NOT_AN_ALIAS: [&str; 27] = [
    "on",
    "using",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "natural",
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "union",
    "intersect",
    "except",
    "lateral",
    "tablesample",
    "as",
    "and",
    "or",
    "set",
];

/// All blocks of a text, in the order of their SELECT.
pub fn blocks(tokens: &Tokens<'_>) -> Vec<Block> {
    let selects = (0..tokens.all.len()).filter(|index| tokens.is(*index, "SELECT"));
    selects.filter_map(|index| block(tokens, index)).collect()
}

/// The innermost block that has the token.
pub fn around(tokens: &Tokens<'_>, index: usize) -> Option<Block> {
    blocks(tokens)
        .into_iter()
        .filter(|block| block.range.contains(&index))
        .min_by_key(|block| block.range.len())
}

/// Names that WITH gives to subqueries.
pub fn with_names(tokens: &Tokens<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for index in 0..tokens.all.len() {
        let introduced = index.checked_sub(1).is_some_and(|before| {
            tokens.is_any(before, &["WITH", "RECURSIVE"]) || tokens.kind(before) == Some(Kind::Comma)
        });
        if !introduced {
            continue;
        }
        let mut next = index + 1;
        if tokens.kind(next) == Some(Kind::Open) {
            next = tokens.closing(next).map_or(next, |close| close + 1);
        }
        let body = tokens.is(next, "AS")
            && (tokens.kind(next + 1) == Some(Kind::Open)
                || tokens.is_any(next + 1, &["MATERIALIZED", "NOT"]));
        if body {
            names.extend(tokens.name(index));
        }
    }
    names
}

impl Block {
    /// The tokens behind a clause's keywords, if the block has that clause.
    pub fn clause(&self, clause: Clause) -> Option<&Range<usize>> {
        self.clauses.iter().find(|(kind, _)| *kind == clause).map(|(_, range)| range)
    }

    /// The clause that a token of this block stands in.
    pub fn clause_at(&self, index: usize) -> Option<Clause> {
        self.clauses.iter().find(|(_, range)| range.contains(&index)).map(|(kind, _)| *kind)
    }

    /// The byte behind the last token that comes before the clauses that may follow `clause`.
    pub fn end_of(&self, tokens: &Tokens<'_>, clause: Clause) -> Option<usize> {
        let last = self
            .clauses
            .iter()
            .filter(|(kind, _)| *kind as usize <= clause as usize)
            .map(|(_, range)| range.end);
        tokens.get(last.max()?.checked_sub(1)?).map(|token| token.span.end)
    }

    /// The items of the select list.
    pub fn items(&self, tokens: &Tokens<'_>) -> Vec<Range<usize>> {
        self.clause(Clause::Select).map(|range| tokens.split(range.clone())).unwrap_or_default()
    }

    /// What the block reads, in order.
    pub fn sources(&self, tokens: &Tokens<'_>) -> Vec<Source> {
        let Some(from) = self.clause(Clause::From) else { return Vec::new() };
        let mut sources = Vec::new();
        let mut expects = true;
        let mut index = from.start;
        while index < from.end {
            let own_level = tokens.get(index).is_some_and(|token| token.depth == self.depth);
            if own_level && expects && !tokens.is_any(index, &["LATERAL", "ONLY"]) {
                let (source, next) = source(tokens, index, from.end);
                sources.push(source);
                expects = false;
                index = next;
                continue;
            }
            if own_level && (tokens.kind(index) == Some(Kind::Comma) || tokens.is(index, "JOIN")) {
                expects = true;
            }
            index += 1;
        }
        sources
    }
}

fn block(tokens: &Tokens<'_>, select: usize) -> Option<Block> {
    let depth = tokens.get(select)?.depth;
    let end = (select + 1..tokens.all.len())
        .find(|index| {
            tokens.get(*index).is_some_and(|token| {
                token.depth < depth
                    || (token.depth == depth
                        && (token.kind == Kind::Semicolon
                            || tokens.is_any(*index, &["UNION", "INTERSECT", "EXCEPT"])))
            })
        })
        .unwrap_or(tokens.all.len());
    let mut clauses: Vec<(Clause, Range<usize>)> = vec![(Clause::Select, list_start(tokens, select)..end)];
    for index in select + 1..end {
        if tokens.get(index).is_none_or(|token| token.depth != depth) {
            continue;
        }
        let Some((clause, body)) = opens(tokens, index) else { continue };
        if let Some((_, range)) = clauses.last_mut() {
            range.end = index;
        }
        clauses.push((clause, body..end));
    }
    Some(Block { range: select..end, depth, clauses })
}

/// The first token of the select list, behind ALL, DISTINCT and DISTINCT ON (...).
fn list_start(tokens: &Tokens<'_>, select: usize) -> usize {
    let mut start = select + 1;
    if tokens.is_any(start, &["ALL", "DISTINCT"]) {
        start += 1;
        if tokens.is(start, "ON") && tokens.kind(start + 1) == Some(Kind::Open) {
            start = tokens.closing(start + 1).map_or(start, |close| close + 1);
        }
    }
    start
}

/// The clause that begins at a token and where its body begins.
fn opens(tokens: &Tokens<'_>, index: usize) -> Option<(Clause, usize)> {
    let followed_by_by = tokens.is(index + 1, "BY");
    // IS [NOT] DISTINCT FROM is an operator.
    let distinct_from = index
        .checked_sub(2)
        .is_some_and(|before| tokens.is(before + 1, "DISTINCT") && tokens.is_any(before, &["IS", "NOT"]));
    match tokens.written(index).to_ascii_uppercase().as_str() {
        "FROM" if !distinct_from => Some((Clause::From, index + 1)),
        "WHERE" => Some((Clause::Where, index + 1)),
        "GROUP" if followed_by_by => Some((Clause::GroupBy, index + 2)),
        "HAVING" => Some((Clause::Having, index + 1)),
        "WINDOW" if tokens.is(index + 2, "AS") => Some((Clause::Window, index + 1)),
        "QUALIFY" if qualifies(tokens, index) => Some((Clause::Qualify, index + 1)),
        "ORDER" if followed_by_by => Some((Clause::OrderBy, index + 2)),
        "LIMIT" | "OFFSET" | "FETCH" => Some((Clause::Limit, index + 1)),
        _ => None,
    }
}

/// Whether QUALIFY begins a condition. PostgreSQL does not know the word, so that it may be a name as well.
fn qualifies(tokens: &Tokens<'_>, index: usize) -> bool {
    const BEFORE_NAME: [&str; 10] =
        ["SELECT", "DISTINCT", "FROM", "JOIN", "AS", "WHERE", "AND", "OR", "NOT", "BY"];
    let operand = |kind: Option<Kind>| {
        matches!(kind, Some(Kind::Word | Kind::Quoted | Kind::Close | Kind::Number | Kind::Text))
    };
    let behind_operand = index
        .checked_sub(1)
        .is_some_and(|before| operand(tokens.kind(before)) && !tokens.is_any(before, &BEFORE_NAME));
    let next = tokens.name(index + 1);
    let name_behind = next.is_some_and(|next| !NOT_AN_ALIAS.contains(&next.as_str()));
    behind_operand && (name_behind || tokens.kind(index + 1) == Some(Kind::Open))
}

/// What stands at `start` in FROM, and the token behind it.
fn source(tokens: &Tokens<'_>, start: usize, end: usize) -> (Source, usize) {
    let mut parts = Vec::new();
    let mut next = start;
    if tokens.kind(start) == Some(Kind::Open) {
        next = tokens.closing(start).map_or(end, |close| close + 1);
    } else {
        while let Some(part) = tokens.name(next) {
            parts.push(part);
            next += 1;
            if tokens.kind(next) != Some(Kind::Dot) {
                break;
            }
            next += 1;
        }
    }
    let name = start..next;
    let call = !parts.is_empty() && tokens.kind(next) == Some(Kind::Open);
    if call {
        next = tokens.closing(next).map_or(end, |close| close + 1);
    }
    let relation = if call { None } else { parts.pop() };
    if tokens.is(next, "AS") {
        next += 1;
    }
    let alias = tokens.name(next).filter(|_| {
        next < end && !(tokens.kind(next) == Some(Kind::Word) && tokens.is_any(next, &NOT_AN_ALIAS))
    });
    if alias.is_some() {
        next += 1;
    }
    let source = Source { name: relation.is_some().then_some(name), schema: parts.pop(), relation, alias };
    // A source takes a token at least, so that a malformed FROM is walked to its end.
    (source, next.max(start + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str, select: usize) -> Vec<String> {
        let tokens = Tokens::of(text);
        let block = blocks(&tokens).swap_remove(select);
        block.sources(&tokens).iter().map(|source| source.visible().unwrap_or("-").to_owned()).collect()
    }

    #[test]
    fn sources_are_found_with_their_names() {
        for (text, select, want) in [
            ("SELECT 1 FROM bills b JOIN customers AS c ON c.id = b.id, x.y", 0, vec!["b", "c", "y"]),
            (
                "SELECT 1 FROM (SELECT 2 FROM t) s LEFT JOIN u ON true WHERE a IN (SELECT 3 FROM v)",
                0,
                vec!["s", "u"],
            ),
            (
                "SELECT 1 FROM (SELECT 2 FROM t) s LEFT JOIN u ON true WHERE a IN (SELECT 3 FROM v)",
                1,
                vec!["t"],
            ),
            ("SELECT extract(year FROM d) FROM generate_series(1, 2) AS g(n)", 0, vec!["g"]),
            ("SELECT a IS DISTINCT FROM b FROM t ORDER BY 1", 0, vec!["t"]),
            ("SELECT 1 FROM bills UNION SELECT 2 FROM archive", 0, vec!["bills"]),
            ("SELECT 1", 0, vec![]),
            ("SELECT 1 FROM", 0, vec![]),
            ("SELECT 1 FROM 5 5 5", 0, vec!["-"]),
        ] {
            assert_eq!(visible(text, select), want, "{text}");
        }
    }

    #[test]
    fn clauses_have_their_tokens() {
        let tokens = Tokens::of("SELECT DISTINCT a, b FROM t WHERE c GROUP BY a HAVING d ORDER BY e LIMIT 5");
        let block = &blocks(&tokens)[0];
        for (clause, want) in [
            (Clause::Select, "a, b"),
            (Clause::From, "t"),
            (Clause::Where, "c"),
            (Clause::GroupBy, "a"),
            (Clause::Having, "d"),
            (Clause::OrderBy, "e"),
            (Clause::Limit, "5"),
        ] {
            assert_eq!(block.clause(clause).map(|range| tokens.slice(range)), Some(want), "{clause:?}");
        }
        assert_eq!(block.clause(Clause::Window), None);
        for (text, want) in [
            ("SELECT a FROM t QUALIFY n = 1 ORDER BY a", Some("n = 1")),
            ("SELECT a FROM t WHERE b = 2 QUALIFY (n = 1)", Some("(n = 1)")),
            ("SELECT a FROM t qualify WHERE qualify.b = 2", None),
            ("SELECT qualify, t.qualify FROM qualify WHERE qualify = 1", None),
        ] {
            let tokens = Tokens::of(text);
            let block = blocks(&tokens).swap_remove(0);
            assert_eq!(block.clause(Clause::Qualify).map(|range| tokens.slice(range)), want, "{text}");
        }
        assert_eq!(
            &tokens.text[..block.end_of(&tokens, Clause::GroupBy).unwrap()],
            "SELECT DISTINCT a, b FROM t WHERE c GROUP BY a"
        );
    }

    #[test]
    fn the_innermost_block_is_found() {
        let tokens = Tokens::of("WITH x AS (SELECT a FROM t), y (n) AS (SELECT 1) SELECT b FROM x");
        let inner = tokens.at(18).unwrap();
        assert_eq!(tokens.slice(&around(&tokens, inner).unwrap().range), "SELECT a FROM t");
        assert_eq!(with_names(&tokens), ["x", "y"]);
    }
}
