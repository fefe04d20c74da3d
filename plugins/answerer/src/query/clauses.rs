//! The clauses of one SELECT, and the relations that its FROM joins.

use std::ops::Range;

use super::sides::{bare, is_mark};
use super::tokens::{Kind, Token};

/// The clauses of a query that is one SELECT.
pub(super) struct Clauses<'a> {
    pub(super) targets: &'a [Token],
    pub(super) from: &'a [Token],
    pub(super) conditions: &'a [Token],
    pub(super) having: &'a [Token],
    /// What stands behind HAVING, or in GROUP BY.
    pub(super) groups: bool,
    pub(super) sorts: bool,
    pub(super) limits: bool,
}

impl<'a> Clauses<'a> {
    pub(super) fn of(read: &'a [Token]) -> Option<Self> {
        const OPENING: [&str; 10] =
            ["from", "where", "group", "having", "window", "order", "limit", "offset", "fetch", "for"];
        let (first, _) = read.split_first().filter(|(first, _)| first.is("select"))?;
        let opens = |at: usize| {
            let token = read.get(at)?;
            // `IS DISTINCT FROM`
            let distinct = at
                .checked_sub(1)
                .and_then(|before| read.get(before))
                .is_some_and(|token| token.is("distinct"));
            OPENING
                .into_iter()
                .find(|word| token.depth == first.depth && token.is(word) && !(distinct && *word == "from"))
        };
        let starts: Vec<(usize, &str)> = (1..read.len()).filter_map(|at| Some((at, opens(at)?))).collect();
        let end = |index: usize| starts.get(index).map_or(read.len(), |(at, _)| *at);
        let clause = |word: &str| -> &'a [Token] {
            let found = starts.iter().position(|(_, known)| *known == word);
            let range: Option<Range<usize>> =
                found.and_then(|index| Some(starts.get(index)?.0 + 1..end(index + 1)));
            range.and_then(|range| read.get(range)).unwrap_or_default()
        };
        let has = |word: &str| starts.iter().any(|(_, known)| *known == word);
        Some(Self {
            targets: read.get(1..end(0))?,
            from: clause("from"),
            conditions: clause("where"),
            having: clause("having"),
            groups: has("group") || has("having") || has("window"),
            sorts: has("order"),
            limits: has("limit") || has("offset") || has("fetch") || has("for"),
        })
    }
}

/// Whether a list of columns has but one.
pub(super) fn alone(targets: &[Token]) -> bool {
    let depth = targets.first().map_or(0, |token| token.depth);
    !targets.iter().any(|token| is_mark(token, ",") && token.depth == depth)
}

/// The condition of the first FILTER of a list of columns.
pub(super) fn filtered(targets: &[Token]) -> Option<&[Token]> {
    let at = targets.iter().position(|token| token.is("filter"))?;
    let open = targets.get(at + 1).filter(|open| is_mark(open, "("))?;
    let close =
        targets.iter().skip(at + 2).position(|token| is_mark(token, ")") && token.depth == open.depth)?;
    let inner = targets.get(at + 2..at + 2 + close)?;
    inner.split_first().filter(|(first, _)| first.is("where")).map(|(_, condition)| condition)
}

/// How a relation is joined to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    Inner,
    Left,
    /// RIGHT or FULL.
    Open,
}

pub(super) enum Source<'a> {
    Relation(String),
    Query(&'a [Token]),
    Other,
}

/// One relation of FROM.
pub(super) struct Part<'a> {
    pub(super) source: Source<'a>,
    pub(super) alias: String,
    pub(super) join: Join,
    pub(super) on: &'a [Token],
    /// The columns of USING.
    pub(super) using: &'a [Token],
}

impl<'a> Part<'a> {
    /// The relations that JOIN joins; none where the text is not read.
    pub(super) fn all(read: &'a [Token]) -> Option<Vec<Self>> {
        const KINDS: [&str; 7] = ["cross", "full", "inner", "join", "left", "natural", "right"];
        let depth = read.first()?.depth;
        let joins = |at: usize| {
            let token = read.get(at);
            let called = read.get(at + 1).is_some_and(|next| is_mark(next, "("));
            token.is_some_and(|token| {
                token.depth == depth
                    && KINDS.iter().any(|kind| token.is(kind))
                    && (!called || token.is("join"))
            })
        };
        let mut parts = Vec::new();
        let (mut at, mut join) = (0, Join::Inner);
        loop {
            let end = (at..read.len()).find(|at| joins(*at)).unwrap_or(read.len());
            parts.push(Self::one(read.get(at..end)?, join)?);
            if end == read.len() {
                return Some(parts);
            }
            let close = (end..read.len()).find(|at| read.get(*at).is_some_and(|token| token.is("join")))?;
            let words = read.get(end..close)?;
            let has = |word: &str| words.iter().any(|token| token.is(word));
            join = if has("right") || has("full") || has("natural") {
                Join::Open
            } else if has("left") {
                Join::Left
            } else {
                Join::Inner
            };
            at = close + 1;
        }
    }

    fn one(read: &'a [Token], join: Join) -> Option<Self> {
        let depth = read.first()?.depth;
        let read = if read.first()?.is("lateral") { read.get(1..)? } else { read };
        let at = |word: &str| read.iter().position(|token| token.depth == depth && token.is(word));
        let (on, using) = (at("on"), at("using"));
        let head = read.get(..on.or(using).unwrap_or(read.len()))?;
        let (source, rest) = match head {
            [open, ..] if is_mark(open, "(") => {
                let close = head.iter().position(|token| is_mark(token, ")") && token.depth == depth)?;
                let inner = bare(head.get(1..close)?);
                let query = inner.first().is_some_and(|first| first.is("select") || first.is("with"));
                let source = if query { Source::Query(inner) } else { Source::Other };
                (source, head.get(close + 1..)?)
            }
            [first, ..] if first.kind == Kind::Word => {
                let dotted = head.get(1).is_some_and(|dot| is_mark(dot, "."));
                let (name, rest) =
                    if dotted { (head.get(2)?, head.get(3..)?) } else { (first, head.get(1..)?) };
                let called = rest.first().is_some_and(|next| is_mark(next, "("));
                let sampled = rest.iter().any(|token| token.is("tablesample"));
                let known = !called && !sampled && name.kind == Kind::Word;
                let source = if known { Source::Relation(name.text.clone()) } else { Source::Other };
                (source, rest)
            }
            _ => return None,
        };
        let alias = rest.iter().find(|token| token.kind == Kind::Word && !token.is("as"));
        let alias = match (alias, &source) {
            (Some(alias), _) => alias.text.clone(),
            (None, Source::Relation(name)) => name.clone(),
            (None, _) => String::new(),
        };
        let behind = |at: Option<usize>| at.and_then(|at| read.get(at + 1..)).unwrap_or_default();
        Some(Self { source, alias, join, on: behind(on), using: behind(using) })
    }
}
