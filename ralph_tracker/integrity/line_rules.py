"""The table of diff rules: what in an added line makes a green test less believable, in any language.

A pattern is searched in the code of a file (comments and Python's docstrings are blanked), across lines if it says so.
diff_inspection.py reports a match that the changed files hold more often than before: moved, re-indented or reformatted
code is none. Add no row for what running the earlier tests shows.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Severity, SuppressionKind
from ralph_tracker.integrity.file_versions import ChangedFile, Text


class Rule:
    """One rule: a pattern, where it is searched, and the message.

    `where` is "source" (code outside the tests), "programs" (code of both) or a pattern for the path. A text without one
    of `words` is not searched; () searches all. A match is excused by `unless` in the matched text, a file by
    `unless_path`. `in_new_files` is False if a new file cannot weaken anything. A finding shows the group `shown`, else
    the whole match.
    """

    def __init__(  # noqa: PLR0913  # a row has that many columns
        self,
        id: str,  # noqa: A002  # the name of the column
        pattern: str,
        message: str,
        *,
        where: str = "source",
        words: tuple[str, ...] = (),
        unless: str = r"(?!)",
        unless_path: str = r"(?!)",
        in_new_files: bool = True,
        severity: Severity = Severity.HIGH,
    ) -> None:
        self.id, self.message, self.where, self.severity = id, message, where, severity
        self._pattern, self._words, self._in_new_files = pattern, words, in_new_files
        self._unless, self._unless_path = unless, unless_path

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, re.MULTILINE)  # only once a text contains one of the words

    def looks_at(self, file: ChangedFile) -> bool:
        """Return whether the rule applies to a file."""
        if (file.is_new and not self._in_new_files) or not (self._may_match(file.new) or self._may_match(file.old)):
            return False
        if self.where == "source":
            looked_at = file.is_source
        elif self.where == "programs":
            looked_at = file.is_code
        else:
            looked_at = re.search(self.where, file.path) is not None
        return looked_at and re.search(self._unless_path, file.path) is None

    def _may_match(self, side: Text) -> bool:
        return not self._words or any(map(side.text.__contains__, self._words))

    def matches(self, side: Text) -> Iterator[re.Match[str]]:
        """Yield the matches that nothing in them excuses."""
        if self._may_match(side):
            found = self._compiled.finditer(side.code)
            yield from (match for match in found if re.search(self._unless, match[0]) is None)


# Rows of tables stay as they are.
# fmt: off
# ── R1: source asks whether it is under test ──────────────────────────────────────────────────────────────────────────
# Programs that run or serve tests, and frameworks with test settings, ask this legitimately.
_ASKS_HONESTLY: Final = (
    r"(^|/)(setup|noxfile|tasks|fabfile|manage|build|gulpfile|settings\w*|_?testing|test_?utils?|testcases?|_?runtests?)\.\w+$"
    r"|(^|/)(settings|config|scripts|tools|docs?|examples?|benchmarks?|ci|\.github)/|pytest_?plugin|(^|/)_?pytest\w*(\.py$|/)"
    r"|\.(config|setup)\.[cm]?[jt]s$|(^|/)\.?\w+rc\.[cm]?js$"
)
_RUNNER: Final = (
    r"(?:_?py\.?test|unittest|nose2?|hypothesis|jest|vitest|mocha|jasmine|junit|testng|surefire|rspec|phpunit|xctest)"
)
_RUNNER_NAME: Final = rf"""["'`][^"'`\n]*\b_?{_RUNNER}\b[^"'`\n]*["'`]"""
_TEST_NAME: Final = (
    rf"""["'`][^"'`\n]*(?:\btests?\b|\btest|[tT]est_|_[tT]est\b|\.spec\b|conftest|\b{_RUNNER}\b)[^"'`\n]*["'`]"""
)
_FRAMES: Final = r"(?:\binspect\.(?:stack|currentframe|getouterframes)|\b_getframe\(|\b(?:extract|walk|format)_stack\b|\bruntime\.Callers?\b|\bgetStackTrace\(|\bError\(\)\.stack\b|\bthread::current\(\)|\bBacktrace::|/cmdline\b|\bcurrent_exe\(|\b__main__\.)"
_VARIABLES: Final = r"(?:PYTEST_(?:CURRENT_TEST|VERSION|XDIST\w*|RUN\w*)|_called_from_test|JEST_WORKER_ID|VITEST\w*|MOCHA_\w+|JASMINE\w*|NEXTEST\w*|RUST_TEST\w*|CARGO_TARGET_TMPDIR|XCTest\w+|__vitest\w*|__coverage__)"
_LISTS: Final = r"(?:\bmodules\b|\bargv\b|\borig_argv\b|\bos\.Args\b|\benv::args\b)"
_GLOBAL: Final = r"(?:globalThis|global|window)"


def _asks(pattern: str, *words: str, severity: Severity = Severity.HIGH) -> Rule:
    message = "The source asks whether it runs under test; let it behave the same everywhere."
    if severity is Severity.MEDIUM:
        message = "The source asks how it is run; check that its results do not depend on it."
    return Rule("R1", pattern, message, words=words, unless_path=_ASKS_HONESTLY, severity=severity)


_ASKING: Final = (
    _asks(
        rf"""["'`]{_VARIABLES}["'`]|\b(?:env|{_GLOBAL})(?:\.|\[["'`]){_VARIABLES}\b(?!\s*=[^=])|^(?=.*env).*["'`](?:PYTEST|JEST)_?["'`]""",
        *("PYTEST", "_called", "JEST", "VITEST", "MOCHA", "JASMINE", "NEXTEST", "RUST_TEST", "CARGO_TARGET", "XCTest", "__vitest", "__coverage"),
    ),
    _asks(
        rf"""{_RUNNER_NAME}\s+(?:not\s+)?in\s+[^\n]*{_LISTS}|\bmodules(?:\.get\(|\[)\s*["'`]_?{_RUNNER}|\b(?:argv|os\.Args|env::args)\b[^\n]*(?:{_RUNNER_NAME}|/{_RUNNER}\b|["'`][./_]*test["'`])""",
        *("modules", "argv", "os.Args", "env::args"),
    ),
    _asks(
        rf"{_FRAMES}(?:[^\n]*\n){{0,3}}?[^\n]*{_TEST_NAME}|{_TEST_NAME}[^\n]*{_FRAMES}",
        *("stack", "Stack", "frame", "Caller", "thread::current", "/cmdline", "Backtrace", "current_exe", "__main__."),
    ),
    _asks(
        r"""\bNODE_ENV\s*["'\])]*\s*[!=]==?\s*["'`]test["'`]|["'`]test["'`]\s*[!=]==?\s*process\.env\.NODE_ENV"""
        rf"""|\btypeof\s+(?:{_GLOBAL}\.)?(?:jest|vi|describe|it|expect|jasmine|mocha)\b\s*[!=]|\b{_GLOBAL}\.(?:jest|describe|expect)\b(?!\s*=[^=])|\b(?:keys|getOwnPropertyNames|ownKeys)\(\s*{_GLOBAL}\b"""
        # `if (import.meta.vitest) { const { it } = …` declares tests inside the source, which is legitimate.
        r"""|^(?!\s*if\s*\(\s*import\.meta\.vitest\s*\)\s*\{|.*\}\s*=\s*import\.meta\.vitest).*\bimport\.meta\.vitest\b""",
        *("NODE_ENV", "typeof", "global", "window", "import.meta.vitest"),
    ),
    _asks(
        r"""\btesting\.Testing\(\)|\bflag\.Lookup\(\s*["`]test\.\w+["`]|\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\b|\bcfg!\s*\(\s*(?:not\s*\(\s*)?debug_assertions\s*\)+[^\n{]*\{\s*(?!\s*(?:e?println|debug|trace|log|warn)\w*[!:])"""
        r"""|\bClass\.forName\(\s*"org\.(?:junit|testng)"""
        # Tests of Rust run beside the main thread, from programs in target/*/deps.
        r"""|\bthread::current\(\)\.name\(\)\s*[=!]=|\b(?:args|args_os|current_exe)\(\)[^\n]*"/?deps/?\"""",
        *("Testing()", "Lookup", "cfg!", "junit", "testng", "thread::current", "deps"),
    ),
    _asks(
        r"""["'`](?:CI|GITHUB_ACTIONS|GITLAB_CI|CONTINUOUS_INTEGRATION|TRAVIS|CIRCLECI|JENKINS_URL|BUILDKITE)["'`]|\benv\.(?:CI|GITHUB_ACTIONS)\b|\bfor\s+\w+\s+in\s+(?:list\(|tuple\(|set\()?sys\.modules\b|\(debug_assertions\)""",
        *("CI", "GITHUB_ACTIONS", "CONTINUOUS", "TRAVIS", "JENKINS", "BUILDKITE", "sys.modules", "debug_assertions"),
        severity=Severity.MEDIUM,
    ),
)


# ── R2: the runner or its assertions are replaced ────────────────────────────────────────────────────────────────────────
def _hook(names: str, deeds: str, message: str, unless: str) -> Rule:
    """Return the rule for hooks of pytest whose body (indented or empty lines) does one of the deeds."""
    body = r"(?:\n(?:[ \t][^\n]*)?){0,60}?\n[ \t]+[^\n]*?"
    pattern = rf"^[ \t]*(?:async )?def pytest_(?:{names})\([^)]*\)[^:\n]*:{body}(?P<shown>(?:{deeds})[^\n]*)"
    return Rule("R2", pattern, message, where="programs", words=("def pytest_",), unless=unless)


_ASSERTIONS: Final = (
    r"assert(?:Equals?|NotEqual|True|False|Is|IsNot|In|NotIn|Less\w*|Greater\w*|Raises\w*|AlmostEqual|\w+Equal)"
)
_FORGING: Final = (
    _hook(
        "runtest_makereport|runtest_logreport|runtest_call|runtest_teardown|exception_interact|make_collect_report|report_\\w+|sessionfinish|unconfigure|terminal_summary|configure|sessionstart|plugin_registered|cmdline_main",
        r"\.(?:outcome|longrepr|wasxfail)\s*=(?!=)|\bforce_result\(|\bsetattr\(\s*\w*(?:rep|report|result)\w*\s*,\s*[\"'](?:outcome|longrepr|wasxfail)|\bexcinfo\s*=\s*None|return\s*\(?\s*[\"']passed[\"']|\bexitstatus\s*=(?!=)|\bos\._exit\(|\bsys\.exit\(|\.unregister\(|\.set_blocked\(|\b_pytest\.[\w.]+\s*=(?!=)",
        "A hook of pytest rewrites how tests or the run end; remove it.",
        r"\.(?:passed|outcome)\b(?!\s*=)",
    ),
    _hook(
        "runtest_protocol|pyfunc_call|runtest_call|runtest_setup",
        r"return True\b|except[^\n:]*:\s*\n?\s*pass\b|\bforce_result\(",
        "A hook of pytest replaces the running of the test; remove it.",
        r"runtestprotocol\(|testfunction\(|funcitem\.funcargs|item\.obj\b|asyncio|yield\s*\n\s*return",
    ),
    Rule(
        "R2",
        r"\b_pytest(?:\.\w+)+\s*=(?!=)"
        r"|^[ \t]*(?:(?:unittest\.)?(?:case\.)?(?:TestCase|TestResult|TextTestResult)\.\w+|pytest\.(?:raises|fail|approx|main|skip)|(?:builtins\.)?AssertionError|builtins\.(?:isinstance|len|sum|abs|any|all))\s*=(?!=)[^\n]*"
        rf"|\bsetattr\(\s*(?:(?:unittest\.)?(?:case\.)?(?:TestCase|TestResult)|_pytest[\w.]*)\s*,[^\n]*|\bsetattr\(\s*(?:pytest|builtins)\s*,\s*[\"'](?:raises|fail|approx|main|isinstance|len|sum|any|all)[^\n]*|\bdef {_ASSERTIONS}\(self\b[^\n]*"
        r"|\b(?:globalThis|global|window)\.(?:expect|it|test|describe|assert)\s*=(?![=>])[^\n]*|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|ok|throws)\s*=(?![=>])[^\n]*"
        r"|\bexpect\.extend\(\s*\{[^}\n]*?\b(?:toBe|toEqual|toStrictEqual|toThrow|toMatchObject|toContain|toMatchSnapshot)\b\s*[:(][^\n]*",
        "What tests assert with is replaced; remove the replacement.",
        where="programs",
        words=("pytest", "TestCase", "TestResult", "AssertionError", "builtins", "def assert", "expect", "assert.", "global", "window"),
        unless=r"=\s*(?:chai\.|require\(|chai\b)",
    ),
)

# ── R3: equality or comparison is a constant ──────────────────────────────────────────────────────────────────────────
_TRUE: Final = r"\{\s*(?:return\s+)?true\s*;?\s*\}"
_ALWAYS_EQUAL: Final = (
    Rule(
        "R3",
        r"\bdef __(?:eq|bool)__\([^)]*\)[^:\n]*:\s*(?:\w+\s*=[^\n]*\n\s*|del [^\n]*\n\s*)?return (?:(?:True|1)\b(?!\s*(?:if|and|==))|isinstance\(\w+, \(?(?:int|float|str|bytes|object)\b[\w, ]*\)?\)(?! *(?:and|if)\b))|\bdef __ne__\([^)]*\)[^:\n]*:\s*return (?:False|0)\b(?!\s*(?:if|or|==))|\b__(?:eq|ne|bool)__\s*=\s*lambda[^:\n]*:\s*(?:True|False|1|0)\b"
        rf"|\b(?:equals|isEqual|asymmetricMatch)\s*\([^)\n]*\)\s*(?::\s*[bB]oolean\s*)?{_TRUE}|\b(?:equals|isEqual)\s*[:=]\s*\([^)\n]*\)\s*(?::\s*boolean\s*)?=>\s*true\b|\bequals\s*\([^)\n]*\)[^\n={{]*=\s*true\b"
        r"|(?:\[Symbol\.toPrimitive\]|\bvalueOf|\btoJSON)\s*\([^)\n]*\)\s*(?::\s*\w+\s*)?\{\s*return\s+(?:true|false|-?\d[\w.]*|[\"'][^\"'\n]*[\"']);?\s*\}"
        rf"|\bfunc\s*\([^)\n]*\)\s*(?:Equals?|Is|Less)\([^)\n]*\)\s*bool\s*{_TRUE}|\bfn\s+eq\s*\(\s*&self[^)\n]*\)\s*->\s*bool\s*{_TRUE}|\bfn\s+cmp\s*\(\s*&self[^)\n]*\)\s*->\s*[\w:]*Ordering\s*\{{\s*[\w:]*Equal\s*\}}|\bint\s+compare(?:To)?\s*\([^)\n]*\)\s*\{{\s*return\s+0;\s*\}}",
        "The comparison has the same result for every operand; compare the values.",
        words=("__eq__", "__ne__", "__bool__", "quals", "Equal", "asymmetricMatch", "toPrimitive", "valueOf", "toJSON", "Is(", "Less(", "fn eq", "fn cmp", "compare"),
    ),
)

# ── R4: source reads what belongs to the tests (special cases: hardcoded_answers.py) ──────────────────────────────────
_TEST_DATA: Final = r"""["'`](?:[^"'`\n]*[/\\])?(?:(?:tests?|__tests__|__snapshots__|testdata|spec)[/\\][^"'`\n]*|(?:test_\w+\.py|[\w.-]+_test\.(?:py|go|rs)|[\w.-]+\.(?:test|spec)\.[jt]sx?|[\w.-]+\.(?:snap|golden)))["'`]"""
_READING: Final = (
    Rule(
        "R4",
        r"(?:\bopen|\bread_text|\bread_bytes|\bPath|\breadFile\w*|\brequire|\bimport_module|\bOpen|\bReadFile|\binclude_(?:str|bytes)!|\bread_to_string|\bFile::open|\bfs::read|\breadAllBytes|\breadString|\bnew File|\bPaths?\.(?:get|of)|\bpath\.join|\bfrom)\s*\(?[^;\n]{0,80}?"
        + _TEST_DATA
        + r"[^\n]*",
        "The source reads a file of the tests; let it compute its answer.",
        words=("test", "spec", ".snap", ".golden"),
        unless_path=_ASKS_HONESTLY + r"|(^|/)(cli|__main__)\w*\.\w+$",
    ),
)

# ── R5: gates are lowered by a word (values of settings are compared in lowered_settings.py) ──────────────────────────
CI: Final = r"(^|/)\.github/workflows/[^/]+\.ya?ml$|(^|/)\.gitlab-ci\.ya?ml$|(^|/)azure-pipelines\.ya?ml$|(^|/)\.circleci/config\.yml$|(^|/)\.travis\.yml$|(^|/)Jenkinsfile$"
COMMANDS: Final = (
    CI
    + r"|(^|/)(GNU)?[Mm]akefile$|\.mk$|(^|/)(justfile|Justfile|Taskfile\.ya?ml|tox\.ini|noxfile\.py|package\.json)$|(^|/)(run_?tests?|tests?|check|ci|lint|verify)[\w.-]*\.(sh|bash)$|(^|/)(scripts|bin|ci|\.ci)/[^/]+\.(sh|bash)$|(^|/)\.pre-commit-config\.ya?ml$"
)
CHECKERS: Final = r"(?:py\.?test|unittest|tox|nox|mypy|pyright|ruff|flake8|pylint|bandit|coverage|jest|vitest|mocha|eslint|tsc|(?:npm|yarn|pnpm|bun) (?:run )?(?:test|lint|check)\w*|go (?:test|vet)|golangci-lint|staticcheck|cargo (?:test|nextest|clippy)|mvnw?\b[^\n]*\b(?:test|verify)|gradlew?\b[^\n]*\b(?:test|check)|make (?:test|check|lint))"
_SETTINGS: Final = r"(^|/)(pyproject\.toml|(\.?pytest|tox|mypy|\.mypy)\.ini|setup\.cfg|package\.json|\.mocharc[\w.]*|(jest|vitest|vite|karma)\.config[\w.]*|\.?nycrc[\w.]*)$"


_GATES: Final = (
    Rule(
        "R5",
        rf"^[^\n]*\b{CHECKERS}\b[^\n]*?(?:\|\||;)\s*(?:true|:|exit 0|echo\b[^\n]*)[^\n]*|^\t-\s*{CHECKERS}[^\n]*|^\s*(?:-\s*)?(?:run:\s*)?set \+e\b[^\n]*|\s--(?:exit-zero|passWithNoTests|no-fail|pass-with-no-tests)\b",
        "A check that fails does not count any more; let its failure count.",
        where=f"{COMMANDS}|{_SETTINGS}",
        words=("||", ";", "set +e", "--", "\t-"),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"^\s*(?:continue-on-error|allow_failure|continueOnError|ignore_outcome|ignore_errors)\s*[:=]\s*[\"']?true\b[^\n]*|^\s*(?:-\s*)?if:\s*[\"']?(?:\$\{\{\s*)?(?:false|0)\b[^\n]*|^\s*when:\s*(?:never|manual)\b",
        "CI does not run the step or lets it fail; let it run and its failure count.",
        where=CI + r"|(^|/)tox\.ini$",
        words=("continue", "allow_failure", "ignore_", "if:", "when:"),
        in_new_files=False,
    ),
)

RULES: Final[tuple[Rule, ...]] = (*_ASKING, *_FORGING, *_ALWAYS_EQUAL, *_READING, *_GATES)


# ── S: suppressions in source (noqa, type: ignore, ...) ───────────────────────────────────────────────────────────────
class Mark(NamedTuple):
    """A suppression: what it suppresses, its pattern, whether it is code instead of a comment, and what of it covers a
    whole file.
    """

    kind: SuppressionKind
    pattern: str
    in_code: bool = False
    blanket: str = r"(?!)"


MARKS: Final = (
    Mark("lint", r"(?i:#\s*(?:(?:ruff|flake8):\s*)?noqa\b)|#\s*ruff:\s*(?:disable|ignore|file-ignore)\[", blanket=r"(?i:ruff|flake8):\s*noqa|file-ignore"),
    Mark("lint", r"#\s*pylint:\s*(?:disable|skip-file)|#\s*nosec\b|#\s*nosemgrep\b|#\s*noinspection\s|\bNOSONAR\b|^//\s*(?:nolint\b|lint:(?:file-)?ignore\b)|#nosec\b|CHECKSTYLE(?::|\s)OFF", blanket=r"skip-file|disable=all|lint:file-ignore"),
    Mark("lint", r"(?:eslint|oxlint)-disable|tslint:disable|biome-ignore", blanket=r"(?:lint-disable|tslint:disable)(?!-)|ignore-all"),
    Mark("lint", r"#!?\[\s*(?:allow|expect|cfg_attr\([^\[\]\n]*?\ballow)\s*\(|@(?:file:)?Suppress(?:Warnings)?\b", in_code=True, blanket=r"#!\[|@file:"),
    Mark("types", r"#\s*(?:type|pyright|ty|pyrefly):\s*ignore\b|#\s*pyre-(?:ignore|fixme)|#\s*pytype:\s*(?:disable|skip)", blanket=r"pytype:\s*skip"),
    Mark("types", r"#\s*mypy:\s*(?:ignore-errors(?!\s*=\s*[Ff]alse)|disable-error-code|allow-|no-strict|no-check|no-warn|no-disallow|ignore-missing)|#\s*pyright:\s*(?:basic\b|report\w+\s*=\s*(?:[Ff]alse|none|warning|information))", blanket=r"ignore-errors|basic"),
    Mark("types", r"^(?://|/\*)[\s*]*@ts-(?:ignore|expect-error|nocheck)\b", blanket=r"nocheck"),
    Mark("types", r"@[\w.]*\bno_type_check(?:_decorator)?\b", in_code=True),
    Mark("coverage", r"\bpragma:\s*no\s*(?:cover|branch)\b|^(?://|/\*)\s*(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)\b", blanket=r"ignore file|coverage\s+disable"),
    Mark("coverage", r"#!?\[[^\]\n]*\b(?:coverage\(off\)|no_coverage|not\(tarpaulin)", in_code=True, blanket=r"#!\["),
)
_MARK_WORDS: Final = re.compile(
    r"NOSONAR|lint|(?i:noqa)|nosec|nosemgrep|noinspection|ignore|mypy:|pyright:|pyre-|pytype:|no_type_check|pragma:|@ts-|coverage|CHECKSTYLE|Suppress|allow|expect|tarpaulin|ruff:"
)

# fmt: on


class Suppression(NamedTuple):
    """A suppression in a text; `is_blanket`: it covers a whole file, however much is in it."""

    kind: SuppressionKind
    line: int
    text: str
    is_blanket: bool


def suppressions(side: Text) -> Iterator[Suppression]:
    """Yield the suppressions in a text; those inside strings are none."""
    if _MARK_WORDS.search(side.text) is None:
        return
    for mark in MARKS:
        for start, text in [(0, side.code)] if mark.in_code else side.comments:
            for match in re.finditer(mark.pattern, text):
                shown = (text[match.start() :] if mark.in_code else text).partition("\n")[0][:200]
                line = side.text.count("\n", 0, start + match.start()) + 1
                yield Suppression(mark.kind, line, shown, re.search(mark.blanket, shown) is not None)
