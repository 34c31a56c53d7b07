"""The gates that settings hold, a row each: which key, and how it gets weaker."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.settings.narrowing import NO_TESTS
from ralph_tracker.integrity.settings.values import Value, alternatives, lines, numbers, shell_words, words

# floor, ceiling: a number falls or rises. on, off: a switch is turned. kept: an item goes. exempt: an item comes.
# codes_kept, codes_exempt: the same for codes of a linter, of which a shorter one holds all that begin with it.
# level: a step down in `LEVELS`. places: what is left lies within what was there; narrowed_to: so, or it was all.
Way = Literal[
    "floor",
    "ceiling",
    "on",
    "off",
    "kept",
    "exempt",
    "codes_kept",
    "codes_exempt",
    "level",
    "places",
    "patterns",
    "narrowed_to",
]
Split = Callable[[Value | None], tuple[str, ...]]
LEVELS: Final = (
    {"off": 0, "0": 0, "warn": 1, "1": 1, "error": 2, "2": 2},
    {"allow": 0, "warn": 1, "deny": 2, "forbid": 3},
    {"skip": 0, "silent": 1, "normal": 2},
    {"none": 0, "false": 0, "information": 1, "warning": 2, "error": 3, "true": 3},
    {"off": 0, "basic": 1, "standard": 2, "recommended": 3, "strict": 3, "all": 4},
)
_NOT_MEASURED: Final = Pattern(
    NO_TESTS.pattern
    + r"|(^|[/\\*])(tests?|ext|extern|_?vendor(ed)?|submodules|site-packages|dist-packages|migrations|scripts?|tools?)"
    r"([/\\*.]|$)|(^|[/*])(_?version(_?info)?|__(main|init|about|version)__|conftest|noxfile)\.py$|(^|/)(test_\*|\*_test)"
    r"|^(tasks|fabfile|setup)\.py$|\.(c|h|cc|cpp|pyx|pxd|so|md|rst|txt|js|css|html|json|ya?ml|toml|cfg|ini|in)$"
    r"|^(/|<|\$)|config-\d|_remote_module|node_modules|\.d\.ts|^\*/python|^\*__init__\*$"
)
_NOT_LINTED: Final = Pattern(
    _NOT_MEASURED.pattern
    + r"|generated|_pb2|_version\b|_ffi\.py$|(^|/)\^?(bin|data|demo\w*|fixtures|snapshots|assets|static)(/|$)"
    r"|^(\*\*?/)?\.(\*?/?$|\w)"
)  # by a glob: what is hidden
_CONVENTIONAL_LINES: Final = Pattern(
    r"pragma|no ?cov(er)?\b|TYPE_CHECKING|__name__|NotImplemented|__repr__|__str__|overload|abstract|Protocol"
    r"|AssertionError|assert_never|assert False|self\.debug|settings\.DEBUG|if 0|if False|(\\?\.){3}|\\?\.\{3"
    r"|unreachable|hasattr|__builtins__|typing\.|sys\.|platform|PY\d|deprecat|ImportError|pytest\.mark|breakpoint",
    re.IGNORECASE,
)
# Codes that formatters make idle, or that are about the look of docstrings and messages.
_STYLE: Final = Pattern(
    r"^(E501|E20[123]|E226|E731|E741|E70[14]|W19|W29|W50[345]|E1|D[234]|Q|COM8|ISC00|CPY|ANN10|TRY003|EM1|FIX|TD00|ERA)"
)

# A key about single files or about what is no source of the project.
_NARROW_GLOB: Final = Pattern(
    r"per-file-ignores\.(?:[^*]+$|.*(?:test|conftest|docs?/|example|bench|script|tools?/|setup\.py|__init__|\.pyi|migration"
    r"|vendor|third_party|extern|generated|_pb2|_version))"
)
# Whole families, and what a linter finds to be wrong rather than unlovely.
# Names that nothing defines: the run of a test shows them too, and linters take those for them that a module makes.
_SHOWN_BY_RUNNING: Final = frozenset({"F821", "F822"})
_GRAVE_CODE: Final = Pattern(
    r"^(ALL|F\d*|E9\d*|C901|[A-Z]+\d{0,1}|E7|E4|E722|BLE001|S(?!101)\d{3}|B00\d|B904|PLR091[1-5])$"
)


# Limits that honest work adjusts now and then.
_ADJUSTED: Final = Pattern(r"line-length|timeout|threshold")
_FAR: Final = 1.5
# Of pylint's messages a whole category, and the names and numbers of what is wrong rather than unlovely, as of ruff's.
_GRAVE_MESSAGE: Final = Pattern(
    r"all|[CRWEF]|[EF]\d{4}|W06\d\d|W070[0-9]|no-member|not-callable|no-value-for-parameter|unreachable"
    r"|(unused|undefined|unexpected|used-before|possibly-used|bare-except|broad-except"
    r"|unsubscriptable|unsupported|dangerous-default|assignment-from)[\w-]*",
    re.IGNORECASE,
)
_OF_A_PACKAGE: Final = Pattern(
    r"mypy\[(?!(\*\.)?_?(tests?|docs|examples?|benchmarks?|conftest|scripts|setup)\b)[^\]]*\*\]"
)
# What is on by default since some version of its tool: who turns it off may keep what was.
_BY_VERSION: Final = frozenset({"mypy.no_implicit_optional"})


class Gate(NamedTuple):
    """Describe a gate: its keys, how it gets weaker, and what of it is none (`harmless`, searched for in each item)."""

    keys: Pattern
    way: Way
    rule: Literal["T3", "G1"] = "G1"
    split: Split = words
    harmless: Pattern | None = None
    severity: Severity = Severity.HIGH

    def severity_of(self, key: str, old: str | None, new: str | None) -> Severity:
        """Return how grave a change is: one rule set aside, or a limit adjusted, is common in honest work."""
        items = self.split(new)
        if key.startswith("mypy[") and _OF_A_PACKAGE.match(key):
            return Severity.HIGH
        if key == "pylint.disable" and any(_GRAVE_MESSAGE.fullmatch(item) for item in items):
            return Severity.HIGH
        return Severity.MEDIUM if self._is_common(key, old, new, items) else self.severity

    def _is_common(self, key: str, old: str | None, new: str | None, items: tuple[str, ...]) -> bool:
        if (key == "mypy.follow_imports" and new == "silent") or (old is None and key in _BY_VERSION):
            return True
        if self.way == "ceiling":
            return _ADJUSTED.search(key) is not None and not _is_far_above(key, numbers(old), numbers(new))
        if self.way == "level":
            return old is None and not key.startswith(("mypy.", "pyright."))
        if self.way == "codes_exempt":
            return not any(_is_grave(item) for item in items) or _NARROW_GLOB.search(key) is not None
        return False


def _is_far_above(key: str, old: tuple[float, ...], new: tuple[float, ...]) -> bool:
    """Tell whether a limit was lifted rather than adjusted."""
    if not new and "line-length" in key:
        return False
    if not old or not new or new[-1] < 0 or ("timeout" in key and not new[-1]):
        return True
    return "timeout" not in key and new[-1] >= max(old[-1], 1) * _FAR


def _is_grave(code: str) -> bool:
    return _GRAVE_CODE.search(code) is not None and code not in _SHOWN_BY_RUNNING


def _gate(  # the columns of the table
    keys: str,
    way: Way,
    rule: Literal["T3", "G1"] = "G1",
    split: Split = words,
    harmless: Pattern | None = None,
    severity: Severity = Severity.HIGH,
) -> Gate:
    return Gate(Pattern(keys), way, rule, split, harmless, severity)


# Tests of pytest assert by a statement that bandit reports.
_ASSERTIONS_ALLOWED: Final = Pattern(r"^B101$")
_NOT_ENTERED: Final = Pattern(rf"{NO_TESTS.pattern}|^(\.\*|CVS|_darcs|\{{arch\}})$")  # the last are pytest's own
_DEFAULT_PATTERNS: Final = Pattern(r"node_modules|dist|cypress|\.\{|config|e2e")
GATES: Final[tuple[Gate, ...]] = (
    _gate(r"pytest\.narrowed", "exempt", "T3", shell_words),
    _gate(r"pytest\.collect_ignore", "exempt", "T3", words, NO_TESTS),
    _gate(r"pytest\.norecursedirs", "exempt", "T3", words, _NOT_ENTERED),
    _gate(r"pytest\.testpaths", "places", "T3"),
    _gate(r"pytest\.python_(files|functions|classes)", "patterns", "T3"),
    _gate(
        r"(jest|vitest)\.(.+\.)?testPathIgnorePatterns|mocha\.(ignore|exclude)",
        "exempt",
        "T3",
        words,
        _DEFAULT_PATTERNS,
    ),
    _gate(r"vitest\.exclude", "exempt", "T3", words, _DEFAULT_PATTERNS),
    _gate(r"jest\.(.+\.)?(testMatch|testRegex|roots)|vitest\.include|mocha\.spec", "places", "T3"),
    _gate(r"mocha\.(grep|fgrep|g|f)|(jest|vitest)\.testNamePattern", "exempt", "T3"),
    _gate(r"maven\.exclude", "exempt", "T3"),
    _gate(r"maven\.(skip|skipTests|skipITs|maven\.test\.skip)", "off", "T3"),
    _gate(r"coverage\.report\.fail_under|pytest\.cov_fail_under", "floor"),
    _gate(r"coverage\.run\.branch", "on"),
    _gate(r"coverage\.off", "off"),
    _gate(r"coverage\.(run|report)\.omit", "exempt", "G1", words, _NOT_MEASURED),
    _gate(r"coverage\.report\.(exclude_lines|exclude_also)", "exempt", "G1", lines, _CONVENTIONAL_LINES),
    _gate(r"coverage\.report\.partial_(branches|also)", "exempt", "G1", lines, _CONVENTIONAL_LINES, Severity.MEDIUM),
    _gate(r"coverage\.report\.ignore_errors", "off", severity=Severity.MEDIUM),
    _gate(r"coverage\.(run|report)\.(source|source_pkgs)", "places", "G1"),
    _gate(r"coverage\.(run|report)\.include|ruff\.include", "narrowed_to"),
    _gate(r"(ruff|flake8)\.select", "codes_kept"),
    _gate(r"(ruff|flake8)\.ignore", "codes_exempt", "G1", words, _STYLE),
    _gate(r"(ruff|flake8)\.per-file-ignores\..+", "codes_exempt", "G1", words, _STYLE),
    _gate(r"(ruff|flake8)\.exclude", "exempt", "G1", words, _NOT_LINTED),
    _gate(r"(flake8|ruff\.mccabe)\.max-complexity|(ruff\.pylint|pylint)\.max-(?!line|module).+", "ceiling"),
    _gate(r"(ruff|ruff\.pycodestyle|flake8|pylint|black)\.(max-)?line-length", "ceiling"),
    _gate(r"flake8\.exit-zero|ruff\.(exit-zero|fix-only)|pylint\.(exit-zero|errors-only)", "off"),
    _gate(r"pylint\.disable", "exempt", severity=Severity.MEDIUM),
    _gate(r"pylint\.(enable|fail-on)", "kept"),
    _gate(r"pylint\.ignore(-paths|-patterns)?", "exempt", "G1", words, _NOT_LINTED),
    _gate(r"(pylint|interrogate)\.fail-under", "floor"),
    _gate(r"bandit\.skips", "exempt", "G1", words, _ASSERTIONS_ALLOWED),
    _gate(r"bandit\.exclude(_dirs)?", "exempt", "G1", words, _NOT_LINTED),
    _gate(
        r"mypy\.(strict|disallow_\w+|check_untyped_defs|strict_(optional|equality)|extra_checks|no_implicit_(optional|reexport))",
        "on",
    ),
    _gate(
        r"mypy\.warn_(return_any|unreachable|no_return|unused_ignores|redundant_casts)", "on", severity=Severity.MEDIUM
    ),
    _gate(r"mypy\.(ignore_errors|ignore_missing_imports|allow_\w+|implicit_\w+)", "off"),
    _gate(r"mypy\[[^]]+\]\.(ignore_errors|allow_untyped_\w+)", "off"),
    _gate(
        r"mypy\[[^]]+\]\.(disallow_\w+|check_untyped_defs|strict\w*|warn_return_any)", "on", severity=Severity.MEDIUM
    ),
    _gate(r"mypy\.disable_error_code", "exempt"),
    _gate(r"mypy\[[^]]+\]\.disable_error_code", "exempt", severity=Severity.MEDIUM),
    _gate(r"mypy\.enable_error_code", "kept"),
    _gate(r"mypy\.exclude", "exempt", "G1", alternatives, _NOT_LINTED),
    _gate(r"mypy\.(files|packages)", "places"),
    _gate(r"mypy\.follow_imports", "level"),
    _gate(r"pytest\.(xfail_strict|strict|strict_markers|strict_config)", "on"),
    _gate(r"pytest\.filterwarnings", "kept", "G1", lines, Pattern(r"^(?!error$)")),
    _gate(r"pytest\.warnings_unheard", "off"),
    _gate(r"pytest\.timeout", "ceiling"),
    _gate(r"pytest\.reruns", "exempt"),
    _gate(r"pytest\.(no_tests|failures)_pass", "off"),
    _gate(
        r"jest\.(.+\.)?coverageThreshold\..+|vitest\.coverage\.(thresholds\.)?(global\.)?(lines|branches|functions|statements)",
        "floor",
    ),
    _gate(r"nyc\.(lines|branches|functions|statements)", "floor"),
    _gate(r"nyc\.check-coverage", "on"),
    _gate(
        r"(jest\.(.+\.)?coveragePathIgnorePatterns|vitest\.coverage\.exclude|nyc\.exclude)",
        "exempt",
        "G1",
        words,
        _NOT_MEASURED,
    ),
    _gate(r"(jest|vitest)\.passWithNoTests|vitest\.dangerouslyIgnoreUnhandledErrors", "off"),
    _gate(r"eslint\.(.+\.)?rules\..+", "level"),
    _gate(r"eslint\.(ignorePatterns|ignores)", "exempt", "G1", words, _NOT_MEASURED),
    _gate(r"eslint\.max-warnings", "ceiling"),
    _gate(
        r"tsconfig\.compilerOptions\.(strict\w*|noImplicit\w+|noUnused\w+|noUncheckedIndexedAccess|noFallthrough\w+|exactOptional\w+)",
        "on",
    ),
    _gate(r"tsconfig\.compilerOptions\.(useUnknownInCatchVariables|alwaysStrict|checkJs)", "on"),
    _gate(r"tsconfig\.compilerOptions\.(skipLibCheck|allowUnreachableCode|suppress\w+|noCheck)", "off"),
    _gate(r"tsconfig\.exclude", "exempt", "G1", words, _NOT_MEASURED),
    _gate(r"pyright\.(typeCheckingMode|report\w+)", "level"),
    _gate(r"pyright\.strict[A-Z]\w+", "on"),
    _gate(r"pyright\.strict", "kept"),
    _gate(r"pyright\.include", "places"),
    _gate(r"pyright\.(ignore|exclude)", "exempt", "G1", words, _NOT_LINTED),
    _gate(r"lints\.\w+\.[\w-]+(\.level)?", "level"),
    _gate(r"codecov\.coverage\.status\.\w+\.\w+\.target", "floor"),
    _gate(r"codecov\.coverage\.status\.\w+\.\w+\.threshold", "ceiling"),
    _gate(r"codecov\.codecov\.require_ci_to_pass", "on"),
    _gate(r"codecov\.ignore", "exempt", "G1", words, _NOT_MEASURED),
    _gate(r"codecov\.coverage\.status\.\w+\.\w+\.informational", "off"),
    _gate(r"golangci\.linters\.enable", "kept"),
    _gate(r"golangci\.linters\.disable|golangci\.issues\.exclude", "exempt"),
    _gate(r"pre-commit\.(.+\.)?exclude", "exempt", "G1", alternatives, _NOT_LINTED),
    _gate(r"maven\.minimum", "floor"),
    _gate(r"maven\.testFailureIgnore", "off"),
)
# A key is a gate of mypy's strictness that is on unless it is turned off, or that `strict` turns on.
ON_BY_DEFAULT: Final = frozenset({"mypy.strict_optional", "mypy.warn_no_return", "mypy.no_implicit_optional"})
OFF_BY_STRICT: Final = frozenset({"mypy.warn_unreachable"})
STRICT_TYPESCRIPT: Final = frozenset(
    f"tsconfig.compilerOptions.{name}"
    for name in [
        "alwaysStrict",
        "noImplicitAny",
        "noImplicitThis",
        "strictBindCallApply",
        "strictFunctionTypes",
        "strictNullChecks",
        "strictPropertyInitialization",
        "useUnknownInCatchVariables",
    ]
)
# Tools that take each other's place.
FAMILIES: Final = (
    frozenset({"mypy", "pyright", "basedpyright", "ty", "pyrefly", "pyre", "pytype", "zuban"}),
    frozenset({"ruff", "flake8", "pylint"}),
)


@lru_cache(maxsize=4096)
def gate_of(key: str) -> Gate | None:
    """Return the gate that a key belongs to, None where it is none."""
    return next((gate for gate in GATES if gate.keys.fullmatch(key)), None)
