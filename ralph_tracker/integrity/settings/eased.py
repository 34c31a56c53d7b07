"""Checks that ask for less: options that silence came, options that demand went, fewer places are looked at."""

from collections.abc import Iterable, Iterator
from typing import Final

from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.commands import Command
from ralph_tracker.integrity.settings.files import is_settings
from ralph_tracker.integrity.settings.narrowing import NO_TESTS
from ralph_tracker.integrity.settings.programs import PROGRAMS
from ralph_tracker.integrity.settings.runs import Commands, Weakened, holds, without_common
from ralph_tracker.integrity.settings.values import split_shell

_KINDS: Final = frozenset({"lint", "types", "security", "test", "coverage"})
_SILENCING: Final = Pattern(
    r"--(extend-)?ignore(=|$)|--disable(-error-code)?(=|$)|--(extend-)?exclude(=|$)|--ignore-missing-imports|--allow-"
    r"|--no-strict|--follow-imports=(skip|silent)|--no-cov$|--suppress-(no-test|tests-failed)-exit-code|--reruns(=|$)"
    r"|--errors-only|--skips?(=|$)|--passWithNoTests|--quiet$|--fix-only|-l{2,3}$|--if-present"
)
_DEMANDING: Final = Pattern(
    r"--strict|--disallow-|--check-untyped-defs|--warn-(return-any|unreachable|error)|--exit-non-zero-on-fix|-Werror$"
    r"|-W=?error$|--max-warnings|--max-complexity"
)
_FLOOR: Final = Pattern(r"--((?:cov-)?fail-under)[= ]\s*(\d+(?:\.\d+)?)")
_CEILING: Final = Pattern(r"--(max-complexity)[= ]\s*(\d+)")
_TESTS: Final = frozenset({"tests", "test", "docs"})
_LOOSE: Final = frozenset({"setup.py", "conftest.py", "docs", "noxfile.py", "tasks.py"})
_NO: Final = "no "
_OTHERS: Final = frozenset({"", "tox", "nox", "codespell", "pre-commit"})
_SELECTED: Final = Pattern(r"--(select|enable-only)[= ]")
_ASKS_ONLY: Final = Pattern(r"\s(--version|--help|--show-settings|--show-files)\b")


def said_elsewhere(weakened: Weakened, files: Iterable[ChangedFile]) -> bool:
    """Tell whether settings that changed name an option now that a command has no more."""
    name = weakened.what.removeprefix(_NO).partition("=")[0].strip("-")
    if not weakened.what.startswith(_NO) or not name:
        return False
    words = ("error",) if name.startswith("W") else (name, name.replace("-", "_"))
    return any(
        word in file.new.text and (file.old is None or word not in file.old.text)
        for file in files
        if file.new is not None and is_settings(file.path)
        for word in words
    )


def eased(olds: Commands, news: Commands) -> Iterator[Weakened]:
    """Yield the checks that ask for less than the one whose place they took; more commands than before are a split."""
    gone, came = without_common(olds, news)
    before, now = _by_program(gone), _by_program(came)
    for which, commands in now.items():
        was = before.get(which, [])
        for old, command in zip(was, commands, strict=False) if len(commands) <= len(was) else ():
            what = _less(old, command) if old.soft is None else None
            if what is not None:
                yield Weakened(command, old, what)


def _by_program(commands: Iterable[Command]) -> dict[tuple[str, str], list[Command]]:
    found: dict[tuple[str, str], list[Command]] = {}
    for each in commands:
        if each.kind in _KINDS and (program := _program(each)) not in _OTHERS:
            found.setdefault((each.kind, program), []).append(each)
    return found


def _program(command: Command) -> str:
    names = (word.rpartition("/")[2] for word in split_shell(command.text))
    return next((name for name in names if name in PROGRAMS), "")


def _less(old: Command, new: Command) -> str | None:
    """Return in what a command asks for less, None where it does not."""
    before, now = _options(old), _options(new)
    for option in now:
        name, _, value = option.partition("=")
        if _SILENCING.match(option) and name not in _names(before) and not NO_TESTS.search(value):
            return option
    lost = next((each for each in before if _DEMANDING.match(each) and each.partition("=")[0] not in _names(now)), None)
    if lost is not None and "--strict" not in now:
        return f"{_NO}{lost}"
    if _SELECTED.search(new.text) and not _SELECTED.search(old.text):
        return "--select"
    if _ASKS_ONLY.search(new.text) and not _ASKS_ONLY.search(old.text):
        return "it checks nothing"
    return _other_limit(old, new) or _fewer_places(old, new)


def _names(options: list[str]) -> set[str]:
    return {each.partition("=")[0] for each in options}


def _options(command: Command) -> list[str]:
    """Return the options, each with its value behind `=` where the next word may be one."""
    words = split_shell(command.text)
    found = []
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word.startswith("-"):
            takes = "=" not in word and (
                word == "-W" or word in {"--ignore", "--disable", "--exclude", "--follow-imports"}
            )
            found.append(f"{word}={after}" if takes and after else word)
    return found


def _other_limit(old: Command, new: Command) -> str | None:
    floor, lower = _FLOOR.search(old.text), _FLOOR.search(new.text)
    if floor and (lower is None or float(lower[2]) < float(floor[2])):
        return f"--{floor[1]} {floor[2]} -> {lower[2] if lower else 'gone'}"
    ceiling, higher = _CEILING.search(old.text), _CEILING.search(new.text)
    if ceiling and higher and int(higher[2]) > int(ceiling[2]):
        return f"--{ceiling[1]} {ceiling[2]} -> {higher[2]}"
    return None


def _fewer_places(old: Command, new: Command) -> str | None:
    if new.kind == "test":  # T3
        return None
    before, now = _places(old), _places(new)
    if (
        not before - now - _LOOSE
        or not now
        or ("." in before and any("/" not in each and each not in _TESTS for each in now))
    ):
        return None
    within = all(any(holds(place, each) for place in before) for each in now)
    return " ".join(sorted(now)) if within else None


def _places(command: Command) -> set[str]:
    """Return what a command is given to look at, its program and subcommand aside."""
    words = split_shell(command.text)
    at = next((at for at, word in enumerate(words) if word.rpartition("/")[2] in PROGRAMS), 0)
    rest = [word.strip("{}").rstrip("/") or word for word in words[at + 1 :] if not word.startswith(("-", "$", "{"))]
    return {*rest} - {"check", "run"}
