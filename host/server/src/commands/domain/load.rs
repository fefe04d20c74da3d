//! `airlock domain load`: packs into the store, and how well each golden question finds the tables it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use airlock_knowledge::store::PackLoad;
use airlock_knowledge::{Pack, PackReport};
use airlock_pipeline::Domain;
use serde_json::{Value, json};

use super::{keep, refuse};
use crate::commands::present;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::{self, Purpose};
use crate::{boot, output};

/// A pack that fits its source, and its files.
struct Opened {
    domain: Domain,
    files: Vec<(String, Vec<u8>)>,
}

/// Tables that are looked through for those a question needs.
const DEPTH: usize = 50;

/// Loads packs: all of them, or none when one is wrong.
///
/// # Errors
/// When a data source or the store does not answer.
pub async fn run(dirs: &[PathBuf], config: &Config, json: bool) -> anyhow::Result<Exit> {
    let dirs = match dirs {
        [] => boot::packs(config)?.iter().map(|pack| config.domains.join(pack.name.as_str())).collect(),
        given => given.to_vec(),
    };
    for dir in &dirs {
        present(dir)?;
    }
    let (mut read, mut problems) = (Vec::new(), PackReport::default());
    for dir in &dirs {
        let (whole, report) = Pack::read_what_holds(dir);
        read.extend(whole);
        problems = problems.and(report);
    }
    let mut names = BTreeSet::new();
    if let Some((pack, _)) = read.iter().find(|(pack, _)| !names.insert(pack.name.clone())) {
        return Err(usage(format!("two of the packs are called `{}`: load one of them", pack.name)));
    }
    let (mut sources, mut opened) = (BTreeMap::new(), Vec::new());
    for (pack, files) in read {
        if !config.sources.contains_key(&pack.settings.source) {
            return Err(usage(format!(
                "domain `{}` reads the source `{}`, and there is no [sources.{}] in the configuration",
                pack.name, pack.settings.source, pack.settings.source
            )));
        }
        match boot::open_whole(config, &mut sources, &pack).await? {
            Ok(domain) => opened.push(Opened { domain, files }),
            Err(report) => problems = problems.and(report),
        }
    }
    if !problems.is_empty() {
        return refuse(&problems, json);
    }
    let open = store::open(config, Purpose::Serve).await?;
    let loaded = load(config, &open, &opened, json).await;
    open.close().await?;
    loaded
}

async fn load(
    config: &Config,
    open: &store::OpenStore,
    opened: &[Opened],
    as_json: bool,
) -> anyhow::Result<Exit> {
    let Some(store) = open.store() else {
        return Err(usage(
            "there is no store to load into: configure [store], or install PostgreSQL's server",
        ));
    };
    let by = std::env::var("USER").ok().filter(|user| !user.trim().is_empty());
    let by = format!("{} by `airlock domain load`", by.as_deref().unwrap_or("somebody"));
    for Opened { domain, files } in opened {
        let pack = domain.pack();
        let kept = keep::before_load(config, &store.promote(), &pack.name).await?;
        let load = PackLoad { pack, files, examples: domain.verified_examples(), by: &by };
        let (loaded, is_new) = store.promote().load_pack(&load).await?;
        let ranks: Vec<Rank> = pack.golden.iter().filter_map(|case| Rank::of(domain, case)).collect();
        if as_json {
            let golden: Vec<Value> = ranks.iter().map(Rank::json).collect();
            output::json(&json!({
                "domain": loaded.domain, "hash": loaded.hash, "loaded_at": loaded.loaded_at.to_string(), "new": is_new,
                "examples": loaded.examples, "lessons": loaded.lessons, "golden": golden,
                "snapshot": kept,
            }))?;
            continue;
        }
        let how = if is_new { "loaded" } else { "was loaded before, unchanged" };
        output::line(format!(
            "{}  {}  {how}: {} examples, {} lessons",
            loaded.domain,
            loaded.hash.short(),
            loaded.examples,
            loaded.lessons
        ))?;
        if let Some(file) = &kept {
            output::line(format!("  what was curated until now is in {}", file.display()))?;
        }
        if !ranks.is_empty() {
            output::line("  worst rank of the tables that a golden question needs, by its words alone:")?;
        }
        for rank in &ranks {
            output::line(format!("  {rank}"))?;
        }
    }
    Ok(Exit::Done)
}

/// Where the tables that a golden question needs stand among those that are near to it.
struct Rank {
    id: String,
    question: String,
    tables: Vec<(String, Option<usize>)>,
}

impl Rank {
    fn of(domain: &Domain, case: &airlock_knowledge::pack::GoldenCase) -> Option<Self> {
        let approved = domain.gate().check(&case.sql.as_ref()?.value).ok()?;
        let near = domain.knowledge().tables(case.question.as_str(), DEPTH);
        let tables = approved.facts().tables.iter().map(|table| {
            let at = near.iter().position(|hit| hit.table == *table);
            (table.to_string(), at.map(|at| at + 1))
        });
        Some(Self {
            id: case.id.value.clone(),
            question: case.question.as_str().to_owned(),
            tables: tables.collect(),
        })
    }

    /// The worst of its tables; `None` when one is not near at all.
    fn worst(&self) -> Option<usize> {
        self.tables.iter().map(|(_, at)| *at).try_fold(0, |worst, at| Some(worst.max(at?)))
    }

    fn json(&self) -> Value {
        let tables: Vec<Value> =
            self.tables.iter().map(|(table, rank)| json!({"table": table, "rank": rank})).collect();
        json!({"id": self.id, "question": self.question, "worst": self.worst(), "tables": tables})
    }
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.worst() {
            Some(worst) => write!(f, "{worst:>4}")?,
            None => f.write_str("none")?,
        }
        write!(f, "  {}: {}  (", self.id, self.question)?;
        for (at, (table, rank)) in self.tables.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            match rank {
                Some(rank) => write!(f, "{comma}{table} {rank}")?,
                None => write!(f, "{comma}{table} not found: say in its notes what it is for")?,
            }
        }
        f.write_str(")")
    }
}
