"""A domain's adapter: ticket numbers in their one spelling, and a warning where a query reads a table without saying which rows."""

import re

from wit_world.exports.domain import Candidate, Canonical, Finding, Opinion, Opinion_NoObjection, Severity
from wit_world.imports.sql import Facts
from wit_world.imports.types import Clock
from wit_world.imports.work import LessonCandidate

MOST = 10
"""Most entities of one question."""

TICKET = re.compile(r"(?<![0-9A-Za-z-])[Tt][Kk]-?([0-9]{1,6})(?![0-9A-Za-z-])")
"""`tk-7`, `TK0007` and `tk7` are the ticket TK-0007."""


class Domain:
    """The `domain` interface of the contract."""

    def canonicalize(self, question: str, clock: Clock) -> list[Canonical]:
        found = list(TICKET.finditer(question))[:MOST]
        return [Canonical("ticket", match.group(0), f"TK-{int(match.group(1)):04}") for match in found]

    def review(self, text: str, facts: Facts, clock: Clock) -> list[Finding]:
        if not facts.tables or facts.literals:
            return []
        message = "The answer is about all rows there are, of any time."
        return [Finding("whole-table", Severity.WARN, message, "Name a time or a value to look at less.")]

    def judge(self, candidate: Candidate) -> Opinion:
        return Opinion_NoObjection()

    def seed_lessons(self) -> list[LessonCandidate]:
        return []
