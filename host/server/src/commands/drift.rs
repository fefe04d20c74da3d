//! `airlock drift`: the schema of now held against the one that people wrote about.

use airlock_knowledge::Pack;
use airlock_pipeline::DomainDrift;
use serde_json::{Value, json};

use super::curation::person;
use crate::cli::Drift;
use crate::config::Config;
use crate::drift::{Look, Shelf, in_words, look};
use crate::exit::{Exit, usage};
use crate::store::{self, OpenStore, Purpose};
use crate::{boot, output};

/// Tells drift, or accepts it.
///
/// # Errors
/// When a source or the store does not answer, or there is nothing to tell it against.
pub async fn run(options: Drift, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let packs = chosen(boot::packs(config)?, options.domain.as_deref())?;
    if packs.is_empty() {
        return Err(usage(format!(
            "there is no domain to look at: {} holds no pack whose source is configured under [sources]",
            config.domains.display()
        )));
    }
    let open = store::open(config, Purpose::Command).await?;
    let told = tell(&options, config, &open, packs, as_json).await;
    open.close().await?;
    told
}

fn chosen(packs: Vec<Pack>, name: Option<&str>) -> anyhow::Result<Vec<Pack>> {
    let Some(name) = name else { return Ok(packs) };
    let names = packs.iter().map(|pack| pack.name.to_string()).collect::<Vec<_>>().join(", ");
    let chosen: Vec<Pack> = packs.into_iter().filter(|pack| pack.name.as_str() == name).collect();
    if chosen.is_empty() {
        return Err(usage(format!("--domain: name one of the domains that are configured: {names}")));
    }
    Ok(chosen)
}

async fn tell(
    options: &Drift,
    config: &Config,
    open: &OpenStore,
    packs: Vec<Pack>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let looks = look(config, open, packs).await?;
    let shelf = Shelf::new(open.store(), config);
    let (mut drifted, mut unknown) = (false, Vec::new());
    for Look { pack, catalogue, drift } in &looks {
        if options.accept && catalogue.iter().next().is_none() {
            return Err(usage(format!(
                "{}: the reader sees no relation at all, which is a grant that went rather than a schema to accept: mend it first",
                pack.name
            )));
        }
        if options.accept {
            shelf.take(pack, catalogue, &person()).await?;
        } else {
            drifted |= drift.drifted();
            unknown.extend(drift.since.is_none().then(|| pack.name.to_string()));
        }
        if as_json {
            output::json(&line(drift, options.accept))?;
        } else {
            output::line(in_words(drift))?;
            if options.accept {
                output::line(match drift.since {
                    Some(_) => "  accepted: a new snapshot was taken",
                    None => "  accepted: the first snapshot was taken",
                })?;
                if let Some(left) = left(drift) {
                    output::line(format!("  {left}"))?;
                }
            }
        }
    }
    if unknown.is_empty() {
        return Ok(if drifted { Exit::No } else { Exit::Done });
    }
    let untold = format!(
        "nobody knows whether {} drifted: `airlock serve` takes a snapshot when it starts, and so does `airlock drift --accept`",
        unknown.join(", ")
    );
    if drifted {
        output::remark("note", untold);
        return Ok(Exit::No);
    }
    Err(usage(untold))
}

/// What no acceptance changes: a snapshot is of the schema, and the pack names what the schema has not.
fn left(drift: &DomainDrift) -> Option<String> {
    let count = drift.lost.problems.len() + drift.lost.dropped;
    (count > 0).then(|| {
        format!("the pack still names what is not there ({count} of its parts), and `airlock drift` says so until it does not: mend the pack")
    })
}

fn line(drift: &DomainDrift, accepted: bool) -> Value {
    let mut line = json!(drift);
    if let Value::Object(fields) = &mut line {
        fields.insert("drifted".to_owned(), drift.drifted().into());
        fields.insert("accepted".to_owned(), accepted.into());
        if let Some(left) = left(drift).filter(|_| accepted) {
            fields.insert("note".to_owned(), left.into());
        }
    }
    line
}
