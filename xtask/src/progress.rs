//! What a person sees while something takes its time: what, why, how long.

use std::io::{IsTerminal, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Lines are repeated this often when nobody watches a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(15);
/// At most this much of a quiet command's output is kept for its failure.
const KEPT_OUTPUT: usize = 8 * 1024;

/// One thing that is being done.
pub struct Step {
    what: String,
    started: Instant,
}

impl Step {
    /// Says what begins now, and why.
    pub fn begin(what: impl Into<String>, why: &str) -> Self {
        let what = what.into();
        eprintln!("==> {what} ({why})");
        Self { what, started: Instant::now() }
    }

    /// Says that it is done and how long it took.
    pub fn done(self) {
        eprintln!("    {}: done in {:.1} s", self.what, self.started.elapsed().as_secs_f64());
    }

    /// Runs a command whose own output is noise, with a line that shows the seconds. The output is shown when it fails.
    /// The command is killed after `limit`.
    pub fn quietly(&self, mut command: Command, limit: Duration) -> Result<ExitStatus> {
        let mut child = command
            .stdin(Stdio::inherit())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", command.get_program().to_string_lossy()))?;
        let readers = [
            child.stdout.take().map(|pipe| thread::spawn(move || last_of(pipe))),
            child.stderr.take().map(|pipe| thread::spawn(move || last_of(pipe))),
        ];
        let ticker = Ticker::start(&self.what);
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if begun.elapsed() > limit {
                child.kill()?;
                break child.wait()?;
            }
            thread::sleep(Duration::from_millis(50));
        };
        drop(ticker);
        let output = readers.into_iter().flatten().filter_map(|reader| reader.join().ok());
        let output: Vec<u8> = output.flatten().collect();
        if !status.success() {
            for line in String::from_utf8_lossy(&output).lines() {
                eprintln!("    | {line}");
            }
        }
        Ok(status)
    }
}

/// Reads to the end and keeps the last part.
fn last_of(mut pipe: impl Read) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = pipe.read(&mut chunk) {
        kept.extend(chunk.iter().take(read));
        let surplus = kept.len().saturating_sub(KEPT_OUTPUT);
        kept.drain(..surplus);
    }
    kept
}

/// Shows the seconds until it is dropped.
struct Ticker {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Ticker {
    fn start(what: &str) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let what = what.to_owned();
        let terminal = std::io::stderr().is_terminal();
        let every = if terminal { Duration::from_secs(1) } else { PLAIN_EVERY };
        let thread = thread::spawn(move || {
            let started = Instant::now();
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let seconds = started.elapsed().as_secs();
                if terminal {
                    eprint!("\r\x1b[2K    {what}: {seconds} s");
                } else {
                    eprintln!("    {what}: still at it after {seconds} s");
                }
                let _ = std::io::stderr().flush();
            }
            if terminal {
                eprint!("\r\x1b[2K");
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
