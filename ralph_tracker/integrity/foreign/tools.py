"""The table of supported checkers: a new one is a module and a line here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.foreign import checkwash, tampercheck
from ralph_tracker.integrity.report_ids import definitions
from ralph_tracker.integrity.source_tests import SourceTest


@dataclass(frozen=True, slots=True)
class Tool:
    """A checker: `command` prints the document that `read` takes; `read` raises InputError for any other."""

    name: str
    command: str
    read: Callable[[bytes], tuple[Finding, ...]]


TOOLS: Final[Mapping[str, Tool]] = {
    module.NAME: Tool(module.NAME, module.COMMAND, module.read) for module in (checkwash, tampercheck)
}


def read(tool: str, data: bytes, ids: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return the findings of a tool in the table; tests that they name get their ids from `ids`. Raises InputError."""
    found = TOOLS[tool].read(data)
    named = {SourceTest(each.file, each.test, 1, 1, "") for each in found if each.test is not None}
    belongs = definitions(ids, named).items() if named else ()
    ids_of = {(test.path, test.name): tuple(id_ for id_, tests in belongs if test in tests) for test in named}
    return tuple(each if each.test is None else each._replace(tests=ids_of[each.file, each.test]) for each in found)
