//! The pass by the clock: each domain is promoted in the configured mode, then looked at for what does not help any more.
//!
//! A time that passed while no host was up is not made up for, and none is run twice: not when the clock is set back, not
//! by two hosts. One decision at a time is written whole, so a host that stops in the middle leaves nothing half done.

use std::sync::Arc;
use std::time::Duration;

use airlock_knowledge::store::{OneHost, Promote, StoreError};
use airlock_pipeline::Host;
use airlock_pipeline::learning::{
    DecayOptions, DecayReport, GateMode, GateOptions, PassError, PassReport, decay,
};
use airlock_types::DomainName;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{LastRun, Schedule, Status, WHO};

/// Between two looks at the clock: it may have been set.
const LOOK: Duration = Duration::from_secs(1);
/// How long after its time a run is still held, so that a host whose clock is late does not run it again.
const HELD: SignedDuration = SignedDuration::from_secs(40);

/// Who decides in the pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Promotion {
    /// Nobody: nothing is promoted.
    #[default]
    Nobody,
    /// The model of the role `review`.
    Model,
    /// Golden cases with and without the candidate.
    Replay,
}

impl Promotion {
    /// Its word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nobody => "none",
            Self::Model => "model",
            Self::Replay => "replay",
        }
    }
}

impl std::str::FromStr for Promotion {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = [Self::Nobody, Self::Model, Self::Replay];
        known.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| {
            let shown: String = word.chars().take(40).collect();
            format!(
                "`{shown}` is none of none, model, replay: a person and the checks alone decide at the command line only"
            )
        })
    }
}

/// When, and who decides.
#[derive(Debug, Clone)]
pub struct Scheduled {
    /// When.
    pub schedule: Schedule,
    /// Who decides.
    pub promotion: Promotion,
}

/// What became of one domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainRun {
    domain: DomainName,
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<PassReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decay: Option<DecayReport>,
    /// What kept it from being done.
    errors: Vec<String>,
}

/// Runs at every time of the schedule, for ever.
pub(super) async fn keep(host: Arc<Host>, promote: Promote, scheduled: Scheduled, status: Arc<Status>) {
    let mut after = Timestamp::now();
    while let Some(due) = scheduled.schedule.next(after) {
        status.change(|known| known.next = Some(due));
        while Timestamp::now() < due {
            tokio::time::sleep(LOOK).await;
        }
        let (ran, turn) = run(&host, &promote, scheduled.promotion, due).await;
        status.change(|known| known.last = Some(ran));
        if turn.is_some() {
            let rest = due.saturating_add(HELD).map_or(SignedDuration::ZERO, |until| {
                until.duration_since(Timestamp::now()).clamp(SignedDuration::ZERO, HELD)
            });
            tokio::time::sleep(rest.unsigned_abs()).await;
        }
        drop(turn);
        // Never before this time again, and not what passed while it ran.
        after = due.max(Timestamp::now());
    }
    status.change(|known| known.next = None);
}

/// Runs once, if this host is the one; what came of it, and the turn, to be held a while longer.
async fn run(
    host: &Host,
    promote: &Promote,
    promotion: Promotion,
    due: Timestamp,
) -> (LastRun, Option<OneHost>) {
    let ended = |elsewhere, domains| LastRun { due, ended: Timestamp::now(), elsewhere, domains };
    let turn = match promote.scheduled().await {
        Ok(Some(turn)) => turn,
        Ok(None) => {
            tracing::info!(%due, "another host runs the schedule of this store");
            return (ended(true, Vec::new()), None);
        }
        Err(error) => {
            tracing::warn!(%due, %error, "the schedule was not run");
            let failed = |domain: &DomainName| DomainRun::failed(domain, &error);
            return (ended(false, host.domains().map(|domain| failed(domain.name())).collect()), None);
        }
    };
    let mut domains = Vec::new();
    for domain in host.domains() {
        domains.push(one(host, promote, promotion, domain.name()).await);
    }
    (ended(false, domains), Some(turn))
}

impl DomainRun {
    fn failed(domain: &DomainName, error: &StoreError) -> Self {
        Self { domain: domain.clone(), promotion: None, decay: None, errors: vec![error.to_string()] }
    }
}

async fn one(host: &Host, promote: &Promote, promotion: Promotion, name: &DomainName) -> DomainRun {
    let mut ran = DomainRun { domain: name.clone(), promotion: None, decay: None, errors: Vec::new() };
    let mode = match promotion {
        Promotion::Nobody => None,
        Promotion::Model => Some(GateMode::Model),
        Promotion::Replay => Some(GateMode::Replay),
    };
    if let Some(mode) = mode {
        let options = GateOptions::new(WHO);
        match host.promotion_pass(promote, Some(name), mode, &options, |_, _| {}).await {
            Ok(report) => {
                tracing::info!(domain = %name, summary = ?report.summary, "a pass by the schedule ended");
                ran.promotion = Some(report);
            }
            Err(PassError::Store(StoreError::PassRunning)) => {
                ran.errors.push(StoreError::PassRunning.to_string());
            }
            Err(error) => {
                tracing::warn!(domain = %name, %error, "a pass by the schedule was not made");
                ran.errors.push(error.to_string());
            }
        }
    }
    let looked = match host.caught_up(Some(name)).await {
        Ok(domain) => {
            decay(&domain, promote, &DecayOptions::new(WHO)).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    match looked {
        Ok(report) => ran.decay = Some(report),
        Err(error) => {
            tracing::warn!(domain = %name, error, "what does not help any more was not looked for");
            ran.errors.push(error);
        }
    }
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_promotes_by_rule() {
        for (word, known) in
            [("none", true), ("replay", true), ("model", true), ("auto", false), ("person", false)]
        {
            assert_eq!(word.parse::<Promotion>().is_ok(), known, "{word}");
        }
    }
}
