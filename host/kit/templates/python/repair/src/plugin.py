"""A repair strategy: a misspelt value is put right, an unknown name is looked for in more tables, and what nobody understands is left alone."""

from wit_world.exports.repair import (
    RepairInput,
    RepairStep,
    RepairStep_Rewrite,
    RepairStep_Stop,
    RepairStep_Widen,
    Rewrite,
    Stop,
    Widen,
)
from wit_world.imports.model import Exchange

WIDE = 9
"""Tables that are looked at when the first ones were not enough."""
MOST = 2000
"""Most characters of a failure that are passed on."""


class Repair:
    """The `repair` interface of the contract. What it raises as `Err(StageError_...)` is told to the operator."""

    def run(self, input: RepairInput, exchanges: list[Exchange]) -> RepairStep:
        rewrite = spelled(input)
        if rewrite is not None:
            return RepairStep_Rewrite(rewrite)
        failure = input.failure
        if failure.error_type in ("unknown_column", "unknown_table") and input.width < WIDE:
            return RepairStep_Widen(Widen(WIDE, f"{failure.error_type}: {failure.message}"[:MOST]))
        # Guessing at a failure that nobody understands is how wrong answers are made.
        return RepairStep_Stop(Stop(f"This strategy knows no repair for `{failure.error_type[:100]}`."))


def spelled(input: RepairInput) -> Rewrite | None:
    """The query with the one spelling that the column really has, when the host found out that it was the spelling."""
    probe = input.probe
    if probe is None or len(probe.spellings) != 1:
        return None
    sql = input.failure.sql.replace(quoted(probe.literal), quoted(probe.spellings[0]))
    if sql == input.failure.sql or any(attempt.sql == sql for attempt in input.attempts):
        return None
    change = "The value is written as the column has it."
    return Rewrite(sql, change, "The column has it in another spelling only.")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
