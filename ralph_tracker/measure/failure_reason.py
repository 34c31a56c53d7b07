"""Explain why a command left no report: its own error message, or what to install."""

import re
from pathlib import Path
from typing import Final

from ralph_tracker.formats.first_error import first_error

_LOOKED_AT: Final = 20_000
_SHOWN: Final = 160
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPTIONS: Final = re.compile(r"unrecognized arguments: (.+)")
_MODULE: Final = re.compile(r"No module named '([^'.]+)")
_REQUIRED: Final = re.compile(r"Missing required plugins: (.+)")
# The options that projects use most, and the plugins that provide them.
_PLUGINS: Final = {
    "--cov": "pytest-cov",
    "--no-cov": "pytest-cov",
    "-n": "pytest-xdist",
    "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist",
    "--timeout": "pytest-timeout",
    "--asyncio": "pytest-asyncio",
    "--reruns": "pytest-rerunfailures",
    "--benchmark": "pytest-benchmark",
    "--randomly": "pytest-randomly",
    "--ds": "pytest-django",
    "--mypy": "pytest-mypy",
}
# npm ends with the name of its log; what is wrong stands before it, after a code.
_NPM: Final = re.compile(
    r"^npm (?:error|ERR!) (?!code |errno |syscall |path |command |A complete log)(\S.*)", re.MULTILINE
)
_WHERE: Final = "into the project's environment"


def last_words(stdout: Path, stderr: Path) -> str | None:
    """Return a failed command's explanation, its first error or last line; None if it printed nothing."""
    texts = [_end_of(stderr), _end_of(stdout)]
    lacking = next((found for text in texts if (found := _missing_dependency(text))), None)
    if lacking:
        return lacking
    errors = [each.line for text in texts if (each := first_error(text))]
    errors += [match[1] for text in texts if (match := _NPM.search(_COLOUR.sub("", text)))]
    line = next(iter(errors), None) or next((line for text in texts if (line := _last_line(text))), None)
    return f"it said: {_plain(line)}" if line else None


def _missing_dependency(text: str) -> str | None:
    """Return what to install if the output reports something missing, else None."""
    if found := _REQUIRED.search(text):
        return f"pip install {_plain(found[1]).replace(', ', ' ')} {_WHERE}"
    if found := _OPTIONS.search(text):
        options = [word for word in _plain(found[1]).split() if word.startswith("-")]
        names = dict.fromkeys(filter(None, map(_plugin_of, options)))
        what = f"pip install {' '.join(names)}" if names else "install the plugin that knows it"
        return f"unknown option {' '.join(options)}; {what} {_WHERE}"
    if found := _MODULE.search(text):
        return f"module {_plain(found[1])} is missing; install it {_WHERE}"
    return None


def _plugin_of(option: str) -> str | None:
    name = option.partition("=")[0]
    return next((plugin for key, plugin in _PLUGINS.items() if name == key or name.startswith(f"{key}-")), None)


def _end_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOOKED_AT))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _last_line(text: str) -> str:
    return next((plain for line in reversed(text.splitlines()) if (plain := _plain(line))), "")


def _plain(line: str) -> str:
    shown = "".join(char if char.isprintable() else " " for char in _COLOUR.sub("", line)).strip()
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
