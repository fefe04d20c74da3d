//! What a statement costs the machine: memory of the host, of the server's processes, and temporary files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::find;

/// A peak shorter than this is missed.
const EVERY: Duration = Duration::from_millis(20);

/// The most that was seen since the last look, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peak {
    /// Resident memory of the host's process.
    pub host: u64,
    /// Private memory of the largest of the server's processes.
    pub backend: u64,
    /// Temporary files of the server.
    pub temporary: u64,
}

/// A thread that looks again and again.
pub struct Pressure {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

struct Seen {
    postmaster: u32,
    temporary: PathBuf,
    host: u32,
    peak: Mutex<Peak>,
    stop: AtomicBool,
}

impl Seen {
    fn look(&self) {
        let now = look(self.postmaster, &self.temporary, self.host);
        let mut peak = self.peak.lock().unwrap();
        peak.host = peak.host.max(now.host);
        peak.backend = peak.backend.max(now.backend);
        peak.temporary = peak.temporary.max(now.temporary);
    }
}

impl Pressure {
    /// Watches the server with this process id and files, and a host's process.
    #[must_use]
    pub fn watch(postmaster: u32, data: &Path, host: u32) -> Self {
        let base = find(data, "PG_VERSION").expect("a server has files").with_file_name("base");
        let temporary = base.join("pgsql_tmp");
        let (peak, stop) = (Mutex::default(), AtomicBool::new(false));
        let seen = Arc::new(Seen { postmaster, temporary, host, peak, stop });
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            while !shared.stop.load(Ordering::Relaxed) {
                shared.look();
                std::thread::sleep(EVERY);
            }
        });
        Self { seen, thread: Some(thread) }
    }

    /// The peak since the last call, this moment included.
    #[must_use]
    pub fn take(&self) -> Peak {
        self.seen.look();
        std::mem::take(&mut self.seen.peak.lock().unwrap())
    }
}

impl Drop for Pressure {
    fn drop(&mut self) {
        self.seen.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn look(postmaster: u32, temporary: &Path, host: u32) -> Peak {
    let children = std::fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children"));
    let children = children.unwrap_or_default();
    let backend =
        children.split_whitespace().map(|child| status(child, "RssAnon:")).max().unwrap_or_default();
    let files = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    let sizes = files.map(|file| size(&file.path()));
    Peak { host: status(&host.to_string(), "VmRSS:"), backend, temporary: sizes.sum() }
}

/// Bytes of a file, or of all files of a folder: a parallel hash join keeps its files in one.
fn size(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|file| size(&file.path())).sum()
        }
        Ok(found) => found.len(),
        Err(_) => 0,
    }
}

/// A line of a process's status, in bytes; 0 when the process is gone.
fn status(process: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() * 1024
}
