//! What would give a case away while it is graded.

use std::collections::BTreeSet;

use airlock_gate::canonical;
use airlock_knowledge::pack::GoldenCase;
use airlock_knowledge::records::Example;

/// The example made from a case, and its equals.
#[derive(Debug)]
pub(crate) struct Withheld {
    id: String,
    question: String,
    /// Canonical right texts.
    texts: BTreeSet<String>,
}

impl Withheld {
    pub(super) fn of(case: &GoldenCase) -> Self {
        let texts = case.sql.iter().chain(&case.accepted_sql);
        Self {
            id: case.id.value.clone(),
            question: case.question.as_str().to_lowercase(),
            texts: texts.filter_map(|sql| canonical(&sql.value).ok()).collect(),
        }
    }

    pub(crate) fn holds(&self, example: &Example) -> bool {
        example.id == self.id
            || example.question.to_lowercase() == self.question
            || canonical(&example.sql).is_ok_and(|text| self.texts.contains(&text))
    }

    /// Examples to look for beyond those wanted, in place of those that are withheld.
    pub(crate) const fn spare(&self) -> usize {
        8
    }
}
