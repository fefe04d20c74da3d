//! The report on the host's health as it stands in an answer: what `/api/health` and `airlock doctor` give, in types, so that the
//! OpenAPI document says what comes.

use airlock_knowledge::store::{Trend, TrendState};
use airlock_models::Condition;
use airlock_pipeline::quarantine::Consequence;
use airlock_pipeline::{Checked, DomainDrift, Host, JournalState, Quarantined};
use airlock_types::{ContentHash, DomainName};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// How the host does. A caller who is bound to some domains gets only what is about those.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Health {
    /// Whether every claim holds.
    pub ok: bool,
    /// Version of airlock.
    pub version: &'static str,
    /// The domains in service.
    #[schema(value_type = Vec<String>)]
    pub domains: Vec<DomainName>,
    /// What serves each stage.
    #[schema(required = false)]
    pub components: Vec<Serving>,
    /// Components that failed too often.
    #[schema(required = false)]
    pub quarantined: Vec<InQuarantine>,
    /// The data source of each domain.
    pub sources: Vec<SourceHealth>,
    /// The model of each role.
    pub models: Vec<RoleModel>,
    /// Who makes vectors; null where nobody does.
    pub embedder: Option<EncoderState>,
    /// Who reads a question beside what was found for it; null where nobody does.
    pub reranker: Option<EncoderState>,
    /// Every claim, tried.
    #[schema(required = false)]
    pub checks: Vec<Claim>,
    /// What only a server knows of itself.
    #[serde(flatten)]
    pub served: Option<Served>,
}

/// What only a server knows of itself.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Served {
    /// When candidates are ruled on: `off`, or the schedule with its last run.
    #[schema(value_type = Value, required = false)]
    pub schedule: Value,
    /// Whether what was learned takes part in asks.
    #[schema(required = false)]
    pub recall: bool,
    /// How logging goes; null without a store.
    #[schema(required = false)]
    pub log: Option<LogState>,
    /// Whether answers take more than they did; null while it cannot be counted.
    #[schema(required = false)]
    pub trend: Option<TrendNow>,
    /// How each domain stands to what people wrote about. It takes nothing out of service.
    pub drift: Vec<DriftNow>,
}

/// A component that serves.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Serving {
    /// The stage that it serves.
    stage: &'static str,
    /// A domain, or `*` for all.
    domains: String,
    /// Its name.
    component: String,
    /// SHA-256 of its bytes.
    #[schema(value_type = String)]
    digest: ContentHash,
}

/// A component that failed too often.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InQuarantine {
    /// The stage that it served.
    stage: &'static str,
    /// A domain, or `*` for all.
    domains: String,
    /// Its name.
    component: String,
    /// SHA-256 of its bytes.
    #[schema(value_type = String)]
    digest: ContentHash,
    /// Asks that failed by it.
    asks: usize,
    /// What serves in its place, or that nothing does.
    #[schema(value_type = Value)]
    now: Consequence,
}

/// A data source.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SourceHealth {
    /// The domain that is asked about it.
    #[schema(value_type = String)]
    domain: DomainName,
    /// Statements that nobody waits for and that still run.
    orphans: usize,
    /// Milliseconds for which callers are still kept away; null when they are not.
    rests_ms: Option<u64>,
}

/// The model of a role.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RoleModel {
    /// `fast`, `reasoning` or `review`.
    role: &'static str,
    /// Its name at its provider.
    model: String,
}

/// An embedder or a reranker. One that is down takes nothing out of service: answers go on without it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EncoderState {
    /// The model.
    model: String,
    /// `idle`, `working` or `degraded`.
    state: &'static str,
    /// Why it is degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    why: Option<String>,
}

/// One claim and how trying it went.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Claim {
    /// The domain it is about; absent when it is about the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub domain: Option<DomainName>,
    /// Stable name, such as `reader-cannot-write`.
    pub name: String,
    /// `passed`, `failed`, `skipped` or `advised`.
    pub outcome: String,
    /// What was tried.
    pub tried: String,
    /// What came of it.
    pub found: String,
    /// What to do about it; null when there is nothing.
    pub remedy: Option<String>,
}

/// How logging goes.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LogState {
    /// `on`, `off`, or `behind` while the store cannot be written.
    state: &'static str,
    /// Whether what a replay needs is kept.
    record: bool,
    /// Asks written since the start.
    written: u64,
    /// Asks that wait to be.
    waiting: u64,
    /// Asks that were not and will not be.
    not_logged: u64,
    /// Why the last attempt failed, while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    why: Option<String>,
}

/// Whether answers take more than they did.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TrendNow {
    /// `too_few`, `steady` or `alert`.
    #[schema(value_type = String)]
    state: TrendState,
    /// What rose.
    rises: Vec<RiseNow>,
    /// Attempts of an answer in the recent days; null while there are too few.
    attempts_per_success: Option<f64>,
    /// The same in the days before.
    attempts_per_success_before: Option<f64>,
    /// The recent days.
    recent: WindowNow,
    /// The days before, which they are compared with.
    before: WindowNow,
    /// The rule.
    rule: &'static str,
}

/// What rose.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RiseNow {
    /// `attempts_per_success` or `give_up_rate`.
    what: &'static str,
    /// What it was in the days before.
    before: f64,
    /// What it is in the recent days.
    recent: f64,
}

/// What was counted in some days.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WindowNow {
    /// How many days.
    days: u32,
    /// Asks answered by SQL.
    answered: i64,
    /// Attempts of those.
    attempts: i64,
    /// Asks with an attempt that were answered or given up.
    drafted: i64,
    /// Those that were given up.
    gave_up: i64,
}

/// How a domain stands to what people wrote about.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DriftNow {
    /// The domain.
    #[schema(value_type = String)]
    domain: DomainName,
    /// When the snapshot was taken; null when there is none, and then nothing can be told.
    #[schema(value_type = Option<String>, format = "date-time")]
    since: Option<jiff::Timestamp>,
    /// Who took it, or what; null when there is none.
    taken_by: Option<String>,
    /// Tables and columns that went, and types that hold less or are others.
    changes: Vec<ChangeNow>,
    /// Parts of the pack that do not fit and are left out.
    lost: Lost,
    /// What rests on the tables that drifted.
    marked: Vec<MarkedNow>,
}

/// One change that is drift.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChangeNow {
    /// The table that changed.
    table: TableName,
    /// The column; absent where it is about the table as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    column: Option<String>,
    /// `table-gone`, `column-gone`, `narrowed` or `retyped`.
    kind: &'static str,
    /// The type that the column had; absent where no type changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    was: Option<String>,
    /// The type that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    now: Option<String>,
    /// What it may be called now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    renamed: Option<String>,
}

/// Schema and name of a relation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TableName {
    /// The schema.
    schema: String,
    /// The name in it.
    name: String,
}

/// Parts of a pack that do not fit.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Lost {
    /// The first of them.
    problems: Vec<Misfit>,
    /// How many more there are.
    dropped: usize,
}

/// One part of a pack that does not fit.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Misfit {
    /// Where it stands.
    spot: Spot,
    /// What is wrong with it.
    what: String,
    /// What to do about it.
    remedy: String,
}

/// A place in a pack.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Spot {
    /// The file, below the pack's folder.
    file: String,
    /// 0 when the file as a whole is meant.
    line: u32,
}

/// What rests on a table that drifted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MarkedNow {
    /// The table.
    table: TableName,
    /// Whether people wrote a note about it.
    note: bool,
    /// Ids of the examples whose SQL reads it.
    examples: Vec<String>,
    /// Ids of the lessons that name it.
    lessons: Vec<String>,
}

impl Health {
    /// What a host says of itself, with these claims.
    pub fn of(host: &Host, checks: Vec<Checked>) -> Self {
        let set = host.registry().current();
        let components = set.iter().map(|(stage, scope, component)| Serving {
            stage: stage.as_str(),
            domains: scope.to_string(),
            component: component.name().to_owned(),
            digest: component.digest(),
        });
        let sources = host.domains().map(|domain| SourceHealth {
            domain: domain.name().clone(),
            orphans: domain.source().orphans(),
            rests_ms: domain
                .source()
                .resting()
                .map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
        });
        let models = host.models().describe().into_iter();
        Self {
            ok: !checks.iter().any(Checked::failed),
            version: env!("CARGO_PKG_VERSION"),
            domains: host.domains().map(|domain| domain.name().clone()).collect(),
            components: components.collect(),
            quarantined: host.quarantine().list().into_iter().map(InQuarantine::from).collect(),
            sources: sources.collect(),
            models: models.map(|(role, model, _)| RoleModel { role: role.as_str(), model }).collect(),
            embedder: host.embedder().map(Into::into),
            reranker: host.reranker().map(Into::into),
            checks: checks.into_iter().map(Claim::from).collect(),
            served: None,
        }
    }
}

impl From<(&str, Condition)> for EncoderState {
    fn from((model, condition): (&str, Condition)) -> Self {
        let (state, why) = match condition {
            Condition::Idle => ("idle", None),
            Condition::Working => ("working", None),
            Condition::Degraded(why) => ("degraded", Some(why)),
        };
        Self { model: model.to_owned(), state, why }
    }
}

// Why a component failed is the operator's: it may hold what a guest said about a question.
impl From<Quarantined> for InQuarantine {
    fn from(quarantined: Quarantined) -> Self {
        let Quarantined { stage, domains, component, asks, consequence, .. } = quarantined;
        Self {
            stage: stage.as_str(),
            domains: domains.to_string(),
            component: component.component,
            digest: component.digest,
            asks,
            now: consequence,
        }
    }
}

impl From<Checked> for Claim {
    fn from(Checked { domain, check }: Checked) -> Self {
        Self {
            domain,
            name: check.name.to_owned(),
            outcome: check.outcome.as_str().to_owned(),
            tried: check.tried,
            found: check.found,
            remedy: check.remedy,
        }
    }
}

impl From<JournalState> for LogState {
    fn from(state: JournalState) -> Self {
        let JournalState { state, record, written, waiting, not_logged, why } = state;
        Self { state, record, written, waiting, not_logged, why }
    }
}

impl From<Trend> for TrendNow {
    fn from(trend: Trend) -> Self {
        let window = |window: airlock_knowledge::store::Window| WindowNow {
            days: window.days,
            answered: window.answered,
            attempts: window.attempts,
            drafted: window.drafted,
            gave_up: window.gave_up,
        };
        let rises = trend.rises.into_iter();
        Self {
            state: trend.state,
            rises: rises
                .map(|rise| RiseNow { what: rise.what, before: rise.before, recent: rise.recent })
                .collect(),
            attempts_per_success: trend.attempts_per_success,
            attempts_per_success_before: trend.attempts_per_success_before,
            recent: window(trend.recent),
            before: window(trend.before),
            rule: trend.rule,
        }
    }
}

impl From<airlock_types::TableRef> for TableName {
    fn from(airlock_types::TableRef { schema, name }: airlock_types::TableRef) -> Self {
        Self { schema, name }
    }
}

impl From<DomainDrift> for DriftNow {
    fn from(drift: DomainDrift) -> Self {
        let changes = drift.changes.into_iter().map(|change| ChangeNow {
            table: change.table.into(),
            column: change.column,
            kind: change.kind.as_str(),
            was: change.was,
            now: change.now,
            renamed: change.renamed,
        });
        let problems = drift.lost.problems.into_iter().map(|problem| Misfit {
            spot: Spot { file: problem.spot.file.to_string(), line: problem.spot.line },
            what: problem.what,
            remedy: problem.remedy,
        });
        let marked = drift.marked.into_iter().map(|marked| MarkedNow {
            table: marked.table.into(),
            note: marked.note,
            examples: marked.examples,
            lessons: marked.lessons,
        });
        Self {
            domain: drift.domain,
            since: drift.since,
            taken_by: drift.taken_by,
            changes: changes.collect(),
            lost: Lost { problems: problems.collect(), dropped: drift.lost.dropped },
            marked: marked.collect(),
        }
    }
}

#[cfg(test)]
impl Health {
    /// One of a host with two domains, with each kind of thing that names one: what is added to it is to be added here.
    pub(super) fn of_two(first: &DomainName, second: &DomainName) -> Self {
        let both = [first, second];
        let serving = |domain: &DomainName| Serving {
            stage: "domain",
            domains: domain.to_string(),
            component: format!("{domain}-rules"),
            digest: ContentHash::of(domain.as_str()),
        };
        let failed = |domain: &DomainName| InQuarantine {
            stage: "domain",
            domains: domain.to_string(),
            component: format!("{domain}-rules"),
            digest: ContentHash::of(domain.as_str()),
            asks: 3,
            now: Consequence::StageFails,
        };
        let claim = |domain: &DomainName| Claim {
            domain: Some(domain.clone()),
            name: "reads".to_owned(),
            outcome: "failed".to_owned(),
            tried: format!("reading of {domain}"),
            found: format!("{domain} is not read"),
            remedy: Some(format!("grant it on {domain}")),
        };
        let drift = |domain: &DomainName| DriftNow {
            domain: domain.clone(),
            since: None,
            taken_by: Some("somebody".to_owned()),
            changes: Vec::new(),
            lost: Lost { problems: Vec::new(), dropped: 0 },
            marked: Vec::new(),
        };
        let window = || WindowNow { days: 7, answered: 1, attempts: 1, drafted: 1, gave_up: 0 };
        let trend = TrendNow {
            state: TrendState::Steady,
            rises: Vec::new(),
            attempts_per_success: Some(1.0),
            attempts_per_success_before: Some(1.0),
            recent: window(),
            before: window(),
            rule: "a rule",
        };
        Self {
            ok: false,
            version: "1",
            domains: both.map(DomainName::clone).into(),
            components: both.map(serving).into(),
            quarantined: both.map(failed).into(),
            sources: both
                .map(|domain| SourceHealth { domain: domain.clone(), orphans: 0, rests_ms: Some(1) })
                .into(),
            models: vec![RoleModel { role: "fast", model: "m".to_owned() }],
            embedder: Some(EncoderState { model: "e".to_owned(), state: "idle", why: None }),
            reranker: Some(EncoderState { model: "r".to_owned(), state: "idle", why: None }),
            checks: both.map(claim).into(),
            served: Some(Served {
                schedule: serde_json::json!({"last": both.map(ToString::to_string)}),
                recall: true,
                log: Some(LogState {
                    state: "behind",
                    record: true,
                    written: 1,
                    waiting: 1,
                    not_logged: 1,
                    why: Some(format!("of {second}")),
                }),
                trend: Some(trend),
                drift: both.map(drift).into(),
            }),
        }
    }
}
