"""The nodes of a text as a tree: who is inside whom, and what was written there."""

from collections.abc import Iterator

COMPARISONS = {"=", "<", "<=", ">", ">=", "<>", "~", "~*", "~~", "~~*", "BETWEEN", "BETWEEN SYMMETRIC"}
"""Comparisons, as an outline names them."""


class Tree:
    """An outline with the text it is of. Parents stand before their children, as the contract promises."""

    def __init__(self, text: str, nodes: list) -> None:
        self.bytes = text.encode()
        self.nodes = nodes

    def of_kind(self, kind: str) -> Iterator[int]:
        """Places of the nodes of one kind."""
        return (at for at, node in enumerate(self.nodes) if node.kind == kind)

    def is_a(self, at: int, *kinds: str) -> bool:
        """Whether a node is of one of these kinds."""
        return self.nodes[at].kind in kinds

    def name(self, at: int) -> str:
        """The name a node carries."""
        return self.nodes[at].name or ""

    def column(self, at: int) -> str | None:
        """The column a node names, without its table and as the catalogue spells it."""
        return last_part(self.name(at)) if self.is_a(at, "column") else None

    def written(self, at: int) -> str:
        """The text of a node."""
        node = self.nodes[at]
        return self.bytes[node.start : node.end].decode(errors="replace")

    def around(self, at: int) -> Iterator[int]:
        """The nodes around a node, the nearest first."""
        while (parent := self.nodes[at].parent) is not None and parent < at:
            at = parent
            yield at

    def compares(self, at: int) -> bool:
        """Whether a node is a comparison."""
        return self.is_a(at, "operator") and self.name(at) in COMPARISONS

    def inside(self, of: int) -> Iterator[int]:
        """The nodes inside a node."""
        return (at for at in range(of + 1, len(self.nodes)) if of in self.around(at))

    def expression(self, at: int) -> int:
        """The expression a node is a part of: calls, casts and operators around it, up to the one that gives a truth value."""
        for around in self.around(at):
            logic = self.name(around) in ("AND", "OR", "NOT", "IS NULL", "IS")
            if logic or not self.is_a(around, "function", "cast", "operator"):
                break
            at = around
        return at


def last_part(name: str) -> str:
    """`o."SerialNo"` is `SerialNo`; what is not quoted is in lower case, as PostgreSQL folds it."""
    part, quoted, ever = "", False, False
    for c in name:
        if c == '"':
            quoted, ever = not quoted, True
        elif c == "." and not quoted:
            part, ever = "", False
        else:
            part += c
    return part if ever else part.strip().lower()
