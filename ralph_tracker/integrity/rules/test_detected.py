"""T11: source that asks whether it is under test."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import partial
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
from ralph_tracker.integrity.python.runners import asks_for_runner, tries_runner
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted, program, tree_of, walk
from ralph_tracker.integrity.python.test_switches import aliases_of, set_for_tests, stages_of, switched
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
_OWN_NAMES: Final = Pattern(
    r"^PYTEST_(CURRENT_TEST|VERSION|XDIST\w*|RUN\w*)$|^_called_from_test$|^AssertionRewritingHook$"
)
_WHERE: Final = Pattern(
    r"^(sys\.(modules|argv|orig_argv|executable|meta_path)|os\.(environ|getenv|getcwd)|psutil\.Process|__main__"
    r"|(pathlib\.)?Path\.cwd|tempfile\.gettempdir)\b"
)
_PROCESS: Final = Pattern(r"^/proc/.*/(cmdline|comm|exe)$")
# Marks that tests put on what every module can see: `getattr(sys, "_running_tests", False)`.
_MARKED: Final = frozenset({"sys", "builtins"})
_MARK: Final = Pattern(r"^_+\w*test", re.IGNORECASE)
_TEST_MODULE: Final = Pattern(r"^(tests?|conftest|hypothesis|test_)(\.|$)|\.(conftest|tests?)$")
_FRAMES: Final = Pattern(
    r"^(inspect\.(stack|currentframe|getouterframes)|sys\._current_frames|sys\._getframe|traceback\.(extract|walk|format)_stack)$"
)
# What the file or the function of a test is known by, in a text that says no more than that.
_FRAME_NAME: Final = Pattern(
    r"^[\^/\\._]*(tests?|conftest|py\.?test\w*|unittest\w*|Test|test_[\w\\+*.]*)([/\\._$]+(py)?\$?)?$"
)
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
    if file.language == "python":
        look = evidence.once(_RULE, lambda: partial(_python, given=_set_by_tests(evidence)))
        seen: Iterator[Fact] = fresh(file, evidence, look)
    else:
        seen = _other(file, file.language)
    for each in seen:
        if _ASKS_HONESTLY.search(file.path) and _IN_A_TEST not in each.text:
            continue
        yield finding(_RULE, Severity.HIGH, f"{each.what}: `{each.text}`", file.path, line=each.line, new=each.text)


def _set_by_tests(evidence: Evidence) -> frozenset[str]:
    """Return the variables of the environment that the tests' conftest.py newly sets."""
    changed = [file for file in evidence.files if file.path.endswith("conftest.py") and file.new is not None]
    now = frozenset[str]().union(*(set_for_tests(file.new.text) for file in changed if file.new is not None))
    return now.difference(*(set_for_tests(program(file.old)) for file in changed if file.old is not None))


def _python(side: Side, given: frozenset[str]) -> Iterator[Fact]:
    text = side.text
    if not asks_around(side):
        return
    imports = aliases_of(text, imports_of(text))
    stages = stages_of(text, imports)
    for statement in _headers(text):
        parts = [part for root in _own(statement) for part in walk(root)]
        words = [*_words(parts), *(each.attr for each in parts if isinstance(each, ast.Attribute))]
        if any(map(_OWN_NAMES.match, words)) or _is_marked(parts) or _asks_runner(words, parts, imports):
            told = True
        else:
            told = switched(statement, imports, stages, given)
        if told:
            yield fact(_WHAT, statement, shown=ast.Module(list(_own(statement)), []))  # type: ignore[arg-type]
    if re.search(r"stack|_getframe|_?current_?frame|getouterframes", text):
        yield from _frames(text, imports)
    yield from (fact(_WHAT, each, shown=each.test) for each in asks_for_runner(text))
    yield from (fact(_WHAT, each) for each in tries_runner(text))


def _asks_runner(words: list[str], parts: list[ast.AST], imports: Mapping[str, str]) -> bool:
    """Tell whether a runner is named where it is asked what is loaded, and how the program was called."""
    asked = {full_name(each, imports) for each in parts if isinstance(each, ast.Attribute | ast.Name)}
    if not any(map(_WHERE.match, asked)) and not any(map(_PROCESS.match, words)):
        return False
    return _names_runner(words, parts) or ("sys.modules" in asked and any(map(_TEST_MODULE.search, words)))


def _is_marked(parts: list[ast.AST]) -> bool:
    for each in parts:
        if isinstance(each, ast.Call) and dotted(each.func) in {"getattr", "hasattr"} and len(each.args) > 1:
            name = constant_of(each.args[1])
            if dotted(each.args[0]) in _MARKED and isinstance(name, str) and _MARK.match(name):
                return True
        elif isinstance(each, ast.Attribute) and dotted(each.value) in _MARKED and _MARK.match(each.attr):
            return True
    return False


def _headers(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a file; of those that hold others, only what stands before the colon is their own."""
    for node in ast.walk(tree_of(text)):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.ClassDef):
            yield node


def _own(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return
    if isinstance(statement, FUNCTIONS):
        yield from (*statement.args.defaults, *(each for each in statement.args.kw_defaults if each is not None))
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
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "join":
            joint, rows = constant_of(each.func.value), constant_of(each.args[0]) if each.args else UNKNOWN
            if isinstance(joint, str) and isinstance(rows, tuple):
                yield joint.join(part for part in rows if isinstance(part, str))


def _names_runner(words: list[str], parts: list[ast.AST]) -> bool:
    """Tell whether a runner is named, or tests are where the program is asked for its own name."""
    if any(_RUNNER.search(word) for word in words):
        return True
    own = any(isinstance(each, ast.Subscript) and constant_of(each.slice) == 0 for each in parts)
    return own and any(_FRAME_NAME.match(word) for word in words)


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
