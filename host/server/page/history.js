// One's own questions: those of this tab with their rows, those of the log with their SQL.

import { call, withQuery } from "./api.js";
import { show } from "./asking.js";
import { byId, cut, duration, el, list, redraw, text } from "./dom.js";
import { tagOf } from "./endings.js";
import { announce, page } from "./state.js";

const AT_ONCE = 30;

/** What the server remembers, under the asks' identities; null when it remembers nothing. */
let kept = null;
let next = null;
/** Whether the server was asked at all. */
let read = false;

/** A line of the log in the form of an entry of this page. */
function entryOf(item) {
  const { question, domain, answer, sql } = item;
  return {
    request: { question: text(question), domain: text(domain) },
    ending: { kind: answer || sql ? "answered" : "kept", sentence: text(answer), record: { ask_id: item.ask_id, domain, question, answer, sql } },
    elapsed: NaN, at: new Date(item.at), kept: true,
  };
}

async function load(cursor) {
  const said = await call(withQuery("/api/history", { limit: AT_ONCE, cursor }));
  return { items: list(said.items), next: said.next_cursor ?? null };
}

function mergeKept(items) {
  kept ??= new Map();
  for (const item of items) kept.set(item.ask_id, entryOf(item));
  const here = page.entries.filter((entry) => !entry.kept);
  const shown = new Set(here.map((entry) => entry.ending.record.ask_id));
  const others = [...kept].filter(([id]) => !shown.has(id)).map(([, entry]) => entry);
  page.entries = [...here, ...others].sort((one, other) => other.at - one.at);
}

/** Reads the newest again; a server without a log leaves the list as this tab made it. */
export async function refreshHistory() {
  try {
    const newest = await load();
    next = kept === null ? newest.next : next;
    mergeKept(newest.items);
  } catch {
    // The list stays as it is.
  }
  read = true;
  drawHistory();
}

async function loadOlder() {
  try {
    const older = await load(next);
    next = older.next;
    mergeKept(older.items);
    announce("Older questions were added.");
  } catch (problem) {
    announce(problem.message);
  }
  drawHistory();
}

/** Forgets what belonged to somebody else. */
export function forgetHistory() {
  read = false;
  kept = null;
  next = null;
  page.entries = [];
  page.shown = null;
  byId("result").hidden = true;
  drawHistory();
}

const today = new Date().toDateString();

export function drawHistory() {
  byId("history-count").textContent = `${page.entries.length}${next ? "+" : ""}`;
  byId("history-empty").hidden = page.entries.length > 0;
  byId("history-empty").textContent = kept === null
    ? "Questions asked in this tab are kept here until it is closed." : "Your questions will stand here, also after you come back.";
  byId("history-more").hidden = next === null;
  redraw(byId("history-list"), page.entries.map((entry) =>
    el("li", {}, el("button", { type: "button", "aria-current": entry === page.shown ? "true" : null, click: () => open(entry) },
      el("span", { class: "history-question" }, cut(entry.request.choice ?? entry.request.question, 140)),
      el("span", { class: "history-line" }, tagOf(entry.ending.kind), page.several && el("span", {}, text(entry.request.domain)),
        Number.isFinite(entry.elapsed) && el("span", {}, duration(entry.elapsed)),
        el("time", { datetime: entry.at.toISOString() }, entry.at.toDateString() === today ? entry.at.toLocaleTimeString() : entry.at.toLocaleDateString()))))));
}

export function open(entry) {
  if (page.running) return;
  show(entry);
  byId("result").scrollIntoView({ block: "nearest" });
  announce(`Shown again: ${cut(entry.request.question, 120)}`);
}

/** Shows the ask that the address names, once the history is there. */
export function openById(id) {
  if (!id || !read || page.running || page.shown?.ending.record.ask_id === id) return;
  const entry = page.entries.find((one) => one.ending.record.ask_id === id);
  if (entry) return show(entry);
  const result = byId("result");
  result.replaceChildren(el("p", { class: "note" }, "There is no such question among the last of yours here."));
  result.hidden = false;
  return undefined;
}

export function wireHistory() {
  byId("history-more").addEventListener("click", loadOlder);
}
