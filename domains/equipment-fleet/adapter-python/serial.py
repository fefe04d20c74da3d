"""Serials in running text: found in any spelling, turned into the one governed key."""

from dataclasses import dataclass
import re

SERIALS = 16
"""Serials of one text; nobody asks about more machines at once."""
DIGITS = 5
"""Digits of a key."""

MARK = r"[\s\-:.#/\u2010\u2011\u2013]"
SERIAL = re.compile(
    rf"(?<!\w)(?:(?ai:serial)(?:{MARK}+(?ai:number|num|no|nr))?(?={MARK})|(?ai:s\.n\.|s/n|sn|mk)){MARK}{{0,4}}"
    r"(?P<digits>[0-9]+)(?:[-/\u2010\u2011\u2013]?[a-zA-Z](?!\w)|(?!\w))"
)
"""A word that announces a serial, a few marks, digits, and the letter of the plate's issue, if one stands there."""


@dataclass(frozen=True)
class Serial:
    """A serial that a text names."""

    matched: str
    key: str

    def is_key(self) -> bool:
        """Whether the text has the key itself, as the governed column spells it."""
        return self.matched == self.key


def find(text: str) -> list[Serial]:
    """All serials of a text, in its order."""
    found = []
    for match in SERIAL.finditer(text):
        digits = match["digits"].lstrip("0")
        if digits and len(digits) <= DIGITS:
            found.append(Serial(match[0], f"MK-{digits:0>{DIGITS}}"))
        if len(found) == SERIALS:
            break
    return found
