// What an ask is doing, line by line as it happens, and again when it is over.

import { cut, duration, el, list, plural, text } from "./dom.js";

const STAGES = {
  planner: "Understanding the question",
  linker: "Choosing tables",
  generator: "Writing SQL",
  composer: "Composing SQL without a model",
  repair: "Repairing",
  answerer: "Putting the answer in words",
  domain: "Applying the domain's rules",
};

const REPAIRS = {
  rewrite: "The SQL is mended where the fault is",
  regenerate: "The SQL is written anew",
  widen: "More tables are looked at",
  stop: "Repair is no use",
};

/** Events of one ask as lines: `{word, detail, sql, tone, at, took}` in milliseconds since it was sent. */
export class Steps {
  constructor() {
    this.lines = [];
    this.over = false;
  }

  /** Takes an event that came `at` milliseconds after the question was sent. Gives the new line, if it began one. */
  take(event, data, at) {
    const now = this.lines.at(-1);
    const detail = (words) => { if (now) now.detail = [now.detail, words].filter(Boolean).join("; "); };
    switch (event) {
      case "stage": return this.begin(at, { word: STAGES[data.stage] ?? `Stage ${text(data.stage)}` });
      case "asking": detail(`${text(data.model)} is asked: ${text(data.purpose).replaceAll("-", " ")}`); return null;
      case "linked": detail(list(data.tables).map((table) => text(table).replace(/^public\./, "")).join(", ")); return null;
      case "drafted": return this.begin(at, { word: `Attempt ${text(data.attempt)}, by the ${text(data.origin)}`, sql: text(data.sql) });
      case "running": return this.begin(at, { word: `Running attempt ${text(data.attempt)}` });
      case "rows": detail(plural(Number(data.row_count) || 0, "row")); return null;
      case "failed": return this.begin(at, { word: `Attempt ${text(data.attempt)} failed`, code: text(data.error_type), detail: text(data.message), tone: "bad" });
      case "repair": return this.begin(at, { word: REPAIRS[data.action] ?? text(data.action), detail: text(data.detail), tone: "warn" });
      case "ended": this.end(at); return null;
      default: return this.begin(at, { word: text(event).replaceAll("_", " ") });
    }
  }

  begin(at, line) {
    this.close(at);
    const begun = { ...line, at, took: null };
    this.lines.push(begun);
    return begun;
  }

  close(at) {
    const last = this.lines.at(-1);
    if (last && last.took === null) last.took = Math.max(at - last.at, 0);
  }

  end(at) {
    this.close(at);
    this.over = true;
  }
}

const lineNode = (line, over) =>
  el("li", { class: ["step", line.tone, line.took === null && !over && "now"].filter(Boolean).join(" ") },
    el("span", { class: "step-mark", "aria-hidden": "true" }),
    el("span", { class: "step-word" }, line.word, line.code && [" ", el("code", { class: "tag bad" }, line.code)]),
    el("span", { class: "step-time" }, line.took === null ? "" : duration(line.took)),
    line.detail && el("span", { class: "step-detail" }, cut(line.detail, 400)),
    line.sql && el("code", { class: "step-detail", title: cut(line.sql, 2000) }, cut(line.sql.replace(/\s+/g, " "), 160)));

/** The lines as a list; only what changed is drawn again, so that a reader's place is kept. */
export function drawSteps(steps, box) {
  const keep = Math.max(Math.min(box.childElementCount, steps.lines.length) - 2, 0);
  while (box.childElementCount > keep) box.lastElementChild.remove();
  box.append(...steps.lines.slice(keep).map((line) => lineNode(line, steps.over)));
}

/** The same, folded, once the ask is over. */
export function stepsBlock(steps) {
  if (!steps || steps.lines.length === 0) return null;
  return el("details", { class: "fold" },
    el("summary", {}, "Steps ", el("span", { class: "count" }, plural(steps.lines.length, "step"))),
    el("ol", { class: "steps" }, steps.lines.map((line) => lineNode(line, true))));
}
