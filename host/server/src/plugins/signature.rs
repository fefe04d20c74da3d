//! The signed statement beside a component's file.

use std::io::Read;
use std::path::{Path, PathBuf};

use airlock_runtime::signature::{ENDING, SIGNATURE_LIMIT};

/// Where it is: `NAME.wasm.sig`.
pub fn beside(component: &Path) -> PathBuf {
    let mut path = component.as_os_str().to_owned();
    path.push(format!(".{ENDING}"));
    PathBuf::from(path)
}

/// Reads it, as far as it may be long. `None` when there is none, or it cannot be read: whoever asks for one then refuses.
pub fn signature_of(component: &Path) -> Option<Vec<u8>> {
    let path = beside(component);
    // Opening a pipe waits for somebody to write, and nobody may.
    std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let file = std::fs::File::open(path).ok()?;
    let mut text = Vec::new();
    // One byte more than may be is read, so that a longer one is seen to be longer.
    file.take(SIGNATURE_LIMIT as u64 + 1).read_to_end(&mut text).ok()?;
    Some(text)
}
