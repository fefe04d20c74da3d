//! The gate itself: the order of the checks.

use std::sync::Arc;

use airlock_types::Catalogue;

use crate::approved::Approved;
use crate::edits;
use crate::lineage::{self, Shown};
use crate::outline::{self, Node};
use crate::parse;
use crate::policy::{Limits, Policy};
use crate::rejection::{Refusal, Rejection, RejectionCode};
use crate::scan;
use crate::second_opinion;
use crate::stack::{beside, on_large_stack};
use crate::vocabulary::Vocabulary;
use crate::walk::Walk;

/// Bytes of a text that the second parser reads in less time than it takes to wake a thread.
const SHORT: usize = 300;

/// The version whose grammar pg_query brings, for texts that are read without a server in mind.
const NEWEST: u32 = 180_000;

/// Checks texts against one catalogue under one policy. Cheap to clone and to share.
#[derive(Debug, Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    vocabulary: Vocabulary,
    policy: Policy,
}

impl Gate {
    /// A gate for a data source as its catalogue shows it.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>, policy: Policy) -> Self {
        let vocabulary = Vocabulary::new(catalogue, &policy);
        Self { inner: Arc::new(Inner { vocabulary, policy }) }
    }

    /// The catalogue the names are resolved against.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.inner.vocabulary.catalogue
    }

    /// What the domain said.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.inner.policy
    }

    /// The verdict on a text.
    ///
    /// # Errors
    /// [`Rejection`] when the text may not run, with the reason and the place.
    pub fn check(&self, text: &str) -> Result<Approved, Rejection> {
        small(text, &self.inner.policy.limits)?;
        let inner = Arc::clone(&self.inner);
        let owned = text.to_owned();
        on_large_stack(move || inner.check(owned)).map_err(|refusal| refusal.into_rejection(text))
    }
}

impl Inner {
    fn check(&self, text: String) -> Result<Approved, Box<Refusal>> {
        let version = self.vocabulary.catalogue.server_version;
        let scan = scan::scan(&text, &self.policy.limits, version)?;
        let second = beside(text.len() > SHORT, {
            let text = text.clone();
            move || second_opinion::read(&text)
        });
        let capped = edits::cap(&text, &scan, self.policy.row_cap)?;
        let query = parse::single_query(&capped.tree)?;
        let mut walk = Walk::new(&self.vocabulary, &self.policy.limits, &text, &scan);
        walk.query(query)?;
        second.finish()?.hear(&walk.seen)?;
        let facts = walk.finish();
        let limit = capped.limit;
        Ok(Approved { statement: capped.statement, text, facts, cap: self.policy.row_cap, limit })
    }
}

/// A text that is too long is not even copied.
fn small(text: &str, limits: &Limits) -> Result<(), Rejection> {
    if text.len() <= limits.bytes {
        return Ok(());
    }
    let message = format!("the statement has {} bytes, the limit is {}", text.len(), limits.bytes);
    Err(Refusal::new(RejectionCode::TooLong, message).into_rejection(text))
}

/// The nodes of a text with kind, byte range and name, parents before children. Works on any single query the grammar
/// reads, allowed or not.
///
/// # Errors
/// [`Rejection`] when the grammar cannot read the text, or when it is too large.
pub fn outline(text: &str) -> Result<Vec<Node>, Rejection> {
    read(text, |text, scan| {
        let tree = parse::tree(text, scan)?;
        Ok(outline::of(parse::single_query(&tree)?, text, scan))
    })
}

/// What each output column of a text is made from. Works on any single query the grammar reads, allowed or not: the
/// definition of a view, as PostgreSQL prints it.
///
/// # Errors
/// [`Rejection`] when the grammar cannot read the text, or when it is too large.
pub fn lineage(text: &str) -> Result<Vec<Shown>, Rejection> {
    read(text, |text, scan| {
        let tree = parse::tree(text, scan)?;
        Ok(lineage::of(parse::single_query(&tree)?))
    })
}

/// PostgreSQL's own printing of a text: equal for texts that differ only in spacing, case and comments. It is compared and
/// stored, and never executed.
///
/// # Errors
/// [`Rejection`] when the grammar cannot read the text as one query, or when it is too large.
pub fn canonical(text: &str) -> Result<String, Rejection> {
    read(text, parse::canonical)
}

/// The text without its comments, and otherwise as it was written.
///
/// # Errors
/// [`Rejection`] when the text is too large, or its tokens cannot be read.
pub fn without_comments(text: &str) -> Result<String, Rejection> {
    read(text, |text, scan| Ok(scan.without_comments(text)))
}

/// The same as [`canonical`] with a parameter in place of each literal, for a log that must not quote what was asked about.
///
/// # Errors
/// As [`canonical`].
pub fn without_literals(text: &str) -> Result<String, Rejection> {
    read(text, parse::without_literals)
}

fn read<T: Send + 'static>(
    text: &str,
    with: impl FnOnce(&str, &scan::Scan) -> Result<T, Box<Refusal>> + Send + 'static,
) -> Result<T, Rejection> {
    small(text, &Limits::default())?;
    let owned = text.to_owned();
    on_large_stack(move || {
        let scan = scan::scan(&owned, &Limits::default(), NEWEST)?;
        with(&owned, &scan)
    })
    .map_err(|refusal| refusal.into_rejection(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_nothing_else() {
        for (text, want) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT 1 -- one", "SELECT 1"),
            ("SELECT/* a /* b */ */1  +  2\n-- c\nFROM t", "SELECT 1  +  2 FROM t"),
            ("SELECT '--', $a$ /* $a$, \"/*\", 'it''s' -- x", "SELECT '--', $a$ /* $a$, \"/*\", 'it''s'"),
            ("/* Grüße */ SELECT 'ä' /* ö */ AS b", "SELECT 'ä' AS b"),
        ] {
            assert_eq!(without_comments(text).unwrap().trim(), want, "{text}");
        }
        assert!(without_comments("SELECT 'open").is_err());
    }

    #[test]
    fn no_literal_is_left() {
        for (text, want) in [
            (
                "select a -- secret\nfrom t where b = 'secret' and c in (1, 2.5)",
                "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)",
            ),
            ("SELECT date '2026-01-01', $$secret$$", "SELECT $1::date, $2"),
            ("SELECT a FROM t LIMIT 7", "SELECT a FROM t LIMIT $1"),
        ] {
            assert_eq!(without_literals(text).unwrap(), want);
        }
    }
}
