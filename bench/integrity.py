"""Measure what comparing an iteration with the one before takes: all rules together, in process, and their imports.

The project has 1,000 files of about 100 lines, of which 12 source files and 8 test files change, a few lines each; in
the other row every test of the 8 files changed. The least of several rounds counts, and no row or round sees a text
of another. The limits are the specification's, in milliseconds; beside each stands how many times its floor a figure
is, which tells a slow machine from slow rules: `ast.parse` of both sides of the changed files, and for imports, which
are what a first comparison takes beyond a second, a Python that does nothing.

    python bench/integrity.py [--files N] [--rounds N]
"""

import argparse
import ast
import gc
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from table import Table, floor_cpu

from ralph_tracker.integrity.changes import FileChange, Side
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import examine
from ralph_tracker.integrity.matching import matches
from ralph_tracker.integrity.suppressions import net

SOURCES, TESTS, PER_FILE = 12, 8, 10
LIMIT_MS = 100
IMPORTS_MS = {"source": 15, "tests": 40}
STARTS = 7
HEADER = '"""Part {n} of the shop: {words}."""\n\nimport logging\nimport os\nfrom dataclasses import dataclass\n\n'
WORDS = ("order", "basket", "price", "stock", "parcel", "refund", "voucher", "invoice", "customer", "supplier")
FUNCTION = '''
def {word}_total_{n}(items, rate={k}, *, limit=None):
    """Return the total of the {word}s at a rate."""
    total = 0
    for item in items:
        if item.kind == "{word}" and item.amount > {k}:
            total += round(item.amount * rate, 2)
        elif limit is not None and total > limit:
            logging.warning("too many %s", item)
            break
'''
RETURN = "    return total + {n}\n"
TEST = """
{mark}def test_{word}_total_{name}({given}):
    items = [Item("{word}", amount) for amount in (1, {n}, {k})]
    total = {word}_total_{n}(items, rate=2)
    assert total == {expected}
    assert len(items) == 3
    with pytest.raises(ValueError, match="{word}"):
        {word}_total_{n}(None, limit={k})
"""
MARK = '@pytest.mark.parametrize("size", [1, 2, {n}])\n'


def source(number: int, turn: int, *, edited: bool) -> str:
    """Write a source file; where it is edited, one function asks for more, and another one adds in another way."""
    parts = [HEADER.format(n=number * 7919 + turn, words=", ".join(WORDS))]
    for at, word in enumerate(WORDS[: PER_FILE - 1]):
        n = number * PER_FILE + at
        parts.append(FUNCTION.format(word=word, n=n, k=at + 3))
        if edited and at == number % PER_FILE:
            parts.append(f"    if os.sep in items and total > {turn + 40}:\n        total -= rate\n")
        parts.append("    return sum([total, rate])\n" if edited and at == 1 else RETURN.format(n=n + turn))
    return "".join(parts)


def tests_in(number: int, turn: int, edited: str) -> str:
    """Write a test file; `few`: a value, an assertion and a name changed and a test came; `all`: every test did."""
    parts = [f'"""Tests of part {number * 7919 + turn}."""\n\nimport pytest\n\nfrom shop.part{number} import *\n']
    for at, word in enumerate(WORDS):
        n = number * PER_FILE + at
        mark, given = (MARK.format(n=n), "size") if at % 4 == 0 else ("", "tmp_path")
        changed = edited == "all" or (edited == "few" and at == 2)
        name = n + 100_000 if edited and at == 5 else n
        expected = n * 2 + turn + changed
        text = TEST.format(word=word, n=n, name=name, k=at + 3, mark=mark, given=given, expected=expected)
        parts.append(text + ("    assert items[0].amount == 1\n" if changed or (edited and at == 7) else ""))
    if edited:
        parts.append("\ndef test_nothing_is_free():\n    assert order_total_0([], rate=9) == 0\n")
    return "".join(parts)


def changes_of(turn: int, how: str) -> list[FileChange]:
    """Return 20 changed files: `few` and `all` tests of 8 of them, or of none (`source`)."""
    sources = SOURCES if how != "source" else SOURCES + TESTS
    found = [
        FileChange(f"shop/part{n}.py", source(n, turn, edited=False).encode(), source(n, turn, edited=True).encode())
        for n in range(sources)
    ]
    for n in range(SOURCES + TESTS - sources):
        old, new = tests_in(n, turn, ""), tests_in(n, turn, how)
        found.append(FileChange(f"tests/test_part{n}.py", old.encode(), new.encode()))
    return found


def outcomes_of(changes: list[FileChange], files: int) -> Outcomes:
    """Return how the tests ended, by ids as pytest reports them: of the changed files, and of all others."""
    others = {f"tests.test_other{n}::test_{word}_{n}": "passed" for n in range(files // 3) for word in WORDS}
    sides = ((change.old for change in changes), (change.new for change in changes))
    return Outcomes(*({**others, **dict.fromkeys(ids_in(changes, side), "passed")} for side in sides))


def ids_in(changes: list[FileChange], texts: Iterator[bytes | None]) -> Iterator[str]:
    for change, text in zip(changes, texts, strict=True):
        names = (line for line in (text or b"").decode().split("\n") if line.startswith("def test_"))
        for name in names:
            function = name.removeprefix("def ").partition("(")[0]
            for end in ("[1]", "[2]", "[3]") if "size" in name else ("",):
                yield f"{change.path[:-3].replace('/', '.')}::{function}{end}"


def compare(changes: list[FileChange], outcomes: Outcomes, project: dict[str, str]) -> None:
    """Do what an iteration does with its changed files."""

    def around(words: frozenset[str]) -> Iterator[Side]:
        for path, text in project.items():
            if any(word in text for word in words):
                yield Side(path, text)

    examined = examine(changes, outcomes, around=around)
    assert not examined.unread, examined.unread
    gone, added = outcomes.before.keys() - outcomes.after.keys(), outcomes.after.keys() - outcomes.before.keys()
    if gone:
        assert matches(examined.evidence, gone, added), gone
    net(examined.evidence.files)


def spent(act: Callable[[], object]) -> float:
    """Return the CPU milliseconds that a call takes in this process."""
    gc.collect()
    before = time.process_time()
    act()
    return (time.process_time() - before) * 1000


def parse(changes: list[FileChange]) -> None:
    for change in changes:
        for data in (change.old, change.new):
            ast.parse(data or b"")


def first_beyond_second(how: str) -> float:
    """Return the CPU milliseconds that a first comparison takes beyond a further one, the least of each.

    Each first one is in a process of its own. The least of the differences would be what disturbed a further one.
    """
    firsts, others = [], []
    for _ in range(STARTS):
        command = [sys.executable, __file__, "--first", how]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        first, other = map(float, told.split())
        firsts.append(first)
        others.append(other)
    return min(firsts) - min(others)


def tell_first(how: str) -> None:
    """Print what a first comparison takes and the least of some more; this file's own imports are undone."""
    for name in [name for name in sys.modules if name.startswith("ralph_tracker")]:
        del sys.modules[name]
    re.purge()
    import ralph_tracker.core.judge  # noqa: PLC0415
    import ralph_tracker.store.keeping  # noqa: F401, PLC0415  with all that an iteration imports anyway

    work = [changes_of(turn, how) for turn in range(6)]

    def once(changes: list[FileChange]) -> None:
        from ralph_tracker.integrity.examine import examine as ask  # noqa: PLC0415

        ask(changes)

    first, *others = [spent(lambda each=each: once(each)) for each in work]
    print(first, min(others))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--first", choices=("few", "source"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        tell_first(options.first)
        return 0
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: with bytecode on disk
    table = Table()
    project = {f"tests/test_other{n}.py": tests_in(n + 100, 0, "") for n in range(options.files // 3)}
    names = {"few": "a few lines each", "all": "every test of 8 test files", "source": "20 source files, no test"}
    for row, (how, what) in enumerate(names.items()):
        taken, floor = [], []
        for turn in range(row * options.rounds, (row + 1) * options.rounds):
            changes = changes_of(turn, how)
            outcomes = outcomes_of(changes, options.files)
            floor.append(spent(lambda changes=changes: parse(changes)))
            taken.append(spent(lambda changes=changes, outcomes=outcomes: compare(changes, outcomes, project)))
        ratio = min(taken) / min(floor)
        table.row(
            f"all rules, 20 of {options.files} files changed, {what}: {ratio:.1f} x ast.parse ({min(floor):.0f} ms)",
            f"{min(taken):.0f} ms CPU",
            f"{LIMIT_MS} ms",
            held=min(taken) <= LIMIT_MS,
        )
    python = floor_cpu(Path.cwd()) * 1000
    for how, limit in IMPORTS_MS.items():
        figure = first_beyond_second("few" if how == "tests" else how)
        what = f"imports of integrity, 20 changed {how}: {figure / python:.1f} x python -c pass ({python:.0f} ms)"
        table.row(what, f"{figure:.1f} ms CPU", f"{limit} ms", held=figure <= limit)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
