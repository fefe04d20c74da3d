//! Named checks of a data source: each claim of the envelope is tried, not assumed. `doctor` and health serve them.

mod claims;
pub(crate) mod holders;
mod reader;
mod server;

use airlock_types::Catalogue;
use serde::Serialize;

use crate::error::DatabaseError;
use crate::exchange::{Begin, Rows};
use crate::settings::Settings;
use crate::source::Source;
use crate::wire::{Step, cells};

pub use claims::{CLAIMS, Claim, Power, Severity, harmful_functions};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// What must hold holds.
    Passed,
    /// It does not; `remedy` says what to do.
    Failed,
    /// It could not be tried here; `found` says why.
    Skipped,
    /// It does not, as in every database by default, and other walls hold; `remedy` says how it is closed.
    Advised,
}

impl CheckOutcome {
    /// The word on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Advised => "advised",
        }
    }
}

/// One claim and how trying it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name, such as `reader-cannot-write`.
    pub name: &'static str,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// What was tried.
    pub tried: String,
    /// What came of it.
    pub found: String,
    /// What to do when it failed.
    pub remedy: Option<String>,
}

/// What came of trying a claim.
enum Finding {
    Holds(String),
    Broken { found: String, remedy: String },
    Advised { found: String, remedy: String },
    CannotTry(String),
}

impl Check {
    fn new(name: &'static str, tried: impl Into<String>, finding: Result<Finding, DatabaseError>) -> Self {
        let (outcome, found, remedy) = match finding {
            Ok(Finding::Holds(found)) => (CheckOutcome::Passed, found, None),
            Ok(Finding::Broken { found, remedy }) => (CheckOutcome::Failed, found, Some(remedy)),
            Ok(Finding::Advised { found, remedy }) => (CheckOutcome::Advised, found, Some(remedy)),
            Ok(Finding::CannotTry(why)) => (CheckOutcome::Skipped, why, None),
            Err(error) => {
                let remedy = "see to the connection first, then run the checks again".to_owned();
                (CheckOutcome::Failed, error.to_string(), Some(remedy))
            }
        };
        Self { name, outcome, tried: tried.into(), found, remedy }
    }
}

impl Source {
    /// Tries every claim about the server and the reader, for the relations of this catalogue. `roles` are those that keys give
    /// to their holders here.
    pub async fn checks(&self, catalogue: &Catalogue, roles: &[String]) -> Vec<Check> {
        let orphans = Check::new(
            "statements-can-be-stopped",
            "statements that outlived their timeout, their cancellation and their connection",
            Ok(self.orphan_finding()),
        );
        if self.pool().orphans().check().is_err() {
            // Nothing else can be tried before some of them have ended.
            return vec![orphans];
        }
        let mut checks = vec![
            orphans,
            Check::new("server-is-postgresql", "the server's version", server::is_postgresql(self).await),
            Check::new("server-version", "its number is from 13 to 18", server::version(self).await),
            Check::new(
                "reader-has-connections",
                "CONNECTION LIMIT of the reader and the database, beside the source's `connections`",
                server::connections(self).await,
            ),
            Check::new(
                "standard-conforming-strings",
                "a backslash in a literal is a backslash",
                server::strings(self).await,
            ),
            Check::new(
                "timeouts-hold",
                "a statement that runs past its timeout",
                server::timeouts(self).await,
            ),
            Check::new(
                "read-only-holds",
                "a temporary table in a read-only transaction",
                server::read_only(self).await,
            ),
            Check::new(
                "settings-end-with-transaction",
                "a setting made in one transaction, read in the next",
                server::reset(self).await,
            ),
        ];
        let mut claims = self.claims().await;
        if !roles.is_empty() {
            let tried = "memberships that SET ROLE takes up, beside those that keys give";
            let becomes = Check::new(holders::BECOMES, tried, holders::becomes_no_other(self, roles).await);
            claims.retain(|check| check.name != holders::BECOMES);
            claims.push(becomes);
            claims.push(Check::new(
                "roles-of-keys-are-not-inherited",
                "the memberships of the reader in the roles that keys give",
                holders::are_apart(self, roles).await,
            ));
        }
        checks.extend(claims);
        checks.extend([
            Check::new(
                "reader-cannot-write",
                "INSERT, UPDATE and DELETE of no row in a read-write transaction",
                reader::cannot_write(self, catalogue).await,
            ),
            Check::new(
                "reader-cannot-create",
                "a new table in each schema",
                reader::cannot_create(self, catalogue).await,
            ),
            Check::new(
                "reader-is-refused",
                "files and programs of the server, roles and schemas, in a read-write transaction",
                reader::is_refused(self).await,
            ),
            Check::new(
                "row-security-applies",
                "whether row policies hold for the reader",
                reader::row_security(self, catalogue).await,
            ),
        ]);
        checks
    }

    /// What makes the reader more than one, by the catalogue. Empty for a role that only reads.
    ///
    /// # Errors
    /// [`DatabaseError`] of the connection or of the server.
    pub async fn powers(&self) -> Result<Vec<Power>, DatabaseError> {
        let begin = Begin::Reading;
        let settings = self.fixed_settings();
        let name = first_cell(&self.check_statement(begin, &settings, "SELECT session_user").await?)?;
        let version = self.major_version();
        let claims: Vec<&Claim> = CLAIMS.iter().filter(|claim| claim.since <= version).collect();
        let queries: Vec<String> = claims.iter().map(|claim| claim.query()).collect();
        let parameters = [Some(name.as_str())];
        let steps: Vec<Step<'_>> = queries.iter().map(|sql| Step::new(sql, &parameters)).collect();
        let results = self.fixed(begin, &settings, &steps).await?;
        let mut powers = Vec::new();
        for (claim, rows) in claims.iter().zip(&results) {
            for row in &rows.rows {
                let mut texts = cells(row);
                let mut text =
                    || Ok::<_, DatabaseError>(texts.next().transpose()?.flatten().unwrap_or_default());
                powers.push(Power::new(claim.name, text()?, text()?.to_owned(), text()?.to_owned()));
            }
        }
        Ok(powers)
    }

    async fn claims(&self) -> Vec<Check> {
        let powers = match self.powers().await {
            Ok(powers) => powers,
            Err(error) => {
                return vec![Check::new(
                    "reader-is-small",
                    "what the catalogue says of the reader",
                    Err(error),
                )];
            }
        };
        let finding = |claim: &Claim| {
            if claim.since > self.major_version() {
                return Finding::CannotTry(format!("PostgreSQL has it since version {}", claim.since));
            }
            let about: Vec<&Power> = powers.iter().filter(|power| power.check == claim.name).collect();
            let joined = |of: fn(&Power) -> &str| {
                let mut texts: Vec<String> = about.iter().map(|power| of(power).to_owned()).collect();
                texts.dedup();
                reader::some(&texts, "; ")
            };
            let (found, remedy) = (joined(|power| &power.found), joined(|power| &power.remedy));
            match about.iter().map(|power| power.severity).max() {
                None => Finding::Holds("it has none of that".to_owned()),
                Some(Severity::Advice) => Finding::Advised { found, remedy },
                Some(Severity::Broken | Severity::Unfit) => Finding::Broken { found, remedy },
            }
        };
        CLAIMS.iter().map(|claim| Check::new(claim.name, claim.tried, Ok(finding(claim)))).collect()
    }

    fn orphan_finding(&self) -> Finding {
        match self.orphans() {
            0 => Finding::Holds("none runs".to_owned()),
            running => Finding::Broken {
                found: format!("{running} run on although nobody waits for them"),
                remedy: "they end by themselves; a restart of the PostgreSQL server ends them now".to_owned(),
            },
        }
    }

    /// `15` of `15.18 (Debian ...)`.
    fn major_version(&self) -> u32 {
        let version = self.server_version();
        let digits = version.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        digits.parse().unwrap_or(0)
    }

    /// Runs one statement of a check.
    async fn check_statement(
        &self,
        begin: Begin,
        settings: &Settings,
        sql: &str,
    ) -> Result<Rows, DatabaseError> {
        let mut results = self.fixed(begin, settings, &[Step::new(sql, &[])]).await?;
        Ok(results.pop().unwrap_or_default())
    }
}

/// The first cell of a result.
fn first_cell(rows: &Rows) -> Result<String, DatabaseError> {
    let Some(row) = rows.rows.first() else { return Ok(String::new()) };
    Ok(cells(row).next().transpose()?.flatten().unwrap_or_default().to_owned())
}

/// The first column of a result.
fn first_column(rows: &Rows) -> Result<Vec<String>, DatabaseError> {
    rows.rows
        .iter()
        .map(|row| Ok(cells(row).next().transpose()?.flatten().unwrap_or_default().to_owned()))
        .collect()
}
