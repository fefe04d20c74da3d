// The five endings and what each shows.

import { ask, edit, follow, open, page } from "./asking.js";
import { chartBlock, chartOf } from "./chart.js";
import { cut, duration, el, grouped, list, plural, text } from "./dom.js";
import { sqlBlock, sqlNodes } from "./sql.js";
import { resultTable } from "./table.js";

/** How each ending is named, and how it looks. */
export const ENDINGS = {
  answered: { word: "Answered", tone: "good" },
  clarification: { word: "Needs a choice", tone: "choose" },
  refused: { word: "Refused", tone: "warn" },
  gave_up: { word: "Gave up", tone: "warn" },
  failed: { word: "Failed", tone: "bad" },
  problem: { word: "Not asked", tone: "bad" },
  stopped: { word: "Stopped", tone: "calm" },
  gone: { word: "No connection", tone: "bad" },
};

const REASONS_WITHOUT_WORDS = {
  refused: "The question was refused, and no reason was given.",
  gave_up: "Every attempt failed.",
  failed: "Something other than the question was at fault.",
  clarification: "The question means more than one thing.",
};

/** Reads what came back. Whatever it is, one ending of the table above comes out. */
export function endingOf(response, body) {
  let record;
  try {
    record = JSON.parse(body);
  } catch {
    record = null;
  }
  if (record === null || typeof record !== "object" || Array.isArray(record)) {
    return { kind: "failed", sentence: `The server answered with HTTP ${response.status} and something that is not a record.`, record: {} };
  }
  if (response.ok) {
    const known = ["answered", "clarification", "refused", "gave_up", "failed"].includes(record.outcome);
    if (!known) return { kind: "failed", sentence: `The server answered with the outcome "${cut(text(record.outcome), 40)}", which this page does not know.`, record };
    const sentence = record.outcome === "answered" ? text(record.answer) : text(record.reason) || REASONS_WITHOUT_WORDS[record.outcome];
    return { kind: record.outcome, sentence, record };
  }
  const retry = Number(response.headers.get("retry-after"));
  return {
    kind: record.outcome === "failed" ? "failed" : "problem",
    sentence: text(record.detail) || text(record.title) || `The server answered with HTTP ${response.status}.`,
    field: text(record.field) || null,
    code: text(record.code) || null,
    status: response.status,
    retry: Number.isFinite(retry) && retry > 0 ? retry : null,
    record,
  };
}

export function tagOf(kind) {
  const { word, tone } = ENDINGS[kind] ?? ENDINGS.failed;
  return el("span", { class: `tag ${tone}`, "data-ending": kind }, word);
}

function attemptsBlock(record, open) {
  const failed = list(record.history).map((entry, index) => ({ ...entry, number: index + 1 })).filter((entry) => entry.error_type);
  if (failed.length === 0) return null;
  return el(
    "details",
    { class: "fold attempts", open },
    el("summary", {}, `${plural(failed.length, "failed attempt")} `,
      el("span", { class: "count" }, [...new Set(failed.map((entry) => entry.error_type))].join(", "))),
    failed.map((entry) =>
      el(
        "section",
        { class: "attempt", "aria-label": `Attempt ${entry.number}` },
        el("p", { class: "attempt-head" },
          el("strong", {}, `Attempt ${entry.number}`),
          el("code", { class: "tag bad" }, entry.error_type),
          entry.sqlstate && el("span", {}, `SQLSTATE ${entry.sqlstate}`),
          entry.origin && el("span", {}, `by ${entry.origin}`),
          el("span", {}, entry.duration_ms > 0 ? `ran ${duration(entry.duration_ms)}` : "never ran"),
          Number.isFinite(entry.row_count) && el("span", {}, plural(entry.row_count, "row"))),
        entry.message && el("p", {}, entry.message),
        entry.hint && el("p", { class: "help" }, `Hint: ${entry.hint}`),
        entry.sql && el("pre", { tabindex: "0", "aria-label": `SQL of attempt ${entry.number}` }, el("code", {}, sqlNodes(entry.sql))),
      )),
  );
}

export const digest = (value) => el("code", { title: text(value) }, text(value).replace(/^sha256:/, "").slice(0, 12));

function originsBlock(record) {
  const [components, context] = [list(record.components), list(record.context)];
  const named = [["Tables read", record.tables_used], ["Examples that took part", record.examples], ["Lessons that took part", record.lessons]]
    .filter(([, ids]) => list(ids).length > 0);
  if (components.length + context.length + named.length === 0) return null;
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, "How it was made ", el("span", { class: "count" }, plural(components.length, "component"))),
    named.length > 0 && el("dl", { class: "pairs" }, named.map(([name, ids]) => [el("dt", {}, name), el("dd", {}, list(ids).join(", "))])),
    components.length > 0 && el("table", { class: "small" },
      el("thead", {}, el("tr", {}, ["Stage", "Component", "Digest"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, components.map((use) =>
        el("tr", {}, el("td", {}, text(use.stage)), el("td", {}, text(use.component)), el("td", {}, digest(use.digest)))))),
    context.length > 0 && el("table", { class: "small" },
      el("thead", {}, el("tr", {}, ["Sent to the model", "Vouched for by", "Characters", "Digest"].map((name, at) =>
        el("th", { scope: "col", class: at === 2 && "number" }, name)))),
      el("tbody", {}, context.map((use) =>
        el("tr", {}, el("td", {}, text(use.kind)), el("td", {}, text(use.vouched_by)),
          el("td", { class: "number" }, grouped(text(use.characters))), el("td", {}, digest(use.hash)))))),
  );
}

function metaLine(record) {
  if (!record.ask_id) return null;
  const tokens = record.tokens ?? {};
  const asked = Number(tokens.input) + Number(tokens.output) > 0;
  const trace = text(record.trace_url);
  const parts = [
    asked ? `${grouped(text(tokens.input))} tokens in, ${grouped(text(tokens.output))} out` : "no model was asked",
    asked && (typeof record.cost === "number" ? `$${record.cost.toFixed(record.cost > 0 && record.cost < 0.01 ? 5 : 3)}` : "cost unknown"),
    Number.isFinite(record.latency_ms) && duration(record.latency_ms),
    record.attempts > 0 && plural(record.attempts, "attempt"),
    record.domain && `domain ${record.domain}`,
    /^https?:\/\//i.test(trace)
      ? el("a", { href: trace, target: "_blank", rel: "noopener noreferrer" }, "trace")
      : record.trace_id && el("span", { title: text(record.trace_id) }, `trace ${text(record.trace_id).slice(0, 12)}`),
  ].filter(Boolean);
  return el("p", { class: "meta" }, parts.map((part) => (typeof part === "string" ? el("span", {}, part) : part)));
}

function optionButtons(entry, record) {
  const options = list(record.options);
  if (options.length === 0) return null;
  return el("div", { class: "options", role: "group", "aria-label": "Which is meant?" },
    options.map((option) =>
      el("button", { type: "button", class: "option", click: () => ask({ ...entry.request, choice: text(option) }) }, text(option))));
}

export function resultNodes(entry) {
  const { kind, sentence, record, field, code, status, retry } = entry.ending;
  const chart = kind === "answered" ? chartOf(record) : null;
  const again = entry.ending.kind !== "answered" && entry.ending.kind !== "clarification";
  return [
    el("header", { class: "result-head" },
      tagOf(kind),
      entry.request.mode === "baseline" && el("span", { class: "tag calm" }, "Baseline"),
      record.kind === "knowledge" && el("span", { class: "tag calm", title: "Made from the glossary and the documents, not from rows" }, "From documents"),
      el("span", { class: "elapsed" }, duration(entry.elapsed))),
    el("p", { class: "asked" }, entry.request.question,
      entry.request.choice && el("span", { class: "choice" }, ` Meant: ${entry.request.choice}`)),
    el("p", { class: kind === "answered" ? "sentence" : "sentence other" }, sentence),
    optionButtons(entry, record),
    (code || field || retry) && el("p", { class: "help" },
      [field && `Field: ${field}.`, code && `Problem: ${code}${status ? ` (HTTP ${status})` : ""}.`, retry && `It may work again in ${plural(retry, "second")}.`]
        .filter(Boolean).join(" ")),
    record.degraded && el("p", { class: "note" }, el("strong", {}, "Degraded. "), text(record.degraded)),
    list(record.warnings).map((warning) => el("p", { class: "note" }, el("strong", {}, "Warning. "), text(warning))),
    list(record.assumptions).length > 0 && el("p", { class: "assumptions" }, el("strong", {}, "Assumes "), list(record.assumptions).join(" · ")),
    record.sql && sqlBlock(text(record.sql), "SQL"),
    chart && chartBlock(chart),
    kind === "answered" && record.kind !== "knowledge" && resultTable(record),
    attemptsBlock(record, kind === "gave_up" || kind === "failed"),
    originsBlock(record),
    metaLine(record),
    el("div", { class: "actions" },
      kind === "answered" && record.ask_id && el("button", { type: "button", class: "quiet", click: () => follow(entry) }, "Ask a follow-up"),
      el("button", { type: "button", class: "quiet", click: () => ask(entry.request) }, again ? "Try again" : "Ask again"),
      el("button", { type: "button", class: "quiet", click: () => edit(entry) }, "Edit the question")),
  ];
}
