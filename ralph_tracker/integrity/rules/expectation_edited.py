"""T7: an expected value was edited, and nothing else that could have made the test pass."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.core.metrics import FAILED, PASSED
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.expectations import (
    asserted,
    cells_of,
    local_values,
    loop_rows,
    module_values,
    rows_of,
    sides_of,
    skeleton,
)
from ralph_tracker.integrity.python.syntax import Function, same, tree_of
from ralph_tracker.integrity.python.turned import asks_of_the_same, expected_exceptions, is_broader, question_of
from ralph_tracker.integrity.relevance import is_stored
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable

_RULE: Final = "T7"
# Stubs, documents and what builds or runs the project: no test passes by a change of theirs.
_NOT_RUN: Final = Pattern(r"\.pyi$|(^|/)docs?/|(^|/)(setup|noxfile)\.py$")
_SPACES: Final = Pattern(r"\s+")
Edit = tuple[ast.expr, ast.expr]


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield expected values and snapshots that were edited while the source stayed as it was. Raises Unparsable."""
    if file.old is None or file.new is None or not (file.is_test or is_stored(file.path)) or _source_changed(evidence):
        return
    if file.language == "python":
        yield from _edited(file, file.new.text, evidence)
    elif is_stored(file.path):
        yield from _snapshot(file.path, file.old.lines, file.new.lines, evidence)


def _source_changed(evidence: Evidence) -> bool:
    """Tell whether source changed in more than comments and layout."""
    return evidence.source_changed and evidence.once(_any_differs, lambda: _any_differs(evidence.files))


def _any_differs(files: tuple[ChangedFile, ...]) -> bool:
    return any(
        _differs(file)
        for file in files
        if file.language is not None and not file.is_test and not _NOT_RUN.search(file.path)
    )


def _differs(file: ChangedFile) -> bool:
    if file.language != "python" or file.old is None or file.new is None:
        return True
    try:
        return not same(tree_of(file.old.text), tree_of(file.new.text))
    except Unparsable:
        return True


def _edited(file: ChangedFile, text: str, evidence: Evidence) -> Iterator[Finding]:
    for pair in evidence.pairs_in(file):
        old, new = pair.old, pair.new
        if old is None or new is None or old.node is None or new.node is None:
            continue
        if not (evidence.began_to_pass(pair) or _counts(old, new, evidence)):
            continue
        texts = (_text_of(old.path, evidence), text)
        edits = list(_edits(old.node, new.node, *texts))
        if not edits and evidence.began_to_pass(pair):
            edits = list(_turned(old.node, new.node))
        for before, after in edits:
            was, now = ast.unparse(before), ast.unparse(after)
            yield finding(
                _RULE,
                Severity.MEDIUM,
                f"expected value edited while the source did not change: `{was}` → `{now}`",
                file.path,
                line=after.lineno,
                test=new,
                ids=evidence.ids_of(new),
                old=was,
                new=now,
            )


def _text_of(path: str, evidence: Evidence) -> str:
    return next((file.old.text for file in evidence.files if file.path == path and file.old is not None), "")


def _counts(old: SourceTest, new: SourceTest, evidence: Evidence) -> bool:
    """Tell whether nothing is known of how a test ended, and only its literals changed."""
    ids = {*evidence.ids_of(old), *evidence.ids_of(new)}
    if ids & evidence.outcomes.before.keys() and ids & evidence.outcomes.after.keys():
        return False
    return skeleton(old.node) == skeleton(new.node)


def _edits(old: Function, new: Function, old_text: str, new_text: str) -> Iterator[Edit]:
    yield from _by_skeleton(_expected(old, old_text), _expected(new, new_text))
    yield from _by_cells(_rows(old, old_text), _rows(new, new_text))


def _turned(old: Function, new: Function) -> Iterator[Edit]:
    """Yield the assertions that demand another answer to the same question; those that are the same are left out."""
    olds, news = _unlike(_demands(old), _demands(new))
    waiting: defaultdict[object, list[ast.expr]] = defaultdict(list)
    for each in olds:
        waiting[question_of(each)].append(each)
    for each in news:
        like = waiting.get(question_of(each))
        if is_broader(each):
            continue
        before = like.pop(0) if like else next((old for old in olds if asks_of_the_same(old, each)), None)
        if before is not None:
            yield before, each


def _demands(test: Function) -> Iterator[ast.expr]:
    raised = list(expected_exceptions(test))
    yield from (each for each in asserted(test) if each not in raised)
    yield from raised


def _expected(test: Function, text: str) -> list[ast.expr]:
    """Return what a test asserts, and the values that the names stand for which it compares with."""
    claims = list(asserted(test))
    known = {**module_values(text), **local_values(test)}
    names = {side.id: side for claim in claims for side in sides_of(claim) if isinstance(side, ast.Name)}
    return [*claims, *(known[name] for name in names if name in known)]


def _rows(test: Function, text: str) -> list[ast.expr]:
    known = module_values(text)
    return [*rows_of(test, known), *loop_rows(test, {**known, **local_values(test)})]


def _by_skeleton(olds: Iterable[ast.expr], news: Iterable[ast.expr]) -> Iterator[Edit]:
    """Yield the pairs that are alike but for their literals; those that are the same are left out first."""
    olds, news = _unlike(olds, news)
    waiting: defaultdict[object, list[ast.expr]] = defaultdict(list)
    for each in olds:
        waiting[skeleton(each)].append(each)
    for each in news:
        like = waiting.get(skeleton(each))
        if like:
            yield like.pop(0), each


def _by_cells(olds: Iterable[ast.expr], news: Iterable[ast.expr]) -> Iterator[Edit]:
    """Yield the rows of parameters of which some cells stayed and others did not."""
    left, right = _unlike(olds, news)
    for each in right:
        cells = [ast.dump(cell) for cell in cells_of(each)]
        for other in left:
            others = [ast.dump(cell) for cell in cells_of(other)]
            kept = sum(one == two for one, two in zip(cells, others, strict=False))
            alike = cells[:1] == others[:1] or _tells_rows_apart(cells, others, left)
            if len(cells) == len(others) and 0 < kept < len(cells) and alike:
                left.remove(other)
                yield other, each
                break


def _tells_rows_apart(cells: list[str], others: list[str], rows: list[ast.expr]) -> bool:
    """Tell whether a cell that two rows share stands in no other row that is gone."""
    shared = {one for one, two in zip(cells, others, strict=False) if one == two}
    return any(sum(each in map(ast.dump, cells_of(row)) for row in rows) == 1 for each in shared)


def _unlike(olds: Iterable[ast.expr], news: Iterable[ast.expr]) -> tuple[list[ast.expr], list[ast.expr]]:
    left, right = list(olds), []
    dumps = [ast.dump(each) for each in left]
    for each in news:
        dump = ast.dump(each)
        if dump in dumps:
            index = dumps.index(dump)
            del dumps[index], left[index]
        else:
            right.append(each)
    return left, right


def _snapshot(path: str, olds: list[str], news: list[str], evidence: Evidence) -> Iterator[Finding]:
    gone = {_bare(line) for line in olds} - {_bare(line) for line in news} - {""}
    before, after = evidence.outcomes.before, evidence.outcomes.after
    passing = tuple(sorted(test for test, how in before.items() if how == FAILED and after.get(test) == PASSED))
    if not gone or (not passing and (before or after)):
        return
    stem = re.sub(r"(\.(test|spec))?\.\w+$", "", path.rpartition("/")[2].removesuffix(".snap"))
    named = tuple(test for test in passing if stem in test)
    known = set(olds)
    new = next((line for line in news if line not in known and line.strip()), "")
    yield finding(
        _RULE,
        Severity.MEDIUM,
        f"snapshot edited while the source did not change: {path}",
        path,
        ids=named or passing,
        old=next(line for line in olds if _bare(line) in gone),
        new=new,
        about="snapshot",
    )


def _bare(line: str) -> str:
    return _SPACES.sub("", line)
