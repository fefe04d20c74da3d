// A domain's adapter: ticket numbers in their one spelling, and a warning where a query reads a table without saying which rows.

// Most entities of one question.
const MOST = 10;
// `tk-7`, `TK0007` and `tk7` are the ticket TK-0007.
const TICKET = /(?<![\w-])[tT][kK]-?([0-9]{1,6})(?![\w-])/g;

// The `domain` interface of the contract. What it throws as `{ tag: "internal", val: "why" }` is told to the operator.
export const domain = {
  canonicalize(question, _clock) {
    const found = [...question.matchAll(TICKET)].slice(0, MOST);
    return found.map(([matched, digits]) => ({
      kind: "ticket",
      matched,
      key: `TK-${String(Number(digits)).padStart(4, "0")}`,
    }));
  },

  review(_text, facts, _clock) {
    if (facts.tables.length === 0 || facts.literals.length > 0) return [];
    return [
      {
        code: "whole-table",
        severity: "warn",
        message: "The answer is about all rows there are, of any time.",
        hint: "Name a time or a value to look at less.",
      },
    ];
  },

  judge(_candidate) {
    return { tag: "no-objection" };
  },

  seedLessons() {
    return [];
  },
};
