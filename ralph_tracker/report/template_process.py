"""Render a template of the user in a process of its own, which cannot take more time or memory than it is given.

Nothing in the same process holds: `{{ 'x' * 10**10 }}` or `{{ 9**9**9 }}` is one operation of the interpreter, which no
timer interrupts. Run by markdown.py: it reads one pickled job and writes one JSON object.
"""

import json
import pickle
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2.loaders import split_template_path

from ralph_tracker.config.regular_file import read_regular
from ralph_tracker.report.markdown import MAX_CPU_S, MAX_MEMORY, SHIPPED, jinja_environment

MAX_SOURCE: Final = 1 << 20
MAX_OUTPUT: Final = 16 << 20


def main() -> None:
    """Render one job. The answer has `text`, or `why` and the `line` (None: unknown) of what is wrong."""
    root, folder, template, values = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by our own parent
    _limit()
    try:
        answer: dict[str, Any] = {"text": _rendered(Path(root), folder, template, values)}
    except MemoryError:
        answer = {"line": None, "why": f"needs more than {MAX_MEMORY >> 20} MiB of memory"}
    except Exception as error:  # noqa: BLE001  # whatever a template does
        why = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        answer = {"line": getattr(error, "lineno", None), "why": why}
    sys.stdout.write(json.dumps(answer))


def _limit() -> None:
    """Limit memory and processor time; a system without such limits has the parent's clock."""
    import resource  # noqa: PLC0415  # not on every system

    for kind, most in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, MAX_CPU_S), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):  # macOS refuses the first; a hard limit may be lower
            resource.setrlimit(kind, (most, most))


def _rendered(root: Path, folder: str, template: str, values: Mapping[str, Any]) -> str:
    environment = jinja_environment(SHIPPED)
    own = jinja2.FunctionLoader(_reader(root, folder))
    environment.loader = jinja2.ChoiceLoader([own, jinja2.FileSystemLoader(SHIPPED)])
    parts, room = [], MAX_OUTPUT
    for part in environment.get_template(template).generate(values):
        parts.append(part)
        room -= len(part)
        if room < 0:
            raise ValueError(f"its output is larger than {MAX_OUTPUT >> 20} MiB")
    return "".join(parts)


def _reader(root: Path, folder: str) -> Callable[[str], str | None]:
    def read(name: str) -> str | None:
        path = Path(root, folder, *split_template_path(name))
        try:
            data = read_regular(path, inside=root, name=name, limit=MAX_SOURCE)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return data.decode()

    return read


if __name__ == "__main__":
    main()
