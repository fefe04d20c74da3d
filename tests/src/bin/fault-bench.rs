//! Breaks the right queries of the corpora on purpose and counts what repair heals without a model; `cargo xtask fault-bench`
//! runs it.

#![allow(clippy::expect_used, clippy::panic, reason = "a measurement fails by panicking")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use airlock_evaluation::{Wanted, break_and_mend, prepare};
use airlock_knowledge::pack::read_evaluation;
use airlock_tests::corpora;
use airlock_tests::corpus::Corpus;

struct Options {
    corpora: Option<PathBuf>,
    out: PathBuf,
    seed: u64,
    limit: Option<usize>,
    json: bool,
}

fn options() -> Options {
    let out = PathBuf::from("evaluations");
    let mut options = Options { corpora: corpora(), out, seed: 1, limit: None, json: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--corpora" => options.corpora = Some(value().into()),
            "--out" => options.out = value().into(),
            "--seed" => options.seed = value().parse().expect("--seed is a number"),
            "--limit" => options.limit = Some(value().parse().expect("--limit is a number")),
            "--json" => options.json = true,
            other => panic!("there is no option {other}"),
        }
    }
    options
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = options();
    let Some(corpora) = options.corpora.filter(|folder| folder.join("eval").is_dir()) else {
        eprintln!("SKIPPED: there are no corpora; name their folder with --corpora, or set AIRLOCK_CORPORA");
        return ExitCode::SUCCESS;
    };
    eprintln!("loading the databases of {}", corpora.display());
    let corpus = Corpus::load(&corpora, &[]).await;
    let host = corpus.host().await;
    let text = std::fs::read(corpus.questions()).expect("the questions");
    let cases = read_evaluation("questions.jsonl", text).expect("questions that can be read");
    let wanted = Wanted { skip_bad: true, limit: options.limit, ..Wanted::default() };
    let prepared = prepare(&host, cases, &wanted, |_| ()).await.expect("right queries that run");
    let (begun, questions) = (Instant::now(), prepared.questions.len());
    let tried = |tried: usize| {
        if tried.is_multiple_of(50) {
            eprintln!("{tried} of {questions} questions, {} s", begun.elapsed().as_secs());
        }
    };
    let report = break_and_mend(&host, &prepared.questions, options.seed, &options.out, tried).await;
    let report = report.expect("a database that answers and a folder that can be written");
    if options.json {
        println!("{}", serde_json::to_string_pretty(&report).expect("a report"));
    } else {
        println!("{}\nEvery fault and what became of it: {}", report.shown(), report.folder.display());
    }
    if report.fails() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
