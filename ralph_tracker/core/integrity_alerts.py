"""Judge whether an iteration's score can be believed: raise the alerts of integrity, then the verdict on them."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ralph_tracker.core.alert_rules import AlertFacts, remaining_alert
from ralph_tracker.core.alert_types import TYPE_BY_RULE, Alert, in_order
from ralph_tracker.core.integrity_result import (
    REMOVED_WITH_CODE,
    RERUN_RULES,
    Finding,
    Integrity,
    Severity,
    Verdict,
)
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import PASSED, quantity

# The messages of findings from runs name the tests and files themselves.
_OF_RUNS: Final = frozenset({*RERUN_RULES, REMOVED_WITH_CODE})


def _test_deletion(facts: AlertFacts) -> Alert | None:
    """Raise an alert where tests are gone: those dropped, by what runs show; else by the fall of the count."""
    fall = facts.fall("test_count")
    if facts.earlier is not None:
        if facts.tests is None or facts.tests.vanished.keys().isdisjoint(facts.dropped):
            return None  # said when they went
        of = f"{len(facts.dropped)} of {quantity(facts.passing, 'passing test')}"
        them = "it" if len(facts.dropped) == 1 else "them"
        message, gone = f"{of} went, and nothing replaces {them}", dict.fromkeys(facts.dropped, PASSED)
        if facts.dropped_too_many and fall is not None:
            message = f"Test count decreased from {fall[1].value:g} to {fall[0]:g}"
        kind = "test_deletion" if facts.dropped_too_many else "tests_dropped"
        return facts.alert(kind, message, f"gone: {names_in_short(gone)}", tests=gone)
    if fall is None or (facts.build_broke and not (facts.tests and facts.tests.vanished)):
        return None
    now, before = fall
    message = f"Test count decreased from {before.value:g} to {now:g}"
    gone = dict(facts.tests.vanished) if facts.tests else {}
    if gone:
        return facts.alert("test_deletion", message, f"gone: {names_in_short(gone)}", facts.age(before), tests=gone)
    return facts.alert("test_deletion", message, facts.age(before))._replace(until=("test_count", before.value))


def _tests_replaced(facts: AlertFacts) -> Alert | None:
    if (
        facts.earlier is not None
        or facts.tests is None
        or not facts.tests.vanished
        or facts.fall("test_count") is not None
    ):
        return None
    gone = facts.tests.vanished
    message = f"{len(gone)} tests disappeared, {len(facts.tests.added)} new: {names_in_short(gone)}"
    return facts.alert("tests_replaced", message, facts.stale_names_note, tests=gone)


def raise_integrity_alerts(facts: AlertFacts) -> tuple[Alert, ...]:
    """Return the new alerts that the verdict depends on, the worst first; neither class nor score is needed."""
    alerts = [alert for alert in (_test_deletion(facts), _tests_replaced(facts)) if alert is not None]
    found: dict[str, list[Finding]] = {}
    for each in facts.new_findings:
        found.setdefault(each.rule, []).append(each)
    for rule, findings in found.items():
        # One alert for all new findings of a rule, as severe as the worst of them.
        findings.sort(key=lambda each: (each.severity, each.file, each.line or 0))
        kind, first, more = TYPE_BY_RULE[rule], findings[0], len(findings) - 1
        message = first.message if rule in _OF_RUNS else f"{first.place}: {first.message}"
        alerts.append(
            Alert(
                kind=kind,
                iteration=facts.iteration,
                message=f"{message}, and {more} more" if more else message,
                findings=tuple(findings),
                severity_override=None if first.severity is kind.severity else first.severity,
            )
        )
    return in_order(alerts)


class IntegrityAlerts(NamedTuple):
    """The integrity verdict of an iteration, before its score: new, open and fixed alerts.

    `verdict` is None if nobody compared files and tests.
    """

    verdict: Verdict | None
    new: tuple[Alert, ...] = ()
    carried: tuple[Alert, ...] = ()
    fixed: tuple[Alert, ...] = ()


def integrity_alerts_of(facts: AlertFacts) -> IntegrityAlerts:
    """Return the doubts about an iteration; a baseline is only doubted if its tests did not run."""
    new, explained = raise_integrity_alerts(facts), _explained(facts)
    left = [(alert, remaining_alert(alert, facts, explained)) for alert in facts.line.open_alerts]
    raised = [alert for alert in new if alert.id not in facts.state.accepted]
    return IntegrityAlerts(
        None if facts.measurement.integrity is None else _verdict(raised, facts, facts.measurement.integrity),
        new,
        in_order(now for _, now in left if now is not None),
        in_order(alert for alert, now in left if now is None),
    )


def _explained(facts: AlertFacts) -> frozenset[str]:
    """Return the tests whose earlier form passes here, or that went with their code, without a deletion of many."""
    if facts.earlier is None:
        return frozenset()
    many = frozenset(facts.dropped) if facts.dropped_too_many else frozenset()
    return (facts.earlier.held | facts.earlier.retired | facts.earlier.fixed) - many


def _verdict(raised: Iterable[Alert], facts: AlertFacts, found: Integrity) -> Verdict:
    """Return the verdict on this iteration alone; findings of earlier ones are asked, but do not lower it again."""
    held = [alert for alert in raised if raises_doubt(alert)]
    if any(alert.findings and alert.severity is Severity.CRITICAL for alert in held):
        return "TAMPERED"
    counts = [each for each in (facts.metrics.tests_passed, facts.metrics.tests_failed) if each is not None]
    tests_ran = sum(counts) > 0 if counts else facts.metrics.pass_rate is not None
    interrupted = any(each.is_interrupted for each in found.reruns)
    if facts.not_collected or facts.failing_runs or interrupted or (facts.basis.has_tests and not tests_ran):
        return "UNPROVEN"
    return "SUSPECT" if any(alert.severity <= Severity.HIGH for alert in held) else "PASS"


def raises_doubt(alert: Alert) -> bool:
    """Return whether the integrity verdict depends on an alert: one for findings, or for tests that are gone."""
    return bool(alert.findings) or alert.type in {"test_deletion", "tests_replaced"}


def disbelieved_tests(found: Integrity, accepted: frozenset[str]) -> frozenset[str]:
    """Return the tests that are not believed because of a finding that nobody accepted."""
    return frozenset(test for each in found.findings if each.stamp not in accepted for test in each.disbelieved)
