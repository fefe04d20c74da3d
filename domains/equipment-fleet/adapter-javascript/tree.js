// The nodes of a text as a tree: who is inside whom, and what was written there.

// Comparisons, as an outline names them.
const COMPARISONS = ["=", "<", "<=", ">", ">=", "<>", "~", "~*", "~~", "~~*", "BETWEEN", "BETWEEN SYMMETRIC"];

/** An outline with the text it is of. Parents stand before their children, as the contract promises. */
export class Tree {
  constructor(text, nodes) {
    this.bytes = new TextEncoder().encode(text);
    this.nodes = nodes;
  }

  /** Places of the nodes of one kind. */
  ofKind(kind) {
    return this.nodes.flatMap((node, at) => (node.kind === kind ? [at] : []));
  }

  /** Whether a node is of one of these kinds. */
  isA(at, ...kinds) {
    return kinds.includes(this.nodes[at].kind);
  }

  /** The name a node carries. */
  name(at) {
    return this.nodes[at].name ?? "";
  }

  /** The column a node names, without its table and as the catalogue spells it. */
  column(at) {
    return this.isA(at, "column") ? lastPart(this.name(at)) : undefined;
  }

  /** The text of a node. */
  written(at) {
    const { start, end } = this.nodes[at];
    return new TextDecoder().decode(this.bytes.subarray(start, end));
  }

  /** The nodes around a node, the nearest first. */
  around(at) {
    const found = [];
    for (let up = this.nodes[at].parent; up !== undefined && up < at; up = this.nodes[at].parent) {
      found.push(up);
      at = up;
    }
    return found;
  }

  /** Whether a node is a comparison. */
  compares(at) {
    return this.isA(at, "operator") && COMPARISONS.includes(this.name(at));
  }

  /** The nodes inside a node. */
  inside(of) {
    return this.nodes.flatMap((_, at) => (at > of && this.around(at).includes(of) ? [at] : []));
  }

  /** The expression a node is a part of: calls, casts and operators around it, up to the one that gives a truth value. */
  expression(at) {
    for (const around of this.around(at)) {
      const logic = ["AND", "OR", "NOT", "IS NULL", "IS"].includes(this.name(around));
      if (logic || !this.isA(around, "function", "cast", "operator")) break;
      at = around;
    }
    return at;
  }
}

/** `o."SerialNo"` is `SerialNo`; what is not quoted is in lower case, as PostgreSQL folds it. */
export function lastPart(name) {
  let [part, quoted, ever] = ["", false, false];
  for (const c of name) {
    if (c === '"') [quoted, ever] = [!quoted, true];
    else if (c === "." && !quoted) [part, ever] = ["", false];
    else part += c;
  }
  return ever ? part : part.trim().toLowerCase();
}
