//! Texts inside other texts, and one condition or another.

use airlock_plugin_sdk::question::grammar::Affix;

use super::*;

impl Grammar<'_> {
    /// `whose name starts with J`, `containing "soft"`.
    pub(super) fn like(&mut self, at: usize, affix: Affix) -> Result<(), Why> {
        // `orders that contain more than 3 items` holds rows, not a text.
        if affix == Affix::Inside
            && matches!(
                self.op(self.next(at)),
                Some(Op::Compare(_) | Op::Number(_) | Op::Each | Op::Distinct)
            )
        {
            self.take(at);
            return Ok(());
        }
        let Some((place, text)) = self.spelled(at) else {
            return Err(Why::Kind("a text that is not told".into()));
        };
        let (column_at, (table, column)) = match self.texts_before(at) {
            Some((before, column)) => (Some(before), column),
            None => match self.labelled_before(at) {
                Some(column) => (None, column),
                None => return Err(Why::Kind("what is to hold a text is not named".into())),
            },
        };
        self.take(at);
        for used in at + 1..=place {
            self.take(used);
            self.meant.push(used);
        }
        if let Some(before) = column_at {
            self.take(before);
            self.frame.outputs.retain(|output| *output != (table, column));
        }
        let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let pattern = match affix {
            Affix::Start => format!("{escaped}%"),
            Affix::End => format!("%{escaped}"),
            Affix::Inside => format!("%{escaped}%"),
        };
        self.filter(at, FilterKind::Like(table, column, pattern));
        Ok(())
    }

    /// The text after `starts with`, with or without quotation marks: `the letter J`.
    fn spelled(&self, at: usize) -> Option<(usize, String)> {
        let mut next = at + 1;
        while next < at + 5 {
            let item = self.items.get(next)?;
            let token = self.reading.tokens.get(item.first)?;
            match &item.part {
                Part::Mention(Target::Literal(text)) => return Some((next, text.clone())),
                Part::Op(Op::Quoted) => return Some((next, token.text.clone())),
                Part::Op(Op::Word | Op::Link)
                    if matches!(
                        token.lower.as_str(),
                        "the"
                            | "a"
                            | "an"
                            | "letter"
                            | "letters"
                            | "word"
                            | "string"
                            | "text"
                            | "substring"
                            | "prefix"
                            | "digits"
                            | "character"
                            | "characters"
                            | "phrase"
                    ) && token.text != "A" => {}
                Part::Op(_) if item.end == item.first + 1 => {
                    let short = token.text.chars().count() <= 3;
                    return (short || token.text.starts_with(char::is_uppercase))
                        .then(|| (next, token.text.clone()));
                }
                Part::Mention(Target::Value(_, _, _)) => {
                    return Some((next, self.reading.text(item.first, item.end)));
                }
                _ => return None,
            }
            next += 1;
        }
        None
    }

    /// The text column before a pattern.
    fn texts_before(&self, at: usize) -> Option<(usize, (usize, usize))> {
        let before = self.before(at)?;
        match self.target(before) {
            Some(Target::Column(table, column)) if self.family(*table, *column) == Family::Text => {
                Some((before, (*table, *column)))
            }
            // `whose name starts with J or ends with Z`: the same column.
            _ => {
                let or = self.op(before) == Some(&Op::Or);
                let last = self.frame.filters.last().filter(|_| or)?;
                match last.kind {
                    FilterKind::Like(table, column, _) => Some((before, (table, column))),
                    _ => None,
                }
            }
        }
    }

    /// The name of the things before a pattern: `products that contain "soft"`.
    fn labelled_before(&self, at: usize) -> Option<(usize, usize)> {
        let table = (0..at).rev().find_map(|before| match self.target(before) {
            Some(Target::Table(table)) => Some(*table),
            _ => None,
        })?;
        match self.schema.table(table)?.label.as_slice() {
            [only] => Some((table, *only)),
            _ => None,
        }
    }

    /// Conditions on both sides of an `or` become one.
    pub(super) fn either(&mut self) -> Result<(), Why> {
        for at in std::mem::take(&mut self.ors) {
            let before = self.nearest(at, |place| place < at);
            let after = self.nearest(at, |place| place > at);
            let (Some(before), Some(after)) = (before, after) else {
                return Err(Why::Kind("`or` between different things".into()));
            };
            let (first, second) = (self.frame.filters.get(before), self.frame.filters.get(after));
            let (Some(first), Some(second)) = (first.cloned(), second.cloned()) else {
                return Err(Why::Kind("`or` between different things".into()));
            };
            if first.negated || second.negated {
                return Err(Why::Kind("`or` with a negation".into()));
            }
            let mut kinds = match first.kind {
                FilterKind::Any(kinds) => kinds,
                other => vec![other],
            };
            kinds.push(second.kind);
            let any = Filter { kind: FilterKind::Any(kinds), negated: false, at: first.at };
            self.frame.filters.remove(before.max(after));
            self.frame.filters.remove(before.min(after));
            self.frame.filters.push(any);
        }
        Ok(())
    }

    fn nearest(&self, at: usize, side: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.frame.filters.len())
            .filter(|index| self.frame.filters.get(*index).is_some_and(|filter| side(filter.at)))
            .min_by_key(|index| self.frame.filters.get(*index).map_or(0, |filter| filter.at.abs_diff(at)))
    }
}
