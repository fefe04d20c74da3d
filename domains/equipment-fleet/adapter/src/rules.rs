//! Rules on checked SQL, each a function from what the text reads to at most one finding.

use airlock_plugin_sdk::contract::domain::{Finding, Severity};
use airlock_plugin_sdk::contract::sql::{ComparedLiteral, Facts};
use airlock_plugin_sdk::{Clock, ColumnRef};

use crate::serial;
use crate::tree::Tree;

/// Where all tables of the fleet are.
const SCHEMA: &str = "fleet";

/// A column of free text in which people wrote serials.
struct Raw {
    table: &'static str,
    column: &'static str,
    /// Whether there is nothing in it but the serial.
    only: bool,
}

const RAW: [Raw; 5] = [
    Raw { table: "machines", column: "plate_text", only: true },
    Raw { table: "work_orders", column: "complaint_text", only: false },
    Raw { table: "invoices", column: "memo_text", only: false },
    Raw { table: "inspections", column: "findings_text", only: false },
    Raw { table: "LegacyServiceLog", column: "SerialNo", only: true },
];

impl Raw {
    fn is(&self, column: &ColumnRef) -> bool {
        in_fleet(column, self.table) && column.column == self.column
    }

    /// Whether a text that is compared with the column looks for a serial, and not for a word such as `hydraulic`.
    fn looks_for_serial(&self, text: &str) -> bool {
        let longest = text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
        longest >= if self.only { 1 } else { 3 } || !serial::find(text).is_empty()
    }
}

/// All findings on a text.
pub fn findings(tree: &Tree<'_>, facts: &Facts, clock: &Clock) -> Vec<Finding> {
    [
        raw_serial_scan(tree, facts),
        unbounded_time(tree, facts),
        summed_counter(tree, facts),
        all_invoice_states(facts),
        month_not_closed(facts, clock),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A serial compared with, or searched in, free text: it misses rows and finds rows of other machines.
pub fn raw_serial_scan(tree: &Tree<'_>, facts: &Facts) -> Option<Finding> {
    let read = |raw: &&Raw| facts.columns.iter().any(|column| raw.is(column));
    let raw = RAW.iter().filter(read).find(|raw| {
        let compared =
            |literal: &ComparedLiteral| raw.is(&literal.column) && raw.looks_for_serial(&literal.literal);
        facts.literals.iter().any(compared) || scanned(tree, raw)
    })?;
    Some(Finding {
        code: "raw-serial-scan".into(),
        severity: Severity::Block,
        message: format!(
            "{}.{} holds serials as people write them, so a search in it misses rows.",
            raw.table, raw.column
        ),
        hint: Some("Compare machine_key with the governed key, such as machine_key = 'MK-00412'.".into()),
    })
}

/// Whether the column is inside a call or an operator together with a serial, or is compared with another such column.
fn scanned(tree: &Tree<'_>, raw: &Raw) -> bool {
    let is_raw = |at: usize| tree.column(at).is_some_and(|name| RAW.iter().any(|raw| raw.column == name));
    tree.of_kind("column").filter(|at| tree.column(*at).as_deref() == Some(raw.column)).any(|at| {
        let expression = tree.expression(at);
        tree.inside(expression).any(|other| {
            let serial = tree.is(other, "literal") && raw.looks_for_serial(tree.written(other));
            serial || (other != at && is_raw(other) && tree.compares(expression))
        })
    })
}

/// Meter readings without a range of time: every partition would be read.
fn unbounded_time(tree: &Tree<'_>, facts: &Facts) -> Option<Finding> {
    facts.tables.iter().any(|table| table.schema == SCHEMA && table.name == "meter_readings").then_some(())?;
    if restricted(tree, "read_on") {
        return None;
    }
    Some(Finding {
        code: "unbounded-time".into(),
        severity: Severity::Block,
        message: "Meter readings are read without a range of time, so all years of all machines would be.".into(),
        hint: Some(
            "Restrict read_on, such as read_on >= DATE '2026-01-01' AND read_on < DATE '2027-01-01', or use machine_months \
             for whole months."
                .into(),
        ),
    })
}

/// Whether a condition compares the column with something that is no column: `read_on > now() - interval '30 days'`,
/// `extract(year FROM read_on) = 2026`.
fn restricted(tree: &Tree<'_>, column: &str) -> bool {
    tree.of_kind("operator").filter(|at| tree.compares(*at)).any(|at| {
        let clause = tree
            .around(at)
            .find(|around| ["where", "target", "having", "case"].iter().any(|kind| tree.is(*around, kind)));
        let joined = || tree.around(at).any(|around| tree.is(around, "other") && tree.name(around) == "join");
        let condition = clause.map_or_else(joined, |clause| {
            tree.is(clause, "where") || (tree.is(clause, "target") && joined())
        });
        let has = |want: &dyn Fn(usize) -> bool| tree.inside(at).any(want);
        condition
            && has(&|inside| tree.column(inside).as_deref() == Some(column))
            && has(&|inside| {
                tree.is(inside, "literal") || (tree.is(inside, "function") && !holds(tree, inside, column))
            })
    })
}

fn holds(tree: &Tree<'_>, at: usize, column: &str) -> bool {
    tree.inside(at).any(|inside| tree.column(inside).as_deref() == Some(column))
}

/// The counter only grows: a sum or an average of it says nothing.
fn summed_counter(tree: &Tree<'_>, facts: &Facts) -> Option<Finding> {
    facts
        .columns
        .iter()
        .any(|column| in_fleet(column, "meter_readings") && column.column == "counter_hours")
        .then_some(())?;
    let summed =
        tree.of_kind("column").filter(|at| tree.column(*at).as_deref() == Some("counter_hours")).any(|at| {
            tree.around(at)
                .next()
                .is_some_and(|call| tree.is(call, "function") && matches!(tree.name(call), "sum" | "avg"))
        });
    summed.then(|| Finding {
        code: "summed-counter".into(),
        severity: Severity::Block,
        message: "counter_hours is what the counter shows and only grows; adding readings up counts hours many times.".into(),
        hint: Some("Add up hours_run, the hours since the reading before.".into()),
    })
}

/// Amounts of invoices whatever their state.
fn all_invoice_states(facts: &Facts) -> Option<Finding> {
    let reads =
        |name: &str| facts.columns.iter().any(|column| in_fleet(column, "invoices") && column.column == name);
    ((reads("net_amount") || reads("vat_amount")) && !reads("state")).then(|| Finding {
        code: "all-invoice-states".into(),
        severity: Severity::Warn,
        message: "Draft and void invoices are in this figure.".into(),
        hint: Some("Revenue is of invoices with state IN ('sent', 'paid').".into()),
    })
}

/// The monthly table lacks the present month.
fn month_not_closed(facts: &Facts, clock: &Clock) -> Option<Finding> {
    facts.tables.iter().any(|table| table.schema == SCHEMA && table.name == "machine_months").then_some(())?;
    let present = format!("{:04}-{:02}-01", clock.local.year, clock.local.month);
    let before = |literal: &ComparedLiteral| {
        let day = literal.literal.get(..10).unwrap_or(&literal.literal);
        let own = in_fleet(&literal.column, "machine_months") && literal.column.column == "month";
        own && match literal.operator.as_str() {
            "<" => day <= present.as_str(),
            "<=" | "=" => day < present.as_str(),
            _ => false,
        }
    };
    (!facts.literals.iter().any(before)).then(|| Finding {
        code: "month-not-closed".into(),
        severity: Severity::Warn,
        message:
            "The monthly table is refreshed when a month is closed: the present month is not in this figure."
                .into(),
        hint: None,
    })
}

fn in_fleet(column: &ColumnRef, table: &str) -> bool {
    column.table.schema == SCHEMA && column.table.name == table
}
