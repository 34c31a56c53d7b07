"""Render the reports in Markdown from views and templates; a template of the project in a process with limits."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ralph_tracker.errors import ConfigError
from ralph_tracker.report.escaping import (
    block_for_markdown,
    commands_for_markdown,
    for_markdown,
    for_terminal,
    short_names,
)
from ralph_tracker.report.iteration_view import FindingRow, IterationView, MetricRow, iteration_view
from ralph_tracker.safe_files import read_regular
from ralph_tracker.short_text import shorten

if TYPE_CHECKING:
    import jinja2

    from ralph_tracker.report.loop_view import SelectionView

_PACKAGE: Final = Path(__file__).resolve().parent.parent
# What a template of the project may take: seconds on the clock (a loaded machine is slow to begin), of the processor,
# and bytes.
MAX_SECONDS: Final = 60
MAX_CPU_S: Final = 4
MAX_MEMORY: Final = 1 << 30
_MAX_OUTPUT: Final = 16 << 20
USER_FOLDER: Final = Path(".aiwg") / "ralph" / "templates"
SHIPPED: Final = (_PACKAGE / "templates", _PACKAGE.parent / "templates")
ITERATION_REPORT: Final = "iteration-report.md.j2"
# By this a workflow finds the comment that it wrote before.
MARK: Final = "<!-- ralph-tracker -->"


def render(template: str, values: Mapping[str, Any], root: Path | None = None) -> str:
    """Return the rendered template; the project at `root` may override it with its own.

    One of the project is rendered in a process with limits. Raises ConfigError, in one line, for an invalid one.
    """
    if root is None or not has_own(template, root):
        return jinja_environment(SHIPPED).get_template(template).render(values)
    answer = _rendered_apart(template, values, root)
    if "text" in answer:
        return str(answer["text"])
    place = f"{template}, line {answer['line']}" if answer["line"] else template
    raise ConfigError(f"template {place}: {answer['why']}; fix it or remove it from {USER_FOLDER}")


def _rendered_apart(template: str, values: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Return the answer of `render_job` about a template of the project, from a process of its own.

    Nothing in the same process holds: `{{ 'x' * 10**10 }}` or `{{ 9**9**9 }}` is one operation of the interpreter,
    which no timer interrupts.
    """
    import pickle  # noqa: PLC0415  # only for a template of the project

    job = pickle.dumps((str(root), str(USER_FOLDER), template, dict(values)))
    # Our own modules, never those of the folder that we are in.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", "from ralph_tracker.report.markdown_reports import render_job; render_job()"]
    try:
        done = subprocess.run(  # noqa: S603  # a module of ours
            command,
            input=job,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MAX_SECONDS,
            check=False,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {"line": None, "why": f"it took more than {MAX_CPU_S} seconds or {MAX_MEMORY >> 20} MiB of memory"}
    except OSError as error:
        return {"line": None, "why": f"no process to render it in: {error.strerror}"}
    return answer


def render_job() -> None:
    """Render the pickled job on standard input, with limits of memory and processor time, and print a JSON object.

    It has `text`, or `why` and the `line` (None: unknown) of what is wrong. A system without such limits has the
    parent's clock.
    """
    import pickle  # noqa: PLC0415  # as above
    import resource  # noqa: PLC0415  # not on every system

    root, folder, template, values = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by our own parent
    for kind, most in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, MAX_CPU_S), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):  # macOS refuses the first; a hard limit may be lower
            resource.setrlimit(kind, (most, most))
    try:
        answer: dict[str, Any] = {"text": _render(Path(root), folder, template, values)}
    except MemoryError:
        answer = {"line": None, "why": f"needs more than {MAX_MEMORY >> 20} MiB of memory"}
    except Exception as error:  # noqa: BLE001  # whatever a template does
        why = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        answer = {"line": getattr(error, "lineno", None), "why": why}
    sys.stdout.write(json.dumps(answer))


def _render(root: Path, folder: str, template: str, values: Mapping[str, Any]) -> str:
    import jinja2  # noqa: PLC0415  # as in jinja_environment
    from jinja2.loaders import split_template_path  # noqa: PLC0415  # as above

    def read(name: str) -> str | None:
        path = Path(root, folder, *split_template_path(name))
        try:
            data = read_regular(path, inside=root, name=name, limit=1 << 20)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return data.decode()

    environment = jinja_environment(SHIPPED)
    environment.loader = jinja2.ChoiceLoader([jinja2.FunctionLoader(read), jinja2.FileSystemLoader(SHIPPED)])
    parts, room = [], _MAX_OUTPUT
    for part in environment.get_template(template).generate(values):
        parts.append(part)
        room -= len(part)
        if room < 0:
            raise ValueError(f"its output is larger than {_MAX_OUTPUT >> 20} MiB")
    return "".join(parts)


def has_own(template: str, root: Path | None) -> bool:
    """Return whether a project has its own template; False without a root, or if it cannot be accessed."""
    return root is not None and os.path.lexists(root / USER_FOLDER / template)  # never raises


@cache
def jinja_environment(folders: tuple[Path, ...]) -> "jinja2.Environment":
    """Return the environment for the templates in the folders, the first of a name winning."""
    import jinja2  # noqa: PLC0415  # 100 ms that only a report has to pay
    from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415  # as above; the agent may write a template

    environment = SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=jinja2.select_autoescape(enabled_extensions=("html", "html.j2"), default=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = for_markdown
    environment.filters["block"] = block_for_markdown
    environment.filters["commands"] = commands_for_markdown
    environment.filters["plain"] = for_terminal
    environment.filters["short_names"] = short_names
    return environment


def iteration_report(document: Mapping[str, Any], root: Path | None = None) -> str:
    """Return the report of one iteration: a sentence, the specification's headings, then ours."""
    view = iteration_view(document)
    if has_own(ITERATION_REPORT, root):
        return render(ITERATION_REPORT, {"it": view}, root)
    return shipped_iteration_report(view)


def shipped_iteration_report(it: IterationView) -> str:
    """Return what the shipped template makes of an iteration: importing Jinja alone takes longer than a step."""
    md, is_first = for_markdown, it.classification == "baseline"
    best = "none yet" if it.best == "n/a" else f"Iteration {it.best} (quality: {it.best_score})"
    lines = [
        *(md(it.sentence), ""),
        f"## Iteration {it.iteration} Progress Report",
        "",
        # Two spaces at the end of a line keep the next one apart.
        f"**Timestamp**: {md(it.timestamp)}  ",
        f"**Classification**: {md(it.classification)}  ",
        f"**Quality Score**: {it.quality_score}",
        *("", "### Metrics", "", *_metric_table(it.rows, is_first=is_first)),
        *("", "### Quality Score Breakdown", ""),
        "| Dimension | Score | Weight | Contribution |",
        "|-----------|-------|--------|--------------|",
        *(f"| {each.label} | {each.score} | {each.weight} | {each.contribution} |" for each in it.dimensions),
        f"| **Total** | **{it.total}** | 1.00 | **{it.total}** |",
        *("", "### Alerts", ""),
        *(
            f"- **{alert.severity}** {md(alert.type)}{f', open since {md(alert.since)}' if alert.carried else ''}"
            f": {md(alert.message)}{f' ({md(alert.note)})' if alert.note else ''}"
            f"{' (accepted)' if alert.state == 'accepted' else ''}"
            for alert in it.all_alerts
        ),
        *(() if it.all_alerts else ("No alerts",)),
        *("", "### Best Iteration Tracker", ""),
        f"- **Current Best**: {best}",
        f"- **This Iteration**: Iteration {it.iteration} (quality: {it.quality_score})",
        f"- **Best Preserved**: {it.best_preserved}",
        *("", "### Recommendation", ""),
        f"**Action**: {md(it.action)}  ",
        f"**Reason**: {md(it.reason)}  ",
        f"**Confidence**: {it.confidence}",
        *([""] if it.alternatives else ()),
        *(f"- {md(each)}" for each in it.alternatives),
        *("", "### Adjusted Score and Verdict", ""),
        f"- **Adjusted Score**: {it.adjusted_score}{f' ({md(it.adjusted_because)})' if it.adjusted_because else ''}",
        f"- **Evidence**: {it.evidence} of the score's components were measured",
        f"- **Verified**: {it.verified}",
        *((f"- **Not Taken**: it {md(it.not_kept)}",) if it.not_kept else ()),
        *((f"- **Integrity**: {it.integrity}",) if it.integrity else ()),
        *((f"- **Used**: {it.used}",) if it.used else ()),
        *((f"- **Plan**: {it.plan} tasks done",) if it.plan else ()),
        *(f"- **Closed**: {md(each)}" for each in it.closed_alerts),
        *(f"- **Note**: {md(each)}" for each in it.notes),
    ]
    if it.findings:
        lines += ["", "### Integrity", "", *(line for each in it.findings for line in _finding_lines(each))]
        if it.more_findings:
            lines.append(f"- and {it.more_findings} more: `ralph-tracker integrity {it.iteration}`")
    for title, listed in (("Earlier Tests on This Source", it.reruns), ("Not Checked", it.unread)):
        if listed:
            lines += ["", f"### {title}", "", *(f"- {md(each)}" for each in listed)]
    if it.more_rows:
        lines += ["", "### All Metrics", "", *_metric_table(it.more_rows, is_first=is_first)]
    return "".join(f"{line}\n" for line in lines)


def _metric_table(rows: Sequence[MetricRow], *, is_first: bool) -> list[str]:
    if is_first:
        return [
            *("| Metric | Current |", "|--------|---------|"),
            *(f"| {row.label} | {row.current} |" for row in rows),
        ]
    return [
        "| Metric | Current | Previous | Delta | Baseline | Delta from Baseline |",
        "|--------|---------|----------|-------|----------|---------------------|",
        *(
            f"| {row.label} | {row.current} | {row.previous} | {row.change} | {row.baseline} | "
            f"{row.change_from_baseline} |"
            for row in rows
        ),
    ]


def _finding_lines(finding: FindingRow) -> list[str]:
    test = f", {for_markdown(finding.test)}" if finding.test else ""
    message = for_markdown(finding.message)
    facts = {"old": finding.old, "new": finding.new, "failed with": finding.failure}
    return [
        f"- **{finding.severity}** {finding.rule} {for_markdown(finding.place)}{test}: {message}",
        *(f"    - {name}:{block_for_markdown(text)}" for name, text in facts.items() if text),
        *((f"    - again: `{finding.command}`",) if finding.command else ()),
    ]


class SelectionReports(NamedTuple):
    """The report of the selection, and that of the whole loop: a line per iteration, the peak marked, all alerts."""

    selection: str
    loop: str


def selection_reports(view: "SelectionView", root: Path | None = None) -> SelectionReports:
    """Return both reports of a selection."""
    shown = {"s": view}
    return SelectionReports(render("output-selection.md.j2", shown, root), render("loop-report.md.j2", shown, root))


def pull_request(
    view: "SelectionView",
    *,
    wrong: Sequence[str],
    alerts: Sequence[str],
    decision: str,
    next_step: str,
) -> str:
    """Return the comment's text: the sentence, failing and lost tests, open alerts, the decision, picture and table."""
    shown = {row.iteration for row in view.rows[-10:]} | {view.selected, view.rows[0].iteration}
    table = [cells for row, cells in zip(view.rows, view.table, strict=True) if row.iteration in shown]
    return render(
        "pull-request.md.j2",
        {
            "mark": MARK,
            "s": view,
            "wrong": _few(wrong, 10),
            "alerts": _few(alerts, 8),
            "decision": _cut(decision),
            "next_step": _cut(next_step),
            "table": table,
            "left_out": len(view.rows) - len(table),
        },
    )


def _few(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, each cut to a readable length, and how many more there are."""
    rest = len(lines) - most
    return [*map(_cut, lines[:most]), *([f"and {rest} more"] if rest > 0 else [])]


def _cut(text: str) -> str:
    return shorten(text, 500)
