//! `airlock setup --store`: the store's database, schema and roles, shown before they are made and proven after.

use airlock_database::ConnectionString;
use airlock_setup::Secret;
use airlock_setup::store::{DUTIES, StorePlace, StorePlan, StoreServer, prove};
use anyhow::Context;
use serde_json::json;

use crate::cli::Setup;
use crate::config::store::{read, write};
use crate::exit::{Exit, usage};
use crate::{output, store};

/// Makes or prints the store.
///
/// # Errors
/// When the administrator cannot connect, a needed statement is refused, or the store is of another version.
pub async fn run(setup: &Setup, as_json: bool) -> anyhow::Result<Exit> {
    for (flag, name) in [("--store-database", &setup.store_database), ("--role-prefix", &setup.role_prefix)] {
        fit(flag, name).map_err(usage)?;
    }
    let admin: ConnectionString =
        setup.admin_url.parse().map_err(|error| usage(format!("--admin-url: {error}")))?;
    let server = StoreServer::Remote(&admin);
    let mut place = StorePlace::new(&setup.store_database, &setup.role_prefix);
    // What is there is not replaced: hosts that run know the passwords of the file.
    if setup.credentials.exists() {
        place.passwords.extend(read(&setup.credentials).map_err(usage)?);
    }
    for (duty, password) in &mut place.passwords {
        if let Ok(given) = std::env::var(format!("AIRLOCK_STORE_{}_PASSWORD", duty.to_uppercase())) {
            *password = Secret::new(&given);
        }
    }
    let plan = StorePlan::new(&server, place).await.map_err(usage)?;
    // Before anything is made or shown: a password that cannot be kept is one that nobody has.
    write(&setup.credentials, &plan.place().passwords).map_err(|error| {
        usage(format!("--credentials: {} cannot be written: {error}", setup.credentials.display()))
    })?;
    if setup.print {
        output::line(format!("-- The passwords of the roles are in {}.", setup.credentials.display()))?;
        plan.print(&mut output::stdout())?;
        return Ok(Exit::Done);
    }
    let refused = plan.apply(&server, |statement| output::progress(statement)).await?;
    for (statement, reason) in &refused {
        output::progress(format_args!("not done ({reason}): {statement}"));
    }

    let place = plan.place();
    let mut target = admin.clone();
    target.database.clone_from(&place.database);
    let made = store::store_of(&target, &place.prefix, &place.passwords)?;
    let migrated = made.migrate().await.map_err(usage)?;
    let (mut proven, mut failed) = (0, Vec::new());
    for duty in DUTIES {
        let password = place.passwords.get(duty).map_or("", |password| password.reveal());
        let client = target.for_role(&place.role(duty), password).client().await;
        let client = client.with_context(|| format!("`{}` cannot connect", place.role(duty)))?;
        for verdict in prove(&client, duty).await? {
            if verdict.passed() {
                proven += 1;
            } else {
                failed.push(format!("{}: {verdict}", place.role(duty)));
            }
        }
    }
    let credentials = std::path::absolute(&setup.credentials)?;
    if as_json {
        output::json(&json!({
            "database": place.database,
            "version": migrated.to,
            "credentials": credentials,
            "proven": proven,
            "failed": failed,
            "refused": refused.iter().map(|(statement, reason)| json!({"sql": statement.sql, "reason": reason})).collect::<Vec<_>>(),
        }))?;
    } else {
        output::line(format!(
            "the store is of version {}; {proven} trials of its eight roles passed",
            migrated.to
        ))?;
        for failure in &failed {
            output::line(format!("FAILED: {failure}"))?;
        }
        output::line("\nPut this into the configuration, with the address as the host sees it:\n")?;
        output::line("[store]")?;
        output::line(format!("url = \"host=... dbname={}\"", place.database))?;
        output::line(format!("credentials = {}", toml::Value::from(credentials.display().to_string())))?;
        if place.prefix != crate::config::store::ROLE_PREFIX {
            output::line(format!("role_prefix = {}", toml::Value::from(place.prefix.as_str())))?;
        }
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::No })
}

/// Whether a name is one that everybody reads the same, and PostgreSQL does not keep for itself.
fn fit(flag: &str, name: &str) -> Result<(), String> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 50
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !name.starts_with("pg_") {
        return Ok(());
    }
    Err(format!("{flag}: a name of lower-case letters, digits and _, at most 50, a letter first and not pg_"))
}
