//! Medians and 99th percentiles of single calls, which criterion does not print, and the ratio to sqlglot.
//!
//! Everything takes turns in short rounds, so that what else the machine does falls on all alike. On a busy machine it still
//! falls harder on long calls, which are interrupted more often: the 5th percentile is what an undisturbed call takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::sqlglot::Sqlglot;
use crate::{STATEMENTS, postgres_alone, second_alone, shop};

const ROUNDS: usize = 40;

/// Calls a round; the slow one has fewer.
const CALLS: usize = 75;
const SLOW_CALLS: usize = 15;

/// Durations of single calls.
#[derive(Default)]
struct Sample(Vec<Duration>);

impl Sample {
    fn take<T>(&mut self, mut call: impl FnMut() -> T) {
        for _ in 0..CALLS {
            let started = Instant::now();
            black_box(call());
            self.0.push(started.elapsed());
        }
    }

    /// The value that this share of the calls did not pass.
    fn at(&mut self, share: f64) -> Duration {
        self.0.sort_unstable();
        let index = (self.0.len() as f64 * share) as usize;
        self.0[index.min(self.0.len() - 1)]
    }

    /// Prints a line; the undisturbed call and the median, in microseconds.
    fn print(&mut self, name: &str) -> (f64, f64) {
        let [fast, median, tail] = [0.05, 0.5, 0.99].map(|share| self.at(share).as_secs_f64() * 1e6);
        println!("{name:<46} {fast:>9.0} {median:>9.0} {tail:>9.0} {:>7}", self.0.len());
        (fast, median)
    }
}

/// Measures and prints all of it.
pub fn print() {
    let gate = shop::gate(150_018);
    let mut sqlglot = Sqlglot::start();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nSingle calls, microseconds; {cores} cores, load {load} at the beginning");
    println!("{:<46} {:>9} {:>9} {:>9} {:>7}", "", "p5", "median", "p99", "calls");
    for (name, text) in STATEMENTS {
        let [mut check, mut grammar, mut second, mut other] = std::array::from_fn(|_| Sample::default());
        for _ in 0..ROUNDS {
            check.take(|| gate.check(black_box(text)));
            grammar.take(|| postgres_alone(black_box(text)));
            second.take(|| second_alone(black_box(text)));
            if let Some(sqlglot) = &mut sqlglot {
                other.0.extend(sqlglot.parse(text, SLOW_CALLS));
            }
        }
        let (fast, median) = check.print(&format!("check, both parsers and the walk, {name}"));
        grammar.print(&format!("the grammar's half: pg_query, {name}"));
        second.print(&format!("the second opinion: sqlparser, {name}"));
        if let Some(sqlglot) = &sqlglot {
            let theirs = other.print(&format!("sqlglot {}, parsing alone, {name}", sqlglot.version));
            let (undisturbed, medians) = (theirs.0 / fast, theirs.1 / median);
            println!(
                "sqlglot / check, {name}: {undisturbed:.1} times undisturbed, {medians:.1} by the medians"
            );
        }
    }
    if sqlglot.is_none() {
        println!("SKIPPED: sqlglot. `cargo xtask bench-gate` obtains it.");
    }
}
