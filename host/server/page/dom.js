// The document: nodes made of text, numbers and values as people read them.
//
// Text reaches the document only as text nodes and attribute values (`el`, `svg`); there is no innerHTML on this page.

export const byId = (id) => document.getElementById(id);

/** Sets attributes (functions become listeners) and appends children; absent children are left out. */
export function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Draws a box anew; what had the keyboard there has it again, if it is there still. */
export function redraw(box, ...nodes) {
  const held = box.contains(document.activeElement) ? document.activeElement : null;
  box.replaceChildren();
  fill(box, {}, nodes);
  if (!held) return;
  const same = (node) => (held.id ? node.id === held.id : node.tagName === held.tagName && node.textContent === held.textContent);
  [...box.querySelectorAll("a, button, input, select, textarea, summary")].find(same)?.focus({ preventScroll: true });
}

export const list = (value) => (Array.isArray(value) ? value : []);
export const text = (value) => (value === undefined || value === null ? "" : String(value));
export const plural = (count, one, many = `${one}s`) => `${grouped(text(count))} ${count === 1 ? one : many}`;

export function cut(value, length) {
  const characters = [...value];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : value;
}

// ---------------------------------------------------------------- numbers and values

const NUMBER = /^([+-]?)(\d+)(\.\d*)?([eE][+-]?\d+)?$/;
export const NUMBER_TYPE = /^(smallint|integer|bigint|numeric|real|double precision|oid)\b(?!.*\[\])/;
export const DATE_TYPE = /^(date|timestamp)\b(?!.*\[\])/;
export const LABEL_TYPE = /^(text|character|character varying|citext|name|boolean|uuid|"char")\b(?!.*\[\])/;
export const IDENTITY_NAME = /(^|_)(id|no|nr|num|number|code|year|pin|zip|phone|mobile|sku|hsn|ean|oid|key|ref)$/i;
export const ORDINAL_NAME = /(^|_)(year|yr|quarter|qtr|month|week|day|hour)$/i;

/** Digits in groups of three, as a string, for text outside of tables. */
export function grouped(digits) {
  const match = NUMBER.exec(digits);
  if (!match) return digits;
  return match[1] + match[2].replace(/\B(?=(\d{3})+$)/g, ",") + (match[3] ?? "") + (match[4] ?? "");
}

/** A number digit for digit. The separators are drawn by the style sheet, so that a copied cell holds none. */
export function numberNodes(digits, separate) {
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
export function wantsSeparators(column, values) {
  return !IDENTITY_NAME.test(text(column.name)) && values.some((value) => (NUMBER.exec(text(value))?.[2].length ?? 0) > 4);
}

// What plain JSON would lose is marked: {"$number": "digits"}, {"$text": "..."}, {"$json": value}. People see what is stored.
const written = (value, stored = false) => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => written(item)).join(",")}]`;
  const fields = Object.entries(value);
  const [[key, inside] = []] = fields.length === 1 && !stored ? fields : [];
  if ((key === "$number" || key === "$text") && typeof inside === "string") return inside;
  if (key === "$json") return written(inside, true);
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`).join(",")}}`;
};

export const asText = (value) => (value !== null && typeof value === "object" ? written(value) : text(value));

export function compact(value) {
  const size = Math.abs(value);
  for (const [limit, suffix] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e4, "k"]]) {
    if (size >= limit) {
      const unit = limit === 1e4 ? 1e3 : limit;
      return `${Number((value / unit).toPrecision(4))}${suffix}`;
    }
  }
  return String(Number(value.toPrecision(6)));
}

export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60000)} min ${Math.floor((milliseconds % 60000) / 1000)} s`;
}
