// A repair strategy: a misspelt value is put right, an unknown name is looked for in more tables, and what nobody understands is left
// alone.

// Tables that are looked at when the first ones were not enough.
const WIDE = 9;
// Most characters of a failure that are passed on.
const MOST = 2000;

// The `repair` interface of the contract. What it throws as `{ tag: "internal", val: "why" }` is told to the operator.
export const repair = {
  run(input, _exchanges) {
    const rewrite = spelled(input);
    if (rewrite !== undefined) return { tag: "rewrite", val: rewrite };
    const { errorType, message } = input.failure;
    if (["unknown_column", "unknown_table"].includes(errorType) && input.width < WIDE) {
      return { tag: "widen", val: { width: WIDE, instructions: first(`${errorType}: ${message}`, MOST) } };
    }
    // Guessing at a failure that nobody understands is how wrong answers are made.
    return { tag: "stop", val: { reason: `This strategy knows no repair for \`${first(errorType, 100)}\`.` } };
  },
};

// The query with the one spelling that the column really has, when the host found out that it was the spelling.
function spelled({ probe, failure, attempts }) {
  if (probe?.spellings.length !== 1) return undefined;
  const sql = failure.sql.replaceAll(quoted(probe.literal), () => quoted(probe.spellings[0]));
  if (sql === failure.sql || attempts.some((attempt) => attempt.sql === sql)) return undefined;
  return {
    sql,
    change: "The value is written as the column has it.",
    reason: "The column has it in another spelling only.",
  };
}

function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

// Whole characters, never half of one.
function first(text, most) {
  return [...text].slice(0, most).join("");
}
