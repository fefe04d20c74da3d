//! `airlock demo`: a private PostgreSQL, a pack's database, the server, one question answered.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use airlock_knowledge::Pack;
use airlock_knowledge::pack::GoldenOutcome;
use airlock_pipeline::progress::Reporter;
use airlock_pipeline::{Asker, Following, Surface};
use airlock_setup::{Durability, PrivateConfig, PrivatePostgres, Secret, default_data_dir, demo};
use airlock_types::{AskRequest, RawAskRequest};
use anyhow::Context;
use serde_json::json;

use super::serve::{signal, until_stopped};
use super::setup::reach;
use crate::cli::Demo;
use crate::config::environment::Environment;
use crate::config::server::AccessSettings;
use crate::config::{Config, DEFAULT_LISTEN, parse_listen};
use crate::exit::{Exit, usage};
use crate::operator::Operator;
use crate::service::Service;
use crate::store::{self, Purpose};
use crate::telemetry::Telemetry;
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
    // What is cheap to find out is found out before a server is started.
    boot::grants(&options.components)?;
    let listen = options.listen.clone().or_else(|| std::env::var("AIRLOCK_LISTEN").ok());
    let listen = parse_listen(listen.as_deref().unwrap_or(DEFAULT_LISTEN)).map_err(usage)?;
    let bound = http::bind(listen, &AccessSettings::default()).await?;
    let data = options.data.clone().unwrap_or_else(default_data_dir);
    let step = Step::begin("starting a private PostgreSQL");
    let config = PrivateConfig::new(&data, Durability::Demo);
    let postgres = tokio::select! {
        started = PrivatePostgres::start(&config) => started?,
        () = signal() => return Ok(Exit::Infrastructure),
    };
    step.done();
    // Whatever happens now, the private server is stopped in order. A signal before the answer leaves none to tell of.
    let ended = tokio::select! {
        shown = show(&options, &pack, &postgres, &data, &request, bound, as_json) => shown,
        () = signal() => {
            output::progress("stopped by a signal");
            Ok(Shown::Over(Exit::Infrastructure))
        }
    };
    let exit = match ended {
        Ok(Shown::Serving(shop)) => {
            let Shop { bound, service, operator, following } = *shop;
            let (telemetry, host) = (service.telemetry.clone(), Arc::clone(&service.host));
            until_stopped(bound, service, operator).await;
            telemetry.settled().await;
            // The store's server goes next, and with it what was not written.
            host.learning_settled().await;
            drop(following);
            Ok(Exit::Done)
        }
        Ok(Shown::Over(exit)) => Ok(exit),
        Err(error) => Err(error),
    };
    postgres.stop().await?;
    exit
}

/// What follows the answer.
enum Shown {
    /// Nothing: it was to be shown once, or a signal came first.
    Over(Exit),
    /// The page.
    Serving(Box<Shop>),
}

/// A demo that serves.
struct Shop {
    bound: http::Bound,
    service: Service,
    operator: Operator,
    following: Option<Following>,
}

async fn show(
    options: &Demo,
    pack: &Pack,
    postgres: &PrivatePostgres,
    data: &Path,
    request: &AskRequest,
    bound: http::Bound,
    as_json: bool,
) -> anyhow::Result<Shown> {
    let folder = options.domains.join(options.pack.as_str());
    let step = Step::begin(&format!("loading {} and proving its reader", pack.name));
    let database = demo::load(postgres, &pack.name, &folder, reach(pack), |statement| {
        // Not the statement: one of them holds the verifier of the password.
        tracing::info!(why = statement.why, "setting up the reader");
    })
    .await?;
    step.done();

    let credentials = data.join("store.credentials");
    let step = Step::begin("making the knowledge store and its roles");
    let (place, _) = store::on_private(postgres).await?;
    crate::config::store::write(&credentials, &place.passwords)
        .with_context(|| format!("{} cannot be written", credentials.display()))?;
    step.done();
    let file = write_config(options, data, pack, &database.reader_url, postgres, &place.database)?;
    let config = Config::read(Some(&file), &Environment::of_process()).map_err(usage)?;
    let step = Step::begin("loading components and opening the domain");
    // The store is on the demo's own server and goes with it.
    let telemetry = Telemetry::begin(&config)?;
    let (host, store) = boot::host_with_store(&config, Purpose::Serve).await?;
    let host = Arc::new(telemetry.observe(host));
    step.done();

    if let Some((model, _)) = host.embedder() {
        let step = Step::begin(&format!("making vectors with {model}"));
        host.embed_domains().await;
        step.done();
    } else {
        output::progress(
            "no embedding model: tables and examples are found by keywords alone (`cargo xtask model` fetches one)",
        );
    }
    let page = bound.page();
    // Before the page is told: whoever reads that line may give an order next. One question and out needs no operator, and
    // must not be in the way of a demo that runs.
    let operator = if options.once { None } else { Some(Operator::open(&config, &host)?) };
    let step = Step::begin("asking");
    let finished = host.ask(request, &Asker::local(Surface::Cli), Reporter::silent()).await.map_err(usage)?;
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
                "Other commands: airlock --config {file} ...\n\
                 Deciding on what is learned, swapping components and other addresses need a key:\n  \
                 airlock --config {file} key create me --scope admin\nCtrl-C stops everything.",
                file = file.display()
            ))?;
        }
    }
    output::stdout().flush()?;
    let Some(operator) = operator else {
        telemetry.settled().await;
        host.learning_settled().await;
        return Ok(Shown::Over(exit));
    };
    let following = host.follow_store();
    let (store, desk) = (store.store().cloned(), operator.desk());
    let config = Arc::new(config);
    let service = Service { host, store, desk, config, upkeep: Arc::default(), telemetry };
    Ok(Shown::Serving(Box::new(Shop { bound, service, operator, following })))
}

/// The first golden question that has an answer.
fn first_question(pack: &Pack) -> Option<String> {
    let answered = pack.golden.iter().find(|case| case.outcome == GoldenOutcome::Answered);
    answered.map(|case| case.question.as_str().to_owned())
}

/// Writes the configuration of the demo beside its data, readable by its user alone: it holds the reader's password.
fn write_config(
    options: &Demo,
    data: &Path,
    pack: &Pack,
    url: &str,
    postgres: &PrivatePostgres,
    store_database: &str,
) -> anyhow::Result<PathBuf> {
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
    let host = std::path::absolute(data)?;
    // The roles and their passwords are set for each role; an address needs somebody all the same.
    let store = postgres.connection_string(store_database, "airlock_recall", &Secret::new("unused"));
    table.insert(
        "store".to_owned(),
        section(vec![
            ("url", store.into()),
            ("credentials", host.join("store.credentials").display().to_string().into()),
        ]),
    );
    table.insert(
        "server".to_owned(),
        section(vec![
            ("data", host.join("host").display().to_string().into()),
            ("operator_socket", host.join("operator.sock").display().to_string().into()),
        ]),
    );
    if let Some(model) = &options.embedder {
        let embedder = section(vec![("kind", "local".into()), ("path", absolute(model)?.into())]);
        table.insert("embedder".to_owned(), embedder);
    }
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
    what: String,
    begun: Instant,
}

impl Step {
    fn begin(what: &str) -> Self {
        output::begun(what);
        Self { what: what.to_owned(), begun: Instant::now() }
    }

    fn done(self) {
        output::done(&self.what, self.begun.elapsed());
    }
}
