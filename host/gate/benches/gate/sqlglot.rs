//! sqlglot in a Python beside the benchmark: a text in, nanoseconds out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Reads a JSON array `[text, calls]` a line and answers with a JSON array of nanoseconds.
const PROGRAM: &str = "
import json, sys, time
import sqlglot
print(sqlglot.__version__, flush=True)
for line in sys.stdin:
    text, calls = json.loads(line)
    spent = []
    for _ in range(calls):
        started = time.perf_counter_ns()
        sqlglot.parse_one(text, read='postgres')
        spent.append(time.perf_counter_ns() - started)
    print(json.dumps(spent), flush=True)
";

/// A Python that has sqlglot.
pub struct Sqlglot {
    python: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// As the package says it.
    pub version: String,
}

impl Sqlglot {
    /// Starts `$AIRLOCK_BENCH_PYTHON`, else `python3`; none, said loudly, when it has no sqlglot.
    pub fn start() -> Option<Self> {
        let program = std::env::var("AIRLOCK_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(&program);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut python) = command.spawn() else {
            println!("SKIPPED: sqlglot, because {program} does not start");
            return None;
        };
        let stdin = python.stdin.take()?;
        let mut stdout = BufReader::new(python.stdout.take()?);
        let mut version = String::new();
        stdout.read_line(&mut version).ok()?;
        if version.is_empty() {
            println!("SKIPPED: sqlglot, because {program} does not have it");
            let _ = python.wait();
            return None;
        }
        let mut started = Self { python, stdin, stdout, version: version.trim().to_owned() };
        // The first call builds what later calls use.
        started.parse("SELECT 1", 3);
        Some(started)
    }

    /// How long each of so many parses took.
    pub fn parse(&mut self, text: &str, calls: usize) -> Vec<Duration> {
        writeln!(self.stdin, "{}", serde_json::json!([text, calls])).unwrap();
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        let spent: Vec<u64> = serde_json::from_str(&answer).unwrap();
        spent.into_iter().map(Duration::from_nanos).collect()
    }
}

impl Drop for Sqlglot {
    fn drop(&mut self) {
        let _ = self.python.kill();
        let _ = self.python.wait();
    }
}
