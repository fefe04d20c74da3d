//! `airlock setup`: the reader role of a data source, shown before it is made and proven after.

use airlock_knowledge::Pack;
use airlock_knowledge::pack::PackScope;
use airlock_setup::Secret;
use airlock_setup::roles::{Plan, Reach, Refused, Role, Verdict};
use airlock_setup::source::{self, Administrator, Done, Proof};
use airlock_types::TableRef;
use airlock_types::text::{Place, find_hidden};
use serde_json::{Value, json};

use crate::cli::Setup;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Makes or prints the reader of a domain's data source.
///
/// # Errors
/// When the administrator cannot connect, or the role can do what it must not. What was refused is told, and the answer is no
/// when the reader is of no use without it.
pub async fn run(setup: Setup, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    if setup.store {
        return super::setup_store::run(&setup, as_json).await;
    }
    fit_for_a_role(&setup.reader).map_err(usage)?;
    let pack = pick(config, setup.domain.as_deref())?;
    let mut admin = Administrator::connect(&setup.admin_url).await?;
    let given = std::env::var("AIRLOCK_READER_PASSWORD").ok();
    let password = given.as_deref().map_or_else(Secret::random, Secret::new);
    let database = admin.database().to_owned();
    let role = Role {
        harden: setup.harden,
        rotate: setup.rotate_password,
        ..Role::reader(&setup.reader, password, &database, reach(&pack))
    };
    let plan = admin.plan(&role).await?;
    if setup.print {
        plan.print(&mut output::stdout())?;
        if plan.sets_password() {
            let url = admin.url_of(&plan.role);
            output::progress(format_args!(
                "\n{}",
                configuration("once they were run", &pack.settings.source, &url)
            ));
        }
        return Ok(Exit::Done);
    }
    tell_what_comes(&plan);
    let knows_password = !plan.role_exists || setup.rotate_password || given.is_some();
    let proof = if knows_password { Proof::Connecting } else { Proof::SetRole };
    let done = source::set_up(&mut admin, &plan, proof, |statement| output::progress(statement)).await?;
    if as_json {
        output::json(&summary(&plan, &done))?;
    } else {
        tell(&plan, &done, &pack.settings.source)?;
    }
    Ok(if done.is_whole() { Exit::Done } else { Exit::No })
}

/// What stays as it is, and how to take back what touches others.
fn tell_what_comes(plan: &Plan) {
    for statement in plan.statements.iter().filter(|statement| statement.unchanged) {
        output::progress(format_args!("unchanged: {}", statement.sql));
    }
    for (at, undo) in plan.to_undo().enumerate() {
        if at == 0 {
            output::progress("what touches other users of the database is taken back by:");
        }
        output::progress(format_args!("    {undo};"));
    }
}

fn summary(plan: &Plan, done: &Done) -> Value {
    let refused = |refused: &Refused| {
        json!({
            "sql": refused.statement.sql,
            "reason": refused.reason,
            "run_as": refused.statement.run_as,
            "needed": refused.statement.needed,
        })
    };
    let words = |verdicts: &[Verdict]| verdicts.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "role": plan.role.name,
        "url": done.reader_url,
        "changed": plan.to_do().count(),
        "refused": done.refused.iter().map(refused).collect::<Vec<_>>(),
        "proven": words(&done.proven),
        "unread": words(&done.unread),
        "untried": done.untried,
        "undo": plan.to_undo().collect::<Vec<_>>(),
    })
}

fn tell(plan: &Plan, done: &Done, source: &str) -> anyhow::Result<()> {
    for verdict in &done.proven {
        output::line(format!("proven: {verdict}"))?;
    }
    if plan.to_do().next().is_none() {
        output::line("unchanged: everything was as it must be")?;
    }
    match &done.reader_url {
        Some(url) if !plan.role_exists || plan.role.rotate => {
            let refused = done.refused.iter().any(|refused| refused.statement.sets_password());
            let when = if refused { "once the role is as it must be" } else { "now" };
            output::line(format!("\n{}", configuration(when, source, url)))?;
        }
        _ if plan.role_exists => {
            output::line(format!(
                "the password of `{}` was left as it is; `--rotate-password` gives it a new one",
                plan.role.name
            ))?;
        }
        _ => {}
    }
    let open: Vec<String> = done
        .refused
        .iter()
        .map(ToString::to_string)
        .chain(done.unread.iter().map(ToString::to_string))
        .chain(done.untried.iter().map(|why| format!("not proven: {why}")))
        .collect();
    if !open.is_empty() {
        output::line("\nNot done:\n")?;
        open.iter().try_for_each(output::line)?;
    }
    Ok(())
}

/// What an operator writes into the configuration for a new password.
fn configuration(when: &str, source: &str, url: &str) -> String {
    let url = toml::Value::from(url);
    format!(
        "Put this into the configuration {when}; the password is not shown again:\n\n[sources.{source}]\nurl = {url}"
    )
}

/// Whether PostgreSQL takes a name for a role, and a person reads the name that is there.
fn fit_for_a_role(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > 63 {
        return Err("--reader: a role's name has 1 to 63 bytes".to_owned());
    }
    if let Some(found) = find_hidden(name, Place::Identifier) {
        return Err(format!("--reader: the name holds a {found}"));
    }
    if name.contains(['\n', '\r', '\t']) {
        return Err("--reader: the name holds a line break or a tab".to_owned());
    }
    if name.starts_with("pg_") || ["public", "none", "current_user", "session_user"].contains(&name) {
        return Err(format!("--reader: PostgreSQL keeps the name `{name}` for itself"));
    }
    Ok(())
}

/// What of a data source a pack's reader must read.
pub(super) fn reach(pack: &Pack) -> Reach {
    match &pack.settings.scope {
        PackScope::Schemas(schemas) => Reach::Schemas(schemas.clone()),
        PackScope::Only(tables) => Reach::Only(
            tables
                .iter()
                .filter_map(|table| {
                    Some(TableRef::new(table.value.schema.clone()?, table.value.name.clone()))
                })
                .collect(),
        ),
    }
}

/// The pack with this name, or the only one of the folder. Its source need not be configured yet.
fn pick(config: &Config, name: Option<&str>) -> anyhow::Result<Pack> {
    let mut packs = boot::all_packs(config)?;
    if let Some(name) = name {
        packs.retain(|pack| pack.name.as_str() == name);
    }
    match (packs.pop(), packs.len()) {
        (Some(pack), 0) => Ok(pack),
        (None, _) => Err(usage(format!("--domain: {} holds no such pack", config.domains.display()))),
        (Some(_), _) => Err(usage("--domain: name one of the packs, there are several")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_postgresql_or_a_reader_cannot_take_are_refused() {
        for good in ["airlock_reader", "Reader of x", "läser", "o'hara\"x"] {
            assert_eq!(fit_for_a_role(good), Ok(()), "{good}");
        }
        for bad in ["", "pg_x", "public", "none", "a\nb", "a\u{200b}b", &"a".repeat(64)] {
            assert!(fit_for_a_role(bad).is_err(), "{bad:?}");
        }
    }
}
