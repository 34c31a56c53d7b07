"""Settings that say the same in two ways, brought under one key: options among settings, old names, extending lists."""

from typing import Final

from ralph_tracker.integrity.settings.narrowing import pytest_narrowings
from ralph_tracker.integrity.settings.values import Value, joined, lines, numbers, scalars, shell_words, words

RUFF_DEFAULT: Final = ("E4", "E7", "E9", "F")
COVERAGE_FLOOR: Final = "coverage.report.fail_under"
COMMAND_FLOOR: Final = "pytest.cov_fail_under"  # beside another one, which it goes before
NARROWED: Final = "pytest.narrowed"
_EXTENDING: Final = {
    "ruff.extend-ignore": "ruff.ignore",
    "ruff.extend-exclude": "ruff.exclude",
    "flake8.extend-select": "flake8.select",
    "flake8.extend-ignore": "flake8.ignore",
    "flake8.extend-exclude": "flake8.exclude",
}
_STRICT_OPTIONS: Final = ("--strict-markers", "--strict-config", "--strict")
_ADDOPTS: Final = "pytest.addopts"
_FILTERS: Final = "pytest.filterwarnings"
_PER_FILE: Final = "flake8.per-file-ignores"
_ANY_WARNING: Final = frozenset({"ignore", "default", "once", "always", "module"})
_NUMBERS: Final = {"--reruns": "pytest.reruns", "--timeout": "pytest.timeout"}
_SWITCHES: Final = {
    "--no-cov": "coverage.off",
    "--cov-branch": "coverage.run.branch",
    "--suppress-no-test-exit-code": "pytest.no_tests_pass",
    "--suppress-tests-failed-exit-code": "pytest.failures_pass",
}


def merged(settings: dict[str, Value]) -> dict[str, Value]:
    """Return settings with what means the same under one key."""
    found: dict[str, Value] = {}
    for key, value in settings.items():
        name = _renamed(key)
        found[name] = joined(found[name], scalars(value)) if name in found else value
    _merge_extensions(found)
    _merge_per_file(found)
    _merge_options(found)
    return found


def _renamed(key: str) -> str:
    if key.startswith("ruff."):
        return key.replace("ruff.lint.", "ruff.", 1).replace(
            "ruff.extend-per-file-ignores.", "ruff.per-file-ignores.", 1
        )
    return key


def _merge_extensions(found: dict[str, Value]) -> None:
    more = found.pop("ruff.extend-select", None)
    if more is not None:
        found["ruff.select"] = joined(found.get("ruff.select", RUFF_DEFAULT), words(more))
    for extending, key in _EXTENDING.items():
        value = found.pop(extending, None)
        if value is not None:
            found[key] = joined(words(found.get(key)), words(value))


def _merge_options(found: dict[str, Value]) -> None:
    """Put what stands in pytest's options beside the settings that say the same."""
    options = shell_words(found.pop(_ADDOPTS, None))
    for at, option in enumerate(options):
        name, _, value = option.partition("=")
        after = "".join(options[at + 1 : at + 2])
        if name == "--cov-fail-under":
            floor = numbers(value or after)
            if floor:
                found[COMMAND_FLOOR if COVERAGE_FLOOR in found else COVERAGE_FLOOR] = floor
        elif name in _NUMBERS:
            found[_NUMBERS[name]] = value or after
        elif name in _STRICT_OPTIONS:
            found[f"pytest.{name.strip('-').replace('-', '_')}"] = True
        elif name in _SWITCHES:
            found[_SWITCHES[name]] = True
        elif option in {"-Werror", "-W=error"} or (option, after) == ("-W", "error"):
            found[_FILTERS] = joined(found.get(_FILTERS), ("error",))
    _merge_warnings(options, found)
    narrowings = pytest_narrowings(options)
    if narrowings:
        found[NARROWED] = narrowings


def _merge_warnings(options: tuple[str, ...], found: dict[str, Value]) -> None:
    """Tell where warnings are errors, and something that goes before it says that they are not."""
    filters = lines(found.get(_FILTERS))
    passed_over = "error" in filters and _ANY_WARNING & {*filters[filters.index("error") :]}
    if "error" in filters and (passed_over or "no:warnings" in " ".join(options)):
        found["pytest.warnings_unheard"] = True


def _merge_per_file(found: dict[str, Value]) -> None:
    """Put what flake8 ignores in single files under a key for each."""
    for line in lines(found.pop(_PER_FILE, None)):
        pattern, _, codes = line.rpartition(":")
        if codes:
            key = f"{_PER_FILE}.{pattern.strip()}"
            found[key] = joined(found.get(key), words(codes))
