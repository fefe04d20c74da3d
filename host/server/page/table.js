// The result as a table, and as a CSV file.

import {
    NUMBER_TYPE, asText, cut, el, grouped, list, numberNodes, plural, text, wantsSeparators,
} from "./dom.js";

const CELL_LENGTH = 80;
const ROWS_AT_ONCE = 200;

const isLong = (value) => value !== null && asText(value).length > 28;

function cellNodes(value, separate, isNumber) {
  if (value === null || value === undefined) return el("span", { class: "null", title: "NULL: no value" }, "NULL");
  if (value === "") return el("span", { class: "empty", title: "Empty text, not NULL", "aria-label": "empty text" });
  if (isNumber) return numberNodes(asText(value), separate);
  const whole = asText(value);
  const short = cut(whole, CELL_LENGTH);
  if (short === whole) return whole;
  const shown = el("span", { title: cut(whole, 2000) }, short);
  const more = el(
    "button",
    {
      type: "button",
      class: "more",
      "aria-expanded": "false",
      "aria-label": `Show all ${[...whole].length} characters`,
      click: () => {
        const open = more.getAttribute("aria-expanded") !== "true";
        more.setAttribute("aria-expanded", String(open));
        more.textContent = open ? "less" : "more";
        shown.textContent = open ? whole : short;
        shown.classList.toggle("whole", open);
      },
    },
    "more",
  );
  return [shown, " ", more];
}

export function resultTable(record) {
  const columns = list(record.columns);
  const rows = list(record.rows);
  const traits = columns.map((column, at) => {
    const isNumber = NUMBER_TYPE.test(text(column.type));
    return { isNumber, separate: isNumber && wantsSeparators(column, rows.map((row) => list(row)[at])) };
  });
  const body = el("tbody");
  const rowNode = (row) =>
    el("tr", {}, columns.map((_column, at) =>
      el("td", { class: traits[at].isNumber ? "number" : isLong(list(row)[at]) && "long" }, cellNodes(list(row)[at], traits[at].separate, traits[at].isNumber))));
  const more = el("button", { type: "button", class: "quiet" });
  const show = () => {
    const from = body.childElementCount;
    body.append(...rows.slice(from, from + ROWS_AT_ONCE).map(rowNode));
    const left = rows.length - body.childElementCount;
    more.hidden = left === 0;
    more.textContent = `Show ${grouped(text(Math.min(left, ROWS_AT_ONCE)))} more of ${grouped(text(left))} rows`;
  };
  more.addEventListener("click", show);
  show();

  const note = el("p", { class: "help", role: "status" });
  const csv = el(
    "button",
    { type: "button", class: "quiet", click: () => { note.textContent = downloadCsv(record); } },
    "Download CSV",
  );
  return el(
    "section",
    { class: "block", "aria-label": "Result" },
    el(
      "div",
      { class: "block-head" },
      el("h3", {}, "Result"),
      el("span", { class: "count" }, plural(rows.length, "row")),
      record.truncated && el("span", { class: "tag warn", title: "PostgreSQL had more rows than the cap of this domain lets through" }, "More rows exist; the row cap ended the result here"),
      csv,
    ),
    columns.length > 0 && el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Result table" },
      el(
        "table",
        { class: columns.length < 3 && "few" },
        el("thead", {}, el("tr", {}, columns.map((column, at) =>
          el("th", { scope: "col", class: traits[at].isNumber && "number", title: text(column.type) },
            text(column.name), el("span", { class: "type" }, text(column.type)))))),
        body,
      ),
    ),
    rows.length === 0 && el("p", { class: "help pad" }, "The query ran and gave no rows."),
    more,
    note,
  );
}

// ---------------------------------------------------------------- CSV

/** What a spreadsheet would run as a formula when it opens the file. */
const isFormula = (value) => /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d\s.,()eE%-]*$/.test(value);

/** One field: NULL is nothing at all, the empty text is a pair of quotes. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  const whole = asText(value);
  const safe = isFormula(whole) ? `'${whole}` : whole;
  return whole === "" || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(record) {
  const lines = [list(record.columns).map((column) => column.name), ...list(record.rows)];
  return lines.map((line) => `${list(line).map(csvField).join(",")}\r\n`).join("");
}

/** Saves the rows on the screen; says what the reader of the file should know. */
function downloadCsv(record) {
  const address = URL.createObjectURL(new Blob([csvOf(record)], { type: "text/csv;charset=utf-8" }));
  const name = text(record.question).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  const link = el("a", { href: address, download: `${name || "result"}.csv` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  const formulas = list(record.rows).flat().filter((value) => isFormula(asText(value))).length;
  const parts = [`Saved ${plural(list(record.rows).length, "row")}${record.truncated ? ", the part the row cap let through" : ""}.`];
  if (formulas > 0) parts.push(`${plural(formulas, "cell")} that a spreadsheet would run as a formula got a ' in front.`);
  return parts.join(" ");
}
