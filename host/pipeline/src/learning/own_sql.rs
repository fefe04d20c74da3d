//! SQL that people bring themselves: their use of it is a signal for mining, and nothing else is learned from it.

use airlock_knowledge::store::{Signal, SignalTool};
use airlock_types::{DomainName, ErrorType};

use crate::asker::Asker;
use crate::host::Host;

/// One use of a person's own SQL.
pub(crate) struct OwnSql {
    pub(crate) domain: DomainName,
    pub(crate) tool: SignalTool,
    pub(crate) sql: String,
    pub(crate) tables: Vec<String>,
    pub(crate) outcome: &'static str,
    pub(crate) error_type: Option<ErrorType>,
}

impl OwnSql {
    /// The text as it is kept: not at all when it was run in somebody's name, whose literals are theirs, or when
    /// PostgreSQL could not hold it.
    fn kept(&self, asker: &Asker) -> Option<&str> {
        (asker.identity.is_none() && !self.sql.contains('\0')).then_some(self.sql.as_str())
    }
}

impl Host {
    /// Hands a use of a person's own SQL to the journal and returns at once.
    pub(crate) fn used_own_sql(&self, asker: &Asker, used: &OwnSql) {
        let Some(journal) = &self.journal else { return };
        let errors: Vec<String> = used.error_type.iter().map(|kind| kind.as_str().to_owned()).collect();
        journal.signal(&Signal {
            domain: &used.domain,
            tool: used.tool,
            ask: None,
            question: None,
            sql: used.kept(asker),
            tables: &used.tables,
            outcome: used.outcome,
            error_types: &errors,
        });
    }
}
