"""T3: the run of the tests leaves out what it ran before."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.comments import code_of
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.fresh import added_lines
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.collecting import dropped_from_collection
from ralph_tracker.integrity.python.narrowing_hooks import ADDOPTS
from ralph_tracker.integrity.python.syntax import program
from ralph_tracker.integrity.relevance import COLLECTING
from ralph_tracker.integrity.settings.files import is_settings
from ralph_tracker.integrity.settings.losses import losses
from ralph_tracker.integrity.settings.narrowing import NO_TESTS, pytest_narrowings
from ralph_tracker.integrity.settings.runs import emptied, narrowed
from ralph_tracker.integrity.settings.targets import holds_targets, targets_of
from ralph_tracker.integrity.settings.telling import from_loss, line_of
from ralph_tracker.integrity.settings.unaffected import runs_all_the_same

ROW = "T3"
_SET_OPTIONS: Final = Pattern(rf"{ADDOPTS}['\"]?\s*[:?]?[=:]?\s*(\S.*)")
_QUOTES: Final = Pattern(r"[\"'})\]]")
_ONLY: Final = Pattern(
    r"\b((?:it|test|describe|context|suite|bench)(?:\.\w+)*\.only|f(?:it|describe|test|context))\s*[(.`]"
)
_BUILD_TAG: Final = Pattern(r"^//(?:go:build|\s*\+build)\s+(.+)$", re.MULTILINE)
_PLATFORM: Final = Pattern(
    r"!|&&|\|\||[()\s,]|\b(linux|windows|darwin|unix|freebsd|netbsd|openbsd|android|ios|js|wasm|wasip1|plan9|solaris|aix"
    r"|illumos|dragonfly|amd64|arm64|386|arm|riscv64|ppc64le|s390x|cgo|race|msan|asan|gc|gccgo|purego|go1\.\d+)\b"
)


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield settings, commands, marks and hooks by which fewer tests are run."""
    if (is_settings(file.path) or holds_targets(file.path)) and not _is_beside_tests(file):
        for loss in losses(file, evidence.files):
            if loss.gate.rule == ROW and not runs_all_the_same(loss, evidence):
                yield from_loss(ROW, "fewer tests are collected", loss, file)
    if file.new is not None and file.language in {None, "python"} and ADDOPTS in file.new.text:
        yield from _environment(file)
    if file.old is not None and file.new is not None:
        if holds_targets(file.path):
            yield from _commands(file, file.old, file.new)
        if file.language in {"javascript", "typescript", "tsx"}:
            yield from _exclusive(file, file.old, file.new)
        if file.path.endswith("_test.go"):
            yield from _tagged(file, file.old, file.new)
    if file.language == "python" and file.new is not None and any(hook in file.new.text for hook in COLLECTING):
        yield from _hooks(file, file.new)


def _is_beside_tests(file: ChangedFile) -> bool:
    """Tell whether settings came to a folder where no tests of the project's own stand."""
    folder = file.path.rpartition("/")[0]
    return file.old is None and bool(folder) and NO_TESTS.search(f"{folder}/") is not None


def _environment(file: ChangedFile) -> Iterator[Finding]:
    """Find options of pytest that a file puts into the environment: of make, tox, nox, a workflow, a script."""
    if file.language == "python" and not file.path.endswith("noxfile.py"):
        return
    for number, line in added_lines(file):
        found = _SET_OPTIONS.search(line)
        words = _QUOTES.sub(" ", found[1]).split() if found is not None else []
        if left := pytest_narrowings(words):
            message = f"tests left out by {ADDOPTS}: {left[0]}"
            yield finding(ROW, Severity.HIGH, message, file.path, line=number, new=line.strip())


def _commands(file: ChangedFile, old: Side, new: Side) -> Iterator[Finding]:
    before, now = targets_of(file.path, old.text), targets_of(file.path, new.text)
    for name in (each for each in before if each in now):
        for each in narrowed(before[name], now[name]):
            if "$" in each.before.text and each.what in old.text:  # what a variable held stands in the command itself
                continue
            yield finding(
                ROW,
                Severity.HIGH,
                f"test command narrowed{f' in {name}' if name else ''}: {each.what}",
                file.path,
                line=line_of(file, each.command.text),
                old=each.before.text,
                new=each.command.text,
                about=f"{name}: {each.what}",
            )
        gone = emptied(before[name], now[name])
        if gone is not None and gone.kind == "test":
            message = f"{name or 'the workflow'} runs no tests any more"
            yield finding(ROW, Severity.HIGH, message, file.path, old=gone.text, about=f"{name}: emptied")


def _exclusive(file: ChangedFile, old: Side, new: Side) -> Iterator[Finding]:
    """Find marks by which a file's other tests are left out; declarations of such functions count on both sides."""
    if _ONLY.search(new.text) is None:
        return
    marks = [match[1] for match in _ONLY.finditer(code_of(new.path, new.text))]
    known = [match[1] for match in _ONLY.finditer(code_of(old.path, old.text))]
    for mark in dict.fromkeys(marks):
        if marks.count(mark) > known.count(mark):
            line = next((at for at, line in enumerate(new.lines, 1) if mark in line), None)
            yield finding(
                ROW, Severity.HIGH, f"other tests of the file left out: `{mark}`", file.path, line=line, new=mark
            )


def _tagged(file: ChangedFile, old: Side, new: Side) -> Iterator[Finding]:
    known = {match[1].strip() for match in _BUILD_TAG.finditer(old.text)}
    for match in _BUILD_TAG.finditer(new.text):
        tags = match[1].strip()
        if tags not in known and _PLATFORM.sub("", tags):
            line = new.text.count("\n", 0, match.start()) + 1
            yield finding(ROW, Severity.HIGH, f"tests built only with {tags}", file.path, line=line, new=match.group())


def _hooks(file: ChangedFile, new: Side) -> Iterator[Finding]:
    known = {each.about for each in dropped_from_collection(program(file.old))}
    for drop in dropped_from_collection(new.text):
        if drop.about not in known:
            yield finding(
                ROW, Severity.HIGH, f"tests left out by {drop.hook}", file.path, line=drop.line, new=drop.about
            )
