"""Find files that do not parse, by the language's own program: without a test nothing else would notice."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ralph_tracker.measure.ecosystems.python import project_python
from ralph_tracker.measure.installed_tools import program, run_briefly
from ralph_tracker.measure.run_checks import environment_for_checks

# Nothing of the file is run.
_PYTHON: Final = """import ast, sys
try:
    ast.parse(open(sys.argv[1], "rb").read(), sys.argv[1])
except SyntaxError as error:
    sys.exit(f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}")
except ValueError as error:
    sys.exit(f"{sys.argv[1]}:1: {error}")
"""
_PARSERS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs"), ("node", "--check")),
    ".php": ("php", "-l"),
    ".rb": ("ruby", "-c"),
    ".sh": ("sh", "-n"),
}
_LINE: Final = r"(?:[:]\s*|:line |on line )(\d+)"


def parse_errors(root: Path, paths: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the first error of each file that does not parse, as `file:line: error`.

    At most 50 files are looked at; one whose language has no program here is taken to parse.
    """
    env = environment_for_checks(environment, root)
    python = project_python(root, env)
    parsers = {suffix: words for suffix, words in _PARSERS.items() if program(words[0], env)}
    if python is not None:
        parsers[".py"] = (*python, "-c", _PYTHON)
    found: dict[str, str] = {}
    known = [path for path in sorted(paths) if PurePosixPath(path).suffix in parsers and (root / path).is_file()]
    for path in known[:50]:
        error = _error(parsers[PurePosixPath(path).suffix], path, root, env)
        if error is not None:
            found[path] = error
    return found


def _error(parser: tuple[str, ...], path: str, root: Path, environment: Mapping[str, str]) -> str | None:
    """Return the error that a parser prints about a file, None if the file parses or that cannot be told."""
    done = run_briefly([*parser, f"./{path}" if path.startswith("-") else path], root, environment)
    if done is None:
        return None
    text = (done.stderr + b"\n" + done.stdout).decode("utf-8", "replace")
    if done.returncode == 0 or path not in text:
        return None
    lines = text.strip().splitlines()
    if lines[0].startswith(f"{path}:") and parser[-1] == _PYTHON:
        return lines[0]
    line = next((number[1] for each in lines if path in each and (number := re.search(_LINE, each))), None)
    error = re.search(r"(?:\w+ )?\w*[Ee]rrors?(?:[:,] | found).*", text)
    what = re.sub(rf"^{re.escape(path)}:\s*\d+:\s*", "", (error[0] if error else lines[-1]).strip())
    return f"{path}:{line}: {what}" if line is not None else f"{path}: {what}"
