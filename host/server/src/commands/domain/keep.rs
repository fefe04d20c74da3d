//! What is curated of a domain, kept in a file before another pack is loaded: the way back, when the new pack does not do well.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use airlock_knowledge::store::Promote;
use airlock_types::DomainName;
use anyhow::Context;

use crate::config::Config;
use crate::curation::write_down;

/// Folder of these snapshots under the data folder.
const FOLDER: &str = "knowledge";
/// Snapshots of one domain that stay.
const KEPT: usize = 20;

/// Writes a snapshot of what is curated. `None` when nothing is.
///
/// # Errors
/// When the store does not answer, or the file cannot be written.
pub(super) async fn before_load(
    config: &Config,
    promote: &Promote,
    domain: &DomainName,
) -> anyhow::Result<Option<PathBuf>> {
    let mut lines = Vec::new();
    if write_down(promote, domain, &mut lines).await? == 0 {
        return Ok(None);
    }
    let folder = config.data.join(FOLDER);
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let unwritten = || format!("what is curated cannot be kept in {}", folder.display());
    put(&folder, domain, &now, &lines).map(Some).with_context(unwritten)
}

/// Puts a snapshot into the folder, unless the last one says the same; the oldest go. Whole or not at all: a command that is
/// killed in the middle leaves the snapshots there were.
fn put(folder: &Path, domain: &DomainName, now: &str, lines: &[u8]) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    // Two that load at once keep their snapshots one after the other; the lock goes with the file that holds it.
    let lock = File::open(folder)?;
    lock.lock()?;
    let begin = format!("{domain}-");
    // Of the same second the later ones have a number behind the time, which sorts after it.
    let is_time = |name: &str| {
        let time = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(".jsonl"));
        let time = time.map(|time| time.split_once('_').map_or(time, |(time, _)| time));
        time.is_some_and(|time| time.len() == now.len() && !time.contains('-'))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_time))
        .collect();
    files.sort();
    if let Some(last) = files.last()
        && std::fs::read(last)? == lines
    {
        return Ok(last.clone());
    }
    let named = |number: u32| match number {
        1 => folder.join(format!("{begin}{now}.jsonl")),
        number => folder.join(format!("{begin}{now}_{number:06}.jsonl")),
    };
    let mut number = 1;
    while named(number).exists() {
        number += 1;
    }
    let file = named(number);
    // One name for each domain: what a killed command left is written over by the next.
    let next = folder.join(format!("{domain}.next"));
    let mut out = File::create(&next)?;
    out.write_all(lines)?;
    out.sync_all()?;
    std::fs::rename(next, &file)?;
    let spare = (files.len() + 1).saturating_sub(KEPT);
    for old in files.iter().take(spare) {
        std::fs::remove_file(old)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_and_nothing_is_kept_twice() {
        let folder = tempfile::tempdir().unwrap();
        let (shop, other) = ("shop".parse().unwrap(), "shop-2".parse().unwrap());
        let put = |domain, at: usize, text: &str| {
            put(folder.path(), domain, &format!("20261130T{at:06}Z"), text.as_bytes()).unwrap()
        };
        put(&other, 0, "of another domain");
        for at in 0..KEPT + 3 {
            put(&shop, at, &at.to_string());
        }
        let last = put(&shop, 99, &(KEPT + 2).to_string());
        assert!(last.ends_with(format!("shop-20261130T{:06}Z.jsonl", KEPT + 2)), "{}", last.display());
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, KEPT + 1, "those of another domain are not counted");
        assert_eq!(std::fs::read_to_string(put(&shop, 100, "new")).unwrap(), "new");
    }

    #[test]
    fn two_of_one_second_stay_beside_each_other_and_nothing_is_half_written() {
        let folder = tempfile::tempdir().unwrap();
        let shop: DomainName = "shop".parse().unwrap();
        let put = |text: &str| put(folder.path(), &shop, "20261130T000001Z", text.as_bytes()).unwrap();
        // What a killed command left is no snapshot, and in nobody's way.
        std::fs::write(folder.path().join("shop.next"), "a half").unwrap();
        let files: Vec<PathBuf> = ["first", "second", "third"].map(put).into();
        for (file, want) in files.iter().zip(["first", "second", "third"]) {
            assert_eq!(std::fs::read_to_string(file).unwrap(), want, "{}", file.display());
        }
        assert!(files.is_sorted(), "the last is found as the last: {files:?}");
        assert_eq!(put("third"), files[2], "nothing is kept twice");
        let names = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
        assert!(names.into_iter().all(|path| files.contains(&path)), "{files:?}");
        let more: Vec<String> = (0..KEPT).map(|at| at.to_string()).collect();
        more.iter().for_each(|text| drop(put(text)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), KEPT, "the oldest go");
    }
}
