"""The checkers whose JSON is read: a new one is its module and its line here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.foreign import checkwash, tampercheck
from ralph_tracker.integrity.report_ids import definitions
from ralph_tracker.integrity.source_tests import SourceTest


@dataclass(frozen=True, slots=True)
class Tool:
    """Describe a checker: `command` makes the document that `read` takes, which raises InputError for another one."""

    name: str
    command: str
    read: Callable[[bytes], tuple[Finding, ...]]


TOOLS: Final[Mapping[str, Tool]] = {
    module.NAME: Tool(module.NAME, module.COMMAND, module.read) for module in (checkwash, tampercheck)
}


def read(tool: str, data: bytes, ids: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return what a tool of the table found; a test that it names gets its ids among those given. Raises InputError."""
    found = TOOLS[tool].read(data)
    named = {SourceTest(each.file, each.test, 1, 1, "") for each in found if each.test is not None}
    belongs = definitions(ids, named).items() if named else ()
    ids_of = {(test.path, test.name): tuple(id_ for id_, tests in belongs if test in tests) for test in named}
    return tuple(each if each.test is None else each._replace(tests=ids_of[each.file, each.test]) for each in found)
