//! `airlock demo`: a private PostgreSQL, a pack's database, the server, one question answered.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use airlock_knowledge::Pack;
use airlock_knowledge::pack::GoldenOutcome;
use airlock_pipeline::progress::Reporter;
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, default_data_dir, demo};
use airlock_types::{AskRequest, RawAskRequest};
use anyhow::Context;
use serde_json::json;

use super::serve::{signal, until_stopped};
use super::setup::reach;
use crate::cli::Demo;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, http, output};

/// Runs the demo until Ctrl-C, or until the answer with `--once`.
///
/// # Errors
/// When PostgreSQL is not installed, a component is missing, or the address is taken.
pub async fn run(options: Demo, as_json: bool) -> anyhow::Result<Exit> {
    // Pack and question are read first: a mistake in them should not cost a start.
    let folder = options.domains.join(options.pack.as_str());
    let pack = Pack::read(&folder)
        .map_err(|report| usage(format!("--pack: the pack {} is wrong:\n{report}", folder.display())))?;
    let question = options.question.clone().or_else(|| first_question(&pack));
    let request = AskRequest::try_from(RawAskRequest { question, ..RawAskRequest::default() })
        .map_err(|error| usage(format!("--{error}")))?;
    let data = options.data.clone().unwrap_or_else(default_data_dir);
    let step = Step::begin("starting a private PostgreSQL");
    let postgres = PrivatePostgres::start(&PrivateConfig::new(&data, Durability::Demo)).await?;
    step.done();
    // Whatever happens now, the private server is stopped in order. A signal during the start counts too.
    let ended = tokio::select! {
        ended = show(&options, &pack, &postgres, &data, &request, as_json) => ended,
        () = signal() => Ok(Exit::Done),
    };
    postgres.stop().await?;
    ended
}

async fn show(
    options: &Demo,
    pack: &Pack,
    postgres: &PrivatePostgres,
    data: &Path,
    request: &AskRequest,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let folder = options.domains.join(options.pack.as_str());
    let step = Step::begin(&format!("loading {} and proving its reader", pack.name));
    let database = demo::load(postgres, &pack.name, &folder, reach(pack), |statement| {
        // Not the statement: one of them holds the verifier of the password.
        tracing::info!(why = statement.why, "setting up the reader");
    })
    .await?;
    step.done();

    let file = write_config(options, data, pack, &database.reader_url)?;
    let config = Config::read(Some(&file), |name| std::env::var(name).ok()).map_err(usage)?;
    let step = Step::begin("loading components and opening the domain");
    let host = Arc::new(boot::host(&config).await?);
    step.done();

    let listen = match &options.listen {
        Some(text) => crate::config::parse_listen(text).map_err(usage)?,
        None => config.listen,
    };
    let bound = http::bind(listen).await?;
    let page = format!("http://{}/", bound.address());
    let step = Step::begin("asking");
    let finished = host.ask(request, Reporter::silent()).await.map_err(usage)?;
    step.done();
    let exit = Exit::from(finished.answer.outcome);
    if as_json {
        output::json(&json!({"page": page, "config": file, "answer": finished.answer}))?;
    } else {
        output::line(format!("\nQuestion: {}\n", request.question))?;
        output::answer(&finished.answer)?;
        if options.once {
            output::line(format!("\nWithout --once the page is served at {page} until Ctrl-C."))?;
        } else {
            output::line(format!(
                "\nThe page:    {page}\nFrom a shell: airlock ask --server {} \"...\"",
                page.trim_end_matches('/')
            ))?;
            output::line(format!(
                "Other commands: airlock --config {} ...\nCtrl-C stops everything.",
                file.display()
            ))?;
        }
    }
    std::io::stdout().flush()?;
    if options.once {
        return Ok(exit);
    }
    until_stopped(bound, host).await?;
    Ok(Exit::Done)
}

/// The first golden question that has an answer.
fn first_question(pack: &Pack) -> Option<String> {
    let answered = pack.golden.iter().find(|case| case.outcome == GoldenOutcome::Answered);
    answered.map(|case| case.question.as_str().to_owned())
}

/// Writes the configuration of the demo beside its data, readable by its user alone: it holds the reader's password.
fn write_config(options: &Demo, data: &Path, pack: &Pack, url: &str) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::OpenOptionsExt;
    let absolute = |path: &Path| std::path::absolute(path).map(|path| path.display().to_string());
    let mut table = toml::Table::new();
    let section = |entries: Vec<(&str, toml::Value)>| {
        toml::Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let sources = section(vec![(pack.settings.source.as_str(), section(vec![("url", url.into())]))]);
    table.insert("sources".to_owned(), sources);
    table.insert(
        "domains".to_owned(),
        section(vec![
            ("dir", absolute(&options.domains)?.into()),
            ("load", toml::Value::Array(vec![pack.name.to_string().into()])),
        ]),
    );
    table.insert("plugins".to_owned(), section(vec![("dir", absolute(&options.components)?.into())]));
    let file = data.join("airlock.toml");
    let written = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file);
    written
        .and_then(|mut out| out.write_all(toml::to_string(&table).unwrap_or_default().as_bytes()))
        .with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(file)
}

/// A step that is being waited for, on stderr.
struct Step {
    begun: Instant,
}

impl Step {
    fn begin(what: &str) -> Self {
        eprint!("{what} ... ");
        let _ = std::io::stderr().flush();
        Self { begun: Instant::now() }
    }

    fn done(self) {
        eprintln!("{:.1} s", self.begun.elapsed().as_secs_f64());
    }
}
