"""ralph-tracker gate: measure like an iteration, without recording it, and say whether it would pass."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from ralph_tracker.cli.options import loop_options, metrics_option, quiet_option, trust_option
from ralph_tracker.cli.terminal import consent, progress, say, say_command, say_json
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.errors import StoreError
from ralph_tracker.iteration.gate_for_ci import SUMMARY_CAP, annotations, gate_junit, step_summary
from ralph_tracker.iteration.gate_worktree import (
    FailingTests,
    Gate,
    alert_text,
    counts_in_words,
    gate,
    metric_lines,
)
from ralph_tracker.iteration.open_problems import source_line_of
from ralph_tracker.report.wording import without_repeats
from ralph_tracker.safe_files import refuse_link_out
from ralph_tracker.short_text import percent
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.iteration_snapshots import leave_alone


@click.command("gate", short_help="Measure without recording: pass or regression.")
@loop_options
@metrics_option
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the verdict there as JUnit XML.")
@click.option("--github", is_flag=True, help="Annotate, and append to the step summary, as GitHub Actions reads it.")
@click.option("--strict", is_flag=True, help="Leave with 3 where the integrity verdict is SUSPECT, too.")
@click.option(
    "--metric-lines",
    "as_metrics",
    is_flag=True,
    help="Print METRIC name=value for what was measured, before the verdict.",
)
@quiet_option
@trust_option
def command(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    junit: Path | None,
    github: bool,
    *,
    strict: bool,
    as_metrics: bool,
    trust: bool,
) -> int:
    """Measure the current tree and judge it against the loop's last iteration, without recording it.

    Exit code 0 pass, 3 regression or TAMPERED (with --strict SUSPECT too), 4 something could not be measured.
    """
    forms = [name for name, asked in (("github", github), ("json", as_json), ("metric-lines", as_metrics)) if asked]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} both print to standard output; choose one")
    refuse_link_out(root, junit)
    now = datetime.now(UTC)
    found = gate(
        root,
        loop_id,
        metrics,
        now=now,
        environment=os.environ,
        progress=progress(),
        strict=strict,
        trust=consent(trust=trust),
    )
    if junit is not None:
        try:
            junit.write_bytes(gate_junit(found))
        except OSError as error:
            raise StoreError(
                f"{junit}: {error.strerror}; the gate's verdict is {found.verdict}; choose another --junit FILE for it"
            ) from None
        leave_alone(find_loop(root, loop_id, os.environ), junit)
    if as_json:
        say_json(found.to_dict())
    elif github:
        _say_for_github(found, root)
    else:
        for line in (*(metric_lines(found) if as_metrics else ()), *lines(found)):
            say(line)
    return found.exit_code


def lines(found: Gate) -> list[str]:
    """Return the lines for a person: verdict, reasons, alerts, measures without a result, next step."""
    record, against = found.record, f"iteration {found.compared_with} of {found.record.loop_id}"
    unmeasured = ", ".join(measure.name for measure in found.unmeasured)
    head = {
        "pass": f"pass: no regression against {against}",
        "regression": f"regression against {against}",
        "not_measured": f"could not measure {unmeasured}" if unmeasured else str(found.why_unproven),
    }[found.verdict]
    known = found.failing or FailingTests()
    failing = (*known.new, *known.still)
    printed = [
        head,
        f"  {record.classification}: {counts_in_words(record)}score {percent(record.adjusted_score)}",
    ]
    printed += [f"  class regression: {found.fall}"] if found.regressed else []
    for words, tests in (("now failing", known.new), ("still failing", known.still)):
        printed += [f"  {words}: {names_in_short(tests)}"] if tests else []
    for alert in found.findings:
        name = alert.type if found.is_new(alert) else f"{alert.id} (still open)"
        printed.append(f"  {alert.severity.name} {name}: {without_repeats(alert_text(alert), failing, ())}")
    if found.suspected:
        printed.append("  SUSPECT does not pass, since --strict was asked for")
    printed += [f"  accepted: {alert.id}" for alert in found.accepted]
    printed += [f"  not measured: {measure.name}: {measure.why}" for measure in found.unmeasured]
    printed += [f"  next: {found.next_step}"] if found.next_step else []
    return printed


def _say_for_github(found: Gate, root: Path) -> None:
    """Print the verdict and the annotations, and append the step summary."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    top = Path(workspace).resolve() if workspace else root.resolve()
    folder = root.resolve().relative_to(top) if root.resolve().is_relative_to(top) else Path()

    def locate(test: str) -> tuple[str, int | None] | None:
        """Return where a test is, relative to the repository that the job checked out, as GitHub requires."""
        place = source_line_of(root, test)
        return None if place is None else ((folder / place.file).as_posix(), place.line)

    for line in lines(found):
        say(line)
    for annotation in annotations(found, locate, folder):
        say_command(annotation.command)
    problem = _append_summary(found)
    if problem:
        say(f"  step summary: {problem}")


def _append_summary(found: Gate) -> str | None:
    """Append the step summary; return why it could not be written, which does not change the verdict."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return "not written: not in GitHub Actions (GITHUB_STEP_SUMMARY is not set)"
    try:
        with Path(name).open("ab") as file:
            text = step_summary(found, SUMMARY_CAP - 1 - file.tell())
            file.write(text)
    except OSError as error:
        return f"not written, {name}: {error.strerror}"
    return None if text else f"not written, {name} is full"
