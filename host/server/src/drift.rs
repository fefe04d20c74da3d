//! Snapshots of domains: taken when a pack is loaded or somebody accepts what changed, kept in the store, or under the data
//! folder where there is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_database::Source;
use airlock_knowledge::drift::Snapshot;
use airlock_knowledge::store::{Content, Store, TakenSnapshot};
use airlock_knowledge::{Pack, PackReport};
use airlock_pipeline::{DomainDrift, Host};
use airlock_types::Catalogue;
use anyhow::Context;

use crate::boot;
use crate::config::Config;
use crate::service::Service;
use crate::store::{self, OpenStore, Purpose};

/// Folder of snapshots under the data folder.
const FOLDER: &str = "snapshots";
/// Between two looks at the sources, and at what somebody else may have accepted.
const EVERY: Duration = Duration::from_secs(30);

/// Where snapshots are kept.
pub enum Shelf {
    /// In the store, for every host over it.
    Store(Store),
    /// A file for each domain.
    Folder(PathBuf),
}

impl Shelf {
    /// The place of a configuration.
    pub fn new(store: Option<&Store>, config: &Config) -> Self {
        match store {
            Some(store) => Self::Store(store.clone()),
            None => Self::Folder(config.data.join(FOLDER)),
        }
    }

    /// Every snapshot there is.
    ///
    /// # Errors
    /// When the store does not answer, or a file cannot be read.
    pub async fn read(&self) -> anyhow::Result<Vec<TakenSnapshot>> {
        match self {
            Self::Store(store) => Ok(store.recall().snapshots().await?),
            Self::Folder(folder) => read_folder(folder),
        }
    }

    /// Takes a snapshot of what a catalogue is now.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub async fn take(&self, pack: &Pack, catalogue: &Catalogue, by: &str) -> anyhow::Result<()> {
        let snapshot = Snapshot::of(catalogue);
        match self {
            Self::Store(store) => {
                Ok(store.promote().take_snapshot(&pack.name, &snapshot, pack.hash, by).await?)
            }
            Self::Folder(folder) => {
                let taken = TakenSnapshot {
                    domain: pack.name.clone(),
                    snapshot,
                    pack: pack.hash,
                    taken_at: jiff::Timestamp::now(),
                    taken_by: by.to_owned(),
                };
                write(folder, &taken).with_context(|| format!("{} cannot be written", folder.display()))
            }
        }
    }
}

fn read_folder(folder: &Path) -> anyhow::Result<Vec<TakenSnapshot>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("the snapshot {} cannot be read", path.display()))?;
        match serde_json::from_str(&text) {
            Ok(taken) => found.push(taken),
            // It is as good as none: a host that serves takes another.
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "a snapshot is of another version or damaged")
            }
        }
    }
    Ok(found)
}

/// Whole or not at all: a host that is killed in the middle leaves the snapshot there was.
fn write(folder: &Path, taken: &TakenSnapshot) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (file, next) = (format!("{}.json", taken.domain), format!("{}.next", taken.domain));
    std::fs::write(folder.join(&next), serde_json::to_vec(taken)?)?;
    std::fs::rename(folder.join(next), folder.join(file))
}

/// Gives a host its snapshots. One that serves takes what is missing: of a domain that has none, or whose pack is another
/// one than when it was taken. What drifted by then stays drift: a word changed in a note accepts no schema.
pub async fn begin(host: &Host, open: &OpenStore, config: &Config, purpose: Purpose) {
    let shelf = Shelf::new(open.store(), config);
    let done = async {
        let known: BTreeMap<_, TakenSnapshot> =
            shelf.read().await?.into_iter().map(|taken| (taken.domain.clone(), taken)).collect();
        if purpose == Purpose::Serve {
            for domain in host.domains() {
                let stands = known.get(domain.name()).is_some_and(|taken| {
                    taken.pack == domain.pack().hash || !taken.snapshot.drift(domain.catalogue()).is_empty()
                });
                if !stands {
                    shelf.take(domain.pack(), domain.catalogue(), "airlock serve").await?;
                }
            }
        }
        host.set_snapshots(shelf.read().await?);
        anyhow::Ok(())
    };
    if let Err(error) = done.await {
        tracing::warn!(%error, "drift is not told: the snapshots of the domains cannot be had");
    }
}

/// Follows the schemas, and what is accepted elsewhere, for ever: metrics tell of a change that nobody asked about.
pub async fn follow(service: Service) {
    let shelf = Shelf::new(service.store.as_ref(), &service.config);
    loop {
        tokio::time::sleep(EVERY).await;
        service.host.look_at_sources().await;
        match shelf.read().await {
            Ok(snapshots) => service.host.set_snapshots(snapshots),
            Err(error) => tracing::debug!(%error, "the snapshots could not be read"),
        }
    }
}

/// A pack and its catalogue of now beside the snapshot, whether or not the pack still fits.
pub struct Look {
    /// The pack.
    pub pack: Pack,
    /// The catalogue of now.
    pub catalogue: Arc<Catalogue>,
    /// How the two stand.
    pub drift: DomainDrift,
}

/// Looks at some packs.
///
/// # Errors
/// When a source or the store does not answer.
pub async fn look(config: &Config, open: &OpenStore, packs: Vec<Pack>) -> anyhow::Result<Vec<Look>> {
    let snapshots = Shelf::new(open.store(), config).read().await?;
    let (mut sources, mut looks): (BTreeMap<String, Source>, _) = (BTreeMap::new(), Vec::new());
    for pack in packs {
        let source = boot::source(config, &mut sources, &pack).await?;
        let unread = || format!("the data source of `{}` cannot be read", pack.name);
        let scope = airlock_pipeline::domain::scope(&pack);
        let catalogue = Arc::new(source.catalogue(&scope).await.with_context(unread)?);
        let items = match open.store() {
            Some(store) => store.recall().active(&pack.name).await?.1,
            None => Vec::new(),
        };
        let learned: Vec<(String, &Content)> =
            items.iter().map(|item| (item.id.to_string(), &item.content)).collect();
        let taken = snapshots.iter().find(|taken| taken.domain == pack.name);
        let lost = pack.bind_what_holds(&catalogue).1;
        let drift = DomainDrift::of(&pack, &catalogue, taken, &learned, lost);
        looks.push(Look { pack, catalogue, drift });
    }
    Ok(looks)
}

/// How the domain of one pack stands, for a command about something else: where it cannot be told, the log says why.
pub async fn of_pack(config: &Config, pack: &Pack) -> Option<DomainDrift> {
    let told = async {
        let open = store::open(config, Purpose::Command).await?;
        let looked = look(config, &open, vec![pack.clone()]).await;
        open.close().await?;
        looked
    };
    match told.await {
        Ok(looks) => looks.into_iter().next().map(|look| look.drift),
        Err(error) => {
            tracing::warn!(domain = %pack.name, %error, "drift is not told");
            None
        }
    }
}

/// Drift in lines for a person.
pub fn in_words(drift: &DomainDrift) -> String {
    let Some(since) = drift.since else {
        return format!(
            "{}: there is no snapshot to tell drift against{}",
            drift.domain,
            lost_in_words(drift)
        );
    };
    let since = format!(
        "{} (taken by {})",
        since.strftime("%Y-%m-%d %H:%M UTC"),
        drift.taken_by.as_deref().unwrap_or("somebody")
    );
    let mut text = match (drift.changes.is_empty(), drift.lost.is_empty()) {
        (true, true) => return format!("{}: no drift since {since}", drift.domain),
        (true, false) => {
            format!("{}: no drift since {since}; the pack names what is not there", drift.domain)
        }
        (false, _) => format!("{}: drifted since {since}", drift.domain),
    };
    for change in &drift.changes {
        text.push_str(&format!("\n  {change}"));
    }
    text.push_str(&lost_in_words(drift));
    for marked in &drift.marked {
        let mut what = Vec::new();
        if marked.note {
            what.push("its note".to_owned());
        }
        for (word, ids) in [("example", &marked.examples), ("lesson", &marked.lessons)] {
            match ids.as_slice() {
                [] => {}
                [one] => what.push(format!("the {word} {one}")),
                several => what.push(format!("the {word}s {}", several.join(", "))),
            }
        }
        if !what.is_empty() {
            text.push_str(&format!("\n  resting on {}: {}", marked.table, what.join("; ")));
        }
    }
    text
}

/// What of the pack is left out, a line each.
fn lost_in_words(drift: &DomainDrift) -> String {
    let PackReport { problems, dropped } = &drift.lost;
    let mut text: String = problems.iter().map(|problem| format!("\n  left out: {problem}")).collect();
    if *dropped > 0 {
        text.push_str(&format!("\n  left out: {dropped} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use airlock_types::ContentHash;

    use super::*;

    #[test]
    fn a_snapshot_in_a_folder_is_read_back_and_what_is_none_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_folder(&folder.path().join("none")).unwrap().is_empty());
        let taken = TakenSnapshot {
            domain: "shop".parse().unwrap(),
            snapshot: Snapshot::default(),
            pack: ContentHash::of("pack"),
            taken_at: jiff::Timestamp::UNIX_EPOCH,
            taken_by: "somebody".to_owned(),
        };
        write(folder.path(), &taken).unwrap();
        write(folder.path(), &taken).unwrap();
        std::fs::write(folder.path().join("other.json"), "{").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
        assert_eq!(read_folder(folder.path()).unwrap(), [taken]);
    }
}
