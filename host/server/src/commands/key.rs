//! `airlock key`: who may come in, and as whom.

use std::collections::{BTreeMap, BTreeSet};

use airlock_knowledge::store::{ItemId, KeyIdentity, KeyRow, NewKey, Ops, StoreError};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::curation::person;
use crate::access::{Token, identity};
use crate::cli::{CreateKey, Key};
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::store::{self, Purpose};
use crate::{boot, output};

/// Characters of a name.
const NAME: usize = 200;

/// Makes, lists or takes back keys.
///
/// # Errors
/// When there is no store or it does not answer, or what is asked for cannot be.
pub async fn run(command: Key, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    // A key is often made before the first start: the store is made where there is none yet.
    let open = store::open(config, Purpose::Serve).await?;
    let done = match open.store() {
        None => Err(usage("there is no knowledge store to keep keys in: configure [store]")),
        Some(store) => {
            let ops = store.ops();
            match command {
                Key::Create(new) => create(&ops, &new, config, as_json).await,
                Key::List => list(&ops, as_json).await,
                Key::Revoke { id } => revoke(&ops, id, as_json).await,
            }
        }
    };
    let closed = open.close().await;
    let exit = done?;
    closed?;
    Ok(exit)
}

async fn create(ops: &Ops, new: &CreateKey, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    let name = name(&new.name).map_err(usage)?;
    let expires_at = new.expires.as_deref().map(|text| end(text, Timestamp::now())).transpose();
    let expires_at = expires_at.map_err(|why| usage(format!("--expires: {why}")))?;
    let kept = kept_identity(new).map_err(usage)?;
    let scopes: BTreeSet<String> = new.scopes.iter().map(ToString::to_string).collect();
    let scopes: Vec<String> = scopes.into_iter().collect();
    let domains: Vec<_> = new.domains.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    warn_of_unknown(&domains, config);
    let key = Token::new_key()?;
    let made = NewKey {
        name,
        hash: key.hash(),
        scopes: &scopes,
        domains: &domains,
        made_by: &person(),
        expires_at,
        identity: kept.as_ref(),
    };
    let id = ops.add_key(&made).await?;
    if kept.is_some() && config.access.keyless(config.listen) {
        output::remark(
            "note",
            "callers without a key are nobody to the row policies of the data source; \
             server.require_key = true turns them away",
        );
    }
    if as_json {
        output::json(&json!({
            "ok": true, "id": id, "name": name, "key": key.reveal(), "scopes": scopes, "domains": domains,
            "expires_at": expires_at, "identity": kept,
        }))?;
    } else {
        output::line(format!(
            "Key `{name}` ({id}): {} in {}{}.",
            scopes.join(", "),
            places(domains.iter().map(ToString::to_string)),
            expires_at.map_or_else(String::new, |end| format!(", until {end}"))
        ))?;
        output::line(key.reveal())?;
        output::line(
            "It is shown this once. Send it as the header `Authorization: Bearer KEY`, or sign in to the page with it.",
        )?;
    }
    Ok(Exit::Done)
}

async fn list(ops: &Ops, as_json: bool) -> anyhow::Result<Exit> {
    let now = Timestamp::now();
    for key in ops.keys().await? {
        if as_json {
            let mut shown = serde_json::to_value(&key)?;
            if let Value::Object(fields) = &mut shown {
                fields.insert("state".to_owned(), state(&key, now).into());
            }
            output::json(&shown)?;
            continue;
        }
        output::line(format!(
            "{}  {}  {}: {} in {}; made {} by {}{}{}",
            key.id,
            state(&key, now),
            key.name,
            key.scopes.join(", "),
            places(key.domains.iter().cloned()),
            key.made_at.strftime("%F"),
            key.made_by,
            key.expires_at.map_or_else(String::new, |end| format!("; until {end}")),
            key.identity.as_ref().map_or_else(String::new, |kept| format!("; {}", in_words(kept))),
        ))?;
    }
    Ok(Exit::Done)
}

async fn revoke(ops: &Ops, id: ItemId, as_json: bool) -> anyhow::Result<Exit> {
    match ops.revoke_key(id).await {
        Ok(()) => {}
        Err(StoreError::NotFound { .. }) => {
            return Err(usage(format!(
                "there is no key `{id}`, or it was taken back before: `airlock key list` shows them"
            )));
        }
        Err(error) => return Err(error.into()),
    }
    if as_json {
        output::json(&json!({"ok": true, "id": id}))?;
    } else {
        output::line(format!(
            "The key {id} opens nothing any more; hosts that have just let it in notice within a second."
        ))?;
    }
    Ok(Exit::Done)
}

fn state(key: &KeyRow, now: Timestamp) -> &'static str {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "ended",
        _ => "in force",
    }
}

fn places(domains: impl Iterator<Item = String>) -> String {
    let domains: Vec<String> = domains.collect();
    if domains.is_empty() { "every domain".to_owned() } else { domains.join(", ") }
}

/// Who a key's holder is to the data source, for people.
fn in_words(kept: &KeyIdentity) -> String {
    let settings = kept.settings.iter().map(|(name, value)| format!("{name}={value}"));
    let role = kept.role.iter().map(|role| format!("role {role}"));
    format!("to the data source: {}", role.chain(settings).collect::<Vec<_>>().join(", "))
}

/// A name that can stand in a line of a log.
fn name(text: &str) -> Result<&str, String> {
    let name = text.trim();
    let fits = (1..=NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(name) } else { Err(format!("NAME has 1 to {NAME} characters, on one line")) }
}

fn kept_identity(new: &CreateKey) -> Result<Option<KeyIdentity>, String> {
    let mut settings = BTreeMap::new();
    for text in &new.settings {
        let Some((name, value)) = text.split_once('=') else {
            return Err("--setting: write NAME=VALUE, such as app.user_id=7".to_owned());
        };
        if settings.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(format!("--setting: `{name}` is given twice"));
        }
    }
    if settings.is_empty() && new.role.is_none() {
        return Ok(None);
    }
    let kept = KeyIdentity { settings, role: new.role.clone() };
    match identity(&kept) {
        Ok(_) => Ok(Some(kept)),
        Err(why) => Err(format!("--setting, --role: {why}")),
    }
}

/// When a key ends: so long from now, at the end of a day, or at a moment. Never in the past.
fn end(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let utc = || now.to_zoned_datetime(TimeZone::UTC);
    let span = || text.parse::<jiff::Span>().ok().and_then(|span| utc().checked_add(span).ok());
    let day = || {
        let day: Date = text.parse().ok()?;
        day.tomorrow().ok()?.to_zoned_datetime(TimeZone::UTC).ok()
    };
    let moment = text.parse::<Timestamp>().ok();
    let end = moment.or_else(|| day().or_else(span).map(|end| end.timestamp()));
    match end {
        Some(end) if end > now => Ok(end),
        Some(_) => Err(format!("`{text}` is not in the future")),
        None => Err(format!(
            "`{}` is no time: write 90d or 12h, a day such as 2027-01-31, or RFC 3339",
            text.chars().take(64).collect::<String>()
        )),
    }
}

/// A domain that no pack here has is likely a slip, but its pack may come later.
fn warn_of_unknown(domains: &[airlock_types::DomainName], config: &Config) {
    let Ok(packs) = boot::all_packs(config) else { return };
    for domain in domains.iter().filter(|domain| !packs.iter().any(|pack| pack.name == **domain)) {
        output::remark("note", format_args!("there is no pack of the domain `{domain}` here"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_after_a_while_on_a_day_or_at_a_moment() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        for (text, want) in [
            ("90d", Some("2027-02-28T12:00:00Z")),
            ("12h", Some("2026-12-01T00:00:00Z")),
            ("1 year", Some("2027-11-30T12:00:00Z")),
            ("2026-11-30", Some("2026-12-01T00:00:00Z")),
            ("2026-12-24T18:00:00+01:00", Some("2026-12-24T17:00:00Z")),
            ("2026-11-29", None),
            ("-1d", None),
            ("0s", None),
            ("soon", None),
            ("", None),
        ] {
            let want = want.map(|text| text.parse::<Timestamp>().unwrap());
            assert_eq!(end(text, now).ok(), want, "{text}");
        }
    }

    #[test]
    fn names_and_settings_are_read_at_the_edge() {
        assert_eq!(name(" app "), Ok("app"));
        for wrong in ["", "  ", "a\nb", &"x".repeat(NAME + 1)] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
        let of = |settings: &[&str], role: Option<&str>| {
            kept_identity(&CreateKey {
                name: "app".to_owned(),
                scopes: Vec::new(),
                domains: Vec::new(),
                expires: None,
                role: role.map(str::to_owned),
                settings: settings.iter().map(|text| (*text).to_owned()).collect(),
            })
        };
        assert_eq!(of(&[], None), Ok(None));
        assert_eq!(of(&["app.user_id=a=b"], None).unwrap().unwrap().settings["app.user_id"], "a=b");
        assert!(of(&[], Some("tenant")).unwrap().is_some());
        for wrong in [vec!["app.user_id"], vec!["user=1"], vec!["a.b=1", "a.b=2"], vec!["row_security=off"]] {
            assert!(of(&wrong, None).is_err(), "{wrong:?}");
        }
    }
}
