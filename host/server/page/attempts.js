// How an answer came about: failed attempts, steps, components, what a model saw, what it cost.

import { duration, el, grouped, list, plural, text } from "./dom.js";
import { sqlNodes } from "./sql.js";

export function attemptsBlock(record, open) {
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
          entry.wait_ms > 0 && el("span", { title: "For a connection to the database" }, `waited ${duration(entry.wait_ms)}`),
          el("span", {}, entry.duration_ms > 0 ? `ran ${duration(entry.duration_ms)}` : "never ran"),
          Number.isFinite(entry.row_count) && el("span", {}, plural(entry.row_count, "row"))),
        entry.message && el("p", {}, entry.message),
        entry.hint && el("p", { class: "help" }, `Hint: ${entry.hint}`),
        entry.sql && el("pre", { tabindex: "0", "aria-label": `SQL of attempt ${entry.number}` }, el("code", {}, sqlNodes(entry.sql))),
      )),
  );
}

export const digest = (value) => el("code", { title: text(value) }, text(value).replace(/^sha256:/, "").slice(0, 12));

export function originsBlock(record) {
  const [components, context] = [list(record.components), list(record.context)];
  const named = [["Tables read", record.tables_used], ["Examples that took part", record.examples], ["Lessons that took part", record.lessons]]
    .filter(([, ids]) => list(ids).length > 0);
  const recalled = list(record.recalled);
  if (components.length + context.length + named.length === 0) return null;
  const idNode = (name, id) =>
    name.startsWith("Tables") ? text(id) : el("a", { href: `#/knowledge/${name.startsWith("Ex") ? "examples" : "lessons"}/${encodeURIComponent(text(id))}` }, text(id));
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, "How it was made ", el("span", { class: "count" }, plural(components.length, "component"))),
    named.length > 0 && el("dl", { class: "pairs" }, named.map(([name, ids]) =>
      [el("dt", {}, name), el("dd", {}, list(ids).map((id, at) => [at > 0 && ", ", idNode(name, id)]))])),
    recalled.length > 0 && el("ul", { class: "plain-list" }, recalled.map((one) => el("li", {},
      `${text(one.kind)} `, idNode(one.kind === "example" ? "Examples" : "Lessons", one.id), `, number ${text(one.rank)} near the question`,
      list(one.matched).length > 0 ? `, by the words ${list(one.matched).join(", ")}` : ", by its meaning"))),
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

export const dollars = (cost) => (typeof cost === "number" ? `$${cost.toFixed(cost > 0 && cost < 0.01 ? 5 : 3)}` : "cost unknown");

export function metaLine(record) {
  if (!record.ask_id) return null;
  const tokens = record.tokens ?? {};
  const asked = Number(tokens.input) + Number(tokens.output) > 0;
  const waited = list(record.history).reduce((sum, entry) => sum + (entry.wait_ms || 0), 0);
  const trace = text(record.trace_url);
  const parts = [
    asked ? `${grouped(text(tokens.input))} tokens in, ${grouped(text(tokens.output))} out` : record.tokens && "no model was asked",
    asked && dollars(record.cost),
    Number.isFinite(record.latency_ms) && duration(record.latency_ms),
    waited > 0 && `${duration(waited)} of it waiting for a connection`,
    record.attempts > 0 && plural(record.attempts, "attempt"),
    record.domain && `domain ${record.domain}`,
    /^https?:\/\//i.test(trace)
      ? el("a", { href: trace, target: "_blank", rel: "noopener noreferrer" }, "trace")
      : record.trace_id && el("span", { title: text(record.trace_id) }, `trace ${text(record.trace_id).slice(0, 12)}`),
  ].filter(Boolean);
  return el("p", { class: "meta" }, parts.map((part) => (typeof part === "string" ? el("span", {}, part) : part)));
}
