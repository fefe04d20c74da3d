// Rules on checked SQL, each a function from what the text reads to at most one finding.

import { find } from "./serial.js";

// Where all tables of the fleet are.
const SCHEMA = "fleet";

// Columns of free text in which people wrote serials, and whether there is nothing else in them.
const RAW = [
  { table: "machines", column: "plate_text", only: true },
  { table: "work_orders", column: "complaint_text", only: false },
  { table: "invoices", column: "memo_text", only: false },
  { table: "inspections", column: "findings_text", only: false },
  { table: "LegacyServiceLog", column: "SerialNo", only: true },
];

/** All findings on a text. */
export function findings(tree, facts, clock) {
  return [
    rawSerialScan(tree, facts),
    unboundedTime(tree, facts),
    summedCounter(tree, facts),
    allInvoiceStates(facts),
    monthNotClosed(facts, clock),
  ].filter((finding) => finding !== undefined);
}

/** A serial compared with, or searched in, free text: it misses rows and finds rows of other machines. */
export function rawSerialScan(tree, facts) {
  const scans = (raw) =>
    facts.literals.some(
      ({ column, literal }) => reads(column, raw.table, raw.column) && looksForSerial(raw, literal),
    ) || scanned(tree, raw);
  const raw = RAW.find((raw) => readsAny(facts, raw.table, raw.column) && scans(raw));
  if (raw === undefined) return undefined;
  return {
    code: "raw-serial-scan",
    severity: "block",
    message: `${raw.table}.${raw.column} holds serials as people write them, so a search in it misses rows.`,
    hint: "Compare machine_key with the governed key, such as machine_key = 'MK-00412'.",
  };
}

/** Whether a text that is compared with the column looks for a serial, and not for a word such as `hydraulic`. */
function looksForSerial(raw, text) {
  const longest = Math.max(0, ...(text.match(/[0-9]+/g) ?? []).map((digits) => digits.length));
  return longest >= (raw.only ? 1 : 3) || find(text).length > 0;
}

/** Whether the column is inside a call or an operator together with a serial, or is compared with another such column. */
function scanned(tree, raw) {
  const isRaw = (at) => RAW.some(({ column }) => column === tree.column(at));
  return tree.ofKind("column").some((at) => {
    if (tree.column(at) !== raw.column) return false;
    const expression = tree.expression(at);
    return tree.inside(expression).some((other) => {
      const serial = tree.isA(other, "literal") && looksForSerial(raw, tree.written(other));
      return serial || (other !== at && isRaw(other) && tree.compares(expression));
    });
  });
}

/** Meter readings without a range of time: every partition would be read. */
function unboundedTime(tree, facts) {
  if (!readsTable(facts, "meter_readings") || restricted(tree, "read_on")) return undefined;
  return {
    code: "unbounded-time",
    severity: "block",
    message: "Meter readings are read without a range of time, so all years of all machines would be.",
    hint:
      "Restrict read_on, such as read_on >= DATE '2026-01-01' AND read_on < DATE '2027-01-01', or use machine_months " +
      "for whole months.",
  };
}

/** Whether a condition compares the column with something that is no column: `read_on > now() - interval '30 days'`. */
function restricted(tree, column) {
  const holds = (at) => tree.inside(at).some((inside) => tree.column(inside) === column);
  const bounds = (at) =>
    tree
      .inside(at)
      .some((inside) => tree.isA(inside, "literal") || (tree.isA(inside, "function") && !holds(inside)));
  const isCondition = (at) => {
    const around = tree.around(at);
    const joined = around.some((place) => tree.isA(place, "other") && tree.name(place) === "join");
    const clause = around.find((place) => tree.isA(place, "where", "target", "having", "case"));
    if (clause === undefined) return joined;
    return tree.isA(clause, "where") || (tree.isA(clause, "target") && joined);
  };
  return tree
    .ofKind("operator")
    .some((at) => tree.compares(at) && isCondition(at) && holds(at) && bounds(at));
}

/** The counter only grows: a sum or an average of it says nothing. */
function summedCounter(tree, facts) {
  if (!readsAny(facts, "meter_readings", "counter_hours")) return undefined;
  const summed = tree.ofKind("column").some((at) => {
    const [call] = tree.around(at);
    if (tree.column(at) !== "counter_hours" || call === undefined) return false;
    return tree.isA(call, "function") && ["sum", "avg"].includes(tree.name(call));
  });
  if (!summed) return undefined;
  return {
    code: "summed-counter",
    severity: "block",
    message: "counter_hours is what the counter shows and only grows; adding readings up counts hours many times.",
    hint: "Add up hours_run, the hours since the reading before.",
  };
}

/** Amounts of invoices whatever their state. */
function allInvoiceStates(facts) {
  const amount = readsAny(facts, "invoices", "net_amount") || readsAny(facts, "invoices", "vat_amount");
  if (!amount || readsAny(facts, "invoices", "state")) return undefined;
  return {
    code: "all-invoice-states",
    severity: "warn",
    message: "Draft and void invoices are in this figure.",
    hint: "Revenue is of invoices with state IN ('sent', 'paid').",
  };
}

/** The monthly table lacks the present month. */
function monthNotClosed(facts, clock) {
  if (!readsTable(facts, "machine_months")) return undefined;
  const { year, month } = clock.local;
  const present = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-01`;
  const before = facts.literals.some(({ column, operator, literal }) => {
    const day = literal.slice(0, 10);
    if (!reads(column, "machine_months", "month")) return false;
    return operator === "<" ? day <= present : ["<=", "="].includes(operator) && day < present;
  });
  if (before) return undefined;
  return {
    code: "month-not-closed",
    severity: "warn",
    message: "The monthly table is refreshed when a month is closed: the present month is not in this figure.",
    hint: undefined,
  };
}

const reads = (column, table, name) =>
  column.table.schema === SCHEMA && column.table.name === table && column.column === name;

const readsAny = (facts, table, name) => facts.columns.some((column) => reads(column, table, name));

const readsTable = (facts, name) =>
  facts.tables.some((table) => table.schema === SCHEMA && table.name === name);
