// Evaluation runs as the server has them: agent beside baseline, with what chance leaves open.

import { call } from "./api.js";
import { dollars } from "./attempts.js";
import { byId, compact, duration, el, fill, list, plural, svg, text } from "./dom.js";
import { hashOf } from "./router.js";
import { sqlNodes } from "./sql.js";

const percent = (value) => (typeof value === "number" ? `${(value * 100).toFixed(1)}%` : "–");

/** A share as a bar from 0 to 100 percent, with its interval as a line. */
function shareNode(share) {
  if (!share) return "–";
  const told = `${share.right} of ${share.of}${typeof share.low === "number" ? `, 95% interval ${percent(share.low)} to ${percent(share.high)}` : ""}`;
  return el("span", { class: "share", title: told },
    svg("svg", { width: 80, height: 12, viewBox: "0 0 80 12", class: "share-bar", "aria-hidden": "true" },
      svg("rect", { x: 0, y: 2, width: 80, height: 8, class: "share-room" }),
      svg("rect", { x: 0, y: 2, width: 80 * (share.rate ?? 0), height: 8, class: "chart-bar" }),
      typeof share.low === "number" && svg("line", { x1: 80 * share.low, x2: 80 * share.high, y1: 6, y2: 6, class: "share-range" })),
    el("strong", {}, percent(share.rate)), el("span", { class: "help" }, ` ${share.right}/${share.of}`));
}

const times = (of) => (of && typeof of === "object" ? ["p50", "median", "p95"].filter((name) => typeof of[name] === "number").map((name) => `${name} ${duration(of[name])}`).join(", ") || "–" : typeof of === "number" ? duration(of) : "–");

const ROWS = [
  ["Right, of what can be answered", (mode) => shareNode(mode.answerable)],
  ["Refused, of what must be", (mode) => shareNode(mode.refusals)],
  ["Asked back, of what is unclear", (mode) => shareNode(mode.clarifications)],
  ["Refused though it can be answered", (mode) => shareNode(mode.false_refusals)],
  ["Healed by repair", (mode) => text(mode.healed)],
  ["Broken by repair", (mode) => text(mode.broken)],
  ["First attempt failed", (mode) => text(mode.first_failed)],
  ["Undecided", (mode) => text(mode.undecided)],
  ["Infrastructure", (mode) => text(mode.infrastructure)],
  ["Differs in presentation alone, maybe", (mode) => text(mode.presentation)],
  ["Attempts", (mode) => (typeof mode.attempts === "number" ? mode.attempts.toFixed(2) : "–")],
  ["Tokens", (mode) => compact((mode.tokens?.input ?? 0) + (mode.tokens?.output ?? 0))],
  ["Cost", (mode) => dollars(mode.cost)],
  ["Time of an ask", (mode) => times(mode.latency_ms)],
];

function groupTable(title, groups) {
  if (list(groups).length === 0) return null;
  return el("section", { class: "block", "aria-label": title }, el("div", { class: "block-head" }, el("h3", {}, title)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, el("table", {},
      el("thead", {}, el("tr", {}, ["", "Questions", "Agent", "Baseline"].map((name, at) => el("th", { scope: "col", class: at === 1 && "number" }, name || el("span", { class: "sr-only" }, "Group"))))),
      el("tbody", {}, list(groups).map((group) => el("tr", {}, el("th", { scope: "row" }, text(group.name)), el("td", { class: "number" }, text(group.questions)), el("td", {}, shareNode(group.agent)), el("td", {}, shareNode(group.baseline))))))));
}

/** Asks that did not come out right, with what was wanted and what was tried. */
function failuresBlock(failures) {
  const items = list(failures?.items);
  if (items.length === 0) return null;
  return el("details", { class: "fold" }, el("summary", {}, "Not right ", el("span", { class: "count" }, `${items.length} of ${text(failures.of)}`)),
    items.map((one) => el("section", { class: "attempt" },
      el("p", { class: "attempt-head" }, el("strong", {}, text(one.id)), el("span", { class: "tag warn" }, text(one.kind).replaceAll("_", " ")), el("span", {}, text(one.mode))),
      el("p", {}, text(one.question)),
      one.wanted_sql && [el("p", { class: "help" }, "Wanted:"), el("pre", { tabindex: "0" }, el("code", {}, sqlNodes(text(one.wanted_sql))))],
      list(one.history).at(-1)?.sql && [el("p", { class: "help" }, "Tried last:"), el("pre", { tabindex: "0" }, el("code", {}, sqlNodes(text(list(one.history).at(-1).sql))))])));
}

function summaryNodes(run, failures) {
  const modes = ["agent", "baseline"].filter((name) => run[name]);
  return [
    el("a", { class: "back", href: hashOf("evals") }, "← All runs"),
    el("h3", { class: "item-title" }, text(run.run)),
    el("p", { class: "help" }, [plural(run.questions ?? 0, "question"), run.skipped > 0 && `${run.skipped} left out`, run.missing > 0 && `${run.missing} not graded: the run was stopped`].filter(Boolean).join(" · ")),
    run.says && el("p", { class: "verdict" }, text(run.says)),
    el("section", { class: "block", "aria-label": "Numbers" }, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "sr-only" }, "What")), modes.map((name) => el("th", { scope: "col" }, name === "agent" ? "Agent" : "Baseline")))),
      el("tbody", {}, ROWS.map(([name, of]) => el("tr", {}, el("th", { scope: "row" }, name), modes.map((mode) => el("td", {}, of(run[mode]))))))))),
    run.paired && el("p", { class: "help" }, `Pairs: ${run.paired.both} right both times, ${run.paired.only_second} by the agent alone, ${run.paired.only_first} by the baseline alone, ${run.paired.neither} by neither; p ${run.paired.p < 0.001 ? "< 0.001" : `= ${Number(run.paired.p).toPrecision(2)}`}.`),
    groupTable("By what a question tests", run.categories),
    groupTable("By collection", list(run.sets).length > 1 ? run.sets : []),
    groupTable("By domain", list(run.domains).length > 1 ? run.domains : []),
    failuresBlock(failures),
    [["Right in the agent and not in the baseline", run.won], ["Right in the baseline and not in the agent", run.lost]].map(([title, ids]) =>
      list(ids).length > 0 && el("details", { class: "fold" }, el("summary", {}, `${title} `, el("span", { class: "count" }, text(list(ids).length))), el("p", {}, list(ids).join(", ")))),
  ];
}

function listNodes(runs) {
  if (runs.length === 0) return [el("p", { class: "about" }, "No evaluation was run here. ", el("code", {}, "airlock eval run --domain NAME"), " runs one.")];
  return [el("section", { class: "block" }, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Run", "Questions", "Agent", "Baseline", "Healed", "Broken"].map((name, at) => el("th", { scope: "col", class: [1, 4, 5].includes(at) && "number" }, name)))),
    el("tbody", {}, runs.map((run) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: hashOf("evals", [text(run.run)]) }, text(run.run)), el("span", { class: "type" }, [text(run.from), list(run.domains).join(", ")].filter(Boolean).join(" · "))),
      el("td", { class: "number" }, text(run.questions)),
      el("td", {}, shareNode(run.agent?.answerable ?? run.agent)), el("td", {}, shareNode(run.baseline?.answerable ?? run.baseline)),
      el("td", { class: "number" }, text(run.agent?.healed)), el("td", { class: "number" }, text(run.agent?.broken))))))))];
}

export async function showEvals({ rest: [run] }) {
  const box = byId("evals-body");
  let nodes;
  try {
    if (run) {
      const said = await call(`/api/evals/${encodeURIComponent(run)}`);
      nodes = summaryNodes(said.summary ?? {}, said.failures);
    } else {
      nodes = listNodes(list((await call("/api/evals?limit=100")).items));
    }
  } catch (problem) {
    nodes = [run && el("a", { class: "back", href: hashOf("evals") }, "← All runs"),
      el("p", { class: "note" }, problem.absent ? "This server does not show evaluations." : problem.message)];
  }
  box.replaceChildren();
  fill(box, {}, nodes);
}
