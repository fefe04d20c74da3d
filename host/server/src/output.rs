//! What a person or a program reads on stdout and stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use airlock_types::{Answer, Outcome};
use serde::Serialize;
use serde_json::Value;
use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// Logs go to stderr, so that stdout stays what was asked for.
pub fn log_to_stderr(format: LogFormat, verbose: u8, tries_components: bool) {
    let default = match verbose {
        // What each call came to is what such a command prints.
        0 if tries_components => "warn,airlock_runtime=error",
        // The protocol's own lines tell of clients that went away, which is their affair.
        0 => "warn,rmcp=off",
        1 => "info",
        // The debug lines of the driver and of the protocol hold statements with the values in them.
        _ => "debug,tokio_postgres=warn,rmcp=info,hyper=info,h2=info,wasmtime=info,cranelift=info",
    };
    let filter = EnvFilter::try_from_env("AIRLOCK_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
        // Every line carries the spans that it was written in, the ask's and the request's among them.
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).init(),
    }
}

/// An error with its causes, on stderr.
pub fn complain(error: &anyhow::Error) {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1).filter(|cause| !cause.is::<crate::exit::Usage>()) {
        eprintln!("  because: {cause}");
    }
}

/// Whether an error says that nobody reads stdout any more.
pub fn reader_is_gone(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// One JSON value on a line of stdout.
///
/// # Errors
/// When stdout is gone.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// One line on stdout.
///
/// # Errors
/// When stdout is gone.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}

/// An answer for a person: the sentence, the SQL, the rows, and what was tried.
///
/// # Errors
/// When stdout is gone.
pub fn answer(answer: &Answer) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match answer.outcome {
        Outcome::Answered => writeln!(out, "{}", answer.answer.as_deref().unwrap_or_default())?,
        outcome => {
            let word = match outcome {
                Outcome::Clarification => "Which one?",
                Outcome::Refused => "Refused.",
                Outcome::GaveUp => "Gave up.",
                _ => "Failed.",
            };
            writeln!(out, "{word} {}", answer.reason.as_deref().unwrap_or_default())?;
        }
    }
    for option in answer.options.iter().flatten() {
        writeln!(out, "  - {option}")?;
    }
    if let Some(sql) = &answer.sql {
        writeln!(out, "\n{sql}")?;
    }
    if answer.outcome == Outcome::Answered && (answer.rows.len() > 1 || answer.columns.len() > 1) {
        writeln!(out)?;
        table(&mut out, answer)?;
    }
    if answer.truncated {
        writeln!(out, "(the first {} rows; there are more)", answer.row_count)?;
    }
    let failed: Vec<_> = answer.history.iter().filter(|entry| entry.error_type.is_some()).collect();
    if !failed.is_empty() {
        writeln!(out, "\nAttempts that failed:")?;
        for entry in failed {
            let kind = entry.error_type.map(airlock_types::ErrorType::as_str).unwrap_or_default();
            writeln!(
                out,
                "  {} by {}: {}",
                kind,
                entry.origin,
                entry.message.as_deref().unwrap_or_default()
            )?;
            for line in entry.sql.lines() {
                writeln!(out, "    {line}")?;
            }
        }
    }
    for (title, lines) in [("Assumed", &answer.assumptions), ("Note", &answer.warnings)] {
        for line in lines {
            writeln!(out, "{title}: {line}")?;
        }
    }
    if let Some(degraded) = &answer.degraded {
        writeln!(out, "Note: {degraded}")?;
    }
    Ok(())
}

/// Widest a cell is shown.
const CELL: usize = 48;

/// Rows as an aligned table; NULL is shown apart from an empty text.
fn table(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let cell = |value: &Value| match airlock_types::cell::text(value) {
        None => "NULL".to_owned(),
        Some(text) => airlock_types::text::shorten(&text.replace(['\n', '\r', '\t'], " "), CELL),
    };
    let rows: Vec<Vec<String>> = answer.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = |at: usize, name: &str| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|text| text.chars().count())
            .chain([name.chars().count()])
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> =
        answer.columns.iter().enumerate().map(|(at, column)| width(at, &column.name)).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> =
            cells.zip(&widths).map(|(text, width)| format!("{text:<width$}", width = *width)).collect();
        padded.join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", line(&mut answer.columns.iter().map(|column| column.name.as_str())))?;
    writeln!(out, "{}", widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  "))?;
    for row in &rows {
        writeln!(out, "{}", line(&mut row.iter().map(String::as_str)))?;
    }
    Ok(())
}
