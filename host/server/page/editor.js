// SQL that is shown, edited, checked and run again. Whatever runs has passed the gate on the server.

import { call } from "./api.js";
import { chartBlock, chartOf } from "./chart.js";
import { duration, el, fill, list, plural, text } from "./dom.js";
import { may } from "./session.js";
import { copyButton, sqlNodes } from "./sql.js";
import { announce } from "./state.js";
import { resultTable } from "./table.js";

/** The place a refusal names, in characters from 1, as line and column, with the word that stands there. */
export function placeIn(sql, position) {
  const characters = [...sql];
  if (!Number.isInteger(position) || position < 1 || position > characters.length) return null;
  const before = characters.slice(0, position - 1).join("");
  const rest = characters.slice(position - 1).join("");
  const word = /^(?:[\p{L}\p{N}_$]+|"(?:[^"]|"")*"|'(?:[^']|'')*'|\s+|[\s\S])/u.exec(rest)[0];
  const lines = before.split("\n");
  return { before, word, after: rest.slice(word.length), line: lines.length, column: [...lines.at(-1)].length + 1 };
}

/** A refusal or an error: what, why, where. */
export function refusalNodes(problem, sql, goTo) {
  const body = problem.body ?? problem;
  const said = body.failure ?? body;
  const place = placeIn(sql, Number(said.position) || null);
  return el("div", { class: "refusal" },
    el("p", {}, el("code", { class: "tag bad" }, text(said.error_type) || text(said.code) || "refused"), " ", text(said.message) || problem.message),
    text(said.hint) && el("p", { class: "help" }, `Hint: ${said.hint}`),
    said.sqlstate && el("p", { class: "help" }, `SQLSTATE ${said.sqlstate}`),
    place && [
      el("p", { class: "help" }, `Line ${place.line}, column ${place.column}. `,
        goTo && el("button", { type: "button", class: "quiet", click: () => goTo(place) }, "Go to the place")),
      el("pre", { tabindex: "0", "aria-label": "The refused text, with the place marked" },
        el("code", {}, place.before, el("mark", { class: "place" }, place.word), place.after)),
    ]);
}

/** A block of SQL with Copy, and with Edit where the reader may run SQL. */
export function sqlPanel(sql, { title, domain, kept = false }) {
  const code = el("code", {}, sqlNodes(sql));
  const shown = el("pre", { tabindex: "0", "aria-label": title }, code);
  const area = el("textarea", { class: "sql-area", spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": `Edit ${title}`, rows: "4" });
  const said = el("div", { class: "editor-said", role: "status" });
  const out = el("div", { class: "editor-out" });
  let running = null;

  const button = (words, click, kind = "quiet") => el("button", { type: "button", class: kind, click }, words);
  const run = button("Run", () => execute(area.value), "primary small-button");
  const check = button("Check only", () => tryOut());
  const halt = button("Stop", () => running?.abort(), "stop small-button");
  const cancel = button("Put back", () => close());
  const editing = el("div", { class: "editor", hidden: true }, area,
    el("div", { class: "editor-row" }, el("span", { class: "help" }, el("kbd", {}, "Ctrl"), "+", el("kbd", {}, "Enter"), " runs it"), cancel, check, halt, run));
  const edit = may("query") && button("Edit and run", () => open());
  const again = may("query") && kept && button("Run it", () => execute(sql));

  const busy = (controller) => {
    running = controller;
    halt.hidden = controller === null;
    for (const one of [run, check, again].filter(Boolean)) one.disabled = controller !== null;
  };
  const tell = (...nodes) => {
    said.replaceChildren();
    fill(said, {}, nodes);
  };
  const goTo = (place) => {
    if (editing.hidden) open();
    area.focus();
    area.setSelectionRange(place.before.length, place.before.length + place.word.length);
  };
  const open = () => {
    shown.hidden = true;
    editing.hidden = false;
    if (edit) edit.hidden = true;
    if (area.value === "") area.value = sql;
    area.rows = Math.min(Math.max(area.value.split("\n").length + 1, Math.ceil(area.value.length / 80), 4), 18);
    area.focus();
  };
  const close = () => {
    running?.abort();
    editing.hidden = true;
    shown.hidden = false;
    area.value = "";
    tell();
    out.replaceChildren();
    if (edit) {
      edit.hidden = false;
      edit.focus();
    }
  };

  /** Every way out of this, too, leaves something said. */
  const attempt = async (words, path, wanted, done) => {
    const controller = new AbortController();
    const begun = performance.now();
    busy(controller);
    tell(el("p", { class: "help" }, words));
    try {
      done(await call(path, { method: "POST", body: { sql: wanted, domain }, signal: controller.signal, patience: 180000 }), performance.now() - begun);
    } catch (problem) {
      if (controller.signal.aborted) tell(el("p", { class: "help" }, "Stopped. The server was told, and cancels the query."));
      else if (problem.absent) tell(el("p", { class: "note" }, "This server does not run SQL of one's own."));
      else tell(refusalNodes(problem, wanted, goTo));
    } finally {
      busy(null);
    }
  };
  const execute = (wanted) => {
    if (running || wanted.trim() === "") return;
    out.replaceChildren();
    attempt("Running.", "/api/query", wanted, (answer, took) => {
      const record = { ...answer, question: `query-${text(domain)}` };
      const chart = chartOf(record);
      tell(el("p", { class: "help" }, `Ran in ${duration(answer.duration_ms ?? took)}: ${plural(list(answer.rows).length, "row")}.`),
        list(answer.warnings).map((warning) => el("p", { class: "note" }, el("strong", {}, "Warning. "), text(warning))),
        text(answer.sql) && text(answer.sql).trim() !== wanted.trim() && el("p", { class: "help" }, "What ran: ", el("code", {}, text(answer.sql))));
      fill(out, {}, [chart && chartBlock(chart), resultTable(record)]);
      announce(`The query gave ${plural(list(answer.rows).length, "row")}.`);
    });
  };
  const tryOut = () => {
    const wanted = area.value;
    if (running || wanted.trim() === "") return;
    attempt("Checking.", "/api/check", wanted, (answer) => {
      if (answer.verdict === "approved") {
        tell(el("p", {}, el("span", { class: "tag good" }, "The gate lets it through"),
          list(answer.tables).length > 0 && el("span", { class: "help" }, ` It reads ${list(answer.tables).map((table) => text(table?.name ?? table)).join(", ")}.`)));
      } else {
        tell(refusalNodes({ body: answer, message: "refused" }, wanted, goTo));
      }
    });
  };
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      execute(area.value);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (running) running.abort();
      else close();
    }
  });
  halt.hidden = true;

  return [
    el("section", { class: "block sql", "aria-label": title },
      el("div", { class: "block-head" }, el("h3", {}, title),
        el("span", { class: "head-actions" }, again, edit, copyButton(() => (editing.hidden ? sql : area.value), `Copy ${title}`))),
      shown, editing, said),
    out,
  ];
}
