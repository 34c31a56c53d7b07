"""Clocks that were put in place where tests failed before and pass now, and nothing else of a test changed."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.clocks import frozen_anew, frozen_for_all
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable

_CLOCK: Final = Pattern(
    r"freeze_time|\bfreezer\b|\btravel\(|((patch|setattr)\b.*|^\s*)\b(time|perf_counter|monotonic|datetime|date)\b",
    re.MULTILINE,
    words=("time", "freez", "travel", "perf_counter", "monotonic", "date"),
)
_PUTS: Final = Pattern(
    r"freez|travel\(|patch|setattr|^time\.\w+ *=[^=]", words=("freez", "travel", "patch", "setattr", "time.")
)
# Who waits for nothing has quicker tests, and no others.
_WAITING: Final = "sleep"


class Stopped(NamedTuple):
    """Hold a clock that something was put in the place of; `decides` where a test that it reaches passes since then.

    `test` is None where it is stopped for every test of a file or folder.
    """

    why: str
    text: str
    decides: bool
    test: SourceTest | None = None
    ids: tuple[str, ...] = ()


def stopped_for_all(file: ChangedFile, evidence: Evidence) -> Iterator[Stopped]:
    """Yield the clocks that a file stops for every test since some test passes that failed before."""
    if file.new is None or not evidence.any_began_to_pass:
        return
    decides = evidence.any_began_below(file.path.removesuffix("conftest.py"))
    try:
        if frozen_anew(None if file.old is None else file.old.text, file.new.text):
            for name in sorted(each for each in frozen_for_all(file.new.text) if not each.endswith(_WAITING)):
                yield Stopped(f"the clock {name} is replaced for every test", name, decides)
    except Unparsable:
        return


def stopped_in_test(pair: TestPair, evidence: Evidence) -> Iterator[Stopped]:
    """Yield the clock that is all that is new in a test that failed before and passes now."""
    if pair.new is None or pair.old is None or not _CLOCK.search(pair.new.text) or not evidence.began_to_pass(pair):
        return
    old, new = ([line.strip() for line in each.text.split("\n")] for each in (pair.old, pair.new))
    if any(line not in new and not line.startswith(("def ", "async def ")) for line in old):
        return
    sets = [line for line in new if line not in old and _is_put(line)]
    if sets:
        why = "the test passes since a clock is replaced in it"
        yield Stopped(why, sets[0], decides=True, test=pair.new, ids=evidence.ids_of(pair.new))


def _is_put(line: str) -> bool:
    return _WAITING not in line and _CLOCK.search(line) is not None and _PUTS.search(line) is not None
