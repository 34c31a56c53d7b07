"""Count what the files of a tree show without running anything: size and complexity, new and covered lines, tasks.

Code is counted in any language that lizard reads.
"""

import functools
import hashlib
import importlib.util
import json
import math
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker import plugins
from ralph_tracker.core.metrics import COMPLEXITY_DECIMALS, FurtherMetric, Value, half_up
from ralph_tracker.errors import InputError
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.integrity.file_versions import ChangedFile, FileVersions, added_lines, read
from ralph_tracker.measure.find_reports import matcher
from ralph_tracker.safe_files import read_regular, text_of
from ralph_tracker.short_text import first_few

_LANGUAGES: Final = "lizard_languages"
# Reader by suffix, as lizard would choose it; lizard itself is asked for suffixes in neither table.
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
SCHEMA_VERSION: Final = 1
Stamp = tuple[int, int, int, int]
SIZE_CAP: Final = 1_000_000
EVERYTHING: Final = ("**",)
# Lines of code rarely average more than 60 characters; files with longer lines are bundled, not written.
_LONG_LINES: Final = 500
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@functools.cache
def lizard() -> Any:  # noqa: ANN401  # an untyped module
    """Import lizard on first use, but its readers on demand; restores sys.path, to which it adds a folder."""
    path = list(sys.path)
    if _LANGUAGES not in sys.modules:
        _defer_languages()
    try:
        return import_module("lizard")
    finally:
        sys.path[:] = path


@functools.cache
def reader_of(suffix: str) -> Any:  # noqa: ANN401  # an untyped class
    """Return lizard's reader for files with a suffix, None if there is none."""
    if suffix in NO_CODE:
        return None
    if suffix not in READERS:
        return lizard().get_reader_for(f"any{suffix}")
    module, name = READERS[suffix]
    lizard()
    try:
        return getattr(import_module(f"{_LANGUAGES}.{module}"), name)
    except (ImportError, AttributeError):  # another version of lizard, with a different layout
        return lizard().get_reader_for(f"any{suffix}")


def _defer_languages() -> None:
    """Replace lizard's package of languages by one that runs the original code once a missing name is accessed."""
    spec = importlib.util.find_spec(_LANGUAGES)
    if spec is None or spec.loader is None:
        return
    package: Any = importlib.util.module_from_spec(spec)
    run = spec.loader.exec_module

    @functools.cache
    def whole() -> Any:  # noqa: ANN401  # an untyped module
        del package.__getattr__
        run(package)  # replaces the functions below by its own
        return package

    def asked(name: str) -> Any:  # noqa: ANN401  # any attribute
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(whole(), name)

    package.__getattr__ = asked
    package.languages = lambda: whole().languages()
    package.get_reader_for = lambda filename: whole().get_reader_for(filename)
    sys.modules[_LANGUAGES] = package
    try:
        package.CLikeReader = import_module(f"{_LANGUAGES}.clike").CLikeReader  # lizard needs it at once
    except (ImportError, AttributeError):  # another version of lizard: load the whole package instead
        return


class FileCount(NamedTuple):
    """The counts of one file: lines of code, functions and the sum of their cyclomatic complexities.

    `note` says why only non-blank lines were counted and no functions, None if the file was analysed.
    """

    loc: int
    functions: int = 0
    complexity: int = 0
    note: str | None = None


class LizardAnalyser:
    """Counts with lizard, with its own definition of lines, comments and branches.

    One exception: comments that make lizard skip code ("#lizard forgives", "GENERATED CODE") have no effect, because
    the agent could write them. `limit_s` is CPU seconds per file: on some hostile or generated text lizard's time is
    quadratic.
    """

    def __init__(self, limit_s: float = 20.0) -> None:
        self._limit_s = limit_s

    @property
    def tool(self) -> str:
        """Return lizard's name and version: numbers of different tools are not comparable."""
        return f"lizard {lizard().version}"

    def reads(self, path: str) -> bool:
        """Return whether lizard has a reader for the file's suffix."""
        return reader_of(suffix_of(path)) is not None

    def analyse(self, path: str, text: str) -> FileCount:
        """Count a text whose lines end with newlines only, by lizard's own steps, without its printing.

        Raises any exception for code that lizard cannot read.
        """
        context = lizard().FileInfoBuilder(path)
        reader = reader_of(suffix_of(path))(context)
        tokens = self._in_time(reader.generate_tokens(text))
        for step in _steps():
            tokens = step(tokens, reader)
        for _ in reader(tokens, reader):
            pass
        found = context.fileinfo
        return FileCount(
            loc=found.nloc,
            functions=len(found.function_list),
            complexity=sum(function.cyclomatic_complexity for function in found.function_list),
        )

    def _in_time(self, tokens: Iterable[str]) -> Iterator[str]:
        end = time.thread_time() + self._limit_s
        left = iter(tokens)
        while several := list(islice(left, 500)):
            if time.thread_time() > end:
                msg = f"more than {self._limit_s:g} s"
                raise TimeoutError(msg)
            yield from several


def suffix_of(path: str) -> str:
    """Return the suffix of a `/`-separated path like pathlib, but ten times as fast."""
    name = path.rpartition("/")[2]
    stem, _, word = name.rpartition(".")
    return f".{word}" if stem and word else ""


@functools.cache
def _steps() -> tuple[Callable[[Any, Any], Iterator[str]], ...]:
    """Return lizard's steps without its token count, which is not used."""
    steps = (step for step in lizard().get_extensions([]) if step is not lizard().token_counter)
    return tuple(_drop_comments if step is lizard().comment_counter else step for step in steps)


def _drop_comments(tokens: Iterable[str], reader: Any) -> Iterator[str]:  # noqa: ANN401  # an untyped class
    """Keep only the line ends of comments, ignoring their content."""
    for token in tokens:
        comment = reader.get_comment_from_token(token)
        if comment is None:
            yield token
        else:
            yield from "\n" * (len(comment.splitlines()) - 1)


class FileFacts(NamedTuple):
    """What is known of one file.

    `sha256` is of its content. `stamp` shows whether the file has changed since, None if only the content can.
    """

    sha256: str
    stamp: Stamp | None
    counted: FileCount


class CodeCache(NamedTuple):
    """The result of the last count by path. `note` says why it is missing, if it should exist."""

    files: Mapping[str, FileFacts] = {}
    note: str | None = None

    def facts_if_unchanged(self, path: str, status: os.stat_result) -> FileFacts | None:
        """Return the facts of a file that is certainly unchanged, None if that is uncertain."""
        known = self.files.get(path)
        return known if known is not None and known.stamp == _stamp(status) else None

    def by_content(self) -> dict[tuple[str, str], FileCount]:
        """Return the counts by `content_key`, for files that were moved, copied or only touched."""
        return {content_key(path, known.sha256): known.counted for path, known in self.files.items()}


def content_key(path: str, sha256: str) -> tuple[str, str]:
    """Return what a count depends on: the content, and the suffix, which determines the language."""
    return sha256, suffix_of(path)


def settled_stamp(status: os.stat_result, now_ns: int) -> Stamp | None:
    """Return a stamp that changes with the next write, None if the file changed too recently for that.

    File times can be as coarse as two seconds: a second write within them leaves no trace. The stamp includes the time
    of the last status change because a program cannot set that back, unlike the modification time.
    """
    last = max(status.st_mtime_ns, status.st_ctime_ns)
    return _stamp(status) if now_ns - last > 2_000_000_000 else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def load_cache(path: Path, made_by: Mapping[str, Any]) -> CodeCache:
    """Read the cache; empty if made by another version or with other settings, with a note if damaged."""
    damaged = CodeCache(note=f"the cache of code counts was damaged and is made anew: {path.name}")
    try:
        # bytes
        raw = json.loads(read_regular(path, limit=256 << 20))
    except FileNotFoundError:
        return CodeCache()
    except (InputError, OSError, ValueError, RecursionError):
        return damaged
    if not isinstance(raw, dict) or raw.get("schema_version") != SCHEMA_VERSION or raw.get("made_by") != made_by:
        return CodeCache() if isinstance(raw, dict) and "schema_version" in raw else damaged
    try:
        return CodeCache(_facts_by_path(raw["files"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        return damaged


def save_cache(path: Path, made_by: Mapping[str, Any], files: Mapping[str, FileFacts]) -> str | None:
    """Replace the cache atomically; return why that failed, None if it did not. Nothing depends on it."""
    entries = {name: (known.sha256, known.stamp, *known.counted) for name, known in files.items()}
    document = {"schema_version": SCHEMA_VERSION, "made_by": made_by, "files": entries}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".tmp-{os.urandom(8).hex()}")
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123  # above
                file.write(json.dumps(document, separators=(",", ":")).encode())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        return f"the cache of code counts could not be written ({error.strerror}): every file is read again next time"
    return None


def _facts_by_path(entries: Any) -> dict[str, FileFacts]:  # noqa: ANN401  # as parsed
    """Return the facts of each file. Raises TypeError, ValueError or AttributeError for malformed entries."""
    if entries == {}:
        return {}
    digests, stamps, lines, functions, complexities, notes = zip(*entries.values(), strict=True)
    sizes, written, changed, nodes = zip(*(stamp or (0, 0, 0, 0) for stamp in stamps), strict=True)
    numbers = (*lines, *functions, *complexities, *sizes, *written, *changed, *nodes)
    for column, kinds in ((numbers, {int}), (digests, {str}), (notes, {str, type(None)})):
        if not kinds.issuperset(map(type, column)):
            raise TypeError
    if min(*lines, *functions) < 0:
        raise TypeError
    times = zip(sizes, written, changed, nodes, strict=True)
    settled = (time if stamp else None for time, stamp in zip(times, stamps, strict=True))
    found = map(FileCount, lines, functions, complexities, notes)
    return dict(zip(entries, map(FileFacts, digests, settled, found), strict=True))


class CodeCount(NamedTuple):
    """The size and complexity of the code in scope.

    `complexity_score` is the mean cyclomatic complexity of all functions, 2 decimals, None without functions. `tool` is
    the name and version of the counting tool: numbers of different tools are not comparable. `notes` say which files
    were counted differently, and why.
    """

    file_count: int
    loc_total: int
    complexity_score: float | None
    tool: str
    notes: tuple[str, ...] = ()


def count_code(
    root: Path,
    paths: Iterable[str],
    *,
    cache: Path,
    include: Iterable[str] = EVERYTHING,
    exclude: Iterable[str] = (),
    size_cap: int = SIZE_CAP,
    analyser: LizardAnalyser | None = None,
    now_ns: Callable[[], int] = time.time_ns,
) -> CodeCount:
    """Count the source files among `paths`, which are relative to `root` and `/`-separated.

    A file counts if the analyser reads files of its name, `include` matches it and `exclude` does not (patterns as in
    `globs`). Missing paths, folders and symbolic links are skipped; link targets count in their own place. Lines are
    those that are neither blank nor comment. A file over `size_cap` bytes, with very long lines, binary, or that the
    analyser cannot read counts by its non-blank lines, adds no function, and is in the notes. `cache` is an internal
    file, created, replaced and deleted as needed. Raises ConfigError for an invalid pattern.
    """
    reader = LizardAnalyser() if analyser is None else analyser
    included, excluded = matcher(include), matcher(exclude)
    made_by = {"tool": reader.tool, "size_cap": size_cap}
    known = load_cache(cache, made_by)
    counting = _CodeCounter(os.fspath(root), reader, size_cap, now_ns, known, known.by_content())
    files = {}
    for path in sorted(set(paths)):
        if reader.reads(path) and included(path) and not excluded(path):
            found = counting.facts_of(path)
            if found is not None:
                files[path] = found
    current = files == known.files and known.note is None
    unsaved = None if current else save_cache(cache, made_by, files)
    counts = [known.counted for known in files.values()]
    functions = sum(count.functions for count in counts)
    complexity = sum(count.complexity for count in counts)
    return CodeCount(
        file_count=len(counts),
        loc_total=sum(count.loc for count in counts),
        complexity_score=half_up(complexity / functions, COMPLEXITY_DECIMALS) if functions else None,
        tool=reader.tool,
        notes=(*_file_notes(files), *filter(None, (known.note, unsaved))),
    )


def _file_notes(files: Mapping[str, FileFacts]) -> list[str]:
    """Return a note per reason that names the files counted differently."""
    named: dict[str, list[str]] = {}
    for path, known in files.items():
        if known.counted.note is not None:
            named.setdefault(known.counted.note, []).append(path)
    notes = []
    for note, paths in sorted(named.items()):
        # A name that is not UTF-8 must not fail when printed.
        notes.append(f"{note}: {first_few(paths, 5).encode(errors='backslashreplace').decode()}")
    return notes


class _CodeCounter(NamedTuple):
    """One pass over the files, with the results of the previous pass."""

    root: str
    analyser: LizardAnalyser
    size_cap: int
    now_ns: Callable[[], int]
    cache: CodeCache
    by_content: dict[tuple[str, str], FileCount]

    def facts_of(self, path: str) -> FileFacts | None:
        """Return the facts of a file, counted if necessary; None if it is not a regular file."""
        try:
            status = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return self.cache.facts_if_unchanged(path, status) or self._read(path, status)

    def _read(self, path: str, status: os.stat_result) -> FileFacts:
        stamp = settled_stamp(status, self.now_ns())
        try:
            content = _read(Path(self.root, path), self.size_cap)
        except OSError as error:
            return FileFacts("", None, FileCount(0, note=f"counted as 0 lines, cannot be opened ({error.strerror})"))
        key = content_key(path, content.sha256)
        if key not in self.by_content:
            counted, reason = None, content.unfit(self.size_cap)
            if reason is None:
                try:
                    counted = self.analyser.analyse(path, content.text())
                except Exception as error:  # noqa: BLE001  # a parser of 27 languages on any text at all
                    reason = f"{self.analyser.tool} cannot read it ({type(error).__name__})"
            self.by_content[key] = counted or FileCount(content.lines, note=f"counted by non-blank lines, {reason}")
        return FileFacts(content.sha256, stamp, self.by_content[key])


class _Content(NamedTuple):
    """The content of a file: its non-blank lines, and the bytes unless they are too many."""

    sha256: str
    lines: int
    data: bytes | None

    def unfit(self, size_cap: int) -> str | None:
        """Return why a file is not analysed, None if it is."""
        if self.data is None:
            return f"larger than {size_cap} bytes"
        if len(self.data) > 50_000 and len(self.data) > _LONG_LINES * (self.lines + 1):
            return f"lines of more than {_LONG_LINES} characters on average"
        if b"\0" in self.data and not self.data.startswith(_UTF16_MARKS):
            return "binary"
        return None

    def text(self) -> str:
        """Return the text with uniform line ends; undecodable bytes, usually in comments and strings, are replaced."""
        data = self.data or b""
        encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
        return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _read(file: Path, size_cap: int) -> _Content:
    """Read a file in chunks, so that a huge one does not fill the memory."""
    digest, kept, lines, in_line = hashlib.sha256(), bytearray(), 0, False
    with file.open("rb") as source:
        while chunk := source.read(1 << 20):
            digest.update(chunk)
            first, *rest = chunk.split(b"\n")
            in_line = in_line or bool(first.strip())
            for line in rest:
                lines += in_line
                in_line = bool(line.strip())
            if len(kept) <= size_cap:
                kept += chunk
    return _Content(digest.hexdigest(), lines + in_line, bytes(kept) if len(kept) <= size_cap else None)


class TreeFacts(NamedTuple):
    """The input of TREE_METRICS: the files changed since the baseline, read on demand, the code, and the coverage.

    `coverage` is None if it was not measured.
    """

    root: Path
    since_baseline: Callable[[], Iterable[FileVersions]]
    code: CodeCount
    coverage: CoverageReport | None = None

    def new_lines(self) -> Mapping[str, frozenset[int]]:
        """Return the lines added since the baseline, by path; files that are not text have none."""
        files = map(read, self.since_baseline())
        return added_lines(file for file in files if isinstance(file, ChangedFile))

    def covered_lines(self) -> Mapping[str, Mapping[int, bool]]:
        """Return whether each coverable line was covered, as `covered_lines` does."""
        return covered_lines(self.coverage, self.root)


def covered_lines(coverage: CoverageReport | None, root: Path) -> Mapping[str, Mapping[int, bool]]:
    """Return whether each coverable line was covered, by path in the tree; {} if no report lists lines.

    Files that a report does not name relative to the root are left out, as are Go's statement blocks.
    """
    files = {} if coverage is None else coverage.files or {}
    roots = {f"{root}/", f"{root.resolve()}/"}
    covered: dict[str, Mapping[int, bool]] = {}
    for given, lines in files.items():
        path = given.replace("\\", "/").removeprefix("./")
        path = next((path.removeprefix(root) for root in roots if path.startswith(root)), path)
        covered[path] = {at: hit for at, hit in lines.items() if isinstance(at, int)}
    return covered


class PluginMetric(NamedTuple):
    """What a plug-in names as a metric: the function that takes it, None for "not measured", its unit and direction."""

    measure: Callable[[TreeFacts], float | None]
    unit: str = ""
    direction: Literal["up", "down", "neutral"] = "neutral"


def further_metrics(names: Iterable[str], facts: TreeFacts) -> tuple[tuple[FurtherMetric, ...], tuple[str, ...]]:
    """Return the metrics of plug-ins by these names, and a line for each that does not load, or fails."""
    found, problems = [], []
    for name in names:
        try:
            metric: PluginMetric = plugins.load("metrics", name)
            value = metric.measure(facts)
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{value} is no finite number")  # noqa: TRY301  # as if it had raised that itself
            found.append(FurtherMetric(name, value, metric.unit, metric.direction))
        except KeyError:
            problems.append(f"metric {name}: no plug-in of that name is installed; it was not measured")
        except plugins.PluginError as error:
            problems.append(f"metric {error}")
        except Exception as error:  # noqa: BLE001  # whatever a plug-in does
            owner = plugins.distribution("metrics", name)
            problems.append(f"metric {name}, a plug-in of {owner}, failed ({type(error).__name__}: {error})")
    return tuple(found), tuple(problems)


TREE_METRICS: Final[Mapping[str, Callable[[TreeFacts], Value | None]]] = {
    "file_count": lambda at: at.code.file_count,
    "loc_total": lambda at: at.code.loc_total,
    "complexity_score": lambda at: at.code.complexity_score,
}

# Plans are looked for by these names, in this order.
PLANS: Final = (
    "IMPLEMENTATION_PLAN.md",
    "fix_plan.md",
    "@fix_plan.md",
    "prd.json",
    "TODO.md",
    "PLAN.md",
    "tasks.md",
)
_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s", re.MULTILINE)
_FENCED: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)
_LISTS: Final = ("userStories", "user_stories", "stories", "tasks")
_DONE: Final = ("passes", "done", "completed")


def count_tasks(root: Path, named: str | None = None) -> tuple[int, int] | None:
    """Return how many tasks of the plan are done and open: boxes in Markdown, stories of a `prd.json`.

    None without a plan or without tasks. The agent ticks them itself: they raise no score, and only keep a loop with
    open tasks from ending.
    `named` is the plan of the configuration, relative to the root; else the first of the usual names that has tasks.
    """
    for name in (named,) if named else PLANS:
        text = text_of(root / name)
        if text is None:
            continue
        ticks = (
            _stories(text)
            if Path(name).suffix == ".json"
            else [box != " " for box in _BOX.findall(_FENCED.sub("", text))]
        )
        if ticks:
            return sum(ticks), len(ticks) - sum(ticks)
    return None


def _stories(text: str) -> list[bool]:
    """Return for each story whether it is done; [] for a document of another shape."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(document, dict):
        document = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
    stories = [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []
    known = [each for each in stories if any(isinstance(each.get(name), bool) for name in _DONE)]
    return [any(each.get(name) is True for name in _DONE) for each in known]
