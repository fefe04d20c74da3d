//! `airlock setup`: the reader role of a data source, shown before it is made and proven after.

use airlock_knowledge::Pack;
use airlock_knowledge::pack::PackScope;
use airlock_setup::Secret;
use airlock_setup::roles::{Reach, Role};
use airlock_setup::source::{self, Administrator};
use airlock_types::TableRef;
use airlock_types::text::{Place, find_hidden};
use serde_json::json;

use crate::cli::Setup;
use crate::config::Config;
use crate::exit::{Exit, usage};
use crate::{boot, output};

/// Makes or prints the reader of a domain's data source.
///
/// # Errors
/// When the administrator cannot connect, a statement is refused, or the role can do what it must not.
pub async fn run(setup: Setup, config: &Config, as_json: bool) -> anyhow::Result<Exit> {
    fit_for_a_role(&setup.reader).map_err(usage)?;
    let pack = pick(config, setup.domain.as_deref())?;
    let mut admin = Administrator::connect(&setup.admin_url).await?;
    let password =
        std::env::var("AIRLOCK_READER_PASSWORD").map_or_else(|_| Secret::random(), |text| Secret::new(&text));
    let database = admin.database().to_owned();
    let role =
        Role { harden: setup.harden, ..Role::reader(&setup.reader, password, &database, reach(&pack)) };
    let plan = admin.plan(&role).await?;
    if setup.print {
        plan.print(&mut std::io::stdout().lock())?;
        return Ok(Exit::Done);
    }
    let done = source::set_up(&mut admin, &plan, |statement| eprintln!("{statement}")).await?;
    for refused in &done.refused {
        eprintln!("not done ({}): {}", refused.reason, refused.statement);
    }
    if as_json {
        output::json(&json!({
            "role": role.name,
            "url": done.reader_url,
            "refused": done.refused.iter().map(|refused| json!({"sql": refused.statement.sql, "reason": refused.reason})).collect::<Vec<_>>(),
            "proven": done.proven.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
    } else {
        for verdict in &done.proven {
            output::line(format!("proven: {verdict}"))?;
        }
        output::line("\nPut this into the configuration; the password is not shown again:\n")?;
        output::line(format!(
            "[sources.{}]\nurl = {}",
            pack.settings.source,
            toml::Value::from(done.reader_url)
        ))?;
    }
    Ok(Exit::Done)
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
