// Writing an example of one's own.

import { call } from "./api.js";
import { byId, el } from "./dom.js";
import { forgetKnowledge } from "./knowledge.js";
import { go, hashOf } from "./router.js";
import { may } from "./session.js";
import { announce, page } from "./state.js";

/** The link to the form, and the form when the address is `#/knowledge/examples/new`. */
export function drawAuthoring(kind, id) {
  const link = byId("knowledge-new");
  link.hidden = kind !== "examples" || !may("examples:author");
  const box = byId("knowledge-author");
  box.hidden = link.hidden || id !== "new";
  if (box.hidden) return;
  byId("knowledge-item").hidden = true;
  const question = el("textarea", { id: "author-question", rows: "2", maxlength: "4000" });
  const sql = el("textarea", { id: "author-sql", class: "sql-area", rows: "6", maxlength: "8000", spellcheck: "false" });
  if (page.draft) {
    question.value = page.draft.question;
    sql.value = page.draft.sql;
    page.draft = null;
  }
  const said = el("p", { class: "field-error", role: "alert" });
  const send = el("button", { type: "submit", class: "primary small-button" }, "Add the example");
  const form = el("form", {
    novalidate: true,
    submit: async (event) => {
      event.preventDefault();
      said.textContent = "";
      send.disabled = true;
      try {
        const made = await call("/api/examples", { method: "POST", body: { domain: page.domain, question: question.value.trim(), sql: sql.value.trim() } });
        announce("The example was added.");
        forgetKnowledge();
        go(hashOf("knowledge", ["examples", ...[made.id ?? made.curated ?? made.candidate].filter(Boolean)]));
      } catch (problem) {
        said.textContent = problem.message;
        (problem.field === "sql" ? sql : question).focus();
      } finally {
        send.disabled = false;
      }
    },
  },
  el("h3", { class: "item-title" }, "A question and the SQL that answers it"),
  el("label", { for: "author-question" }, "Question"), question,
  el("label", { for: "author-sql" }, "SQL"), sql, said,
  el("div", { class: "editor-row" }, el("a", { href: hashOf("knowledge", ["examples"]) }, "Cancel"), send));
  box.replaceChildren(form);
  question.focus();
}
