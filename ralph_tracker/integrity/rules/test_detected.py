"""T11: source that asks whether it is under test."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.fresh import added_lines, fresh
from ralph_tracker.integrity.languages import Language
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.nodes import constant_of, full_name, functions_of, imports_of
from ralph_tracker.integrity.python.runners import asks_for_runner
from ralph_tracker.integrity.python.syntax import tree_of, walk
from ralph_tracker.integrity.relevance import asks_around

_RULE: Final = "T11"
_WHAT: Final = "asks whether it is under test"
# Programs that run tests, and settings of frameworks that have one set for tests, ask in honest work.
_ASKS_HONESTLY: Final = Pattern(
    r"(^|/)(setup|noxfile|tasks|fabfile|manage|settings\w*|_?testing|test_?utils?|testcases?|_?runtests?)\.py$"
    r"|(^|/)settings/|pytest_?plugin|(^|/)_?pytest\w*(\.py$|/)|(^|/)(docs?|examples?|benchmarks?|ci|\.github)/"
)
# What starts the tests runs outside of them: asking for the test that runs now is no business of it.
_STARTS_TESTS: Final = Pattern(r"(^|/)(setup|noxfile|tasks|fabfile|manage|_?runtests?)\.py$")
_IN_A_TEST: Final = "PYTEST_CURRENT_TEST"
_RUNNER: Final = Pattern(r"(^|[/.\b_-])_?(py\.?test|unittest|nose2?|_called_from_test)(\b|$|_)")
_OWN_NAMES: Final = Pattern(r"^PYTEST_(CURRENT_TEST|VERSION|XDIST\w*|RUN\w*)$|^_called_from_test$")
_WHERE: Final = Pattern(r"^(sys\.(modules|argv|orig_argv|executable)|os\.(environ|getenv)|psutil\.Process)\b")
_FRAMES: Final = Pattern(
    r"^(inspect\.(stack|currentframe|getouterframes)|sys\._current_frames|sys\._getframe|traceback\.(extract|walk|format)_stack)$"
)
# What the file or the function of a test is known by, in a text that says no more than that.
_FRAME_NAME: Final = Pattern(
    r"^[\^/\\._]*(tests?|conftest|py\.?test\w*|unittest\w*|Test|test_[\w\\+*.]*)([/\\._$]+(py)?\$?)?$"
)
_SWITCH: Final = Pattern(r"^(\w+_)?(TEST|TESTS|TESTING|UNDER_TEST|IS_TEST\w*|TEST_MODE|RUNNING_TESTS|IN_TEST\w*)$")
_CI: Final = Pattern(r"^(CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI)$")
_PATTERNS: Final[Mapping[Language, str]] = {
    "javascript": (
        r"NODE_ENV\s*(\)|\])?\s*===?\s*['\"]test['\"]|['\"]test['\"]\s*===?\s*process\.env"
        r"|env(\.|\[['\"])(JEST_WORKER_ID|VITEST\w*|MOCHA\w*|JASMINE\w*)\b"
        r"|typeof\s+(jest|vi|describe|it|expect|jasmine|mocha)\b"
        r"|\b(globalThis|global|window)\.(jest|describe|__vitest\w*)\b"
        r"|process\.argv.*['\"/](jest|mocha|vitest)\b|npm_lifecycle_event\s*===?\s*['\"]test"
    ),
    "go": r"\btesting\.Testing\(\)|\bflag\.Lookup\(\s*[\"`]test\.v[\"`]|os\.Args\[0\].*[\"`][._]test(\.exe)?[\"`]",
    "rust": r"\bcfg!\s*\(\s*(not\s*\(\s*)?test\b|std::thread::current\(\)\.name\(\).*test",
    "java": r"getStackTrace\(\).*[\"'][\w.]*junit|contains\(\"(org\.)?junit|Class\.forName\(\s*\"org\.(junit|testng)",
}
_ELSEWHERE: Final[Mapping[Language, Pattern]] = {
    language: Pattern(pattern)
    for language, pattern in {
        **_PATTERNS,
        "typescript": _PATTERNS["javascript"],
        "tsx": _PATTERNS["javascript"],
    }.items()
}
_COMMENT_OR_STRING: Final = Pattern(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL
)
_RUST_TESTS: Final = Pattern(r"#\[cfg\(test\)\]\s*(pub\s+)?mod\b")


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield where source newly asks whether it is under test. Raises Unparsable."""
    if file.new is None or file.is_test or file.language is None:
        return
    if _ASKS_HONESTLY.search(file.path) and not (_STARTS_TESTS.search(file.path) and _IN_A_TEST in file.new.text):
        return
    seen = fresh(file, evidence, _python) if file.language == "python" else _other(file, file.language)
    for each in seen:
        if _ASKS_HONESTLY.search(file.path) and _IN_A_TEST not in each.text:
            continue
        yield finding(_RULE, Severity.HIGH, f"{each.what}: `{each.text}`", file.path, line=each.line, new=each.text)


def _python(side: Side) -> Iterator[Fact]:
    text = side.text
    if not asks_around(side):
        return
    imports = imports_of(text)
    for statement in _headers(text):
        parts = [part for root in _own(statement) for part in walk(root)]
        words = [*_words(parts), *(each.attr for each in parts if isinstance(each, ast.Attribute))]
        asks = any(
            _WHERE.match(full_name(each, imports)) for each in parts if isinstance(each, ast.Attribute | ast.Name)
        )
        told = any(_OWN_NAMES.match(word) for word in words)
        if told or (asks and (_names_runner(words, parts) or _switched(statement, words))):
            yield fact(_WHAT, statement, shown=ast.Module(list(_own(statement)), []))  # type: ignore[arg-type]
    if re.search(r"stack|_getframe|_?current_?frame|getouterframes", text):
        yield from _frames(text, imports)
    yield from (fact(_WHAT, each, shown=each.test) for each in asks_for_runner(text))


def _headers(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a file; of those that hold others, only what stands before the colon is their own."""
    for node in ast.walk(tree_of(text)):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _words(parts: list[ast.AST]) -> Iterator[str]:
    for each in parts:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add):
            left, right = constant_of(each.left), constant_of(each.right)
            if isinstance(left, str) and isinstance(right, str):
                yield left + right


def _names_runner(words: list[str], parts: list[ast.AST]) -> bool:
    """Tell whether a runner is named, or tests are where the program is asked for its own name."""
    if any(_RUNNER.search(word) for word in words):
        return True
    own = any(isinstance(each, ast.Subscript) and constant_of(each.slice) == 0 for each in parts)
    return own and any(_FRAME_NAME.match(word) for word in words)


def _switched(statement: ast.stmt, words: list[str]) -> bool:
    """Tell whether a switch of the environment picks a constant: `if os.environ.get("TESTING"): return 42`."""
    in_ci = any(_CI.match(word) for word in words)
    if not in_ci and not any(_SWITCH.match(word) for word in words):
        return False
    if isinstance(statement, ast.If):
        last = statement.body[-1]
        value = constant_of(last.value) if isinstance(last, ast.Return) else UNKNOWN
    elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.IfExp):
        value = constant_of(statement.value.body)
    else:
        return False
    return value is not UNKNOWN and value is not None and not (in_ci and isinstance(value, bool))


def _frames(text: str, imports: Mapping[str, str]) -> Iterator[Fact]:
    own = [each for each in tree_of(text).body if isinstance(each, ast.Assign | ast.AnnAssign | ast.If | ast.Expr)]
    for part in (*functions_of(text), *own):
        parts = list(ast.walk(part))
        if any(isinstance(each, ast.Call) and _FRAMES.match(full_name(each.func, imports)) for each in parts):
            for each in parts:
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and _FRAME_NAME.match(each.value):
                    yield fact(_WHAT, each)


def _other(file: ChangedFile, language: Language) -> Iterator[Fact]:
    pattern = _ELSEWHERE[language]
    text = file.new.text if file.new is not None else ""
    if not pattern.search(text):
        return
    if language == "rust" and (tests := _RUST_TESTS.search(text)):
        text = text[: tests.start()]
    code = _COMMENT_OR_STRING.sub(_blanked, text).splitlines()
    for number, line in added_lines(file):
        found = pattern.search(line)
        if found and number <= len(code) and code[number - 1][found.start() : found.start() + 1].strip():
            yield Fact(_WHAT, number, line.strip())


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
