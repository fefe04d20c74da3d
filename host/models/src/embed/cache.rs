//! Where vectors are kept by the content they were made from and the model that made them.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use airlock_types::ContentHash;
use futures_util::future::{BoxFuture, FutureExt};

use super::DIMENSION;

/// A place to keep vectors. What it loses is computed again, so it never fails.
pub trait EmbeddingCache: Send + Sync {
    /// The vectors of contents under a model, in their order; `None` where there is none.
    fn get<'a>(&'a self, model: &'a str, contents: &'a [ContentHash])
    -> BoxFuture<'a, Vec<Option<Vec<f32>>>>;
    /// Keeps vectors.
    fn put<'a>(&'a self, model: &'a str, vectors: &'a [(ContentHash, Vec<f32>)]) -> BoxFuture<'a, ()>;
}

/// Digits of a content hash.
const DIGITS: usize = 64;
/// Digits of a check.
const CHECK: usize = 16;
/// Bytes of a record before its numbers: content, check, length.
const HEAD: usize = DIGITS + CHECK + 4;

/// A file a model in a folder. Records are only ever appended; each carries a check, and what is cut off or damaged ends the
/// reading of a file, whose rest is written anew.
#[derive(Debug)]
pub struct FileCache {
    folder: PathBuf,
    models: Mutex<HashMap<String, Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    vectors: HashMap<ContentHash, Vec<f32>>,
    file: Option<File>,
}

impl FileCache {
    /// A cache in a folder, which is made when the first vector is kept.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), models: Mutex::default() }
    }

    /// The file of a model.
    #[must_use]
    pub fn file(&self, model: &str) -> PathBuf {
        self.folder.join(format!("{}.embeddings", ContentHash::of(model.as_bytes()).short()))
    }

    fn with<T>(&self, model: &str, act: impl FnOnce(&mut Kept) -> T) -> T {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if !models.contains_key(model) {
            let path = self.file(model);
            let kept = open(&path).unwrap_or_else(|error| {
                tracing::warn!(file = %path.display(), %error, "embeddings are kept in memory only");
                Kept::default()
            });
            models.insert(model.to_owned(), kept);
        }
        act(models.entry(model.to_owned()).or_default())
    }
}

impl EmbeddingCache for FileCache {
    fn get<'a>(
        &'a self,
        model: &'a str,
        contents: &'a [ContentHash],
    ) -> BoxFuture<'a, Vec<Option<Vec<f32>>>> {
        let found = self.with(model, |kept| {
            contents.iter().map(|hash| kept.vectors.get(hash).cloned()).collect::<Vec<_>>()
        });
        async move { found }.boxed()
    }

    fn put<'a>(&'a self, model: &'a str, vectors: &'a [(ContentHash, Vec<f32>)]) -> BoxFuture<'a, ()> {
        self.with(model, |kept| {
            let mut bytes = Vec::new();
            for (hash, vector) in vectors {
                if kept.vectors.insert(*hash, vector.clone()).is_none() {
                    bytes.extend(record(hash, vector));
                }
            }
            if let Some(file) = &mut kept.file
                && let Err(error) = file.write_all(&bytes)
            {
                tracing::warn!(%error, "embeddings are kept in memory only");
                kept.file = None;
            }
        });
        async {}.boxed()
    }
}

fn record(hash: &ContentHash, vector: &[f32]) -> Vec<u8> {
    let numbers: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    let digits = hash.to_string();
    let mut bytes = digits.clone().into_bytes();
    bytes.extend(check(&digits, &numbers).into_bytes());
    bytes.extend(u32::try_from(vector.len()).unwrap_or(0).to_le_bytes());
    bytes.extend(numbers);
    bytes
}

fn check(digits: &str, numbers: &[u8]) -> String {
    let all = [digits.as_bytes(), numbers].concat();
    ContentHash::of(all).to_string().chars().take(CHECK).collect()
}

/// Reads a file as far as it is whole, cuts off the rest, and opens it for more.
fn open(path: &Path) -> io::Result<Kept> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut vectors = HashMap::new();
    let mut whole = 0;
    while let Some((hash, vector, length)) = bytes.get(whole..).and_then(read) {
        vectors.insert(hash, vector);
        whole += length;
    }
    if whole < bytes.len() {
        tracing::warn!(file = %path.display(), kept = whole, of = bytes.len(), "embeddings were damaged; the rest is made again");
    }
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    file.set_len(whole as u64)?;
    Ok(Kept { vectors, file: Some(file) })
}

/// The record at the beginning of bytes, and how many of them it is.
fn read(bytes: &[u8]) -> Option<(ContentHash, Vec<f32>, usize)> {
    let digits = std::str::from_utf8(bytes.get(..DIGITS)?).ok()?;
    let dimension = u32::from_le_bytes(bytes.get(DIGITS + CHECK..HEAD)?.try_into().ok()?) as usize;
    if dimension == 0 || dimension > DIMENSION {
        return None;
    }
    let end = HEAD + dimension * 4;
    let numbers = bytes.get(HEAD..end)?;
    if bytes.get(DIGITS..DIGITS + CHECK)? != check(digits, numbers).as_bytes() {
        return None;
    }
    let hash = digits.parse().ok()?;
    let (chunks, _) = numbers.as_chunks::<4>();
    Some((hash, chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> ContentHash {
        ContentHash::of(text.as_bytes())
    }

    #[tokio::test]
    async fn what_was_kept_is_there_after_a_restart_and_damage_costs_only_the_damaged() {
        let folder = std::env::temp_dir().join(format!("airlock-embeddings-{}", std::process::id()));
        let first = FileCache::new(&folder);
        first.put("m", &[(hash("a"), vec![1.0, 2.0]), (hash("b"), vec![3.0, 4.0])]).await;
        assert_eq!(first.get("other", &[hash("a")]).await, [None], "another model has none of it");
        let path = first.file("m");
        drop(first);

        let again = FileCache::new(&folder);
        assert_eq!(again.get("m", &[hash("b"), hash("c")]).await, [Some(vec![3.0, 4.0]), None]);
        drop(again);

        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let damaged = FileCache::new(&folder);
        assert_eq!(damaged.get("m", &[hash("a"), hash("b")]).await, [Some(vec![1.0, 2.0]), None]);
        damaged.put("m", &[(hash("b"), vec![5.0, 6.0])]).await;
        drop(damaged);
        assert_eq!(FileCache::new(&folder).get("m", &[hash("b")]).await, [Some(vec![5.0, 6.0])]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
