//! One file a command.

mod ask;
mod check_sql;
mod context;
mod curation;
mod demo;
mod doctor;
mod domain;
mod drift;
mod eval;
mod examples;
mod feedback;
mod golden;
mod key;
mod knowledge;
mod lessons;
mod log;
mod mcp;
mod mine;
mod plugin;
mod replay;
mod serve;
mod setup;
mod setup_store;
mod stats;

use std::io::ErrorKind;
use std::path::Path;

use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::config::environment::Environment;
use crate::config::shown::{self, Shown};
use crate::exit::{Exit, usage};
use crate::output;

/// Runs the command.
///
/// # Errors
/// Whatever kept it from an answer.
pub async fn run(cli: Cli) -> anyhow::Result<Exit> {
    let (file, json) = (cli.config, cli.json);
    let environment = Environment::of_process();
    if cli.print_config {
        let listen = cli.command.as_ref().and_then(Command::listen);
        return print_config(&shown::all(file.as_deref(), &environment, listen).map_err(usage)?, json);
    }
    let Some(command) = cli.command else {
        return Err(usage("name a command: `airlock --help` lists them"));
    };
    let config = || Config::read(file.as_deref(), &environment).map_err(usage);
    match command {
        Command::Demo(demo) => demo::run(demo, json).await,
        Command::Serve(serve) => serve::run(serve, config()?, json).await,
        Command::Ask(ask) => ask::run(ask, config, json).await,
        Command::Drift(drift) => drift::run(drift, &config()?, json).await,
        Command::Mcp => mcp::run(&config()?).await,
        Command::Context(context) => context::run(context, &config()?, json).await,
        Command::CheckSql(check) => check_sql::run(check, config, json).await,
        Command::Domain(domain) => domain::run(domain, config, json).await,
        Command::Plugin(plugin) => plugin::run(plugin, config, json).await,
        Command::Eval(command) => eval::run(command, config, json).await,
        Command::Examples(command) => examples::run(command, &config()?, json).await,
        Command::Lessons(command) => lessons::run(command, &config()?, json).await,
        Command::Golden(command) => golden::run(command, &config()?, json).await,
        Command::Knowledge(command) => knowledge::run(command, &config()?, json).await,
        Command::Feedback(feedback) => feedback::run(feedback, &config()?, json).await,
        Command::Key(command) => key::run(command, &config()?, json).await,
        Command::Stats(command) => stats::run(command, &config()?, json).await,
        Command::Log(command) => log::run(command, &config()?, json).await,
        Command::Replay(command) => replay::run(command, &config()?, json).await,
        Command::Doctor => doctor::run(&config()?, json).await,
        Command::Setup(setup) => setup::run(setup, &config()?, json).await,
    }
}

/// Whether something is where a command was told to look.
///
/// # Errors
/// When nothing is there: the command line is wrong, and not what would have been found.
fn present(path: &Path) -> anyhow::Result<()> {
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(usage(format!("{} cannot be read: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Prints the configuration: as TOML with the origins beside it, or one object a line.
fn print_config(keys: &[Shown], json: bool) -> anyhow::Result<Exit> {
    for key in keys {
        if json { output::json(key)? } else { output::line(key)? }
    }
    Ok(Exit::Done)
}
