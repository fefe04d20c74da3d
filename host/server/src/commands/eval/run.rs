//! `airlock eval run`: questions with known answers, asked and graded.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use airlock_evaluation::{Asked, Folder, RunOptions, Wanted, begin, go_on, prepare};
use airlock_knowledge::Degrade;
use airlock_knowledge::pack::{EvaluationCase, PackReport, limits, read_questions};
use airlock_models::ModelsConfig;
use airlock_pipeline::Host;
use airlock_types::{Clock, ContentHash, DomainName, Mode};

use super::progress::Bar;
use super::{conditions, failure, recording, show};
use crate::cli::{Baseline, Run};
use crate::commands::serve::signal;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::telemetry::Telemetry;
use crate::{boot, output};

/// Asks and grades.
///
/// # Errors
/// When a question cannot be used, or a database does not answer before anything was asked.
pub async fn run(options: Run, mut config: Config, json: bool) -> anyhow::Result<Exit> {
    if let Some(folder) = &options.replies {
        if !folder.is_dir() {
            return Err(usage(format!("--replies: {} is no folder", folder.display())));
        }
        let models = std::mem::take(&mut config.models);
        config.models = ModelsConfig {
            prices: models.prices,
            deadline_seconds: models.deadline_seconds,
            ..ModelsConfig::recorded(folder)
        };
    }
    if let Some(folder) = &options.record {
        if config.models.roles.is_empty() {
            return Err(usage("--record: there is no model to record; name one under [models]"));
        }
        config.models.record = Some(folder.clone());
    }
    let given = Given::of(&options)?;
    // Each case's verdict is a score on its trace.
    let telemetry = Telemetry::begin(&config)?;
    let opened = async {
        let host = telemetry.trace(boot::host(&config).await?);
        for domain in given.wanted.map.values() {
            host.domain(Some(domain)).map_err(|error| usage(format!("--map: {error}")))?;
        }
        host.embed_domains().await;
        let hash = conditions::hash(&config);
        let (folder, questions) = match &options.resume {
            Some(path) => go_on(&host, path, hash).await.map_err(failure)?,
            None => {
                let out = options.out.as_ref().unwrap_or(&config.evaluations);
                fresh(out, given, &host, hash).await?
            }
        };
        anyhow::Ok((host, folder, questions))
    };
    let (host, mut folder, questions) = tokio::select! {
        opened = opened => opened?,
        () = signal() => anyhow::bail!("stopped by a signal before a question was asked: run it again"),
    };
    if let Some(record) = &options.record {
        recording::keep(record, &folder.manifest().now)?;
    }
    let mut bar = Bar::new(questions.len(), "asking");
    let ran = tokio::select! {
        ran = airlock_evaluation::run(&host, &mut folder, &questions, |step| bar.step(&step)) => Some(ran),
        () = signal() => None,
    };
    bar.done();
    telemetry.settled().await;
    if let Some(ran) = ran {
        ran.map_err(failure)?;
    } else {
        let path = folder.path().display();
        output::remark(
            "note",
            format_args!("stopped by a signal; go on with: airlock eval run --resume {path}"),
        );
    }
    show(&folder, json)
}

/// What the command line says, read before anything is started.
struct Given {
    wanted: Wanted,
    modes: Vec<Mode>,
    degrade: Degrade,
    now: Option<String>,
    questions: Option<(String, Vec<EvaluationCase>)>,
}

impl Given {
    fn of(options: &Run) -> anyhow::Result<Self> {
        let mut map = BTreeMap::new();
        for pair in &options.map {
            let wrong = || usage(format!("--map: `{pair}` is not DB=DOMAIN"));
            let (db, domain) = pair.split_once('=').ok_or_else(wrong)?;
            let domain: DomainName = domain.parse().map_err(|error| usage(format!("--map: {error}")))?;
            if let Some(other) = map.insert(db.to_owned(), domain) {
                return Err(usage(format!("--map: `{db}` is mapped twice, first to `{other}`")));
            }
        }
        let domain = options
            .domain
            .as_deref()
            .map(|name| name.parse().map_err(|error| usage(format!("--domain: {error}"))))
            .transpose()?;
        let degrade = match &options.degrade {
            Some(words) => words.parse().map_err(|error| usage(format!("--degrade: {error}")))?,
            None => Degrade::default(),
        };
        let recorded = options.replies.as_deref().or(options.record.as_deref());
        let now = match (&options.now, recorded) {
            (Some(now), _) => Some(now.clone()),
            (None, Some(folder)) => recording::now(folder)?,
            (None, None) => None,
        };
        if let Some(now) = &now {
            Clock::parse_now(now, "UTC").map_err(|error| usage(format!("--now: {error}")))?;
        }
        let (questions, unread) = match &options.questions {
            Some(file) => {
                let (cases, unread) = readable(file)?;
                (Some((file.display().to_string(), cases)), unread)
            }
            None => (None, PackReport::default()),
        };
        let modes = match options.baseline {
            Baseline::Both => vec![Mode::Agent, Mode::Baseline],
            Baseline::Only => vec![Mode::Baseline],
            Baseline::Off => vec![Mode::Agent],
        };
        let wanted = Wanted { domain, map, limit: options.limit, skip_bad: options.skip_bad, unread };
        Ok(Self { wanted, modes, degrade, now, questions })
    }
}

/// Tries every right answer and makes the folder of a new run.
async fn fresh(
    out: &Path,
    given: Given,
    host: &Host,
    configuration: ContentHash,
) -> anyhow::Result<(Folder, Vec<Asked>)> {
    let Given { wanted, modes, degrade, now, questions } = given;
    let (from, cases) = match questions {
        Some(questions) => questions,
        None => of_pack(host, wanted.domain.as_ref())?,
    };
    let bar =
        Bar::new(wanted.limit.map_or(cases.len(), |limit| limit.min(cases.len())), "trying right answers");
    let prepared = prepare(host, cases, &wanted, |done| bar.tried(done)).await.map_err(failure)?;
    bar.done();
    for warning in &prepared.skipped {
        output::remark("warning", warning);
    }
    let conditions = RunOptions { from, skipped: prepared.left_out, modes, degrade, now, configuration };
    let folder = begin(host, &prepared.questions, &conditions, out).await.map_err(failure)?;
    Ok((folder, prepared.questions))
}

/// The questions of a domain's own pack.
pub(super) fn of_pack(
    host: &Host,
    domain: Option<&DomainName>,
) -> anyhow::Result<(String, Vec<EvaluationCase>)> {
    let domain = host.domain(domain).map_err(usage)?;
    let cases = domain.pack().evaluation.clone();
    if cases.is_empty() {
        return Err(usage(format!(
            "the pack of `{}` has no evaluation.jsonl: add one, or name questions with --questions",
            domain.name()
        )));
    }
    Ok((format!("evaluation.jsonl of {}", domain.name()), cases))
}

/// The questions of a file with which nothing is wrong.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<EvaluationCase>> {
    let (cases, unread) = readable(file)?;
    if unread.is_empty() {
        return Ok(cases);
    }
    Err(usage(format!("--questions: the questions are wrong:\n{unread}")))
}

/// The questions of a file that can be read, and what is wrong with the file.
pub(super) fn readable(file: &Path) -> anyhow::Result<(Vec<EvaluationCase>, PackReport)> {
    let unread =
        |error: std::io::Error| usage(format!("--questions: {} cannot be read: {error}", file.display()));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(unread)?;
    opened.take(limits::FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(read_questions(&name, bytes))
}
