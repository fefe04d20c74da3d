//! Packs in the store: which was loaded when and by whom, with their files.

use airlock_types::{ContentHash, DomainName};
use tokio_postgres::Row;

use super::content::ContentError;
use super::duty::Duty;
use super::error::StoreError;
use super::id::ItemId;
use super::promote::Promote;
use super::rows::{domain, get, moment, word};
use crate::pack::Pack;

/// A pack to be loaded.
#[derive(Debug, Clone)]
pub struct PackLoad<'a> {
    /// The pack.
    pub pack: &'a Pack,
    /// Its files: paths inside the pack and their bytes.
    pub files: &'a [(String, Vec<u8>)],
    /// How many of its golden cases serve as examples.
    pub examples: usize,
    /// Who loads it.
    pub by: &'a str,
}

/// A pack that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct LoadedPack {
    /// Identity of the loading.
    pub id: ItemId,
    /// The domain.
    pub domain: DomainName,
    /// Hash over all its files.
    pub hash: ContentHash,
    /// Its title.
    pub title: String,
    /// The data source it is about.
    pub source: String,
    /// Golden cases that serve as examples.
    pub examples: i32,
    /// Seed lessons.
    pub lessons: i32,
    /// When it was loaded.
    pub loaded_at: jiff::Timestamp,
    /// By whom.
    pub loaded_by: String,
    /// Whether it is the one in force.
    pub is_current: bool,
}

/// A file of a loaded pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackFileRow {
    /// Path inside the pack.
    pub path: String,
    /// Hash of its bytes.
    pub hash: ContentHash,
    /// Its bytes; `None` for what makes a demo's database.
    pub content: Option<Vec<u8>>,
}

pub(super) const PACKS: &str = "SELECT id, domain, hash, title, source, examples, lessons, loaded_at, loaded_by, is_current FROM airlock.packs";

pub(super) fn loaded(row: &Row) -> Result<LoadedPack, StoreError> {
    Ok(LoadedPack {
        id: get(row, "id")?,
        domain: domain(row)?,
        hash: word(row, "hash")?,
        title: get(row, "title")?,
        source: get(row, "source")?,
        examples: get(row, "examples")?,
        lessons: get(row, "lessons")?,
        loaded_at: moment(row, "loaded_at")?,
        loaded_by: get(row, "loaded_by")?,
        is_current: get(row, "is_current")?,
    })
}

/// What makes a demo's database is hashed and not kept.
fn kept(path: &str) -> bool {
    !path.starts_with("db/")
}

fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn failed(error: tokio_postgres::Error) -> StoreError {
    StoreError::of(Duty::Promote, &error)
}

impl Promote {
    /// Loads a pack. One that is in force already is left as it is; the second value says whether anything was done.
    ///
    /// # Errors
    /// When the store does not answer; then nothing is loaded.
    pub async fn load_pack(&self, load: &PackLoad<'_>) -> Result<(LoadedPack, bool), StoreError> {
        let PackLoad { pack, files, examples, by } = load;
        let by = by.trim();
        if by.is_empty() || by.chars().count() > 200 {
            let reason = "it is loaded by somebody, of at most 200 characters".to_owned();
            return Err(ContentError::Wrong { field: "by", reason }.into());
        }
        let (domain, hash) = (pack.name.as_str(), pack.hash.to_string());
        let mut lease = self.pool().lease().await?;
        let work = self.begin(&mut lease).await?;
        let query = format!("{PACKS} WHERE domain = $1 AND is_current");
        if let Some(row) = work.query_opt(&query, &[&domain]).await.map_err(failed)? {
            let current = loaded(&row)?;
            if current.hash == pack.hash {
                return Ok((current, false));
            }
            let retire = "UPDATE airlock.packs SET is_current = false WHERE id = $1";
            work.execute(retire, &[&current.id]).await.map_err(failed)?;
        }
        for (path, bytes) in *files {
            let file = "INSERT INTO airlock.pack_files (domain, hash, path, file_hash, content) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT DO NOTHING";
            let content = kept(path).then_some(bytes);
            let given = (ContentHash::of(bytes).to_string(), path.as_str());
            work.execute(file, &[&domain, &hash, &given.1, &given.0, &content]).await.map_err(failed)?;
        }
        let id = ItemId::now();
        let insert = "INSERT INTO airlock.packs (id, domain, hash, title, source, examples, lessons, loaded_by, is_current)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true)";
        let (examples, lessons) = (count(*examples), count(pack.lessons.len()));
        let settings = &pack.settings;
        work.execute(
            insert,
            &[&id, &domain, &hash, &settings.title, &settings.source, &examples, &lessons, &by],
        )
        .await
        .map_err(failed)?;
        let decision =
            "INSERT INTO airlock.decisions (id, domain, kind, curated, verdict, hash, mode, who, why)
            VALUES ($1, $2, 'pack', $3, 'load', $4, 'pack', $5, $6)";
        let why = format!("{examples} examples and {lessons} lessons of the pack");
        work.execute(decision, &[&ItemId::now(), &domain, &id, &hash, &by, &why]).await.map_err(failed)?;
        let query = format!("{PACKS} WHERE id = $1");
        let row = work.query_one(&query, &[&id]).await.map_err(failed)?;
        let done = loaded(&row)?;
        work.commit().await.map_err(failed)?;
        Ok((done, true))
    }
}
