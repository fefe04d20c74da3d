//! The clock of a call: how long a processor worked for its guest, and how long the host took for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Compute time of one call: what its thread got of a processor while its future was being polled, less what host
/// functions used of that. A guest that has to wait for a processor of a busy machine is not charged for the wait.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Nanoseconds of earlier polls.
    before: AtomicU64,
    /// The processor time of the polling thread when the present poll began; [`IDLE`] between polls.
    since: AtomicU64,
    /// Nanoseconds of a processor in host functions.
    host_compute: AtomicU64,
    /// Nanoseconds that host functions took, waiting included.
    host: AtomicU64,
}

const IDLE: u64 = u64::MAX;

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            before: AtomicU64::new(0),
            since: AtomicU64::new(IDLE),
            host_compute: AtomicU64::new(0),
            host: AtomicU64::new(0),
        }
    }

    /// A poll is one thread's from its beginning to its end, and asks only its own clock.
    fn running(&self) -> u64 {
        match self.since.load(Ordering::Relaxed) {
            IDLE => 0,
            since => of_this_thread().saturating_sub(since),
        }
    }

    /// The guest's thread begins to run.
    pub(crate) fn resume(&self) {
        self.since.store(of_this_thread(), Ordering::Relaxed);
    }

    /// The guest's thread goes to do something else.
    pub(crate) fn pause(&self) {
        let ran = self.running();
        self.before.fetch_add(ran, Ordering::Relaxed);
        self.since.store(IDLE, Ordering::Relaxed);
    }

    pub(crate) fn host_time<R>(&self, run: impl FnOnce() -> R) -> R {
        let (began, used) = (Instant::now(), of_this_thread());
        let result = run();
        self.host_compute.fetch_add(of_this_thread().saturating_sub(used), Ordering::Relaxed);
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.host.fetch_add(took, Ordering::Relaxed);
        result
    }

    pub(crate) fn host(&self) -> Duration {
        Duration::from_nanos(self.host.load(Ordering::Relaxed))
    }

    pub(crate) fn compute(&self) -> Duration {
        let polled = self.before.load(Ordering::Relaxed).saturating_add(self.running());
        Duration::from_nanos(polled.saturating_sub(self.host_compute.load(Ordering::Relaxed)))
    }
}

/// Nanoseconds of a processor that this thread had since it began.
fn of_this_thread() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(nanoseconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;

    use super::*;

    #[test]
    fn waiting_is_no_compute_and_working_is() {
        let meter = Meter::new();
        meter.resume();
        thread::sleep(Duration::from_millis(60));
        meter.pause();
        assert!(meter.compute() < Duration::from_millis(40), "{:?}", meter.compute());
        meter.resume();
        let mut sum = 0_u64;
        while meter.compute() < Duration::from_millis(80) {
            sum = black_box(sum.wrapping_add(1));
        }
        meter.pause();
        assert!(meter.compute() >= Duration::from_millis(80), "{:?}", meter.compute());
    }

    #[test]
    fn what_the_host_does_is_the_hosts() {
        let meter = Meter::new();
        meter.resume();
        meter.host_time(|| thread::sleep(Duration::from_millis(30)));
        meter.host_time(|| {
            let began = of_this_thread();
            while of_this_thread() - began < 60_000_000 {
                black_box(());
            }
        });
        meter.pause();
        assert!(meter.compute() < Duration::from_millis(40), "{:?}", meter.compute());
        assert!(meter.host() >= Duration::from_millis(90), "{:?}", meter.host());
    }
}
