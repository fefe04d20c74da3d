//! One call of a tool: who makes it, and what it is carried out with.

use std::sync::Arc;

use airlock_knowledge::store::Store;
use airlock_pipeline::{AskError, Domain, Host};
use airlock_types::{DomainName, TableRef};

use super::arguments::Arguments;
use super::problem::ToolProblem;
use super::progress::Listener;
use super::said::Said;
use super::tools::Tool;
use crate::access::Caller;
use crate::service::reach;

/// What comes of a call.
pub(super) type Told = Result<Said, ToolProblem>;

/// A call under way. Dropping what it is carried out by cancels it, on the database server too.
pub(super) struct Call<'a> {
    pub(super) caller: Caller,
    host: &'a Arc<Host>,
    store: Option<&'a Store>,
}

impl<'a> Call<'a> {
    pub(super) const fn new(caller: Caller, host: &'a Arc<Host>, store: Option<&'a Store>) -> Self {
        Self { caller, host, store }
    }

    pub(super) async fn carry_out(&self, tool: Tool, arguments: Arguments, listener: Listener) -> Told {
        self.caller.may_by_one_of(tool.scopes())?;
        match tool {
            Tool::ListDomains => self.list_domains(arguments),
            Tool::ListTables => self.list_tables(arguments),
            Tool::DescribeTable => self.describe_table(arguments),
            Tool::SampleRows => self.sample_rows(arguments).await,
            Tool::GetQueryContext => self.get_query_context(arguments).await,
            Tool::DryRun => self.dry_run(arguments).await,
            Tool::RunQuery => self.run_query(arguments).await,
            Tool::Ask => self.ask(arguments, listener).await,
            Tool::Feedback => self.feedback(arguments).await,
        }
    }

    pub(super) const fn host(&self) -> &'a Arc<Host> {
        self.host
    }

    pub(super) const fn store(&self) -> Option<&'a Store> {
        self.store
    }

    /// The domains that the caller sees.
    pub(super) fn domains(&self) -> impl Iterator<Item = Arc<Domain>> + '_ {
        reach::domains(self.host, &self.caller)
    }

    /// What became of a table since people wrote about it.
    pub(super) fn drifted(&self, domain: &Domain, table: &TableRef) -> Vec<String> {
        self.host.drift_of(domain, table)
    }

    /// The domain that the caller means.
    pub(super) fn domain(&self, name: &Option<DomainName>) -> Result<Arc<Domain>, AskError> {
        reach::domain(self.host, &self.caller, name.as_ref())
    }
}
