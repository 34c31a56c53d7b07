"""T8: a test that its failures do not fail: a handler that passes over them, or a way out before the assertions."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import dropwhile, takewhile
from typing import Final, NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.demanded import changed_tests, is_real, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.assertions import ends
from ralph_tracker.integrity.python.handlers import names_made
from ralph_tracker.integrity.python.swallowers import swallowers_in, swallowing_uses
from ralph_tracker.integrity.python.swallowing import guards_of, swallows_of, texts_of
from ralph_tracker.integrity.source_tests import UNREACHED, SourceTest

ID: Final = "T8"
_WORDS: Final = ("except", "suppress", "finally", "aises")
# Compound statements begin their line, or continue one; expressions hold the same words anywhere. None is the first
# line of a test; a line end is found much faster than what `^` stands for.
_HEADS: Final = Pattern(r"\n[ \t\f]*(async[ \t]+)?(if|elif|for|while|match)\b", words=("if", "for", "while", "match"))
_LEAVING: Final = Pattern(r"\n[ \t\f]*(if|elif)\b|kip|xfail", words=("if", "kip", "xfail"))

# What a test may check less by, of what it calls.
_MENTIONED: Final = Pattern(
    r"check|catch_exceptions|raise_|return_exceptions|\.fail\(|AssertionError|\bawait |\|\| *(true|:)"
    r"|failureException|; *exit 0",
    words=(
        *("check", "catch_exceptions", "raise_", "return_exceptions", ".fail(", "AssertionError", "await ", "||"),
        *("failureException", "exit 0"),
    ),
)


class _Seen(NamedTuple):
    message: str
    line: int
    text: str


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield where new and changed Python tests began to pass over failures."""
    names = _swallowers(file, evidence)
    seen: set[str] = set()
    for pair, new in changed_tests(file, evidence):
        seen.add(new.name)
        yield from (_made(each, new, file, evidence) for each in _seen(pair.old, new, names))
    if names.fresh:
        for pair in evidence.pairs_in(file):
            if pair.new is not None and pair.new.name not in seen:
                for each in _wrapped(None, pair.new, names.fresh):
                    yield _made(each, pair.new, file, evidence)


class _Swallowers(NamedTuple):
    """Hold the names under which failures end now, and those of them under which they did not before."""

    all: frozenset[str]
    fresh: frozenset[str]


def _swallowers(file: ChangedFile, evidence: Evidence) -> _Swallowers:
    """Return the names that a file has of itself and of the test files of the comparison."""
    before, now = evidence.once(_swallowers, lambda: _names_in(each for each in evidence.files if _is_test(each)))
    if not _is_test(file):
        own = _names_in([file])
        before, now = before | own[0], now | own[1]
    return _Swallowers(now, now - before)


def _is_test(file: ChangedFile) -> bool:
    return file.is_test and file.language == "python"


def _names_in(files: Iterable[ChangedFile]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the old sides and those of the new ones."""
    before: set[str] = set()
    now: set[str] = set()
    for file in files:
        for side, names in ((file.old, before), (file.new, now)):
            names.update(swallowers_in(side.text) if side is not None else ())
    return frozenset(before), frozenset(now)


def _seen(old: SourceTest | None, new: SourceTest, names: _Swallowers) -> Iterator[_Seen]:
    yield from _swallowed(old, new, names.all)
    yield from _wrapped(old, new, names.all)
    yield from _unreached(old, new)
    yield from _left_early(old, new)
    if old is not None and old.node is not None and new.node is not None:
        yield from _under_conditions(old, new)
        yield from _unheard(old, new)
        yield from _ended(old, new)
        if _MENTIONED.search(old.text) or _MENTIONED.search(new.text):
            yield from _unchecked(old, new)


def _unchecked(old: SourceTest, new: SourceTest) -> Iterator[_Seen]:
    if old.node is None or new.node is None:
        return
    if any(is_real(each) for each in without(new.assertions, old.assertions)):
        return
    from ralph_tracker.integrity.python.unchecked import unchecked  # noqa: PLC0415  where words of it stand there

    yield from (_Seen(f"{what}: `{text}`", line, text) for line, what, text in unchecked(old.node, new.node))


def _made(seen: _Seen, test: SourceTest, file: ChangedFile, evidence: Evidence) -> Finding:
    return finding(
        ID,
        Severity.HIGH,
        seen.message,
        file.path,
        line=seen.line,
        test=test,
        ids=evidence.ids_of(test),
        new=seen.text,
    )


def _swallowed(old: SourceTest | None, new: SourceTest, names: frozenset[str]) -> Iterator[_Seen]:
    if new.node is None or not any(word in new.text for word in (*_WORDS, *names)):
        return
    found = [each for each in swallows_of(new.node, names) if each.broad or each.assertions]
    if not found:
        return
    before = old.node if old is not None else None
    swallowed = list(swallows_of(before, names)) if before is not None else []
    known = {text for each in swallowed for text in each.covered + each.assertions}
    broad = any(each.broad for each in found)
    free = texts_of(before) - known if before is not None and broad else frozenset()
    asked = {each.text for each in old.assertions} - known if old is not None else set()
    for each in found:
        inside = [text for text in each.assertions if text not in known and (each.broad or text in asked)]
        if not inside and each.broad:
            inside = [text for text in each.covered if text in free and "(" in text]
        if inside:
            yield _Seen(f"failure swallowed by `{each.text}`: `{inside[0]}`", each.line, f"{each.text} … {inside[0]}")


def _wrapped(old: SourceTest | None, new: SourceTest, names: frozenset[str]) -> Iterator[_Seen]:
    """Yield where a test is wrapped by what passes over failures, or gives it what to call."""
    if new.node is None or not any(name in new.text for name in ("suppress", *names)):
        return
    uses = swallowing_uses(new.node, names)
    before = [ast.unparse(each) for each in swallowing_uses(old.node, names)] if uses and old and old.node else []
    for each in uses:
        text = ast.unparse(each)
        if text not in before:
            yield _Seen(f"failure swallowed by `{text}`", each.lineno, text)


def _under_conditions(old: SourceTest, new: SourceTest) -> Iterator[_Seen]:
    """Yield the assertions that are made only if the outcome is as expected."""
    if old.node is None or new.node is None or not new.function.startswith("test") or not _HEADS.search(new.text):
        return
    from ralph_tracker.integrity.python.conditional import conditionals_of, is_by_case  # noqa: PLC0415  for conditions

    now = list(conditionals_of(new.node))
    if not any(each.under for each in now):
        return
    kept = Counter(each.text for each in old.assertions if is_real(each))
    stood = conditionals_of(old.node, names_made(new.node))
    before = {(each.text, head) for each in stood for head in each.under}
    free = Counter(each.text for each in now if not each.under)
    heads = set()
    for each in now:
        fresh = [head for head in each.under if (each.text, head) not in before]
        if not fresh or is_by_case(fresh[0], old.node, new.node):
            continue
        if free[each.text] < kept[each.text] and fresh[0] not in heads:
            heads.add(fresh[0])
            yield _Seen(f"assertion only under a condition: `{fresh[0]}`", each.line, f"{fresh[0]}: {each.text}")


def _unheard(old: SourceTest, new: SourceTest) -> Iterator[_Seen]:
    """Yield the assertions of functions inside a test that fail where nobody learns of it."""
    if old.node is None or new.node is None or not new.function.startswith("test") or new.text.count("def") == 1:
        return
    from ralph_tracker.integrity.python.conditional import unheard_in  # noqa: PLC0415  for functions inside a test

    unheard = list(unheard_in(new.node, new.text))
    known = {text for _, text in unheard_in(old.node, old.text)} if unheard else set()
    for statement, text in unheard:
        if text not in known:
            yield _Seen(f"failure reaches nobody: `{text}`", statement.lineno, text)


def _unreached(old: SourceTest | None, new: SourceTest) -> Iterator[_Seen]:
    known = [each for each in old.assertions if each.vacuous == UNREACHED] if old is not None else []
    for each in without([each for each in new.assertions if each.vacuous == UNREACHED], known):
        yield _Seen(f"assertion is never reached: `{each.text}`", each.line, each.text)


def _ended(old: SourceTest, new: SourceTest) -> Iterator[_Seen]:
    """Yield what a test called and never comes to now, where no assertion of its own says so: helpers assert for it."""
    if old.node is None or new.node is None or "return" not in new.text:
        return
    if any(each.vacuous == UNREACHED for each in new.assertions):
        return
    left = list(dropwhile(_goes_on, new.node.body))
    calls = [ast.unparse(each) for each in left[1:] if _calls(each)]
    if not calls:
        return
    did = {ast.unparse(each) for each in takewhile(_goes_on, old.node.body)}
    lost = next((text for text in calls if text in did), None)
    if lost is not None:
        text = lost.partition("\n")[0]
        yield _Seen(f"call is never reached: `{text}`", left[0].lineno, text)


def _goes_on(statement: ast.stmt) -> bool:
    """Tell whether what stands after a statement is reached, as far as returns go: who raises fails."""
    return not (isinstance(statement, ast.Return | ast.If) and ends(statement))


def _calls(statement: ast.stmt) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(statement))


def _left_early(old: SourceTest | None, new: SourceTest) -> Iterator[_Seen]:
    if old is None or old.node is None or new.node is None or not _LEAVING.search(new.text):
        return
    guards = list(guards_of(new.node))
    if not guards:
        return
    from ralph_tracker.integrity.python.rewording import is_reworded  # noqa: PLC0415  for conditions

    known = {each.text: each for each in guards_of(old.node)}
    left = [known[text] for text in known.keys() - {each.text for each in guards}]
    kept = {each.text for each in old.assertions}
    for guard in guards:
        end = guard.end or new.end
        after = [
            each for each in new.assertions if guard.line < each.line <= end and each.text in kept and is_real(each)
        ]
        if guard.text not in known and after and not any(is_reworded(each.asked, guard.asked) for each in left):
            yield _Seen(f"exit before assertions: `{guard.text}`", guard.line, guard.text)
