"""Which changed files a rule has to look at, told by names and words: what no file asks for is not imported."""

from collections.abc import Iterable
from typing import Final

from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.fresh import added_lines
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.source_tests import may_hold_tests

# Hooks of pytest and unittest that take tests out of what was collected.
COLLECTING: Final = (
    *("load_tests", "pytest_ignore_collect", "pytest_collection_modifyitems"),
    *("pytest_configure", "pytest_cmdline", "pytest_load_initial_conftests", "pytest_sessionstart"),
    *("pytest_collection(", "PYTEST_ADDOPTS", "pytest_pycollect_make", "pytest_collect_", "pytest_collectstart"),
    *("pytest_collection_finish", "pytest_itemcollected", "pytest_generate_tests", "shouldstop"),
)
_LEAVING_OUT: Final = ("only", "fit", "fdescribe", "ftest", "fcontext")
_ASSERTING: Final = ("assert", "raises(")
_JAVASCRIPT: Final = frozenset({"javascript", "typescript", "tsx"})
_SETTINGS: Final = Pattern(
    r".+\.(toml|ini|cfg|mk|sh)|\.?bandit\.ya?ml|[^.]+|\.[^.]+|(noxfile|package)\.\w+|pom\.xml|.*(config|rc|workspace)\b.*\.\w+"
    r"|\.?codecov\.\w+|\.golangci\.\w+|tsconfig.*\.json"
)
_IN_PYTHON: Final = frozenset({"conftest.py", "noxfile.py"})
_WORKFLOWS: Final = (".github/workflows/", ".gitlab-ci.")
_STORED: Final = Pattern(
    r"\.(ambr|snap)$|\.approved\.\w+$|(^|/)__(snapshots|image_snapshots)__/"
    r"|(^|/)(tests?|specs?|testdata)/(.*/)?(goldens?|expected|expectations|snapshots?|approved)(/|[^/]*$)"
    r"|(^|/)(tests?|specs?|testdata)/(.*/)?[^/]*[._-](golden|expected|snapshot)(\.[^/]*)?$"
)
_FORGING: Final = (
    *("pytest", "unittest", "specname", "exit", "Exit", "abort(", "quit(", "builtins", "pluggy", "TestCase"),
    *(
        "load_tests",
        "def run(",
        "def __call__(",
        "setattr(",
        "globals()[",
        "os.exec",
        ".outcome",
        "_outcome",
        "failures",
    ),
)
_EQUAL: Final = ("__eq__", "__ne__", "compare=False", "eq=False", "dataclass(eq")
_CLOCK_SET: Final = Pattern(
    r"\b_?(time|timeit|datetime)\.\w+\s*=[^=]|setattr\(\s*['\"]?_?(time|timeit|datetime)\b", words=("time.", "setattr(")
)
_UNDER_TEST: Final = (
    *("PYTEST_", "modules", "argv", "getenv", "environ", "stack", "_getframe", "currentframe", "_called_from_test"),
    *(
        "cmdline",
        "pytest",
        "unittest",
        "import nose",
        "find_spec",
        "TEST",
        "(sys, ",
        "sys._",
        "builtins",
        "import __main__",
        "meta_path",
    ),
)
_ANSWERS: Final = Pattern(
    r"(==|\bin\b|\bis\b|\bcase\b|[{:]).*[\d'\"]|(\breturn|[^=]=)\s*[-\d'\"\[{(TFb]"
    r"|(\b(int|float|str|dict|tuple|list|set|frozenset|Decimal|OrderedDict|MappingProxyType|zip)|^\s*@\w+)\([\[({]*[-\d'\"]",
)
_SILENCING: Final = {
    "python": (
        *("noqa", "NOQA", "NoQA", "pylint:", "nosec", "NOSONAR", "ruff:", "ignore", "mypy:", "no cover", "nocover"),
        *("no branch", "no_type_check", "pyright:", "pytype:", "pyre-", "nosemgrep", "noinspection"),
    ),
    "javascript": ("lint-disable", "tslint:", "biome-", "NOSONAR", "@ts-", " ignore ", "coverage"),
    "go": ("nolint", "lint:", "#nosec"),
    "java": ("NOSONAR", "CHECKSTYLE", "SuppressWarnings"),
    "rust": ("allow", "expect", "coverage", "tarpaulin"),
    "shell": ("shellcheck",),
}


def has_tests(file: ChangedFile) -> bool:
    """Tell whether tests may stand in a file now, or functions that assert for them."""
    if file.new is None:
        return False
    return may_hold_tests(file.path, file.new.text) or (file.is_test and has_any(file.old, _ASSERTING))


def has_settings(file: ChangedFile) -> bool:
    """Tell whether settings, commands or workflows may stand in a file, by its name."""
    name = file.path.rpartition("/")[2]
    if file.language == "python":
        return name in _IN_PYTHON and (name != "conftest.py" or _mentions(file, ("collect_ignore",)))
    return is_ci(file) or _SETTINGS.fullmatch(name) is not None


def is_ci(file: ChangedFile) -> bool:
    """Tell whether a file may be a workflow of CI, by its path."""
    return is_workflow(file.path)


def is_workflow(path: str) -> bool:
    """Tell whether a path may be that of a workflow of CI."""
    return any(word in path for word in _WORKFLOWS)


def may_narrow(file: ChangedFile) -> bool:
    """Tell whether a file may decide which tests are run (T3)."""
    if file.language == "python":
        return has_any(file.new, COLLECTING) or has_settings(file)
    if file.language in _JAVASCRIPT:
        return has_any(file.new, _LEAVING_OUT) or has_settings(file)
    return file.path.endswith("_test.go") or has_settings(file)


def may_expect(file: ChangedFile) -> bool:
    """Tell whether expected values may have been edited in a file (T7)."""
    if file.old is None or file.new is None:
        return False
    return has_tests(file) and file.is_test if file.language == "python" else is_stored(file.path)


def is_stored(path: str) -> bool:
    """Tell whether a file holds what tests expect, by its path: snapshots and their like."""
    return _STORED.search(path) is not None


def may_forge(file: ChangedFile) -> bool:
    """Tell whether a file may meddle with what runs the tests (T9)."""
    if file.language == "python":
        return has_any(file.new, _FORGING) or any(
            name in file.path for name in ("customize.py", "pytest", "unittest", "pluggy")
        )
    return file.path.endswith((".pth", "bin/pytest", "bin/py.test", "bin/python", "bin/python3"))


def may_rig(file: ChangedFile) -> bool:
    """Tell whether a file may make comparisons come out equal (T10)."""
    return (
        file.language == "python"
        and file.new is not None
        and (file.is_test or defines_equal(file.new.text) or sets_clock(file.new.text))
    )


def defines_equal(text: str) -> bool:
    """Tell whether a text may define what equals what."""
    return any(word in text for word in _EQUAL)


def sets_clock(text: str) -> bool:
    """Tell whether a text may put something in the place of a clock."""
    return _CLOCK_SET.search(text) is not None


def may_detect(file: ChangedFile) -> bool:
    """Tell whether source may ask if it is under test (T11)."""
    if file.language is None or file.is_test or file.new is None:
        return False
    return file.language != "python" or asks_around(file.new)


def asks_around(side: Side) -> bool:
    """Tell whether a Python text may ask who runs it."""
    return has_any(side, _UNDER_TEST)


def may_special_case(file: ChangedFile) -> bool:
    """Tell whether new lines of Python source may hold literals that are asked for or answered (T12)."""
    if file.new is None or file.language != "python" or file.is_test:
        return False
    return file.once(may_special_case, lambda: any(_ANSWERS.search(line) for _, line in added_lines(file)))


def may_silence(side: Side | None) -> bool:
    """Tell whether a text may silence a linter, a type checker or coverage: documents that name a mark do not (S)."""
    return side is not None and side.once(may_silence, lambda: has_any(side, silencing_words(side)))


def silencing_words(side: Side) -> tuple[str, ...]:
    """Return the words without which a text of that language silences nothing."""
    if side.language is None:
        return _SILENCING["shell"] if side.path.endswith((".sh", ".bash")) else ()
    return _SILENCING["javascript" if side.language in _JAVASCRIPT else side.language]


def silences(file: ChangedFile) -> bool:
    """Tell whether a changed file may silence anything now."""
    return may_silence(file.new)


def has_any(side: Side | None, words: Iterable[str]) -> bool:
    """Tell whether a side is there and holds one of the words."""
    # A generator that asks `word in text` takes twice as long, and every file is asked for many words.
    return side is not None and any(map(side.text.__contains__, words))


def _mentions(file: ChangedFile, words: tuple[str, ...]) -> bool:
    return has_any(file.old, words) or has_any(file.new, words)
