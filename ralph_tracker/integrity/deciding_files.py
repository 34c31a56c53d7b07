"""Determine which files decide about tests, by their names and by what names them, in any language.

A file decides if a runner loads or reads it: tests, their data, support code, settings, and the programs that a check
calls. The rest is program source (code that no check loads as any of these) and what nobody runs: notes, plans, logs.
"""

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Final, Literal

FileKind = Literal["test", "support", "data", "settings"]

_CODE: Final = (
    r"\.(py|pyi|[cm]?[jt]sx?|vue|svelte|go|rs|java|kts?|scala|groovy|rb|dart|exs?|erl|php|cs|fs|swift|mm?|c|cc|cpp|h"
    r"|hpp|lua|pl|pm|hs|clj|zig|nim|sh|bash|bats)$"
)
_IS_CODE: Final = re.compile(_CODE)
_OF_TESTS: Final = r"tests?|__tests__|e2e|cypress|specs?|benches|test-[^/]*|tests_[^/]*|[^/]*_tests?"
# Modules of runners: a file of that name in the root, or beside the tests, is imported in their place.
_RUNNERS: Final = (
    r"_?pytest|unittest|pluggy|nose2?|doctest|coverage|hypothesis|xmlrunner|pytest_\w+|vitest|jest|mocha|chai"
)
# The first line that matches "/" + path decides.
_TABLE: Final[tuple[tuple[FileKind | None, str], ...]] = (
    (
        "support",
        r"""
            /(site|user)customize(\.py|/.*)$ | \.pth$ | \.(egg|dist)-info/
            | ^/(tests?/)?("""
        + _RUNNERS
        + r""")(\.(py|[cm]?js)|/.*)$
            """,
    ),
    (None, r"/(node_modules|site-packages|\.git|\.venv|venv|vendor|__pycache__)/ | \.pyc$ | /README[^/]*$"),
    (
        "settings",
        r"""
            /\.?pytest\.(ini|toml)$ | /tox\.ini$ | /setup\.(cfg|py)$ | /pyproject\.toml$ | /noxfile\.py$ | /behave\.ini$
            | ^(?!.*/(src|app|lib)/).*\.(config|workspace)\.([cm]?[jt]s|json)$ | /(package|deno|composer)\.json$
            | /(karma|wdio|protractor)\.conf\.\w+$ | /tsconfig[^/]*\.json$ | /bunfig\.toml$ | /jasmine\.json$
            | /\.(mocha|nyc|c8|tap|babel|swc|jest)rc(\.\w+)?$ | /pnpm-workspace\.yaml$
            | /Cargo\.toml$ | /build\.rs$ | /(\.config/)?nextest\.toml$ | /\.cargo/config(\.toml)?$ | /go\.(mod|work)$
            | /pom\.xml$ | /(build|settings)\.gradle(\.kts)?$ | /gradle\.properties$ | /testng[^/]*\.xml$
            | /junit-platform\.properties$ | /phpunit\.xml(\.dist)?$ | /\.rspec$ | /Rakefile$
            """,
    ),
    (
        "support",
        r"""
            /conftest\.py$ | /[sS]etup-?[tT]ests?\.\w+$ | /(jest|vitest|bun|mocha|test)[.-]setup\.\w+$ | /__mocks__/
            | /(spec|test|rails)_helper\.(?!py$)\w+$
            """,  # pytest takes tests from test_helper.py
    ),
    ("data", r"/__snapshots__/ | \.(snap|golden|approved\.\w+)$"),
    # Code below these folders is read by tests, but never run by itself.
    ("support", r"/(testdata|test[_-]data|(__)?fixtures(__)?|goldens?)/(.*/)?[^/]*" + _CODE),
    ("data", r"/(testdata|test[_-]data|(__)?fixtures(__)?|goldens?|cassettes)/"),
    (
        "test",
        r"""
            /(test_[^/]*|[^/]*_tests?|tests?)\.py$ | [._-](test|spec|cy|e2e)\.[cm]?[jt]sx?$ | _test\.(go|rs)$
            | /(tests?|spec|test-[^/]*)\.[cm]?[jt]sx?$
            | /__tests__/.*\.[cm]?[jt]sx?$ | /tests/[^/]+\.rs$
            | /(Test[A-Z0-9_][^/]*|[^/]*(Test|Tests|TestCase|IT|Spec))\.(java|kt|scala|groovy)$
            | [^/]_(spec|test)\.(rb|dart|exs|php)$ | Test\.php$ | Tests?\.cs$ | /features/.*\.feature$ | \.bats$
            """,
    ),
    ("support", rf"/({_OF_TESTS})/(.*/)?[^/]*{_CODE} | /features/(.*/)?steps/.*\.py$"),
    ("data", r"/(tests?|__tests__|e2e|cypress|test-[^/]*|tests_[^/]*)/"),
)
_LOADED_BY_ITSELF: Final = re.compile(
    r"/(conftest\.py|(site|user)customize[./].*|[^/]*\.pth|[^/]*-info/.*|__mocks__/.*|[^/]*[sS]etup-?[tT]ests?\.\w+"
    r"|(jest|vitest|bun|mocha|test)[.-]setup\.\w+|(spec|test|rails)_helper\.\w+)$"
)
# The settings and start-up files that name files to load, and how: an option, a key with a value, a script, an import.
_NAMING: Final = re.compile(
    r"/(conftest\.py|(pytest|tox|bunfig|pyproject|package|deno|jasmine|phpunit)\.\w+(\.dist)?|setup\.cfg|\.rspec"
    r"|\.mocharc[^/]*|(vitest|vite|jest|playwright|cypress|ava|karma|wdio|protractor|web-test-runner)\.\w+\.\w+)$"
)
_LOADS: Final = re.compile(
    r"""["']?\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|(?:test)?[rR]unner|reporters?|resolver
        |transform|preset|snapshotResolver|snapshotSerializers|testSequencer|preload|bootstrap|pytest_plugins)["']?
        \s*[:=]\s*(\[[^\]]*\]|\{[^}]*\}|[^\n]+)
    |(?:--(?:require|import|loader|preload|setup\w*|bootstrap)|(?<![\w-])-[pr])[=\s]+(["']?[^\s"']+)
    |"(?:(?:pre|post)?test[\w:-]*)"\s*:\s*("[^"\n]*")
    |(?:from|require\(|import\()\s*(["']\.[^"'\n]+)""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"[\w@./-]+")
_SUFFIXES: Final = (
    *("", ".py", ".js", ".ts", ".mjs", ".cjs", ".mts", ".rb", ".php"),
    *("/index.js", "/index.ts", "/__init__.py"),
)
# Endings of files named in commands that are reports, not programs.
_REPORTS: Final = (".xml", ".json", ".info", ".lcov", ".txt", ".html")
_DATA: Final = re.compile(r"\.(json\w?|txt|[ct]sv|xml|dat|bin|out|expected)$")


@cache
def _kinds() -> tuple[tuple[FileKind | None, re.Pattern[str]], ...]:
    """Return the table with its patterns, which take as long to compile as all else that a hook imports."""
    return tuple((kind, re.compile(pattern, re.VERBOSE)) for kind, pattern in _TABLE)


def kind_of_file(path: str) -> FileKind | None:
    """Return how a file decides about tests, by its name; None if it does not.

    test: holds tests. support: code that tests or runners load (conftest.py, helpers, fixtures, start-up files). data:
    files that they read (golden files, snapshots). settings: of the runner, alone or mixed with others.
    """
    return next((kind for kind, pattern in _kinds() if pattern.search(f"/{path}")), None)


def is_code(path: str) -> bool:
    """Return whether a file is program code, of the tests or of the project, by its name."""
    return _IS_CODE.search(path) is not None


def files_named_in_commands(commands: Iterable[str | Sequence[str]]) -> frozenset[str]:
    """Return the words of commands that may name files, including those of `sh -c "…"` and `-m module`."""
    words: set[str] = set()
    for command in commands:
        given = [command] if isinstance(command, str) else list(command)
        parts = [part for word in given for part in _split(word)]
        words.update(part.removeprefix("./") for part in parts if not part.endswith(_REPORTS))
        modules = [after for flag, after in pairwise(parts) if flag == "-m"]
        words.update(f"{module.replace('.', '/')}{end}" for module in modules for end in (".py", "/__main__.py"))
        if "make" in parts:
            words |= {"Makefile", "makefile", "GNUmakefile"}
        if "just" in parts:
            words |= {"justfile", "Justfile"}
    return frozenset(words)


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError:  # an unclosed quote
        return word.split()


def loads_by_itself(path: str) -> bool:
    """Return whether runners load a file though no test names it, by its name: settings and start-up files."""
    return kind_of_file(path) == "settings" or _LOADED_BY_ITSELF.search(f"/{path}") is not None


class DecidingFiles:
    """The files that decide about the tests of two trees, by name and by what names them.

    `before` and `now` are the paths of both trees, `changed` those that differ. `texts` returns the texts of the given
    files, of both trees together; it is called only where a name leaves a question. `commands` are those of the checks.
    """

    def __init__(
        self,
        before: Collection[str],
        now: Collection[str],
        changed: Collection[str],
        texts: Callable[[Collection[str]], Mapping[str, str]],
        commands: Iterable[str | Sequence[str]] = (),
    ) -> None:
        self._before, self._now = frozenset(before), frozenset(now)
        self._paths = self._before | self._now
        self._changed = frozenset(changed)
        self._texts = texts
        self._called = files_named_in_commands(commands) & self._paths

    def kind(self, path: str) -> FileKind | None:
        """Return how a file decides about tests; None if it does not."""
        by_name = kind_of_file(path)
        if by_name is not None:
            return by_name
        if path in self._loaded:
            return "support"
        return "data" if path in self._named_data else None

    def is_source(self, path: str) -> bool:
        """Return whether a file is program source: code of a language of the project, which nobody loads otherwise."""
        if self.kind(path) is not None or not is_code(path) or path in self.helpers:
            return False
        return _language(path) in self._languages

    def may_be_asked_for(self, path: str) -> bool:
        """Return whether a change of a file may be what the task asks for: of source, or of data outside of tests."""
        return path in self._named_data or self.is_source(path)

    def loads_by_itself(self, path: str) -> bool:
        """Return whether runners load a file though no test names it: settings, start-up files and what these name."""
        return path in self._loaded or loads_by_itself(path) or self.kind(path) == "settings"

    @cached_property
    def helpers(self) -> frozenset[str]:
        """Return new code of no deciding name that deciding files name and source does not."""
        changed = {path: self.kind(path) is not None for path in self._changed}
        new = [path for path, decides in changed.items() if not decides and is_code(path) and path not in self._before]
        if not new:
            return frozenset()
        texts = self._texts([path for path, decides in changed.items() if decides or is_code(path)])
        deciding = [text for path, text in texts.items() if changed[path]]
        source = {path: text for path, text in texts.items() if not changed[path]}
        return frozenset(
            path
            for path in new
            if is_named(path, deciding)
            and not is_named(path, [text for other, text in source.items() if other != path])
        )

    @cached_property
    def _languages(self) -> frozenset[str]:
        """Return the languages of the source that was there; of all source where there was none."""
        source = [path for path in self._before if is_code(path) and kind_of_file(path) is None]
        return frozenset(map(_language, source or self._now))

    @cached_property
    def _loaded(self) -> frozenset[str]:
        """Return the files that checks call, and that settings and start-up files name."""
        found = set(self._called)
        for path, text in self._texts([path for path in self._paths if _NAMING.search(f"/{path}")]).items():
            found.update(self._named_in(path, text))
        return frozenset(path for path in found if kind_of_file(path) is None)

    def _named_in(self, path: str, text: str) -> Iterator[str]:
        folder = path.rpartition("/")[0]
        for match in _LOADS.finditer(text):
            for word in _WORD.findall(" ".join(filter(None, match.groups()))):
                plain = word.removeprefix("/").removeprefix("./").strip(".")
                below = f"{folder}/{plain}" if folder else plain
                for name in (below, plain, plain.replace(".", "/")):
                    yield from (name + suffix for suffix in _SUFFIXES if name + suffix in self._paths)

    @cached_property
    def _named_data(self) -> frozenset[str]:
        """Return changed data that was there, that tests name, and that neither source nor a folder of source holds.

        What is new there, or no data by its name (a page, a workflow), is what the task asks for.
        """
        asked = [path for path in self._changed if path in self._before and _DATA.search(path)]
        asked = [path for path in asked if kind_of_file(path) is None]
        if not asked:
            return frozenset()
        source = [path for path in self._paths if is_code(path) and kind_of_file(path) is None]
        folders = {path.rpartition("/")[0] for path in source}
        asked = [path for path in asked if not path.rpartition("/")[0] or path.rpartition("/")[0] not in folders]
        tests = [path for path in self._paths if kind_of_file(path) in {"test", "support"} and is_code(path)]
        named = self._texts(tests).values()
        asked = [path for path in asked if is_named(path, named, whole=True)]
        texts = self._texts(source).values() if asked else ()
        return frozenset(path for path in asked if not is_named(path, texts, whole=True))


def is_named(path: str, texts: Iterable[str], *, whole: bool = False) -> bool:
    """Return whether a text names a file: by its name, or where that is not asked for as a whole, without a suffix."""
    folder, _, name = path.rpartition("/")
    if not whole:
        stem = name.partition(".")[0]
        name = folder.rpartition("/")[2] if stem in {"__init__", "index", "mod"} else stem
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return any(pattern.search(text) for text in texts)


def _language(path: str) -> str:
    suffix = path.rpartition(".")[2]
    return "js" if re.fullmatch(r"[cm]?[jt]sx?|vue|svelte", suffix) else suffix
