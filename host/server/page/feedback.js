// A verdict on an answer: right or wrong, with the SQL that would have been right and a note.

import { call } from "./api.js";
import { el, list, plural } from "./dom.js";
import { may } from "./session.js";
import { announce } from "./state.js";

const JUDGED = ["answered", "refused", "gave_up"];

export function feedbackBlock(entry) {
  const { kind, record } = entry.ending;
  if (!JUDGED.includes(kind) || !record.ask_id || !may("feedback")) return null;
  const said = el("p", { class: "help", role: "status" });
  const thumb = (verdict, words, sign) =>
    el("button", { type: "button", class: "quiet thumb", "aria-pressed": "false", "data-verdict": verdict, click: () => choose(verdict) },
      el("span", { "aria-hidden": "true" }, sign), words);
  const thumbs = [thumb("right", " Right", "\u{1F44D}\uFE0E"), thumb("wrong", " Wrong", "\u{1F44E}\uFE0E")];
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
