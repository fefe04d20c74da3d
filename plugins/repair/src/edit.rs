//! Edits of byte ranges, applied together.

use std::ops::Range;

/// Replaces a range of a text; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Range<usize>,
    pub with: String,
}

impl Edit {
    /// Replaces a range.
    pub fn replace(span: Range<usize>, with: impl Into<String>) -> Self {
        Self { span, with: with.into() }
    }

    /// Inserts at a place.
    pub fn insert(at: usize, with: impl Into<String>) -> Self {
        Self::replace(at..at, with)
    }

    /// Takes a range away.
    pub fn remove(span: Range<usize>) -> Self {
        Self::replace(span, "")
    }
}

/// The text with all edits made. None when there is nothing to do, when two overlap, or when one does not fit.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_unstable_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len() + 32);
    let mut done = 0;
    for edit in edits {
        out.push_str(text.get(done..edit.span.start)?);
        out.push_str(&edit.with);
        done = edit.span.end.max(edit.span.start);
        text.get(edit.span)?;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_any_order_and_never_overlap() {
        for (edits, want) in [
            (vec![], None),
            (vec![Edit::replace(4..7, "y"), Edit::replace(0..3, "x")], Some("x y")),
            (vec![Edit::insert(3, "!")], Some("abc! def")),
            (vec![Edit::remove(3..7)], Some("abc")),
            (vec![Edit::replace(0..4, "x"), Edit::replace(3..5, "y")], None),
            (vec![Edit::replace(5..99, "x")], None),
        ] {
            assert_eq!(apply("abc def", edits).as_deref(), want);
        }
    }
}
