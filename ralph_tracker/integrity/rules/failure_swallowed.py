"""T8: a test that its failures do not fail: a handler that passes over them, or a way out before the assertions."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.demanded import changed_tests, is_real, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.python.swallowing import guards_of, swallows_of, texts_of
from ralph_tracker.integrity.source_tests import UNREACHED, SourceTest

ID: Final = "T8"


class _Seen(NamedTuple):
    message: str
    line: int
    text: str


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield where new and changed Python tests began to pass over failures."""
    for pair, new in changed_tests(file, evidence):
        for seen in (*_swallowed(pair.old, new), *_unreached(pair.old, new), *_left_early(pair.old, new)):
            yield finding(
                ID,
                Severity.HIGH,
                seen.message,
                file.path,
                line=seen.line,
                test=new,
                ids=evidence.ids_of(new),
                new=seen.text,
            )


def _swallowed(old: SourceTest | None, new: SourceTest) -> Iterator[_Seen]:
    if new.node is None or not any(word in new.text for word in ("except", "suppress", "finally")):
        return
    before = old.node if old is not None else None
    known = {text for each in swallows_of(before) for text in each.covered + each.assertions} if before else set()
    free = texts_of(before) - known if before else frozenset()
    for each in swallows_of(new.node):
        inside = [text for text in each.assertions if text not in known]
        inside = inside or [text for text in each.covered if text in free and "(" in text]
        if inside:
            yield _Seen(f"failure swallowed by `{each.text}`: `{inside[0]}`", each.line, f"{each.text} … {inside[0]}")


def _unreached(old: SourceTest | None, new: SourceTest) -> Iterator[_Seen]:
    known = [each for each in old.assertions if each.vacuous == UNREACHED] if old is not None else []
    for each in without([each for each in new.assertions if each.vacuous == UNREACHED], known):
        yield _Seen(f"assertion is never reached: `{each.text}`", each.line, each.text)


def _left_early(old: SourceTest | None, new: SourceTest) -> Iterator[_Seen]:
    if old is None or old.node is None or new.node is None:
        return
    known = {each.text for each in guards_of(old.node)}
    kept = {each.text for each in old.assertions}
    for guard in guards_of(new.node):
        after = [each for each in new.assertions if each.line > guard.line and each.text in kept and is_real(each)]
        if guard.text not in known and after:
            yield _Seen(f"exit before assertions: `{guard.text}`", guard.line, guard.text)
