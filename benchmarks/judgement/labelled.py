"""Read labelled loops: the measurements of every iteration, and a reader's labels."""

import gzip
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

FACTS: Final = "iterations.jsonl"
PACKED: Final = "iterations.jsonl.gz"
LABELS: Final = "labels.yaml"
_REGRESSION: Final = re.compile(
    r"(?<!\bno )(?<!\bnot )(?<!\bnot a )(?<!\bwithout )(?<!\bwithout a )\bregressions?\b|\bsilent-test-loss\b",
    re.IGNORECASE,
)
_REMOVAL: Final = re.compile(r"\bhonest-removal\b", re.IGNORECASE)
_EVENT: Final = re.compile(r"^(\s*- \{iterations: [^{}]*?, kind: ')(.*)(', note: )", re.MULTILINE)
_SPAN: Final = re.compile(r"(\d+)(?:\s*(?:-|–|to)\s*(\d+))?")


class Event(NamedTuple):
    """A reader's remark on some iterations; `kind` is free text."""

    iterations: tuple[int, ...]
    kind: str
    note: str

    @property
    def is_regression(self) -> bool:
        """Return whether the kind says regression or silent-test-loss, and not "no" or "not a" before it."""
        return _REGRESSION.search(self.kind) is not None

    @property
    def is_removal(self) -> bool:
        """Return whether the kind says honest-removal: tests removed together with what they tested."""
        return _REMOVAL.search(self.kind) is not None


class Labels(NamedTuple):
    """A reader's judgement; `stop` is the iteration after which a person would have stopped the loop.

    `regressions` and `removals` (tests removed together with what they tested) are those of their keys and of the
    events. New tests of `red_on_arrival` fail from the start. A rollback is due at `right_rollbacks`. `repository` is
    an owner/name, `range` the revisions of the loop; "" where unknown.
    """

    peak: int
    acceptable: frozenset[int]
    stop: int
    why: str
    events: tuple[Event, ...]
    regressions: frozenset[int]
    removals: frozenset[int]
    red_on_arrival: frozenset[int]
    right_rollbacks: frozenset[int]
    repository: str
    range: str

    @property
    def named(self) -> frozenset[int]:
        """Return every iteration that the labels name."""
        of_events = (number for event in self.events for number in event.iterations)
        return self.acceptable | self.red_on_arrival | self.right_rollbacks | {
            self.peak, self.stop, *self.regressions, *self.removals, *of_events
        }  # fmt: skip


class Fact(NamedTuple):
    """One iteration as measured; `tests` (id to outcome) is None if only counts are known."""

    iteration: int
    commit: str
    metrics: Mapping[str, Any]
    tests: Mapping[str, str] | None

    @property
    def given(self) -> dict[str, Any]:
        """Return the metrics to hand in."""
        if self.tests is None:
            return dict(self.metrics)
        tests = [{"id": name, "outcome": outcome} for name, outcome in self.tests.items()]
        return {**self.metrics, "tests": tests}

    @property
    def passing(self) -> frozenset[str]:
        """Return the tests that pass; empty if names are unknown."""
        return frozenset(name for name, outcome in (self.tests or {}).items() if outcome == "passed")

    @property
    def failing(self) -> frozenset[str]:
        """Return the tests that fail or whose setup or teardown fails."""
        return frozenset(name for name, outcome in (self.tests or {}).items() if outcome in {"failed", "error"})

    @property
    def passed(self) -> int:
        """Return how many tests pass."""
        return self._counted("tests_passed") if self.tests is None else len(self.passing)

    @property
    def failed(self) -> int:
        """Return how many tests fail."""
        return self._counted("tests_failed") if self.tests is None else len(self.failing)

    @property
    def reported(self) -> int:
        """Return how many tests there are."""
        return self._counted("test_count") if self.tests is None else len(self.tests)

    def _counted(self, name: str) -> int:
        return int(self.metrics.get("testing", {}).get(name) or 0)


class Loop(NamedTuple):
    """A labelled loop, its baseline first; `retired` are the tests that were honestly removed."""

    name: str
    facts: tuple[Fact, ...]
    labels: Labels
    retired: frozenset[str] = frozenset()

    def standing(self, fact: Fact) -> Fact:
        """Return an iteration without the tests that were honestly removed in it or later."""
        if fact.tests is None or not self.retired:
            return fact
        return fact._replace(tests={name: out for name, out in fact.tests.items() if name not in self.retired})


def loops_in(folder: Path, names: Sequence[str] = ()) -> list[Loop]:
    """Return the labelled loops in a folder, or the folder's own, by name. Exits with a message if one is bad."""
    homes = [folder] if (folder / LABELS).is_file() else sorted(path.parent for path in folder.glob(f"*/{LABELS}"))
    unknown = set(names) - {home.name for home in homes}
    if unknown or not homes:
        wanted = ", ".join(sorted(unknown)) or f"with a {LABELS}"
        sys.exit(f"{folder}: no loop {wanted}; there are {', '.join(home.name for home in homes) or 'none'}")
    return [_loop(home) for home in homes if not names or home.name in names]


def _loop(home: Path) -> Loop:
    try:
        facts = tuple(facts_of(home))
        labels = labels_of(_read((home / LABELS).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        sys.exit(f"{home}: {type(error).__name__}: {error}")
    known = {fact.iteration for fact in facts}
    if sorted(known) != list(range(len(facts))) or not labels.named <= known:
        sys.exit(f"{home}: iterations are {sorted(known)}, labels name {sorted(labels.named - known)} beside them")
    pairs = ((facts[number - 1].tests or {}, facts[number].tests or {}) for number in labels.removals if number)
    return Loop(
        home.name, facts, labels, frozenset(name for before, now in pairs for name in before if name not in now)
    )


def _read(text: str) -> Any:
    """Return the content of YAML; apostrophes in an event's kind need not be doubled. Raises YAMLError."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return yaml.safe_load(_EVENT.sub(lambda found: found[1] + found[2].replace("'", "''") + found[3], text))


def facts_of(home: Path) -> Iterator[Fact]:
    """Yield the iterations of a loop; a line with `gone` only has the differences from the previous line."""
    packed = home / PACKED
    data = gzip.decompress(packed.read_bytes()) if packed.is_file() else (home / FACTS).read_bytes()
    tests: dict[str, str] | None = None
    for line in data.decode().splitlines():
        row = json.loads(line)
        if "gone" in row:
            left = {name: outcome for name, outcome in (tests or {}).items() if name not in row["gone"]}
            tests = left | row["tests"]
        else:
            tests = row.get("tests")
        yield Fact(row["iteration"], row.get("commit", ""), row["metrics"], tests)


def packed(facts: Sequence[Fact]) -> bytes:
    """Return the facts as stored here: each line has the differences from the previous one; reproducibly."""
    lines, before = [], None
    for fact in facts:
        row: dict[str, Any] = {"iteration": fact.iteration, "commit": fact.commit, "metrics": fact.metrics}
        tests = fact.tests
        if tests is not None and before is not None:
            row["tests"] = {name: outcome for name, outcome in tests.items() if before.get(name) != outcome}
            row["gone"] = [name for name in before if name not in tests]
        elif tests is not None:
            row["tests"] = tests
        lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        before = tests
    return gzip.compress("\n".join([*lines, ""]).encode(), mtime=0)


def labels_of(raw: Mapping[str, Any]) -> Labels:
    """Return the labels; only `acceptable` is required."""
    acceptable = numbers_of(raw["acceptable"])
    peak = int(raw.get("peak", max(acceptable)))
    events = tuple(
        Event(numbers_of(each["iterations"]), str(each.get("kind", "")), str(each.get("note") or ""))
        for each in raw.get("events") or ()
    )
    keys = ("regressions", "honest_removals", "red_on_arrival", "right_rollbacks")
    listed = {key: frozenset(numbers_of(raw.get(key) or ())) for key in keys}
    return Labels(
        peak=peak,
        acceptable=frozenset(acceptable),
        stop=int(raw.get("stop", peak)),
        why=str(raw.get("why", "")),
        events=events,
        regressions=listed["regressions"].union(*(each.iterations for each in events if each.is_regression)),
        removals=listed["honest_removals"].union(*(each.iterations for each in events if each.is_removal)),
        red_on_arrival=listed["red_on_arrival"],
        right_rollbacks=listed["right_rollbacks"],
        repository=str(raw.get("repository") or ""),
        range=str(raw.get("range") or ""),
    )


def numbers_of(raw: Any) -> tuple[int, ...]:
    """Return the iterations in 4, '4-6', '7,9,16-18' or a list of such."""
    if isinstance(raw, Sequence) and not isinstance(raw, str):
        return tuple(number for each in raw for number in numbers_of(each))
    spans = _SPAN.findall(str(raw))
    if not spans:
        raise ValueError(f"no iteration in {raw!r}")
    return tuple(number for first, last in spans for number in range(int(first), int(last or first) + 1))
