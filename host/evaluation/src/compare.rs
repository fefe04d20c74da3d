//! Two runs over the same questions: which came out otherwise, and whether that is more than chance.

use std::collections::{BTreeMap, BTreeSet};

use airlock_types::Mode;
use serde::Serialize;

use crate::error::EvaluationError;
use crate::folder::Folder;
use crate::questions::Asked;
use crate::record::{Kind, Record};
use crate::statistics::{Paired, Share};
use crate::summary::{Graded, pair, right, twice};

/// Two runs beside each other.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The first run.
    pub first: String,
    /// The second.
    pub second: String,
    /// What of the two was made otherwise.
    pub changed: Vec<&'static str>,
    /// Questions of both that are the same question with the same right answers.
    pub questions: usize,
    /// Questions that only one of them has, or that are not the same any more. They are left out.
    pub left_out: Vec<String>,
    /// By mode, those that both runs were made in.
    pub modes: Vec<ModeComparison>,
}

/// One mode of two runs.
#[derive(Debug, Clone, Serialize)]
pub struct ModeComparison {
    /// The mode.
    pub mode: Mode,
    /// Right in the first run, of the questions decided in both.
    pub first: Share,
    /// Right in the second.
    pub second: Share,
    /// The pairs.
    pub paired: Paired,
    /// What they come to.
    pub says: String,
    /// Questions that came out otherwise.
    pub flips: Vec<Flip>,
}

/// A question that came out otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// Identity of the question.
    pub id: String,
    /// The question.
    pub question: String,
    /// What became of it in the first run.
    pub first: Kind,
    /// What became of it in the second.
    pub second: Kind,
    /// Why it is not right in the one in which it is not.
    pub why: String,
}

impl Comparison {
    /// Compares two runs.
    ///
    /// # Errors
    /// When a folder cannot be read, or the two share no question or no mode.
    pub fn of(first: &Folder, second: &Folder) -> Result<Self, EvaluationError> {
        let (first_asked, second_asked) = (first.questions()?, second.questions()?);
        let (first_records, second_records) = (first.records()?, second.records()?);
        let same = same(&first_asked, &second_asked);
        let shared: Vec<Mode> = [Mode::Agent, Mode::Baseline]
            .into_iter()
            .filter(|mode| first.manifest().modes.contains(mode) && second.manifest().modes.contains(mode))
            .collect();
        let nothing = |why| EvaluationError::NothingShared {
            first: first.manifest().run.clone(),
            second: second.manifest().run.clone(),
            why,
        };
        if same.is_empty() {
            return Err(nothing(
                "no question of one is a question of the other, with the same right answers",
            ));
        }
        if shared.is_empty() {
            return Err(nothing("one is of the agent and the other of the baseline"));
        }
        let all = first_asked.iter().chain(&second_asked).map(|asked| asked.case.case.id.value.as_str());
        let left_out: BTreeSet<&str> = all.filter(|id| !same.contains(id)).collect();
        let modes = shared
            .into_iter()
            .map(|mode| {
                let a = kept(pair(&first_asked, &first_records), mode, &same);
                let b = kept(pair(&second_asked, &second_records), mode, &same);
                compare(mode, &a, &b)
            })
            .collect();
        Ok(Self {
            first: first.manifest().run.clone(),
            second: second.manifest().run.clone(),
            changed: first.manifest().changed(second.manifest()),
            questions: same.len(),
            left_out: left_out.into_iter().map(str::to_owned).collect(),
            modes,
        })
    }

    /// Whether the second run is worse in some mode, and not by chance.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.modes
            .iter()
            .any(|mode| mode.paired.significant && mode.paired.only_first > mode.paired.only_second)
    }
}

/// Of these asks those in a mode, of questions that are the same in both runs.
fn kept<'a>(graded: Vec<Graded<'a>>, mode: Mode, same: &BTreeSet<&str>) -> Vec<Graded<'a>> {
    graded
        .into_iter()
        .filter(|(_, record)| record.mode == mode && same.contains(record.id.as_str()))
        .collect()
}

/// Ids of the questions that are the same in both.
fn same<'a>(first: &'a [Asked], second: &[Asked]) -> BTreeSet<&'a str> {
    let of = |asked: &Asked| asked.line().to_string();
    let known: BTreeMap<&str, String> =
        second.iter().map(|asked| (asked.case.case.id.value.as_str(), of(asked))).collect();
    first
        .iter()
        .filter(|asked| known.get(asked.case.case.id.value.as_str()).is_some_and(|other| *other == of(asked)))
        .map(|asked| asked.case.case.id.value.as_str())
        .collect()
}

fn compare(mode: Mode, first: &[Graded<'_>], second: &[Graded<'_>]) -> ModeComparison {
    let asked: BTreeMap<&str, &Asked> =
        first.iter().map(|(asked, record)| (record.id.as_str(), *asked)).collect();
    let both = twice(first, second);
    let share = |side: fn(&(&Record, &Record)) -> bool| {
        Share::new(both.iter().filter(|pair| side(pair)).count(), both.len())
    };
    let paired = Paired::new(both.iter().map(|(a, b)| (right(a), right(b))));
    let flips = both
        .iter()
        .filter(|(a, b)| right(a) != right(b))
        .filter_map(|(a, b)| {
            let case = &asked.get(a.id.as_str())?.case.case;
            Some(Flip {
                id: a.id.clone(),
                question: case.question.as_str().to_owned(),
                first: a.kind(case.outcome),
                second: b.kind(case.outcome),
                why: a.verdict.why().or(b.verdict.why()).unwrap_or_default().to_owned(),
            })
        })
        .collect();
    ModeComparison {
        mode,
        first: share(|pair| right(pair.0)),
        second: share(|pair| right(pair.1)),
        says: paired.says("the first run", "the second run"),
        paired,
        flips,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Line, questions, records};

    /// The agents of two runs: what each question came to.
    fn agents(pairs: &[(&'static str, &'static str, &'static str)]) -> ModeComparison {
        let lines = |word: fn(&(&'static str, &'static str, &'static str)) -> &'static str| -> Vec<Line> {
            pairs.iter().map(|pair| Line { id: pair.0, agent: word(pair), baseline: "right" }).collect()
        };
        let (first, second) = (lines(|pair| pair.1), lines(|pair| pair.2));
        let asked = questions(&first);
        let (first, second) = (records(&first), records(&second));
        let same = asked.iter().map(|asked| asked.case.case.id.value.as_str()).collect();
        let (first, second) = (pair(&asked, &first), pair(&asked, &second));
        compare(Mode::Agent, &kept(first, Mode::Agent, &same), &kept(second, Mode::Agent, &same))
    }

    #[test]
    fn a_question_that_came_out_otherwise_is_listed_with_its_reason() {
        let compared = agents(&[
            ("a", "right", "right"),
            ("b", "right", "refused"),
            ("c", "infrastructure", "right"),
            ("d", "wrong", "right"),
        ]);
        assert_eq!(compared.paired.questions, 3, "what was down is no pair");
        let flips: Vec<_> = compared.flips.iter().map(|flip| (&*flip.id, flip.first, flip.second)).collect();
        assert_eq!(flips, [("b", Kind::Right, Kind::FalseRefusal), ("d", Kind::OtherValues, Kind::Right)]);
        assert!(compared.flips.iter().all(|flip| flip.why == "the values differ"));
        assert!(compared.says.contains("noise"), "{}", compared.says);
        let report = crate::report::comparison(&Comparison {
            first: "one".into(),
            second: "two".into(),
            changed: Vec::new(),
            questions: 4,
            left_out: Vec::new(),
            modes: vec![compared],
        });
        assert!(report.contains("1 of the 4 questions are in no share"), "{report}");
    }

    #[test]
    fn a_question_that_changed_is_not_compared() {
        let line = |id| Line { id, agent: "right", baseline: "right" };
        let first = questions(&[line("a"), line("b")]);
        let mut second = questions(&[line("a"), line("b")]);
        second[1].case.case.ordered = true;
        assert_eq!(same(&first, &second), BTreeSet::from(["a"]));
    }
}
