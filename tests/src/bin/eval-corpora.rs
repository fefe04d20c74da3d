//! Evaluates airlock on public questions over ten databases, with and without the rules that belong to them; `cargo xtask
//! eval-corpora` runs it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use airlock_tests::corpora;
use airlock_tests::corpus::Corpus;
use serde_json::Value;

/// What of the command line is not the evaluation's own.
struct Options {
    corpora: Option<PathBuf>,
    out: PathBuf,
    instructions: Vec<bool>,
    /// Handed to `airlock eval run`.
    rest: Vec<String>,
}

fn options() -> Options {
    let mut options = Options {
        corpora: corpora(),
        out: PathBuf::from("evaluations"),
        instructions: vec![false, true],
        rest: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--corpora" => options.corpora = arguments.next().map(PathBuf::from),
            "--out" => options.out = arguments.next().map(PathBuf::from).unwrap_or(options.out),
            "--instructions" => {
                options.instructions = match arguments.next().as_deref() {
                    Some("with") => vec![true],
                    Some("without") => vec![false],
                    _ => vec![false, true],
                };
            }
            _ => options.rest.push(argument),
        }
    }
    options
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = options();
    let Some(corpora) = options.corpora.as_deref().filter(|folder| folder.join("eval").is_dir()) else {
        eprintln!("SKIPPED: there are no corpora; name their folder with --corpora, or set AIRLOCK_CORPORA");
        return ExitCode::SUCCESS;
    };
    eprintln!("loading the databases of {}", corpora.display());
    let corpus = Corpus::load(corpora, &[]).await;
    let mut runs = Vec::new();
    for with in &options.instructions {
        if *with {
            corpus.add_instructions();
        }
        let title = if *with { "with instructions" } else { "without instructions" };
        eprintln!("asking, {title}");
        match evaluate(&corpus, &options.out, &options.rest) {
            Ok(summary) => runs.push((title, summary)),
            Err(code) => return code,
        }
    }
    print!("{}", table(&runs));
    ExitCode::SUCCESS
}

fn evaluate(corpus: &Corpus, out: &Path, rest: &[String]) -> Result<Value, ExitCode> {
    let (questions, out) = (corpus.questions(), out.to_owned());
    let mut arguments = vec!["run", "--json", "--skip-bad", "--questions"];
    let (questions, out) = (questions.to_string_lossy(), out.to_string_lossy());
    arguments.extend([questions.as_ref(), "--out", out.as_ref()]);
    arguments.extend(rest.iter().map(String::as_str));
    let output = corpus.eval(&arguments);
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let code = output.status.code().and_then(|code| u8::try_from(code).ok());
        code.filter(|code| *code != 0).map_or(ExitCode::FAILURE, ExitCode::from)
    })
}

/// The runs by set, beside each other.
fn table(runs: &[(&str, Value)]) -> String {
    let mut text = String::from("| set | questions |");
    let modes = ["agent", "baseline"];
    for (title, _) in runs {
        for mode in modes {
            text.push_str(&format!(" {mode}, {title} |"));
        }
    }
    text.push_str(&format!("\n| --- | --- |{}\n", " --- |".repeat(runs.len() * modes.len())));
    let Some((_, first)) = runs.first() else { return text };
    let share = |share: Option<&Value>| {
        let number = |key| share.and_then(|share| share.get(key)).and_then(Value::as_f64);
        match (number("right"), number("of"), number("rate"), number("low"), number("high")) {
            (Some(right), Some(of), Some(rate), Some(low), Some(high)) => format!(
                " {right} of {of} ({:.1} %, {:.1} to {:.1}) |",
                rate * 100.0,
                low * 100.0,
                high * 100.0
            ),
            _ => " none |".to_owned(),
        }
    };
    for (at, set) in first["sets"].as_array().into_iter().flatten().enumerate() {
        text.push_str(&format!("| {} | {} |", set["name"].as_str().unwrap_or_default(), set["questions"]));
        for (_, summary) in runs {
            modes
                .iter()
                .for_each(|mode| text.push_str(&share(summary.pointer(&format!("/sets/{at}/{mode}")))));
        }
        text.push('\n');
    }
    for (title, of) in [("all answerable", "answerable"), ("all to refuse", "refusals")] {
        text.push_str(&format!("| {title} | |"));
        for (_, summary) in runs {
            modes.iter().for_each(|mode| text.push_str(&share(summary.pointer(&format!("/{mode}/{of}")))));
        }
        text.push('\n');
    }
    for (title, summary) in runs {
        text.push_str(&format!(
            "\n{title}: {} {}\n",
            summary["folder"].as_str().unwrap_or_default(),
            summary["says"].as_str().unwrap_or_default()
        ));
    }
    text
}
