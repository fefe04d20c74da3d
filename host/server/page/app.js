// The page: one question at a time, every ending shown, nothing of an answer ever read as markup.
//
// Text reaches the document only as text nodes and attribute values (`el`, `svg`); there is no innerHTML in this file.

// ---------------------------------------------------------------- document

const byId = (id) => document.getElementById(id);

/** Sets attributes (functions become listeners) and appends children; absent children are left out. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const list = (value) => (Array.isArray(value) ? value : []);
const text = (value) => (value === undefined || value === null ? "" : String(value));
const plural = (count, one, many = `${one}s`) => `${grouped(text(count))} ${count === 1 ? one : many}`;

function cut(value, length) {
  const characters = [...value];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : value;
}

// ---------------------------------------------------------------- numbers and values

const NUMBER = /^([+-]?)(\d+)(\.\d*)?([eE][+-]?\d+)?$/;
const NUMBER_TYPE = /^(smallint|integer|bigint|numeric|real|double precision|oid)\b(?!.*\[\])/;
const DATE_TYPE = /^(date|timestamp)\b(?!.*\[\])/;
const LABEL_TYPE = /^(text|character|character varying|citext|name|boolean|uuid|"char")\b(?!.*\[\])/;
const IDENTITY_NAME = /(^|_)(id|no|nr|num|number|code|year|pin|zip|phone|mobile|sku|hsn|ean|oid|key|ref)$/i;
const ORDINAL_NAME = /(^|_)(year|yr|quarter|qtr|month|week|day|hour)$/i;

/** Digits in groups of three, as a string, for text outside of tables. */
function grouped(digits) {
  const match = NUMBER.exec(digits);
  if (!match) return digits;
  return match[1] + match[2].replace(/\B(?=(\d{3})+$)/g, ",") + (match[3] ?? "") + (match[4] ?? "");
}

/** A number digit for digit. The separators are drawn by the style sheet, so that a copied cell holds none. */
function numberNodes(digits, separate) {
  const match = NUMBER.exec(digits);
  if (!match || !separate || match[2].length < 4) return [digits];
  const groups = match[2].replace(/\B(?=(\d{3})+$)/g, ",").split(",");
  return [
    match[1] + groups[0],
    ...groups.slice(1).map((group) => el("span", { class: "group" }, group)),
    (match[3] ?? "") + (match[4] ?? ""),
  ];
}

/** Whether a column of numbers reads better with separators: quantities do, identities and years do not. */
function wantsSeparators(column, values) {
  return !IDENTITY_NAME.test(text(column.name)) && values.some((value) => (NUMBER.exec(text(value))?.[2].length ?? 0) > 4);
}

const asText = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : text(value));

function compact(value) {
  const size = Math.abs(value);
  for (const [limit, suffix] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e4, "k"]]) {
    if (size >= limit) {
      const unit = limit === 1e4 ? 1e3 : limit;
      return `${Number((value / unit).toPrecision(4))}${suffix}`;
    }
  }
  return String(Number(value.toPrecision(6)));
}

function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60000)} min ${Math.floor((milliseconds % 60000) / 1000)} s`;
}

// ---------------------------------------------------------------- SQL

const KEYWORDS = new Set(
  `all and any array as asc between both by case cast collate cross current_date current_time current_timestamp cube
  desc distinct else end escape except exists false fetch filter first following for from full group grouping having
  ilike in inner intersect interval into is isnull join last lateral leading left like limit localtime localtimestamp
  materialized natural not notnull null nulls offset on only or order ordinality outer over overlaps partition
  preceding range recursive right rollup row rows select sets similar some symmetric table tablesample then ties time
  timestamp date to trailing true unbounded union unique using values when where window with within zone`.split(/\s+/),
);
const CLAUSES = new Set("from where group order having limit offset union intersect except window join".split(" "));
const JOIN_WORDS = new Set("left right full inner outer cross natural".split(" "));
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const SQL_TOKEN = new RegExp(
  [
    /(?<space>\s+)/,
    /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/,
    /(?<string>[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*(?:'|$)|(?<tag>\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?(?:\k<tag>|$))/,
    /(?<quoted>(?:[uU]&)?"(?:[^"]|"")*(?:"|$))/,
    /(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)/,
    /(?<word>[\p{L}_][\p{L}\p{N}_$]*)/,
    /(?<other>[\s\S])/,
  ].map((part) => part.source).join("|"),
  "gu",
);

function sqlTokens(sql) {
  const tokens = [];
  for (const match of sql.matchAll(SQL_TOKEN)) {
    const [kind] = Object.entries(match.groups).find(([name, value]) => name !== "tag" && value !== undefined);
    tokens.push({ kind, text: match[0], lower: kind === "word" ? match[0].toLowerCase() : match[0] });
  }
  return tokens;
}

const SHORT_GROUP = 56;

/** Characters from an opening parenthesis to the one that closes it. */
function lengthOfGroup(tokens, from) {
  let [depth, length] = [0, 0];
  for (const token of tokens.slice(from)) {
    length += token.text.length;
    if (token.text === "(") depth += 1;
    if (token.text === ")") depth -= 1;
    if (depth === 0) break;
  }
  return length;
}

/** Breaks a query that was written on one long line before its clauses. Only white space changes, and only on the screen. */
function laidOut(tokens) {
  const significant = tokens.filter((token) => token.kind !== "space" && token.kind !== "comment");
  const levels = [{ query: true }];
  let position = -1;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "space" || token.kind === "comment") continue;
    position += 1;
    const before = significant[position - 1]?.lower;
    const after = significant[position + 1]?.lower;
    if (token.lower === "(") levels.push({ query: (after === "select" || after === "with") && lengthOfGroup(tokens, index) > SHORT_GROUP });
    else if (token.lower === ")" && levels.length > 1) levels.pop();
    else if (token.kind === "word" && position > 0 && levels.at(-1).query) {
      const joins = JOIN_WORDS.has(token.lower) && after !== "(" && !JOIN_WORDS.has(before);
      const clause = CLAUSES.has(token.lower) && !(token.lower === "from" && before === "distinct") && before !== "within";
      const main = token.lower === "select" && before === ")";
      if ((joins || main || (clause && !JOIN_WORDS.has(before))) && tokens[index - 1]?.kind === "space") {
        tokens[index - 1] = { kind: "space", text: `\n${"  ".repeat(levels.filter((level) => level.query).length - 1)}` };
      }
    }
  }
  return tokens;
}

function sqlNodes(sql) {
  let tokens = sqlTokens(sql);
  if (sql.length > 72 && !sql.trim().includes("\n") && !sql.includes("--")) tokens = laidOut(tokens);
  return tokens.map((token, index) => {
    if (token.kind === "space") return token.text;
    if (HIDDEN.test(token.text)) {
      const visible = [...token.text].map((character) =>
        HIDDEN.test(character)
          ? `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>` : character);
      return el("span", { class: "sql-hidden" }, visible.join(""));
    }
    if (token.kind === "word") {
      if (KEYWORDS.has(token.lower)) return el("span", { class: "sql-keyword" }, token.text);
      return tokens[index + 1]?.text === "(" ? el("span", { class: "sql-function" }, token.text) : token.text;
    }
    return token.kind === "other" ? token.text : el("span", { class: `sql-${token.kind}` }, token.text);
  });
}

function copyButton(value, label) {
  const button = el("button", { type: "button", class: "quiet", "aria-label": label }, "Copy");
  const tell = (word) => {
    button.textContent = word;
    announce(word === "Copied" ? "Copied." : "Copying was not allowed by the browser.");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  button.addEventListener("click", () => {
    const copied = navigator.clipboard?.writeText(value) ?? Promise.reject(new Error("no clipboard"));
    copied.then(() => tell("Copied"), () => tell(copyBySelection(value) ? "Copied" : "Not allowed"));
  });
  return button;
}

/** The way that also works over plain http on an address other than loopback. */
function copyBySelection(value) {
  const area = el("textarea", { class: "sr-only", "aria-hidden": "true" });
  const focused = document.activeElement;
  area.value = value;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return copied;
}

function sqlBlock(sql, title) {
  return el(
    "section",
    { class: "block sql", "aria-label": title },
    el("div", { class: "block-head" }, el("h3", {}, title), copyButton(sql, `Copy ${title}`)),
    el("pre", { tabindex: "0", "aria-label": title }, el("code", {}, sqlNodes(sql))),
  );
}

// ---------------------------------------------------------------- result table

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

function resultTable(record) {
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
        {},
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

// ---------------------------------------------------------------- chart

const CHART_ROWS = { least: 2, most: 60 };
const DATE_TEXT = /^\d{4}-\d{2}(-\d{2})?([ T][\d:.]+)?(Z|[+-]\d{2}(:?\d{2})?)?$/;

/** The chart a result suggests: one label or date beside one number, few enough rows to read; otherwise none. */
function chartOf(record) {
  const columns = list(record.columns);
  const rows = list(record.rows);
  if (columns.length !== 2 || rows.length < CHART_ROWS.least || rows.length > CHART_ROWS.most || record.truncated) return null;
  const isNumber = columns.map((column) => NUMBER_TYPE.test(text(column.type)));
  let across;
  if (isNumber[0] !== isNumber[1]) across = isNumber[0] ? 1 : 0;
  else if (isNumber[0] && ORDINAL_NAME.test(text(columns[0].name))) across = 0;
  else if (isNumber[0] && ORDINAL_NAME.test(text(columns[1].name))) across = 1;
  else return null;
  const [label, number] = [columns[across], columns[1 - across]];
  if (IDENTITY_NAME.test(text(number.name)) && !/(^|_)(no|num|number)_?of/i.test(text(number.name))) return null;
  const points = rows.map((row) => {
    const raw = list(row)[1 - across];
    return { label: list(row)[across], raw, value: raw === null ? null : Number(raw) };
  });
  if (points.some((point) => point.value !== null && !Number.isFinite(point.value))) return null;
  if (points.filter((point) => point.value !== null).length < 2 || points.every((point) => !point.value)) return null;
  const type = text(label.type);
  const dated = points.every((point) => DATE_TEXT.test(text(point.label)));
  if ((DATE_TYPE.test(type) || LABEL_TYPE.test(type)) && dated) {
    for (const point of points) point.at = Date.parse(isoOf(point.label));
  } else if (NUMBER_TYPE.test(type)) {
    for (const point of points) point.at = point.label === null ? NaN : Number(point.label);
  } else if (!LABEL_TYPE.test(type) && /[[\](]|json|bytea|range|interval/.test(type)) {
    return null;
  }
  if (points.every((point) => Number.isFinite(point.at)) && new Set(points.map((point) => point.at)).size === points.length) {
    points.sort((one, other) => one.at - other.at);
    return { kind: "line", points, label, number };
  }
  return DATE_TYPE.test(type) ? null : { kind: "bar", points, label, number };
}

/** Dates of PostgreSQL in the form every browser reads. */
function isoOf(label) {
  const parts = text(label).replace(" ", "T");
  return /[+-]\d{2}$/.test(parts.slice(10)) ? `${parts}:00` : parts;
}

/** What a reader calls a point: NULL and the empty text are told apart here too. */
function pointLabel(label) {
  if (label === null || label === undefined) return "NULL";
  if (label === "") return "''";
  return text(label).replace(/[T ]00:00(:00(\.0+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$/, "");
}

/** Round steps from `low` to `high`. */
function ticksOf(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const ticks = [];
  for (let at = Math.floor(low / step); at <= Math.ceil(high / step - 1e-9); at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

const describePoint = (point) =>
  `${pointLabel(point.label)}: ${point.raw === null ? "NULL" : grouped(text(point.raw))}`;

function barChart({ points }, width) {
  const step = points.length > 24 ? 20 : 26;
  const valueOf = (point) => (point.raw === null ? "NULL" : width < 480 ? compact(point.value) : grouped(text(point.raw)));
  const widthOf = (some) => Math.max(0, ...some.map((point) => valueOf(point).length)) * 7.2 + 10;
  const longest = Math.max(...points.map((point) => [...pointLabel(point.label)].length));
  const left = Math.min(longest * 7.2 + 14, width * 0.36);
  const after = widthOf(points.filter((point) => !(point.value < 0)));
  const low = Math.min(0, ...points.map((point) => point.value ?? 0));
  const high = Math.max(0, ...points.map((point) => point.value ?? 0));
  const before = low < 0 ? widthOf(points.filter((point) => point.value < 0)) : 0;
  const room = Math.max(width - left - before - after, 40);
  const origin = left + before;
  const x = (value) => origin + ((value - low) / (high - low)) * room;
  const height = points.length * step + 4;
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart" },
    points.map((point, index) => {
      const middle = index * step + step / 2 + 2;
      const value = point.value ?? 0;
      const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
      const below = value < 0;
      return svg(
        "g",
        {},
        svg("title", {}, describePoint(point)),
        svg("text", { x: left - 8, y: middle, "text-anchor": "end", class: point.label === null || point.label === "" ? "chart-null" : "chart-label" },
          cut(pointLabel(point.label), Math.max(Math.floor((left - 10) / 7), 3))),
        svg("rect", { x: from, y: middle - step * 0.34, width: Math.max(to - from, value === 0 ? 0 : 1), height: step * 0.68, rx: 1.5, class: below ? "chart-bar below" : "chart-bar" }),
        svg("text", { x: below ? from - 6 : to + 6, y: middle, "text-anchor": below ? "end" : "start", class: "chart-value" },
          valueOf(point)),
      );
    }),
    svg("line", { x1: x(0), x2: x(0), y1: 0, y2: height, class: "chart-axis" }),
  );
}

function lineChart({ points }, width) {
  const height = 240;
  const values = points.map((point) => point.value).filter((value) => value !== null);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  // Nothing is exaggerated: the axis starts at zero unless that would flatten all there is to see.
  if (high - low >= 0.25 * Math.max(Math.abs(low), Math.abs(high)) || high === low) [low, high] = [Math.min(0, low), Math.max(0, high)];
  const ticks = ticksOf(low, high, 4);
  [low, high] = [ticks[0], ticks.at(-1)];
  const left = Math.max(...ticks.map((tick) => compact(tick).length)) * 7.2 + 14;
  const [right, top, bottom] = [24, 12, 30];
  const [first, last] = [points[0].at, points.at(-1).at];
  const x = (at) => left + ((at - first) / (last - first)) * (width - left - right);
  const y = (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom);
  const runs = [[]];
  for (const point of points) point.value === null ? runs.push([]) : runs.at(-1).push(point);
  const months = points.every((point) => /^\d{4}-\d{2}-01$/.test(pointLabel(point.label)));
  const nameOf = (point) => (months ? pointLabel(point.label).slice(0, 7) : pointLabel(point.label));
  const labelWidth = Math.max(...points.map((point) => nameOf(point).length)) * 7.2 + 16;
  let free = -Infinity;
  const labels = points.filter((point) => {
    const fits = x(point.at) - labelWidth / 2 >= free && x(point.at) + labelWidth / 2 - 8 <= width + right;
    if (fits) free = x(point.at) + labelWidth / 2;
    return fits;
  });
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart" },
    ticks.map((tick) => [
      svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: tick === 0 ? "chart-axis" : "chart-grid" }),
      svg("text", { x: left - 8, y: y(tick), "text-anchor": "end", class: "chart-value" }, compact(tick)),
    ]),
    labels.map((point) => svg("text", {
      x: Math.min(Math.max(x(point.at), labelWidth / 2 - 8), width - labelWidth / 2 + 8), y: height - 12, "text-anchor": "middle", class: "chart-label",
    }, nameOf(point))),
    runs.map((run) => svg("polyline", { points: run.map((point) => `${x(point.at)},${y(point.value)}`).join(" "), class: "chart-line" })),
    points.filter((point) => point.value !== null).map((point) =>
      svg("g", { class: "chart-point" },
        svg("title", {}, describePoint(point)),
        svg("circle", { cx: x(point.at), cy: y(point.value), r: 11, class: "chart-hit" }),
        svg("circle", { cx: x(point.at), cy: y(point.value), r: points.length > 40 ? 2 : 3, class: "chart-dot" }))),
  );
}

function chartBlock(chart) {
  const name = `${text(chart.number.name)} by ${text(chart.label.name)}`;
  const canvas = el("div", { class: "canvas", role: "img", "aria-label": `Chart of ${name}; the table below holds the same values` });
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(canvas.clientWidth);
    if (width < 80 || width === drawn) return;
    drawn = width;
    canvas.replaceChildren((chart.kind === "line" ? lineChart : barChart)(chart, width));
  };
  new ResizeObserver(draw).observe(canvas);
  return el("section", { class: "block", "aria-label": `Chart: ${name}` },
    el("div", { class: "block-head" }, el("h3", {}, name)), canvas);
}

// ---------------------------------------------------------------- endings

/** How each ending is named, and how it looks. */
const ENDINGS = {
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
function endingOf(response, body) {
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

function tagOf(kind) {
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

const digest = (value) => el("code", { title: text(value) }, text(value).replace(/^sha256:/, "").slice(0, 12));

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

function resultNodes(entry) {
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

// ---------------------------------------------------------------- asking

const page = {
  domain: null,
  several: false,
  schemas: new Map(),
  entries: [],
  shown: null,
  running: null,
  follows: null,
};

const PROBE_AFTER = 8000;
const PROBE_EVERY = 5000;
const PROBES_LOST = 3;

function announce(message) {
  byId("status").textContent = message;
}

/** While an ask is under way: shows the time, and asks whether the server still lives, so that a dead line ends the wait. */
function watch(run) {
  const tick = setInterval(() => { byId("elapsed").textContent = duration(performance.now() - run.begun); }, 200);
  let lost = 0;
  let probing = false;
  const probe = setInterval(async () => {
    if (probing || performance.now() - run.begun < PROBE_AFTER) return;
    probing = true;
    try {
      await fetch("/livez", { cache: "no-store", signal: AbortSignal.timeout(PROBE_EVERY) });
      lost = 0;
    } catch {
      lost += 1;
    }
    probing = false;
    if (page.running !== run) return;
    byId("working-note").textContent = lost > 0 ? "The server does not answer at the moment." : "";
    if (lost >= PROBES_LOST) {
      run.why = "gone";
      run.controller.abort();
    }
  }, PROBE_EVERY);
  return () => {
    clearInterval(tick);
    clearInterval(probe);
  };
}

function showWorking(run) {
  const working = run !== null;
  byId("working").hidden = !working;
  byId("stop").hidden = !working;
  byId("send").disabled = working;
  byId("elapsed").textContent = "";
  byId("working-note").textContent = "";
  if (!working) return;
  byId("working-question").textContent = run.request.question;
  byId("result").hidden = true;
  byId("examples").hidden = true;
  announce("Working.");
}

async function send(run) {
  const response = await fetch("/api/ask", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(run.request),
    signal: run.controller.signal,
    cache: "no-store",
  });
  return endingOf(response, await response.text());
}

/** One ask from beginning to end. Every way out of it leaves an ending on the screen. */
async function ask(request) {
  if (page.running) return;
  const run = { request, controller: new AbortController(), begun: performance.now(), why: null, focused: document.activeElement };
  page.running = run;
  clearFieldError();
  showWorking(run);
  const unwatch = watch(run);
  let ending;
  try {
    ending = await send(run);
  } catch (error) {
    if (run.why === "stopped") {
      ending = { kind: "stopped", sentence: "You stopped this question. The server was told, and cancels its query.", record: {} };
    } else {
      ending = { kind: "gone", sentence: "The connection to the server was lost before it answered. Is it still running?", record: {} };
      if (run.why === null && error?.name !== "TypeError") console.error(error);
    }
  } finally {
    unwatch();
    page.running = null;
  }
  const left = [byId("stop"), document.body, null].includes(document.activeElement);
  showWorking(null);
  const entry = { request, ending, elapsed: performance.now() - run.begun, at: new Date() };
  page.entries.unshift(entry);
  show(entry);
  if (left) focusAfter(run);
  announce(`${ENDINGS[ending.kind].word}. ${cut(ending.sentence, 400)}`);
  if (ending.kind === "problem" && ending.field === "question") fieldError(ending.sentence);
  if (ending.code === "unknown-ask") endFollowing();
  if (ending.kind === "answered" && document.activeElement === byId("question") && byId("question").value.trim() === request.question) byId("question").select();
  if (ending.kind === "gone" || ending.kind === "failed") refreshHealth();
}

/** Gives the keyboard back where it was: a button that is gone or was disabled meanwhile has lost it. */
function focusAfter(run) {
  const origin = run.focused;
  const usable = origin && origin !== document.body && origin.isConnected && origin !== byId("stop") && !origin.closest("[hidden]");
  (usable ? origin : byId("result")).focus({ preventScroll: !usable });
}

function stop() {
  if (!page.running) return;
  page.running.why = "stopped";
  page.running.controller.abort();
}

/** Shows an entry; if even that fails, says so instead of leaving the page as it was. */
function show(entry) {
  page.shown = entry;
  const result = byId("result");
  let nodes;
  try {
    nodes = resultNodes(entry);
  } catch (error) {
    console.error(error);
    nodes = [tagOf("failed"), el("p", { class: "sentence other" }, "The record came back in a form this page cannot show."),
      el("details", { class: "fold", open: true }, el("summary", {}, "The record as it came"), el("pre", { tabindex: "0" }, cut(JSON.stringify(entry.ending.record, null, 2), 20000)))];
  }
  // Not replaceChildren(...nodes): nodes hold nested lists and absent parts.
  result.replaceChildren();
  fill(result, {}, nodes);
  result.hidden = false;
  byId("examples").hidden = true;
  drawHistory();
}

function submit() {
  const question = byId("question").value.trim();
  if (page.running) return;
  if (question === "") {
    fieldError("Write what you want to know.");
    byId("question").focus();
    return;
  }
  const request = { question, mode: byId("baseline").checked ? "baseline" : "agent" };
  if (page.domain) request.domain = page.domain;
  if (page.follows) request.follow_up_of = page.follows.ending.record.ask_id;
  ask(request);
}

function fieldError(message) {
  const node = byId("question-error");
  node.textContent = message;
  node.hidden = false;
  byId("question").setAttribute("aria-invalid", "true");
}

function clearFieldError() {
  byId("question-error").hidden = true;
  byId("question").removeAttribute("aria-invalid");
}

function follow(entry) {
  page.follows = entry;
  byId("following-text").textContent = cut(entry.request.choice ?? entry.request.question, 120);
  byId("following").hidden = false;
  byId("question").value = "";
  byId("question").focus();
}

function endFollowing() {
  page.follows = null;
  byId("following").hidden = true;
}

function edit(entry) {
  byId("question").value = entry.request.question;
  grow();
  byId("question").focus();
}

function grow() {
  const area = byId("question");
  area.rows = Math.min(Math.max(area.value.split("\n").length, Math.ceil(area.value.length / 90), 2), 10);
}

function drawHistory() {
  byId("history-count").textContent = text(page.entries.length);
  byId("history-empty").hidden = page.entries.length > 0;
  byId("history-list").replaceChildren(...page.entries.map((entry) =>
    el("li", {}, el("button", { type: "button", "aria-current": entry === page.shown ? "true" : null, click: () => open(entry) },
      el("span", { class: "history-question" }, cut(entry.request.choice ?? entry.request.question, 140)),
      el("span", { class: "history-line" }, tagOf(entry.ending.kind), page.several && el("span", {}, text(entry.request.domain)),
        el("span", {}, duration(entry.elapsed)), el("time", { datetime: entry.at.toISOString() }, entry.at.toLocaleTimeString()))))));
}

function open(entry) {
  if (page.running) return;
  show(entry);
  byId("result").scrollIntoView({ block: "nearest" });
  announce(`Shown again: ${cut(entry.request.question, 120)}`);
}

// ---------------------------------------------------------------- domains and schema

async function getJson(address) {
  const response = await fetch(address, { cache: "no-store", headers: { accept: "application/json" } });
  const body = await response.json();
  if (!response.ok) throw new Error(text(body?.detail) || `HTTP ${response.status}`);
  return body;
}

async function loadDomains() {
  let domains;
  try {
    const body = await getJson("/api/domains");
    domains = list(body.domains);
  } catch (error) {
    byId("domain-only").textContent = "could not be read";
    byId("schema-tables").replaceChildren(failure(`The domains could not be read: ${error.message}`, loadDomains));
    return;
  }
  page.several = domains.length > 1;
  const select = byId("domain");
  select.replaceChildren(...domains.map((domain) => el("option", { value: domain.domain, title: domain.description }, domain.title || domain.domain)));
  select.hidden = !page.several;
  byId("domain-only").textContent = page.several ? "" : domains[0]?.title || domains[0]?.domain || "none is loaded";
  page.examples = new Map(domains.map((domain) => [domain.domain, list(domain.examples)]));
  page.domain = domains[0]?.domain ?? null;
  await loadSchema();
}

function failure(message, retry) {
  return el("p", { class: "note" }, message, " ", el("button", { type: "button", class: "quiet", click: retry }, "Try again"));
}

async function loadSchema() {
  const name = page.domain;
  if (!name) return;
  try {
    if (!page.schemas.has(name)) page.schemas.set(name, await getJson(`/api/schema?domain=${encodeURIComponent(name)}`));
  } catch (error) {
    if (page.domain === name) byId("schema-tables").replaceChildren(failure(`The schema could not be read: ${error.message}`, loadSchema));
    return;
  }
  if (page.domain !== name) return;
  const about = byId("schema-about");
  const schema = page.schemas.get(name);
  about.textContent = [
    text(schema.description),
    schema.time_zone && `Times are in ${schema.time_zone}.`,
    Number.isFinite(schema.row_cap) && `A result has at most ${plural(schema.row_cap, "row")}.`,
  ].filter(Boolean).join(" ");
  about.hidden = about.textContent === "";
  drawSchema();
  drawExamples();
}

/** How well a table or one of its columns is met by all the words searched for. */
function meets(words, ...texts) {
  const hay = texts.map((value) => text(value).toLowerCase()).join(" ");
  return words.every((word) => hay.includes(word));
}

function columnNode(column, table) {
  const key = list(table.primary_key).includes(column.name);
  return el("li", {},
    el("span", { class: "column-name" }, column.name, key && el("abbr", { title: "Part of the primary key" }, "key")),
    el("span", { class: "column-type" }, text(column.type), column.nullable === false ? "" : el("span", { title: "May be NULL" }, " null")),
    column.class && column.class !== "plain" && el("span", { class: "tag warn" }, text(column.class)),
    column.description && el("span", { class: "column-about" }, text(column.description)),
    list(column.values).length > 0 && el("span", { class: "column-about", title: "Values that occur" }, el("code", {}, list(column.values).join(", "))));
}

function joinNode(join) {
  const side = (table, columns) => list(columns).map((column) => `${text(table).replace(/^public\./, "")}.${column}`).join(", ");
  return el("li", {}, el("span", { class: "column-name" }, `${side(join.from, join.from_columns)} = ${side(join.to, join.to_columns)}`),
    el("span", { class: "column-type" }, text(join.origin).replaceAll("-", " ")));
}

function drawSchema() {
  const schema = page.schemas.get(page.domain);
  if (!schema) return;
  const words = byId("schema-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tables = list(schema.tables);
  const schemas = new Set(tables.map((table) => table.schema));
  const nodes = [];
  for (const table of tables) {
    const whole = words.length > 0 && meets(words, table.schema, table.name, table.description);
    const columns = list(table.columns).filter((column) => whole || meets(words, table.name, column.name, column.type, column.description, list(column.values).join(" ")));
    if (words.length > 0 && !whole && columns.length === 0) continue;
    nodes.push(el("details", { class: table.in_use === false ? "table unused" : "table", open: words.length > 0 && tables.length > 1 && !whole },
      el("summary", {},
        el("span", { class: "table-name" }, schemas.size > 1 && el("span", { class: "schema-name" }, `${table.schema}.`), table.name),
        table.kind && table.kind !== "table" && el("span", { class: "tag calm" }, text(table.kind).replaceAll("-", " ")),
        table.in_use === false && el("span", { class: "tag warn" }, "not in use"),
        Number.isFinite(table.row_estimate) && el("span", { class: "count", title: "Rows, as PostgreSQL estimates them" }, `~${grouped(text(table.row_estimate))}`)),
      table.description && el("p", {}, text(table.description)),
      table.not_for && el("p", { class: "help" }, el("strong", {}, "Not for: "), text(table.not_for)),
      el("ul", { class: "columns-list" }, columns.map((column) => columnNode(column, table))),
      list(table.joins).length > 0 && words.length === 0 && el("ul", { class: "columns-list", "aria-label": "Joins" }, list(table.joins).map(joinNode))));
  }
  byId("schema-count").textContent = words.length > 0 ? `${nodes.length} of ${plural(tables.length, "table")}` : plural(tables.length, "table");
  byId("schema-tables").replaceChildren(...(nodes.length > 0 ? nodes : [el("p", { class: "about" }, tables.length > 0 ? "No table or column matches." : "The domain lists no table.")]));
}

/** Questions to begin with: the domain's own, or what its largest tables suggest. */
function exampleQuestions() {
  const own = page.examples?.get(page.domain) ?? [];
  if (own.length > 0) return own.slice(0, 6).map(text);
  const tables = list(page.schemas.get(page.domain)?.tables).filter((table) => table.in_use !== false && /^[a-z_]+$/i.test(text(table.name)));
  tables.sort((one, other) => (other.row_estimate ?? 0) - (one.row_estimate ?? 0));
  const words = (table) => text(table.name).replaceAll("_", " ");
  const questions = tables.slice(0, 2).map((table) => `How many ${words(table)} are there?`);
  const dated = tables.find((table) => list(table.columns).some((column) => DATE_TYPE.test(text(column.type))));
  if (dated) questions.push(`How many ${words(dated)} by month this year?`);
  if (tables.length > 2) questions.push(`Show 10 ${words(tables[2])}`);
  return questions;
}

function drawExamples() {
  const questions = exampleQuestions();
  const box = byId("examples");
  box.replaceChildren(...questions.map((question) =>
    el("button", { type: "button", class: "example", click: () => { byId("question").value = question; grow(); submit(); } }, question)));
  box.hidden = questions.length === 0 || page.entries.length > 0 || page.running !== null;
}

// ---------------------------------------------------------------- health

// Health tries every claim anew, so a page asks seldom; it asks at once when it is opened and after a lost connection.
const HEALTH_EVERY = 60000;
let health = null;

async function refreshHealth() {
  try {
    const response = await fetch("/api/health", { cache: "no-store", signal: AbortSignal.timeout(15000) });
    health = { ...(await response.json()), reached: true };
  } catch {
    health = { reached: false };
  }
  const [tone, word] = !health.reached ? ["bad", "No connection"] : health.ok ? ["good", "Healthy"] : ["warn", "Needs attention"];
  byId("health").dataset.tone = tone;
  byId("health-word").textContent = word;
  if (byId("health-dialog").open) drawHealth();
  if (health.reached && !page.domain) loadDomains();
}

/** One thing of a health report in a line, whatever its shape. */
function describe(value) {
  if (value === null || typeof value !== "object") return /^(sha256:)?[0-9a-f]{64}$/.test(text(value)) ? digest(value) : text(value);
  if (Array.isArray(value)) return value.map((item, at) => [at > 0 && ", ", describe(item)]);
  return Object.entries(value).filter(([, item]) => item !== null).map(([name, item], at) => [
    at > 0 && " · ", name === "name" || name === "component" || name === "stage" ? "" : el("span", { class: "help" }, `${name.replaceAll("_", " ")} `), describe(item),
  ]);
}

/** Ways a check ends, the worst first. */
const CHECK_TONES = { failed: "bad", skipped: "calm", passed: "good" };

function checkNode(check) {
  return el("li", {}, el("span", { class: `tag ${CHECK_TONES[check.outcome] }` }, text(check.outcome)),
    el("div", {}, el("strong", {}, text(check.name).replaceAll("-", " ")), page.several && check.domain && el("span", { class: "help" }, ` ${check.domain}`),
      check.tried && el("p", { class: "help" }, `Tried: ${check.tried}`),
      check.found && el("p", { class: "help" }, `Found: ${check.found}`),
      check.remedy && el("p", {}, `Remedy: ${check.remedy}`)));
}

function drawHealth() {
  const parts = !health?.reached
    ? [el("p", { class: "note" }, "The server cannot be reached from this page.")]
    : [
      el("p", {}, health.ok ? "Nothing that was tried failed." : "Something that must hold does not.",
        health.version && el("span", { class: "help" }, ` airlock ${health.version}`)),
      el("ul", { class: "checks" }, Object.keys(CHECK_TONES).flatMap((outcome) => list(health.checks).filter((check) => check.outcome === outcome)).map(checkNode)),
      ["models", "components", "domains"].filter((name) => list(health[name]).length > 0).map((name) => [
        el("h3", {}, name[0].toUpperCase() + name.slice(1)),
        el("ul", { class: "plain-list" }, list(health[name]).map((item) => el("li", {}, [describe(item)].flat(Infinity)))),
      ]),
    ];
  const body = byId("health-body");
  body.replaceChildren();
  fill(body, {}, parts);
}

// ---------------------------------------------------------------- wiring

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  }
});
byId("question").addEventListener("input", () => {
  grow();
  clearFieldError();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && page.running && !byId("health-dialog").open) stop();
});
byId("stop").addEventListener("click", stop);
byId("following-end").addEventListener("click", () => {
  endFollowing();
  byId("question").focus();
});
byId("domain").addEventListener("change", (event) => {
  page.domain = event.target.value;
  byId("schema-search").value = "";
  endFollowing();
  loadSchema();
});
byId("schema-search").addEventListener("input", drawSchema);
byId("health").addEventListener("click", () => {
  drawHealth();
  byId("health-dialog").showModal();
  refreshHealth();
});
byId("health-close").addEventListener("click", () => byId("health-dialog").close());

// Beside the question on a wide screen, folded below it on a narrow one.
const narrow = matchMedia("(max-width: 61.99rem)");
const foldPanels = () => { for (const id of ["schema", "history"]) byId(id).open = !narrow.matches; };
narrow.addEventListener("change", foldPanels);
foldPanels();

drawHistory();
loadDomains();
refreshHealth();
setInterval(() => { if (!document.hidden) refreshHealth(); }, HEALTH_EVERY);
