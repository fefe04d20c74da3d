//! The commands of the repository: `cargo xtask demo`, `test`, `lint`, `plugins`, `gate-report` and
//! `bench-gate`.

mod bench;
mod corpora;
mod demo;
mod distractors;
mod eval_corpora;
mod eval_data;
mod fault_bench;
mod fingerprint;
mod gate_report;
mod grants;
mod install;
mod languages;
mod learning_bench;
mod learning_strength;
mod lint;
mod model;
mod plugins;
mod preflight;
mod progress;
mod service_bench;
mod suite;
mod tidy;
mod wasm;
mod workspace;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Build, demonstrate and test airlock.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A private PostgreSQL, the demo shop, the server, one question answered.
    Demo(demo::Demo),
    /// The whole suite.
    Test(suite::Suite),
    /// Formatting, clippy and the rules of the tree.
    Lint(lint::Lint),
    /// Build the built-in stages into components.
    Plugins(plugins::Plugins),
    /// Build the adapters that are written in other languages.
    Languages(languages::Languages),
    /// The gate's corpora through the binary, and docs/gate.md with the numbers.
    GateReport(gate_report::GateReport),
    /// What a verdict of the gate costs, beside another parser.
    BenchGate(bench::Bench),
    /// What a component costs, beside Extism.
    BenchPlugins(bench::BenchPlugins),
    /// Public questions over ten databases, asked and graded, by set.
    EvalCorpora(eval_corpora::EvalCorpora),
    /// Right queries broken on purpose, and what repair heals without a model, by class.
    FaultBench(fault_bench::FaultBench),
    /// Whether learning helps, with no model: public questions in halves, before and after, and a poison test.
    LearningBench(learning_bench::LearningBench),
    /// What recall and a pass of the gate cost when very much is curated.
    RecallBench(learning_strength::RecallBench),
    /// A process that learns killed at random, and what it leaves in the store.
    KillLearning(learning_strength::KillLearning),
    /// How many asks a second one host answers, how long they take, and its memory.
    ServiceBench(service_bench::ServiceBench),
    /// The evaluation databases as schemas of one, and a pack over them.
    EvalData(eval_data::EvalData),
    /// The embedding model of the demo, fetched and checked.
    Model(model::Model),
}

/// What every command that may obtain something takes.
#[derive(Args, Clone, Copy)]
struct Obtain {
    /// Print the commands that would obtain what is missing, and run none of them.
    #[arg(long)]
    no_install: bool,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(command) => command.run(),
        Command::Test(command) => command.run(),
        Command::Lint(command) => command.run(),
        Command::Plugins(command) => command.run(),
        Command::Languages(command) => command.run(),
        Command::GateReport(command) => command.run(),
        Command::BenchGate(command) => command.run(),
        Command::BenchPlugins(command) => command.run(),
        Command::EvalCorpora(command) => command.run(),
        Command::FaultBench(command) => command.run(),
        Command::LearningBench(command) => command.run(),
        Command::RecallBench(command) => command.run(),
        Command::KillLearning(command) => command.run(),
        Command::ServiceBench(command) => command.run(),
        Command::EvalData(command) => command.run(),
        Command::Model(command) => command.run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
