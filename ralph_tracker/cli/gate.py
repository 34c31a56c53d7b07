"""ralph-tracker gate: would this pass? Measured as an iteration is, and not recorded."""

import os
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.hook import metrics_option
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import progress, say, say_json
from ralph_tracker.errors import EXIT_NOT_MEASURED, EXIT_OK, EXIT_REGRESSION, StoreError

EXIT_OF: Final = {"pass": EXIT_OK, "regression": EXIT_REGRESSION, "not_measured": EXIT_NOT_MEASURED}


@click.command("gate", short_help="Measure without recording: pass or regression.")
@loop_options
@metrics_option
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the verdict there as JUnit XML.")
@click.option("--github", is_flag=True, help="Annotate, and append to the step summary, as GitHub Actions reads it.")
@click.option("--strict", is_flag=True, help="Leave with 3 where the integrity verdict is SUSPECT, too.")
@click.option("--metric-lines", is_flag=True, help="Print METRIC name=value for what was measured, before the verdict.")
def command(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    junit: Path | None,
    github: bool,
    *,
    strict: bool,
    metric_lines: bool,
) -> int:
    """Measure the tree as it stands and judge it against the loop's last iteration; nothing is recorded.

    Exit code 0 pass, 3 regression or TAMPERED (with --strict SUSPECT too), 4 something could not be measured.
    """
    forms = [name for name, asked in (("github", github), ("json", as_json), ("metric-lines", metric_lines)) if asked]
    if len(forms) > 1:
        raise click.UsageError(f"--{forms[0]} and --{forms[1]} both print to standard output; choose one")
    from datetime import UTC, datetime

    from ralph_tracker.iteration.gate import gate

    now = datetime.now(UTC)
    found = gate(root, loop_id, metrics, now=now, environment=os.environ, progress=progress(), strict=strict)
    code = EXIT_OF[found.verdict]
    if junit is not None:
        _write_junit(found, junit)
    if as_json:
        from ralph_tracker.iteration.gate import gate_document

        say_json(gate_document(found, code))
    elif github:
        _say_for_github(found, root)
    else:
        for line in (*_metric_lines(found, asked=metric_lines), *lines(found)):
            say(line)
    return code


def lines(found: Any) -> list[str]:  # noqa: ANN401  # a Gate
    """Return what a person reads: the verdict, why, every alert, what gave nothing, the next step."""
    from ralph_tracker.iteration.gate import told

    record, against = found.record, f"iteration {found.compared_with} of {found.record.loop_id}"
    head = {
        "pass": f"pass: no regression against {against}",
        "regression": f"regression against {against}",
        "not_measured": _gap(found),
    }[found.verdict]
    printed = [
        head,
        f"  {record.classification}, quality {record.quality_score:g}, adjusted {record.adjusted_score:g}",
    ]
    printed += [f"  class regression: {found.fall}"] if found.regressed else []
    for alert in found.findings:
        name = alert.kind.name if found.is_new(alert) else f"{alert.id} (still open)"
        printed.append(f"  {alert.severity.name} {name}: {told(alert)}")
    if found.suspected:
        printed.append("  SUSPECT does not pass, since --strict was asked for")
    printed += _failing_lines(found.failing)
    printed += [f"  accepted: {alert.id}" for alert in found.accepted]
    printed += [f"  not measured: {measure.name}: {measure.why}" for measure in found.unmeasured]
    printed += [f"  next: {found.next_step}"] if found.next_step else []
    return printed


def _failing_lines(failing: Any) -> list[str]:  # noqa: ANN401  # FailingTests or None
    from ralph_tracker.core.identities import names_in_short

    told = {"now failing": failing.new, "still failing": failing.still} if failing is not None else {}
    return [f"  {words}: {names_in_short(tests)}" for words, tests in told.items() if tests]


def _metric_lines(found: Any, *, asked: bool) -> list[str]:  # noqa: ANN401  # a Gate
    from ralph_tracker.iteration.gate import metric_lines

    return metric_lines(found) if asked else []


def _gap(found: Any) -> str:  # noqa: ANN401  # a Gate
    names = ", ".join(measure.name for measure in found.unmeasured)
    return f"could not measure {names}" if names else str(found.why_unproven)


def _write_junit(found: Any, file: Path) -> None:  # noqa: ANN401  # a Gate
    from ralph_tracker.cli.gate_junit import gate_junit

    try:
        file.write_bytes(gate_junit(found))
    except OSError as error:
        raise StoreError(
            f"{file}: {error.strerror}; the gate says {found.verdict}, name another --junit FILE"
        ) from None


def _say_for_github(found: Any, root: Path) -> None:  # noqa: ANN401  # a Gate
    from ralph_tracker.cli.gate_github import annotations, plain_log

    for line in lines(found):
        say(plain_log(line))
    for annotation in annotations(found, _locator(root), _in_repository(root)):
        say(annotation.command)
    problem = _append_summary(found)
    if problem:
        say(plain_log(f"  step summary: {problem}"))


def _locator(root: Path) -> Any:  # noqa: ANN401  # test → file and line
    """Return what finds a test; GitHub wants files relative to the repository, of which the root may be a folder."""
    from ralph_tracker.iteration.gate import place_of

    prefix = _in_repository(root)

    def locate(test: str) -> tuple[str, int | None] | None:
        place = place_of(root, test)
        return None if place is None else ((prefix / place.file).as_posix(), place.line)

    return locate


def _in_repository(root: Path) -> Path:
    """Return the project's folder in the repository that the job has checked out."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    top = Path(workspace).resolve() if workspace else root.resolve()
    return root.resolve().relative_to(top) if root.resolve().is_relative_to(top) else Path()


def _append_summary(found: Any) -> str | None:  # noqa: ANN401  # a Gate
    """Append the step summary; say why not where it cannot be: the verdict stands all the same."""
    from ralph_tracker.cli.gate_github import SUMMARY_CAP, step_summary

    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return "not written, GITHUB_STEP_SUMMARY names no file"
    try:
        with Path(name).open("ab") as file:
            text = step_summary(found, SUMMARY_CAP - 1 - file.tell())
            file.write(text)
    except OSError as error:
        return f"not written, {name}: {error.strerror}"
    return None if text else f"not written, {name} is full"
