//! `cargo xtask eval-data`: the evaluation databases as schemas of one database, among as many other tables as wanted, with
//! the pack that describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::distractors;
use crate::workspace::Workspace;

/// Name of the domain and of its data source.
const DOMAIN: &str = "eval";
/// Role that the pack's data source is read as.
const READER: &str = "eval_reader";

/// Load the evaluation databases into one database, a schema each, and write a pack over them.
#[derive(clap::Args)]
pub struct EvalData {
    /// An empty database, reached as a role that may make schemas and roles: a libpq connection string.
    #[arg(long, value_name = "URL", env = "AIRLOCK_EVAL_DATABASE_URL")]
    database_url: String,
    /// The same database as its reader reaches it; written into the configuration.
    #[arg(long, value_name = "URL")]
    reader_url: String,
    /// Folder of the corpora.
    #[arg(long, value_name = "DIR", default_value = "../shared/corpora")]
    corpora: PathBuf,
    /// Folder to write `airlock.toml` and the pack to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only these databases.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Tables of other subjects to make beside them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    distractors: usize,
    /// What the other tables are made from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Let the values of short text columns be indexed.
    #[arg(long)]
    values: bool,
}

/// A file of column descriptions.
#[derive(serde::Deserialize)]
struct Meta {
    table_metadata: BTreeMap<String, Vec<MetaColumn>>,
}

#[derive(serde::Deserialize)]
struct MetaColumn {
    column_name: String,
    #[serde(default)]
    column_description: String,
}

impl EvalData {
    /// Loads and writes; does nothing, and says so, where there are no corpora.
    pub fn run(&self) -> Result<ExitCode> {
        let workspace = Workspace::find()?;
        let folder = workspace.root.join(&self.corpora).join("eval/db");
        if !folder.is_dir() {
            eprintln!("SKIPPED: there is no {}; nothing was loaded", folder.display());
            return Ok(ExitCode::SUCCESS);
        }
        let databases = self.databases(&folder)?;
        for name in &databases {
            let file = folder.join(format!("{name}.sql"));
            let sql = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            // Each file fills `public`, which then takes the name of the database.
            self.psql(&format!("{sql}\n;ALTER SCHEMA public RENAME TO {name}; CREATE SCHEMA public;"))
                .with_context(|| name.clone())?;
            eprintln!("    {name}");
        }
        let mut schemas = databases.clone();
        let mut others = 0;
        for schema in distractors::schemas(self.distractors, self.seed) {
            self.psql(&schema.sql).with_context(|| schema.name.to_owned())?;
            schemas.push(schema.name.to_owned());
            others += schema.tables;
        }
        self.grant(&schemas)?;
        self.write_pack(&folder, &databases, &schemas)?;
        eprintln!(
            "    {others} other tables; airlock.toml and the pack `{DOMAIN}` are in {}",
            self.out.display()
        );
        Ok(ExitCode::SUCCESS)
    }

    fn databases(&self, folder: &Path) -> Result<Vec<String>> {
        let mut names: Vec<String> = fs::read_dir(folder)?
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".sql")?.to_owned()))
            .filter(|name| self.only.is_empty() || self.only.contains(name))
            .collect();
        names.sort();
        if let Some(missing) = self.only.iter().find(|name| !names.contains(name)) {
            bail!("--only: {} has no {missing}.sql", folder.display());
        }
        Ok(names)
    }

    fn grant(&self, schemas: &[String]) -> Result<()> {
        let mut sql = format!(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{READER}') THEN CREATE ROLE {READER} LOGIN; \
             END IF; END $$;\n"
        );
        for schema in schemas {
            let _ = writeln!(
                sql,
                "GRANT USAGE ON SCHEMA {schema} TO {READER}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {READER}; \
                 REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;"
            );
        }
        sql.push_str("ANALYZE;");
        self.psql(&sql).map(drop)
    }

    /// Runs statements; gives what the last ones print, a row a line.
    fn psql(&self, sql: &str) -> Result<String> {
        let mut child = Command::new("psql")
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.database_url, "-f", "-"])
            .env("PGOPTIONS", "-c client_min_messages=warning")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("psql is not on the PATH")?;
        if let Some(mut input) = child.stdin.take() {
            let sql = sql.to_owned();
            let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
            let output = child.wait_with_output()?;
            // psql stops reading at its first error, which it tells itself.
            drop(writer.join());
            if !output.status.success() {
                bail!("psql ended with {}", output.status);
            }
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        bail!("psql takes no input")
    }

    fn write_pack(&self, folder: &Path, databases: &[String], schemas: &[String]) -> Result<()> {
        let pack = self.out.join("domains").join(DOMAIN);
        fs::create_dir_all(&pack).with_context(|| pack.display().to_string())?;
        let there = self.psql(
            "SELECT table_schema || E'\\t' || table_name || E'\\t' || column_name || E'\\t' || data_type
             FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
             ORDER BY table_schema, table_name, ordinal_position",
        )?;
        let columns: Vec<[&str; 4]> = there.lines().filter_map(fields).collect();
        let list =
            |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let mut domain = format!(
            "format = 1\ntitle = \"Evaluation databases\"\ndescription = \"Several databases in one.\"\nsource = \"{DOMAIN}\"\n\
             schemas = [{}]\ntime_zone = \"UTC\"\n\n[egress]\nrows_to_model = \"none\"\n",
            list(schemas)
        );
        if self.values {
            let text: Vec<String> = columns
                .iter()
                .filter(|[schema, table, column, kind]| {
                    databases.iter().any(|name| name == schema)
                        && matches!(*kind, "text" | "character varying" | "character")
                        && !personal(table, column)
                })
                .map(|[schema, table, column, _]| format!("{schema}.{table}.{column}"))
                .collect();
            let _ = writeln!(domain, "values = [{}]", list(&text));
        }
        fs::write(pack.join("domain.toml"), domain)?;
        fs::write(pack.join("notes.toml"), notes(folder, databases, &columns)?)?;
        let config = format!(
            "[sources.{DOMAIN}]\nurl = {:?}\n\n[domains]\ndir = \"domains\"\n\n[server]\ndata = \"data\"\n",
            self.reader_url
        );
        fs::write(self.out.join("airlock.toml"), config)?;
        Ok(())
    }
}

fn fields(line: &str) -> Option<[&str; 4]> {
    let mut parts = line.split('\t');
    Some([parts.next()?, parts.next()?, parts.next()?, parts.next()?])
}

/// Columns that no domain would let be indexed: what tells who somebody is.
fn personal(table: &str, column: &str) -> bool {
    let told = [
        "mail",
        "phone",
        "address",
        "street",
        "zip",
        "postal",
        "gender",
        "first_name",
        "firstname",
        "last_name",
        "lastname",
        "full_name",
        "password",
    ];
    let people = ["user", "customer", "employee", "person", "people", "student", "instructor", "author"];
    told.iter().any(|word| column.contains(word))
        || (column.contains("name")
            && people.iter().any(|word| table.contains(word) || column.contains(word)))
}

/// Column descriptions as notes; those of columns that are not there are told and left out.
fn notes(folder: &Path, databases: &[String], columns: &[[&str; 4]]) -> Result<String> {
    let known: BTreeSet<(&str, &str, &str)> =
        columns.iter().map(|[schema, table, column, _]| (*schema, *table, *column)).collect();
    let mut text = String::new();
    for name in databases {
        let file = folder.join(format!("{name}.meta.json"));
        if !file.is_file() {
            continue;
        }
        let meta: Meta =
            serde_json::from_slice(&fs::read(&file)?).with_context(|| file.display().to_string())?;
        for (table, columns) in meta.table_metadata {
            let table = table.to_lowercase();
            let mut lines = String::new();
            for column in columns {
                let (spelled, note) = (column.column_name.to_lowercase(), column.column_description.trim());
                if !known.contains(&(name.as_str(), table.as_str(), spelled.as_str())) {
                    eprintln!("    {name}: there is no column {table}.{spelled}");
                } else if !note.is_empty() {
                    let note = toml::Value::String(note.chars().take(2_000).collect());
                    let _ = writeln!(lines, "{spelled:?} = {{ note = {note} }}");
                }
            }
            if !lines.is_empty() {
                let _ = writeln!(text, "[tables.\"{name}.{table}\".columns]\n{lines}");
            }
        }
    }
    Ok(text)
}
