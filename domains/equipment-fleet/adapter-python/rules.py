"""Rules on checked SQL, each a function from what the text reads to at most one finding."""

from dataclasses import dataclass
import re

from wit_world.exports.domain import Finding, Severity

import serial
from tree import Tree

SCHEMA = "fleet"
"""Where all tables of the fleet are."""


@dataclass(frozen=True)
class Raw:
    """A column of free text in which people wrote serials."""

    table: str
    column: str
    only: bool
    """Whether there is nothing in it but the serial."""

    def looks_for_serial(self, text: str) -> bool:
        """Whether a text that is compared with the column looks for a serial, and not for a word such as `hydraulic`."""
        longest = max((len(digits) for digits in re.findall("[0-9]+", text)), default=0)
        return longest >= (1 if self.only else 3) or bool(serial.find(text))


RAW = [
    Raw("machines", "plate_text", True),
    Raw("work_orders", "complaint_text", False),
    Raw("invoices", "memo_text", False),
    Raw("inspections", "findings_text", False),
    Raw("LegacyServiceLog", "SerialNo", True),
]


def findings(tree: Tree, facts, clock) -> list[Finding]:
    """All findings on a text."""
    found = [
        raw_serial_scan(tree, facts),
        unbounded_time(tree, facts),
        summed_counter(tree, facts),
        all_invoice_states(facts),
        month_not_closed(facts, clock),
    ]
    return [finding for finding in found if finding]


def raw_serial_scan(tree: Tree, facts) -> Finding | None:
    """A serial compared with, or searched in, free text: it misses rows and finds rows of other machines."""
    for raw in RAW:
        compared = any(
            reads(literal.column, raw.table, raw.column) and raw.looks_for_serial(literal.literal)
            for literal in facts.literals
        )
        if reads_any(facts, raw.table, raw.column) and (compared or scanned(tree, raw)):
            return Finding(
                "raw-serial-scan",
                Severity.BLOCK,
                f"{raw.table}.{raw.column} holds serials as people write them, so a search in it misses rows.",
                "Compare machine_key with the governed key, such as machine_key = 'MK-00412'.",
            )
    return None


def scanned(tree: Tree, raw: Raw) -> bool:
    """Whether the column is inside a call or an operator together with a serial, or is compared with another such column."""
    names = {raw.column for raw in RAW}
    for at in tree.of_kind("column"):
        if tree.column(at) != raw.column:
            continue
        expression = tree.expression(at)
        for other in tree.inside(expression):
            if tree.is_a(other, "literal") and raw.looks_for_serial(tree.written(other)):
                return True
            if other != at and tree.column(other) in names and tree.compares(expression):
                return True
    return False


def unbounded_time(tree: Tree, facts) -> Finding | None:
    """Meter readings without a range of time: every partition would be read."""
    if not reads_table(facts, "meter_readings") or restricted(tree, "read_on"):
        return None
    return Finding(
        "unbounded-time",
        Severity.BLOCK,
        "Meter readings are read without a range of time, so all years of all machines would be.",
        "Restrict read_on, such as read_on >= DATE '2026-01-01' AND read_on < DATE '2027-01-01', or use machine_months "
        "for whole months.",
    )


def restricted(tree: Tree, column: str) -> bool:
    """Whether a condition compares the column with something that is no column: `read_on > now() - interval '30 days'`."""

    def holds(at: int) -> bool:
        return any(tree.column(inside) == column for inside in tree.inside(at))

    def bounds(at: int) -> bool:
        return any(
            tree.is_a(inside, "literal") or (tree.is_a(inside, "function") and not holds(inside))
            for inside in tree.inside(at)
        )

    def is_condition(at: int) -> bool:
        around = list(tree.around(at))
        joined = any(tree.is_a(place, "other") and tree.name(place) == "join" for place in around)
        clauses = (place for place in around if tree.is_a(place, "where", "target", "having", "case"))
        clause = next(clauses, None)
        if clause is None:
            return joined
        return tree.is_a(clause, "where") or (tree.is_a(clause, "target") and joined)

    return any(
        tree.compares(at) and is_condition(at) and holds(at) and bounds(at) for at in tree.of_kind("operator")
    )


def summed_counter(tree: Tree, facts) -> Finding | None:
    """The counter only grows: a sum or an average of it says nothing."""
    if not reads_any(facts, "meter_readings", "counter_hours"):
        return None
    for at in tree.of_kind("column"):
        call = next(tree.around(at), None)
        if tree.column(at) != "counter_hours" or call is None:
            continue
        if tree.is_a(call, "function") and tree.name(call) in ("sum", "avg"):
            return Finding(
                "summed-counter",
                Severity.BLOCK,
                "counter_hours is what the counter shows and only grows; adding readings up counts hours many times.",
                "Add up hours_run, the hours since the reading before.",
            )
    return None


def all_invoice_states(facts) -> Finding | None:
    """Amounts of invoices whatever their state."""
    amount = reads_any(facts, "invoices", "net_amount") or reads_any(facts, "invoices", "vat_amount")
    if not amount or reads_any(facts, "invoices", "state"):
        return None
    return Finding(
        "all-invoice-states",
        Severity.WARN,
        "Draft and void invoices are in this figure.",
        "Revenue is of invoices with state IN ('sent', 'paid').",
    )


def month_not_closed(facts, clock) -> Finding | None:
    """The monthly table lacks the present month."""
    if not reads_table(facts, "machine_months"):
        return None
    present = f"{clock.local.year:04}-{clock.local.month:02}-01"
    for literal in facts.literals:
        day = literal.literal[:10]
        if reads(literal.column, "machine_months", "month") and (
            (literal.operator == "<" and day <= present) or (literal.operator in ("<=", "=") and day < present)
        ):
            return None
    return Finding(
        "month-not-closed",
        Severity.WARN,
        "The monthly table is refreshed when a month is closed: the present month is not in this figure.",
        None,
    )


def reads(column, table: str, name: str) -> bool:
    """Whether this is that column of the fleet."""
    return column.table.schema == SCHEMA and column.table.name == table and column.column == name


def reads_any(facts, table: str, name: str) -> bool:
    """Whether a text reads that column."""
    return any(reads(column, table, name) for column in facts.columns)


def reads_table(facts, name: str) -> bool:
    """Whether a text reads that table."""
    return any(table.schema == SCHEMA and table.name == name for table in facts.tables)
