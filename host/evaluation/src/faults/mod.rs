//! The fault bench: right queries broken on purpose, class by class, and what repair makes of them without a model.
//!
//! Each fault goes through the attempt loop of any ask: gate, PostgreSQL, inspection, repair. A text that turns out to give
//! what the right one gives was no fault and is not counted. Right queries take the same way, to see that repair leaves
//! them alone.

mod class;
mod dialect;
mod names;
mod query;
mod report;
mod scan;
mod shape;
mod values;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use airlock_knowledge::pack::{GoldenCase, GoldenOutcome};
use airlock_pipeline::Host;
use airlock_pipeline::golden::{Graded, Runner, Verdict};
use airlock_types::Outcome;
use serde::Serialize;

use crate::error::EvaluationError;
use crate::questions::Asked;
use class::{Broken, CLASSES};
use query::{Chance, Query};

/// What became of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mended {
    /// Repaired, with the result of the right query.
    Healed,
    /// Given up, or told as empty.
    Left,
    /// Repaired into a query with another result.
    Other,
    /// It ran and gave rows; nothing speaks against them.
    Unnoticed,
}

/// One fault and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    /// Its class.
    pub class: &'static str,
    /// The question whose right query was broken.
    pub id: String,
    /// The broken text.
    pub sql: String,
    /// What it should give the result of.
    pub right: String,
    /// The kind of failure, as the attempt loop told it.
    pub error_type: Option<String>,
    /// PostgreSQL's code.
    pub sqlstate: Option<String>,
    /// What was said.
    pub message: Option<String>,
    /// What became of it.
    pub mended: Mended,
    /// Why it is not healed.
    pub why: Option<String>,
    /// The texts that repair offered.
    pub offered: Vec<String>,
}

/// A class and its numbers.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ClassCount {
    /// The class.
    pub class: &'static str,
    /// Whether what PostgreSQL says names what is wrong.
    pub named: bool,
    /// Faults, `unnoticed` ones included.
    pub faults: usize,
    /// With the right result.
    pub healed: usize,
    /// Given up.
    pub left: usize,
    /// With another result.
    pub other: usize,
    /// Nothing was there to be repaired.
    pub unnoticed: usize,
}

/// A right query that did not come through as it was.
#[derive(Debug, Clone, Serialize)]
pub struct Harmed {
    /// The question.
    pub id: String,
    /// The right query.
    pub sql: String,
    /// What happened.
    pub why: String,
}

/// A run of the bench.
#[derive(Debug, Clone, Serialize)]
pub struct FaultReport {
    /// The seed of the faults.
    pub seed: u64,
    /// Questions whose right queries were broken.
    pub questions: usize,
    /// Right queries that were tried as they are.
    pub right: usize,
    /// Those that repair did not leave right.
    pub broken: Vec<Harmed>,
    /// By class.
    pub classes: Vec<ClassCount>,
    /// All together.
    pub all: ClassCount,
    /// Repaired into another result, each.
    pub other: Vec<Fault>,
    /// PostgreSQL's codes that came up, and how often; a code without a row is `unknown`.
    pub codes: BTreeMap<String, usize>,
    /// Codes that have no row.
    pub unclassified: Vec<String>,
    /// Where every fault is written down.
    pub folder: PathBuf,
}

impl FaultReport {
    /// Whether a right query was harmed, or a code came up that has no row in the taxonomy.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.broken.is_empty() || !self.unclassified.is_empty()
    }

    /// For people.
    #[must_use]
    pub fn shown(&self) -> String {
        report::shown(self)
    }
}

/// Breaks every right query in every class it fits, and mends.
///
/// # Errors
/// When a domain is not there, something is down, or the folder cannot be written.
pub async fn run(
    host: &Host,
    questions: &[Asked],
    seed: u64,
    out: &Path,
    mut tried: impl FnMut(usize),
) -> Result<FaultReport, EvaluationError> {
    let mut bench = Bench { seed, ..Bench::default() };
    for (at, asked) in questions.iter().enumerate() {
        let case = &asked.case.case;
        if case.outcome == GoldenOutcome::Answered {
            let domain = host.domain(Some(&asked.domain));
            let domain = domain.map_err(|error| EvaluationError::Domain(error.to_string()))?;
            let runner = Runner::new(host, &domain);
            bench.unbroken(&runner, case).await?;
            let catalogue = domain.catalogue();
            if let Some(sql) = &case.sql {
                bench.break_all(&runner, case, &Query::new(&sql.value, catalogue)).await?;
            }
        }
        tried(at + 1);
    }
    bench.write(out)
}

#[derive(Default)]
struct Bench {
    seed: u64,
    questions: usize,
    right: usize,
    broken: Vec<Harmed>,
    faults: Vec<Fault>,
}

impl Bench {
    /// Right queries as they are.
    async fn unbroken(&mut self, runner: &Runner<'_>, case: &GoldenCase) -> Result<(), EvaluationError> {
        for sql in case.sql.iter().chain(&case.accepted_sql) {
            let graded = runner.mend(case, &sql.value).await;
            let same = graded.ended.as_ref().and_then(|ended| ended.sql.as_ref()) == Some(&sql.value);
            self.right += 1;
            let why = match up(&graded.verdict)? {
                Verdict::Right if same => continue,
                Verdict::Right => "it was rewritten, with the same result".to_owned(),
                verdict => verdict.why().unwrap_or_default().to_owned(),
            };
            self.broken.push(Harmed { id: case.id.value.clone(), sql: sql.value.clone(), why });
        }
        Ok(())
    }

    async fn break_all(
        &mut self,
        runner: &Runner<'_>,
        case: &GoldenCase,
        query: &Query<'_>,
    ) -> Result<(), EvaluationError> {
        self.questions += 1;
        for class in CLASSES {
            let mut chance = Chance::new(self.seed, &[&case.id.value, class.name]);
            let Some(Broken { sql, right }) = (class.make)(query, &mut chance) else { continue };
            let mut target = case.clone();
            if let (Some(right), Some(own)) = (right, &mut target.sql) {
                own.value = right;
                target.accepted_sql.clear();
            }
            let graded = runner.mend(&target, &sql).await;
            up(&graded.verdict)?;
            self.faults.extend(fault(class.name, &target, sql, graded));
        }
        Ok(())
    }

    fn write(self, out: &Path) -> Result<FaultReport, EvaluationError> {
        let report = report::count(self.seed, self.questions, self.right, self.broken, &self.faults);
        let folder = out.join(format!("faults-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ")));
        fs::create_dir_all(out).map_err(|error| EvaluationError::file(out, error))?;
        // Fails where there is one already: no run is written over.
        fs::create_dir(&folder).map_err(|error| EvaluationError::file(&folder, error))?;
        let report = FaultReport { folder: folder.clone(), ..report };
        let write = |name: &str, text: String| {
            let file = folder.join(name);
            fs::write(&file, text).map_err(|error| EvaluationError::file(&file, error))
        };
        let lines: Vec<String> =
            self.faults.iter().map(|fault| serde_json::to_string(fault).unwrap_or_default()).collect();
        write("faults.jsonl", format!("{}\n", lines.join("\n")))?;
        write("report.json", serde_json::to_string_pretty(&report).unwrap_or_default())?;
        write("report.md", report.shown())?;
        Ok(report)
    }
}

/// A verdict, unless something was down: then there are no numbers.
fn up(verdict: &Verdict) -> Result<&Verdict, EvaluationError> {
    match verdict {
        Verdict::Infrastructure { why } => Err(EvaluationError::Infrastructure(why.clone())),
        verdict => Ok(verdict),
    }
}

/// What became of a broken text; none when it was no fault, or when the right one cannot be compared.
fn fault(class: &'static str, case: &GoldenCase, sql: String, graded: Graded) -> Option<Fault> {
    let answer = graded.answer?;
    let first = answer.history.first()?;
    let noticed = first.error_type.is_some();
    let mended = match (&graded.verdict, answer.outcome) {
        (Verdict::Right, _) if !noticed => return None,
        (Verdict::Right, _) => Mended::Healed,
        (Verdict::Undecided { .. }, Outcome::Answered) => return None,
        (_, Outcome::Answered) if !noticed && first.row_count != Some(0) => Mended::Unnoticed,
        (_, Outcome::Answered) if noticed => Mended::Other,
        _ => Mended::Left,
    };
    Some(Fault {
        class,
        id: case.id.value.clone(),
        sql,
        right: case.sql.as_ref().map(|sql| sql.value.clone()).unwrap_or_default(),
        error_type: first.error_type.map(|kind| kind.as_str().to_owned()),
        sqlstate: first.sqlstate.clone(),
        message: first.message.clone(),
        mended,
        why: graded.verdict.why().map(str::to_owned),
        offered: answer.history.iter().skip(1).map(|entry| entry.sql.clone()).collect(),
    })
}
