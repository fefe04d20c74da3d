//! The airlock binary: configuration, command line, HTTP API and page.

mod access;
mod boot;
mod cli;
mod commands;
mod config;
mod curation;
mod drift;
mod exit;
mod http;
mod mcp;
mod operator;
mod output;
mod plugins;
mod retention;
mod service;
mod store;
mod telemetry;
mod upkeep;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::unread(&error).into(),
    };
    output::say_as_json(cli.json);
    let tries = cli.command.as_ref().is_some_and(cli::Command::tries_components);
    output::log_to_stderr(cli.log_format, cli.verbose, tries);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = anyhow::Error::new(error).context("the asynchronous runtime cannot start");
            output::complain(&error, exit::Exit::Infrastructure);
            return exit::Exit::Infrastructure.into();
        }
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let exit = exit::Exit::of(&error);
            output::complain(&error, exit);
            exit.into()
        }
    }
}
