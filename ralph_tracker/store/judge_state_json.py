"""The judge's state, and what was handed to it, as plain JSON and back.

What is large has a file of its own: the outcomes of tests stand beside both.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ralph_tracker.codec import Plain, decode, encode
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Measurement, TestResults
from ralph_tracker.core.score import COMPONENT_BY_NAME, ERROR_PARTS, Basis
from ralph_tracker.core.walk import Kept, WalkedIteration
from ralph_tracker.store.layout import SCHEMA_VERSION
from ralph_tracker.store.summary import Summary

_LETTERS: Final[Mapping[str, str]] = {PASSED: "p", FAILED: "f", SKIPPED: "s"}
_OUTCOMES: Final[Mapping[str, str]] = {letter: outcome for outcome, letter in _LETTERS.items()}


def basis_from_plain(plain: Mapping[str, Any]) -> Basis:
    """Return the basis. Raises ValueError or KeyError for one that no loop can have."""
    basis = decode(Basis, plain)
    if basis.weights and basis.weights.keys() != {COMPONENT_BY_NAME[name].dimension for name in basis.components}:
        msg = "weights of other dimensions than those of the components"
        raise ValueError(msg)
    if not set(basis.error_parts or ()) <= set(ERROR_PARTS):
        msg = "errors counted from metrics that are none"
        raise ValueError(msg)
    return basis


def kept_to_plain(kept: Kept) -> Plain:
    """Return the kept iteration without its outcomes, which its own folder has; `named` says whether there are any."""
    plain: Plain = encode(kept._replace(outcomes=None))
    del plain["outcomes"]
    return {**plain, "named": kept.outcomes is not None}


def kept_from_plain(plain: Mapping[str, Any], outcomes: Mapping[str, str] | None) -> Kept:
    """Return the kept iteration with its outcomes. Raises as `decode` does."""
    values = {key: value for key, value in plain.items() if key != "named"}
    return decode(Kept, {**values, "outcomes": outcomes})


def measurement_to_plain(measurement: Measurement) -> Plain:
    """Return what was handed to the judge; the tests are kept beside it."""
    plain: Plain = encode(measurement._replace(tests=None))
    del plain["tests"]
    return {**plain, "flaky": sorted(measurement.tests.flaky) if measurement.tests else []}


def measurement_from_plain(plain: Mapping[str, Any], tests: TestResults | None) -> Measurement:
    """Return the measurement."""
    values = {key: value for key, value in plain.items() if key != "flaky"}
    return decode(Measurement, values)._replace(tests=tests)


def known_to_plain(known: KnownTests, tests: TestResults | None) -> Plain:
    """Return what the lineage knows of each test; `measured` says whether this iteration's report had names.

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
        **({"failed_first": sorted(tests.failed_first)} if tests and tests.failed_first else {}),
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
        frozenset(plain.get("failed_first", ())),
    )


def known_from_plain(plain: Mapping[str, Any]) -> KnownTests:
    """Return what the lineage knows. Raises ValueError or KeyError where names and outcomes do not belong together."""
    present = dict(zip(plain["names"], map(_OUTCOMES.__getitem__, plain["outcomes"]), strict=True))
    return KnownTests(present, plain["gone"])


def after_plain(state: JudgeState, walked: WalkedIteration, row: Mapping[str, Any], summary: Summary) -> Plain:
    """Return the state after an iteration as it is stored."""
    basis = state.basis
    return {
        "schema_version": SCHEMA_VERSION,
        "iteration": state.iteration,
        "basis": None if basis is None else encode(basis),
        "line": encode(state.lineage),
        "walked": encode(walked),
        "kept": None if state.kept is None else kept_to_plain(state.kept),
        "best": encode(state.best),
        "flaky": sorted(state.flaky),
        "rollbacks": state.rollbacks,
        "cost_usd": state.cost_usd,
        "met_target": state.met_target,
        "highest": state.highest,
        "accepted": sorted(state.accepted),
        "accepted_findings": sorted(state.accepted_findings),
        **({"progress": encode(state.progress)} if state.progress.levels or state.progress.starts else {}),
        "row": dict(row),
        "summary": summary.plain(),
    }
