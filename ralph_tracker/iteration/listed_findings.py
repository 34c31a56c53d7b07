"""Keep the findings of linters, type checkers and builds of one iteration by place, and its uncovered new lines."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.core.metrics import Group
from ralph_tracker.formats.complaints import Complaint
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


class ListedFinding(NamedTuple):
    """A finding of a linter, a type checker or a failed build; `is_ours` if it is on a line of this loop."""

    kind: ListedKind
    complaint: Complaint
    is_ours: bool = False

    @property
    def text(self) -> str:
        """Return `file:line code message`."""
        return self.complaint.text


class ListedFindings(NamedTuple):
    """The kept findings, worst first, and how many of each kind were found.

    `uncovered` are the lines of this loop that no test runs, by path; None if coverage by line is unknown.
    """

    findings: tuple[ListedFinding, ...] = ()
    counts: Mapping[str, int] = {}
    uncovered: Mapping[str, tuple[int, ...]] | None = None


def listed(
    complaints: Iterable[tuple[Group, Complaint]],
    new_lines: Mapping[str, frozenset[int]],
    covered: Mapping[str, Mapping[int, bool]] | None,
) -> ListedFindings:
    """Order the findings: those of the build, of this loop's lines, errors, then by place; keep the first 200.

    `covered` is as in TreeFacts, None if coverage was not measured. The same finding of two reports counts once.
    """
    found = []
    for group, each in dict.fromkeys(complaints):
        kind: Any = group.value
        found.append(ListedFinding(kind, each, each.line in new_lines.get(each.file, ())))
    uncovered: dict[str, tuple[int, ...]] = {}
    for path, hits in sorted((covered or {}).items()):
        lines = tuple(sorted(line for line in new_lines.get(path, ()) if hits.get(line) is False))
        if lines and len(uncovered) < _UNCOVERED_FILES:
            uncovered[path] = lines[:_UNCOVERED_LINES]
    counts: Counter[str] = Counter(each.kind for each in found)
    first = tuple(sorted(found, key=_rank)[:KEPT])
    return ListedFindings(first, counts, None if covered is None else uncovered)


def _rank(each: ListedFinding) -> tuple[bool, bool, bool, int, str, int]:
    complaint = each.complaint
    is_warning = complaint.severity != "error"
    of_build = each.kind == "build"
    return not of_build, not each.is_ours, is_warning, _ORDER[each.kind], complaint.file, complaint.line or 0


def listed_document(found: ListedFindings) -> dict[str, Any]:
    """Return the findings as they are kept."""
    return {
        "schema_version": SCHEMA_VERSION,
        "findings": [
            {"kind": each.kind, **each.complaint._asdict(), "is_ours": each.is_ours} for each in found.findings
        ],
        "counts": dict(found.counts),
        "uncovered": None if found.uncovered is None else {path: list(at) for path, at in found.uncovered.items()},
    }


def listed_findings(committed: LoopRecords, number: int) -> ListedFindings | None:
    """Return the findings of a recorded iteration.

    None if they are not known: metrics were handed in, an earlier version recorded it, or the file is damaged.
    """
    plain = kept_json(committed.paths, number, FILE)
    try:
        uncovered = plain["uncovered"]
        found = []
        for each in plain["findings"]:
            complaint = Complaint(**{name: each[name] for name in Complaint._fields})
            found.append(ListedFinding(each["kind"], complaint, bool(each["is_ours"])))
        return ListedFindings(
            tuple(found),
            {str(kind): int(count) for kind, count in plain["counts"].items()},
            None if uncovered is None else {str(path): tuple(map(int, at)) for path, at in uncovered.items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
