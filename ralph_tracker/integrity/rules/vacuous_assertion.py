"""T4: an assertion of a new or changed test that nothing can fail."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.demanded import changed_tests, is_hollow, is_real, is_repeated, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import ANY_TEXT
from ralph_tracker.integrity.source_tests import Assertion, SourceTest

ID: Final = "T4"
_NO_TEXT: Final = Pattern(r"assert '' in |self\.assertIn\('', ")
_THERE: Final = Pattern(
    r"(?:assert |self\.assertTrue\()(?:callable\(([\w.]+)\)|([\w.]+) is not None|hasattr\(([\w.]+), '__\w+__'\)"
    r"|([\w.]+))\)?|self\.assertIsNotNone\(([\w.]+)\)"
)
_ASKS: Final = Pattern(r"(?:assert |self\.assertTrue\()(\w+)\(")
_IMPORTED: Final = "what was imported is there"
_TEXT: Final = Pattern(r"(==|,) *b?('[^']*'|\"[^\"]*\")\)?$")


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the assertions that became vacuous, or came so; one that was there before is none of them."""
    for pair, new in changed_tests(file, evidence):
        old = pair.old.assertions if pair.old is not None else ()
        yield from _repeated(pair, new, file, evidence)
        yield from _never_run(pair, new, file, evidence)
        hollow = (
            *without(filter(is_hollow, new.assertions), filter(is_hollow, old)),
            *_asking_no_text(old, new),
            *_asking_names(old, new, file),
            *_answered_anyway(old, new, file),
        )
        if not hollow:
            continue
        gone = [each.text for each in _lost(pair, hollow) if not any(_asks_again(each, one) for one in hollow)]
        severe = bool(gone) or evidence.began_to_pass(pair)
        for number, each in enumerate(hollow):
            yield finding(
                ID,
                Severity.CRITICAL if severe else Severity.MEDIUM,
                f"assertion can never fail: {each.vacuous}",
                file.path,
                line=each.line,
                test=new,
                ids=evidence.ids_of(new),
                old=gone[min(number, len(gone) - 1)] if gone else None,
                new=each.text,
            )


def _never_run(pair: TestPair, new: SourceTest, file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield a test that became a generator: whoever calls it runs nothing of it."""
    old = pair.old
    if old is None or "yield" not in new.text or not any(map(is_real, old.assertions)):
        return
    if _is_generator(new) and not _is_generator(old):
        yield finding(
            ID,
            Severity.CRITICAL,
            "nothing of the test is run: it is a generator",
            file.path,
            line=new.line,
            test=new,
            ids=evidence.ids_of(new),
            about="a generator",
        )


def _is_generator(test: SourceTest) -> bool:
    """Tell whether a test yields; what a decorator makes of it, nobody knows."""
    from ralph_tracker.integrity.python.syntax import walk  # noqa: PLC0415  the rule reads other languages too

    node = test.node
    if node is None or node.decorator_list:
        return False
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in walk(node))


def _repeated(pair: TestPair, new: SourceTest, file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield what asks the same twice where it asked for a value: elsewhere it may be asked whether it is the same."""
    fresh = [each for each in new.assertions if is_repeated(each)]
    if pair.old is None or not fresh:
        return
    asked = [each for each in pair.old.assertions if is_real(each) and not is_repeated(each)]
    gone = list(without(asked, [each for each in new.assertions if not is_repeated(each)]))
    fewer = len([each for each in new.assertions if is_real(each) and not is_repeated(each)]) < len(asked)
    before = [each for each in pair.old.assertions if is_repeated(each)]
    reworded = Counter(each.subject for each in without(before, fresh))
    for each in without(fresh, before):
        if reworded[each.subject] > 0:
            reworded[each.subject] -= 1
            continue
        found = next((one for one in gone if one.subject == each.subject or one.text == each.text), None)
        if found is None and fewer and gone and evidence.began_to_pass(pair):
            found = gone[0]
        if found is not None:
            gone.remove(found)
            yield finding(
                ID,
                Severity.CRITICAL,
                f"assertion asks the same twice: `{each.text}`",
                file.path,
                line=each.line,
                test=new,
                ids=evidence.ids_of(new),
                old=found.text,
                new=each.text,
            )


def _asking_no_text(old: Sequence[Assertion], new: SourceTest) -> Iterator[Assertion]:
    """Yield what looks for the empty text in what had to be a text before: of a list it would ask something."""
    for each in without(filter(is_real, new.assertions), old):
        if _NO_TEXT.match(each.text) and any(was.subject == each.subject and _TEXT.search(was.text) for was in old):
            yield each._replace(vacuous=ANY_TEXT)


def _asking_names(old: Sequence[Assertion], new: SourceTest, file: ChangedFile) -> Iterator[Assertion]:
    """Yield what asks whether an imported function is there, where its result was asked for."""
    for each in without(filter(is_real, new.assertions), old):
        found = _THERE.fullmatch(each.text)
        name = next(filter(None, found.groups()), "") if found is not None else ""
        if name and any(f"{name}(" in was.text for was in without(old, new.assertions)) and _is_imported(name, file):
            yield each._replace(vacuous=_IMPORTED)


def _answered_anyway(old: Sequence[Assertion], new: SourceTest, file: ChangedFile) -> Iterator[Assertion]:
    """Yield what asks a function of the file itself that says yes whatever it is given."""
    if file.language != "python" or file.new is None:
        return
    for each in without(filter(is_real, new.assertions), old):
        found = _ASKS.match(each.text)
        if found is not None and f"def {found[1]}(" in file.new.text and _says_yes(found[1], each.text, file.new.text):
            yield each._replace(vacuous=f"{found[1]} says yes to anything")


def _says_yes(name: str, claim: str, text: str) -> bool:
    """Tell whether a claim is nothing but a call of that function, and that says yes to anything."""
    from ralph_tracker.integrity.python.claimed import asked_by  # noqa: PLC0415  for this language only
    from ralph_tracker.integrity.python.replacing import functions_in  # noqa: PLC0415
    from ralph_tracker.integrity.python.stand_ins import answer_of  # noqa: PLC0415
    from ralph_tracker.integrity.python.syntax import dotted, tree_of  # noqa: PLC0415

    asked = functions_in(text).get(name)
    if asked is None or asked.decorator_list or answer_of(asked) is not True:
        return False
    said = tree_of(claim).body[0]
    whole = said.test if isinstance(said, ast.Assert) else said.value if isinstance(said, ast.Expr) else None
    return whole is not None and name in map(dotted, asked_by(whole))


def _is_imported(name: str, file: ChangedFile) -> bool:
    if file.language != "python" or file.new is None:
        return False
    from ralph_tracker.integrity.python.nodes import imports_of  # noqa: PLC0415  for this language only

    return name.partition(".")[0] in imports_of(file.new.text)


def _asks_again(old: Assertion, new: Assertion) -> bool:
    """Tell whether both compare the same thing with itself: nothing is lost where `x == x` stands for `not x != x`."""
    return is_repeated(old) and f"{old.subject} == {old.subject}" in new.text


def _lost(pair: TestPair, hollow: Sequence[Assertion]) -> list[Assertion]:
    """Return the real assertions of the old version that are gone, where fewer stand there now."""
    if pair.old is None or pair.new is None:
        return []
    idle = {each.text for each in hollow}
    before = [each for each in pair.old.assertions if is_real(each)]
    now = [each for each in pair.new.assertions if is_real(each) and each.text not in idle]
    return list(without(before, now)) if len(now) < len(before) else []
