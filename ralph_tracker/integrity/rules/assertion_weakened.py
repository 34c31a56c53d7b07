"""T6: an assertion that lets more pass than the one that stood in its place."""

from collections.abc import Iterable, Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.demanded import changed_tests, is_real, is_repeated, replaced, without
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.source_tests import Assertion, SourceTest

ID: Final = "T6"
# What is compared with one of two values is so because of what it is: another value is expected, not less.
_TRUE_OR_FALSE: Final = Pattern(r"(==|is) (True|False)$")


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield the assertions of surviving tests that were weakened, and not made up for."""
    for pair, new in changed_tests(file, evidence):
        if pair.old is None:
            continue
        for old, now in _weakened(pair.old, new):
            yield finding(
                ID,
                Severity.HIGH,
                f"assertion weakened: `{old.text}` became `{now.text}`",
                file.path,
                line=now.line,
                test=new,
                ids=evidence.ids_of(new),
                old=old.text,
                new=now.text,
            )


def _weakened(old: SourceTest, new: SourceTest) -> Iterator[tuple[Assertion, Assertion]]:
    added = without(new.assertions, old.assertions)
    for run in replaced(old.assertions, new.assertions):
        gone = [each for each in run.gone if is_real(each) and each.strength is not None]
        fresh = [each for each in run.fresh if is_real(each) and not is_repeated(each)]
        if len(fresh) > len(gone):
            continue
        for each in fresh:
            found = next((one for one in gone if one.subject == each.subject), None)
            if found is not None and _is_weaker(found, each, added):
                gone.remove(found)
                yield found, each


def _is_weaker(old: Assertion, now: Assertion, added: Iterable[Assertion]) -> bool:
    if old.strength is None or now.strength is None or now.strength >= old.strength:
        return False
    if _TRUE_OR_FALSE.search(now.text) and not _TRUE_OR_FALSE.search(old.text):
        return False
    others = (each.strength for each in added if each.subject == old.subject and is_real(each))
    return all(each is None or each < old.strength for each in others)
