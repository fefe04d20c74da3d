// The five endings, those in which no answer came back at all, and what each shows.

import { retryOf } from "./api.js";
import { ask, edit, follow } from "./asking.js";
import { attemptsBlock, metaLine, originsBlock } from "./attempts.js";
import { chartBlock, chartOf } from "./chart.js";
import { cut, duration, el, list, plural, text } from "./dom.js";
import { sqlPanel } from "./editor.js";
import { feedbackBlock } from "./feedback.js";
import { go, hashOf } from "./router.js";
import { may } from "./session.js";
import { page } from "./state.js";
import { stepsBlock } from "./steps.js";
import { resultTable } from "./table.js";

/** How each ending is named, and how it looks. */
export const ENDINGS = {
  answered: { word: "Answered", tone: "good" },
  clarification: { word: "Needs a choice", tone: "choose" },
  refused: { word: "Refused", tone: "warn" },
  gave_up: { word: "Gave up", tone: "warn" },
  failed: { word: "Failed", tone: "bad" },
  problem: { word: "Not asked", tone: "bad" },
  kept: { word: "Asked before", tone: "calm" },
  stopped: { word: "Stopped", tone: "calm" },
  gone: { word: "No connection", tone: "bad" },
  cut: { word: "Cut off", tone: "bad" },
  silent: { word: "No answer", tone: "bad" },
};

const REASONS_WITHOUT_WORDS = {
  refused: "The question was refused, and no reason was given.",
  gave_up: "Every attempt failed.",
  failed: "Something other than the question was at fault.",
  clarification: "The question means more than one thing.",
};

const OUTCOMES = ["answered", "clarification", "refused", "gave_up", "failed"];

/** The ending that a record tells of. */
export function endingOfRecord(record) {
  if (!OUTCOMES.includes(record.outcome)) {
    return { kind: "failed", sentence: `The server answered with the outcome "${cut(text(record.outcome), 40)}", which this page does not know.`, record };
  }
  const sentence = record.outcome === "answered" ? text(record.answer) : text(record.reason) || REASONS_WITHOUT_WORDS[record.outcome];
  return { kind: record.outcome, sentence, record };
}

/** Reads what came back, whole or as the last event of a stream. Whatever it is, one ending of the table above comes out. */
export function endingOf(response, body, isProblem = !response.ok) {
  let record;
  try {
    record = JSON.parse(body);
  } catch {
    record = null;
  }
  if (record === null || typeof record !== "object" || Array.isArray(record)) {
    return { kind: "failed", sentence: `The server answered with HTTP ${response.status} and something that is not a record.`, record: {} };
  }
  if (!isProblem) return endingOfRecord(record);
  const status = Number(record.status) || response.status;
  return {
    kind: record.outcome === "failed" ? "failed" : "problem",
    sentence: text(record.detail) || text(record.title) || `The server answered with HTTP ${status}.`,
    field: text(record.field) || null,
    code: text(record.code) || null,
    status,
    retry: retryOf(response),
    record,
  };
}

export function tagOf(kind) {
  const { word, tone } = ENDINGS[kind] ?? ENDINGS.failed;
  return el("span", { class: `tag ${tone}`, "data-ending": kind }, word);
}

function optionButtons(entry, record) {
  const options = list(record.options);
  if (options.length === 0) return null;
  return el("div", { class: "options", role: "group", "aria-label": "Which is meant?" },
    options.map((option) =>
      el("button", { type: "button", class: "option", click: () => ask({ ...entry.request, follow_up_of: entry.request.follow_up_of ?? record.ask_id, choice: text(option) }) }, text(option))));
}

/** Takes a question with its SQL to the form of examples. */
function propose(entry) {
  page.draft = { question: entry.request.question, sql: text(entry.ending.record.sql) };
  go(hashOf("knowledge", ["examples", "new"]));
}

/** What can be done after an ending. Whatever had no answer can be tried again. */
function actions(entry) {
  const { kind, record } = entry.ending;
  const answered = kind === "answered";
  const again = el("button", { type: "button", class: answered || kind === "clarification" ? "quiet" : "quiet strong", click: () => ask(entry.request) },
    answered || kind === "clarification" ? "Ask again" : "Try again");
  return el("div", { class: "actions" },
    answered && record.ask_id && el("button", { type: "button", class: "quiet", click: () => follow(entry) }, "Ask a follow-up"),
    again,
    el("button", { type: "button", class: "quiet", click: () => edit(entry) }, "Edit the question"),
    answered && record.sql && may("examples:author") && el("button", { type: "button", class: "quiet", click: () => propose(entry) }, "Keep as an example"));
}

export function resultNodes(entry) {
  const { kind, sentence, record, field, code, status, retry } = entry.ending;
  const kept = entry.kept === true;
  const rows = kind === "answered" && record.kind !== "knowledge" && !kept;
  const chart = rows ? chartOf(record) : null;
  const baseline = (entry.request.mode ?? record.mode) === "baseline";
  return [
    el("header", { class: "result-head" },
      tagOf(kind),
      baseline && el("span", { class: "tag calm" }, "Baseline"),
      record.kind === "knowledge" && el("span", { class: "tag calm", title: "Made from the glossary and the documents, not from rows" }, "From documents"),
      kept && el("time", { class: "help", datetime: entry.at.toISOString() }, entry.at.toLocaleString()),
      Number.isFinite(entry.elapsed) && el("span", { class: "elapsed" }, duration(entry.elapsed))),
    el("p", { class: "asked" }, entry.request.question,
      entry.request.choice && el("span", { class: "choice" }, ` Meant: ${entry.request.choice}`)),
    sentence && el("p", { class: kind === "answered" ? "sentence" : "sentence other" }, sentence),
    optionButtons(entry, record),
    (code || field || retry) && el("p", { class: "help" },
      [field && `Field: ${field}.`, code && `Problem: ${code}${status ? ` (HTTP ${status})` : ""}.`, retry && `It may work again in ${plural(retry, "second")}.`]
        .filter(Boolean).join(" ")),
    record.degraded && el("p", { class: "note" }, el("strong", {}, "Degraded. "), text(record.degraded)),
    list(record.warnings).map((warning) => el("p", { class: "note" }, el("strong", {}, "Warning. "), text(warning))),
    list(record.assumptions).length > 0 && el("p", { class: "assumptions" }, el("strong", {}, "Assumes "), list(record.assumptions).join(" · ")),
    kept && record.sql && el("p", { class: "help" }, "The history keeps the SQL and not the rows: run it to see them again."),
    record.sql && sqlPanel(text(record.sql), { title: "SQL", domain: text(record.domain) || entry.request.domain || page.domain, kept }),
    chart && chartBlock(chart),
    rows && resultTable(record),
    feedbackBlock(entry),
    attemptsBlock(record, kind === "gave_up" || kind === "failed"),
    stepsBlock(entry.steps),
    originsBlock(record),
    metaLine(record),
    actions(entry),
  ];
}
