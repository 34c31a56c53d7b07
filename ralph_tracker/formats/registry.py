"""The table of formats, and how bytes are recognised: by content, never by file name.

A new format is one file with `sniff`, `read` and, for a linter or type checker, `diagnostics`, one line in the table
below, one folder in fixtures/reports/. Formats of one tool share a file. Other distributions add theirs by entry points
(docs/plugins.md); these are tried where none of ours fits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker import plugins
from ralph_tracker.formats.parsed_report import (
    EMPTY,
    MAX_DIAGNOSTICS,
    Diagnostic,
    LintReport,
    Report,
    ReportKind,
    Row,
    Severity,
    TypeReport,
    Unreadable,
    code_text,
    first_line,
    overridden_severity,
    severity_of,
)
from ralph_tracker.formats.report_content import DEFAULT_LIMITS, Content, DamageError, ReadLimits, empty_array

Syntax = Literal["xml", "json", "lines", "text"]


class Format(NamedTuple):
    """One format. Its module, in the folder of its kind, is imported when it is tried.

    The module has the name of the format, and `sniff`, `read` and, for a linter or type checker, `diagnostics`; a
    linter whose report is its findings has no `read`. Where one module reads several formats of a `tool`, it has the
    tool's name, and its functions end with the rest of the format's name, as `read_json`. `syntax` is that of the
    files: XML, one JSON value, a JSON object per line, or any text. `silence` is the report that empty output means if
    the tool exited with 0; None if the tool always writes something. `of_types`: type checkers write a linter's format
    too, and in a check of types it is a report of types. `module` is the full name of a module elsewhere.
    """

    name: str
    kind: ReportKind
    syntax: Syntax
    tool: str | None = None
    silence: Report | None = None
    of_types: bool = False
    module: str | None = None

    def sniff(self, content: Content) -> bool:
        """Return whether content of its syntax looks like the format, even if it is damaged further on."""
        return bool(self._function("sniff")(content))

    def read(self, content: Content) -> Report:
        """Return the report; of a linter whose module has no `read`, the count of its findings. Raises DamageError."""
        read: Callable[[Content], Report] | None = self._function("read")
        return LintReport.of(self.diagnostics(content)) if read is None else read(content)

    def diagnostics(self, content: Content) -> Iterable[Row]:
        """Return the findings of a linter or type checker; nothing of other kinds. Raises DamageError in between."""
        found: Callable[[Content], Iterable[Row]] | None = self._function("diagnostics")
        return () if found is None else found(content)

    def _function(self, action: str) -> Any:  # noqa: ANN401  # each action has its own type
        """Return the module's function for it, None without one."""
        if self.module is not None:
            return getattr(import_module(self.module), action, None)
        module, rest = self.tool or self.name, "" if self.tool is None else self.name.removeprefix(self.tool)
        found = import_module(f"ralph_tracker.formats.{self.kind}.{module.replace('-', '_')}")
        return getattr(found, action + rest.replace("-", "_"), None)


# In the order in which they are tried, exact formats first.
FORMATS: Final[tuple[Format, ...]] = (
    Format("linter-junit", "lint", "xml", of_types=True),
    Format("junit", "tests", "xml"),
    Format("nunit", "tests", "xml"),
    Format("xunitnet", "tests", "xml"),
    Format("trx", "tests", "xml"),
    Format("robot", "tests", "xml"),
    Format("jest-json", "tests", "json"),
    Format("mocha-json", "tests", "json"),
    Format("rspec-json", "tests", "json"),
    Format("playwright-json", "tests", "json"),
    Format("cucumber-json", "tests", "json"),
    Format("pytest-json-report", "tests", "json"),
    Format("pytest-reportlog", "tests", "lines"),
    Format("gotest-json", "tests", "lines"),
    Format("dart-json", "tests", "lines"),
    Format("tap", "tests", "text"),
    Format("minitest-text", "tests", "text"),
    Format("libtest-text", "tests", "text"),
    Format("pytest-text", "tests", "text"),
    Format("unittest-text", "tests", "text"),
    Format("cobertura", "coverage", "xml"),
    Format("jacoco", "coverage", "xml"),
    Format("clover", "coverage", "xml"),
    Format("opencover", "coverage", "xml"),
    Format("coveragepy-json", "coverage", "json", "coveragepy"),
    Format("llvm-cov-json", "coverage", "json"),
    Format("istanbul-summary", "coverage", "json", "istanbul"),
    Format("istanbul-final", "coverage", "json", "istanbul"),
    Format("simplecov", "coverage", "json"),
    Format("coveragepy-sqlite", "coverage", "text", "coveragepy"),
    Format("gocover", "coverage", "text"),
    Format("lcov", "coverage", "text"),
    Format("coveragepy-text", "coverage", "text", "coveragepy"),
    Format("checkstyle", "lint", "xml", of_types=True),
    Format("ruff-json", "lint", "json", "ruff", of_types=True),  # `[]`, which may be of any tool
    Format("gitlab-json", "lint", "json", of_types=True),
    Format("rdjson", "lint", "json", of_types=True),
    Format("sarif", "lint", "json", of_types=True),
    Format("eslint-json", "lint", "json"),
    Format("pylint-json", "lint", "json", "pylint"),
    Format("shellcheck-json", "lint", "json"),
    Format("hadolint-json", "lint", "json"),
    Format("stylelint-json", "lint", "json"),
    Format("rubocop-json", "lint", "json"),
    Format("bandit-json", "lint", "json"),
    Format("biome-json", "lint", "json"),
    Format("oxlint-json", "lint", "json"),
    Format("golangci-json", "lint", "lines"),
    Format("cargo-json", "lint", "lines"),
    Format("ruff-json-lines", "lint", "lines", "ruff", silence=LintReport()),
    Format("rdjson-lines", "lint", "lines", "rdjson", silence=LintReport(), of_types=True),
    Format("ruff-text", "lint", "text", "ruff", of_types=True),  # ty's line of a clean run is the same
    Format("github-text", "lint", "text", silence=LintReport(), of_types=True),
    Format("azure-text", "lint", "text", silence=LintReport(), of_types=True),
    Format("pylint-text", "lint", "text", "pylint", silence=LintReport()),
    Format("flake8-text", "lint", "text", silence=LintReport()),
    Format("pyright-json", "types", "json", "pyright"),
    Format("pyrefly-json", "types", "json", "pyrefly"),
    Format("mypy-json", "types", "lines", "mypy", silence=TypeReport()),
    Format("mypy-text", "types", "text", "mypy", silence=TypeReport()),
    Format("tsc-text", "types", "text", silence=TypeReport()),
    Format("ty-text", "types", "text", "ty", silence=TypeReport()),
    Format("pyrefly-text", "types", "text", "pyrefly", silence=TypeReport()),
    Format("pyright-text", "types", "text", "pyright", silence=TypeReport()),
)
BY_NAME: Final[Mapping[str, Format]] = {each.name: each for each in FORMATS}

# The possible syntaxes by first character, in the order in which they are tried. Tools write other lines before and
# between JSON lines, so those files may begin with anything.
_JSON: Final[tuple[Syntax, ...]] = ("json", "lines", "text")
_SYNTAXES: Final[Mapping[str, tuple[Syntax, ...]]] = {"<": ("xml", "lines", "text"), "{": _JSON, "[": _JSON}
_MISSHAPEN: Final = (KeyError, TypeError, IndexError, AttributeError, ValueError)
_OTHERWISE: Final[tuple[Syntax, ...]] = ("lines", "text")


def by_name(name: str | None) -> Format | None:
    """Return a format, ours or a plug-in's; None for an unknown one, and for a plug-in that does not load."""
    if name is None or name in BY_NAME:
        return BY_NAME.get(name or "")
    with suppress(KeyError, plugins.PluginError):
        found: Format = plugins.load("formats", name)
        return found
    return None


def _plugins_format(content: Content) -> Format | None:
    """Return the plug-in's format that the content looks like; one that does not load is none of them."""
    syntaxes = _SYNTAXES.get(content.opening[:1], _OTHERWISE)
    for name in plugins.names("formats"):
        each = by_name(name)
        with suppress(*_MISSHAPEN):
            if each is not None and each.syntax in syntaxes and each.sniff(content):
                return each
    return None


class ReadReport(NamedTuple):
    """The recognised format (None: none), and the report or why it cannot be read."""

    format: Format | None
    result: Report | Unreadable


def read(
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002
    kind: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
    folders: tuple[str, ...] = (),
) -> Report | Unreadable:
    """Return the report in that format (None: the one that the bytes look like), or Unreadable.

    Never raises. Empty input, including white space, is Unreadable with `empty` set, never a report of zeros: only a
    caller who knows that the tool ran and exited with 0 may use `BY_NAME[format].silence` instead, if the format has it
    (mypy's `--output=json` writes nothing if it finds nothing). `kind` is what the report is said to be of, as by the
    name of its check: of lint or types, JUnit is a list of findings; of types, so is a format that linters and type
    checkers share. `folders` are as in Content: tests of jest, vitest,
    mocha and Dart are named by the path below them, and by the last part of the path if it is below none.
    """
    return _read(data, format, limits, folders, kind).result


def diagnostics(
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002
    kind: str | None = None,
    severity: Mapping[str, Severity] | None = None,
) -> tuple[Diagnostic, ...]:
    """Return the errors and warnings of a report with their places, at most 5,000; () for what has none.

    `format` and `kind` are as in `read`. A report above 20 MB is not listed; a finding without a file is left out, and
    damage ends the list without an error: `read` tells of it. `severity` overrides by prefix of the code.
    """
    content = Content(data)
    if len(data) > 20_000_000 or not content.opening:
        return ()
    chosen = recognise(content) if format is None else by_name(format)
    if (chosen is None or not chosen.sniff(content)) and _is_document(chosen) and content.document is not None:
        content = content.document
        chosen = chosen or recognise(content)
    chosen = _of_kind(chosen, kind)
    return (
        ()
        if chosen is None
        else tuple(islice(_diagnostics(chosen.diagnostics(content), severity or {}), MAX_DIAGNOSTICS))
    )


def _diagnostics(rows: Iterable[Row], overrides: Mapping[str, Severity]) -> Iterator[Diagnostic]:
    with suppress(DamageError, *_MISSHAPEN):
        for file, line, code, word, message in rows:
            name = code_text(code)
            how = severity_of(word, name)
            if how != "none":
                how = overridden_severity(name, overrides) or how
            if isinstance(file, str) and file and how in ("error", "warning"):
                at = int(line) if str(line).isdecimal() else None
                yield Diagnostic(file, at or None, name, first_line(message), how)


def examine(data: bytes, *, format: str | None = None, limits: ReadLimits = DEFAULT_LIMITS) -> ReadReport:  # noqa: A002
    """Return the result of `read` with the format, and a place whenever possible.

    Damage of a whole XML or JSON document is placed at its beginning.
    """
    reading = _read(data, format, limits)
    result, text = reading.result, Content(data[:4096], limits).text
    begins = len(text) - len(text.lstrip())
    if (
        not isinstance(result, Unreadable)
        or result.line is not None
        or text[begins : begins + 1] not in ("<", "{", "[")
    ):
        return reading
    before = text[:begins]
    return reading._replace(result=result._replace(line=before.count("\n") + 1, column=begins - before.rfind("\n")))


def _read(
    data: bytes, name: str | None, limits: ReadLimits, folders: tuple[str, ...] = (), kind: str | None = None
) -> ReadReport:
    if len(data) > limits.max_bytes:
        return ReadReport(None, Unreadable(f"{len(data)} bytes are more than the limit of {limits.max_bytes}"))
    content = Content(data, limits, folders)
    if not content.opening:
        return ReadReport(None, Unreadable(EMPTY))
    if name is not None and by_name(name) is None:
        return ReadReport(None, Unreadable(_why_no_format(name)))
    found = _read_as(content, name, kind)
    if isinstance(found.result, Unreadable) and _is_document(found.format) and content.document is not None:
        inner = _read_as(content.document, name, kind)
        if _is_document(inner.format) and not isinstance(inner.result, Unreadable):
            return inner
    return found


def _why_no_format(name: str) -> str:
    import difflib  # noqa: PLC0415  # most names are known

    known = (*BY_NAME, *plugins.names("formats"))
    if name in known:
        try:
            plugins.load("formats", name)
        except plugins.PluginError as error:
            return str(error)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return f"no format is called {name!r}; {hint}"


def _is_document(format: Format | None) -> bool:  # noqa: A002
    """Return whether its files are one document, which other lines may stand around; so may files of no format."""
    return format is None or format.syntax in ("xml", "json")


def _read_as(content: Content, name: str | None, kind: str | None) -> ReadReport:
    chosen = _of_kind(by_name(name) if name is not None else recognise(content), kind)
    if chosen is None:
        return ReadReport(None, _why_unknown(content))
    if kind in ("tests", "coverage") and name is None and empty_array(content):
        return ReadReport(None, Unreadable(f"an empty list, which tells nothing of {kind}"))
    try:
        report = chosen.read(content)
    except DamageError as damage:
        return ReadReport(chosen, damage.unreadable)
    except Exception as error:
        if chosen.module is None:
            raise
        return ReadReport(chosen, Unreadable(f"the plug-in {chosen.name} failed ({type(error).__name__}: {error})"))
    if kind == "types" and chosen.of_types and isinstance(report, LintReport):
        report = TypeReport.of_findings(report)
    return ReadReport(chosen, report)


def _of_kind(chosen: Format | None, kind: str | None) -> Format | None:
    """Return the format in which JUnit is read: what its check is said to measure counts before its suites' names."""
    forms = {"lint": "linter-junit", "types": "linter-junit", "tests": "junit"}
    is_junit = chosen is not None and chosen.name in forms.values() and kind in forms
    return BY_NAME[forms[kind or ""]] if is_junit else chosen


def foreign_syntax(data: bytes) -> Literal["document", "text"] | None:
    """Return what the bytes are if they are no report: a whole document in XML or JSON, or text.

    None for a report, for a damaged document, which may have been one, and for nothing.
    """
    content = Content(data)
    if not content.opening or recognise(content) is not None:
        return None
    if content.opening[0] in "{[":
        return None if isinstance(content.json, Unreadable) else "document"
    if content.opening[0] != "<":
        return "text"
    try:
        content.stream(lambda _name, _attributes: None, lambda _name: None)
    except DamageError:
        return None
    return "document"


def recognise(content: Content) -> Format | None:
    """Return the format that the content looks like, None if none; a plug-in's where it is none of ours."""
    ours = next((each for each in candidates(content) if each.sniff(content)), None)
    return _plugins_format(content) if ours is None else ours


def candidates(content: Content) -> Iterator[Format]:
    """Yield the formats whose files may begin like this, in the order in which they are tried."""
    for syntax in _SYNTAXES.get(content.opening[:1], _OTHERWISE):
        yield from (each for each in FORMATS if each.syntax == syntax)


def _why_unknown(content: Content) -> Unreadable:
    """Return as closely as possible why the content is not a known report."""
    if content.opening.startswith("<"):
        return content.xml.damage or Unreadable(f"XML with the root <{content.xml.root}>, no known report")
    if content.opening[0] in "{[" and isinstance(content.json, Unreadable):
        return content.json
    if content.opening[0] in "{[":
        return Unreadable("JSON, but no known report")
    return Unreadable("not a report of a known format")
