// What changed between two texts, word by word, and between two items, field by field.

import { el, text } from "./dom.js";

/** Steps of a comparison that a browser does without a pause. */
const MOST_STEPS = 4e6;

const wordsOf = (value) => value.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** The longest common course of two lists, as `{kind: "same" | "gone" | "new", text}` pieces. */
function difference(before, after) {
  let [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length * now.length > MOST_STEPS) [old, now] = [before.split(/(?<=\n)/), after.split(/(?<=\n)/)];
  if (old.length * now.length > MOST_STEPS) return [{ kind: "gone", text: before }, { kind: "new", text: after }];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === now[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const pieces = [];
  const add = (kind, piece) => {
    if (pieces.at(-1)?.kind === kind) pieces.at(-1).text += piece;
    else pieces.push({ kind, text: piece });
  };
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      add("same", old[i]);
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      add("gone", old[i]);
      i += 1;
    } else {
      add("new", now[j]);
      j += 1;
    }
  }
  return pieces;
}

/** Texts with little in common are shown one after the other: a patchwork of their words would say nothing. */
function readable(before, after) {
  const pieces = difference(before, after);
  const common = pieces.filter((piece) => piece.kind === "same").reduce((sum, piece) => sum + piece.text.trim().length, 0);
  if (before !== "" && after !== "" && common < 0.3 * Math.max(before.length, after.length)) return [{ kind: "gone", text: before }, { kind: "same", text: "\n" }, { kind: "new", text: after }];
  return pieces;
}

export function diffNode(before, after) {
  return el("pre", { class: "diff", tabindex: "0" }, readable(before, after).map((piece) => {
    if (piece.kind === "same") return piece.text;
    const gone = piece.kind === "gone";
    return el(gone ? "del" : "ins", {}, el("span", { class: "sr-only" }, gone ? "[removed: " : "[added: "), piece.text, el("span", { class: "sr-only" }, "]"));
  }));
}

const written = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 1));

/** Each field that is not the same in two contents; `null` when all are. */
export function contentDiff(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => written(before?.[name]) !== written(after?.[name]));
  if (changed.length === 0) return null;
  return el("div", { class: "content-diff" }, changed.map((name) => [
    el("h4", {}, text(name).replaceAll("_", " ")),
    diffNode(written(before?.[name]), written(after?.[name])),
  ]));
}
