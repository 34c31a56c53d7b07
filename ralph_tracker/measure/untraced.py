"""Take out of a command what measures coverage: a tracer can make tests fail that count on stack or speed."""

from typing import Final

from ralph_tracker.measure.run_checks import Check

_FLAGS: Final = frozenset(
    {"--cov", "--cov-branch", "--coverage", "--coverage.enabled", "--experimental-test-coverage", "--collectCoverage"}
)
_BEGINNINGS: Final = ("--cov=", "--cov-report", "--cov-config", "--coverage.", "--coverageReporters", "--coverageDir")
_BEGINNINGS_OF_GO: Final = ("-coverprofile=", "-covermode=", "-coverpkg=")
_REPORTER: Final = "--test-reporter=lcov"


def untraced(check: Check) -> Check | None:
    """Return a check of tests without its tracer, None if none is recognised, or it is a command of the shell."""
    if isinstance(check.run, str):
        return None
    words = _without_wrapper(list(check.run))
    kept: list[str] = []
    for place, word in enumerate(words):
        follows_reporter = place > 0 and words[place - 1] == _REPORTER
        if word in _FLAGS or word == _REPORTER or word.startswith((*_BEGINNINGS, *_BEGINNINGS_OF_GO)):
            continue
        if not (follows_reporter and word.startswith("--test-reporter-destination=")):
            kept.append(word)
    if not kept or kept == list(check.run):
        return None
    return check._replace(run=kept, needs=())


def _without_wrapper(words: list[str]) -> list[str]:
    """Return the words without `-m coverage run`, or nyc and c8 with their options."""
    for place in range(1, len(words) - 1):
        if words[place - 1 : place + 2] == ["-m", "coverage", "run"]:
            return [*words[: place - 1], *_without_options(words[place + 2 :])]
    is_wrapped = bool(words) and words[0].rpartition("/")[2] in {"nyc", "c8"}
    return _without_options(words[1:]) if is_wrapped else words


def _without_options(words: list[str]) -> list[str]:
    first = next((at for at, word in enumerate(words) if word == "-m" or not word.startswith("-")), len(words))
    return words[first:]
