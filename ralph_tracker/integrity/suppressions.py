"""Comments and attributes that silence a linter, a type checker or the measuring of coverage, by their codes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.core.findings import SuppressionKind
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.comments import code_of, comments_of
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.relevance import may_silence, silencing_words

EVERYTHING: Final = "all"
_COMMENT: Final = 2_000
_CODE_ENDS: Final = Pattern(r"[\s,]+")
_REASON: Final = Pattern(r"\s--\s.*|\s#.*", re.DOTALL)


class Suppression(NamedTuple):
    """Name what is silenced: by which mark, and which code of it (`all` where the mark names none)."""

    kind: SuppressionKind
    mark: str
    code: str

    def __str__(self) -> str:
        """Return it as a person writes it, about."""
        return self.mark if self.code == EVERYTHING else f"{self.mark}: {self.code}"


class _Mark(NamedTuple):
    """Describe a mark in comments: its name, what finds it (group `codes` may hold its codes)."""

    kind: SuppressionKind
    name: str
    pattern: Pattern


def _mark(kind: SuppressionKind, name: str, pattern: str) -> _Mark:
    return _Mark(kind, name, Pattern(pattern))


_CODES: Final = r"(?P<codes>[\w@/.-]+(?:[ \t]*,[ \t]*[\w@/.-]+)*)"
# Options by which a file is checked less than the rest.
_LOOSER_MYPY: Final = (
    r"(?:allow-[\w-]+|no-(?:strict|check|disallow|warn)[\w-]*|ignore-missing-imports|follow-imports\s*=\s*(?:skip|silent)"
    r"|(?:strict|check|disallow|warn)[\w-]*\s*=\s*[Ff]alse)"
)
_LOOSER_PYRIGHT: Final = r"(?:basic\b|report\w+\s*=\s*(?:[Ff]alse|none|warning|information))"
_PYTHON: Final = (
    _mark("lint", "noqa", r"(?i:#\s*noqa)(?::\s*(?P<codes>[A-Za-z]+\d+(?:[\s,]+[A-Z]+\d+)*))?"),
    _mark("lint", "noqa of the file", r"#\s*(?:ruff|flake8):\s*noqa(?::\s*(?P<codes>[A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*))?"),
    _mark("lint", "ruff: disable", r"#\s*ruff:\s*(?:disable|ignore|file-ignore)\[(?P<codes>[^\]\n]*)\]"),
    _mark("lint", "pylint: disable", rf"#\s*pylint:\s*(?:disable(?:-next|-msg)?\s*=\s*{_CODES}|skip-file)"),
    _mark("lint", "nosec", r"#\s*nosec\b(?::?\s*(?P<codes>B\d+(?:[\s,]+B\d+)*))?"),
    _mark("lint", "NOSONAR", r"#\s*NOSONAR\b"),
    _mark("types", "type: ignore", r"#\s*type:\s*ignore(?:\[(?P<codes>[^\]\n]*)\])?"),
    _mark("types", "pyright: ignore", r"#\s*pyright:\s*ignore(?:\[(?P<codes>[^\]\n]*)\])?"),
    _mark("types", "ty: ignore", r"#\s*ty:\s*ignore(?:\[(?P<codes>[^\]\n]*)\])?"),
    _mark("types", "pyrefly: ignore", r"#\s*pyrefly:\s*ignore(?:\[(?P<codes>[^\]\n]*)\])?"),
    _mark("types", "mypy: ignore-errors", r"#\s*mypy:\s*ignore-errors\b(?!\s*=\s*[Ff]alse)"),
    _mark("types", "mypy: disable-error-code", r"#\s*mypy:\s*disable-error-code\s*=\s*\"?(?P<codes>[\w, -]+)"),
    _mark("types", "mypy: looser", rf"#\s*mypy:\s*(?P<codes>{_LOOSER_MYPY})"),
    _mark("types", "pyright: looser", rf"#\s*pyright:\s*(?P<codes>{_LOOSER_PYRIGHT}(?:\s*,\s*{_LOOSER_PYRIGHT})*)"),
    _mark("types", "pyre-ignore", r"#\s*pyre-(?:ignore|fixme)(?:-all-errors)?(?:\[(?P<codes>[^\]\n]*)\])?"),
    _mark("types", "pytype: disable", rf"#\s*pytype:\s*(?:disable\s*=\s*{_CODES}|skip-file)"),
    _mark("lint", "nosemgrep", r"#\s*nosemgrep\b"),
    _mark("lint", "noinspection", r"#\s*noinspection\s+(?P<codes>\w+)"),
    _mark("coverage", "pragma: no cover", r"\bpragma:\s*no\s*cover\b"),
    _mark("coverage", "pragma: no branch", r"\bpragma:\s*no\s*branch\b"),
)
_ESLINT_CODES: Final = r"(?:\s+(?!--|\*/)(?P<codes>[@\w][\w@/.-]*(?:\s*,\s*[@\w][\w@/.-]*)*))?"
_JAVASCRIPT: Final = (
    _mark("lint", "eslint-disable", rf"(?:eslint|oxlint)-disable(?:-next-line|-line)?(?![\w-]){_ESLINT_CODES}"),
    _mark("lint", "tslint:disable", r"tslint:disable(?:-next-line|-line)?(?::(?P<codes>[\w -]+))?"),
    _mark("lint", "biome-ignore", r"biome-ignore(?:-all|-start)?\s+(?P<codes>[\w/]+)"),
    _mark("lint", "NOSONAR", r"//\s*NOSONAR\b"),
    _mark("types", "@ts-ignore", r"^(?://|/\*)[\s*]*@ts-ignore\b"),
    _mark("types", "@ts-expect-error", r"^(?://|/\*)[\s*]*@ts-expect-error\b"),
    _mark("types", "@ts-nocheck", r"^(?://|/\*)[\s*]*@ts-nocheck\b"),
    _mark("coverage", "istanbul ignore", r"^(?://|/\*)\s*istanbul\s+ignore\s+(?P<codes>\w+)"),
    _mark(
        "coverage",
        "c8 ignore",
        r"^(?://|/\*)\s*(?:c8|v8|node:coverage)\s+(?:ignore\s+(?P<codes>next|start|if|else|file)|disable)\b",
    ),
)
_GO: Final = (
    _mark("lint", "nolint", r"^//\s*nolint\b(?::(?P<codes>[\w,-]+))?"),
    _mark("lint", "lint:ignore", r"^//\s*lint:(?:file-)?ignore\s+(?P<codes>[\w,*]+)"),
    _mark("lint", "nosec", r"#nosec\b(?:\s+(?P<codes>G\d+))?"),
)
_JAVA: Final = (
    _mark("lint", "NOSONAR", r"//\s*NOSONAR\b"),
    _mark("lint", "CHECKSTYLE:OFF", r"CHECKSTYLE(?::|\s)OFF"),
)
_SHELL: Final = (_mark("lint", "shellcheck disable", rf"#\s*shellcheck\s+disable\s*=\s*{_CODES}"),)
# A decorator of typing by which a function is looked at by nobody; the module that defines it is none that uses it.
_UNTYPED: Final = _mark(
    "types",
    "no_type_check",
    r"@[\w.]*\bno_type_check(?:_decorator)?\b|(?<!def )\bno_type_check(?:\s*\(|\s+as\s+\w)",
)
_RUST_ALLOW: Final = _mark(
    "lint", "allow", r"#!?\[\s*(?:allow|expect|cfg_attr\([^\[\]]*?\ballow)\s*\((?P<codes>[^)]*)\)"
)
_RUST_COVERAGE: Final = _mark(
    "coverage", "coverage(off)", r"#!?\[[^\]\n]*\b(?:coverage\(off\)|no_coverage|not\(tarpaulin)"
)
_JAVA_WARNINGS: Final = Pattern(r"@SuppressWarnings\s*\(([^)]*)\)")
_QUOTED: Final = Pattern(r'"([^"\n]*)"')
_OF_LANGUAGE: Final = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": _GO,
    "java": _JAVA,
    "rust": (),
}


def net(files: Iterable[ChangedFile]) -> Mapping[SuppressionKind, int]:
    """Return how many suppressions of each kind came more than went, below 0 where more went; moves count nothing."""
    total: dict[SuppressionKind, int] = {"lint": 0, "types": 0, "coverage": 0}
    for suppression, more in _rises(files).items():
        total[suppression.kind] += more
    return total


def risen(file: ChangedFile, evidence: Evidence, kind: SuppressionKind) -> Iterator[Suppression]:
    """Yield what is silenced more often in a file, and in all changed files together or on a line that stood there."""
    if not may_silence(file.new):
        return
    everywhere = evidence.once(_rises, lambda: _rises(evidence.files))
    before, now = counted(file.old), counted(file.new)
    for suppression in now:
        if suppression.kind != kind or now[suppression] <= before[suppression]:
            continue
        if everywhere[suppression] > 0 or _is_put_on_a_line(file, suppression):
            yield suppression


def counted(side: Side | None) -> Counter[Suppression]:
    """Return how often a text silences what; nobody may change it."""
    return _counted(side.path, side.text) if side is not None and may_silence(side) else Counter()


def _is_put_on_a_line(file: ChangedFile, suppression: Suppression) -> bool:
    """Tell whether a line that stood there bears a suppression now: it moved from nowhere, whatever went elsewhere."""
    if file.old is None or file.new is None:
        return False
    known = {line.strip() for line in file.old.lines}
    words = silencing_words(file.new)
    for line in file.new.lines:
        if any(word in line for word in words) and line.strip() not in known:
            for comment in comments_of(file.path, line):
                bare = line[: line.rfind(comment)].strip()
                if bare in known and bare and suppression in _counted(file.path, comment):
                    return True
    return False


def line_of(side: Side, suppression: Suppression) -> int | None:
    """Return the last line of a text that holds such a suppression, None where none is alike."""
    words = silencing_words(side)
    for at in range(len(side.lines), 0, -1):
        line = side.lines[at - 1]
        if any(word in line for word in words) and suppression in _counted(side.path, line):
            return at
    return None


def _rises(files: Iterable[ChangedFile]) -> Counter[Suppression]:
    total: Counter[Suppression] = Counter()
    for file in files:
        total.update(counted(file.new))
        total.subtract(counted(file.old))
    return total


@lru_cache(maxsize=512)
def _counted(path: str, text: str) -> Counter[Suppression]:
    side = Side(path, text)
    hints = silencing_words(side)
    marks = _SHELL if side.language is None else _OF_LANGUAGE[side.language]
    found: Counter[Suppression] = Counter()
    if marks:
        for comment in comments_of(path, text):
            for mark in marks if any(word in comment for word in hints) else ():
                _count(mark, comment[:_COMMENT], found)
    if side.language == "python" and "no_type_check" in text:
        _count(_UNTYPED, code_of(path, text), found)
    elif side.language == "rust":
        code = code_of(path, text)
        _count(_RUST_ALLOW, code, found)
        _count(_RUST_COVERAGE, code, found)
    elif side.language == "java":
        for match in _JAVA_WARNINGS.finditer(text):
            found.update(Suppression("lint", "@SuppressWarnings", code) for code in _QUOTED.findall(match[1]))
    return found


def _count(mark: _Mark, text: str, found: Counter[Suppression]) -> None:
    for match in mark.pattern.finditer(text):
        codes = match["codes"] if "codes" in mark.pattern.groupindex else None
        names = [code for code in _CODE_ENDS.split(_REASON.sub("", codes or "")) if code] or [EVERYTHING]
        found.update(Suppression(mark.kind, mark.name, name) for name in names)
