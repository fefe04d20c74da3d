// SQL as it is shown: tokens, colours, line breaks on the screen only, copied as it was.

import { el } from "./dom.js";
import { announce } from "./state.js";

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

export function sqlNodes(sql) {
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

/** Copies what `value` gives at the moment of the click. */
export function copyButton(value, label) {
  const button = el("button", { type: "button", class: "quiet", "aria-label": label }, "Copy");
  const tell = (word) => {
    button.textContent = word;
    announce(word === "Copied" ? "Copied." : "Copying was not allowed by the browser.");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  button.addEventListener("click", () => {
    const copied = navigator.clipboard?.writeText(value()) ?? Promise.reject(new Error("no clipboard"));
    copied.then(() => tell("Copied"), () => tell(copyBySelection(value()) ? "Copied" : "Not allowed"));
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
