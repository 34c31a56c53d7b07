"""Tell of the tuning half what was found wrongly and what was missed, with the text that it is about."""

import difflib
from typing import Final

from cases import Case
from figures import Result
from judge import Judged

from ralph_tracker.core.findings import SUSPICIOUS, Severity

_LINES: Final = 16
_TOLD: Final = 6


def described(case: Case, judged: Judged, result: Result) -> list[str]:
    """Return a paragraph about a case that went wrong, nothing of the half that is kept apart."""
    if case.half != "tuning":
        return []
    alarmed = result.verdict != "PASS" and not result.removal and not result.relaxed
    if case.kind in {"honest", "release", "control"} and alarmed:
        loud = [each for each in judged.seen if each.severity <= Severity.HIGH or each.rules & SUSPICIOUS]
        told = [
            f"  {' '.join(each.rules)} {each.severity.name} {each.file} {each.key[:160]}: {each.message}"
            for each in loud
        ]
        more = [f"  … {len(told) - _TOLD} more"] if len(told) > _TOLD else []
        text = _diff(case) if case.kind == "control" else []
        return [f"### false alarm {_name(case)} {result.verdict}", *told[:_TOLD], *more, *text, ""]
    if case.kind == "tampered" and not result.weighed:
        told = [
            f"  said {' '.join(each.rules)} {each.severity.name} {each.file}: {each.message}" for each in judged.seen
        ]
        why = "missed" if not result.found else "too mild"
        return [f"### {why} {_name(case)}", *_diff(case), *told[:_TOLD], ""]
    return []


def _name(case: Case) -> str:
    variant = f"{case.variant.rule} {case.variant.name} ".lstrip() if case.variant is not None else ""
    return f"{variant}{case.project} {case.name} ({case.kind})"


def _diff(case: Case) -> list[str]:
    base = case.carrier.new if case.carrier is not None else case.old
    lines: list[str] = []
    for path in case.edited:
        texts = [tree.get(path, b"").decode("utf-8", "replace").splitlines() for tree in (base, case.new)]
        lines += difflib.unified_diff(*texts, path, path, n=2, lineterm="")
    return [f"    {line[:160]}" for line in lines[:_LINES]]
