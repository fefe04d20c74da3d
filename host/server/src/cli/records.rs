//! The log of asks, as a person types it: how it is going, an ask again, an ask forgotten.

use airlock_types::{AskId, DomainName};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Stats {
    /// Days that are counted, this one included: 1 to 366.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=366))]
    pub days: u32,
    /// The domain; all when left out.
    #[arg(long)]
    pub domain: Option<DomainName>,
    /// Only say whether answers take more attempts, or are given up more often, than before: exit 1 when they do.
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Subcommand)]
pub enum Log {
    /// Take an ask out of the log, the signals, the verdicts and the conversations. There is no way back.
    Forget {
        /// The ask.
        ask: AskId,
    },
    /// What left for models because of an ask after its answer, or beside it; the answer's `context` accounts for the rest.
    Sent {
        /// The ask.
        ask: AskId,
    },
    /// Let go what is older than `[log] retention_days`, as a running server does each night.
    Retain,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// The ask.
    pub ask: AskId,
}
