// A verdict on an answer: right or wrong, with the SQL that would have been right and a note.

import { call } from "./api.js";
import { el, list, plural, svg } from "./dom.js";
import { may } from "./session.js";
import { announce } from "./state.js";

const thumbIcon = (verdict) =>
  svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", class: "thumb-icon", "aria-hidden": "true" },
    svg("path", { d: "M2 7h2.5v7H2zM6 7l2.7-5.2c.9 0 1.6.7 1.6 1.6L10 6h3.2c.8 0 1.4.8 1.2 1.6l-1.3 5.2c-.1.7-.7 1.2-1.4 1.2H6z", transform: verdict === "wrong" && "rotate(180 8 8)" }));

const JUDGED = ["answered", "refused", "gave_up"];

export function feedbackBlock(entry) {
  const { kind, record } = entry.ending;
  if (!JUDGED.includes(kind) || !record.ask_id || !may("feedback")) return null;
  const said = el("p", { class: "help", role: "status" });
  const thumb = (verdict, words) =>
    el("button", { type: "button", class: "quiet thumb", "aria-pressed": "false", "data-verdict": verdict, click: () => choose(verdict) },
      thumbIcon(verdict), words);
  const thumbs = [thumb("right", "Right"), thumb("wrong", "Wrong")];
  const sql = el("textarea", { id: "feedback-sql", class: "sql-area", rows: "3", spellcheck: "false", maxlength: "8000" });
  const note = el("textarea", { id: "feedback-note", rows: "2", maxlength: "2000" });
  const sqlPart = el("div", {}, el("label", { for: "feedback-sql" }, "SQL that would have been right (if you know it)"), sql);
  const send = el("button", { type: "button", class: "primary small-button", click: () => post() }, "Send");
  const form = el("div", { class: "feedback-form", hidden: true },
    sqlPart, el("label", { for: "feedback-note" }, "Note (optional)"), note, el("div", { class: "editor-row" }, send));
  let verdict = null;

  function choose(chosen) {
    verdict = chosen;
    for (const one of thumbs) one.setAttribute("aria-pressed", String(one.dataset.verdict === chosen));
    form.hidden = false;
    sqlPart.hidden = chosen === "right";
    said.textContent = "";
    (chosen === "right" ? send : sql).focus();
  }

  async function post() {
    const body = { ask_id: record.ask_id, verdict };
    if (verdict === "wrong" && sql.value.trim()) body.sql = sql.value.trim();
    if (note.value.trim()) body.note = note.value.trim();
    send.disabled = true;
    try {
      const answer = await call("/api/feedback", { method: "POST", body });
      const proposed = list(answer.candidates).length;
      entry.verdict = verdict;
      said.textContent = proposed > 0 ? `Recorded. ${plural(proposed, "proposal")} for the curators came of it.` : "Recorded. Thank you.";
      announce(said.textContent);
      form.hidden = true;
      thumbs.find((one) => one.dataset.verdict === verdict).focus();
    } catch (problem) {
      said.textContent = problem.absent ? "This server takes no feedback." : problem.message;
    } finally {
      send.disabled = false;
    }
  }

  if (entry.verdict) thumbs.find((one) => one.dataset.verdict === entry.verdict).setAttribute("aria-pressed", "true");
  return el("section", { class: "feedback", "aria-label": "Was this right?" },
    el("div", { class: "feedback-row" }, el("span", { class: "help" }, kind === "answered" ? "Is this right?" : "Was that right?"), thumbs),
    form, said);
}
