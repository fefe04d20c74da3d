//! What of a domain may be told to whom: classes, row security, and rows for a model.

use airlock_gate::{Approved, Facts};
use airlock_knowledge::ColumnClass;
use airlock_knowledge::pack::RowsToModel;
use airlock_types::{ColumnRef, TableRef};

use super::{Domain, Guarded};

impl Domain {
    /// Whether it may be looked up how a column spells a value. What is found goes into texts, and from there to models,
    /// records and lessons; so it is not even looked for where a value may not be told.
    pub(crate) fn may_tell(&self, column: &ColumnRef) -> bool {
        self.knowledge.exposure().may_tell(column)
    }

    /// Whether rows may be counted without a condition on a column: it is not secret, and no column of its table lost its class.
    pub(crate) fn may_leave_out(&self, column: &ColumnRef) -> bool {
        self.class(column) != ColumnClass::Secret && !self.knowledge.exposure().is_closed(&column.table)
    }

    /// What keeps a text from being learned from: a personal or secret column that takes part in it, or a table of which a
    /// column lost its class.
    pub(crate) fn guarded(&self, facts: &Facts) -> Option<Guarded> {
        let guarded = |column: &ColumnRef| match self.class(column) {
            class @ (ColumnClass::Personal | ColumnClass::Secret) => {
                Some(Guarded::Column(class, column.clone()))
            }
            ColumnClass::Plain | ColumnClass::Amount => None,
        };
        let exposure = self.knowledge.exposure();
        let closed =
            || facts.tables.iter().find(|table| exposure.is_closed(table)).cloned().map(Guarded::Unclassed);
        facts.columns.iter().find_map(guarded).or_else(closed)
    }

    /// The same of a text that a model or the composer offered. What the gate does not read is taken by the names in it.
    pub(crate) fn guarded_in(&self, sql: &str) -> Option<Guarded> {
        if let Ok(approved) = self.gate.check(sql) {
            return self.guarded(approved.facts());
        }
        let text = sql.to_lowercase();
        let named = |name: &str| text.contains(&name.to_lowercase());
        let mut relations = self.catalogue.iter().filter(|relation| named(&relation.table.name));
        relations.find_map(|relation| {
            let columns = relation.columns.iter().filter(|column| named(&column.name));
            let columns = columns.map(|column| relation.column_ref(&column.name)).collect();
            self.guarded(&Facts { tables: vec![relation.table.clone()], columns, ..Facts::default() })
        })
    }

    /// Whether row security decides which rows of a table are shown.
    pub(crate) fn hides_rows(&self, table: &TableRef) -> bool {
        self.catalogue.relation(table).is_none_or(|relation| relation.row_security)
    }

    /// Whether rows of this text may be shown to a model: the domain permits it, and no personal or secret column took
    /// part in any way, nor a table of which a column lost its class, nor one with row security.
    pub(crate) fn rows_may_reach_model(&self, approved: &Approved) -> bool {
        let facts = approved.facts();
        self.knowledge.settings().egress.rows_to_model == RowsToModel::Head
            && self.guarded(facts).is_none()
            && !facts.tables.iter().any(|table| self.hides_rows(table))
    }
}
