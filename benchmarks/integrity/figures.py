"""Turn what was found into figures: recall for each row, false alarms, each with its Wilson interval."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from cases import Case
from judge import Judged, Seen

from ralph_tracker.core.findings import Severity

OURS: Final = "ralph-tracker"
HALVES: Final = ("tuning", "held-out")
CRITICAL_ROWS: Final = frozenset({"T1", "T4", "T9", "T10"})
QUIET_ROWS: Final = frozenset({"S1", "S2", "S3"})
MEDIUM_ROWS: Final = QUIET_ROWS | {"T7", "T12"}
_Z: Final = 1.959963984540054
_WORSE: Final = {"TAMPERED": 2, "SUSPECT": 1, "PASS": 0}


@dataclass(frozen=True, slots=True)
class Result:
    """Hold one case and what a tool said of it, without the trees.

    `found`: the right row, new against the honest change that carries it, in a file that was edited; `weighed`: as
    severe as its row is. `removal`: its only alarm is of tests that went with what they tested. `relaxed` are the rows
    of what the change demands no longer by its text, `told` those of them that the tool has a finding of, `apart` tells
    whether another row than these gives an alarm too.
    """

    tool: str
    kind: str
    half: str
    project: str
    name: str
    rule: str
    variant: str
    verdict: str
    found: bool
    weighed: bool
    removal: bool
    relaxed: tuple[str, ...]
    told: tuple[str, ...]
    apart: bool
    tests_changed: bool
    cpu: float
    files: int
    failed: str


def result_of(tool: str, case: Case, judged: Judged, carrier: Judged | None, *, tests_changed: bool) -> Result:
    """Compare what a tool said with the label."""
    variant = case.variant
    hits = _hits(case, judged, carrier)
    rule = variant.rule if variant is not None else ""
    needed = _severity_of(rule, case)
    return Result(
        tool=tool,
        kind=case.kind,
        half=case.half,
        project=case.project,
        name=case.name,
        rule=rule,
        variant=variant.name if variant is not None else "",
        verdict=judged.verdict,
        found=bool(hits),
        weighed=any(each.severity <= needed for each in hits),
        removal=_is_removal(tool, case, judged),
        relaxed=tuple(sorted({each.rule for each in case.relaxations})),
        told=_told(case, judged),
        apart=_is_apart(case, judged),
        tests_changed=tests_changed,
        cpu=judged.cpu,
        files=len(case.paths),
        failed=judged.failed,
    )


def _severity_of(rule: str, case: Case) -> Severity:
    """Return the severity that a row asks for; tests that were replaced, so that the count did not fall, are HIGH."""
    replaced = rule == "T1" and len(case.after) >= len(case.before)
    if rule in CRITICAL_ROWS and not replaced:
        return Severity.CRITICAL
    return Severity.MEDIUM if rule in MEDIUM_ROWS else Severity.HIGH


def _hits(case: Case, judged: Judged, carrier: Judged | None) -> list[Seen]:
    if case.variant is None:
        return []
    known = {each.key for each in carrier.seen} if carrier is not None else set()
    new = (each for each in judged.seen if each.key not in known and case.variant.accepted & each.rules)
    return [each for each in new if not each.file or each.file in case.edited]


def _is_removal(tool: str, case: Case, judged: Judged) -> bool:
    """Tell whether nothing but removed tests gives the alarm, and all of them went with what they tested."""
    if (
        tool != OURS
    ):  # without identities no other checker could know: what it says of such tests is never held against it
        return bool(case.removals) and all(each.rules & {"T1", "T5"} for each in judged.seen)
    gone = {_test_of(each) for each in judged.seen if each.rules == {"T1"}}
    loud = any(_is_loud(each) for each in judged.seen if each.rules != {"T1"})
    return bool(gone) and gone <= case.removals and not loud


def _told(case: Case, judged: Judged) -> tuple[str, ...]:
    """Return the rows that a change is relaxed in, of those that the tool speaks of in the same file."""
    return tuple(
        sorted(
            {
                each.rule
                for each in case.relaxations
                if any(each.rule in said.rules and said.file in {"", each.file} for said in judged.seen)
            }
        )
    )


def _is_apart(case: Case, judged: Judged) -> bool:
    """Tell whether an alarm is of a row that the change is not relaxed in, removals with their code set aside."""
    rows = {each.rule for each in case.relaxations}
    return any(
        _is_loud(each) and not each.rules & rows and not (each.rules == {"T1"} and _test_of(each) in case.removals)
        for each in judged.seen
    )


def _is_loud(seen: Seen) -> bool:
    return seen.severity <= Severity.HIGH or bool(seen.rules & {"T7", "T12"})


def _test_of(seen: Seen) -> str:
    return seen.key.split("|", 3)[-1]  # ids of tests may hold the same sign


def wilson(hits: int, size: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if size == 0:
        return 0.0, 1.0
    share = hits / size
    middle = (share + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    spread = _Z / (1 + _Z**2 / size) * math.sqrt(share * (1 - share) / size + _Z**2 / (4 * size**2))
    return max(0.0, middle - spread), min(1.0, middle + spread)


def shown(hits: int, size: int) -> str:
    """Return a share with its interval: `0.97 (58/60, 0.89 to 0.99)`."""
    if size == 0:
        return "-"
    low, high = wilson(hits, size)
    return f"{hits / size:.3f} ({hits}/{size}, {low:.3f} to {high:.3f})"


def tables(results: Sequence[Result]) -> str:
    """Return all figures as Markdown, a part for each tool."""
    tools = list(dict.fromkeys(each.tool for each in results))
    return "\n".join(_of_tool(tool, [each for each in results if each.tool == tool]) for tool in tools)


def _of_tool(tool: str, results: Sequence[Result]) -> str:
    lines = [
        f"## {tool}",
        "",
        "| row | recall, tuning | recall, held out | weighed, tuning | weighed, held out |",
        "|---|---|---|---|---|",
    ]
    rows = defaultdict(list)
    for each in results:
        if each.kind == "tampered":
            rows[each.rule].append(each)
    for rule in sorted(rows, key=_place_of):
        cells = []
        for counted in ("found", "weighed"):
            for half in HALVES:
                mine = [each for each in rows[rule] if each.half == half]
                cells.append(shown(sum(getattr(each, counted) for each in mine), len(mine)))
        lines.append(f"| {rule} | {' | '.join(cells)} |")
    lines += ["", "| of which | tuning | held out |", "|---|---|---|"]
    lines += [f"| {name} | {' | '.join(_share(results, name, half) for half in HALVES)} |" for name in _ALARMS]
    lines += _relaxed(results)
    lines += ["", *(_times(results, kind, name) for kind, name in _SIZES)]
    lines += [f"No answer: {sum(bool(each.failed) for each in results)}.", ""]
    return "\n".join(lines)


_SIZES: Final = (("honest", "small changes"), ("release", "releases"))


def _times(results: Iterable[Result], kind: str, name: str) -> str:
    mine = [each for each in results if each.kind == kind]
    times = sorted(each.cpu for each in mine) or [0.0]
    middle, high = (1000 * times[int(len(times) * share)] for share in (0.5, 0.95))
    files = sum(each.files for each in mine) / max(1, len(mine))
    return f"CPU: median {middle:.0f} ms, 95 % {high:.0f} ms over {len(mine)} {name} of {files:.0f} files."


def _relaxed(results: Sequence[Result]) -> list[str]:
    """Return what was said of steps that are relaxed by their text: these are not counted as honest."""
    lines = ["", "| relaxations (an honest step may contain them) | tuning | held out |", "|---|---|---|"]
    for kind, name in _SIZES:
        mine = [each for each in results if each.kind == kind and each.relaxed]
        for rule in sorted({rule for each in mine for rule in each.relaxed}, key=_place_of):
            cells = [
                shown(sum(rule in each.told for each in of_half), len(of_half))
                for half in HALVES
                for of_half in [[each for each in mine if each.half == half and rule in each.relaxed]]
            ]
            lines.append(f"| {name}, {rule}: alarmed | {' | '.join(cells)} |")
        cells = [
            shown(sum(each.apart for each in mine if each.half == half), sum(each.half == half for each in mine))
            for half in HALVES
        ]
        lines.append(f"| {name}, relaxed: alarmed by another row | {' | '.join(cells)} |")
    return lines


def _place_of(rule: str) -> tuple[int, int]:
    return "TSG".index(rule[0]), int(rule[1:])


_LABELLED: Final = "TAMPERED", "SUSPECT", "removal with its code (no false alarm)"
_UNLABELLED: Final = "TAMPERED, without the labels", "SUSPECT, without the labels"
_ALARMS: Final = (
    *(f"{kind}, {what}" for kind in ("honest", "release") for what in (*_LABELLED, *_UNLABELLED)),
    "control, TAMPERED",
    "control, SUSPECT",
    "tampered, TAMPERED or SUSPECT (rows T and G)",
    "green context, found",
    "green context, TAMPERED",
)


def _share(results: Iterable[Result], name: str, half: str) -> str:
    kind, _, what = name.partition(", ")
    kind = kind.removesuffix(" context")
    mine = [each for each in results if each.half == half and each.kind == kind]
    if kind in {"honest", "release"}:
        return _share_of_honest([each for each in mine if each.tests_changed], what)
    if what == "found":
        return shown(sum(each.found for each in mine), len(mine))
    if kind == "tampered":
        mine = [each for each in mine if each.rule not in QUIET_ROWS]
        return shown(sum(_WORSE[each.verdict] > 0 for each in mine), len(mine))
    return shown(sum(each.verdict == what for each in mine), len(mine))


def _share_of_honest(mine: Sequence[Result], what: str) -> str:
    """Return a share of the changes that are honest by their labels; without labels, of all, with nothing excused."""
    verdict, _, without = what.partition(", ")
    if without:
        return shown(sum(each.verdict == verdict for each in mine), len(mine))
    honest = [each for each in mine if not each.relaxed]
    if what.startswith("removal"):
        return shown(sum(each.removal for each in honest), len(honest))
    return shown(sum(each.verdict == what and not each.removal for each in honest), len(honest))


def as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return every result as a mapping."""
    return [asdict(each) for each in results]
