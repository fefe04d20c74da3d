//! `airlock domain diff`: what the store has beside a pack, as a patch of the pack's files on disk.

use std::collections::{BTreeMap, BTreeSet};

use airlock_knowledge::Pack;
use airlock_knowledge::pack::Addition;
use airlock_knowledge::store::{Content, Curation, CurationState, Filter, Kind, Origin, Store};
use airlock_types::DomainName;
use serde_json::json;

use super::patch::{appended, changed};
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::output;
use crate::store::{self, Purpose};

/// Prints the patch. The answer is no when there is any difference.
///
/// # Errors
/// When there is no store, it does not answer, or the pack on disk cannot be read.
pub async fn run(name: &DomainName, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let folder = config.domains.join(name.as_str());
    let disk: BTreeMap<String, Vec<u8>> = if folder.is_dir() {
        let (_, files) = Pack::read_with_files(&folder)
            .map_err(|report| usage(format!("the pack {} is wrong:\n{report}", folder.display())))?;
        files.into_iter().collect()
    } else {
        BTreeMap::new()
    };
    let open = store::open(config, Purpose::Command).await?;
    let compared = match open.store() {
        Some(store) => compare(name, store, &disk).await,
        None => Err(usage("there is no store to compare with: configure [store], or start a host once")),
    };
    open.close().await?;
    let Compared { against_disk, changed_files, learned, proposed } = compared?;
    let none = against_disk.is_empty() && learned.is_empty() && proposed.is_empty();
    if as_json {
        output::json(&json!({
            "domain": name, "loaded_against_disk": against_disk, "learned": learned, "proposed": proposed,
        }))?;
    } else {
        // What leads from the loaded pack to the one on disk cannot be applied to the one on disk: told, and no patch.
        if !changed_files.is_empty() {
            output::remark(
                "note",
                format_args!(
                    "the pack on disk is not the one that was loaded, which `airlock domain load` changes: {}",
                    changed_files.join(", ")
                ),
            );
        }
        for (what, patch) in [
            ("what was learned beside the pack", &learned),
            ("what use suggests for the pack; nothing of it is in force", &proposed),
        ] {
            if !patch.is_empty() {
                output::line(format!("# {what}"))?;
                output::line(patch.trim_end_matches('\n'))?;
            }
        }
    }
    Ok(if none { Exit::Done } else { Exit::No })
}

/// Patches of a pack's files.
struct Compared {
    /// From the pack that was loaded to the one on disk.
    against_disk: String,
    /// The files that it is about.
    changed_files: Vec<String>,
    /// From the one on disk to the same with what was learned.
    learned: String,
    /// To the same with what is only proposed.
    proposed: String,
}

async fn compare(
    name: &DomainName,
    store: &Store,
    disk: &BTreeMap<String, Vec<u8>>,
) -> anyhow::Result<Compared> {
    let loaded = store.recall().current_pack(name).await?;
    if loaded.is_none() && disk.is_empty() {
        return Err(usage(format!("there is no domain `{name}`, neither on disk nor in the store")));
    }
    let (mut against_disk, mut changed_files) = (String::new(), Vec::new());
    if let Some(loaded) = loaded {
        let kept = store.recall().pack_files(name, loaded.hash).await?;
        let kept: BTreeMap<&str, &[u8]> =
            kept.iter().filter_map(|file| Some((file.path.as_str(), file.content.as_deref()?))).collect();
        let mut paths: Vec<&str> = kept.keys().copied().chain(disk.keys().map(String::as_str)).collect();
        paths.sort_unstable();
        paths.dedup();
        // What makes a demo's database is hashed and not kept.
        for path in paths.into_iter().filter(|path| !path.starts_with("db/")) {
            let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let (before, after) = (text(kept.get(path).copied()), text(disk.get(path).map(Vec::as_slice)));
            let patch = changed(path, before.as_deref(), after.as_deref());
            if !patch.is_empty() {
                changed_files.push(path.to_owned());
                against_disk.push_str(&patch);
            }
        }
    }
    let mut learned = String::new();
    // A pack keeps its verified examples in its golden cases. A question stands there once: the case that an admin promoted
    // goes before the example.
    for (path, kind) in
        [("golden.jsonl", [Kind::Golden, Kind::Example].as_slice()), ("lessons.toml", &[Kind::Lesson])]
    {
        let now = disk.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let mut asked = Asked::of(now.as_deref().unwrap_or_default());
        let mut lines = String::new();
        for kind in kind {
            for item in active(store, name, *kind).await? {
                if asked.is_new(&item.content) {
                    lines.push_str(&entry(&item));
                }
            }
        }
        learned.push_str(&appended(path, now.as_deref(), &lines));
    }
    Ok(Compared { against_disk, changed_files, learned, proposed: proposed(name, store, disk).await? })
}

/// Words, terms and joins that mining found in how the domain is used and that still wait, unless the pack has them.
async fn proposed(
    name: &DomainName,
    store: &Store,
    disk: &BTreeMap<String, Vec<u8>>,
) -> anyhow::Result<String> {
    let mut filter =
        Filter { domain: Some(name.clone()), origin: Some(Origin::Mined), limit: 1_000, ..Filter::default() };
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let now = |file: &str| disk.get(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    loop {
        let page = store.promote().candidates(&filter).await?;
        for candidate in page.iter().filter(|candidate| candidate.state.waits()) {
            let adds = candidate.evidence.get("adds").cloned().unwrap_or_default();
            let Ok(addition) = serde_json::from_value::<Addition>(adds) else { continue };
            let text = match files.get(addition.file()) {
                Some(text) => text.clone(),
                None => now(addition.file()).unwrap_or_default(),
            };
            if let Some(text) = addition.added(&text) {
                files.insert(addition.file(), text);
            }
        }
        let Some(last) = page.last() else { break };
        filter.after = Some(last.id);
    }
    Ok(files.iter().map(|(file, text)| changed(file, now(file).as_deref(), Some(text))).collect())
}

async fn active(store: &Store, name: &DomainName, kind: Kind) -> anyhow::Result<Vec<Curation>> {
    let mut filter = Filter {
        domain: Some(name.clone()),
        kind: Some(kind),
        state: Some(CurationState::Active),
        limit: 1_000,
        ..Filter::default()
    };
    let mut items = Vec::new();
    loop {
        let page = store.promote().curations(&filter).await?;
        let Some(last) = page.last() else { return Ok(items) };
        filter.after = Some(last.id);
        items.extend(page);
    }
}

/// The questions that a pack's golden cases ask.
struct Asked(BTreeSet<String>);

impl Asked {
    fn of(golden: &str) -> Self {
        let lines = golden.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        Self(lines.filter_map(|case| Some(plain(case.get("question")?.as_str()?))).collect())
    }

    /// Whether an item asks nothing that is asked already; from now on it is.
    fn is_new(&mut self, content: &Content) -> bool {
        match content {
            Content::Example(example) => self.0.insert(plain(&example.question)),
            Content::Golden(golden) => self.0.insert(plain(&golden.question)),
            Content::Lesson(_) => true,
        }
    }
}

fn plain(question: &str) -> String {
    question.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// An item as the pack's file spells it.
fn entry(item: &Curation) -> String {
    let short: String =
        item.id.to_string().chars().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect();
    match &item.content {
        Content::Example(example) => {
            format!(
                "{}\n",
                json!({"id": format!("learned-{short}"), "question": example.question, "sql": example.sql})
            )
        }
        Content::Golden(golden) => {
            let mut line = json!({"id": format!("learned-{short}"), "question": golden.question});
            if let Some(fields) = line.as_object_mut() {
                match &golden.sql {
                    Some(sql) => fields.insert("sql".to_owned(), json!(sql)),
                    None => fields.insert("outcome".to_owned(), json!("refused")),
                };
                if !golden.accepted_sql.is_empty() {
                    fields.insert("accepted_sql".to_owned(), json!(golden.accepted_sql));
                }
                if golden.ordered {
                    fields.insert("ordered".to_owned(), json!(true));
                }
                if let Some(now) = &golden.now {
                    fields.insert("now".to_owned(), json!(now));
                }
            }
            format!("{line}\n")
        }
        Content::Lesson(lesson) => {
            let text = |text: &str| toml::Value::from(text).to_string();
            let mut out = format!(
                "\n[[lesson]]\nkind = {}\ntext = {}\n",
                text(lesson.kind.as_str()),
                text(&lesson.text)
            );
            if !lesson.trigger.is_empty() {
                out.push_str(&format!("trigger = {}\n", text(&lesson.trigger)));
            }
            if !lesson.tags.is_empty() {
                out.push_str(&format!("tags = {}\n", toml::Value::from(lesson.tags.clone())));
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use airlock_knowledge::store::ExampleContent;

    use super::*;

    #[test]
    fn a_question_stands_among_the_golden_cases_once() {
        let mut asked = Asked::of(r#"{"id": "a", "question": "How many bills?", "sql": "SELECT 1"}"#);
        for (question, want) in
            [("how  many BILLS?", false), ("How many shops?", true), ("How many shops?", false)]
        {
            let (question, sql) = (question.to_owned(), "SELECT 2".to_owned());
            let content: Content = ExampleContent { question, sql, scope: Vec::new() }.into();
            assert_eq!(asked.is_new(&content), want, "{content:?}");
        }
    }
}
