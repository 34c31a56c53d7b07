"""Which settings that seem to leave tests out leave out none that was ever run."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.losses import Loss

_PART_ENDS: Final = Pattern(r"[./:\\]+")
_IGNORED: Final = Pattern(r"--ignore(?:-glob)? (\S+)")
_FOLDERS: Final = frozenset({"pytest.norecursedirs", "pytest.collect_ignore", "pytest.narrowed"})
_TEST_FILE: Final = Pattern(r"test[^/]*\.py$|\*")
_CLASS: Final = r"^class +({})\b *\(([^)]*)\)"


def runs_all_the_same(loss: Loss, evidence: Evidence) -> bool:
    """Tell whether what is looked for no longer is no test, or moved to where tests are looked for."""
    if loss.key in _FOLDERS and loss.new is not None:
        return _holds_no_test(loss, evidence)
    if loss.key == "pytest.testpaths" and loss.new is not None:
        return _moved_along(loss.new, evidence)
    if loss.old is None or loss.new is None:
        return False
    before, now = _words(loss.old), _words(loss.new)
    if loss.key == "pytest.python_files":
        names = {f"{part}.py" for test in evidence.outcomes.before for part in test.partition("::")[0].split(".")}
        return bool(names) and not any(_is_named(name, before) and not _is_named(name, now) for name in names)
    return loss.key == "pytest.python_classes" and _of_unittest(before, now, evidence)


def _holds_no_test(loss: Loss, evidence: Evidence) -> bool:
    """Tell whether the folders and files that are passed over now held no test of the last report.

    A file named as tests are may have failed before any test of it could be told.
    """
    places = list(_places(loss))
    if not places or not evidence.outcomes.before or any(_TEST_FILE.search(each) for each in places):
        return False
    tests = {tuple(part for part in _PART_ENDS.split(test) if part) for test in evidence.outcomes.before}
    return not any(_lies_in(test, place) for place in places for test in tests)


def _places(loss: Loss) -> Iterator[str]:
    """Yield what is passed over, nothing where it is told otherwise than by place."""
    items = [each.strip() for each in (loss.new or "").split(",")]
    if loss.key != "pytest.narrowed":
        yield from (item.strip("\"'").rstrip("/") for item in items)
    elif all(_IGNORED.fullmatch(item) for item in items):
        yield from (match[1].strip("\"'").rstrip("/") for match in map(_IGNORED.fullmatch, items) if match)


def _lies_in(test: tuple[str, ...], place: str) -> bool:
    parts = [part for part in _PART_ENDS.split(place.removesuffix(".py")) if part not in {"", "**"}]
    return any(
        all(fnmatchcase(name, part) for name, part in zip(test[at:], parts, strict=False))
        for at in range(len(test) - len(parts) + 1)
    )


def _moved_along(new: str, evidence: Evidence) -> bool:
    places = tuple(f"{place.strip('./')}/" for place in _words(new))
    tests = [file for file in evidence.files if file.is_test and file.path.endswith(".py")]
    outside = [file for file in tests if not file.path.startswith(places)]
    came = any(file.old is None and file.path.startswith(places) for file in tests)
    return came and bool(outside) and all(file.new is None for file in outside)


def _of_unittest(before: list[str], now: list[str], evidence: Evidence) -> bool:
    """Tell whether all classes whose name is asked for no longer are of unittest, of which no name is asked."""
    tests = [part for test in evidence.outcomes.before for part in _PART_ENDS.split(test)]
    names = {part for part in tests if _begins(part, before) and not _begins(part, now)}
    if not tests or not names:
        return bool(tests)
    texts = [side.text for side in evidence.tests_around(frozenset(names))]
    texts += [file.new.text for file in evidence.files if file.is_test and file.new is not None]
    heads = re.compile(_CLASS.format("|".join(map(re.escape, sorted(names)))), re.MULTILINE)
    bases = [(match[1], match[2]) for text in texts for match in heads.finditer(text)]
    return names <= {name for name, _ in bases} and all("TestCase" in inherited for _, inherited in bases)


def _begins(name: str, patterns: list[str]) -> bool:
    """Tell whether a class has one of pytest's names: what begins with a word, or what a glob takes."""
    return any(fnmatchcase(name, each) if "*" in each else name.startswith(each) for each in patterns)


def _words(shown: str) -> list[str]:
    return [word for each in shown.split(",") for word in each.split()]


def _is_named(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)
