//! Asking every question, grading each as it ends, and grading finished runs again.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use airlock_knowledge::Degrade;
use airlock_pipeline::golden::{Runner, Verdict};
use airlock_pipeline::{Domain, Host};
use airlock_types::{ContentHash, DomainName, Mode};

use crate::error::EvaluationError;
use crate::folder::{Folder, Manifest};
use crate::questions::Asked;
use crate::record::Record;

/// How a run is to be made.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Where the questions came from, in words.
    pub from: String,
    /// Questions that were left out.
    pub skipped: usize,
    /// Agent, baseline or both.
    pub modes: Vec<Mode>,
    /// What is left out of the knowledge.
    pub degrade: Degrade,
    /// The moment of questions that have none of their own; the beginning of the run when absent.
    pub now: Option<String>,
    /// SHA-256 of what of the configuration decides answers, costs and times; secrets have no part in it.
    pub configuration: ContentHash,
}

/// A record as it comes, and how far the run is.
#[derive(Debug)]
pub struct Step<'a> {
    /// Asks graded, those of before the run was gone on with included.
    pub done: usize,
    /// Asks in all.
    pub of: usize,
    /// The record.
    pub record: &'a Record,
}

/// Makes the folder of a new run inside `out`. Nothing is asked yet.
///
/// # Errors
/// When a domain cannot be opened as wanted, or the folder cannot be made.
pub async fn begin(
    host: &Host,
    questions: &[Asked],
    options: &RunOptions,
    out: &Path,
) -> Result<Folder, EvaluationError> {
    let domains = domains(host, questions, options.degrade).await?;
    let used: Vec<&Domain> = domains.values().map(AsRef::as_ref).collect();
    Folder::create(out, Manifest::new(host, &used, questions, options), questions)
}

/// Opens the folder of a run that was stopped, to go on with it under the conditions it began with.
///
/// # Errors
/// [`EvaluationError::Changed`] when they are no longer the same.
pub async fn go_on(
    host: &Host,
    path: &Path,
    configuration: ContentHash,
) -> Result<(Folder, Vec<Asked>), EvaluationError> {
    let folder = Folder::resume(path)?;
    let questions = folder.questions()?;
    let options = RunOptions { configuration, ..options_of(folder.manifest()) };
    let domains = domains(host, &questions, options.degrade).await?;
    let used: Vec<&Domain> = domains.values().map(AsRef::as_ref).collect();
    let mut changed = folder.manifest().changed(&Manifest::new(host, &used, &questions, &options));
    if folder.manifest().regrade_of.is_some() {
        changed.push("what it is: it was graded again, not asked");
    }
    if changed.is_empty() {
        Ok((folder, questions))
    } else {
        Err(EvaluationError::Changed { folder: path.to_owned(), changed })
    }
}

/// Asks every question in every mode of a run. What was answered is not asked again; what infrastructure prevented is.
///
/// Dropping the future stops the run; what was graded stays.
///
/// # Errors
/// When the folder cannot be read or written.
pub async fn run(
    host: &Host,
    folder: &mut Folder,
    questions: &[Asked],
    mut told: impl FnMut(Step<'_>),
) -> Result<(), EvaluationError> {
    let Manifest { modes, now, degrade, .. } = folder.manifest().clone();
    let domains = domains(host, questions, degrade).await?;
    let graded: HashSet<(String, bool)> = folder
        .records()?
        .into_iter()
        .filter(|record| !matches!(record.verdict, Verdict::Infrastructure { .. }))
        .map(|record| (record.id, record.mode == Mode::Agent))
        .collect();
    let (mut done, of) = (graded.len(), questions.len() * modes.len());
    let stages = host.registry().current();
    let runners: BTreeMap<&DomainName, Runner<'_>> =
        domains.iter().map(|(name, domain)| (name, Runner::new(host, domain).observed())).collect();
    for (at, asked) in questions.iter().enumerate() {
        let Some(runner) = runners.get(&asked.domain) else { continue };
        let mut case = asked.case.case.clone();
        case.now.get_or_insert_with(|| now.clone());
        let mut modes = modes.clone();
        // Who asks second finds the pages in memory: the two take turns.
        if at % 2 == 1 {
            modes.reverse();
        }
        for mode in modes {
            if graded.contains(&(case.id.value.clone(), mode == Mode::Agent)) {
                continue;
            }
            let record = Record::of(asked, mode, runner.grade_in(mode, &case, &stages).await);
            folder.append(&record)?;
            done += 1;
            told(Step { done, of, record: &record });
        }
    }
    Ok(())
}

/// Grades the endings of a finished run again, in a folder of its own beside it. Nothing is asked.
///
/// # Errors
/// [`EvaluationError`]
pub async fn regrade(
    host: &Host,
    run: &Folder,
    out: &Path,
    mut told: impl FnMut(Step<'_>),
) -> Result<Folder, EvaluationError> {
    let questions = run.questions()?;
    let domains = domains(host, &questions, Degrade::default()).await?;
    let runners: BTreeMap<&DomainName, Runner<'_>> =
        domains.iter().map(|(name, domain)| (name, Runner::new(host, domain))).collect();
    let records = run.records()?;
    let before = run.manifest();
    let fresh = Manifest::new(host, &[], &questions, &options_of(before));
    let manifest = Manifest {
        run: fresh.run,
        begun: fresh.begun,
        airlock: fresh.airlock,
        rows: fresh.rows,
        regrade_of: Some(before.run.clone()),
        ..before.clone()
    };
    let mut folder = Folder::create(out, manifest, &questions)?;
    let (mut done, of) = (0, records.len());
    for asked in &questions {
        let Some(runner) = runners.get(&asked.domain) else { continue };
        for record in records.iter().filter(|record| record.id == asked.case.case.id.value) {
            let record = match &record.ended {
                Some(ended) => record.judged(runner.judge(&asked.case.case, ended).await),
                None => record.clone(),
            };
            folder.append(&record)?;
            done += 1;
            told(Step { done, of, record: &record });
        }
    }
    Ok(folder)
}

fn options_of(manifest: &Manifest) -> RunOptions {
    RunOptions {
        from: manifest.questions.from.clone(),
        skipped: manifest.questions.skipped,
        modes: manifest.modes.clone(),
        degrade: manifest.degrade,
        now: Some(manifest.now.clone()),
        configuration: manifest.configuration,
    }
}

/// The domains of these questions, without what is to be left out.
async fn domains(
    host: &Host,
    questions: &[Asked],
    degrade: Degrade,
) -> Result<BTreeMap<DomainName, Arc<Domain>>, EvaluationError> {
    let mut domains = BTreeMap::new();
    for asked in questions {
        if domains.contains_key(&asked.domain) {
            continue;
        }
        let unknown = |error: &dyn std::fmt::Display| EvaluationError::Domain(error.to_string());
        let mut domain = host.domain(Some(&asked.domain)).map_err(|error| unknown(&error))?;
        if degrade != Degrade::default() {
            domain = Arc::new(domain.degraded(degrade).await.map_err(|error| unknown(&error))?);
        }
        domains.insert(asked.domain.clone(), domain);
    }
    Ok(domains)
}
