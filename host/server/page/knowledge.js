// What is proposed and what is trusted: lists of examples, lessons and golden cases.

import { call, withQuery } from "./api.js";
import { byId, cut, el, list, plural, redraw, text } from "./dom.js";
import { drawAuthoring } from "./author.js";
import { drawItem } from "./item.js";
import { go, hashOf, replace, route } from "./router.js";
import { page } from "./state.js";

export const KINDS = { examples: "Examples", lessons: "Lessons", golden: "Golden cases" };
const AT_ONCE = 50;

/** The states of each shelf, in the order in which they matter to a person. */
const STATES = {
  candidate: ["proposed", "needs_evidence", "duplicate", "rejected", "promoted"],
  curated: ["active", "stale", "superseded", "withdrawn"],
};
const SOURCES = ["person", "agent", "distilled", "mined", "adapter", "feedback", "imported"];
const TONES = { proposed: "choose", needs_evidence: "choose", active: "good", stale: "warn", rejected: "bad", withdrawn: "bad" };

export const stateTag = (item) => el("span", { class: `tag ${TONES[item.state] ?? ""}` }, text(item.state).replaceAll("_", " "));

let items = [];
let next = null;
let shown = { kind: null, query: "" };

/** An item in one line. */
export const headline = (item) => text(item.content?.question) || text(item.content?.text) || text(item.id);

const filtersOf = (query) => ({ shelf: query.get("shelf"), state: query.get("state"), source: query.get("source"), order: query.get("order") });

const select = (id, label, options, value, change) =>
  el("div", { class: "filter" }, el("label", { for: id }, label),
    el("select", { id, change: (event) => change(event.target.value) },
      options.map(([word, name]) => el("option", { value: word, selected: word === (value ?? "") }, name))));

function drawFilters(kind, query) {
  const filters = filtersOf(query);
  const set = (name) => (value) => {
    const changed = { ...filters, [name]: value };
    if (name === "shelf") changed.state = "";
    go(hashOf("knowledge", [kind], changed));
  };
  const states = filters.shelf ? STATES[filters.shelf] ?? [] : [...STATES.candidate, ...STATES.curated];
  const words = (all) => all.map((word) => [word, word.replaceAll("_", " ")]);
  redraw(byId("knowledge-filters"), [
    select("filter-shelf", "Shelf", [["", "Both"], ["candidate", "Proposed"], ["curated", "Trusted"]], filters.shelf, set("shelf")),
    select("filter-state", "State", [["", "Any"], ...words(states)], filters.state, set("state")),
    select("filter-source", "Source", [["", "Any"], ...words(SOURCES)], filters.source, set("source")),
    select("filter-order", "Order", [["", "Newest first"], ["oldest", "Oldest first"]], filters.order, set("order")),
  ]);
}

function drawTabs(kind) {
  redraw(byId("knowledge-tabs"), Object.entries(KINDS).map(([name, words]) =>
    el("a", { href: hashOf("knowledge", [name]), "aria-current": name === kind ? "true" : null }, words)));
}

function drawList(kind, id) {
  const { query } = route();
  redraw(byId("knowledge-list"), [
    items.length === 0 && el("p", { class: "about" }, "Nothing here. What airlock learns, and what feedback proposes, comes here to be decided on."),
    el("ul", { class: "items" }, items.map((item) =>
      el("li", {}, el("a", { href: hashOf("knowledge", [kind, item.id], filtersOf(query)), "aria-current": item.id === id ? "true" : null },
        el("span", { class: "history-question" }, cut(headline(item), 160)),
        el("span", { class: "history-line" }, stateTag(item),
          el("span", {}, `by ${text(item.origin)}`),
          item.seen > 1 && el("span", {}, `seen ${item.seen} times`),
          item.uses?.hits > 0 && el("span", {}, `used ${item.uses.hits} times`),
          item.made_at && el("time", { datetime: item.made_at }, new Date(item.made_at).toLocaleDateString())))))),
    next && el("button", { type: "button", class: "quiet", click: () => more(kind) }, "Show more"),
  ]);
  byId("knowledge-count").textContent = next ? `${items.length}+` : plural(items.length, "item");
}

async function load(kind, query, cursor) {
  // Drawn again once the domains are known.
  if (!page.domain) return { items: [], next: null };
  const { shelf, state, source, order } = filtersOf(query);
  const said = await call(withQuery(`/api/${kind}`, {
    domain: page.domain, shelf, state, source, order: order ?? "newest", limit: AT_ONCE, cursor,
  }));
  return { items: list(said.items), next: said.next_cursor ?? null };
}

async function more(kind) {
  const { query, rest } = route();
  try {
    const older = await load(kind, query, next);
    items = [...items, ...older.items];
    next = older.next;
  } catch (problem) {
    byId("knowledge-said").textContent = problem.message;
  }
  drawList(kind, rest[1]);
}

/** The view: lists on one side, one item on the other. */
export async function showKnowledge({ rest: [kind, id], query }) {
  if (!(kind in KINDS)) {
    replace(hashOf("knowledge", ["examples"]));
    return showKnowledge(route());
  }
  byId("view-knowledge").classList.toggle("one", Boolean(id));
  drawTabs(kind);
  drawFilters(kind, query);
  drawAuthoring(kind, id);
  const asked = `${kind}?${new URLSearchParams(query)}&${page.domain}`;
  if (shown.kind !== kind || shown.query !== asked) await reload(kind, query, asked);
  else drawList(kind, id);
  return id === "new" ? undefined : drawItem(kind, id, () => reload(kind, route().query, null));
}

async function reload(kind, query, asked) {
  byId("knowledge-said").textContent = "";
  try {
    ({ items, next } = await load(kind, query));
    shown = { kind, query: asked };
  } catch (problem) {
    [items, next, shown] = [[], null, { kind: null, query: "" }];
    byId("knowledge-said").textContent = problem.absent ? "This server keeps no knowledge." : problem.message;
  }
  drawList(kind, route().rest[1]);
}

/** Another domain, or another person: what was listed is not theirs. */
export function forgetKnowledge() {
  shown = { kind: null, query: "" };
}
