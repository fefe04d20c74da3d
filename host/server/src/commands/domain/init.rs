//! `airlock domain init`: a pack drafted from the catalogue of a live database.

use std::path::Path;
use std::sync::Arc;

use airlock_database::{DatabaseError, Scope, Source, SourceConfig};
use airlock_knowledge::ColumnClass;
use airlock_knowledge::pack::TableName;
use airlock_knowledge::pack::draft::{Draft, DraftError, DraftScope, DraftWriteError, TO_WRITE};
use airlock_types::{DomainName, TableRef};
use anyhow::Context;
use serde_json::{Map, Value, json};

use crate::cli::Init;
use crate::exit::{Exit, usage};
use crate::output;

/// Drafts and writes a pack.
///
/// # Errors
/// When the folder is taken, the database does not answer, or there is nothing in it to make a pack of.
pub async fn run(options: &Init, as_json: bool) -> anyhow::Result<Exit> {
    let name = name_of(&options.dir)?;
    let wanted = wanted(options)?;
    // Told before anybody waits for a database; written over is nothing in any case.
    if options.dir.symlink_metadata().is_ok() {
        return Err(usage(DraftWriteError::Exists(options.dir.clone())));
    }
    let source = connect(&options.database_url).await?;
    let scope = Scope { schemas: options.schema.clone(), only: wanted.clone() };
    let read = async {
        let catalogue = source.catalogue(&scope).await?;
        Ok::<_, DatabaseError>(Arc::new(catalogue))
    };
    let catalogue = read.await.context("the catalogue cannot be read")?;
    let of = if wanted.is_empty() { DraftScope::Schemas } else { DraftScope::Only(wanted) };
    let draft = match Draft::of(&name, &catalogue, &of) {
        Ok(draft) => draft,
        Err(DraftError::Empty) => return Err(usage(nothing_there(&source, &scope))),
        Err(error @ DraftError::Wrong(_)) => return Err(error.into()),
        Err(error) => return Err(usage(error)),
    };
    draft.write(&options.dir).map_err(|error| match error {
        DraftWriteError::Exists(_) => usage(error),
        error => error.into(),
    })?;
    if as_json {
        output::json(&summary(&draft, &options.dir))?;
    } else {
        tell(&draft, &options.dir)?;
    }
    Ok(Exit::Done)
}

/// The domain's name: what the folder is called.
fn name_of(dir: &Path) -> anyhow::Result<DomainName> {
    // Not canonical: the folder is not there yet.
    let folder = std::path::absolute(dir).with_context(|| format!("{} is no path", dir.display()))?;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.parse::<DomainName>()
        .map_err(|error| usage(format!("the folder's name is the domain's name, and {error}")))
}

/// The relations of `--only`.
fn wanted(options: &Init) -> anyhow::Result<Vec<TableRef>> {
    let home = match options.schema.as_slice() {
        [] => "public",
        [schema] => schema.as_str(),
        _ if options.only.is_empty() => "",
        _ => return Err(usage("--only goes with one --schema; name others as schema.relation")),
    };
    let mut wanted = Vec::new();
    for text in &options.only {
        let name = TableName::parse(text).ok_or_else(|| {
            usage(format!(
                "--only: `{}` is no relation: write schema.relation",
                airlock_types::text::shorten(text, 60)
            ))
        })?;
        let table = TableRef::new(name.schema.unwrap_or_else(|| home.to_owned()), name.name);
        if !wanted.contains(&table) {
            wanted.push(table);
        }
    }
    Ok(wanted)
}

async fn connect(url: &str) -> anyhow::Result<Source> {
    let config = SourceConfig { pool_size: 1, ..SourceConfig::new(url) };
    Source::connect(config).await.map_err(|error| match error {
        DatabaseError::ConnectionString(_) => usage(format!("--database-url: {error}")),
        error => anyhow::Error::new(error).context("the database cannot be reached"),
    })
}

/// What to do about a database in which the role sees nothing.
fn nothing_there(source: &Source, scope: &Scope) -> String {
    let asked: Vec<String> = match (scope.only.as_slice(), scope.schemas.as_slice()) {
        ([], []) => Vec::new(),
        ([], schemas) => schemas.iter().map(|schema| format!("schema `{schema}`")).collect(),
        (only, _) => only.iter().map(|table| format!("`{table}`")).collect(),
    };
    let of = if asked.is_empty() { String::new() } else { format!(" of {}", asked.join(", ")) };
    format!(
        "there is nothing to make a pack of: {} sees no table and no view{of}. Either there is none, or the role lacks USAGE on \
         the schema and SELECT on its relations: give the address of a role that may read them",
        source.target()
    )
}

/// The environment variable that the next steps suggest for the reader's address.
fn variable(name: &DomainName) -> String {
    format!("{}_READER_URL", name.as_str().replace('-', "_").to_uppercase())
}

fn next_steps(draft: &Draft, dir: &Path) -> Vec<String> {
    let (name, dir) = (draft.name(), shell_word(&dir.display().to_string()));
    vec![
        format!("read and finish it: {dir}/README.md says how; grep -n \"{TO_WRITE}\" {dir}/*.toml"),
        format!(
            "a reader of the database: airlock setup --domain {name} --admin-url URL   (prints its address; --print only \
             prints the statements)"
        ),
        format!(
            "put its address into airlock.toml, or into the environment: [sources.{name}] url_env = \"{}\"",
            variable(name)
        ),
        format!("airlock domain check {dir}"),
        format!("airlock domain load {dir}"),
        format!("airlock ask --domain {name} \"How many ... are there?\""),
    ]
}

/// A path as a shell takes it.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

fn summary(draft: &Draft, dir: &Path) -> Value {
    let summary = &draft.summary;
    let classes: Map<String, Value> =
        summary.classes.iter().map(|(class, count)| (class.as_str().to_owned(), json!(count))).collect();
    json!({
        "domain": draft.name(),
        "dir": dir.display().to_string(),
        "files": draft.files().iter().map(|(path, _)| *path).collect::<Vec<_>>(),
        "schemas": summary.schemas,
        "tables": summary.tables,
        "columns": summary.columns,
        "without_purpose": summary.without_purpose,
        "classes": classes,
        "foreign_keys": summary.foreign_keys,
        "guessed_joins": summary.guessed_joins,
        "unspeakable": summary.unspeakable,
        "next": next_steps(draft, dir),
    })
}

fn tell(draft: &Draft, dir: &Path) -> anyhow::Result<()> {
    let summary = &draft.summary;
    let count = |class: ColumnClass| summary.classes.get(&class).copied().unwrap_or_default();
    output::line(format!(
        "{}: {} tables and views with {} columns, of {}",
        dir.display(),
        summary.tables,
        summary.columns,
        summary.schemas.join(", ")
    ))?;
    output::line(format!(
        "  {} joins by foreign keys; {} guessed from names and types, which nobody has verified (joins.toml)",
        summary.foreign_keys, summary.guessed_joins
    ))?;
    output::line(format!(
        "  {} columns of people, {} secrets, {} amounts by their names: their values are held back (notes.toml)",
        count(ColumnClass::Personal),
        count(ColumnClass::Secret),
        count(ColumnClass::Amount)
    ))?;
    output::line(format!(
        "  {} tables have no comment in the database: somebody must say what they are for",
        summary.without_purpose
    ))?;
    for name in &summary.unspeakable {
        output::line(format!("  left out of the notes, for what is hidden in its name: {name}"))?;
    }
    output::line("\nNext:")?;
    for (at, step) in next_steps(draft, dir).iter().enumerate() {
        output::line(format!("  {}. {step}", at + 1))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(only: &[&str], schema: &[&str]) -> Init {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Init { dir: "d".into(), database_url: String::new(), only: owned(only), schema: owned(schema) }
    }

    #[test]
    fn relations_are_of_the_schema_that_is_named_or_of_public() {
        for (only, schema, want) in [
            (&["a", "s.b", "a"][..], &[][..], Some(vec![("public", "a"), ("s", "b")])),
            (&["a", "\"x.y\""], &["t"], Some(vec![("t", "a"), ("t", "x.y")])),
            (&[], &["t", "u"], Some(vec![])),
            (&["a"], &["t", "u"], None),
            (&["a..b"], &[], None),
        ] {
            let got = wanted(&options(only, schema)).ok();
            let want = want.map(|tables| {
                tables.into_iter().map(|(schema, name)| TableRef::new(schema, name)).collect::<Vec<_>>()
            });
            assert_eq!(got, want, "{only:?} of {schema:?}");
        }
    }

    #[test]
    fn the_folder_names_the_domain() {
        for (dir, want) in
            [("domains/my-shop", Some("my-shop")), ("My Shop", None), ("/", None), ("a/..", None)]
        {
            assert_eq!(name_of(Path::new(dir)).ok().as_ref().map(DomainName::as_str), want, "{dir}");
        }
        assert_eq!(variable(&"my-shop".parse().unwrap()), "MY_SHOP_READER_URL");
        assert_eq!(shell_word("a b'c"), "'a b'\\''c'");
    }
}
