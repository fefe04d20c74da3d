//! `airlock domain list`: the packs of the configuration and what the store has of each domain.

use std::collections::BTreeMap;

use airlock_knowledge::Pack;
use airlock_knowledge::store::{KindCount, LoadedPack};
use airlock_types::DomainName;
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::exit::Exit;
use crate::store::{self, Purpose};
use crate::{boot, output};

/// Lists the domains.
///
/// # Errors
/// When a pack cannot be read, or the store does not answer.
pub async fn run(config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let packs: BTreeMap<DomainName, Pack> =
        boot::packs(config)?.into_iter().map(|pack| (pack.name.clone(), pack)).collect();
    let open = store::open(config, Purpose::Command).await?;
    let found = match open.store() {
        Some(store) => match tokio::try_join!(async { store.recall().current_packs().await }, async {
            store.promote().counts(None).await
        }) {
            Ok(found) => Some(found),
            // The packs can be listed all the same.
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "what was loaded and learned is not shown");
                None
            }
            Err(error) => {
                open.close().await?;
                return Err(error.into());
            }
        },
        None => None,
    };
    open.close().await?;
    let (loaded, counts) = found.unwrap_or_default();
    let loaded: BTreeMap<DomainName, LoadedPack> =
        loaded.into_iter().map(|pack| (pack.domain.clone(), pack)).collect();
    let mut names: Vec<&DomainName> = packs.keys().chain(loaded.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (pack, loaded) = (packs.get(name), loaded.get(name));
        let counts: Vec<&KindCount> = counts.iter().filter(|count| count.domain == *name).collect();
        if as_json {
            output::json(&line_json(name, pack, loaded, &counts))?;
        } else {
            output::line(line(name, pack, loaded, &counts))?;
        }
    }
    Ok(Exit::Done)
}

/// Counts by kind and state, whatever they came from.
fn sums(counts: &[&KindCount]) -> BTreeMap<(&'static str, String), i64> {
    let mut sums = BTreeMap::new();
    for count in counts {
        *sums.entry((count.kind.as_str(), count.state.clone())).or_default() += count.count;
    }
    sums
}

fn line_json(
    name: &DomainName,
    pack: Option<&Pack>,
    loaded: Option<&LoadedPack>,
    counts: &[&KindCount],
) -> Value {
    let mut by_kind: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for ((kind, state), count) in sums(counts) {
        by_kind.entry(kind).or_default().insert(state, count.into());
    }
    json!({
        "domain": name,
        "title": pack.map(|pack| pack.settings.title.as_str()).or(loaded.map(|loaded| loaded.title.as_str())),
        "source": pack.map(|pack| pack.settings.source.as_str()).or(loaded.map(|loaded| loaded.source.as_str())),
        "hash": pack.map(|pack| pack.hash),
        "loaded": loaded.map(|loaded| json!({
            "hash": loaded.hash, "at": loaded.loaded_at.to_string(), "by": loaded.loaded_by,
            "examples": loaded.examples, "lessons": loaded.lessons,
        })),
        "learned": by_kind,
    })
}

fn line(
    name: &DomainName,
    pack: Option<&Pack>,
    loaded: Option<&LoadedPack>,
    counts: &[&KindCount],
) -> String {
    let mut line = match pack {
        Some(pack) => format!("{name}  {}  {}", pack.hash.short(), pack.settings.title),
        None => format!("{name}  (not among the packs of this configuration)"),
    };
    match loaded {
        Some(loaded) if pack.is_some_and(|pack| pack.hash == loaded.hash) => {
            line.push_str(&format!(
                "\n  loaded {} by {}",
                loaded.loaded_at.strftime("%Y-%m-%d %H:%M UTC"),
                loaded.loaded_by
            ));
        }
        Some(loaded) => line.push_str(&format!(
            "\n  loaded is another one: {} of {} by {}",
            loaded.hash.short(),
            loaded.loaded_at.strftime("%Y-%m-%d %H:%M UTC"),
            loaded.loaded_by
        )),
        None => {}
    }
    let sums: Vec<String> =
        sums(counts).into_iter().map(|((kind, state), count)| format!("{count} {kind} {state}")).collect();
    if !sums.is_empty() {
        line.push_str(&format!("\n  learned: {}", sums.join(", ")));
    }
    line
}
