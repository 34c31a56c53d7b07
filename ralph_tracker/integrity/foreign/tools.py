"""The checkers whose JSON is read: a new one is its module and its line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.foreign import checkwash, tampercheck
from ralph_tracker.integrity.naming import Reported


@dataclass(frozen=True, slots=True)
class Tool:
    """Describe a checker: `command` makes the document that `read` takes, which raises InputError for another one."""

    name: str
    command: str
    read: Callable[[bytes], tuple[Finding, ...]]


TOOLS: Final[Mapping[str, Tool]] = {
    module.NAME: Tool(module.NAME, module.COMMAND, module.read) for module in (checkwash, tampercheck)
}


def read(tool: str, data: bytes, outcomes: Outcomes | None = None) -> tuple[Finding, ...]:
    """Return what a tool of the table found, with the ids of the tests that it names. Raises InputError."""
    outcomes = outcomes or Outcomes()
    reported = Reported(outcomes.before.keys() | outcomes.after.keys())
    return tuple(
        each if each.test is None else each._replace(tests=reported.ids_of(each.file, each.test))
        for each in TOOLS[tool].read(data)
    )
