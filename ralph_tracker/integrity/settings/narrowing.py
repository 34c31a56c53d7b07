"""What the options of a test command leave out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ralph_tracker.integrity.patterns import Pattern

_WITH_VALUE: Final = ("-k", "-m", "--deselect", "--ignore", "--ignore-glob")
_ALONE: Final = (
    "--lf",
    "--last-failed",
    "--co",
    "--collect-only",
    "--setup-only",
    "--setup-plan",
    "--stepwise",
    "--stepwise-skip",
    "--sw",
    "--sw-skip",
    "--version",
    "--help",
    "--markers",
    "--fixtures",
    "--funcargs",
    "--fixtures-per-test",
    "--picked",
    "--testmon",
)
# Settings that an option overrides, and plugins of pytest's own without which tests are not found.
_OVERRIDDEN: Final = Pattern(r"(python_(files|functions|classes)|testpaths|norecursedirs|addopts)=.*")
_UNPLUGGED: Final = Pattern(r"(-p)?no:(python|unittest)")
_TEST_OF: Final = Pattern(r"(^|/)test_\w+\.py(::.*)?$|_tests?\.py(::.*)?$|\.py::")
_BY_NAME: Final = ("-t", "-g", "-f", "--testNamePattern", "--grep", "--fgrep", "--test-name-pattern")
_BY_PATH: Final = ("--testPathPattern", "--testPathPatterns", "--testPathIgnorePatterns", "--exclude", "--ignore")
_BY_STATE: Final = ("-o", "--onlyChanged", "--changed", "--test-only", "--onlyFailures", "--invert")
_PYTEST: Final[dict[str, bool]] = {option: option in _WITH_VALUE for option in (*_WITH_VALUE, *_ALONE)}
_UNITTEST: Final[dict[str, bool]] = {"-k": True, "-p": True, "--pattern": True}
_JAVASCRIPT: Final[dict[str, bool]] = {option: option not in _BY_STATE for option in (*_BY_NAME, *_BY_PATH, *_BY_STATE)}
_GO: Final[dict[str, bool]] = {"-run": True, "-short": False, "-skip": True}
_CARGO: Final[dict[str, bool]] = {"--lib": False, "--doc": False, "--skip": True, "--exclude": True, "--no-run": False}
_GRADLE: Final[dict[str, bool]] = {"-x": True, "--tests": True, "--exclude-task": True}
_OPTIONS: Final[Mapping[str, Mapping[str, bool]]] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "jest": _JAVASCRIPT,
    "vitest": _JAVASCRIPT,
    "mocha": _JAVASCRIPT,
    "ava": _JAVASCRIPT,
    "playwright": _JAVASCRIPT,
    "node": _JAVASCRIPT,
    "unittest": _UNITTEST,
    "go": _GO,
    "cargo": _CARGO,
    "gradle": _GRADLE,
    "gradlew": _GRADLE,
}
_ANY_OPTIONS: Final = _PYTEST | _UNITTEST
_MAVEN: Final = Pattern(r"-D(skipTests|maven\.test\.skip|test|skipITs)(=(?!false).*)?")
_TEST_FILE: Final = Pattern(r"::|\.py$|\.(test|spec)\.[cm]?[jt]sx?$|_test\.go$|[^*]\.[cm]?[jt]s$")
_SCRIPTS: Final = frozenset({"setup.py", "manage.py", "runtests.py", "noxfile.py", "conftest.py"})
_TAKES_VALUE: Final = frozenset(
    {"-c", "-o", "-p", "-n", "-W", "-r", "--config", "--require", "--rootdir", "--setupFiles"}
)
# What nobody misses: no tests of the project's own stand there.
NO_TESTS: Final = Pattern(
    r"(^|[/\\(|^])(\.?/)?(docs?|examples?|build|dist|node_modules|\.?venv|\.git|\.tox|\.nox|\.eggs?|\*\.egg|setup\.py"
    r"|benchmarks?|bench|vendor|third_party|__pycache__|coverage|\\\.git|\.cache|_build|perf\w*|releasenotes|changelogs?|newsfragments|locales?)([/\\)|*.$]|$)"
)


def narrowings_of(words: Sequence[str], runner: int) -> tuple[str, ...]:
    """Return what a test command leaves out, each as it is written: an option with its value, or a single file."""
    name = words[runner].rpartition("/")[2] if words else ""
    name = words[runner - 1] if name == "test" and runner else name
    rest = words[runner + 1 :]
    if name in {"mvn", "mvnw"}:
        return tuple(word for word in rest if _MAVEN.fullmatch(word))
    options = _OPTIONS.get(name, _ANY_OPTIONS)
    found = tuple(_with_options(rest, options))
    files = _files(rest, options) if name in _OPTIONS else ()
    more = tuple(each for each in _overriding(rest) if each not in files) if options is _PYTEST else ()
    return (*found, *files, *more)


def pytest_narrowings(words: Sequence[str]) -> tuple[str, ...]:
    """Return what options of pytest leave out."""
    return (*_with_options(words, _PYTEST), *_overriding(words))


def _overriding(words: Sequence[str]) -> Iterator[str]:
    """Yield options that set where tests are looked for, that leave out how they are found, or that name one test."""
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        bare = word.removeprefix("--override-ini=").removeprefix("-o") if word.startswith("-") else word
        overrides = before in {"-o", "--override-ini"} or bare != word
        is_value = before in _PYTEST or before in _TAKES_VALUE
        if (overrides and _OVERRIDDEN.fullmatch(bare)) or (
            _UNPLUGGED.fullmatch(word) and (before == "-p" or word[0] == "-")
        ):
            yield f"{before} {word}" if before.startswith("-") and not word.startswith("-") else word
        elif not word.startswith("-") and not is_value and _TEST_OF.search(word):
            yield word


def _with_options(words: Sequence[str], options: Mapping[str, bool]) -> Iterator[str]:
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option not in options:
            glued = word[:2] in {"-k", "-m"} and word[:2] in options and len(word) > 2 and word[1] != "-"  # noqa: PLR2004
            if glued:
                yield f"{word[:2]} {word[2:]}"
        elif not options[option]:
            yield option
        else:
            value = value if equals else " ".join(words[at + 1 : at + 2])
            if value and not (option.startswith("--ignore") and NO_TESTS.search(value)):
                yield f"{option} {value}"


def _files(words: Sequence[str], options: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the single files that a command names, options' values aside."""
    found = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        is_value = before in _TAKES_VALUE or options.get(before, False)
        if not word.startswith(("-", "$", "{")) and not is_value and _TEST_FILE.search(word) and word not in _SCRIPTS:
            found.append(word)
    return tuple(found)


def places_of(words: Sequence[str], runner: int) -> tuple[str, ...]:
    """Return the folders and packages that a test command names."""
    return tuple(
        word.rstrip("/")
        for word in words[runner + 1 :]
        if not word.startswith("-")
        and not word.endswith((".whl", ".tar.gz", ".zip"))
        and ("/" in word or word in {"tests", "test", "spec", "src"})
    )
