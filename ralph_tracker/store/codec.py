"""The judge's state as plain JSON and back."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.deltas import Reading
from ralph_tracker.core.findings import Finding, Integrity, Rerun, Severity
from ralph_tracker.core.identities import Aliases, KnownTests, Ranges, SeenTests
from ralph_tracker.core.lineage import Lineage, PastIteration
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Measurement, Metrics, TestResults, Usage
from ralph_tracker.core.score import COMPONENT_BY_NAME, ERROR_PARTS, AdjustedParts, Basis

Plain = dict[str, Any]
_LETTERS: Final[Mapping[str, str]] = {PASSED: "p", FAILED: "f", SKIPPED: "s"}
_OUTCOMES: Final[Mapping[str, str]] = {letter: outcome for outcome, letter in _LETTERS.items()}
_NOT_STATE: Final = frozenset(
    {"timestamp", "elapsed_s", "tree", "tree_visits", "tree_last", "config_changed", "notes", "integrity", "plan"}
)


def alert_to_plain(alert: Alert) -> Plain:
    """Return an alert with all its tests."""
    findings = [finding_to_plain(each) for each in alert.findings]
    rated = None if alert.rated is None else alert.rated.name
    return {
        **alert._asdict(),
        "kind": alert.kind.name,
        "tests": dict(alert.tests),
        "findings": findings,
        "rated": rated,
    }


def alert_from_plain(plain: Mapping[str, Any]) -> Alert:
    """Return the alert."""
    until, rated = plain["until"], plain.get("rated")
    return Alert(
        **{
            **plain,
            "kind": TYPE_BY_NAME[plain["kind"]],
            "until": tuple(until) if until else None,
            "findings": tuple(finding_from_plain(each) for each in plain.get("findings", ())),
            "rated": None if rated is None else Severity[rated],
        }
    )


def finding_to_plain(finding: Finding) -> Plain:
    """Return a finding."""
    return {**finding._asdict(), "severity": finding.severity.name}


def finding_from_plain(plain: Mapping[str, Any]) -> Finding:
    """Return the finding."""
    return Finding(**{**plain, "severity": Severity[plain["severity"]], "tests": tuple(plain["tests"])})


def _integrity_to_plain(integrity: Integrity) -> Plain:
    return {
        "findings": [finding_to_plain(each) for each in integrity.findings],
        "matches": dict(integrity.matches),
        "suppressions": dict(integrity.suppressions),
        "unread": dict(integrity.unread),
        "references": dict(integrity.references),
        "reruns": [each._asdict() for each in integrity.reruns],
    }


def _integrity_from_plain(plain: Mapping[str, Any]) -> Integrity:
    return Integrity(
        findings=tuple(finding_from_plain(each) for each in plain["findings"]),
        matches={gone: tuple(news) for gone, news in plain["matches"].items()},
        suppressions=plain["suppressions"],
        unread=plain["unread"],
        references=plain["references"],
        reruns=tuple(_rerun_from_plain(each) for each in plain["reruns"]),
    )


def _rerun_from_plain(plain: Mapping[str, Any]) -> Rerun:
    lists = {name: tuple(plain[name]) for name in ("files", "commands", "flaky")}
    return Rerun(**{**plain, **lists})


def _point_to_plain(point: PastIteration) -> Plain:
    return {**point._asdict(), "ground": point.ground._asdict()}


def _point_from_plain(plain: Mapping[str, Any]) -> PastIteration:
    return PastIteration(**{**plain, "four": tuple(plain["four"]), "ground": AdjustedParts(**plain["ground"])})


def line_to_plain(line: Lineage) -> Plain:
    """Return the line."""
    return {
        "segments": line.segments,
        "readings": {name: [reading.value, reading.iteration] for name, reading in line.readings.items()},
        "points": [_point_to_plain(point) for point in line.points],
        "complete": [_point_to_plain(point) for point in line.complete],
        "open_alerts": [alert_to_plain(alert) for alert in line.open_alerts],
        "suppressions": dict(line.suppressions),
        "references": dict(line.references),
        "not_loaded": sorted(line.not_loaded),
    }


def line_from_plain(plain: Mapping[str, Any]) -> Lineage:
    """Return the line."""
    return Lineage(
        segments=tuple((first, last) for first, last in plain["segments"]),
        readings={name: Reading(*pair) for name, pair in plain["readings"].items()},
        points=tuple(_point_from_plain(point) for point in plain["points"]),
        complete=tuple(_point_from_plain(point) for point in plain["complete"]),
        open_alerts=tuple(alert_from_plain(alert) for alert in plain["open_alerts"]),
        suppressions=plain.get("suppressions", {}),
        references=plain.get("references", {}),
        not_loaded=frozenset(plain.get("not_loaded", ())),
    )


def candidate_to_plain(candidate: Candidate) -> Plain:
    """Return a candidate for the best."""
    return {**candidate._asdict(), "ground": candidate.ground._asdict()}


def candidate_from_plain(plain: Mapping[str, Any]) -> Candidate:
    """Return the candidate."""
    return Candidate(**{**plain, "ground": AdjustedParts(**plain["ground"])})


def basis_to_plain(basis: Basis) -> Plain:
    """Return what belongs to the loop."""
    return {**basis._asdict(), "baseline": basis.baseline.measured()}


def basis_from_plain(plain: Mapping[str, Any]) -> Basis:
    """Return the basis. Raises ValueError or KeyError for one that no loop can have."""
    parts, components, weights = plain["error_parts"], tuple(plain["components"]), plain["weights"]
    if weights and weights.keys() != {COMPONENT_BY_NAME[name].dimension for name in components}:
        msg = "weights of other dimensions than those of the components"
        raise ValueError(msg)
    if not set(parts or ()) <= set(ERROR_PARTS):
        msg = "errors counted from metrics that are none"
        raise ValueError(msg)
    return Basis(
        baseline=Metrics(**plain["baseline"]),
        components=components,
        error_parts=None if parts is None else tuple(parts),
        given_score=plain["given_score"],
        weights=weights,
    )


def decision_from_plain(plain: Mapping[str, Any]) -> Decision:
    """Return the decision."""
    return Decision(**{**plain, "alternatives": tuple(plain["alternatives"])})


def seen_to_plain(seen: SeenTests) -> Plain:
    """Return every test ever seen."""
    return {
        "ran": sorted(seen.ran),
        "waiting": dict(sorted(seen.waiting.items())),
        "enrolled": [[ranges, count] for ranges, count in sorted(seen.enrolled.items())],
        "flaky": sorted(seen.flaky),
        "counted": seen.counted,
        "excluded": sorted(seen.excluded),
        "excluded_count": seen.excluded_count,
        "aliases": dict(sorted(seen.aliases.stands_for.items())),
    }


def seen_from_plain(plain: Mapping[str, Any]) -> SeenTests:
    """Return the tests ever seen."""
    return SeenTests(
        ran=frozenset(plain["ran"]),
        waiting={name: _ranges(ranges) for name, ranges in plain["waiting"].items()},
        enrolled={_ranges(ranges): count for ranges, count in plain["enrolled"]},
        flaky=frozenset(plain["flaky"]),
        counted=plain["counted"],
        excluded=frozenset(plain["excluded"]),
        excluded_count=plain["excluded_count"],
        aliases=Aliases({test: tuple(names) for test, names in plain.get("aliases", {}).items()}),
    )


def _ranges(plain: Any) -> Ranges:  # noqa: ANN401  # a list of pairs
    return tuple((first, last) for first, last in plain)


def measurement_to_plain(measurement: Measurement) -> Plain:
    """Return what was handed to the judge; the tests are kept beside it."""
    plain = measurement._asdict()
    del plain["tests"]
    return {
        **plain,
        "metrics": measurement.metrics.measured(),
        "missing": dict(measurement.missing),
        "not_loaded": dict(measurement.not_loaded),
        "integrity": None if measurement.integrity is None else _integrity_to_plain(measurement.integrity),
        "usage": measurement.usage.known() if measurement.usage else None,
        "flaky": sorted(measurement.tests.flaky) if measurement.tests else [],
    }


def measurement_from_plain(plain: Mapping[str, Any], tests: TestResults | None) -> Measurement:
    """Return the measurement."""
    values = {key: value for key, value in plain.items() if key != "flaky"}
    return Measurement(
        **{
            **values,
            "metrics": Metrics(**plain["metrics"]),
            "usage": None if plain["usage"] is None else Usage(**plain["usage"]),
            "config_changed": tuple(plain["config_changed"]),
            "plan": None if plain.get("plan") is None else (plain["plan"][0], plain["plan"][1]),
            "notes": tuple(plain.get("notes", ())),
            "tests": tests,
            "integrity": None if plain.get("integrity") is None else _integrity_from_plain(plain["integrity"]),
        }
    )


def state_of_work(measurement: Measurement) -> Plain:
    """Return what makes two calls for one iteration the same: all that was handed in, whenever they were made."""
    plain = {key: value for key, value in measurement_to_plain(measurement).items() if key not in _NOT_STATE}
    return {**plain, "tests": None if measurement.tests is None else dict(measurement.tests.outcomes)}


def known_to_plain(known: KnownTests, tests: TestResults | None) -> Plain:
    """Return what the line knows of each test; `measured` says whether this iteration's report had names.

    Of the tests that are present, names and outcomes stand side by side, an outcome as one letter: there may be
    100,000, and JSON takes a list of names in a third of the time of a mapping.
    """
    return {
        "measured": tests is not None,
        "names": list(known.present),
        "outcomes": "".join(map(_LETTERS.__getitem__, known.present.values())),
        "gone": dict(sorted(known.gone.items())),
        "durations": dict(tests.durations) if tests else {},
        **({"messages": dict(tests.messages)} if tests and tests.messages else {}),
        **({"not_loaded": dict(tests.not_loaded)} if tests and tests.not_loaded else {}),
    }


def results_from_plain(plain: Mapping[str, Any], flaky: Iterable[str]) -> TestResults | None:
    """Return the results of an iteration; None where its report had no names. Raises as `known_from_plain` does."""
    if not plain["measured"]:
        return None
    return TestResults(
        known_from_plain(plain).present,
        plain["durations"],
        frozenset(flaky),
        plain.get("messages", {}),
        plain.get("not_loaded", {}),
    )


def known_from_plain(plain: Mapping[str, Any]) -> KnownTests:
    """Return what the line knows. Raises ValueError or KeyError where names and outcomes do not belong together.

    The first loops of this schema have a mapping in place of the names and outcomes.
    """
    present = plain.get("present")
    if present is None:
        present = dict(zip(plain["names"], map(_OUTCOMES.__getitem__, plain["outcomes"]), strict=True))
    return KnownTests(present, plain["gone"])
