//! `airlock eval`, as a person types it.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum Eval {
    /// Ask questions with known answers, agent and baseline, and grade them by what their SQL returns.
    Run(Run),
    /// Grade a finished run again by today's rules; no model is asked.
    Regrade(Regrade),
    /// Compare two runs, question by question: what came out otherwise, and whether that is more than chance. Ends with 1
    /// when the second is worse.
    Compare(Compare),
    /// How often the linker selects every table that the right answer reads, at width 5 and at width 9. No model is asked.
    Link(Link),
    /// Break every right query on purpose, class by class, and count what repair heals without a model. Ends with 1 when a
    /// right query was harmed, or a code of PostgreSQL came up that nothing is known of.
    Faults(Faults),
}

#[derive(Debug, Args)]
pub struct Faults {
    /// Questions, one JSON object a line; the `evaluation.jsonl` of the domain's pack when left out.
    #[arg(long, value_name = "FILE", required_unless_present = "domain")]
    pub questions: Option<PathBuf>,
    /// The domain of questions that name no database.
    #[arg(long)]
    pub domain: Option<String>,
    /// The faults follow from it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Break only the first N.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Where the folder of the run is made.
    #[arg(long, value_name = "DIR", default_value = "evaluations")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct Link {
    /// Questions, one JSON object a line; the `evaluation.jsonl` of the domain's pack when left out.
    #[arg(long, value_name = "FILE", required_unless_present = "domain")]
    pub questions: Option<PathBuf>,
    /// The domain to link in; the one named like the question's database, or the only one, when left out.
    #[arg(long)]
    pub domain: Option<String>,
}

/// Whether the baseline is asked beside the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Baseline {
    /// Agent and baseline.
    Both,
    /// The baseline alone.
    Only,
    /// The agent alone.
    Off,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Questions, one JSON object a line; the `evaluation.jsonl` of the domain's pack when left out.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["domain", "resume"])]
    pub questions: Option<PathBuf>,
    /// The domain of questions that name no database.
    #[arg(long)]
    pub domain: Option<String>,
    /// The domain for a database that has another name; several times for several.
    #[arg(long, value_name = "DB=DOMAIN")]
    pub map: Vec<String>,
    /// Whether one attempt without repair is measured beside the agent.
    #[arg(long, value_enum, default_value = "both")]
    pub baseline: Baseline,
    /// Leave out knowledge, to see how repair does without: samples, keys, notes.
    #[arg(long, value_name = "WHAT,...")]
    pub degrade: Option<String>,
    /// Play recorded replies in place of a model.
    #[arg(long, value_name = "DIR")]
    pub replies: Option<PathBuf>,
    /// Keep every exchange with the model, to be played with --replies.
    #[arg(long, value_name = "DIR", conflicts_with = "replies")]
    pub record: Option<PathBuf>,
    /// Where the folder of the run is made; `evaluation.dir` of the configuration when left out.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Ask only the first N.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// The moment of questions that have none of their own: RFC 3339, or a date. The recording's, or the run's beginning.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Leave out lines that cannot be read and questions whose right answers cannot serve, instead of asking nothing.
    #[arg(long)]
    pub skip_bad: bool,
    /// Go on with a run that was stopped, as it was begun.
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "questions", "domain", "map", "baseline", "degrade", "out", "limit", "now", "skip_bad",
    ])]
    pub resume: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Regrade {
    /// Folder of the run.
    pub run: PathBuf,
    /// Where the folder with the new grades is made; beside the run when left out.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Folder of the first run.
    pub first: PathBuf,
    /// Folder of the second.
    pub second: PathBuf,
}
