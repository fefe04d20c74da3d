//! Extism in a Python beside the benchmark: the same job through its own library, in nanoseconds as measured there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Compiles a module once; then for each line `[kept, calls]` a JSON array of nanoseconds. A fresh plugin is made, called
/// and freed; limits of time and memory are on.
const PROGRAM: &str = "
import json, sys, time
import extism
wasm = bytes.fromhex(sys.stdin.readline())
question = sys.stdin.readline().strip().encode()
compiled = extism.extism.CompiledPlugin({'wasm': [{'data': wasm}], 'memory': {'max_pages': 1024}, 'timeout_ms': 1000}, functions=[])
assert extism.Plugin(compiled, functions=[]).call('run', question) == b'no rows '
print(extism.extism_version(), flush=True)
kept_one = extism.Plugin(compiled, functions=[])
for line in sys.stdin:
    kept, calls = json.loads(line)
    spent = []
    for _ in range(calls):
        started = time.perf_counter_ns()
        plugin = kept_one if kept else extism.Plugin(compiled, functions=[])
        plugin.call('run', question)
        if not kept:
            plugin.__del__()
        spent.append(time.perf_counter_ns() - started)
    print(json.dumps(spent), flush=True)
";

/// Takes the question over into its own memory, as a guest's library would, and says that no rows answer it.
const GUEST: &str = r#"(module
    (import "extism:host/env" "input_length" (func $length (result i64)))
    (import "extism:host/env" "input_load_u64" (func $load (param i64) (result i64)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
    (import "extism:host/env" "output_set" (func $output (param i64 i64)))
    (memory (export "memory") 2)
    (func (export "run") (result i32)
        (local $at i64) (local $end i64)
        (local.set $end (i64.sub (call $length) (i64.const 8)))
        (loop $again
            (i64.store offset=4096 (i32.wrap_i64 (local.get $at)) (call $load (local.get $at)))
            (local.set $at (i64.add (local.get $at) (i64.const 8)))
            (br_if $again (i64.le_u (local.get $at) (local.get $end))))
        (local.set $at (call $alloc (i64.const 8)))
        (call $store (local.get $at) (i64.const 0x2073776f72206f6e))
        (call $output (local.get $at) (i64.const 8))
        (i32.const 0)))"#;

pub struct Extism {
    python: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// As the library says it.
    pub version: String,
}

impl Extism {
    /// Starts `$AIRLOCK_BENCH_PYTHON`, else `python3`; none, said loudly, when it has no Extism.
    pub fn start(question: &str) -> Option<Self> {
        let program = std::env::var("AIRLOCK_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(&program);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut python) = command.spawn() else {
            println!("SKIPPED: Extism, because {program} does not start");
            return None;
        };
        let mut stdin = python.stdin.take()?;
        let mut stdout = BufReader::new(python.stdout.take()?);
        let wasm: String = wat::parse_str(GUEST).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        // A Python without the package has gone by now.
        let _ = writeln!(stdin, "{wasm}\n{question}");
        let mut version = String::new();
        stdout.read_line(&mut version).ok()?;
        if version.is_empty() {
            println!("SKIPPED: Extism, because {program} cannot run it");
            let _ = python.wait();
            return None;
        }
        let version = version.trim().trim_start_matches('v').to_owned();
        Some(Self { python, stdin, stdout, version })
    }

    /// How long each of so many calls took, each on a plugin of its own.
    pub fn fresh(&mut self, calls: usize) -> Vec<Duration> {
        self.calls(0, calls)
    }

    /// The same on one plugin.
    pub fn kept(&mut self, calls: usize) -> Vec<Duration> {
        self.calls(1, calls)
    }

    fn calls(&mut self, kept: u8, calls: usize) -> Vec<Duration> {
        writeln!(self.stdin, "[{kept}, {calls}]").unwrap();
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        let spent: Vec<u64> = serde_json::from_str(&answer).unwrap();
        spent.into_iter().map(Duration::from_nanos).collect()
    }
}

impl Drop for Extism {
    fn drop(&mut self) {
        let _ = self.python.kill();
        let _ = self.python.wait();
    }
}
