//! Golden cases asked with and without a candidate. The arm without is asked once and remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use airlock_knowledge::pack::{GoldenCase, GoldenOutcome, Located, Spot};
use airlock_knowledge::promotion::{Answering, CaseReplay, Grade, REPEATS, Replay, Replayed};
use airlock_knowledge::store::{Content, ItemId};
use airlock_runtime::StageSet;
use airlock_types::Question;

use crate::domain::Domain;
use crate::golden::{Runner, Verdict};
use crate::host::Host;

/// Examples and lessons near a question among which a candidate must be found to take part in it.
const NEAR: usize = 50;

/// What a replay may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayLimits {
    /// Golden cases of a domain that are used, those of the pack first.
    pub cases: usize,
    /// Asks for one candidate.
    pub asks: usize,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self { cases: 500, asks: 600 }
    }
}

/// What is known, and how each case comes out with it.
struct Arm {
    domain: Arc<Domain>,
    grades: BTreeMap<String, Grade>,
}

/// Replays the golden cases of one domain with the components in service when it was made.
pub(super) struct Replayer<'a> {
    host: &'a Host,
    stages: Arc<StageSet>,
    cases: Vec<GoldenCase>,
    limits: ReplayLimits,
    without: Mutex<Arm>,
}

/// The golden cases of a domain: its pack's, and those that a person promoted.
pub(super) fn cases(domain: &Domain) -> Vec<GoldenCase> {
    let learned = domain.learned().map(|learned| {
        let mut golden: Vec<_> = learned.items().collect();
        golden.sort_by_key(|item| item.id);
        golden.into_iter().filter_map(|item| case(item.id, &item.content)).collect::<Vec<_>>()
    });
    domain.golden().iter().cloned().chain(learned.unwrap_or_default()).collect()
}

fn case(id: ItemId, content: &Content) -> Option<GoldenCase> {
    let Content::Golden(golden) = content else { return None };
    let spot = Spot::file(&"store".into());
    let located = |value: &String| Located { value: value.clone(), spot: spot.clone() };
    Some(GoldenCase {
        id: located(&id.to_string()),
        question: Question::parse(&golden.question).ok()?,
        sql: golden.sql.as_ref().map(located),
        accepted_sql: golden.accepted_sql.iter().map(located).collect(),
        ordered: golden.ordered,
        now: golden.now.clone(),
        outcome: if golden.sql.is_some() { GoldenOutcome::Answered } else { GoldenOutcome::Refused },
    })
}

const fn grade(verdict: &Verdict) -> Grade {
    match verdict {
        Verdict::Right => Grade::Right,
        Verdict::Wrong { .. } => Grade::Wrong,
        Verdict::Undecided { .. } | Verdict::Infrastructure { .. } => Grade::Undecided,
    }
}

impl<'a> Replayer<'a> {
    /// Asks every case once with what is known today.
    pub(super) async fn new(host: &'a Host, domain: Arc<Domain>, limits: ReplayLimits) -> Self {
        let mut cases = cases(&domain);
        cases.truncate(limits.cases);
        // Both arms are asked as of one moment.
        let now = jiff::Timestamp::now().to_string();
        for case in &mut cases {
            case.now.get_or_insert_with(|| now.clone());
        }
        let stages = host.registry().current();
        let grades = graded(host, &domain, &stages, &cases).await;
        let without = Mutex::new(Arm { domain, grades });
        Self { host, stages, cases, limits, without }
    }

    /// Cases that are right with what is known, and cases that can be graded.
    pub(super) fn rate(&self) -> (usize, usize) {
        let without = self.lock();
        let of = without.grades.values().filter(|grade| **grade != Grade::Undecided).count();
        (without.grades.values().filter(|grade| **grade == Grade::Right).count(), of)
    }

    /// Asks every case again, with what is known by now.
    pub(super) async fn again(&self, domain: &Arc<Domain>) {
        let grades = graded(self.host, domain, &self.stages, &self.cases).await;
        *self.lock() = Arm { domain: Arc::clone(domain), grades };
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arm> {
        self.without.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn with(&self, id: ItemId, content: &Content) -> Result<Replayed, String> {
        let (domain, grades) = {
            let without = self.lock();
            (Arc::new(without.domain.supposing(id, content)), without.grades.clone())
        };
        let runner = Runner::new(self.host, &domain);
        let without = |case: &GoldenCase| grades.get(&case.id.value).copied().unwrap_or(Grade::Undecided);
        let mut replayed = Replayed { cases: Vec::new(), of: self.cases.len(), asks: 0 };
        // What fails is asked first: without a flip there is nothing that a regression could spoil.
        let failing = self.cases.iter().filter(|case| without(case) == Grade::Wrong);
        for case in failing.filter(|case| domain.finds(id, case.question.as_str(), NEAR)) {
            let mut with = Vec::new();
            while with.len() < REPEATS && replayed.asks < self.limits.asks {
                with.push(grade(&runner.grade(case, &self.stages).await.verdict));
                replayed.asks += 1;
                if with.last() != Some(&Grade::Right) {
                    break;
                }
            }
            replayed.cases.push(row(case, Grade::Wrong, with));
        }
        if replayed.flips() == 0 {
            return Ok(replayed);
        }
        for case in self.cases.iter().filter(|case| without(case) == Grade::Right) {
            let with = if replayed.asks < self.limits.asks {
                replayed.asks += 1;
                grade(&runner.grade(case, &self.stages).await.verdict)
            } else {
                Grade::Undecided
            };
            replayed.cases.push(row(case, Grade::Right, vec![with]));
            if with == Grade::Wrong {
                break;
            }
        }
        Ok(replayed)
    }
}

async fn graded(
    host: &Host,
    domain: &Arc<Domain>,
    stages: &Arc<StageSet>,
    cases: &[GoldenCase],
) -> BTreeMap<String, Grade> {
    let runner = Runner::new(host, domain);
    let mut grades = BTreeMap::new();
    for case in cases {
        grades.insert(case.id.value.clone(), grade(&runner.grade(case, stages).await.verdict));
    }
    grades
}

fn row(case: &GoldenCase, without: Grade, with: Vec<Grade>) -> CaseReplay {
    let (case, question) = (case.id.value.clone(), case.question.as_str().to_owned());
    CaseReplay { case, question, without, with }
}

impl Replay for Replayer<'_> {
    fn replay<'a>(&'a self, id: ItemId, content: &'a Content) -> Answering<'a, Result<Replayed, String>> {
        Box::pin(self.with(id, content))
    }

    fn promoted(&self, id: ItemId, content: &Content, replayed: &Replayed) {
        let mut without = self.lock();
        without.domain = Arc::new(without.domain.supposing(id, content));
        // What was asked with the candidate is what is asked without the next one.
        for case in &replayed.cases {
            if let Some(grade) = case.with.last() {
                let all = case.with.iter().all(|each| each == grade);
                let grade = if all { *grade } else { Grade::Undecided };
                without.grades.insert(case.case.clone(), grade);
            }
        }
    }
}
