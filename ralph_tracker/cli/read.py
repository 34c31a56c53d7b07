"""ralph-tracker read: show what a report file contains."""

import os
import sys
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.output import complain, say, say_json
from ralph_tracker.errors import EXIT_FAILURE, EXIT_OK

STANDARD_INPUT: Final = "-"
Understood = dict[str, Any]


@click.command("read")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--format", "name", metavar="NAME", help="Read them in this format; else as they look.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema read` describes it.")
def command(files: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Show the content of each FILE: a report of tests, coverage, a linter or a type checker.

    Formats are recognized by content; - is standard input. The exit code is 1 if a file cannot be read.
    """
    understood = [understand(path, name) for path in files]
    if as_json:
        say_json(understood)
    else:
        for each in understood:
            (say if each["status"] == "ok" else complain)(line(each))
    return EXIT_OK if all(each["status"] == "ok" for each in understood) else EXIT_FAILURE


def understand(path: str, name: str | None) -> Understood:
    """Return the content of a report, or why and where it cannot be read.

    coverage.py's own data is combined with the sources in the working directory.
    """
    from ralph_tracker.formats.damage import Unreadable
    from ralph_tracker.formats.registry import Reading, examine
    from ralph_tracker.measure.coverage_data import as_json, is_data

    data = _bytes_of(path)
    if isinstance(data, bytes) and is_data(data) and path != STANDARD_INPUT:
        made = as_json(Path(path), Path())
        data, name = (made.why, None) if isinstance(made, Unreadable) else (made, "coveragepy-json")
    reading = examine(data, format=name) if isinstance(data, bytes) else Reading(None, Unreadable(data))
    result, form = reading.result, reading.format
    bad = isinstance(result, Unreadable)
    return {
        "path": os.fsencode(path).decode(errors="backslashreplace"),
        "status": "unreadable" if bad else "ok",
        "kind": form.kind if form else None,
        "format": form.name if form else None,
        "why": result.why if isinstance(result, Unreadable) else None,
        "line": result.line if isinstance(result, Unreadable) else None,
        "column": result.column if isinstance(result, Unreadable) else None,
        "contradiction": getattr(result, "contradiction", None),
        "note": getattr(result, "note", None),
    } | ({form.kind: {key: getattr(result, key) for key in NUMBERS[form.kind]}} if form and not bad else {})


NUMBERS: Final = {
    "tests": ("tests", "passed", "failed", "errors", "skipped"),
    "coverage": ("lines_covered", "lines_total", "percent"),
    "lint": ("results", "errors", "warnings", "notes", "suppressed"),
    "types": ("errors", "warnings"),
}


def _bytes_of(path: str) -> bytes | str:
    """Return a file's content, or why it cannot be read; reports have a maximal size."""
    from ralph_tracker.formats.damage import DEFAULT_LIMITS

    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read(DEFAULT_LIMITS.max_bytes + 1)
        size = Path(path).stat().st_size
        if size > DEFAULT_LIMITS.max_bytes:
            return f"{size} bytes are more than the limit of {DEFAULT_LIMITS.max_bytes}"
        with Path(path).open("rb") as file:
            return file.read(DEFAULT_LIMITS.max_bytes + 1)
    except (OSError, ValueError) as error:
        return f"cannot be opened ({getattr(error, 'strerror', None) or error})"


def line(understood: Understood) -> str:
    """Return it as one line."""
    path, kind = understood["path"], understood["kind"]
    if understood["status"] != "ok":
        place = "".join(f", {name} {understood[name]}" for name in ("line", "column") if understood[name] is not None)
        asked = f" as {understood['format']}" if understood["format"] else ""
        return f"{path}: unreadable{asked}: {understood['why']}{place}"
    numbers = ", ".join(f"{_shown(value)} {name.replace('_', ' ')}" for name, value in understood[kind].items())
    said = f"; it contradicts itself: {understood['contradiction']}" if understood["contradiction"] else ""
    note = f"; {understood['note']}" if understood["note"] else ""
    return f"{path}: {kind} ({understood['format']}): {numbers}{said}{note}"


def _shown(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
