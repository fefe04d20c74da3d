//! Public questions over ten databases, each a domain of its own with a pack made from what comes with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use airlock_database::{Source, SourceConfig};
use airlock_knowledge::Pack;
use airlock_models::{Models, ModelsConfig};
use airlock_pipeline::{Domain, Host, HostOptions};
use airlock_runtime::{Grants, Registry, Runtime, RuntimeConfig};
use serde_json::Value;
use tokio_postgres::Client;

use crate::laboratory::{Laboratory, Place};
use crate::{components, under_test};

/// Milliseconds a statement may take.
const STATEMENT_MS: u64 = 10_000;
/// Words in the name of a column that holds prose.
const PROSE: &[&str] =
    &["text", "desc", "description", "comment", "comments", "abstract", "body", "notes", "message"];
/// Words in the name of a column by which a person is reached or known to the authorities.
const REACHES: &[&str] = &["email", "mail", "phone", "mobile", "address", "password", "ssn"];
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
            domains.push(Domain::open_whole(&pack, source.await.unwrap()).await.unwrap());
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

    /// Runs `airlock eval` over the loaded databases.
    #[must_use]
    pub fn eval(&self, arguments: &[&str]) -> Output {
        let mut command = under_test();
        command.arg("--config").arg(self.laboratory.config()).arg("eval").args(arguments);
        command.output().unwrap()
    }

    fn pack(&self, domain: &str) -> PathBuf {
        self.laboratory.data().join("domains").join(domain)
    }

    /// Writes what is known of a database into its pack: notes on columns, the glossary as a document, and which columns
    /// may be found by their values.
    ///
    /// The author of a pack over public data would say what the host cannot know: that the name of a restaurant or of an
    /// author is no secret. Columns of text that the host holds back by their names alone are declared plain, but for those
    /// by which a person is reached ([`REACHES`]). Prose ([`PROSE`]) is not indexed by value: its words are no names.
    async fn describe(&self, database: &str, domain: &str) {
        let columns = columns(&self.laboratory.admin(database).await).await;
        let pack = self.pack(domain);
        let file = self.folder.join(format!("db/{database}.meta.json"));
        let meta: Value =
            std::fs::read(file).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
        let glossary = meta["glossary"].as_str().unwrap_or_default().trim();
        if !glossary.is_empty() {
            std::fs::create_dir(pack.join("docs")).unwrap();
            std::fs::write(pack.join("docs/glossary.md"), glossary).unwrap();
        }
        let settings = std::fs::read_to_string(pack.join("domain.toml")).unwrap();
        let mut open: Vec<&Column> = columns
            .iter()
            .filter(|column| ["text", "character varying", "character"].contains(&column.kind.as_str()))
            .filter(|column| !column.is_called(PROSE))
            .collect();
        let mut plain: BTreeSet<String> = BTreeSet::new();
        // Whose values nobody may see is the host's to say; what it names is declared plain or taken off the list.
        loop {
            let list: Vec<String> = open
                .iter()
                .map(|column| format!("'\"{}\".\"{}\".\"{}\"'", column.schema, column.table, column.name))
                .collect();
            let list = list.join(", ");
            let text = format!("{settings}[egress]\nsamples = [{list}]\nvalues = [{list}]\n");
            std::fs::write(pack.join("domain.toml"), text).unwrap();
            std::fs::write(pack.join("notes.toml"), notes(&meta, &columns, &plain)).unwrap();
            let output = under_test()
                .arg("--config")
                .arg(self.laboratory.config())
                .args(["domain", "check", "--json"])
                .arg(&pack)
                .output()
                .unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let before = (open.len(), plain.len());
            open.retain(|column| {
                let name = column.path();
                if !said.contains(&format!("`{name}`,")) {
                    return true;
                }
                let personal = said.contains(&format!("`{name}`, whose class is personal"));
                personal && !column.is_called(REACHES) && plain.insert(name)
            });
            if (open.len(), plain.len()) == before {
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

impl Column {
    fn path(&self) -> String {
        format!("{}.{}.{}", self.schema, self.table, self.name)
    }

    /// Whether one of these is a word of its name, or stands at the end of it.
    fn is_called(&self, words: &[&str]) -> bool {
        let name = self.name.to_lowercase();
        let parts: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        words.iter().any(|word| parts.contains(word) || name.ends_with(word))
    }
}

async fn columns(owner: &Client) -> Vec<Column> {
    let query = "SELECT table_schema::text, table_name::text, column_name::text, data_type::text
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2, ordinal_position";
    let rows = owner.query(query, &[]).await.unwrap();
    rows.iter()
        .map(|row| Column { schema: row.get(0), table: row.get(1), name: row.get(2), kind: row.get(3) })
        .collect()
}

/// Column descriptions, and which columns are plain, as `notes.toml`.
fn notes(meta: &Value, columns: &[Column], plain: &BTreeSet<String>) -> String {
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    for column in columns {
        // Names are written as people write them; PostgreSQL folded them.
        let described = meta["table_metadata"]
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(table, _)| column.table.eq_ignore_ascii_case(table))
            .flat_map(|(_, described)| described.as_array().into_iter().flatten())
            .find(|described| {
                described["column_name"].as_str().is_some_and(|name| column.name.eq_ignore_ascii_case(name))
            });
        let note =
            described.and_then(|described| described["column_description"].as_str()).unwrap_or_default();
        let mut said = Vec::new();
        if !note.trim().is_empty() {
            said.push(format!("note = {}", toml(note.trim(), NOTE)));
        }
        if plain.contains(&column.path()) {
            said.push("class = \"plain\"".to_owned());
        }
        if !said.is_empty() {
            let table = tables.entry(format!("{}.{}", column.schema, column.table)).or_default();
            let _ = writeln!(table, "{:?} = {{ {} }}", column.name, said.join(", "));
        }
    }
    tables.into_iter().map(|(table, lines)| format!("[tables.\"{table}\".columns]\n{lines}\n")).collect()
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
