"""ralph-tracker integrity: list what is held against an iteration, with file, line, old and new text."""

import os
from pathlib import Path
from typing import Final

import click

from ralph_tracker.cli.options import IterationNumber, loop_options, trust_option
from ralph_tracker.cli.terminal import consent, document_of, say, say_json, say_wrapped
from ralph_tracker.core.integrity_result import Finding, Rerun
from ralph_tracker.core.known_tests import describe_not_loaded
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import LoopError
from ralph_tracker.iteration.open_problems import FindingsView, OpenAlert, open_findings, open_findings_document
from ralph_tracker.iteration.reproduce import rerun_again
from ralph_tracker.report.iteration_view import rerun_line
from ralph_tracker.short_text import percent
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.records_to_show import as_of_now, listing
from ralph_tracker.store.trust import Consent

_TESTS_SHOWN: Final = 20


@click.command("integrity", short_help="List what speaks against an iteration.")
@click.argument("number", type=IterationNumber(min=0), required=False)
@click.option("--rerun", is_flag=True, help="Run the earlier tests of that iteration again, and print what they say.")
@trust_option
@loop_options
def command(number: int | None, rerun: bool, trust: bool, root: Path, loop_id: str | None, as_json: bool) -> None:
    """List the findings of iteration NUMBER (default: the latest), and the earlier tests run on its source.

    The verdict is the current one; findings accepted since are marked.
    """
    found = listing(root, loop_id)
    if found.committed is None:
        raise LoopError(f"loop {found.loop_id}: AIWG wrote it; its files and tests were not checked")
    document = document_of(as_of_now(found, [found.one(number)])[0])
    view = open_findings(found.committed, document)
    if rerun:
        _say_rerun(found.committed, document["iteration_metrics"]["iteration"], view, consent(trust=trust))
    elif as_json:
        say_json(open_findings_document(view))
    else:
        _print_findings(view)


def _say_rerun(committed: SealedRecords, number: int, view: FindingsView, trust: Consent) -> None:
    if not view.found.reruns:
        say(f"iteration {number}: no earlier test was run on its source, since none differs from its reference")
        return
    for ran in rerun_again(committed, number, view.found.reruns, os.environ, trust):
        for line in _ran(ran.rerun):
            say_wrapped(line)
        for test in sorted(ran.tests.outcomes):
            say(f"  {ran.tests.outcomes[test]:7} {test}")
            for line in ran.tests.messages.get(test, "").splitlines():
                say(f"            {line}")
        for place, why in ran.tests.not_loaded.items():
            say(f"  not loaded: {describe_not_loaded(place, why)}")


def _ran(rerun: Rerun) -> list[str]:
    """Return what was run and its result, one line each."""
    return [f"earlier tests: {rerun_line(rerun.to_dict())}", *(f"  {each}" for each in rerun.commands)]


def _print_findings(view: FindingsView) -> None:
    record = view.document["iteration_metrics"]
    say_wrapped(f"iteration {record['iteration']}: {view.verdict}")
    say_wrapped(f"score {percent(record['adjusted_score'])}, {rates(view)}")
    for rerun in view.found.reruns:
        say_wrapped(_ran(rerun)[0])
    for alert in view.tests:
        _say_tests(alert)
    for finding, held in view.findings:
        _say_finding(finding, held)
    for kind, count in view.found.suppressions.items():
        if count > 0:
            say(f"{count} more {kind} suppressions than in the baseline; each counts as a finding")
    if view.found.earlier is not None and view.found.earlier.retired:
        say(f"{quantity(len(view.found.earlier.retired), 'test')} went with the code that they called")
    for file, why in view.found.unread.items():
        say_wrapped(f"not checked: {file}: {why}")
    if not view.findings and not view.tests:
        # Something did not load, or the earlier tests could not run.
        why = view.found.unproven or "; ".join(view.not_loaded) or "the tests of the loop did not run"
        say_wrapped("no findings" if view.verdict != "UNPROVEN" else f"not checked: {why}")
    elif view.verdict in {"SUSPECT", "TAMPERED"}:
        say("  next: fix it, or `ralph-tracker accept ID --reason WHY` if it is intended")


def rates(view: FindingsView) -> str:
    """Return the pass rate in words."""
    if view.pass_rate is None:
        return "tests not measured"
    return f"{view.pass_rate:g} % of its tests pass"


def _say_tests(held: OpenAlert) -> None:
    alert = held.alert
    say_wrapped(f"{alert.severity.name} {alert.id} ({held.state}): {alert.message}", hang=4)
    names = sorted(alert.tests)
    for name in names[:_TESTS_SHOWN]:
        say(f"    {name} ({alert.tests[name]} before)")
    if len(names) > _TESTS_SHOWN:
        say(f"    and {len(names) - _TESTS_SHOWN} more; --json has all")


def _say_finding(finding: Finding, held: OpenAlert | None) -> None:
    alert = "" if held is None else f" {held.alert.id} ({held.state})"
    say_wrapped(f"{finding.severity.name} {finding.rule}{alert}: {finding.place}: {finding.message}", hang=4)
    for line in (finding.failure or "").splitlines():
        say(f"    {line}")
    if finding.command is not None:
        say(f"    again: {finding.command}")
    if finding.test is not None:
        say(f"    test: {finding.test}")
    if finding.old is not None:
        say(f"    old: {finding.old}")
    if finding.new is not None:
        say(f"    new: {finding.new}")
