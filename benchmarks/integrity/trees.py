"""A release as files in memory: what its source archive holds, less what the packaging tools wrote."""

import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

Tree = Mapping[str, bytes]
MAX_BYTES: Final = 1_000_000
_GENERATED: Final = re.compile(
    r"(^|/)(PKG-INFO|[^/]+\.egg-info/.*|_version\.py|version\.py|\.cirrus.*|uv\.lock|poetry\.lock)$"
)
_TEXT: Final = re.compile(
    r"\.(pyi?|toml|cfg|ini|ya?ml|json|txt|pth|mk|ambr|snap)$|(^|/)(Makefile|\.coveragerc|\.flake8|\.pylintrc)$"
)
_PROSE: Final = re.compile(r"(^|/)(docs?|locale|data|LICENSES?|examples?)/")
_TESTS: Final = re.compile(r"(^|/)(tests?|testing|_tests?|testsuite)/")
_TEST_FILE: Final = re.compile(r"(^|/)(test_[^/]*|[^/]*_tests?|tests?)\.py$")
_SETTINGS: Final = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|mypy\.ini|\.coveragerc|\.?ruff\.toml|\.flake8|Makefile"
    r"|noxfile\.py|conftest\.py)$|^\.github/workflows/"
)


def read_tree(archive: Path) -> dict[str, bytes]:
    """Return the text files of an archive by their paths below its one folder."""
    found = {}
    for name, data in _members(archive):
        path = name.partition("/")[2]
        if path and _TEXT.search(path) and not _GENERATED.search(path) and not _PROSE.search(path):
            found[path] = data
    return found


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                if info.file_size <= MAX_BYTES and not info.is_dir():
                    yield info.filename, opened.read(info)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isfile() and member.size <= MAX_BYTES else None
            if stream is not None:
                yield member.name, stream.read()


def is_collected(path: str) -> bool:
    """Tell whether pytest or unittest would look for tests in a file of that name."""
    return _TEST_FILE.search(path) is not None


def belongs_to_tests(path: str) -> bool:
    """Tell whether a file stands among the tests."""
    return is_collected(path) or _TESTS.search(path) is not None or path.endswith("conftest.py")


def is_settings(path: str) -> bool:
    """Tell whether a file says how tests and checks are run."""
    return _SETTINGS.search(path) is not None


def is_source(path: str) -> bool:
    """Tell whether a file is Python and none of the tests."""
    return path.endswith(".py") and not belongs_to_tests(path) and not is_settings(path) and path != "setup.py"


def changed_paths(old: Tree, new: Tree) -> tuple[str, ...]:
    """Return the paths whose content differs, sorted."""
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))
