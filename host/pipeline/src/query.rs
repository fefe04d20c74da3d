//! A person's own SQL: through the same gate, the same rules of the domain and the same envelope as a draft, and as the
//! same asker.

use airlock_database::RunOptions;
use airlock_gate::{Approved, Rejection};
use airlock_knowledge::store::SignalTool;
use airlock_types::query::{QueryRequest, QueryResult};
use airlock_types::{Clock, DomainName, ErrorType, Failure, Outcome};
use thiserror::Error;

use crate::adapter::Reviewed;
use crate::asker::Asker;
use crate::convert;
use crate::fault::Fault;
use crate::host::{AskError, Host};
use crate::learning::OwnSql;
use crate::progress::Reporter;

/// Why SQL was not run, or gave nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It cannot be begun.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The gate does not let it through.
    #[error("the gate refused it ({code}): {}", failure.message)]
    Rejected {
        /// The gate's code.
        code: &'static str,
        /// In the shape that PostgreSQL's failures have.
        failure: Failure,
    },
    /// A rule of the domain blocks it.
    #[error("a rule of the domain blocks it: {}", .0.message)]
    Blocked(Failure),
    /// PostgreSQL did not run it to its end.
    #[error("PostgreSQL: {}", .0.message)]
    Failed(Failure),
    /// Something other than the text was at fault.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl QueryError {
    /// What the text is charged with, if anything.
    const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Rejected { failure, .. } | Self::Blocked(failure) | Self::Failed(failure) => Some(failure),
            Self::Ask(_) | Self::Fault(_) => None,
        }
    }
}

impl From<(&Rejection, &str)> for QueryError {
    fn from((rejection, sql): (&Rejection, &str)) -> Self {
        Self::Rejected { code: rejection.code.as_str(), failure: rejection.to_failure(sql) }
    }
}

fn tables(approved: &Approved) -> Vec<String> {
    approved.facts().tables.iter().map(ToString::to_string).collect()
}

impl Host {
    /// Runs a person's own SQL.
    ///
    /// Dropping the future cancels it, on the database server too.
    ///
    /// # Errors
    /// When it is refused, blocked or fails, or cannot be begun.
    pub async fn query(&self, request: &QueryRequest, asker: &Asker) -> Result<QueryResult, QueryError> {
        let domain = self.served(request.domain.as_ref())?.fresh().await;
        let _place = self.place()?;
        let checked = domain.gate().check(&request.sql);
        let tables_used = checked.as_ref().map(tables).unwrap_or_default();
        let ran = match &checked {
            Ok(approved) => self.run_own(&domain, approved, request, asker).await,
            Err(rejection) => Err(QueryError::from((rejection, request.sql.as_str()))),
        };
        let used = |outcome, failure: Option<&Failure>| {
            self.used_own_sql(
                asker,
                &OwnSql {
                    domain: domain.name().clone(),
                    tool: SignalTool::Query,
                    sql: request.sql.clone(),
                    tables: tables_used.clone(),
                    outcome,
                    error_type: failure.map(|failure| failure.error_type),
                },
            );
        };
        match &ran {
            Ok(_) => used("answered", None),
            Err(error) => {
                if let Some(failure) = error.failure() {
                    used(if checked.is_ok() { "failed" } else { "rejected" }, Some(failure));
                }
            }
        }
        let (rows, duration_ms, mut warnings) = ran?;
        warnings.extend(self.drift_warnings(&domain, &tables_used, Outcome::Answered));
        Ok(QueryResult {
            sql: request.sql.clone(),
            row_count: u64::try_from(rows.rows.len()).unwrap_or(u64::MAX),
            columns: rows.columns,
            rows: rows.rows,
            truncated: rows.truncated,
            duration_ms,
            warnings,
            tables_used,
        })
    }

    pub(crate) async fn run_own(
        &self,
        domain: &std::sync::Arc<crate::domain::Domain>,
        approved: &Approved,
        request: &QueryRequest,
        asker: &Asker,
    ) -> Result<(airlock_database::ResultSet, u64, Vec<String>), QueryError> {
        let (zone, fiscal) = domain.calendar();
        let clock = Clock::new(jiff::Timestamp::now(), zone, fiscal).map_err(AskError::Now)?;
        let mut desk = self.desk(domain, Reporter::silent());
        let reviewed = desk.review(approved, &convert::clock(&clock)).await;
        if let Err(Fault::Component(error)) = &reviewed {
            self.quarantine().observe(self.registry(), error);
        }
        let warnings = match reviewed? {
            Reviewed::Blocked(failure) => return Err(QueryError::Blocked(failure)),
            Reviewed::Allowed(warnings) => warnings,
        };
        let options = RunOptions {
            time_zone: zone.to_owned(),
            search_path: domain.catalogue().search_path.clone(),
            max_rows: request.max_rows,
            deadline: Some(desk.budget.until),
            identity: asker.identity.clone(),
        };
        let timed = domain.source().run_timed(approved, &options).await;
        let duration = u64::try_from(timed.ran.as_millis()).unwrap_or(u64::MAX);
        match timed.result {
            Ok(result) => Ok((result, duration, warnings)),
            Err(failure)
                if failure.error_type.is_infrastructure()
                    || failure.error_type == ErrorType::PermissionDenied =>
            {
                Err(Fault::Database(failure).into())
            }
            Err(failure) => Err(QueryError::Failed(failure)),
        }
    }

    /// The gate's verdict on a text, without running it.
    ///
    /// # Errors
    /// When there is no such domain.
    pub async fn check(
        &self,
        domain: Option<&DomainName>,
        sql: &str,
        asker: &Asker,
    ) -> Result<Result<Approved, Rejection>, AskError> {
        let domain = self.served(domain)?.fresh().await;
        let _place = self.place()?;
        let verdict = domain.gate().check(sql);
        self.used_own_sql(
            asker,
            &OwnSql {
                domain: domain.name().clone(),
                tool: SignalTool::DryRun,
                sql: sql.to_owned(),
                tables: verdict.as_ref().map(tables).unwrap_or_default(),
                outcome: if verdict.is_ok() { "approved" } else { "rejected" },
                error_type: verdict.as_ref().err().map(Rejection::error_type),
            },
        );
        Ok(verdict)
    }
}
