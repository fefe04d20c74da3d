//! A run in numbers: each beside the count it is of.

use std::collections::BTreeMap;

use airlock_knowledge::pack::GoldenOutcome;
use airlock_pipeline::golden::Verdict;
use airlock_types::ask::Tokens;
use airlock_types::{Mode, Outcome};
use serde::Serialize;

use crate::error::EvaluationError;
use crate::folder::{Folder, Manifest};
use crate::questions::Asked;
use crate::record::{Kind, Record};
use crate::statistics::{Paired, Share, Times, rounded};

/// A run in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Identity of the run.
    pub run: String,
    /// Its folder.
    pub folder: String,
    /// Questions.
    pub questions: usize,
    /// Questions that were left out because their right answers cannot serve.
    pub skipped: usize,
    /// Asks that have not been graded: the run was stopped.
    pub missing: usize,
    /// The agent, when it was asked.
    pub agent: Option<ModeSummary>,
    /// The baseline, when it was asked.
    pub baseline: Option<ModeSummary>,
    /// Baseline first, agent second, when both were asked.
    pub paired: Option<Paired>,
    /// What that comes to.
    pub says: Option<String>,
    /// Right in the baseline and not in the agent.
    pub lost: Vec<String>,
    /// Right in the agent and not in the baseline.
    pub won: Vec<String>,
    /// By what a question tests.
    pub categories: Vec<Group>,
    /// By the collection it comes from.
    pub sets: Vec<Group>,
    /// By domain.
    pub domains: Vec<Group>,
}

/// One mode in numbers. Undecided asks and those that infrastructure prevented are in no share.
#[derive(Debug, Clone, Serialize)]
pub struct ModeSummary {
    /// Answerable questions: right, of those that are decided.
    pub answerable: Share,
    /// Questions that must be refused: refused, of those that are decided.
    pub refusals: Share,
    /// Questions that could mean several things: asked back, of those that are decided.
    pub clarifications: Share,
    /// Answerable questions that were refused.
    pub false_refusals: Share,
    /// Nobody can say.
    pub undecided: usize,
    /// Something was down.
    pub infrastructure: usize,
    /// Wrong, though what differs may be presentation alone.
    pub presentation: usize,
    /// Answerable questions whose first attempt failed.
    pub first_failed: usize,
    /// Answerable questions whose first attempt was not right and whose last was.
    pub healed: usize,
    /// Answerable questions whose first attempt was right and whose ending was not.
    pub broken: usize,
    /// Attempts of an ask that made any and that infrastructure did not prevent, on average.
    pub attempts: Option<f64>,
    /// Tokens, all asks together.
    pub tokens: Tokens,
    /// US dollars; null when a price is unknown.
    pub cost: Option<f64>,
    /// Milliseconds of an ask.
    pub latency_ms: Times,
    /// Asks by what became of them.
    pub kinds: BTreeMap<Kind, usize>,
}

/// A part of the questions: right of decided, refusals included.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// Questions.
    pub questions: usize,
    /// The agent's.
    pub agent: Option<Share>,
    /// The baseline's.
    pub baseline: Option<Share>,
}

/// Records with their questions.
pub(crate) type Graded<'a> = (&'a Asked, &'a Record);

impl Summary {
    /// The numbers of a run, from its folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn of(folder: &Folder) -> Result<Self, EvaluationError> {
        let (questions, records) = (folder.questions()?, folder.records()?);
        Ok(Self::count(folder.manifest(), &folder.path().display().to_string(), &questions, &records))
    }

    pub(crate) fn count(manifest: &Manifest, folder: &str, questions: &[Asked], records: &[Record]) -> Self {
        let graded = pair(questions, records);
        let of_mode = |mode: Mode| -> Vec<Graded<'_>> {
            graded.iter().filter(|(_, record)| record.mode == mode).copied().collect()
        };
        let (agent, baseline) = (of_mode(Mode::Agent), of_mode(Mode::Baseline));
        let asked = |mode| manifest.modes.contains(&mode);
        let both = twice(&baseline, &agent);
        let paired = (asked(Mode::Agent) && asked(Mode::Baseline))
            .then(|| Paired::new(both.iter().map(|(first, second)| (right(first), right(second)))));
        let flips = |first: bool, second: bool| {
            both.iter()
                .filter(|pair| (right(pair.0), right(pair.1)) == (first, second))
                .map(|pair| pair.1.id.clone())
                .collect()
        };
        let groups =
            |name: &dyn Fn(&Asked) -> Option<String>| groups(questions, &agent, &baseline, manifest, name);
        Self {
            run: manifest.run.clone(),
            folder: folder.to_owned(),
            questions: questions.len(),
            skipped: manifest.questions.skipped,
            missing: (questions.len() * manifest.modes.len()).saturating_sub(graded.len()),
            says: paired.as_ref().map(|paired| paired.says("the baseline", "the agent")),
            paired,
            lost: flips(true, false),
            won: flips(false, true),
            categories: groups(&|asked| asked.case.category.clone()),
            sets: groups(&|asked| asked.case.set.clone()),
            domains: groups(&|asked| Some(asked.domain.to_string())),
            agent: asked(Mode::Agent).then(|| mode(&agent)),
            baseline: asked(Mode::Baseline).then(|| mode(&baseline)),
        }
    }

    /// Whether something was down: the numbers are of what was not.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        let down = [&self.agent, &self.baseline].into_iter().flatten().any(|mode| mode.infrastructure > 0);
        down || self.missing > 0
    }
}

/// Each record with its question, in the order of the questions.
pub(crate) fn pair<'a>(questions: &'a [Asked], records: &'a [Record]) -> Vec<Graded<'a>> {
    let mut by_id: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        by_id.entry(&record.id).or_default().push(record);
    }
    let of = |asked: &'a Asked| by_id.get(asked.case.case.id.value.as_str()).cloned().unwrap_or_default();
    questions.iter().flat_map(|asked| of(asked).into_iter().map(move |record| (asked, record))).collect()
}

/// The questions that both have decided, first and second.
pub(crate) fn twice<'a>(first: &[Graded<'a>], second: &[Graded<'a>]) -> Vec<(&'a Record, &'a Record)> {
    let by_id: BTreeMap<&str, &Record> =
        decided(second).into_iter().map(|record| (record.id.as_str(), record)).collect();
    decided(first).into_iter().filter_map(|record| Some((record, *by_id.get(record.id.as_str())?))).collect()
}

fn decided<'a>(graded: &[Graded<'a>]) -> Vec<&'a Record> {
    graded.iter().map(|(_, record)| *record).filter(|record| record.is_decided()).collect()
}

pub(crate) fn right(record: &Record) -> bool {
    record.verdict.is_right()
}

/// Whether a question is to end so.
fn wants(asked: &Asked, outcome: GoldenOutcome) -> bool {
    asked.case.case.outcome == outcome
}

fn share<'a>(graded: impl Iterator<Item = &'a Graded<'a>>) -> Share {
    let decided: Vec<&Record> =
        graded.map(|(_, record)| *record).filter(|record| record.is_decided()).collect();
    Share::new(decided.iter().filter(|record| right(record)).count(), decided.len())
}

fn mode(graded: &[Graded<'_>]) -> ModeSummary {
    let of_outcome = |outcome| graded.iter().filter(move |(asked, _)| wants(asked, outcome));
    let can: Vec<Graded<'_>> = of_outcome(GoldenOutcome::Answered).copied().collect();
    let count = |test: &dyn Fn(&Record) -> bool| can.iter().filter(|(_, record)| test(record)).count();
    let refused = |record: &Record| {
        record.is_decided() && record.ended.as_ref().is_some_and(|ended| ended.outcome == Outcome::Refused)
    };
    let decided = count(&|record| record.is_decided());
    let mut kinds = BTreeMap::new();
    for (asked, record) in graded {
        *kinds.entry(record.kind(asked.case.case.outcome)).or_insert(0) += 1;
    }
    let of_kind = |kind| kinds.get(&kind).copied().unwrap_or_default();
    // What infrastructure prevented was tried, perhaps, and says nothing of how many attempts a question takes.
    let attempts: Vec<usize> = graded
        .iter()
        .filter(|(_, record)| !matches!(record.verdict, Verdict::Infrastructure { .. }))
        .map(|(_, record)| record.history.len())
        .filter(|attempts| *attempts > 0)
        .collect();
    #[allow(clippy::cast_precision_loss, reason = "counts of attempts are far below 2^52")]
    let mean = (!attempts.is_empty())
        .then(|| rounded(attempts.iter().sum::<usize>() as f64 / attempts.len() as f64));
    let first_right = |record: &Record| matches!(record.first, Some(Verdict::Right));
    ModeSummary {
        answerable: share(can.iter()),
        refusals: share(of_outcome(GoldenOutcome::Refused)),
        clarifications: share(of_outcome(GoldenOutcome::Clarification)),
        false_refusals: Share::new(count(&refused), decided),
        undecided: of_kind(Kind::Undecided),
        infrastructure: of_kind(Kind::Infrastructure),
        presentation: of_kind(Kind::Presentation),
        first_failed: count(&|record| {
            record.is_decided() && record.history.first().is_some_and(|first| first.error_type.is_some())
        }),
        healed: count(&|record| right(record) && record.first.is_some() && !first_right(record)),
        broken: count(&|record| record.is_decided() && !right(record) && first_right(record)),
        attempts: mean,
        tokens: Tokens {
            input: graded.iter().map(|(_, record)| record.tokens.input).sum(),
            output: graded.iter().map(|(_, record)| record.tokens.output).sum(),
        },
        cost: graded.iter().map(|(_, record)| record.cost).sum::<Option<f64>>().map(rounded),
        latency_ms: Times::of(
            graded
                .iter()
                .filter(|(_, record)| record.is_decided())
                .map(|(_, record)| record.latency_ms)
                .collect(),
        ),
        kinds,
    }
}

fn groups(
    questions: &[Asked],
    agent: &[Graded<'_>],
    baseline: &[Graded<'_>],
    manifest: &Manifest,
    name: &dyn Fn(&Asked) -> Option<String>,
) -> Vec<Group> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for name in questions.iter().filter_map(name) {
        *names.entry(name).or_default() += 1;
    }
    let of = |mode: Mode, graded: &[Graded<'_>], group: &str| {
        let part: Vec<Graded<'_>> =
            graded.iter().filter(|(asked, _)| name(asked).as_deref() == Some(group)).copied().collect();
        manifest.modes.contains(&mode).then(|| share(part.iter()))
    };
    names
        .into_iter()
        .map(|(group, questions)| Group {
            agent: of(Mode::Agent, agent, &group),
            baseline: of(Mode::Baseline, baseline, &group),
            name: group,
            questions,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Line, attempt, manifest, questions as questions_of, records as records_of};

    #[test]
    fn each_ending_is_counted_where_it_belongs_and_nowhere_else() {
        let both = [Mode::Agent, Mode::Baseline];
        let lines = [
            // What the agent's ask came to, what the baseline's did.
            Line { id: "both", agent: "right", baseline: "right" },
            Line { id: "healed", agent: "right after wrong", baseline: "gave_up" },
            Line { id: "broken", agent: "wrong after right", baseline: "right" },
            Line { id: "refused", agent: "refused", baseline: "refused" },
            Line { id: "shown", agent: "presentation", baseline: "presentation" },
            Line { id: "down", agent: "infrastructure", baseline: "right" },
            Line { id: "undecided", agent: "undecided", baseline: "undecided" },
            Line { id: "no-rightly", agent: "right", baseline: "answered" },
            Line { id: "which-rightly", agent: "right", baseline: "answered" },
            Line { id: "which-refused", agent: "refused", baseline: "infrastructure" },
        ];
        let (questions, mut records) = (questions_of(&lines), records_of(&lines));
        // One attempt in each ask, two in the one that was healed, three before the database was down.
        for record in &mut records {
            let texts = match (&*record.id, record.mode) {
                ("healed", Mode::Agent) => 2,
                ("down", Mode::Agent) => 3,
                _ => 1,
            };
            record.history = vec![attempt(); texts];
        }
        let summary = Summary::count(&manifest(&both, &questions), "f", &questions, &records);
        let agent = summary.agent.as_ref().unwrap();
        // Of seven answerable ones two are not decided.
        assert_eq!((agent.answerable.right, agent.answerable.of), (2, 5));
        assert_eq!((agent.refusals.right, agent.refusals.of), (1, 1));
        assert_eq!((agent.false_refusals.right, agent.false_refusals.of), (1, 5));
        assert_eq!((agent.healed, agent.broken, agent.presentation), (1, 1, 1));
        assert_eq!((agent.infrastructure, agent.undecided), (1, 1));
        assert_eq!((agent.clarifications.right, agent.clarifications.of), (1, 2));
        assert_eq!(agent.kinds[&Kind::UnclearRefused], 1);
        assert_eq!(agent.attempts, Some(1.1111), "nine asks, ten attempts");
        let baseline = summary.baseline.as_ref().unwrap();
        assert_eq!((baseline.healed, baseline.broken), (0, 0));
        assert_eq!((baseline.refusals.right, baseline.refusals.of), (0, 1));
        assert_eq!(baseline.kinds[&Kind::FalseAnswer], 1);
        assert_eq!((baseline.clarifications.right, baseline.clarifications.of), (0, 1));
        assert_eq!(baseline.kinds[&Kind::UnclearAnswered], 1);
        assert_eq!(baseline.kinds[&Kind::GaveUp], 1);
        // What only one of them decided is no pair.
        let paired = summary.paired.as_ref().unwrap();
        assert_eq!((paired.questions, paired.both, paired.only_first, paired.only_second), (7, 1, 1, 3));
        assert_eq!((summary.lost.as_slice(), summary.won.len()), (["broken".to_owned()].as_slice(), 3));
        assert!(summary.has_gaps());
        let groups: Vec<_> = summary.categories.iter().map(|group| (&*group.name, group.questions)).collect();
        assert_eq!(groups, [("answer", 7), ("ask back", 2), ("refuse", 1)]);
        let report = crate::report::summary(&summary);
        assert!(report.contains("| unclear questions, asked back | 1 of 2 "), "{report}");

        // Where nothing could be asked there is no average.
        let prevented = [Line { id: "down", agent: "infrastructure", baseline: "infrastructure" }];
        let (questions, mut records) = (questions_of(&prevented), records_of(&prevented));
        records.iter_mut().for_each(|record| record.history = vec![attempt()]);
        let summary = Summary::count(&manifest(&both, &questions), "f", &questions, &records);
        assert_eq!(summary.agent.unwrap().attempts, None);
    }
}
