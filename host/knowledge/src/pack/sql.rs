//! SQL of a pack before the gate: what the gate would refuse in service is told when the pack is checked.

use std::sync::Arc;

use airlock_gate::{AllowedFunction, Gate, Policy};
use airlock_types::{Catalogue, TableRef};

use super::Settings;
use super::report::{Findings, Located};
use super::settings::shown;

/// The gate as this pack sets it.
pub(crate) struct SqlCheck<'a> {
    gate: Gate,
    findings: &'a Findings,
}

impl<'a> SqlCheck<'a> {
    pub(crate) fn new(settings: &Settings, catalogue: &Arc<Catalogue>, findings: &'a Findings) -> Self {
        let allowed_functions = settings
            .allowed_functions
            .iter()
            .map(|function| AllowedFunction {
                signature: function.value.signature.clone(),
                body: Some(function.value.body),
            })
            .collect();
        let policy = Policy { row_cap: settings.row_cap, allowed_functions, ..Policy::default() };
        Self { gate: Gate::new(Arc::clone(catalogue), policy), findings }
    }

    /// The gate.
    pub(crate) const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Whether a whole statement passes; what does not is reported under the key it stands at.
    pub(crate) fn statement(&self, key: &str, sql: &Located<String>) -> bool {
        self.passes(key, sql, &sql.value, 0)
    }

    /// Whether an expression over a table passes.
    pub(crate) fn expression(&self, sql: &Located<String>, table: &TableRef) -> bool {
        self.passes("sql", sql, &format!("SELECT (\n{}\n) FROM {}", sql.value, quoted(table)), 9)
    }

    /// Whether a condition over a table passes.
    pub(crate) fn condition(&self, filter: &Located<String>, table: &TableRef) -> bool {
        let before = format!("SELECT 1 FROM {} WHERE (\n", quoted(table));
        let offset = before.chars().count();
        self.passes("filter", filter, &format!("{before}{}\n)", filter.value), offset)
    }

    /// `offset`: characters that were put before the pack's own text.
    fn passes(&self, key: &str, at: &Located<String>, text: &str, offset: usize) -> bool {
        let Err(rejection) = self.gate.check(text) else { return true };
        let place = rejection
            .position
            .and_then(|position| usize::try_from(position).ok())
            .and_then(|position| position.checked_sub(offset))
            .filter(|position| *position > 0)
            .map_or_else(String::new, |position| format!(" at character {position}"));
        self.findings.add(
            &at.spot,
            format!("`{key}` is refused by the gate{place}: {}", rejection.message),
            rejection.hint.unwrap_or_else(|| format!("mend the SQL `{}`", shown(&at.value))),
        );
        false
    }
}

/// The table as SQL spells it whatever its name.
fn quoted(table: &TableRef) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}
