"""T5: assertions that a surviving test no longer makes."""

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.demanded import changed_tests, is_real, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.demands import NOT_NONE
from ralph_tracker.integrity.source_tests import Assertion, SourceTest, Unparsable

ID: Final = "T5"
_WORD: Final = Pattern(r"[A-Za-z_]\w{2,}")
_STRING: Final = Pattern(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_COMMENT: Final = Pattern(r"\s*($|//|/\*|\*|#|[{}()\[\];]+\s*$)")
_EQUALITY: Final = Pattern(r"(assert \w+ == \w+|self\.assert\w*Equal\(\w+, \w+\))$")
_SELDOM: Final = 12
_IDLE: Final = frozenset({"print", "log", "logger", "logging", "debug", "info", "pass", "result", "return", "None"})
_FAILING: Final = Pattern(r"raise AssertionError\b|\bfail\(")
_NEVER: Final = frozenset({"assert False", "assert 0", "assert None"})
# What any source says: that it is said less often tells nothing of what is asserted about.
_COMMON: Final = frozenset(keyword.kwlist).union(
    (name for name in dir(builtins) if name[:1].islower()), *(dir(kind) for kind in (str, list, dict, set, tuple))
)
_TRIVIAL: Final = Pattern(r"^(pass|\.\.\.|return( None)?|('|\").*)$", re.DOTALL)


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the surviving tests whose assertions became fewer, where nothing took their place."""
    elsewhere = evidence.once(_Elsewhere, lambda: _Elsewhere(evidence.files))
    for pair, new in changed_tests(file, evidence):
        gone = removed(pair.old, new) if pair.old is not None else ()
        if pair.old is None or not gone or (not evidence.began_to_pass(pair) and _is_reworked(pair.old, new)):
            continue
        idle = _said_twice(pair.old) & {each.text for each in new.assertions} | _on_old_platforms(pair.old, new)
        left = [each for each in gone if not elsewhere.has(each) and not _is_implied(each, pair.old, new)]
        left = [each for each in left if each.text not in idle]
        if not left or _has_helpers(pair.old, new, evidence):
            continue
        yield finding(
            ID,
            Severity.HIGH,
            f"assertions removed: {len(left)} of {len(pair.old.assertions)}",
            file.path,
            line=new.line,
            test=new,
            ids=evidence.ids_of(new),
            old=" ; ".join(each.text for each in left),
            about="",
        )


def removed(old: SourceTest, new: SourceTest) -> tuple[Assertion, ...]:
    """Return the real assertions that are gone, where fewer are left; what T4 tells of counts as left."""
    before = [each for each in old.assertions if is_real(each)]
    hollow = [each for each in new.assertions if not is_real(each)]
    # That nothing was raised is not what an assertion said that stood there.
    told = without([each for each in new.assertions if each.text in _NEVER], old.assertions)
    now = [*filter(is_real, without(new.assertions, told)), *without(hollow, old.assertions)]
    return without(before, new.assertions) if len(now) < len(before) else ()


def _is_implied(gone: Assertion, old: SourceTest, new: SourceTest) -> bool:
    """Tell whether something that is there says all that an assertion said: `a == b` of `len(a) == len(b)`."""
    if gone.text in _NEVER:
        return len(_FAILING.findall(new.text)) > len(_FAILING.findall(old.text))
    if gone.strength == NOT_NONE and re.search(rf"(?<![\w.]){re.escape(gone.subject)}[.(\[]", new.text):
        return True  # what is used is something
    words = set(_WORD.findall(gone.text))
    kept = [each for each in new.assertions if each.subject.isidentifier() and each.subject in words]
    return any(_EQUALITY.match(each.text) and set(_WORD.findall(each.text)) <= words for each in kept)


def _said_twice(test: SourceTest) -> frozenset[str]:
    """Return the assertions that stood right behind others with the same text among them: nothing came between."""
    if test.node is None:
        return frozenset()
    from ralph_tracker.integrity.python.swallowing import repeated_in  # noqa: PLC0415  for this language only

    return repeated_in(test.node)


def _on_old_platforms(old: SourceTest, new: SourceTest) -> frozenset[str]:
    if old.node is None or new.node is None:
        return frozenset()
    from ralph_tracker.integrity.python.swallowing import on_platforms_before  # noqa: PLC0415  for this language only

    return on_platforms_before(old.node, new.node)


def _is_reworked(old: SourceTest, new: SourceTest) -> bool:
    """Tell whether a test asks in another way now, so that fewer assertions may well say as much."""
    if any(is_real(each) for each in without(new.assertions, old.assertions)):
        return True
    known = _WORD.findall(old.text)
    fresh = {word for text in _statements(new) - _statements(old) for word in _WORD.findall(text)}
    return bool(fresh.difference(known, _IDLE))


def _statements(test: SourceTest) -> frozenset[str]:
    if test.node is None:
        return frozenset(line.strip() for line in test.text.splitlines()[1:] if not _COMMENT.match(line))
    from ralph_tracker.integrity.python.swallowing import texts_of  # noqa: PLC0415  for this language only

    return frozenset(text for text in texts_of(test.node) if not _TRIVIAL.match(text))


class _Elsewhere:
    """Know where assertions of the changed files went, and which words of the source are gone; made once asked."""

    def __init__(self, files: tuple[ChangedFile, ...]) -> None:
        self._files = files

    @cached_property
    def _fewer(self) -> Counter[str]:
        """Return the assertions that there are fewer of now, over all functions of the changed files."""
        return self._asserted(new=False) - self._asserted(new=True)

    @cached_property
    def _receding(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words that the source used seldom and uses less often now, and those that it uses no longer."""
        sources = [file for file in self._files if not file.is_test]
        before, now = (
            Counter(word for side in sides if side is not None for word in _WORD.findall(side.text))
            for sides in ([file.old for file in sources], [file.new for file in sources])
        )
        told = before.keys() - _COMMON
        fewer = frozenset(word for word in told if now[word] < before[word] <= _SELDOM or not now[word])
        return fewer, frozenset(word for word in fewer if not now[word])

    def _asserted(self, *, new: bool) -> Counter[str]:
        found: Counter[str] = Counter()
        for file in self._files:
            side = file.new if new else file.old
            if side is not None and (file.is_test or side.language != "python"):
                found.update(asserted_in(side))
        return found

    def has(self, gone: Assertion) -> bool:
        """Tell whether an assertion stands in another place now, or what it asserted about recedes in the source."""
        if self._fewer[gone.text] == 0:
            return True
        fewer, none = self._receding
        # Names are changed or gone where there are fewer of them; prose shares its words with other prose.
        names, words = _WORD.findall(_STRING.sub("", gone.text)), _WORD.findall(gone.text)
        return not (fewer.isdisjoint(names) and none.isdisjoint(words))


def asserted_in(side: Side) -> Iterator[str]:
    """Yield the assertions of a file, those of its helpers too."""
    try:
        tests = side.tests
        if side.language == "python":
            from ralph_tracker.integrity.python.helpers import helpers_of  # noqa: PLC0415  for this language only

            yield from (each.text for helper in helpers_of(side.text) for each in helper)
    except Unparsable:
        return
    yield from (each.text for test in tests for each in test.assertions)


def _has_helpers(old: SourceTest, new: SourceTest, evidence: Evidence) -> bool:
    if old.node is None or new.node is None:
        return False
    from ralph_tracker.integrity.python.helpers import asserted_by_helpers  # noqa: PLC0415  for this language only

    olds = [file.old for file in evidence.files if file.old is not None]
    news = [file.new for file in evidence.files if file.new is not None]
    return asserted_by_helpers(new.node, news) > asserted_by_helpers(old.node, olds)
