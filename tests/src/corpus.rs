//! Public questions over ten databases, each a domain of its own with a pack made from what comes with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use airlock_database::{Source, SourceConfig};
use airlock_knowledge::Pack;
use airlock_models::{Models, ModelsConfig};
use airlock_pipeline::{Domain, Host, HostOptions};
use airlock_runtime::{Grants, Registry, Runtime, RuntimeConfig};
use serde_json::Value;
use tokio_postgres::Client;

use crate::laboratory::{Laboratory, Place};
use crate::{binary, components};

/// Milliseconds a statement may take.
const STATEMENT_MS: u64 = 10_000;
/// Characters of a definition in a pack.
const NOTE: usize = 2_000;

/// The databases of the corpora, loaded, and the questions about them.
pub struct Corpus {
    laboratory: Laboratory,
    folder: PathBuf,
    domains: Vec<(String, String)>,
}

impl Corpus {
    /// Loads every database of the corpora in this folder, or only the named ones, and writes a pack for each.
    pub async fn load(corpora: &Path, only: &[&str]) -> Self {
        let folder = corpora.join("eval");
        let laboratory = Laboratory::start(STATEMENT_MS).await;
        let mut names: Vec<String> = std::fs::read_dir(folder.join("db"))
            .unwrap()
            .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".sql")?.to_owned()))
            .filter(|name| only.is_empty() || only.contains(&name.as_str()))
            .collect();
        names.sort();
        let mut domains = Vec::new();
        for database in names {
            let schema = std::fs::read_to_string(folder.join(format!("db/{database}.sql"))).unwrap();
            let place = Place {
                database: &database,
                search_path: &["public"],
                schema: &schema,
                traps: None,
                functions: &[],
            };
            let domain = laboratory.make(&place).await;
            domains.push((database, domain));
        }
        let corpus = Self { laboratory, folder, domains };
        for (database, domain) in &corpus.domains {
            corpus.describe(database, domain).await;
        }
        corpus
    }

    /// The file of questions.
    #[must_use]
    pub fn questions(&self) -> PathBuf {
        self.folder.join("questions.jsonl")
    }

    /// Runs `airlock eval` over the loaded databases.
    #[must_use]
    pub fn eval(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(binary());
        command.arg("--config").arg(self.laboratory.config()).arg("eval").args(arguments);
    /// A host over the loaded databases in this process, with the components that are built and no model.
    pub async fn host(&self) -> Host {
        let text = std::fs::read_to_string(self.laboratory.config()).unwrap();
        let config: toml::Value = toml::from_str(&text).unwrap();
        let runtime = Runtime::new(RuntimeConfig::default()).unwrap();
        let registry = Registry::new();
        for grant in Grants::read(&components().join("grants.toml")).unwrap().iter() {
            let bytes = std::fs::read(components().join(format!("{}.wasm", grant.component))).unwrap();
            registry.install(&runtime.load(&bytes, grant).unwrap());
        }
        let mut domains = Vec::new();
        for (_, domain) in &self.domains {
            let url = config["sources"][domain]["url"].as_str().unwrap();
            let source = Source::connect(SourceConfig {
                statement_timeout: Duration::from_millis(STATEMENT_MS),
                ..SourceConfig::new(url)
            });
            let pack = Pack::read(&self.pack(domain)).unwrap();
            domains.push(Domain::open(&pack, source.await.unwrap()).await.unwrap());
        }
        let models = Models::from_config(&ModelsConfig::default(), |_| None).unwrap();
        Host::new(domains, runtime, registry, models, HostOptions::default())
    }

    /// The server and the packs.
    #[must_use]
    pub const fn laboratory(&self) -> &Laboratory {
        &self.laboratory
    }

    /// The domains, by the database that the questions name.
    pub fn domains(&self) -> impl Iterator<Item = (&str, &str)> {
        self.domains.iter().map(|(database, domain)| (database.as_str(), domain.as_str()))
    }

        command.env_remove("AIRLOCK_CONFIG").output().unwrap()
    }

    fn pack(&self, domain: &str) -> PathBuf {
        self.laboratory.data().join("domains").join(domain)
    }

    /// Writes what is known of a database into its pack: notes on columns, the glossary as a document, and which columns
    /// may be found by their values.
    async fn describe(&self, database: &str, domain: &str) {
        let columns = columns(&self.laboratory.admin(database).await).await;
        let pack = self.pack(domain);
        let meta = self.folder.join(format!("db/{database}.meta.json"));
        if let Ok(bytes) = std::fs::read(meta) {
            let meta: Value = serde_json::from_slice(&bytes).unwrap();
            std::fs::write(pack.join("notes.toml"), notes(&meta, &columns)).unwrap();
            let glossary = meta["glossary"].as_str().unwrap_or_default().trim();
            if !glossary.is_empty() {
                std::fs::create_dir(pack.join("docs")).unwrap();
                std::fs::write(pack.join("docs/glossary.md"), glossary).unwrap();
            }
        }
        let plain = std::fs::read_to_string(pack.join("domain.toml")).unwrap();
        let mut open: BTreeSet<String> = columns
            .iter()
            .filter(|column| ["text", "character varying", "character"].contains(&column.kind.as_str()))
            .map(|column| format!("\"{}\".\"{}\".\"{}\"", column.schema, column.table, column.name))
            .collect();
        // Whose values nobody may see is the host's to say; what it names is taken off the list.
        loop {
            let list: Vec<String> = open.iter().map(|column| format!("'{column}'")).collect();
            let list = list.join(", ");
            let text = format!("{plain}[egress]\nsamples = [{list}]\nvalues = [{list}]\n");
            std::fs::write(pack.join("domain.toml"), text).unwrap();
            let output = Command::new(binary())
                .arg("--config")
                .arg(self.laboratory.config())
                .args(["domain", "check", "--json"])
                .arg(&pack)
                .output()
                .unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let before = open.len();
            open.retain(|column| !said.contains(&format!("`{}`,", column.replace('"', ""))));
            if open.len() == before {
                assert!(output.status.success(), "{database}: {said}");
                return;
            }
        }
    }

    /// Puts the rules that belong to the questions into the glossaries of the packs.
    pub fn add_instructions(&self) {
        let text = std::fs::read_to_string(self.questions()).unwrap();
        let mut terms: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for line in text.lines() {
            let question: Value = serde_json::from_str(line).unwrap();
            // What belongs to a question without an answer says how to refuse, which is no knowledge.
            if question["answerable"] != true {
                continue;
            }
            let database = question["db"].as_str().unwrap();
            for rule in rules(question["instructions"].as_str().unwrap_or_default()) {
                let (name, definition) = term(&rule);
                let terms = terms.entry(database.to_owned()).or_default();
                terms.entry(name).or_default().insert(definition);
            }
        }
        for (database, domain) in &self.domains {
            let mut glossary = String::new();
            for (name, definitions) in terms.remove(database).unwrap_or_default() {
                let definition: Vec<String> = definitions.into_iter().collect();
                let _ = writeln!(
                    glossary,
                    "[[term]]\nname = {}\ndefinition = {}",
                    toml(&name, 100),
                    toml(&definition.join("; "), NOTE)
                );
            }
            std::fs::write(self.pack(domain).join("glossary.toml"), glossary).unwrap();
        }
    }
}

struct Column {
    schema: String,
    table: String,
    name: String,
    kind: String,
}

async fn columns(owner: &Client) -> Vec<Column> {
    let query = "SELECT table_schema::text, table_name::text, column_name::text, data_type::text
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2, ordinal_position";
    let rows = owner.query(query, &[]).await.unwrap();
    rows.iter()
        .map(|row| Column { schema: row.get(0), table: row.get(1), name: row.get(2), kind: row.get(3) })
        .collect()
}

/// Column descriptions as `notes.toml`.
fn notes(meta: &Value, columns: &[Column]) -> String {
    let mut text = String::new();
    for (table, described) in meta["table_metadata"].as_object().into_iter().flatten() {
        let mut lines = String::new();
        for described in described.as_array().into_iter().flatten() {
            let name = described["column_name"].as_str().unwrap_or_default();
            let note = described["column_description"].as_str().unwrap_or_default().trim();
            // Names are written as people write them; PostgreSQL folded them.
            let column = columns.iter().find(|column| {
                column.table.eq_ignore_ascii_case(table) && column.name.eq_ignore_ascii_case(name)
            });
            if let Some(column) = column.filter(|_| !note.is_empty()) {
                let _ = writeln!(lines, "{:?} = {{ note = {} }}", column.name, toml(note, NOTE));
            }
        }
        let there = columns.iter().find(|column| column.table.eq_ignore_ascii_case(table));
        if let Some(there) = there.filter(|_| !lines.is_empty()) {
            let _ = writeln!(text, "[tables.\"{}.{}\".columns]\n{lines}", there.schema, there.table);
        }
    }
    text
}

/// The single rules of an instruction.
fn rules(instructions: &str) -> Vec<String> {
    instructions
        .split(['\n', ';'])
        .map(|rule| rule.trim().trim_end_matches('.').to_owned())
        .filter(|rule| !rule.is_empty())
        .collect()
}

/// A rule as a term: what stands before `refers to` or `=`, else its first words.
fn term(rule: &str) -> (String, String) {
    let named = [" refers to ", " = "].iter().find_map(|word| Some(rule.split_once(word)?.0));
    let name = named.filter(|name| name.chars().count() <= 60).map(str::to_owned);
    let words = || rule.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    (name.unwrap_or_else(words).to_lowercase(), rule.to_owned())
}

/// A text as TOML writes it.
fn toml(text: &str, limit: usize) -> String {
    // JSON's strings are TOML's.
    Value::String(text.chars().take(limit).collect()).to_string()
}
