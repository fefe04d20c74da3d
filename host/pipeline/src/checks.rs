//! What a host claims of itself, tried: the data source's claims, the gate's, the components', the models'.

use airlock_database::checks::{Check, CheckOutcome};
use airlock_models::Condition;
use airlock_runtime::Stage;
use airlock_types::DomainName;
use serde::Serialize;

use crate::domain::Domain;
use crate::host::Host;
use crate::quarantine::{Consequence, Quarantined, Served};

/// Checks about one thing.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// The domain they are about; absent when they are about the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainName>,
    /// The check.
    #[serde(flatten)]
    pub check: Check,
}

impl Checked {
    /// Whether it speaks against the host.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.check.outcome == CheckOutcome::Failed
    }
}

/// Stages without which no question can be answered.
const NEEDED: [Stage; 5] = [Stage::Planner, Stage::Linker, Stage::Composer, Stage::Repair, Stage::Answerer];

/// A role that a key gives to its holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRole {
    /// The role.
    pub role: String,
    /// Where the key counts; everywhere when empty.
    pub domains: Vec<String>,
}

impl KeyRole {
    fn is_of(&self, domain: &DomainName) -> bool {
        self.domains.is_empty() || self.domains.iter().any(|name| name == domain.as_str())
    }
}

impl Host {
    /// Tries every claim. `roles` are what keys give to their holders.
    pub async fn checks(&self, roles: &[KeyRole]) -> Vec<Checked> {
        let mut checks = Vec::new();
        for domain in self.domains() {
            let about = |check| Checked { domain: Some(domain.name().clone()), check };
            let mut here: Vec<String> =
                roles.iter().filter(|role| role.is_of(domain.name())).map(|role| role.role.clone()).collect();
            here.sort();
            here.dedup();
            checks.extend(domain.source().checks(domain.catalogue(), &here).await.into_iter().map(about));
            checks.push(about(canaries(&domain)));
            checks.push(about(self.stages_of(&domain)));
        }
        checks.push(Checked { domain: None, check: self.store_check().await });
        checks.push(Checked { domain: None, check: self.log_check().await });
        checks.push(Checked { domain: None, check: self.quarantine_check() });
        checks.push(Checked { domain: None, check: self.models_check() });
        let embedder = encoder("embedder", self.embedder(), "keywords alone find what is near");
        checks.push(Checked { domain: None, check: embedder });
        let reranker = encoder("reranker", self.reranker(), "what is found stays in the order of retrieval");
        checks.push(Checked { domain: None, check: reranker });
        checks
    }

    fn stages_of(&self, domain: &Domain) -> Check {
        let set = self.registry().current();
        let serves = |stage: &Stage| set.component(*stage, domain.name()).is_some();
        let mut missing: Vec<&str> =
            NEEDED.iter().filter(|stage| !serves(stage)).map(|stage| stage.as_str()).collect();
        if self.models().available() && !serves(&Stage::Generator) {
            missing.push(Stage::Generator.as_str());
        }
        check(
            "stages-are-served",
            "a component for each stage an ask needs",
            missing.is_empty(),
            if missing.is_empty() {
                "each has one".to_owned()
            } else {
                format!("none for {}", missing.join(", "))
            },
            "load a component for each, by its grant",
        )
    }

    async fn store_check(&self) -> Check {
        let tried = "the number of the last change of the knowledge store";
        let Some(recall) = self.store() else {
            return Check {
                name: "store-answers",
                outcome: CheckOutcome::Skipped,
                tried: tried.to_owned(),
                found: "there is no store: nothing is learned or logged".to_owned(),
                remedy: None,
            };
        };
        let (passed, found) = match recall.number().await {
            Ok(number) => (true, format!("change {number}")),
            Err(error) => (false, error.to_string()),
        };
        let remedy = "bring the store's PostgreSQL back; answers go on without what was learned until then";
        check("store-answers", tried, passed, found, remedy)
    }

    /// A log that is off is a state somebody chose, and still one that is told.
    async fn log_check(&self) -> Check {
        let tried = "a row of the log, written and taken back";
        let skipped = |found: &str| Check {
            name: "asks-are-logged",
            outcome: CheckOutcome::Skipped,
            tried: tried.to_owned(),
            found: found.to_owned(),
            remedy: None,
        };
        let Some(journal) = &self.journal else { return skipped("there is no store: no ask is logged") };
        let Some(tried_now) = journal.tried().await else {
            return skipped("off by `[log] asks = false`: no ask is logged");
        };
        let state = journal.state();
        let not_logged = match state.not_logged {
            0 => String::new(),
            lost => format!(", {lost} since the start were not logged"),
        };
        let found = match &tried_now {
            Ok(()) => format!("{} asks since the start{not_logged}", state.written),
            Err(error) => format!("{error}; {} asks wait{not_logged}", state.waiting),
        };
        let remedy = "bring the store's PostgreSQL back; asks wait until then, as far as there is room";
        check("asks-are-logged", tried, tried_now.is_ok(), found, remedy)
    }

    /// A component that was replaced is told and does no harm; one that could not be is a fault of the host.
    fn quarantine_check(&self) -> Check {
        let list = self.quarantine().list();
        let harmless = |entry: &Quarantined| matches!(entry.consequence, Consequence::BroughtBack { .. });
        let found: Vec<String> = list
            .iter()
            .map(|entry| {
                let Served { component, digest } = &entry.component;
                let now = if harmless(entry) { "another serves" } else { "nothing could replace it" };
                format!("`{component}` ({}) for {} of {}: {now}", digest.short(), entry.stage, entry.domains)
            })
            .collect();
        check(
            "components-keep-working",
            "components that failed several asks",
            list.iter().all(harmless),
            if found.is_empty() { "none is in quarantine".to_owned() } else { found.join("; ") },
            "swap the component: `airlock plugin swap`",
        )
    }

    fn models_check(&self) -> Check {
        let roles: Vec<String> = self
            .models()
            .describe()
            .into_iter()
            .map(|(role, model, _)| format!("{} is {model}", role.as_str()))
            .collect();
        Check {
            name: "models",
            outcome: if roles.is_empty() { CheckOutcome::Skipped } else { CheckOutcome::Passed },
            tried: "the configured roles".to_owned(),
            found: if roles.is_empty() {
                "no model is configured; the composer drafts alone".to_owned()
            } else {
                roles.join(", ")
            },
            remedy: None,
        }
    }
}

/// One that is down takes nothing out of service: it is told, and what answers do without it.
fn encoder(name: &'static str, encoder: Option<(&str, Condition)>, without: &str) -> Check {
    let (outcome, found, remedy) = match encoder {
        None => (CheckOutcome::Skipped, format!("none is configured: {without}"), None),
        Some((model, Condition::Idle)) => {
            (CheckOutcome::Passed, format!("{model}, which nothing has used yet"), None)
        }
        Some((model, Condition::Working)) => (CheckOutcome::Passed, format!("{model} works"), None),
        Some((model, Condition::Degraded(why))) => (
            CheckOutcome::Skipped,
            format!("{model} is down: {why}"),
            Some(format!("mend it; until then {without}")),
        ),
    };
    Check { name, outcome, tried: "how it did the last time".to_owned(), found, remedy }
}

/// Texts that a gate must refuse, whatever the domain; `{}` is a table of it.
const CANARIES: [&str; 12] = [
    "SELECT 1; SELECT 2",
    "COMMIT; DELETE FROM {}; SELECT 1",
    "DELETE FROM {}",
    "WITH gone AS (DELETE FROM {} RETURNING 1) SELECT * FROM gone",
    "SELECT * INTO copied FROM {}",
    "SELECT * FROM {} FOR UPDATE",
    "SELECT pg_sleep(1)",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT query_to_xml('DELETE FROM x', true, true, '')",
    "SELECT set_config('role', 'none', false)",
    "SELECT rolname FROM pg_catalog.pg_authid",
    "SELECT current_setting('is_superuser')",
];

/// Whether the gate refuses what it must and approves what it may.
fn canaries(domain: &Domain) -> Check {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let table = domain.catalogue().iter().next().map_or_else(
        || "nothing".to_owned(),
        |relation| format!("{}.{}", quoted(&relation.table.schema), quoted(&relation.table.name)),
    );
    let through: Vec<&str> = CANARIES
        .into_iter()
        .filter(|text| domain.gate().check(&text.replace("{}", &table)).is_ok())
        .collect();
    let honest = domain.gate().check(&format!("SELECT count(*) FROM {table}"));
    let (passed, found) = match (through.as_slice(), honest) {
        ([], Ok(_)) => (true, format!("{} attacks refused, an honest query approved", CANARIES.len())),
        ([], Err(rejection)) => (false, format!("an honest query was refused: {}", rejection.message)),
        (through, _) => (false, format!("let through: {}", through.join(" | "))),
    };
    check(
        "gate-sees-canaries",
        "attacks of each kind and one honest query at the gate",
        passed,
        found,
        "stop the host: this build must not serve",
    )
}

fn check(name: &'static str, tried: &str, passed: bool, found: String, remedy: &str) -> Check {
    Check {
        name,
        outcome: if passed { CheckOutcome::Passed } else { CheckOutcome::Failed },
        tried: tried.to_owned(),
        found,
        remedy: (!passed).then(|| remedy.to_owned()),
    }
}
