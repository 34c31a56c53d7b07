"""T10: objects equal to everything, subjects that the test replaced, clocks that stand still."""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.borrowing import equal_in, equal_names, lent_in, replaced_by_shared
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.deeds import bare, does_otherwise
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.fresh import fresh
from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.claims import OF_ITSELF, SET, Claim, is_alike, is_told
from ralph_tracker.integrity.python.clocks import clocks_set_in, frozen_anew
from ralph_tracker.integrity.python.facts import Fact, fact, told
from ralph_tracker.integrity.python.hiding import hidden_in, made_relative
from ralph_tracker.integrity.python.nodes import imports_of
from ralph_tracker.integrity.python.replacing import replaced_for_all
from ralph_tracker.integrity.python.surroundings import changed_around, concerns
from ralph_tracker.integrity.python.syntax import program
from ralph_tracker.integrity.relevance import defines_equal, sets_clock
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable
from ralph_tracker.integrity.stopping import Stopped, stopped_for_all, stopped_in_test
from ralph_tracker.integrity.unchanged import told_of_unchanged

_RULE: Final = "T10"
_STANDING_IN: Final = ("Mock", "stub(", "create_autospec", "ANY", "nything", "nyThing")
_REPLACES: Final = Pattern(
    r"\bpatch\b|Mock|set(attr|item)|globals\(|\bstub\(|create_autospec|\bANY\b|[Aa]ny[Tt]hing|=\s*lambda",
    words=("patch", "setattr", "setitem", "globals(", "lambda", *_STANDING_IN),
)
_OTHER_WAYS: Final = Pattern(
    r"\bpatch\b|set(attr|item)|modules|freeze[_r]|travel\(|\bclass \w+\(|getattr",
    words=("patch", "setattr", "setitem", "modules", "freeze", "travel(", "class ", "getattr"),
)
_PUTTING: Final = Pattern(r"[.=](?:(?<=\w\.)\w+ *=|(?<=\.)update\(|(?<==) *\{)")
_STANDS_FOR: Final = Pattern(
    r"Mock|lambda|\bstub\(|Namespace|create_autospec|\bdef \w+\(.*\):\s+return", words=("fixture",)
)
_FOR_ALL: Final = Pattern(
    r"autouse|^\s*[\w.]+\.\w+\s*=\s*\w|\bsetattr\(|\bpatch(\.object)?\(",
    re.MULTILINE,
    words=("autouse", "lambda", "Mock(", "setattr(", "patch", "def pytest_", "return"),
)
_SUPPLANTS: Final = Pattern(
    r"^\s*test\w*(\.__code__)?\s*=[^=]|^\s*@[\w.]+\s*\n\s*(async )?def test", re.MULTILINE, words=("test",)
)
# Suites keep the network and the disk away from their tests in this way.
_OUTSIDE: Final = frozenset(
    {"requests", "urllib3", "httpx", "aiohttp", "boto3", "botocore", "redis", "psycopg2", "openai"}
)


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield what makes comparisons come out equal. Raises Unparsable."""
    if file.new is None or file.language != "python":
        return
    for each in fresh(file, evidence, _equal_classes):
        yield _made(each, file, evidence)
    if file.is_test:
        told = [*_around_tests(file, evidence), *_in_tests(file, evidence)]
        yield from told or (_stopped(each, file) for each in stopped_for_all(file, evidence))
    else:
        yield from (_made(each, file, evidence) for each in fresh(file, evidence, _clocks))


def _around_tests(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield what a file of the tests does for all of them, or for tests elsewhere."""
    if file.new is not None and _FOR_ALL.search(file.new.text):
        yield from (_made(each, file, evidence) for each in fresh(file, evidence, _for_all))
    yield from (_made(each, file, evidence) for each in _doubled(file))
    yield from (_made(each, file, evidence) for each in fresh(file, evidence, _supplanted))
    yield from _of_unchanged(file, evidence)


def _in_tests(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield what the tests of a file ask that cannot come out otherwise."""
    anew = _replaced_anew(file, evidence)
    lent = lent_in(file.new, evidence) - lent_in(file.old, evidence, old=True)
    for pair in evidence.pairs_in(file):
        if anew or _changed(pair, file) or (pair.new is not None and any(each in pair.new.text for each in lent)):
            told = list(_in_test(pair, file, evidence))
            yield from told or (_stopped(each, file) for each in stopped_in_test(pair, evidence))


def _stopped(each: Stopped, file: ChangedFile) -> Finding:
    return finding(
        _RULE,
        Severity.CRITICAL if each.decides else Severity.MEDIUM,
        each.why,
        file.path,
        test=each.test,
        ids=each.ids,
        new=each.text,
    )


def _made(each: Fact, file: ChangedFile, evidence: Evidence) -> Finding:
    certain = evidence.any_began_to_pass and (each.certain or not file.is_test)
    return told(_RULE, each, file.path, certain=certain)


def _of_unchanged(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield what tests ask that began to pass by what a file of fixtures does for them."""
    for each in told_of_unchanged(file, evidence):
        yield finding(
            _RULE,
            Severity.CRITICAL,
            f"{each.why}: `{each.text}`",
            file.path,
            test=each.test,
            ids=evidence.ids_of(each.test),
            new=each.text,
        )


def _equal_classes(side: Side) -> Iterator[Fact]:
    if defines_equal(side.text):
        from ralph_tracker.integrity.python.equal_kinds import equal_to_everything  # noqa: PLC0415  few texts do

        for name, node in equal_to_everything(side.text):
            yield fact(f"{name} is equal to everything", node, certain=False)


def _for_all(side: Side) -> Iterator[Fact]:
    """Yield functions of the project that stand replaced by a constant for every test."""
    if _FOR_ALL.search(side.text):
        for name, still in replaced_for_all(side.text).items():
            root = name.partition(".")[0]
            if still and "." in name and root not in sys.stdlib_module_names | _OUTSIDE:
                yield Fact(f"{name} is replaced for every test", 1, name)


def _clocks(side: Side) -> Iterator[Fact]:
    """Yield the clocks that a source puts something of its own in the place of, for whoever reads them."""
    if sets_clock(side.text):
        for name, node in clocks_set_in(side.text):
            yield fact(f"the clock {name} is replaced by the source", node)


def _supplanted(side: Side) -> Iterator[Fact]:
    """Yield the tests that something else was put in the place of."""
    if _SUPPLANTS.search(side.text):
        from ralph_tracker.integrity.python.supplanted import supplanted_in  # noqa: PLC0415  few texts may

        for name, node in supplanted_in(side.text):
            yield fact(f"{name} is replaced by what does not run it", node)


def _doubled(file: ChangedFile) -> Iterator[Fact]:
    """Yield the fixtures of other files' tests that handed something else out before, and a double now."""
    if file.old is None or file.new is None or not file.path.endswith("conftest.py"):
        return
    if _STANDS_FOR.search(file.new.text):
        from ralph_tracker.integrity.python.claimed import doubles_in, fixed_values  # noqa: PLC0415  for fixtures

        before = program(file.old)
        known = fixed_values(before)
        for name in sorted(doubles_in(file.new.text) - doubles_in(before)):
            if name in known:
                yield Fact(f"the fixture {name} hands out a double", 1, name)


def _in_test(pair: TestPair, file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    new = pair.new
    if new is None or new.node is None or file.new is None:
        return
    equal = evidence.once(equal_names, lambda: equal_names(evidence))
    lent = lent_in(file.new, evidence)
    imported = file.once(_imported, lambda: _imported(file, evidence))
    shared = evidence.once(_REPLACES, lambda: replaced_by_shared(evidence, _REPLACES))
    if not (
        equal
        or shared
        or lent
        or imported
        or does_otherwise(pair)
        or file.once(_replaces_otherwise, lambda: _replaces_otherwise(file))
        or replaced_for_all(file.new.text)
        or _may_replace(new.text)
        or _uses_what_changed(pair, file)
    ):
        return
    from ralph_tracker.integrity.python.rigging import claims_of  # noqa: PLC0415  most tests are passed over

    inside = pair.old is None or bare(pair.old.text) != bare(new.text)
    claims = claims_of(new.node, file.new.text, equal, new.path, imported, inside=inside, shared=shared, lent=lent)
    rigged = [each for each in claims if each.rigged is not None]
    if not rigged:
        return
    real = {each.text for each in claims if each.rigged is None}
    before = [claim for each in pair.olds for claim in _claims_before(each, evidence)]
    known = {(each.text, each.rigged) for each in before}
    gone = [each for each in before if each.rigged is None and each.text not in real]
    for each in rigged:
        if (each.text, each.rigged) in known or (each.rigged in OF_ITSELF and _is_part(pair, evidence)):
            continue
        if is_told(each, gone):
            yield _told(each, gone, pair, evidence)


def _is_part(pair: TestPair, evidence: Evidence) -> bool:
    """Tell whether a test was split, so that its other parts ask what this one does not, and none was red before."""
    return bool(pair.parts) and not evidence.began_to_pass(pair)


def _changed(pair: TestPair, file: ChangedFile) -> bool:
    """Tell whether a test changed, or what it uses of its file."""
    if pair.old is None or pair.new is None or pair.old.text != pair.new.text:
        return True
    return _uses_what_changed(pair, file)


def _uses_what_changed(pair: TestPair, file: ChangedFile) -> bool:
    """Tell whether a test uses something of its file that is new or changed there."""
    around = file.once(_around, lambda: _around(file))
    return pair.new is not None and bool(around) and concerns(pair.new.name, pair.new.text, around)


def _around(file: ChangedFile) -> frozenset[str]:
    if file.old is None or file.new is None:
        return frozenset()
    try:
        return changed_around(file.old.text, file.new.text)
    except Unparsable:
        return frozenset()


def _imported(file: ChangedFile, evidence: Evidence) -> Mapping[str, str]:
    """Return the imports that a test file had and hides now, none where that cannot be told.

    Where a neighbour of that name did not change, `from .tools import f` takes what `from tools import f` took.
    """
    if file.old is None or file.new is None:
        return {}
    changed = {each.path.rpartition("/")[2].removesuffix(".py") for each in evidence.files}
    try:
        had = imports_of(file.old.text)
        same = {
            name for name, module in made_relative(file.new.text, had).items() if not changed & {*module.split(".")}
        }
        before = {name: full for name, full in had.items() if name not in same}
        hides = hidden_in(file.new.text, before, file.path) - hidden_in(file.old.text, before, file.path)
    except Unparsable:
        return {}
    return before if hides else {}


def _replaced_anew(file: ChangedFile, evidence: Evidence) -> bool:
    """Tell whether the file replaces something for all its tests that it did not replace before."""
    if file.new is None:
        return False
    new, before = replaced_for_all(file.new.text), program(file.old)
    old = replaced_for_all(before) if new else {}
    anew = bool(new.keys() - old.keys() or file.once(_imported, lambda: _imported(file, evidence)))
    return anew or frozen_anew(before, file.new.text)


def _replaces_otherwise(file: ChangedFile) -> bool:
    """Tell cheaply whether a file may replace something by other ways than a test's own."""
    return file.new is not None and any(each.search(file.new.text) for each in (_OTHER_WAYS, _PUTTING))


def _may_replace(text: str) -> bool:
    """Tell cheaply whether a test may replace something, by a function of its own too."""
    return text.count("def ") > 1 or _REPLACES.search(text) is not None


def _told(each: Claim, gone: list[Claim], pair: TestPair, evidence: Evidence) -> Finding:
    assert pair.new is not None  # noqa: S101  # for mypy
    replaced = next((claim for claim in gone if is_alike(claim, each)), None)
    # What is set may be asked for with good reason, as setters are.
    certain = (replaced is not None and each.rigged != SET) or evidence.began_to_pass(pair)
    return finding(
        _RULE,
        Severity.CRITICAL if certain else Severity.MEDIUM,
        f"{each.rigged}: `{each.text}`",
        pair.new.path,
        line=each.line,
        test=pair.new,
        ids=evidence.ids_of(pair.new),
        old=None if replaced is None else replaced.text,
        new=each.text,
        about=each.text,
    )


def _claims_before(test: SourceTest, evidence: Evidence) -> list[Claim]:
    side = next((file.old for file in evidence.files if file.path == test.path and file.old is not None), None)
    if test.node is None or side is None:
        return []
    from ralph_tracker.integrity.python.rigging import claims_of  # noqa: PLC0415  as above

    lent = lent_in(side, evidence, old=True)
    return claims_of(test.node, side.text, equal_in(side.text), test.path, lent=lent)
