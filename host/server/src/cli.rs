//! The command line, as a person types it. Meaning is given to it in `commands`.

mod eval;
mod key;
mod knowledge;
mod records;

use std::path::PathBuf;

use airlock_types::DomainName;
use clap::{Args, Parser, Subcommand};

use crate::operator::RUNS;

pub use eval::{Baseline, Compare, Eval, Faults, Link, Regrade, Run};
pub use key::{CreateKey, Key};
pub use knowledge::{
    Decide, Edit, Examples, Feedback, Golden, Knowledge, Lessons, List, Of, One, PromoteMode, Verdict,
};
pub use records::{Log, Replay, Stats};

/// Questions in plain English, answered from PostgreSQL by components that hold no authority.
#[derive(Debug, Parser)]
#[command(
    name = "airlock",
    version,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 the answer is no (refused, clarification, gave up, rejected), 2 usage, 3 infrastructure."
)]
pub struct Cli {
    /// Configuration file.
    #[arg(long, global = true, value_name = "FILE", env = "AIRLOCK_CONFIG")]
    pub config: Option<PathBuf>,
    /// Print JSON: one object, or one a line for lists.
    #[arg(long, global = true)]
    pub json: bool,
    /// Log more to stderr; twice for everything.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// How log lines are written to stderr.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        env = "AIRLOCK_LOG_FORMAT",
        value_enum,
        default_value_t
    )]
    pub log_format: LogFormat,
    /// Instead of doing anything, print the configuration in force: every key, its value, where that came from; secrets
    /// are masked.
    #[arg(long, global = true)]
    pub print_config: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line, for programs.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// A private PostgreSQL, a domain loaded, the server up, one question answered.
    Demo(Demo),
    /// Serve the HTTP API and the page.
    Serve(Serve),
    /// Serve one agent over stdin and stdout, by the Model Context Protocol. Logs go to stderr; it ends when stdin closes.
    Mcp,
    /// Ask a question.
    Ask(Ask),
    /// Show what a model would see for a question, block by block.
    Context(Context),
    /// Judge SQL from stdin by the gate: plain SQL, or one JSON object {"id","sql"} a line.
    CheckSql(CheckSql),
    /// Domain packs.
    #[command(subcommand)]
    Domain(Domain),
    /// Whether the schema is still the one that people wrote about: 0 when it is, 1 when it drifted.
    Drift(Drift),
    /// Components.
    #[command(subcommand)]
    Plugin(Plugin),
    /// Questions with known answers, asked in bulk and graded.
    #[command(subcommand)]
    Eval(Eval),
    /// Questions with the SQL that answers them.
    #[command(subcommand)]
    Examples(Examples),
    /// What was learned, in sentences.
    #[command(subcommand)]
    Lessons(Lessons),
    /// Questions whose right answer is known.
    #[command(subcommand)]
    Golden(Golden),
    /// The gate between what is proposed and what is trusted.
    #[command(subcommand)]
    Knowledge(Knowledge),
    /// Say whether an answer is right.
    Feedback(Feedback),
    /// Keys by which programs and people come in.
    #[command(subcommand)]
    Key(Key),
    /// How it is going: asks by outcome, repair, latency, cost, and whether answers take more than they did.
    Stats(Stats),
    /// The log of asks.
    #[command(subcommand)]
    Log(Log),
    /// A finished ask again, from its record, and the first difference.
    Replay(Replay),
    /// Try every claim of this installation: each check attempts what must not work.
    Doctor,
    /// Create the reader role of a data source; the administrator's address is read here and nowhere else. The role's
    /// password is AIRLOCK_READER_PASSWORD, or a random one.
    Setup(Setup),
}

impl Command {
    /// The address that it is to serve on, if it says so.
    pub fn listen(&self) -> Option<&str> {
        match self {
            Self::Serve(Serve { listen, .. }) | Self::Demo(Demo { listen, .. }) => listen.as_deref(),
            _ => None,
        }
    }

    /// Whether it calls components to see what they do.
    pub const fn tries_components(&self) -> bool {
        matches!(self, Self::Plugin(Plugin::Check { .. } | Plugin::Test(_)))
    }
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Folder of components and their grants, as `cargo xtask plugins` makes it.
    #[arg(long, value_name = "DIR")]
    pub components: PathBuf,
    /// Folder of domain packs.
    #[arg(long, value_name = "DIR", default_value = "domains")]
    pub domains: PathBuf,
    /// Where the private PostgreSQL keeps its data; the user's data folder when left out.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder of an embedding model, as `cargo xtask model` fetches one; keywords alone find what is near when left out.
    #[arg(long, value_name = "DIR")]
    pub embedder: Option<PathBuf>,
    /// Stop after the answer, with the exit code that tells its outcome.
    #[arg(long)]
    pub once: bool,
    /// The pack to show.
    #[arg(long, value_name = "NAME", default_value = "hardware-shop")]
    pub pack: DomainName,
    /// The question to ask; the pack's first golden one when left out.
    #[arg(long, value_name = "TEXT")]
    pub question: Option<String>,
    /// Address to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address to serve on; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
}

#[derive(Debug, Args)]
pub struct Ask {
    /// The question.
    pub question: String,
    /// The domain; may be left out when there is only one.
    #[arg(long)]
    pub domain: Option<String>,
    /// One attempt, no repair.
    #[arg(long)]
    pub baseline: bool,
    /// Answer as of this moment: RFC 3339, or a date.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Rows wanted at most.
    #[arg(long, value_name = "N")]
    pub max_rows: Option<u32>,
    /// The ask this one follows.
    #[arg(long, value_name = "ASK-ID")]
    pub follow_up_of: Option<String>,
    /// The option chosen, when the ask of --follow-up-of ended in a clarification.
    #[arg(long, value_name = "OPTION", requires = "follow_up_of")]
    pub choice: Option<String>,
    /// Ask a running server at this address instead of starting a host for the question. The key in AIRLOCK_KEY goes with it,
    /// where that is set; it is no argument, because others on a machine read those.
    #[arg(long, value_name = "URL", env = "AIRLOCK_SERVER")]
    pub server: Option<String>,
}

#[derive(Debug, Args)]
pub struct Context {
    /// The question.
    pub question: String,
    /// The domain; may be left out when there is only one.
    #[arg(long)]
    pub domain: Option<String>,
    /// As of this moment: RFC 3339, or a date.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
}

#[derive(Debug, Args)]
pub struct CheckSql {
    /// The domain; may be left out when there is only one.
    #[arg(long)]
    pub domain: Option<String>,
    /// A saved catalogue instead of the live one; it holds the domain's row cap and allowed functions as well.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["domain", "run", "save_catalogue"])]
    pub catalogue: Option<PathBuf>,
    /// Save the live catalogue to this file and exit.
    #[arg(long, value_name = "FILE")]
    pub save_catalogue: Option<PathBuf>,
    /// Run what is approved and add its rows.
    #[arg(long)]
    pub run: bool,
}

#[derive(Debug, Args)]
pub struct Drift {
    /// Only this domain; all that are configured when left out.
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
    /// Take the schema of now as the one that people wrote about.
    #[arg(long)]
    pub accept: bool,
}

#[derive(Debug, Subcommand)]
pub enum Domain {
    /// Draft a pack from a live database, for people to finish. Everything comes from the catalogue: no row is read.
    Init(Init),
    /// Check a pack: all problems in one report. With a data source configured, against its live catalogue.
    Check {
        /// The pack's folder.
        dir: PathBuf,
    },
    /// Load packs into the store: all problems in one report, and for each golden question the rank of the tables it needs. A
    /// running host serves a loaded pack at once.
    Load {
        /// The packs' folders; those of the configuration when left out.
        dirs: Vec<PathBuf>,
    },
    /// List the domains of this configuration, and what the store has of each.
    List,
    /// What the store has beside a pack, as a patch of its files: what was learned, and where the pack on disk is not the
    /// one that was loaded.
    Diff {
        /// The domain.
        name: DomainName,
    },
}

#[derive(Debug, Args)]
pub struct Init {
    /// The pack's folder, which must not be there yet. Its name is the domain's: lower-case letters, digits and hyphens.
    pub dir: PathBuf,
    /// The database, as whoever may read what the pack is to list. The address is used once and written nowhere.
    #[arg(long, value_name = "URL", env = "AIRLOCK_DATABASE_URL", hide_env_values = true)]
    pub database_url: String,
    /// Only these relations, as schema.relation, or as relation of --schema (or of public).
    #[arg(long, value_name = "RELATION", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only this schema; several in the order in which a name is looked for. All that the role may use when left out.
    #[arg(long, value_name = "SCHEMA", value_delimiter = ',')]
    pub schema: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum Plugin {
    /// List components: what serves in the running host, or else what the folder of components holds.
    List,
    /// A new project: a component of a stage that builds, with tests and cases of its own.
    New(NewPlugin),
    /// Build a project into a component, and write the grant it asks for beside it.
    Build {
        /// The project's folder.
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Build on every save, and put what was built in service on the running host.
    Dev(DevPlugin),
    /// Check a component: contract, imports, exports, grant, limits, and the same results for the same input.
    Check {
        /// The component.
        file: PathBuf,
        /// Grants to hold it against; the file beside it, NAME.grant.toml, when left out.
        #[arg(long, value_name = "FILE")]
        grants: Option<PathBuf>,
    },
    /// Run the cases of a stage against a component, on the real runtime with its real limits.
    Test(TestPlugin),
    /// Make a key to sign components with.
    Keygen {
        /// Where the secret key is put.
        file: PathBuf,
    },
    /// Sign what a component may be and have, in a file beside it.
    Sign {
        /// The component.
        file: PathBuf,
        /// The secret key.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Grants that have the component's; the file beside it, NAME.grant.toml or grants.toml, when left out.
        #[arg(long, value_name = "FILE")]
        grants: Option<PathBuf>,
    },
    /// Put another component in service on the running host; asks in flight finish on the old one.
    Swap(Swap),
    /// Bring back what served a stage before.
    Rollback {
        /// planner, linker, generator, composer, repair, answerer, distill or domain.
        stage: String,
        /// Only for this domain; for all when left out.
        #[arg(long)]
        domain: Option<String>,
    },
    /// What served when: swaps, rollbacks, quarantines, shadows.
    History {
        /// Only this stage.
        stage: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct NewPlugin {
    /// Name of the component: lower-case letters, digits and hyphens.
    pub name: String,
    /// planner, linker, generator, composer, repair, answerer, distill or domain.
    #[arg(long)]
    pub stage: String,
    /// rust, python or javascript.
    #[arg(long, default_value = "rust")]
    pub language: String,
    /// The project's folder; NAME when left out. It must not be there yet.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Depend on the SDK in this folder instead of a copy.
    #[arg(long, value_name = "DIR")]
    pub sdk: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DevPlugin {
    /// The project's folder.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only for this domain; for all when left out.
    #[arg(long)]
    pub domain: Option<String>,
    /// Write the grant of each build into the operators' own grants: for a host that is yours.
    #[arg(long)]
    pub write_grants: bool,
}

#[derive(Debug, Args)]
pub struct TestPlugin {
    /// The component, or the folder of its project.
    pub component: PathBuf,
    /// The stage; those of its grant when left out.
    #[arg(long)]
    pub stage: Option<String>,
    /// Look things up in this domain, and ask its golden questions too.
    #[arg(long)]
    pub domain: Option<String>,
    /// More cases; those of the project, cases.json, when left out.
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// Grants to run it under; the file beside it, NAME.grant.toml, when left out.
    #[arg(long, value_name = "FILE")]
    pub grants: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Swap {
    /// planner, linker, generator, composer, repair, answerer, distill or domain.
    pub stage: String,
    /// The component. Its digest must have a grant.
    pub component: PathBuf,
    /// Only for this domain; for all when left out.
    #[arg(long)]
    pub domain: Option<String>,
    /// Replay golden cases on the old and the new one first, and refuse when one gets worse: the cases of the domains'
    /// packs, or of a file.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub verify: Option<Option<PathBuf>>,
    /// Swap although golden cases get worse; this is logged.
    #[arg(long, requires = "verify")]
    pub force: bool,
    /// Do not swap: run it beside the old one in the next N asks that need the stage, and compare.
    #[arg(long, value_name = "N", conflicts_with_all = ["verify", "force"], value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNS)))]
    pub shadow: Option<u32>,
}

#[derive(Debug, Args)]
pub struct Setup {
    /// Address of an administrator of the data source.
    #[arg(long, value_name = "URL", env = "AIRLOCK_ADMIN_URL", hide_env_values = true)]
    pub admin_url: String,
    /// Make the knowledge store instead: its database, its schema and its eight roles.
    #[arg(long, conflicts_with_all = ["domain", "reader", "harden", "rotate_password"])]
    pub store: bool,
    /// Database of the store; made when it is not there.
    #[arg(long, value_name = "NAME", default_value = "airlock", requires = "store")]
    pub store_database: String,
    /// What the names of the store's roles begin with.
    #[arg(long, value_name = "PREFIX", default_value = "airlock", requires = "store")]
    pub role_prefix: String,
    /// File for the passwords of the store's roles, for the owner's eyes alone.
    #[arg(long, value_name = "FILE", default_value = "store.credentials", requires = "store")]
    pub credentials: PathBuf,
    /// The domain whose relations the reader is granted; may be left out when there is only one.
    #[arg(long)]
    pub domain: Option<String>,
    /// Name of the role.
    #[arg(long, value_name = "ROLE", default_value = "airlock_reader")]
    pub reader: String,
    /// Also take from PUBLIC what a reader must never have; touches other users of the database.
    #[arg(long)]
    pub harden: bool,
    /// Give a role that is there already a new password: AIRLOCK_READER_PASSWORD, or a random one that is shown once.
    #[arg(long)]
    pub rotate_password: bool,
    /// Only print the statements, for a DBA.
    #[arg(long)]
    pub print: bool,
}
