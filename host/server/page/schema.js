// Domains, the schema beside the question, and questions to begin with.

import { call } from "./api.js";
import { grow, submit } from "./asking.js";
import { DATE_TYPE, byId, el, grouped, list, plural, text } from "./dom.js";
import { page } from "./state.js";

export async function loadDomains() {
  let domains;
  try {
    const body = await call("/api/domains");
    domains = list(body.domains);
  } catch (error) {
    byId("domain-only").textContent = "could not be read";
    byId("schema-tables").replaceChildren(failure(`The domains could not be read: ${error.message}`, loadDomains));
    return;
  }
  page.several = domains.length > 1;
  const select = byId("domain");
  select.replaceChildren(...domains.map((domain) => el("option", { value: domain.domain, title: domain.description }, domain.title || domain.domain)));
  select.hidden = !page.several;
  byId("domain-only").textContent = page.several ? "" : domains[0]?.title || domains[0]?.domain || "none is loaded";
  page.domains = new Map(domains.map((domain) => [domain.domain, domain]));
  if (!page.domains.has(page.domain)) page.domain = domains[0]?.domain ?? null;
  select.value = page.domain ?? "";
  await loadSchema();
}

function failure(message, retry) {
  return el("p", { class: "note" }, message, " ", el("button", { type: "button", class: "quiet", click: retry }, "Try again"));
}

export async function loadSchema() {
  const name = page.domain;
  if (!name) return;
  try {
    if (!page.schemas.has(name)) page.schemas.set(name, await call(`/api/schema?domain=${encodeURIComponent(name)}`));
  } catch (error) {
    if (page.domain === name) byId("schema-tables").replaceChildren(failure(`The schema could not be read: ${error.message}`, loadSchema));
    return;
  }
  if (page.domain !== name) return;
  const about = byId("schema-about");
  const schema = page.schemas.get(name);
  about.textContent = [
    text(schema.description),
    schema.time_zone && `Times are in ${schema.time_zone}.`,
    Number.isFinite(schema.row_cap) && `A result has at most ${plural(schema.row_cap, "row")}.`,
  ].filter(Boolean).join(" ");
  about.hidden = about.textContent === "";
  drawSchema();
  drawExamples();
}

/** How well a table or one of its columns is met by all the words searched for. */
function meets(words, ...texts) {
  const hay = texts.map((value) => text(value).toLowerCase()).join(" ");
  return words.every((word) => hay.includes(word));
}

function columnNode(column, table) {
  const key = list(table.primary_key).includes(column.name);
  return el("li", {},
    el("span", { class: "column-name" }, column.name, key && el("abbr", { title: "Part of the primary key" }, "key")),
    el("span", { class: "column-type" }, text(column.type), column.nullable === false ? "" : el("span", { title: "May be NULL" }, " null")),
    column.class && column.class !== "plain" && el("span", { class: "tag warn" }, text(column.class)),
    column.description && el("span", { class: "column-about" }, text(column.description)),
    list(column.values).length > 0 && el("span", { class: "column-about", title: "Values that occur" }, el("code", {}, list(column.values).join(", "))));
}

function joinNode(join) {
  const side = (table, columns) => list(columns).map((column) => `${text(table).replace(/^public\./, "")}.${column}`).join(", ");
  return el("li", {}, el("span", { class: "column-name" }, `${side(join.from, join.from_columns)} = ${side(join.to, join.to_columns)}`),
    el("span", { class: "column-type" }, text(join.origin).replaceAll("-", " ")));
}

export function drawSchema() {
  const schema = page.schemas.get(page.domain);
  if (!schema) return;
  const words = byId("schema-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tables = list(schema.tables);
  const schemas = new Set(tables.map((table) => table.schema));
  const nodes = [];
  for (const table of tables) {
    const whole = words.length > 0 && meets(words, table.schema, table.name, table.description);
    const columns = list(table.columns).filter((column) => whole || meets(words, table.name, column.name, column.type, column.description, list(column.values).join(" ")));
    if (words.length > 0 && !whole && columns.length === 0) continue;
    nodes.push(el("details", { class: table.in_use === false ? "table unused" : "table", open: words.length > 0 && tables.length > 1 && !whole },
      el("summary", {},
        el("span", { class: "table-name" }, schemas.size > 1 && el("span", { class: "schema-name" }, `${table.schema}.`), table.name),
        table.kind && table.kind !== "table" && el("span", { class: "tag calm" }, text(table.kind).replaceAll("-", " ")),
        table.in_use === false && el("span", { class: "tag warn" }, "not in use"),
        Number.isFinite(table.row_estimate) && el("span", { class: "count", title: "Rows, as PostgreSQL estimates them" }, `~${grouped(text(table.row_estimate))}`)),
      table.description && el("p", {}, text(table.description)),
      table.not_for && el("p", { class: "help" }, el("strong", {}, "Not for: "), text(table.not_for)),
      el("ul", { class: "columns-list" }, columns.map((column) => columnNode(column, table))),
      list(table.joins).length > 0 && words.length === 0 && el("ul", { class: "columns-list", "aria-label": "Joins" }, list(table.joins).map(joinNode))));
  }
  byId("schema-count").textContent = words.length > 0 ? `${nodes.length} of ${plural(tables.length, "table")}` : plural(tables.length, "table");
  byId("schema-tables").replaceChildren(...(nodes.length > 0 ? nodes : [el("p", { class: "about" }, tables.length > 0 ? "No table or column matches." : "The domain lists no table.")]));
}

/** Questions to begin with: the domain's own, or what its largest tables suggest. */
function exampleQuestions() {
  const own = list(page.domains.get(page.domain)?.examples);
  if (own.length > 0) return own.slice(0, 6).map(text);
  const tables = list(page.schemas.get(page.domain)?.tables).filter((table) => table.in_use !== false && /^[a-z_]+$/i.test(text(table.name)));
  tables.sort((one, other) => (other.row_estimate ?? 0) - (one.row_estimate ?? 0));
  const words = (table) => text(table.name).replaceAll("_", " ");
  const questions = tables.slice(0, 2).map((table) => `How many ${words(table)} are there?`);
  const dated = tables.find((table) => list(table.columns).some((column) => DATE_TYPE.test(text(column.type))));
  if (dated) questions.push(`How many ${words(dated)} by month this year?`);
  if (tables.length > 2) questions.push(`Show 10 ${words(tables[2])}`);
  return questions;
}

export function drawExamples() {
  const questions = exampleQuestions();
  const box = byId("examples");
  box.replaceChildren(...questions.map((question) =>
    el("button", { type: "button", class: "example", click: () => { byId("question").value = question; grow(); submit(); } }, question)));
  box.hidden = questions.length === 0 || page.shown !== null || page.running !== null;
}
