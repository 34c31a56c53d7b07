"""SARIF 2.1.0, written by analysers of all kinds: several runs of tools in one file.

The level of a result is its own, else its rule's default, else warning; none if its `kind` is not a failure. Versions
before 2.1.0 have other shapes and are not read.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import damage_at, decode, inside
from ralph_tracker.formats.parsed_report import NO_CODE, LintReport, Row, Severity, severity_of_word
from ralph_tracker.formats.report_content import Content

VERSION: Final = "2.1.0"
_BESIDE: Final = frozenset({"version", "$schema", "inlineExternalProperties"})
_PLACE: Final = (("artifactLocation", "uri"), ("region", "startLine"))


class _Head(msgspec.Struct):
    version: Any = None


class _Default(msgspec.Struct, gc=False):
    level: Any = None


class _Rule(msgspec.Struct, gc=False):
    id: Any = None
    defaultConfiguration: _Default | None = None  # noqa: N815  # SARIF's names, here and below


class _Component(msgspec.Struct):
    rules: list[_Rule] | None = None


class _Tool(msgspec.Struct):
    driver: _Component | None = None
    extensions: list[_Component] | None = None


class _Place(msgspec.Struct, gc=False):
    index: Any = None


class _RuleReference(msgspec.Struct, gc=False):
    id: Any = None
    index: Any = None
    toolComponent: _Place | None = None  # noqa: N815


class _Suppression(msgspec.Struct, gc=False):
    status: Any = None


class _Result(msgspec.Struct, gc=False):
    ruleId: Any = None  # noqa: N815
    ruleIndex: Any = None  # noqa: N815
    rule: _RuleReference | None = None
    kind: Any = None
    level: Any = None
    suppressions: list[_Suppression] | None = None
    locations: Any = None
    message: Any = None
    baselineState: Any = None  # noqa: N815

    @property
    def is_suppressed(self) -> bool:
        """Return whether it is; a suppression without a status is accepted."""
        return bool(self.suppressions) and all(each.status in (None, "accepted") for each in self.suppressions or ())


class _Notification(msgspec.Struct, gc=False):
    level: Any = None


class _Invocation(msgspec.Struct):
    executionSuccessful: Any = None  # noqa: N815
    toolExecutionNotifications: list[_Notification] | None = None  # noqa: N815

    @property
    def has_failed(self) -> bool:
        """Return whether it says so, or that the tool had an error of its own."""
        own = any(each.level == "error" for each in self.toolExecutionNotifications or ())
        return own or self.executionSuccessful is False


class _Elsewhere(msgspec.Struct):
    results: Any = None


class _Run(msgspec.Struct):
    tool: _Tool | None = None
    results: list[_Result] | None = None
    invocations: list[_Invocation] | None = None
    externalPropertyFileReferences: _Elsewhere | None = None  # noqa: N815


class _Log(msgspec.Struct):
    runs: list[_Run]
    inlineExternalProperties: list[_Elsewhere] | None = None  # noqa: N815


def sniff(content: Content) -> bool:
    """Whether it is an object with runs and another key that only SARIF has, in any version."""
    return content.opening.startswith("{") and "runs" in content.json_keys and bool(content.json_keys & _BESIDE)


def read(content: Content) -> LintReport:
    """Count the results of all runs by level and rule; those that a baseline had and this run has not are left out.

    A log without a run has none. A run without a list of results, results in another file and a failed run that lists
    none are not measured. Raises DamageError.
    """
    version = decode(content, _Head, "SARIF").version
    if version != VERSION:
        shown = f"version {version}" if isinstance(version, str) else "no version"
        raise damage_at(content, ["version"], f"SARIF with {shown}; only {VERSION} is read")
    log = decode(content, _Log, "SARIF")
    if any(each.results is not None for each in log.inlineExternalProperties or ()):
        raise damage_at(content, ["inlineExternalProperties"], "it has results outside of its runs")
    for number, run in enumerate(log.runs):
        elsewhere = run.externalPropertyFileReferences
        if elsewhere is not None and elsewhere.results is not None:
            why = "the results are in other files; have the tool write them into one"
            raise damage_at(content, ["runs", number, "externalPropertyFileReferences"], why)
        if run.results is None:
            why = "a run without `results`: the tool did not scan anything; see the tool's own output"
            raise damage_at(content, ["runs", number], why)
        if not run.results and any(each.has_failed for each in run.invocations or ()):
            why = "the tool failed, says the report, and there is no result; see the tool's own output"
            raise damage_at(content, ["runs", number, "invocations"], why)
    suppressed = sum(result.is_suppressed for run in log.runs for result in run.results or () if _is_there(result))
    return LintReport.of(_rows(log))._replace(suppressed=suppressed)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the results of all runs, each at the first of its places."""
    yield from _rows(decode(content, _Log, "SARIF"))


def _rows(log: _Log) -> Iterator[Row]:
    for run in log.runs:
        rules = _Rules(run.tool)
        for result in run.results or ():
            if _is_there(result) and not result.is_suppressed:
                first = result.locations[0] if isinstance(result.locations, list) and result.locations else None
                file, line = (inside(first, "physicalLocation", *keys) for keys in _PLACE)
                file = file.removeprefix("file://") if isinstance(file, str) else None
                yield file, line, _code(result, rules), _severity(result, rules), inside(result.message, "text")


def _is_there(result: _Result) -> bool:
    """Return whether it is one of this run: a comparison with a baseline lists what is gone as well."""
    return bool(result.baselineState != "absent")


class _Rules:
    """Find the rule of a result among those of the tool and of its extensions."""

    def __init__(self, tool: _Tool | None) -> None:
        driver = (tool and tool.driver) or _Component()
        self._driver = driver.rules or []
        self._extensions = [each.rules or [] for each in (tool and tool.extensions) or ()]
        self._by_id: dict[object, _Rule] = {}
        for rule in (rule for rules in (self._driver, *self._extensions) for rule in rules):
            if isinstance(rule.id, str):
                self._by_id.setdefault(rule.id, rule)

    def of(self, result: _Result) -> _Rule | None:
        """Return the rule by its index, else by its name; None if there is neither."""
        reference = result.rule or _RuleReference()
        owner = _index(None if reference.toolComponent is None else reference.toolComponent.index)
        rules = self._driver if owner is None else _item(self._extensions, owner) or []
        index = _index(reference.index) if _index(reference.index) is not None else _index(result.ruleIndex)
        by_index = None if index is None else _item(rules, index)
        return by_index or next((self._by_id[each] for each in _names(result) if each in self._by_id), None)


def _names(result: _Result) -> Iterator[str]:
    """Yield the possible names of the rule: `A/b` is a part of rule A."""
    for given_name in (result.ruleId, result.rule and result.rule.id):
        name = given_name if isinstance(given_name, str) else ""
        while name:
            yield name
            name = name.rpartition("/")[0]


def _index(value: object) -> int | None:
    """Return an index counting from 0, None for anything else, such as SARIF's -1 for none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _item(values: list[Any], index: int) -> Any:  # noqa: ANN401  # rules, or lists of them
    return values[index] if index < len(values) else None


def _code(result: _Result, rules: _Rules) -> str:
    name = next(_names(result), None)
    if name is None:
        rule = rules.of(result)
        name = rule.id if rule is not None and isinstance(rule.id, str) else NO_CODE
    return name


def _severity(result: _Result, rules: _Rules) -> Severity:
    if isinstance(result.kind, str) and result.kind.lower() != "fail":
        return "none"
    own = _level(result.level)
    if own is not None:
        return own
    rule = rules.of(result)
    default = rule.defaultConfiguration if rule is not None else None
    return (default and _level(default.level)) or "warning"


def _level(word: object) -> Severity | None:
    return (
        severity_of_word(word)
        if isinstance(word, str) and word.lower() in {"error", "warning", "note", "none"}
        else None
    )
