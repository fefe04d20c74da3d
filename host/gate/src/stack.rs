//! A few threads with a large stack, on which both parsers and the walk run.
//!
//! Neither parser can be trusted to notice the end of its stack, and libpg_query measures the stack of the thread it is
//! called on, so swapping stacks under it would mislead it. A text is bounded before it gets here; the stack is sized so
//! that whatever passes the bounds fits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use crate::rejection::{Refusal, RejectionCode};

/// Address space of each thread; pages are only used when touched.
const STACK_BYTES: usize = 128 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// The queue of the threads; absent when the machine would start none.
fn queue() -> Option<&'static Sender<Job>> {
    static QUEUE: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    QUEUE
        .get_or_init(|| {
            let (sender, receiver) = channel::<Job>();
            let receiver = Arc::new(Mutex::new(receiver));
            let wanted = thread::available_parallelism().map_or(2, usize::from).clamp(1, 16);
            let started = (0..wanted)
                .filter(|number| {
                    let receiver = Arc::clone(&receiver);
                    thread::Builder::new()
                        .name(format!("gate-{number}"))
                        .stack_size(STACK_BYTES)
                        .spawn(move || work(&receiver))
                        .is_ok()
                })
                .count();
            (started > 0).then_some(sender)
        })
        .as_ref()
}

fn work(receiver: &Mutex<Receiver<Job>>) {
    loop {
        let Ok(job) = receiver.lock().map(|receiver| receiver.recv()) else { return };
        match job {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

fn broken() -> Box<Refusal> {
    Refusal::new(RejectionCode::Internal, "the gate could not finish reading this text")
}

/// Runs `job` on a large stack and waits for it. A panic inside becomes a refusal.
pub(crate) fn on_large_stack<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, Box<Refusal>> + Send + 'static,
) -> Result<T, Box<Refusal>>
where
    Box<Refusal>: Send,
{
    let (sender, receiver) = sync_channel(1);
    let job: Job = Box::new(move || {
        let outcome = catch_unwind(AssertUnwindSafe(job));
        // The receiver waits below; it is gone only when its own thread died.
        let _ = sender.send(outcome);
    });
    queue().and_then(|queue| queue.send(job).ok()).ok_or_else(broken)?;
    receiver.recv().map_err(|_| broken())?.unwrap_or_else(|_| Err(broken()))
}

/// Work that another of the threads may take up in the meantime.
pub(crate) struct Beside<T> {
    work: Arc<Mutex<Option<Work<T>>>>,
    outcome: Receiver<thread::Result<T>>,
}

type Work<T> = Box<dyn FnOnce() -> T + Send>;

fn take<T>(work: &Mutex<Option<Work<T>>>) -> Option<Work<T>> {
    work.lock().ok()?.take()
}

/// Offers work to the other threads, if it is `worth` waking one. Called on one of them, so the work has a large stack
/// wherever it is done.
pub(crate) fn beside<T: Send + 'static>(worth: bool, work: impl FnOnce() -> T + Send + 'static) -> Beside<T> {
    let work: Work<T> = Box::new(work);
    let work = Arc::new(Mutex::new(Some(work)));
    let (sender, outcome) = sync_channel(1);
    let offered = Arc::clone(&work);
    if let Some(queue) = queue().filter(|_| worth) {
        // An offer that nobody takes changes nothing.
        let _ = queue.send(Box::new(move || {
            if let Some(work) = take(&offered) {
                let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
            }
        }));
    }
    Beside { work, outcome }
}

impl<T> Beside<T> {
    /// The outcome: of this thread's own doing when all others are busy, so nobody ever waits for work that nobody does.
    pub(crate) fn finish(self) -> Result<T, Box<Refusal>> {
        match take(&self.work) {
            Some(work) => Ok(work()),
            None => self.outcome.recv().ok().and_then(Result::ok).ok_or_else(broken),
        }
    }
}

impl<T> Drop for Beside<T> {
    /// Work whose outcome nobody wants any more is not begun.
    fn drop(&mut self) {
        drop(take(&self.work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal_and_the_thread_lives_on() {
        for _ in 0..64 {
            let refused = on_large_stack::<()>(|| panic!("on purpose")).unwrap_err();
            assert_eq!(refused.code, RejectionCode::Internal);
        }
        assert_eq!(on_large_stack(|| Ok(7)).unwrap(), 7);
    }

    #[test]
    fn work_beside_is_done_once_whoever_does_it_and_never_by_nobody() {
        // More at once than there are threads: each waits for work that only itself may find the time to do.
        let askers: Vec<_> = (0..64_u32)
            .map(|number| {
                thread::spawn(move || {
                    on_large_stack(move || {
                        let other = beside(true, move || number + 1);
                        other.finish().map(|outcome| outcome + number)
                    })
                })
            })
            .collect();
        for (number, asker) in (0..).zip(askers) {
            assert_eq!(asker.join().unwrap().unwrap(), 2 * number + 1);
        }
        for _ in 0..64 {
            let broken = on_large_stack(|| beside(true, || -> u8 { panic!("on purpose") }).finish());
            assert_eq!(broken.unwrap_err().code, RejectionCode::Internal);
        }
        for worth in [true, false] {
            assert_eq!(on_large_stack(move || beside(worth, || 7).finish()).unwrap(), 7);
        }
    }

    #[test]
    fn deep_recursion_fits() {
        fn down(depth: usize) -> usize {
            let frame = std::hint::black_box([depth; 64]);
            if depth == 0 { 0 } else { 1 + down(depth - 1) + frame[0] - depth }
        }
        assert_eq!(on_large_stack(|| Ok(down(50_000))).unwrap(), 50_000);
    }
}
