"""Something seen in a Python source: what it is, where, and as which text."""

import ast
from typing import NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.evidence import finding


class Fact(NamedTuple):
    """Hold one thing seen: `what` is told to a person, `certain` says that it has no honest use wherever it stands."""

    what: str
    line: int
    text: str
    certain: bool = True
    node: ast.AST | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Return what it is known by: lines move."""
        return self.what, self.text


def fact(what: str, node: ast.stmt | ast.expr, *, certain: bool = True, shown: ast.AST | None = None) -> Fact:
    """Make a fact of a node, told by its own source or by that of another."""
    return Fact(what, node.lineno, ast.unparse(shown or node), certain, node)


def told(rule: str, seen: Fact, path: str, *, certain: bool) -> Finding:
    """Make the finding of a fact in a file: CRITICAL where it is certain, a note elsewhere."""
    return finding(
        rule,
        Severity.CRITICAL if certain else Severity.MEDIUM,
        f"{seen.what}: `{seen.text}`",
        path,
        line=seen.line,
        new=seen.text,
        about=f"{seen.what}: {seen.text}",
    )
