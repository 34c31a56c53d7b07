"""Settings that say the same in two ways, brought under one key: options among settings, old names, extending lists."""

from typing import Final

from ralph_tracker.integrity.settings.narrowing import pytest_narrowings
from ralph_tracker.integrity.settings.values import Value, joined, numbers, scalars, shell_words, words

RUFF_DEFAULT: Final = ("E4", "E7", "E9", "F")
COVERAGE_FLOOR: Final = "coverage.report.fail_under"
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


def merged(settings: dict[str, Value]) -> dict[str, Value]:
    """Return settings with what means the same under one key."""
    found: dict[str, Value] = {}
    for key, value in settings.items():
        name = _renamed(key)
        found[name] = joined(found[name], scalars(value)) if name in found else value
    _merge_extensions(found)
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
        if name == "--cov-fail-under":
            floor = numbers(value or "".join(options[at + 1 : at + 2]))
            if floor:
                found.setdefault(COVERAGE_FLOOR, floor)
        elif name in _STRICT_OPTIONS:
            found[f"pytest.{name.strip('-').replace('-', '_')}"] = True
        elif name == "--no-cov":
            found["coverage.off"] = True
        elif name == "--cov-branch":
            found["coverage.run.branch"] = True
        elif option in {"-Werror", "-W=error"} or options[at : at + 2] == ("-W", "error"):
            found["pytest.filterwarnings"] = joined(found.get("pytest.filterwarnings"), ("error",))
    narrowings = pytest_narrowings(options)
    if narrowings:
        found[NARROWED] = narrowings
