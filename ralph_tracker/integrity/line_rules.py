"""The rules for single changed lines, and the marks that suppress a check, as data: a new one is a row here.

A pattern is searched in the code of a file (comments and Python's docstrings are blanked), across lines if it says so.
A match is a finding if its text occurs more often than before in all changed files together, so that moved or
re-indented code is none.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.core.integrity_result import Severity, SuppressionKind
from ralph_tracker.integrity.file_versions import ChangedFile, Text
from ralph_tracker.integrity.source_tests import Language, language_of

HIGH: Final = Severity.HIGH
_PYTHON: Final = frozenset[Language]({"python"})
_SCRIPT: Final = frozenset[Language]({"javascript", "typescript", "tsx"})
_GO: Final = frozenset[Language]({"go"})
_RUST: Final = frozenset[Language]({"rust"})
_JAVA: Final = frozenset[Language]({"java"})
_ANY: Final = frozenset[Language]()


class Rule:
    """One rule: what is searched for, where, and the message.

    `where` is "source" (code outside the tests), "tests" (code of the tests, including conftest and setup files),
    "programs" (both) or a pattern for the path. `languages` is empty for any. Each match contains one of `words`: texts
    without them are not searched. A match is excused by `unless` in the matched text or `unless_path` in the path.
    `in_text`: the whole text is searched, including comments and strings. `in_new_files`: False if a new file cannot
    weaken anything. `pattern` None: the file itself is the finding. A finding shows the group `shown` of the match,
    else all of it.
    """

    def __init__(  # noqa: PLR0913  # a row has that many columns
        self,
        id: str,  # noqa: A002  # the name of the column
        pattern: str | None,
        message: str,
        *,
        where: str = "source",
        languages: frozenset[Language] = _ANY,
        words: tuple[str, ...] = (),
        unless: str | None = None,
        unless_path: str | None = None,
        in_text: bool = False,
        in_new_files: bool = True,
        severity: Severity = HIGH,
    ) -> None:
        self.id = id
        self.message = message
        self.where = where
        self.languages = languages
        self.words = words
        self.unless = unless
        self.unless_path = unless_path
        self.in_text = in_text
        self.in_new_files = in_new_files
        self.severity = severity
        self.is_of_whole_file = pattern is None
        self._pattern = pattern or ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled once a text contains one of the words: all of them take 15 ms."""
        return re.compile(self._pattern, re.MULTILINE)

    def may_match(self, side: Text) -> bool:
        """Return whether a text has one of the words, which each match contains."""
        return not self.words or any(map(side.text.__contains__, self.words))

    def looks_at(self, file: ChangedFile) -> bool:
        """Return whether the rule applies to a file."""
        if file.is_new and not self.in_new_files:
            return False
        # Before the paths, whose patterns are compiled in every call: nearly no change has one of the words.
        if not (self.may_match(file.old) or self.may_match(file.new)):
            return False
        if self.where in _PLACES:
            if file.language is None or (self.languages and file.language not in self.languages):
                return False
            if (self.where == "source" and not file.is_source) or (
                self.where == "tests" and file.kind not in _OF_TESTS
            ):
                return False
        elif re.search(self.where, file.path) is None:
            return False
        return self.unless_path is None or re.search(self.unless_path, file.path) is None


_PLACES: Final = frozenset({"source", "tests", "programs"})
_OF_TESTS: Final = frozenset({"test", "support", "data"})

# ── R1: source asks whether it is under test ──────────────────────────────────────────────────────────────────────────
# Programs that run or serve tests, and frameworks with test settings, ask this legitimately.
_ASKS_HONESTLY: Final = (
    r"(^|/)(setup|noxfile|tasks|fabfile|manage|settings\w*|_?testing|test_?utils?|testcases?|_?runtests?)\.py$"
    r"|(^|/)(settings|config|scripts|tools|docs?|examples?|benchmarks?|ci|\.github)/|pytest_?plugin|(^|/)_?pytest\w*(\.py$|/)"
    r"|\.(config|setup)\.[cm]?[jt]s$|(^|/)\.?\w+rc\.[cm]?js$"
)
_UNDER_TEST: Final = "The source asks whether it runs under test; let it behave the same everywhere."


def _detects(pattern: str, languages: frozenset[Language], *words: str) -> Rule:
    return Rule("R1", pattern, _UNDER_TEST, languages=languages, words=words, unless_path=_ASKS_HONESTLY)


_TEST_NAME: Final = r"""["'][^"'\n]*(?:\btests?\b|test_|\btest|py\.?test|unittest|conftest)[^"'\n]*["']"""
_RUNNERS: Final = r"_?(?:py\.?test|unittest|nose2?|hypothesis)"
_DETECTED: Final = (
    _detects(
        r"""["'](?:PYTEST_(?:CURRENT_TEST|VERSION|XDIST\w*|RUN\w*)|_called_from_test)["']""",
        _PYTHON,
        "PYTEST_",
        "_called",
    ),
    _detects(
        rf"""["']{_RUNNERS}(?:\.\w+)*["']\s+(?:not\s+)?in\s+(?:\w+\.)?(?:modules|argv|orig_argv)\b""",
        _PYTHON,
        "modules",
        "argv",
    ),
    _detects(rf"""\bmodules\.get\(\s*["']{_RUNNERS}|\bmodules\[["']{_RUNNERS}""", _PYTHON, "modules"),
    _detects(
        rf"""["'][^"'\n]*{_RUNNERS}[^"'\n]*["']\s+(?:not\s+)?in\s+[^\n]*\bargv\b|\bargv\b[^\n]*["'][^"'\n]*{_RUNNERS}\b""",
        _PYTHON,
        "argv",
    ),
    _detects(
        r"""\b(?:inspect\.(?:stack|currentframe|getouterframes)|sys\._getframe|traceback\.(?:extract|walk|format)_stack)\b"""
        rf"""(?:[^\n]*\n){{0,3}}?[^\n]*{_TEST_NAME}|{_TEST_NAME}\s+(?:not\s+)?in\b[^\n]*\binspect\.stack\(""",
        _PYTHON,
        *("stack", "currentframe", "_getframe", "getouterframes"),
    ),
    _detects(r"""/proc/[^"'\n]*/cmdline[^\n]*(?:\n[^\n]*){0,4}?(?:pytest|unittest)""", _PYTHON, "/cmdline"),
    _detects(
        r"""\bNODE_ENV\s*["'\])]*\s*[!=]==?\s*["'`]test["'`]|["'`]test["'`]\s*[!=]==?\s*process\.env\.NODE_ENV""",
        _SCRIPT,
        "NODE_ENV",
    ),
    _detects(
        r"""\benv(?:\.|\[["'])(?:JEST_WORKER_ID|VITEST\w*|MOCHA\w*|JASMINE\w*)\b""",
        _SCRIPT,
        "JEST_",
        "VITEST",
        "MOCHA",
        "JASMINE",
    ),
    _detects(
        r"""\btypeof\s+(?:globalThis\.)?(?:jest|vi|describe|it|expect|jasmine|mocha)\b\s*[!=]""", _SCRIPT, "typeof"
    ),
    _detects(
        r"""\b(?:globalThis|global|window)\.(?:jest|describe|expect|__vitest\w*|__coverage__)\b(?!\s*=[^=])""",
        _SCRIPT,
        "global",
        "window",
    ),
    # `if (import.meta.vitest) { const { it } = …` declares tests inside the source, which is legitimate.
    _detects(
        r"""^(?!\s*if\s*\(\s*import\.meta\.vitest\s*\)\s*\{|.*\}\s*=\s*import\.meta\.vitest).*\bimport\.meta\.vitest\b""",
        _SCRIPT,
        "import.meta.vitest",
    ),
    _detects(r"""\bprocess\.argv\b[^\n]*["'/`](?:jest|mocha|vitest)\b""", _SCRIPT, "argv"),
    _detects(
        r"""\btesting\.Testing\(\)|\bflag\.Lookup\(\s*["`]test\.\w+["`]|\bos\.Args\[0\][^\n]*["`][./_]*test\b""",
        _GO,
        "Testing()",
        "Lookup",
        "os.Args",
    ),
    _detects(
        r"""\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\b|\bthread::current\(\)[^;\n]*name\(\)[^;\n]*test|env::var(?:_os)?\("(?:CARGO_TARGET_TMPDIR|NEXTEST\w*|RUST_TEST\w*)""",
        _RUST,
        "cfg!",
        "thread::current",
        "NEXTEST",
        "RUST_TEST",
        "CARGO_TARGET",
    ),
    _detects(
        r"""\bgetStackTrace\(\)(?:[^\n]*\n){0,3}?[^\n]*["'][\w.]*(?:junit|testng|surefire)|\bClass\.forName\(\s*"org\.(?:junit|testng)"""
        r"""|contains\("(?:org\.)?(?:junit|surefire)|getProperty\("(?:surefire|java\.class\.path)[^\n]*(?:junit|surefire)""",
        _JAVA,
        *("junit", "testng", "surefire"),
    ),
)

# ── R2: the runner is forged ──────────────────────────────────────────────────────────────────────────────────────────
# The body of a function: indented or empty lines.
_BODY: Final = r"(?:\n(?:[ \t][^\n]*)?){0,60}?\n[ \t]+[^\n]*"


def _hook(names: str, deed: str, what: str, unless: str | None = None) -> Rule:
    """Return the rule for a pytest hook whose body matches `deed`."""
    return Rule(
        "R2",
        rf"^[ \t]*(?:async )?def pytest_(?:{names})\([^)]*\)[^:\n]*:{_BODY}(?P<shown>{deed})",
        what,
        where="programs",
        languages=_PYTHON,
        words=("def pytest_",),
        unless=unless,
    )


_FORGED: Final = (
    _hook(
        "runtest_makereport|runtest_logreport|runtest_call|runtest_teardown|exception_interact|make_collect_report|report_from_serializable",
        r"(?:\.(?:outcome|longrepr|wasxfail)\s*=(?!=)|\bforce_result\(|\bsetattr\(\s*\w*(?:rep|report|result)\w*\s*,\s*[\"'](?:outcome|longrepr|wasxfail)|\bexcinfo\s*=\s*None)[^\n]*",
        "A hook of pytest rewrites the outcome of tests; remove it.",
    ),
    _hook(
        "report_teststatus",
        r"return\s*\(?\s*[\"']passed[\"'][^\n]*",
        "A hook of pytest reports tests as passed; remove it.",
        r"\.(?:passed|outcome)\b",
    ),
    _hook(
        "runtest_protocol|pyfunc_call|runtest_call|runtest_setup",
        r"(?:return True\b|except[^\n:]*:\s*\n?\s*pass\b)",
        "A pytest hook replaces the running of the test; remove it.",
        r"runtestprotocol\(|testfunction\(|funcitem|pyfuncitem\.obj|asyncio|item\.obj|yield",
    ),
    _hook(
        "collection_modifyitems|itemcollected",
        r"(?:\bitems\[:\]\s*=|\bitems\.(?:clear|remove|pop)\(|\bdel items\b|add_marker\([^\n]*(?:skip|xfail))[^\n]*",
        "A hook of pytest takes collected tests out of the run; select tests on the command line instead.",
        r"getoption|getvalue|items\[:\]\s*=\s*(?:sorted|reversed|list\(sorted)|option\.|platform|find_spec|which\(",
    ),
    _hook(
        "sessionfinish|unconfigure|terminal_summary",
        r"(?:\bexitstatus\s*=(?!=)|\bos\._exit\(|\bsys\.exit\()[^\n]*",
        "A hook of pytest sets the exit status; remove it.",
    ),
    _hook(
        "configure|sessionstart|plugin_registered|cmdline_main",
        r"(?:\.unregister\(|\.set_blocked\(|\b_pytest\.[\w.]+\s*=(?!=)|os\._exit\(|return 0\b)[^\n]*",
        "A hook of pytest replaces parts of the runner; remove it.",
    ),
    Rule(
        "R2",
        r"\bpytest_runtest_\w+\s*=\s*lambda\b|\b_pytest(?:\.\w+)+\s*=(?!=)",
        "A part of pytest is replaced; remove the replacement.",
        where="programs",
        languages=_PYTHON,
        words=("pytest_runtest", "_pytest"),
    ),
    Rule(
        "R2",
        r"^[ \t]*(?:(?:unittest\.)?(?:case\.)?(?:TestCase|TestResult|TextTestResult)\.\w+|pytest\.(?:raises|fail|approx|main|skip)|(?:builtins\.)?AssertionError|builtins\.(?:isinstance|len|sum|abs|any|all|eval|compile|__import__|open|print))\s*=(?!=)[^\n]*"
        r"|\bsetattr\(\s*(?:(?:unittest\.)?(?:TestCase|TestResult)|pytest|builtins|_pytest[\w.]*)\s*,\s*[\"'][^\n]*",
        "What tests assert with is replaced; remove the replacement.",
        where="programs",
        languages=_PYTHON,
        words=("TestCase", "TestResult", "pytest.", "AssertionError", "builtins"),
        unless=r"setattr\(\s*(?:pytest|builtins)\s*,\s*[\"'](?!raises|fail|approx|main|isinstance|len|sum|any|all)|builtins\.(?:open|print)",
    ),
    Rule(
        "R2",
        r"\b(?:(?:globalThis|global|window)\.)(?:expect|it|test|describe|assert)\s*=(?![=>])[^\n]*|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|ok|throws)\s*=(?![=>])[^\n]*|\bObject\.is\s*=(?![=>])[^\n]*|\bexpect\.prototype\.\w+\s*=(?!=)",
        "What tests assert with is replaced; remove the replacement.",
        where="programs",
        languages=_SCRIPT,
        words=("expect", "assert", "Object.is", "global", "window"),
        unless=r"=\s*(?:chai\.|require\(|chai\b)",
    ),
    # Exits that end the run as a success; only at top level, since a test may test `sys.exit(0)`.
    Rule(
        "R2",
        r"""^(?:sys\.exit|exit|quit|raise SystemExit)\((?:0|None)?\)|^[^"'\n]*\bos\._exit\((?:0|os\.EX_OK)\)"""
        r"""|^[ \t]*pytest\.exit\([^\n]*(?:returncode\s*=\s*0|,\s*0\s*\))|^[ \t]*atexit\.register\([^\n]*_exit""",
        "The tests end early with exit status 0; remove the exit.",
        where="tests",
        languages=_PYTHON,
        words=("exit", "Exit", "quit("),
    ),
    Rule(
        "R2",
        r"^[ \t]+(?:sys\.exit|raise SystemExit)\((?:0|None)?\)",
        "The set-up of the tests exits with status 0; remove the exit.",
        where=r"(^|/)conftest\.py$",
        words=("exit", "Exit"),
    ),
    Rule(
        "R2",
        r"^[ \t]*process\.(?:exit|reallyExit)\((?:0)?\)|\bprocess\.exitCode\s*=\s*0\b|\bprocess\.on\(\s*[\"']exit[\"'][^\n]*exitCode\s*=\s*0",
        "The tests set exit status 0 themselves; remove the exit.",
        where="tests",
        languages=_SCRIPT,
        words=("process.",),
    ),
    Rule(
        "R2",
        r"\bos\.Exit\(0\)|\bsyscall\.Exit\(0\)|^func TestMain\([^)]*\)\s*\{\s*(?:_\s*=\s*)?m\.Run\(\)\s*;?\s*os\.Exit\(0",
        "The tests exit with status 0 themselves; use `os.Exit(m.Run())`.",
        where="tests",
        languages=_GO,
        words=("Exit(0)",),
        unless_path=r"helper",
    ),
    Rule(
        "R2",
        r"\bprocess::exit\(\s*0\s*\)",
        "The tests exit with status 0 themselves; remove the exit.",
        where="tests",
        languages=_RUST,
        words=("process::exit",),
    ),
    Rule(
        "R2",
        r"\bSystem\.exit\(\s*0\s*\)|\.halt\(\s*0\s*\)",
        "The tests exit with status 0 themselves; remove the exit.",
        where="tests",
        languages=_JAVA,
        words=("exit(", "halt("),
    ),
    # Files that run before the tests, or instead of their runner.
    Rule(
        "R2",
        None,
        "Python runs this file at every start, before the tests; remove it.",
        where=r"(^|/)(sitecustomize|usercustomize)\.py$|\.pth$",
        unless_path=r"(^|/)(tests?|testdata|fixtures)/",
    ),
    Rule(
        "R2",
        None,
        "The file shadows a part of the test runner; rename it.",
        where=r"^(src/)?(_?pytest|unittest|pluggy|nose2?)(\.py|/__init__\.py)$|(^|/)(node_modules/\.bin/|\.?venv/bin/|bin/)(pytest|py\.test|python3?|jest|vitest|mocha|node|npm|npx|cargo|go|mvn|gradle)$|(^|/)node_modules/(jest|vitest|mocha|@jest|@vitest)[^/]*/",
    ),
    Rule(
        "R2",
        r"\bPYTEST_PLUGINS\s*[:=]\s*\S[^\n]*|(?:addopts|PYTEST_ADDOPTS)[^\n]*\s-p[ =](?!no:|xdist|pytest|asyncio|randomly)[\w.]+",
        "A plugin is loaded into every run of the tests; register it in conftest.py, where it is seen.",
        where=r"(^|/)(pyproject\.toml|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|Makefile|\.env|noxfile\.py)$|\.ya?ml$",
        words=("PYTEST_PLUGINS", " -p"),
    ),
    Rule(
        "R2",
        r"""["']?\^?[^"'\n]*(?:\bsrc\b|\blib\b|\./|@/)[^"'\n]*["']\s*:\s*\[?\s*["'][^"'\n]*(?:mock|stub|fake|double)[^"'\n]*["']""",
        "Source under test is mapped to a stand-in; let the tests import the source.",
        where=r"(^|/)((jest|vitest|vite)\.config[\w.]*\.[cm]?[jt]s|jest\.config\.json|package\.json)$",
        words=("mock", "stub", "fake", "double"),
        unless=r"css|less|scss|svg|png|jpg|gif|woff|asset|style",
    ),
)

# ── R3: equality is a constant ────────────────────────────────────────────────────────────────────────────────────────
_EQUAL: Final = "{} is the same for every operand; compare the values."


def _constant(pattern: str, languages: frozenset[Language], what: str, *words: str) -> Rule:
    return Rule("R3", pattern, _EQUAL.format(what), languages=languages, words=words)


_ALWAYS_EQUAL: Final = (
    _constant(
        r"\bdef __eq__\([^)]*\)[^:\n]*:\s*(?:\w+\s*=[^\n]*\n\s*|del [^\n]*\n\s*)?return (?:True|1)\b(?!\s*(?:if|and|==))",
        _PYTHON,
        "`__eq__`",
        "__eq__",
    ),
    _constant(
        r"\bdef __ne__\([^)]*\)[^:\n]*:\s*return (?:False|0)\b(?!\s*(?:if|or|==))", _PYTHON, "`__ne__`", "__ne__"
    ),
    _constant(r"\bdef __bool__\([^)]*\)[^:\n]*:\s*return True\s*$", _PYTHON, "`__bool__`", "__bool__"),
    _constant(
        r"\b__(?:eq|ne|bool)__\s*=\s*lambda[^:\n]*:\s*(?:True|False|1|0)\b",
        _PYTHON,
        "`__eq__`",
        "__eq__",
        "__ne__",
        "__bool__",
    ),
    _constant(
        r"\b(?:equals|isEqual|asymmetricMatch)\s*\([^)\n]*\)\s*(?::\s*boolean\s*)?\{\s*return true;?\s*\}|\b(?:equals|isEqual)\s*[:=]\s*\([^)\n]*\)\s*(?::\s*boolean\s*)?=>\s*true\b",
        _SCRIPT,
        "`equals`",
        "quals",
        "isEqual",
        "asymmetricMatch",
    ),
    _constant(
        r"(?:\[Symbol\.toPrimitive\]|\bvalueOf|\btoJSON)\s*\([^)\n]*\)\s*(?::\s*\w+\s*)?\{\s*return\s+(?:true|false|-?\d[\w.]*|[\"'][^\"'\n]*[\"']);?\s*\}",
        _SCRIPT,
        "The value of every object",
        "toPrimitive",
        "valueOf",
        "toJSON",
    ),
    _constant(
        r"\bfunc\s*\([^)\n]*\)\s*(?:Equals?|Is|Less)\([^)\n]*\)\s*bool\s*\{\s*return true;?\s*\}",
        _GO,
        "The comparison",
        "Equal",
        "Is(",
        "Less(",
    ),
    _constant(
        r"\bfn\s+eq\s*\(\s*&self[^)\n]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?true;?\s*\}|\bfn\s+cmp\s*\(\s*&self[^)\n]*\)\s*->\s*[\w:]*Ordering\s*\{\s*[\w:]*Equal\s*\}",
        _RUST,
        "`eq`",
        "fn eq",
        "fn cmp",
    ),
    _constant(
        r"\bboolean\s+equals\s*\(\s*(?:final\s+)?[\w<>?]+\s+\w+\s*\)\s*\{\s*return\s+true;\s*\}|\bint\s+compare(?:To)?\s*\([^)\n]*\)\s*\{\s*return\s+0;\s*\}",
        _JAVA,
        "`equals`",
        "equals",
        "compare",
    ),
)

# ── R4: the source reads what belongs to the tests (special cases: hardcoded_answers.py) ──────────────────────────────
_TEST_DATA: Final = r"""["'`](?:[^"'`\n]*[/\\])?(?:(?:tests?|__tests__|__snapshots__|testdata|spec)[/\\][^"'`\n]*|(?:test_\w+\.py|[\w.-]+_test\.(?:py|go|rs)|[\w.-]+\.(?:test|spec)\.[jt]sx?|[\w.-]+\.(?:snap|golden)))["'`]"""
_READS_TESTS: Final = (
    Rule(
        "R4",
        r"(?:\bopen|\bread_text|\bread_bytes|\bPath|\breadFile\w*|\brequire|\bimport_module|\bOpen|\bReadFile|\binclude_(?:str|bytes)!|\bread_to_string|\bFile::open|\bfs::read|\breadAllBytes|\breadString|\bnew File|\bPaths?\.(?:get|of)|\bpath\.join|\bfrom)\s*\(?[^;\n]{0,80}?"
        + _TEST_DATA
        + r"[^\n]*",
        "The source reads a file of the tests; let it compute its answer.",
        words=("test", "spec", ".snap", ".golden"),
        unless_path=_ASKS_HONESTLY + r"|(^|/)(cli|__main__|build|gulpfile)\w*\.\w+$",
    ),
)

# ── R5: gates are lowered by a word (values of settings are compared in lowered_settings.py) ─────────────────────────────────────
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
        rf"^[^\n]*\b{CHECKERS}\b[^\n]*?(?:\|\||;)\s*(?:true|:|exit 0|echo\b[^\n]*)[^\n]*",
        "The failure of a check is swallowed; let the command fail.",
        where=COMMANDS,
        words=("||", ";"),
        in_new_files=False,
    ),
    Rule(
        "R5",
        rf"^\s*-\s*{CHECKERS}[^\n]*",
        "A leading `-` lets make ignore the failure of a check; remove it.",
        where=r"(^|/)(GNU)?[Mm]akefile$|\.mk$",
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"^\s*(?:continue-on-error|allow_failure|continueOnError|ignore_outcome|ignore_errors)\s*[:=]\s*[\"']?true\b[^\n]*",
        "CI continues when the step fails; let the failure count.",
        where=CI + r"|(^|/)tox\.ini$",
        words=("continue", "allow_failure", "ignore_"),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"^\s*(?:-\s*)?if:\s*[\"']?(?:\$\{\{\s*)?(?:false|0)\b[^\n]*|^\s*when:\s*(?:never|manual)\b",
        "The step of CI never runs; remove the condition.",
        where=CI,
        words=("if:", "when:"),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"^\s*(?:-\s*)?(?:run:\s*)?set \+e\b[^\n]*",
        "The script continues after a failing command; remove `set +e`.",
        where=COMMANDS,
        words=("set +e",),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"\s--exit-zero\b|\s--passWithNoTests\b|\s--no-fail\b|\s--pass-with-no-tests\b",
        "The check passes whatever it finds; remove the option.",
        where=COMMANDS + "|" + _SETTINGS,
        words=("--",),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"-D(?:skipTests|skipITs|maven\.test\.skip)(?!=false)|-Dmaven\.test\.failure\.ignore|<(?:skipTests|skipITs|testFailureIgnore|maven\.test\.skip)>\s*true|\bignoreFailures\s*=\s*true|\bgradlew?\b[^\n]*\s-x\s+test\b|<excludedGroups>|exclude\s*\(?\s*[\"'][^\"'\n]*Test",
        "The build skips tests or ignores their failure; let them run and count.",
        where=COMMANDS + r"|(^|/)pom\.xml$|\.gradle(\.kts)?$|(^|/)\.mvn/",
        in_text=True,
        words=("skip", "ignore", "Ignore", "-x", "exclude"),
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"(?:addopts|PYTEST_ADDOPTS|\bpytest\b|\bjest\b|\bvitest\b)[^\n]*\s(?:--deselect|--ignore(?:-glob)?|--testPathIgnorePatterns|-k|--exclude)[ =][^\n]*|^\s*(?:--deselect|--ignore(?:-glob)?)[ =][^\n]*",
        "Tests are left out of the run by an option; run them all.",
        where=COMMANDS + "|" + _SETTINGS,
        words=(" -k", "--deselect", "--ignore", "IgnorePatterns", "--exclude"),
        unless=r"--ignore(?:-glob)?[ =](?:\.\w|\S*(?:node_modules|\.venv|venv|build|dist|docs?|examples?|benchmarks?)\b)",
        in_new_files=False,
    ),
    Rule(
        "R5",
        r"^[ \t]*collect_ignore(?:_glob)?(?:\s*\+?=(?!=)|\.(?:append|extend)\()[^\n]*",
        "Test files are left out of the collection; collect them all.",
        where=r"(^|/)conftest\.py$",
        words=("collect_ignore",),
        unless=r"=\s*\[\s*\]|[\"'](?:setup\.py|docs|build)[\"']",
    ),
    Rule(
        "R5",
        r"\b(?:it|test|describe|suite|context)\.only\b[^\n]*|^[ \t]*(?:fit|fdescribe|ftest)\s*\([^\n]*",
        "`.only` leaves every other test of the file out; remove it.",
        where="tests",
        languages=_SCRIPT,
        words=(".only", "fit", "fdescribe", "ftest"),
    ),
)

RULES: Final[tuple[Rule, ...]] = (*_DETECTED, *_FORGED, *_ALWAYS_EQUAL, *_READS_TESTS, *_GATES)
NAMES: Final = {
    "R1": "test_detected",
    "R2": "runner_forged",
    "R3": "equality_overloaded",
    "R4": "special_cased",
    "R5": "gate_lowered",
    "W": "assertion_weakened",
    "U": "not_looked_into",
}


# ── Suppressions in source (noqa, type: ignore, ...): counted; a new mark is a row here ───────────────────────────────
class Mark(NamedTuple):
    """A suppression mark: what it suppresses, its pattern, and whether it is code instead of a comment."""

    kind: SuppressionKind
    pattern: str
    in_code: bool = False


_SONAR: Final = Mark("lint", r"\bNOSONAR\b")
_SCRIPT_MARKS: Final = (
    _SONAR,
    Mark("lint", r"(?:eslint|oxlint)-disable|tslint:disable|biome-ignore"),
    Mark("types", r"^(?://|/\*)[\s*]*@ts-(?:ignore|expect-error|nocheck)\b"),
    Mark("coverage", r"^(?://|/\*)\s*(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)\b"),
)
MARKS: Final[Mapping[Language, tuple[Mark, ...]]] = {
    "python": (
        _SONAR,
        Mark("lint", r"(?i:#\s*(?:(?:ruff|flake8):\s*)?noqa\b)|#\s*ruff:\s*(?:disable|ignore|file-ignore)\["),
        Mark("lint", r"#\s*pylint:\s*(?:disable|skip-file)|#\s*nosec\b|#\s*nosemgrep\b|#\s*noinspection\s"),
        Mark(
            "types",
            r"#\s*(?:type|pyright|ty|pyrefly):\s*ignore\b|#\s*pyre-(?:ignore|fixme)|#\s*pytype:\s*(?:disable|skip)",
        ),
        Mark(
            "types",
            r"#\s*mypy:\s*(?:ignore-errors(?!\s*=\s*[Ff]alse)|disable-error-code|allow-|no-strict|no-check|no-warn|no-disallow|ignore-missing)",
        ),
        Mark("types", r"#\s*pyright:\s*(?:basic\b|report\w+\s*=\s*(?:[Ff]alse|none|warning|information))"),
        Mark("types", r"@[\w.]*\bno_type_check(?:_decorator)?\b", in_code=True),
        Mark("coverage", r"\bpragma:\s*no\s*(?:cover|branch)\b"),
    ),
    "javascript": _SCRIPT_MARKS,
    "typescript": _SCRIPT_MARKS,
    "tsx": _SCRIPT_MARKS,
    "go": (Mark("lint", r"^//\s*(?:nolint\b|lint:(?:file-)?ignore\b)|#nosec\b"),),
    "java": (_SONAR, Mark("lint", r"CHECKSTYLE(?::|\s)OFF"), Mark("lint", r"@SuppressWarnings\b", in_code=True)),
    "rust": (
        Mark("lint", r"#!?\[\s*(?:allow|expect|cfg_attr\([^\[\]\n]*?\ballow)\s*\(", in_code=True),
        Mark("coverage", r"#!?\[[^\]\n]*\b(?:coverage\(off\)|no_coverage|not\(tarpaulin)", in_code=True),
    ),
}
_MARK_WORDS: Final = re.compile(
    r"NOSONAR|lint|noqa|NOQA|NoQA|nosec|nosemgrep|noinspection|ignore|mypy:|pyright:|pyre-|pytype:|no_type_check|pragma:|@ts-|coverage"
    r"|CHECKSTYLE|SuppressWarnings|allow|expect|tarpaulin|ruff:"
)


def count_suppressions(side: Text) -> Mapping[SuppressionKind, int]:
    """Return the number of suppressions in a text, by kind; those inside strings do not count."""
    found: dict[SuppressionKind, int] = {}
    language = language_of(side.path)
    if language is None or _MARK_WORDS.search(side.text) is None:
        return found
    for kind, pattern, in_code in MARKS[language]:
        texts = [side.code] if in_code else [comment[:2_000] for comment in side.comments]
        number = sum(1 for text in texts for _ in re.finditer(pattern, text))
        if number:
            found[kind] = found.get(kind, 0) + number
    return found
