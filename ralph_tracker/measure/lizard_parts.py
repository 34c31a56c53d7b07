"""Import of lizard the readers that a project needs: all 27 cost three times as much as the rest of it."""

import functools
import importlib.util
import sys
from importlib import import_module
from typing import Any, Final

_LANGUAGES: Final = "lizard_languages"
# Reader by suffix, as lizard itself would choose it; a suffix that is in neither table makes lizard choose.
READERS: Final = {
    ".go": ("go", "GoReader"),
    ".java": ("java", "JavaReader"),
    ".js": ("javascript", "JavaScriptReader"),
    ".py": ("python", "PythonReader"),
    ".rs": ("rust", "RustReader"),
    ".ts": ("typescript", "TypeScriptReader"),
    ".tsx": ("tsx", "TSXReader"),
}
NO_CODE: Final = frozenset(
    {"", ".bat", ".cfg", ".conf", ".css", ".csv", ".dat", ".gif", ".html", ".ico", ".in", ".ini", ".ipynb", ".jpg"}
    | {".json", ".jsonl", ".lock", ".log", ".md", ".mod", ".pdf", ".png", ".po", ".pot", ".pyi", ".rst", ".scss", ".sh"}
    | {".snap", ".sum", ".svg", ".toml", ".tsv", ".txt", ".typed", ".xml", ".yaml", ".yml"}
)


@functools.cache
def lizard() -> Any:  # noqa: ANN401  # an untyped module
    """Import lizard on first use, its readers when they are asked for; it puts our script's folder before sys.path."""
    path = list(sys.path)
    if _LANGUAGES not in sys.modules:
        _defer_languages()
    try:
        return import_module("lizard")
    finally:
        sys.path[:] = path


def reader_of(suffix: str) -> Any:  # noqa: ANN401  # an untyped class
    """Return lizard's reader for files with a suffix, None where it has none."""
    if suffix in NO_CODE:
        return None
    if suffix not in READERS:
        return lizard().get_reader_for(f"any{suffix}")
    module, name = READERS[suffix]
    lizard()
    try:
        return getattr(import_module(f"{_LANGUAGES}.{module}"), name)
    except (ImportError, AttributeError):  # another version of lizard, which has it elsewhere
        return lizard().get_reader_for(f"any{suffix}")


def _defer_languages() -> None:
    """Put a package into the place of lizard's that runs its own code once somebody asks for what is not there yet."""
    spec = importlib.util.find_spec(_LANGUAGES)
    if spec is None or spec.loader is None:
        return
    package: Any = importlib.util.module_from_spec(spec)
    run = spec.loader.exec_module

    @functools.cache
    def whole() -> Any:  # noqa: ANN401  # an untyped module
        del package.__getattr__
        run(package)  # which puts its own functions into the place of those below
        return package

    def asked(name: str) -> Any:  # noqa: ANN401  # whatever is of that name
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(whole(), name)

    package.__getattr__ = asked
    package.languages = lambda: whole().languages()
    package.get_reader_for = lambda filename: whole().get_reader_for(filename)
    sys.modules[_LANGUAGES] = package
    try:
        package.CLikeReader = import_module(f"{_LANGUAGES}.clike").CLikeReader  # lizard asks for it at once
    except (ImportError, AttributeError):  # another version of lizard: whoever asks gets the whole
        return
