"""The alerts that the verdict of integrity hangs on: tests that are gone or skipped, and findings (integrity.md)."""

from collections.abc import Callable
from typing import Final

from ralph_tracker.core.alert_types import TYPE_BY_RULE, Alert, in_order
from ralph_tracker.core.alerts import Situation, until
from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.core.identities import names_in_short


def _test_deletion(at: Situation) -> Alert | None:
    fall = at.fall("test_count")
    if fall is None:
        return None
    now, before = fall
    message = f"Test count decreased from {before.value:g} to {now:g}"
    gone = at.tests.vanished if at.tests is not None else {}
    if at.fall_is_explained:
        return at.alert("tests_merged", message, "each test that is gone is matched with one that is there")
    if gone:
        return at.alert("test_deletion", message, f"gone: {names_in_short(gone)}", at.age(before), tests=gone)
    return until(at.alert("test_deletion", message, at.age(before)), "test_count", now, before.value)


def _tests_replaced(at: Situation) -> Alert | None:
    if at.tests is None or not at.tests.vanished or at.fall("test_count") is not None:
        return None
    gone, new = at.tests.vanished, at.tests.added
    message = f"{len(gone)} tests disappeared, {len(new)} new: {names_in_short(gone)}"
    alert = at.alert("tests_replaced", message, at.age_of_names, tests=gone)
    return alert._replace(rated=Severity.HIGH) if at.matched else alert


def _tests_skipped(at: Situation) -> Alert | None:
    """Raise it where names were matched; without, functionality_loss tells of tests that do not run any more."""
    if at.tests is None or not at.matched or not at.tests.skipped:
        return None
    skipped = at.tests.skipped
    message = f"Tests that ran before are skipped: {names_in_short(skipped)}"
    return at.alert("tests_skipped", message, at.age_of_names, tests=skipped)


_ABOUT_GONE_TESTS: Final[tuple[Callable[[Situation], Alert | None], ...]] = (
    _test_deletion,
    _tests_replaced,
    _tests_skipped,
)


def raise_integrity_alerts(at: Situation) -> tuple[Alert, ...]:
    """Return the new alerts that an iteration's verdict hangs on, the worst first: it needs neither class nor score."""
    alerts = [alert for rule in _ABOUT_GONE_TESTS if (alert := rule(at)) is not None]
    found: dict[str, list[Finding]] = {}
    for each in at.integrity.findings if at.integrity is not None else ():
        if each.key not in at.open_findings and each.stamp not in at.accepted_findings:
            found.setdefault(each.rule, []).append(each)
    return in_order((*alerts, *(_of_findings(at, rule, findings) for rule, findings in found.items())))


def _of_findings(at: Situation, rule: str, findings: list[Finding]) -> Alert:
    """Make one alert of all new findings of a rule, as grave as the worst of them."""
    findings = sorted(findings, key=lambda each: (each.severity, each.file, each.line or 0))
    kind, first, more = TYPE_BY_RULE[rule], findings[0], len(findings) - 1
    message = f"{first.place}: {first.message}" + (f", and {more} more" if more else "")
    rated = None if first.severity is kind.severity else first.severity
    return Alert(kind=kind, iteration=at.iteration, message=message, findings=tuple(findings), rated=rated)
