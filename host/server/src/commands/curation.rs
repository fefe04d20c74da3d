//! What every command on stored knowledge shares: the store and the domain, lists, decisions and their conflicts.

use std::collections::BTreeMap;

use airlock_knowledge::promotion::{Unshaped, well_shaped};
use airlock_knowledge::store::{
    Candidate, Content, Curation, Decided, Decision, Filter, Kind, Mode, Order, Origin, Promote, Store,
    StoreError,
};
use airlock_pipeline::Domain;
use airlock_types::DomainName;
use serde_json::{Value, json};

use crate::cli::{Decide, List, Of, One, Shelf};
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::{self, OpenStore, Purpose};
use crate::{boot, output};

/// The store and a domain of it, for one command.
pub struct Curator<'a> {
    config: &'a Config,
    open: OpenStore,
    store: Store,
    /// The domain.
    pub domain: DomainName,
    json: bool,
}

/// What a decision does.
pub enum Action {
    /// A candidate becomes curated.
    Promote,
    /// A candidate is refused.
    Reject,
    /// A curated item leaves service.
    Demote,
    /// A curated item comes back.
    Restore,
}

impl<'a> Curator<'a> {
    /// Opens the store for a domain.
    ///
    /// # Errors
    /// When there is no store, or no such domain.
    pub async fn open(config: &'a Config, of: &Of, json: bool) -> anyhow::Result<Self> {
        let domain = match &of.domain {
            Some(domain) => domain.clone(),
            None => only_domain(config)?,
        };
        let open = store::open(config, Purpose::Command).await?;
        let Some(store) = open.store().cloned() else {
            open.close().await?;
            return Err(usage(
                "there is no knowledge store: configure [store], or start `airlock serve` once",
            ));
        };
        Ok(Self { config, open, store, domain, json })
    }

    /// The store.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The gate's handle.
    pub fn promote(&self) -> Promote {
        self.store.promote()
    }

    /// Closes the store after what was done with it.
    ///
    /// # Errors
    /// What was done, or the store's end.
    pub async fn close<T>(self, done: anyhow::Result<T>) -> anyhow::Result<T> {
        let closed = self.open.close().await;
        let done = done?;
        closed?;
        Ok(done)
    }

    /// The domain over its source: for what its gate must say.
    ///
    /// # Errors
    /// When there is no pack of it here, or its source does not answer.
    pub async fn live(&self) -> anyhow::Result<Domain> {
        let pack = boot::packs(self.config)?.into_iter().find(|pack| pack.name == self.domain);
        let pack =
            pack.ok_or_else(|| usage(format!("there is no pack of the domain `{}` here", self.domain)))?;
        boot::open(self.config, &mut BTreeMap::new(), &pack).await
    }

    /// Lists what is proposed and what is curated.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list(&self, kind: Kind, list: &List) -> anyhow::Result<Exit> {
        let shelf = list.shelf().map_err(usage)?;
        let order = if list.newest { Order::NewestFirst } else { Order::OldestFirst };
        let (promote, domain) = (self.promote(), Some(self.domain.clone()));
        let (candidates, curated) = match shelf {
            Shelf::Both => (Some(None), Some(None)),
            Shelf::Candidates(state) => (Some(Some(state)), None),
            Shelf::Curated(state) => (None, Some(Some(state))),
        };
        let (kind, origin, limit, after) = (Some(kind), list.source, list.limit, list.after);
        if let Some(state) = candidates {
            let filter = Filter { domain: domain.clone(), kind, state, origin, order, limit, after };
            for candidate in promote.candidates(&filter).await.map_err(failure)? {
                self.show_candidate(&candidate, false)?;
            }
        }
        if let Some(state) = curated {
            let filter = Filter { domain, kind, state, origin, order, limit, after };
            for item in promote.curations(&filter).await.map_err(failure)? {
                self.show_curated(&item, false)?;
            }
        }
        Ok(Exit::Done)
    }

    /// Shows one item, on whichever shelf it is.
    ///
    /// # Errors
    /// When there is none of this kind.
    pub async fn show(&self, kind: Kind, one: &One) -> anyhow::Result<Exit> {
        match self.promote().candidate(&self.domain, one.id).await {
            Ok(candidate) if candidate.kind == kind => self.show_candidate(&candidate, true)?,
            Ok(candidate) => return Err(usage(format!("`{}` is of kind {}", one.id, candidate.kind))),
            Err(StoreError::NotFound { .. }) => {
                let item = self.promote().curated(&self.domain, one.id).await.map_err(failure)?;
                if item.content.kind() != kind {
                    return Err(usage(format!("`{}` is of kind {}", one.id, item.content.kind())));
                }
                self.show_curated(&item, true)?;
            }
            Err(error) => return Err(failure(error)),
        }
        Ok(Exit::Done)
    }

    /// Carries out a decision of a person.
    ///
    /// # Errors
    /// When the item is not there, or the store does not answer.
    pub async fn decide(&self, kind: Kind, decide: &Decide, action: &Action) -> anyhow::Result<Exit> {
        let (promote, domain, id, seen) = (self.promote(), &self.domain, decide.id, decide.hash);
        let by = by_person(&decide.why);
        let found = match action {
            Action::Promote | Action::Reject => {
                let candidate = promote.candidate(domain, id).await.map_err(failure)?;
                (candidate.kind, Some(candidate))
            }
            _ => (promote.curated(domain, id).await.map_err(failure)?.content.kind(), None),
        };
        if found.0 != kind {
            return Err(usage(format!("`{id}` is of kind {}", found.0)));
        }
        if let (Action::Promote, Some(candidate)) = (action, &found.1)
            && candidate.hash == seen
            && let Err(why) = self.fits(&candidate.content).await?
        {
            return self.refused(&why);
        }
        let decided = match action {
            Action::Promote => promote.promote(domain, id, seen, &by).await,
            Action::Reject => promote.reject(domain, id, seen, &by).await,
            Action::Demote => promote.demote(domain, id, seen, &by).await,
            Action::Restore => promote.restore(domain, id, seen, &by).await,
        };
        self.told(decided)
    }

    /// Whether what a person puts in service can be kept and may run.
    ///
    /// # Errors
    /// When the source does not answer.
    pub async fn fits(&self, content: &Content) -> anyhow::Result<Result<(), String>> {
        let live = self.live().await?;
        let gate = live.gate();
        let sql = |text: &str| gate.check(text).map(|_| ()).map_err(|rejection| rejection.message);
        Ok(well_shaped(content, Origin::Person, &Value::Null, &sql).map_err(|Unshaped(why)| why))
    }

    /// Says no.
    ///
    /// # Errors
    /// When stdout is gone.
    pub fn refused(&self, why: &str) -> anyhow::Result<Exit> {
        if self.json {
            output::json(&json!({"ok": false, "error": "refused", "message": why}))?;
        } else {
            eprintln!("refused: {why}");
        }
        Ok(Exit::No)
    }

    /// Tells what a decision did; of a conflict what is there now.
    ///
    /// # Errors
    /// Everything but a conflict.
    pub fn told(&self, decided: Result<Decided, StoreError>) -> anyhow::Result<Exit> {
        match decided {
            Ok(Decided { decision, candidate, curated }) => {
                if self.json {
                    let done =
                        json!({"ok": true, "decision": decision, "candidate": candidate, "curated": curated});
                    output::json(&done)?;
                } else {
                    let item = curated.or(candidate).map(|id| id.to_string()).unwrap_or_default();
                    output::line(format!("Done: {item} (decision {decision})"))?;
                }
                Ok(Exit::Done)
            }
            Err(error) if error.is_conflict() => {
                let now = match &error {
                    StoreError::Changed { now, content, .. } => Some((now, content)),
                    _ => None,
                };
                if self.json {
                    let (hash, content) = now.unzip();
                    let said = json!({"ok": false, "error": "conflict", "message": error.to_string(), "hash": hash, "content": content});
                    output::json(&said)?;
                } else {
                    eprintln!("conflict: {error}");
                    if let Some((_, content)) = now {
                        output::line(format!("It now says:\n{}", in_words(content)))?;
                    }
                }
                Ok(Exit::No)
            }
            Err(error) => Err(failure(error)),
        }
    }

    fn show_candidate(&self, candidate: &Candidate, whole: bool) -> anyhow::Result<()> {
        let Candidate { id, state, origin, hash, content, seen, made_at, .. } = candidate;
        if self.json {
            return output::json(&on_shelf("candidate", candidate)?);
        }
        output::line(format!("{id}  {state}, by {origin}, {made_at:.0}, seen {seen}"))?;
        if whole {
            output::line(format!("hash {hash}\nevidence {}", candidate.evidence))?;
        }
        output::line(in_words(content))
    }

    fn show_curated(&self, item: &Curation, whole: bool) -> anyhow::Result<()> {
        let Curation { id, state, origin, hash, content, made_at, .. } = item;
        if self.json {
            return output::json(&on_shelf("curated", item)?);
        }
        output::line(format!("{id}  {state}, by {origin}, {made_at:.0}"))?;
        if whole {
            output::line(format!("hash {hash}"))?;
        }
        output::line(in_words(content))
    }
}

/// An item as JSON, with the shelf it is on.
fn on_shelf(shelf: &str, item: &impl serde::Serialize) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(item)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("shelf".to_owned(), shelf.into());
    }
    Ok(value)
}

/// The only domain of a configuration.
fn only_domain(config: &Config) -> anyhow::Result<DomainName> {
    let packs = boot::packs(config)?;
    match packs.as_slice() {
        [pack] => Ok(pack.name.clone()),
        [] => Err(usage("--domain: name it: there is no pack here")),
        several => {
            let names: Vec<String> = several.iter().map(|pack| format!("`{}`", pack.name)).collect();
            Err(usage(format!("--domain: there are several, name one of {}", names.join(", "))))
        }
    }
}

/// What the user can mend apart from what the store cannot do now.
pub fn failure(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::NotFound { .. } | StoreError::Content(_) => usage(error),
        other => other.into(),
    }
}

/// Who decides at this command line.
pub fn person() -> String {
    let user = std::env::var("USER").ok().filter(|user| !user.trim().is_empty());
    user.map_or_else(|| "cli".to_owned(), |user| user.chars().take(200).collect())
}

/// A decision of a person.
pub fn by_person(why: &str) -> Decision {
    Decision::new(Mode::Person, &person(), why)
}

/// Content for a person to read, indented.
pub fn in_words(content: &Content) -> String {
    let said = match content {
        Content::Example(example) => format!("Q: {}\n{}", example.question, example.sql),
        Content::Lesson(lesson) if lesson.trigger.is_empty() => {
            format!("[{}] {}", lesson.kind.as_str(), lesson.text)
        }
        Content::Lesson(lesson) => format!("[{}] {}: {}", lesson.kind.as_str(), lesson.trigger, lesson.text),
        Content::Golden(golden) => {
            format!("Q: {}\n{}", golden.question, golden.sql.as_deref().unwrap_or("(must not be answered)"))
        }
    };
    said.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
