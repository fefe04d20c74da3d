//! Many calls, and what memory the process has before, between and after them.

use std::time::Instant;

use airlock_runtime::NoServices;

use crate::executor;
use crate::support::{honest, load, question, runtime};

/// Resident memory of this process in KiB, as the kernel says it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or_default()
}

pub fn print(calls: u64) {
    let executor = executor();
    let runtime = runtime(|_| {});
    let guest = load(&runtime, &honest());
    let (services, input) = (NoServices::shared(), question());
    let call = || executor.block_on(runtime.plan(&guest, services.clone(), &input, &[])).unwrap();
    // What is allocated once is there.
    (0..1_000).for_each(|_| drop(call()));
    let (began, before) = (Instant::now(), resident());
    println!("{calls} calls; resident memory {before} KiB before");
    for tenth in 1..=10 {
        (0..calls / 10).for_each(|_| drop(call()));
        println!(
            "{:>10} calls {:>8} KiB {:>6} s",
            tenth * (calls / 10),
            resident(),
            began.elapsed().as_secs()
        );
    }
    println!("grown by {} KiB", i128::from(resident()) - i128::from(before));
}
