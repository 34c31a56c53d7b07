"""Keep the findings of linters, type checkers and builds of one iteration by place, and its uncovered new lines."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.core.metrics import Group
from ralph_tracker.formats.diagnostics import Diagnostic
from ralph_tracker.store.layout import SCHEMA_VERSION
from ralph_tracker.store.packed import kept_json
from ralph_tracker.store.records import LoopRecords

FILE: Final = "findings.json"
# Nobody reads more; the record says how many there are.
KEPT: Final = 200
_UNCOVERED_FILES: Final = 100
_UNCOVERED_LINES: Final = 1_000
ListedKind = Literal["build", "types", "lint"]
_ORDER: Final[Mapping[str, int]] = {Group.BUILD: 0, Group.TYPES: 1, Group.LINT: 2}


class ListedDiagnostic(NamedTuple):
    """A finding of a linter, a type checker or a failed build; `is_ours` if it is on a line of this loop."""

    kind: ListedKind
    diagnostic: Diagnostic
    is_ours: bool = False

    @property
    def text(self) -> str:
        """Return `file:line code message`."""
        return self.diagnostic.text


class ListedDiagnostics(NamedTuple):
    """The kept findings, worst first, and how many of each kind were found.

    `uncovered` are the lines of this loop that no test runs, by path; None if coverage by line is unknown.
    """

    findings: tuple[ListedDiagnostic, ...] = ()
    counts: Mapping[str, int] = {}
    uncovered: Mapping[str, tuple[int, ...]] | None = None


def listed(
    diagnostics: Iterable[tuple[Group, Diagnostic]],
    new_lines: Mapping[str, frozenset[int]],
    covered: Mapping[str, Mapping[int, bool]] | None,
) -> ListedDiagnostics:
    """Order the findings: those of the build, of this loop's lines, errors, then by place; keep the first 200.

    `covered` is as in TreeFacts, None if coverage was not measured. The same finding of two reports counts once.
    """
    found = []
    for group, each in dict.fromkeys(diagnostics):
        kind: Any = group.value
        found.append(ListedDiagnostic(kind, each, each.line in new_lines.get(each.file, ())))
    uncovered: dict[str, tuple[int, ...]] = {}
    for path, hits in sorted((covered or {}).items()):
        lines = tuple(sorted(line for line in new_lines.get(path, ()) if hits.get(line) is False))
        if lines and len(uncovered) < _UNCOVERED_FILES:
            uncovered[path] = lines[:_UNCOVERED_LINES]
    counts: Counter[str] = Counter(each.kind for each in found)
    first = tuple(sorted(found, key=_rank)[:KEPT])
    return ListedDiagnostics(first, counts, None if covered is None else uncovered)


def _rank(each: ListedDiagnostic) -> tuple[bool, bool, bool, int, str, int]:
    diagnostic = each.diagnostic
    is_warning = diagnostic.severity != "error"
    of_build = each.kind == "build"
    return not of_build, not each.is_ours, is_warning, _ORDER[each.kind], diagnostic.file, diagnostic.line or 0


def listed_document(found: ListedDiagnostics) -> dict[str, Any]:
    """Return the findings as they are kept."""
    return {
        "schema_version": SCHEMA_VERSION,
        "findings": [
            {"kind": each.kind, **each.diagnostic._asdict(), "is_ours": each.is_ours} for each in found.findings
        ],
        "counts": dict(found.counts),
        "uncovered": None if found.uncovered is None else {path: list(at) for path, at in found.uncovered.items()},
    }


def listed_diagnostics(committed: LoopRecords, number: int) -> ListedDiagnostics | None:
    """Return the findings of a recorded iteration.

    None if they are not known: metrics were handed in, an earlier version recorded it, or the file is damaged.
    """
    plain = kept_json(committed.paths, number, FILE)
    try:
        uncovered = plain["uncovered"]
        found = []
        for each in plain["findings"]:
            diagnostic = Diagnostic(**{name: each[name] for name in Diagnostic._fields})
            found.append(ListedDiagnostic(each["kind"], diagnostic, bool(each["is_ours"])))
        return ListedDiagnostics(
            tuple(found),
            {str(kind): int(count) for kind, count in plain["counts"].items()},
            None if uncovered is None else {str(path): tuple(map(int, at)) for path, at in uncovered.items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
