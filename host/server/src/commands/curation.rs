//! What every command on stored knowledge shares: the store and the domain, lists, decisions and their conflicts.

use std::collections::BTreeMap;
use std::io::Read;

use airlock_knowledge::Pack;
use airlock_knowledge::pack::limits;
use airlock_knowledge::store::{
    Content, ContentError, Decided, Decision, ExampleContent, Kind, Mode, Order, Promote, Store, StoreError,
};
use airlock_pipeline::{Domain, DomainDrift};
use airlock_types::{DomainName, Strict};
use anyhow::Context;
use serde_json::json;

use super::domain::patch;
use crate::cli::{Decide, Edit, List, Of, One};
use crate::config::Config;
use crate::curation::{self, Action, Item, Listing, NotDecided, Shelf, Wanted};
use crate::exit::{Exit, usage};
use crate::store::{self, OpenStore, Purpose};
use crate::{boot, drift, output};

/// The store and a domain of it, for one command.
pub struct Curator<'a> {
    config: &'a Config,
    open: OpenStore,
    store: Store,
    /// The domain.
    pub domain: DomainName,
    json: bool,
}

/// What a person types of a decision.
#[derive(Clone, Copy)]
pub enum Verb {
    /// A candidate becomes curated.
    Promote,
    /// A candidate is refused.
    Reject,
    /// A curated item leaves service.
    Demote,
    /// A curated item comes back.
    Restore,
    /// A decision is taken back.
    SetBack,
}

impl<'a> Curator<'a> {
    /// Opens the store for a domain.
    ///
    /// # Errors
    /// When there is no store, or no such domain.
    pub async fn open(config: &'a Config, of: &Of, json: bool) -> anyhow::Result<Self> {
        let domain = match &of.domain {
            Some(domain) if boot::packs(config)?.iter().any(|pack| pack.name == *domain) => domain.clone(),
            Some(domain) => return Err(no_pack(domain)),
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
        let pack = pack.ok_or_else(|| no_pack(&self.domain))?;
        boot::open(self.config, &mut BTreeMap::new(), &pack).await
    }

    /// How the domain stands to what people wrote about.
    ///
    /// # Errors
    /// When the source or the store does not answer.
    pub async fn drift(&self, pack: &Pack) -> anyhow::Result<DomainDrift> {
        let looks = drift::look(self.config, &self.open, vec![pack.clone()]).await?;
        looks.into_iter().next().map(|look| look.drift).context("there was nothing to look at")
    }

    /// Lists what is proposed and what is curated.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn list(&self, kind: Kind, list: &List) -> anyhow::Result<Exit> {
        let shelf = match &list.state {
            Some(word) => word.parse().map_err(|error| usage(format!("--state: {error}")))?,
            None => Shelf::Both,
        };
        let order = if list.newest { Order::NewestFirst } else { Order::OldestFirst };
        let (domain, origin, limit, after) = (self.domain.clone(), list.source, list.limit, list.after);
        let listing = Listing { domain, kind, shelf, origin, order, limit, after };
        let (items, more) = curation::list(&self.promote(), &listing).await.map_err(failure)?;
        for item in &items {
            self.show_item(item, false)?;
        }
        match items.last() {
            Some(last) if more && !self.json => {
                output::remark("note", format_args!("there are more: go on with --after {}", last.id()));
            }
            _ => {}
        }
        Ok(Exit::Done)
    }

    /// Shows one item, on whichever shelf it is.
    ///
    /// # Errors
    /// When there is none of this kind.
    pub async fn show(&self, kind: Kind, one: &One) -> anyhow::Result<Exit> {
        let item = self.find(kind, one.id).await?;
        self.show_item(&item, true)?;
        Ok(Exit::Done)
    }

    async fn find(&self, kind: Kind, id: airlock_knowledge::store::ItemId) -> anyhow::Result<Item> {
        let item = curation::find(&self.promote(), &self.domain, id).await.map_err(failure)?;
        if item.kind() == kind {
            return Ok(item);
        }
        Err(usage(NotDecided::OtherKind { id, kind: item.kind() }))
    }

    /// Carries out a decision of a person.
    ///
    /// # Errors
    /// When the item is not there, or the store does not answer.
    pub async fn decide(&self, kind: Kind, decide: &Decide, verb: Verb) -> anyhow::Result<Exit> {
        let live = match verb {
            Verb::Promote | Verb::Restore => Some(self.live().await?),
            Verb::Reject | Verb::Demote | Verb::SetBack => None,
        };
        let action = match (verb, &live) {
            (Verb::Promote, Some(live)) => Action::Promote(live),
            (Verb::Restore, Some(live)) => Action::Restore(live),
            (Verb::Demote, _) => Action::Demote,
            (Verb::SetBack, _) => Action::SetBack,
            _ => Action::Reject,
        };
        self.carry_out(kind, decide, action).await
    }

    /// Changes what an item says, and shows the change.
    ///
    /// # Errors
    /// As [`Curator::decide`], and when the content is none.
    pub async fn edit(&self, kind: Kind, edit: &Edit) -> anyhow::Result<Exit> {
        let text = match edit.content.as_str() {
            "-" => stdin()?,
            file => {
                let unread = |error| usage(format!("--content: {file} cannot be read: {error}"));
                bounded(std::fs::File::open(file).map_err(unread)?).map_err(unread)?
            }
        };
        let Strict(value) = serde_json::from_str(&text)
            .map_err(|error| usage(format!("--content: it is not JSON: {error}")))?;
        let content = match Content::parse(kind, &value) {
            Ok(content) => content,
            Err(error) => return self.unfit(&error),
        };
        let before = self.find(kind, edit.decide.id).await?;
        let change = change(before.content(), &content);
        if before.hash() == edit.decide.hash && change.is_empty() {
            return Err(usage("--content: it says what it said before"));
        }
        let live = self.live().await?;
        let decided = self.decided(kind, &edit.decide, Action::Edit(&live, content)).await;
        // After it was made: whoever stops reading must not be what keeps it from being made.
        if decided.is_ok() && !self.json {
            output::line(change.trim_end())?;
        }
        self.told(decided)
    }

    async fn carry_out(&self, kind: Kind, decide: &Decide, action: Action<'_>) -> anyhow::Result<Exit> {
        self.told(self.decided(kind, decide, action).await)
    }

    async fn decided(&self, kind: Kind, decide: &Decide, action: Action<'_>) -> Result<Decided, NotDecided> {
        let (domain, by) = (&self.domain, by_person(&decide.why));
        let wanted = Wanted { domain, kind, id: decide.id, seen: decide.hash, by: &by };
        curation::decide(&self.promote(), &wanted, action).await
    }

    /// Curates an example of a person's own.
    ///
    /// # Errors
    /// When it cannot be kept, or the store does not answer.
    pub async fn author(&self, example: ExampleContent, why: &str) -> anyhow::Result<Exit> {
        let live = self.live().await?;
        let decided = curation::author(&self.promote(), &live, example, &by_person(why)).await;
        self.told(decided)
    }

    /// Says no to content that must not be kept. What is no content at all, and a reason that is none, are mistakes of the
    /// command line.
    ///
    /// # Errors
    /// For such a mistake, and when stdout is gone.
    fn unfit(&self, error: &ContentError) -> anyhow::Result<Exit> {
        match error.field() {
            "content" | "why" => Err(usage(error)),
            _ => self.refused(&error.to_string()),
        }
    }

    /// Says no.
    ///
    /// # Errors
    /// When stdout is gone.
    fn refused(&self, why: &str) -> anyhow::Result<Exit> {
        if self.json {
            output::json(&json!({"ok": false, "error": "refused", "message": why}))?;
        } else {
            output::remark("refused", why);
        }
        Ok(Exit::No)
    }

    /// Tells what a decision did; of a conflict what is there now.
    ///
    /// # Errors
    /// Everything but a conflict.
    pub fn told(&self, decided: Result<Decided, NotDecided>) -> anyhow::Result<Exit> {
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
            Err(NotDecided::Unfit(why)) => self.refused(&why),
            Err(NotDecided::Store(StoreError::Content(error))) => self.unfit(&error),
            Err(NotDecided::Store(error)) if error.is_conflict() => {
                let now = match &error {
                    StoreError::Changed { now, content, .. } => Some((now, content)),
                    _ => None,
                };
                if self.json {
                    let (hash, content) = now.unzip();
                    let said = json!({"ok": false, "error": "conflict", "message": error.to_string(), "hash": hash, "content": content});
                    output::json(&said)?;
                } else {
                    output::remark("conflict", &error);
                    if let Some((_, content)) = now {
                        output::line(format!("It now says:\n{}", in_words(content)))?;
                    }
                }
                Ok(Exit::No)
            }
            Err(NotDecided::Store(error)) => Err(failure(error)),
            Err(error) => Err(usage(error)),
        }
    }

    fn show_item(&self, item: &Item, whole: bool) -> anyhow::Result<()> {
        if self.json {
            return output::json(&item.to_json()?);
        }
        let (id, state, origin) = (item.id(), item.state(), item.origin());
        match item {
            Item::Candidate(candidate) => {
                let (made_at, seen) = (candidate.made_at, candidate.seen);
                output::line(format!("{id}  {state}, by {origin}, {made_at:.0}, seen {seen}"))?;
                if whole {
                    output::line(format!("hash {}\nevidence {}", candidate.hash, candidate.evidence))?;
                }
            }
            Item::Curated(curated) => {
                output::line(format!("{id}  {state}, by {origin}, {:.0}", curated.made_at))?;
                if whole {
                    output::line(format!("hash {}", curated.hash))?;
                }
            }
        }
        output::line(in_words(item.content()))
    }
}

/// What changes from one content to another, as a patch of its JSON.
fn change(before: &Content, after: &Content) -> String {
    let lines = |content| serde_json::to_string_pretty(content).unwrap_or_default() + "\n";
    patch::changed("content", Some(&lines(before)), Some(&lines(after)))
}

/// Text from stdin, within what an item may hold.
///
/// # Errors
/// When it cannot be read.
pub fn stdin() -> anyhow::Result<String> {
    Ok(bounded(std::io::stdin().lock())?)
}

fn bounded(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    // Four bytes a character, of all the SQL that a golden case may hold; what is longer is told to be too long.
    let most = u64::try_from(limits::SQL * (limits::ACCEPTED + 2)).unwrap_or(u64::MAX).saturating_mul(4);
    from.take(most).read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// The only domain of a configuration.
fn no_pack(domain: &DomainName) -> anyhow::Error {
    usage(format!("there is no pack of the domain `{domain}` here"))
}

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
