//! What a person or a program reads on stdout and stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_types::text::{Place, visible};
use airlock_types::{Answer, Outcome};
use serde::Serialize;
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::LogFormat;
use crate::exit::{Exit, Usage};

/// Logs go to stderr, so that stdout stays what was asked for.
pub fn log_to_stderr(format: LogFormat, verbose: u8, tries_components: bool) {
    let default = match verbose {
        // What each call came to is what such a command prints.
        0 if tries_components => "warn,airlock_runtime=error",
        0 => "warn",
        1 => "info",
        _ => "debug,hyper=info,h2=info,wasmtime=info,cranelift=info",
    };
    let filter = EnvFilter::try_from_env("AIRLOCK_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // A reader of stderr that is gone must not end what is being done.
    let quiet = quiet(&filter);
    let lines =
        tracing_subscriber::fmt().log_internal_errors(false).with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).finish().with(quiet).init(),
        // Every line carries the spans that it was written in, the ask's and the request's among them.
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(false).finish().with(quiet).init();
        }
    }
}

/// The debug lines of the driver and the parsers hold statements with the values in them, those of the agents' protocol
/// rows, too: they stay out of every log, whoever asks for more. What else the protocol tells is of clients that went away,
/// which is their affair.
const WITH_VALUES: [(&str, LevelFilter); 4] = [
    ("tokio_postgres", LevelFilter::WARN),
    ("sqlparser", LevelFilter::WARN),
    ("pg_query", LevelFilter::WARN),
    ("rmcp", LevelFilter::OFF),
];

/// What is kept out beside a filter: within the filter itself, a directive for a module of these would win.
fn quiet(filter: &EnvFilter) -> Targets {
    let most = filter.max_level_hint().unwrap_or(LevelFilter::TRACE);
    Targets::new().with_default(most).with_targets(WITH_VALUES)
}

/// Whether what is said beside the answer is for a program. Said once, at the start.
static FOR_PROGRAMS: OnceLock<bool> = OnceLock::new();

/// From here on errors and remarks are JSON objects, one a line, if `json` says so.
pub fn say_as_json(json: bool) {
    let _ = FOR_PROGRAMS.set(json);
}

fn for_programs() -> bool {
    FOR_PROGRAMS.get().copied().unwrap_or(false)
}

/// One line on stderr. Nobody may be reading, and that changes nothing of what is done.
fn aside(text: impl Display) {
    let text = text.to_string();
    let _ = writeln!(io::stderr().lock(), "{}", visible(&text, Place::Prose));
}

/// An error with its causes, on stderr.
pub fn complain(error: &anyhow::Error, exit: Exit) {
    let causes = error.chain().skip(1).filter(|cause| !cause.is::<Usage>());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    if for_programs() {
        return aside(json!({"error": error.to_string(), "because": causes, "exit": exit.code()}));
    }
    aside(format_args!("error: {error}"));
    for cause in causes {
        aside(format_args!("  because: {cause}"));
    }
}

/// Something beside the answer, on stderr: `kind` is a word such as `note` or `warning`.
pub fn remark(kind: &str, text: impl Display) {
    if for_programs() {
        aside(json!({kind: text.to_string()}));
    } else {
        aside(format_args!("{kind}: {text}"));
    }
}

/// Something that is going on, on stderr: a person reads it as it stands.
pub fn progress(text: impl Display) {
    if for_programs() {
        aside(json!({"progress": text.to_string()}));
    } else {
        aside(text);
    }
}

/// A step that is waited for, on stderr: a person sees it begin.
pub fn begun(what: &str) {
    if !for_programs() {
        prompt(format_args!("{what} ... "));
    }
}

/// The end of a step that [`begun`] told of.
pub fn done(what: &str, took: Duration) {
    let seconds = took.as_secs_f64();
    if for_programs() {
        aside(json!({"progress": what, "seconds": seconds}));
    } else {
        aside(format_args!("{seconds:.1} s"));
    }
}

/// A question to a person at this terminal, and nothing after it.
pub fn prompt(text: impl Display) {
    let (mut out, text) = (io::stderr().lock(), text.to_string());
    let _ = write!(out, "{}", visible(&text, Place::Prose)).and_then(|()| out.flush());
}

/// A command line that cannot be read, or that wanted to be told about itself.
pub fn unread(error: &clap::Error) -> Exit {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if !wants_json || !error.use_stderr() {
        let _ = error.print();
    } else {
        let said = error.render().to_string();
        let said = said.split("\n\nUsage:").next().unwrap_or_default().trim_start_matches("error: ").trim();
        aside(json!({"error": said, "because": [], "exit": Exit::Usage.code()}));
    }
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// Set when whoever read stdout has had enough: `airlock ... | head`.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Whether nobody reads stdout any more, so that what is endless may end.
pub fn is_unread() -> bool {
    UNREAD.load(Ordering::Relaxed)
}

/// What a command has to say. That nobody reads it any more is no failure, and no success either: the command comes to its own
/// end, and its exit code says what came of it.
pub fn stdout() -> impl Write {
    Stdout(io::stdout(), &UNREAD)
}

struct Stdout<W>(W, &'static AtomicBool);

impl<W: Write> Stdout<W> {
    fn unless_unread<T>(&mut self, done: T, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.1.load(Ordering::Relaxed) {
            return Ok(done);
        }
        match write(&mut self.0) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.1.store(true, Ordering::Relaxed);
                Ok(done)
            }
            written => written,
        }
    }
}

impl<W: Write> Write for Stdout<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_unread(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_unread((), Write::flush)
    }
}

/// One JSON value on a line of stdout.
///
/// # Errors
/// When stdout cannot be written.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(stdout().write_all(&line)?)
}

/// One line on stdout.
///
/// # Errors
/// When stdout cannot be written.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    let text = text.to_string();
    Ok(writeln!(stdout(), "{}", visible(&text, Place::Prose))?)
}

/// An answer for a person: the sentence, the SQL, the rows, and what was tried.
///
/// # Errors
/// When stdout cannot be written.
pub fn answer(answer: &Answer) -> anyhow::Result<()> {
    let mut out: Vec<u8> = Vec::new();
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
    // Names and values are whoever's wrote them: nothing in them moves the cursor or hides.
    let text = String::from_utf8_lossy(&out);
    Ok(stdout().write_all(visible(&text, Place::Prose).as_bytes())?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_is_gone_ends_nothing() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        static GONE: AtomicBool = AtomicBool::new(false);
        let mut out = Stdout(Gone, &GONE);
        assert!(out.flush().is_err(), "another failure is one");
        assert!(!GONE.load(Ordering::Relaxed));
        writeln!(out, "nobody reads this").unwrap();
        assert!(GONE.load(Ordering::Relaxed));
        out.flush().unwrap();
    }

    #[test]
    fn whoever_asks_for_more_gets_no_statement_with_its_values() {
        #[derive(Clone, Default)]
        struct Written(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
        impl Write for Written {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for wanted in [
            "trace",
            "debug",
            "info,sqlparser=trace,airlock=debug",
            "tokio_postgres::query=debug,airlock=debug",
            "rmcp=trace,airlock=debug",
            "rmcp::service=trace,airlock=debug",
            "[{sql}]=trace,airlock=debug",
        ] {
            let (filter, written) = (EnvFilter::new(wanted), Written::default());
            let (quiet, writer) = (quiet(&filter), written.clone());
            let lines = tracing_subscriber::fmt().with_env_filter(filter);
            let lines = lines.with_writer(move || writer.clone()).finish().with(quiet);
            tracing::subscriber::with_default(lines, || {
                tracing::debug!(target: "sqlparser::parser", sql = "hunter2");
                tracing::debug!(target: "tokio_postgres::query", sql = "hunter2");
                tracing::debug!(target: "pg_query", sql = "hunter2");
                tracing::warn!(target: "rmcp::service", sql = "hunter2");
                tracing::trace!(target: "rmcp", sql = "hunter2");
                tracing::debug!(target: "airlock::http", "our own");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            assert!(!text.contains("hunter2") && text.contains("our own"), "{wanted}: {text}");
        }
    }
}
