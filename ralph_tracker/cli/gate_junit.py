"""What a gate found as JUnit XML: a test case for each rule that was looked at, and for each check."""

import re
from collections.abc import Iterable
from typing import Final

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from ralph_tracker.core.alert_types import TYPES, Alert
from ralph_tracker.core.metrics import Measure
from ralph_tracker.iteration.gate import Gate, told
from ralph_tracker.report.text import for_terminal

SUITE: Final = "ralph-tracker gate"
RULES: Final = "ralph-tracker.rules"
CHECKS: Final = "ralph-tracker.checks"
CLASS_RULE: Final = "class_regression"
_NO_XML: Final = re.compile("[\ufffe\uffff]")


def gate_junit(gate: Gate) -> bytes:
    """Return the document, with what was raised as failures, what was not measured as errors, what a person accepted
    as skipped.
    """
    suite = TestSuite(SUITE)
    for name, value in _facts(gate):
        suite.add_property(name, _text(value))
    suite.add_testcases([_class_rule(gate)])
    suite.add_testcases([_rule(gate, kind.name) for kind in TYPES])
    suite.add_testcases([_check(measure) for measure in gate.measures])
    document = JUnitXml(SUITE)
    document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]  # the library leaves some out
    return b"<?xml version='1.0' encoding='utf-8'?>\n" + _utf8(document.tostring())  # type: ignore[no-untyped-call]  # as above


def _facts(gate: Gate) -> Iterable[tuple[str, str]]:
    yield "verdict", gate.verdict
    yield "loop_id", gate.record.loop_id
    yield "compared_with", f"iteration {gate.compared_with}"


def _class_rule(gate: Gate) -> TestCase:
    case = TestCase(CLASS_RULE, RULES)
    if gate.regressed:
        case.result = [Failure(_text(gate.fall), "regression")]
    return case


def _rule(gate: Gate, name: str) -> TestCase:
    """Return one rule; several alerts of a type are one result, since most readers take one a case."""
    case = TestCase(name, RULES)
    raised = [alert for alert in gate.alerts if alert.kind.name == name]
    accepted = [alert for alert in gate.accepted if alert.kind.name == name]
    if raised:
        failure = Failure(_text("; ".join(told(alert) for alert in raised)), raised[0].severity.name)
        failure.text = _text("\n".join(test for alert in raised for test in _named(alert)))
        case.result = [failure]
    elif accepted:
        case.result = [Skipped(_text(f"accepted: {', '.join(alert.id for alert in accepted)}"))]
    return case


def _named(alert: Alert) -> list[str]:
    places = (f"{finding.place}: {finding.message}" for finding in alert.findings)
    return sorted(for_terminal(name) for name in (*alert.tests, *places))


def _check(measure: Measure) -> TestCase:
    case = TestCase(_text(measure.name), CHECKS)
    if measure.why is not None:
        kind = Skipped if measure.accepted else Error
        case.result = [kind(_text(f"could not be measured: {measure.why}"))]
    return case


def _text(text: str) -> str:
    """Leave out what XML cannot hold: control characters and half characters stand by their number."""
    lines = (for_terminal(line) for line in text.split("\n"))
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", "\n".join(lines))


def _utf8(document: str | bytes) -> bytes:
    return document if isinstance(document, bytes) else document.encode()
