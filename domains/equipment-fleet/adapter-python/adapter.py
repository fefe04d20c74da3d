"""The domain adapter of equipment-fleet in Python: the same rules as `adapter`, for those who would rather read these.

Built by `componentize-py --stub-wasi`, so that it has no clock, no entropy and no file to begin with.
"""

from componentize_py_types import Err
from wit_world.exports.domain import Candidate, Canonical, Finding, Opinion, Opinion_NoObjection, Opinion_Reject
from wit_world.imports import sql
from wit_world.imports.types import Clock, StageError_Internal
from wit_world.imports.work import LessonCandidate

import rules
import serial
from tree import Tree

MACHINE = "machine"
"""The kind of entity whose keys are canonical; the pack's notes name the column that holds them."""


class Domain:
    """The `domain` interface of the contract."""

    def canonicalize(self, question: str, clock: Clock) -> list[Canonical]:
        return [Canonical(MACHINE, found.matched, found.key) for found in serial.find(question)]

    def review(self, text: str, facts: sql.Facts, clock: Clock) -> list[Finding]:
        return rules.findings(outlined(text), facts, clock)

    def judge(self, candidate: Candidate) -> Opinion:
        for found in serial.find(candidate.text):
            if not found.is_key():
                return Opinion_Reject(
                    f"It names the machine {found.key} as `{found.matched}`; knowledge uses the governed key."
                )
        if candidate.sql is None:
            return Opinion_NoObjection()
        try:
            facts = sql.check(candidate.sql)
        except Err as rejected:
            return Opinion_Reject(f"Its SQL does not pass the gate: {rejected.value.message}")
        scan = rules.raw_serial_scan(outlined(candidate.sql), facts)
        return Opinion_Reject(scan.message) if scan else Opinion_NoObjection()

    def seed_lessons(self) -> list[LessonCandidate]:
        return [
            LessonCandidate(
                "schema-map",
                "A machine is found by machine_key (MK- and five digits), never by plate_text, complaint_text, memo_text, "
                'findings_text or "SerialNo".',
                "a machine named by its serial",
                ["serial", "machine_key"],
                [],
            ),
            LessonCandidate(
                "perf-guard",
                "Restrict read_on whenever meter_readings is read; machine_months answers whole months without it.",
                "hours, fuel or utilisation over time",
                ["meter_readings", "utilisation"],
                [],
            ),
            LessonCandidate(
                "resolution-pattern",
                "Add labour and parts up in order_costs: joining labour_entries and part_usages to one work order repeats both.",
                "cost of repairs",
                ["repair cost", "order_costs"],
                [],
            ),
        ]


def outlined(text: str) -> Tree:
    """The tree of a text. Without one a rule could not see what it is there to block, so it is an error."""
    try:
        return Tree(text, sql.outline(text))
    except Err as rejected:
        raise Err(StageError_Internal(f"no outline of the text: {rejected.value.message}")) from None
