//! Everything that is wrong with a pack, in one report: file, line, what is wrong and what to do.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use airlock_types::text::{Place, visible};
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::limits;

/// A place in a pack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Spot {
    /// Path inside the pack, with `/`.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// 1-based line; 0 when the file as a whole is meant.
    pub line: u32,
}

/// A shared text is a text in JSON (serde does that itself only with a feature).
pub(crate) fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

impl Spot {
    /// The file as a whole.
    #[must_use]
    pub fn file(file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), line: 0 }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str(&self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub spot: Spot,
}

impl<T> Located<T> {
    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: change(self.value), spot: self.spot }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where.
    pub spot: Spot,
    /// What is wrong, naming the field.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.spot, self.what, self.remedy)
    }
}

/// All problems of a pack, by file and line. Displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Error, Serialize)]
pub struct PackReport {
    /// The problems that were kept.
    pub problems: Vec<Problem>,
    /// How many more there were.
    pub dropped: usize,
}

impl PackReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// One report of two looks at the same pack.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.problems.extend(other.problems);
        self.problems.sort();
        self.problems.dedup();
        Self { dropped: self.dropped + other.dropped, ..self }
    }
}

impl fmt::Display for PackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        if self.dropped > 0 {
            write!(f, "\nand {} more problems: mend these first", self.dropped)?;
        }
        Ok(())
    }
}

/// Collects problems while a pack is read. Interior mutability, because every reader of every part holds it at once.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: RefCell<Vec<Problem>>,
    dropped: Cell<usize>,
}

impl Findings {
    /// Keeps a problem, or counts it when there are too many.
    pub(crate) fn add(&self, spot: &Spot, what: impl Into<String>, remedy: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < limits::PROBLEMS {
            // It quotes names of packs and databases, and is read at a terminal.
            let shown = |text: String| visible(&text, Place::Identifier).into_owned();
            let (what, remedy) = (shown(what.into()), shown(remedy.into()));
            problems.push(Problem { spot: spot.clone(), what, remedy });
        } else {
            self.dropped.set(self.dropped.get().saturating_add(1));
        }
    }

    /// The report, by file and line; an error when anything was found.
    pub(crate) fn into_report(self) -> PackReport {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        PackReport { problems, dropped: self.dropped.get() }
    }
}

/// ``did you mean `x`?`` or, when nothing is near, the names there are.
pub(crate) fn suggest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => {
            let shown: Vec<String> = known.iter().take(12).map(|name| format!("`{name}`")).collect();
            let more = if known.len() > shown.len() { ", ..." } else { "" };
            format!("known here: {}{more}", shown.join(", "))
        }
    }
}

/// The known name nearest to a wrong one by edit distance, if one is near enough to be what was meant.
#[must_use]
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong_lower = wrong.to_lowercase();
    let length = wrong.chars().count();
    if length > limits::NAME {
        return None;
    }
    let reach = ((length + 1) / 3).clamp(1, 4);
    known
        .into_iter()
        .filter(|name| name.chars().count().abs_diff(length) <= reach)
        .map(|name| (strsim::osa_distance(&wrong_lower, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= reach)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_suggested_when_it_is_near() {
        for (wrong, known, want) in [
            ("synonims", &["synonyms", "purpose"][..], "did you mean `synonyms`?"),
            ("Purpose", &["synonyms", "purpose"], "did you mean `purpose`?"),
            ("colour", &["synonyms", "purpose"], "known here: `synonyms`, `purpose`"),
            ("x", &[], "remove it"),
        ] {
            assert_eq!(suggest(wrong, known.iter().copied()), want);
        }
    }

    #[test]
    fn a_report_is_in_the_order_of_the_files_and_bounded() {
        let findings = Findings::default();
        let file: Arc<str> = "notes.toml".into();
        for line in (1..=limits::PROBLEMS as u32 + 3).rev() {
            findings.add(&Spot { file: Arc::clone(&file), line }, "w", "r");
        }
        let report = findings.into_report();
        assert_eq!((report.problems.len(), report.dropped), (limits::PROBLEMS, 3));
        assert!(report.problems.is_sorted());
        assert!(report.to_string().ends_with("and 3 more problems: mend these first"));
    }
}
