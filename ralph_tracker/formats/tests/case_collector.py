"""The cases of a test report: their ids and shortened messages, collected one by one, and the declared counts.

An id is `suite::…::class::name`, built only from the case and its enclosing suites, so that no other test can change
it:

- the class is the attribute `classname`, else `class`; without one the id has no class;
- a suite is included, outermost first, if it adds information: not if it has no name, is called `pytest`, repeats
  the suite before it, is a part of the class (`tests.box` in `tests.box.TestLid`), is the class with a suffix
  (`TestLid-20261121103000`), or is the absolute path of a file while the case has a class;
- if a report names files instead (`file::name`), an absolute path becomes relative to the folder in which the tests
  ran; of one outside that folder, only the last part is used;
- a case without a name is called `(unnamed)`; addresses in names (`<Lid object at 0x7f…>`) are removed;
- a second test of the same id in one file is `id#2`, the next `id#3`, in the order of the file, but one that failed
  has the id without a number, wherever it stands.
"""

import math
import re
from collections.abc import Container, Iterable, Mapping
from textwrap import dedent
from typing import Any, Final

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, quantity
from ralph_tracker.formats.first_error import first_error
from ralph_tracker.formats.parsed_report import MAX_FAILURES, Counts, DeclaredCounts, TestReport, both
from ralph_tracker.formats.report_content import attribute_count, plain, plausible
from ralph_tracker.short_text import first_few

SEPARATOR: Final = "::"
UNNAMED: Final = "(unnamed)"
ADDRESS: Final = " at 0x"
_ADDRESS: Final = re.compile(ADDRESS + "[0-9a-fA-F]+")
_ABSOLUTE: Final = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")
_JOINTS: Final = re.compile(r"[\\/:.\s]+")
LINES: Final = 12
CHARACTERS: Final = 600
_WIDTH: Final = 80

_PYTEST: Final = re.compile(r"E(?: {3}|$)")
_PLACE: Final = re.compile(r"\S+\.\w+:\d+(?::\d+)?$")
_PYTEST_PLACE: Final = re.compile(r"[^\s:]+:\d+: \w+$")
_COLOUR: Final = re.compile(r"\[(?:\d+;)*\d+m")  # the rest of a colour in XML, which cannot hold its first character
_PANIC: Final = re.compile(r"thread .* panicked at (?P<place>\S+\.rs:\d+:\d+):$")
_FRAME: Final = re.compile(r"\s*(?:at |❯ |\d+: |\.\.\. \d+ more|# (?:\./|/))")
_LIBRARY: Final = re.compile(
    r"node_modules|node:[a-z]|\(<anonymous>\)$|at (?:new Promise|process\.)"
    r"|at (?:java\.|jdk\.|sun\.|org\.junit|junit\.|org\.opentest4j|org\.testng|org\.gradle|org\.apache\.maven)"
    r"|at org\.(?:hamcrest|assertj)"
)
_STATE_OF_GO: Final = re.compile(r" *(?:=== (?:RUN|PAUSE|CONT|NAME) |--- FAIL: )")
# Written by runners if there is no message.
_SAYS_NOTHING: Final = frozenset({"", "Failed", "failed", "failure", "collection failure", "null"})
ERROR: Final = "error"  # failed other than by an assertion: set-up, tear-down, collection, a crash
_NAMED: Final = 5
FAILED_AS_A_WHOLE: Final = "failed as a whole"
NOT_SAID: Final = "it says not why"


def id_prefix(suites: Iterable[str], owner: str) -> str:
    """Return the prefix of the names of tests in that class (`owner`, "" for none) and those suites."""
    parts: list[str] = []
    for suite in suites:
        if suite not in parts[-1:] and _adds_information(suite, owner):
            parts.append(suite)
    if owner:
        parts.append(owner)
    return "".join(part + SEPARATOR for part in parts)


def case_id(owner: str, name: str) -> str:
    """Return the id of a test in one suite, class or file; the owner is omitted if the name repeats it."""
    name = name or UNNAMED
    repeated = name.startswith(owner) or f".{owner}" in name
    return name if repeated or _ABSOLUTE.match(owner) else f"{owner}{SEPARATOR}{name}"


def file_name(path: str, folders: Iterable[str] = ()) -> str:
    """Return a file name that is the same on every machine: relative, with `/`.

    An absolute one is made relative to the first of the folders that it is in; in none, its last part is returned.
    """
    path = path.replace("\\", "/")
    inner = next((path.removeprefix(folder) for folder in folders if path.startswith(folder)), "")
    if inner:
        return inner
    return path.rpartition("/")[2] if _ABSOLUTE.match(path) else path.removeprefix("./")


def steady(name: str) -> str:
    """Return the name without addresses of objects, which differ from run to run."""
    return _ADDRESS.sub(ADDRESS + "…", name)


class Ordinals(dict[str, int]):
    """Assign `#2`, `#3` … within one file, in constant time each: it has the last number of each id."""

    def next(self, case: str, taken: Container[str]) -> str:
        """Return the id with the first free ordinal."""
        number = self.get(case, 1) + 1
        while f"{case}#{number}" in taken:
            number += 1
        self[case] = number
        return f"{case}#{number}"


def _adds_information(suite: str, owner: str) -> bool:
    if not suite or suite == "pytest":
        return False
    if not owner:
        return True
    if _ABSOLUTE.match(suite) or suite.startswith(f"{owner}-"):
        return False
    return f" {_words(suite)} " not in f" {_words(owner)} "


def _words(name: str) -> str:
    return _JOINTS.sub(" ", name).strip()


class CaseCollector:
    """The cases of one report in its order; a second test of the same id gets an ordinal."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self._durations: dict[str, float] = {}
        self._in_error: set[str] = set()
        self._rerun: set[str] = set()
        self._flaky: set[str] = set()
        self._broken: set[str] = set()
        self._messages: dict[str, str] = {}
        self._not_loaded: dict[str, str] = {}
        self._not_run = 0
        self._ordinals = Ordinals()
        self._differing: list[str] = []

    @property
    def failed(self) -> int:
        """Return how many failed, including errors."""
        return sum(outcome == FAILED for outcome in self.outcomes.values())

    def add(
        self,
        case: str,
        outcome: str,
        seconds: float | None = None,
        *,
        rerun: bool = False,
        flaky: bool = False,
        said: str | None = None,
    ) -> None:
        """Add a case that passed, failed, was skipped or ended in ERROR; invalid `seconds` are dropped.

        `said` is the report's full text about a failure.
        """
        case = steady(case)
        if case in self.outcomes:
            case = self._another(case, FAILED if outcome == ERROR else outcome)
        self.outcomes[case] = FAILED if outcome == ERROR else outcome
        if outcome == ERROR:
            self._in_error.add(case)
        if said and outcome in (FAILED, ERROR) and len(self._messages) < MAX_FAILURES and (short := message(said)):
            self._messages[case] = short
        if seconds is not None and 0 <= seconds < math.inf:
            self._durations[case] = float(seconds)
        if rerun:
            self._rerun.add(case)
        if flaky:
            self._flaky.add(case)

    def _another(self, case: str, outcome: str) -> str:
        """Return the id for another test of the same id; one that failed takes the id itself."""
        other = self._ordinals.next(case, self.outcomes)
        if (self.outcomes[case] == FAILED) != (outcome == FAILED):
            self._differing.append(case)
        if outcome != FAILED or self.outcomes[case] == FAILED:
            return other
        give_id(other, case, (self._durations, self._messages), (self._in_error, self._rerun, self._flaky))
        self.outcomes[other] = self.outcomes[case]
        return case

    def add_broken(self, name: str, said: str | None = None) -> None:
        """Add something that failed but is not a completed test; `said` as in `add`."""
        name = steady(name)
        self._broken.add(name)
        if said and len(self._messages) < MAX_FAILURES and (short := message(said)):
            self._messages[name] = short

    def add_not_loaded(self, place: str, said: str) -> None:
        """Add a file, package or suite whose tests could not be collected, with the tool's message."""
        if place not in self._not_loaded and len(self._not_loaded) < MAX_FAILURES:
            self._not_loaded[place] = why_not_loaded(said)

    def leave_out(self, count: int = 1) -> None:
        """Count tests that are listed, or planned, and were not run, since the run stopped before them."""
        self._not_run += count

    def report(
        self,
        declared: DeclaredCounts | None = None,
        *,
        contradiction: str | None = None,
        note: str | None = None,
        unnamed: Counts | None = None,
        skipped_lines: int = 0,
    ) -> TestReport:
        """Return the report of the cases and its own declarations. Raises DamageError for absurdly many `unnamed`."""
        if unnamed is not None:
            plausible(unnamed.tests, "tests")
        unlisted = 0 if declared is None else (declared.failures or 0) + (declared.errors or 0)
        failed = self.failed + len(self._broken) + (0 if unnamed is None else unnamed.failed + unnamed.errors)
        if unlisted > 0 and not failed:
            self.add_broken(WHOLE_RUN, lists_none(unlisted))
        if self._not_run:
            self._not_loaded.setdefault(STOPPED_RUN, not_run(self._not_run))
        return TestReport(
            outcomes=self.outcomes,
            durations=self._durations,
            in_error=frozenset(self._in_error),
            rerun=frozenset(self._rerun),
            flaky=frozenset(self._flaky),
            declared=declared or DeclaredCounts(),
            contradiction=contradiction,
            note=both(note, both(outside_of_tests(self._broken), listed_twice(self._differing))),
            unnamed=unnamed or Counts(),
            broken=frozenset(self._broken),
            skipped_lines=skipped_lines,
            messages=self._messages,
            not_loaded=self._not_loaded,
        )


def give_id(new: str, old: str, values: Iterable[dict[str, Any]], sets: Iterable[set[str]]) -> None:
    """Move what is known of a test by one id to another id."""
    for each in values:
        if old in each:
            each[new] = each.pop(old)
    for names in sets:
        if old in names:
            names.remove(old)
            names.add(new)


def outside_of_tests(broken: Iterable[str]) -> str | None:
    """Return the note on what failed outside of tests, None for nothing."""
    names = sorted(broken)
    return f"failed outside of its tests: {', '.join(names[:_NAMED])}" if names else None


def listed_twice(tests: Iterable[str]) -> str | None:
    """Return the note on tests of one name with different outcomes, None without any."""
    names = sorted(set(tests))
    return f"listed with different outcomes, of which the worst counts: {first_few(names, _NAMED)}" if names else None


def not_run(count: int) -> str:
    """Return the sentence on a run that stopped early, of whose tests so many were not run."""
    return f"the run stopped before {quantity(count, 'test')}, so what is missing was not run"


def lists_none(declared: int) -> str:
    """Return what is wrong with a report that declares failures, or errors, and lists none."""
    return f"the report declares {quantity(declared, 'failure')} and lists none"


def message(said: str | None, text: str = "") -> str:
    """Return the assertion's message and where it failed: at most 12 lines and 600 characters, "" for none.

    `said` is the report's short message, `text` the longer one: of that, only lines that add something are used,
    without the source code that pytest shows, and of stack frames only the project's first.
    """
    said, text = _COLOUR.sub("", plain(said or "")).strip("\r\n"), plain(text).strip("\r\n")
    if "ERR_TEST_FAILURE" in text and said.strip() not in _SAYS_NOTHING:
        said, text = _of_node(said, text)
    telling = _failure_lines([line for line in text.splitlines() if not _STATE_OF_GO.match(line)])
    if said.strip() not in _SAYS_NOTHING and "".join(said.split()) not in "".join(text.split()):
        telling = [*said.splitlines(), *(line for line in telling if line.strip() and line.strip() not in said)]
    return _cut(_panic_last(_one_frame([line.rstrip() for line in telling])))


def _of_node(said: str, dump: str) -> tuple[str, str]:
    """Return the message of node with its line ends, and with its first frame: it dumps the error and its cause.

    In XML the message is an attribute, which cannot hold line ends.
    """
    frames = [line.removesuffix(" {") for line in dump.splitlines() if _FRAME.match(line) and not _LIBRARY.search(line)]
    begins = dump.partition("[ERR_TEST_FAILURE]: ")[2]
    whole = re.split(r"\] \{$|^ +at ", begins, maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    said = whole if "".join(whole.split()) == "".join(said.split()) else said
    return said, "\n".join([said, *frames[:1]])


def _failure_lines(lines: list[str]) -> list[str]:
    """Return the lines about the failure: pytest's `E` lines and place, a traceback from its last frame on."""
    marked = [line[4:].rstrip() for line in lines if _PYTEST.match(line)]
    if marked:
        return dedent("\n".join(marked)).splitlines() + [line for line in lines if _PYTEST_PLACE.match(line)][-1:]
    if "Traceback (most recent call last):" in lines:
        frames = [index for index, line in enumerate(lines) if line.startswith('  File "')]
        return lines[frames[-1] if frames else 0 :]
    return lines


def _panic_last(lines: list[str]) -> list[str]:
    """Return the lines with the place of a panic of Rust after its message, and nothing about backtraces."""
    at = next((index for index, line in enumerate(lines) if _PANIC.match(line)), None)
    panic = None if at is None else _PANIC.match(lines[at])
    if at is None or panic is None:
        return lines
    below = [line for line in lines[at + 1 :] if not line.startswith(("note: run with", "stack backtrace:"))]
    return [*lines[:at], *below, panic["place"]]


def _one_frame(lines: list[str]) -> list[str]:
    """Return the lines with only the first stack frame that is the project's."""
    found, seen = [], False
    for line in lines:
        if _FRAME.match(line):
            if seen or _LIBRARY.search(line):
                continue
            seen = True
        found.append(line)
    return found


def _cut(lines: list[str]) -> str:
    """Shorten to the limits so that both sides of a difference show; keep pytest's last line.

    What a unified diff leaves unchanged goes first, then what stands in the middle, of the text and of long lines.
    """
    place = lines[-1] if lines and _PYTEST_PLACE.match(lines[-1]) else ""
    kept = dedent("\n".join(lines[:-1] if place else lines)).strip("\n").splitlines()
    room, most = CHARACTERS - len(place) - bool(place), LINES - bool(place)
    if len(kept) > most:
        kept = _without_context(kept)
    if len(kept) > most:
        kept = [*kept[: most // 2], "…", *kept[len(kept) - (most - most // 2 - 1) :]]
    long = [line for line in kept if len(line) > _WIDTH]
    if long and len("\n".join(kept)) > room:
        left = room - len("\n".join(line for line in kept if line not in long))
        kept = [_middle_out(line, max(_WIDTH, left // len(long) - 1)) for line in kept]
    return "\n".join(filter(None, (_middle_out("\n".join(kept), room), place)))


def _without_context(lines: list[str]) -> list[str]:
    """Return the lines without those that a unified diff repeats unchanged around a change."""
    heads = ("@@", "+ actual - expected")  # the second is node's
    begins = next((index for index, line in enumerate(lines) if line.startswith(heads)), None)
    if begins is None:
        return lines
    changed = [index for index in range(begins, len(lines)) if lines[index].startswith(("+", "-", "@@"))]
    places = [line for line in lines[changed[-1] + 1 :] if _FRAME.match(line) or _PLACE.match(line)]
    return [*lines[:begins], *(lines[index] for index in changed), *places]


def _middle_out(text: str, room: int) -> str:
    """Return the text, of a longer one its beginning and its end."""
    if len(text) <= room:
        return text
    return f"{text[: room // 2 - 1].rstrip()} … {text[-(room - room // 2 - 2) :].lstrip()}"


def why_not_loaded(said: str) -> str:
    """Return the first error line of a tool's message about a file it could not load, else its first line."""
    found = first_error(said)
    return found.line if found else (message(said).splitlines() or [NOT_SAID])[0]


def seconds(text: str | None) -> float | None:
    """Return a duration in seconds, with a decimal point or comma; None if it is not a number."""
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return None


def first_count(attributes: Mapping[str, str], *keys: str) -> int | None:
    """Return the first of these attributes that is present as a count; None without one, or if it is not a count."""
    return next((attribute_count(attributes, key) for key in keys if key in attributes), None)


def contradiction(
    declared: DeclaredCounts, cases: CaseCollector, also: Iterable[int] = (), *, failures_elsewhere: int = 0
) -> str | None:
    """Return how the declared counts differ from the cases, None if they agree.

    `also` are other acceptable numbers of tests, `failures_elsewhere` declared failures that are not tests.
    """
    found = len(cases.outcomes)
    wrong = impossible(declared, found + failures_elsewhere)
    if wrong is not None:
        return wrong
    if declared.tests is not None and found not in (declared.tests, *also):
        return unlike("tests", declared.tests, found)
    bad = (declared.failures or 0) + (declared.errors or 0) - failures_elsewhere
    return unlike("failures and errors", bad, 0) if bad > 0 and not cases.failed else None


def impossible(declared: DeclaredCounts, room: int) -> str | None:
    """Return which declared count cannot be true, None if all can: one below zero, or more bad tests than `room`."""
    for name, number in declared._asdict().items():
        if number is not None and number < 0:
            return f"declared {name}: {number}"
    bad = max(declared.failures or 0, declared.errors or 0)
    return f"declared failures: {bad}, found tests: {room}" if bad > room else None


def unlike(what: str, declared: int, found: int) -> str:
    """Return a line that compares a declared number with the number found."""
    return f"declared {what}: {declared}, found: {found}"
