"""The tables of the pages hold what the program has: every key of the configuration, every format."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from ralph_tracker.cli.verbs import VERBS
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.core.alert_types import TYPES
from ralph_tracker.formats.registry import FORMATS
from tests.tables import table

DOCS = Path(__file__).resolve().parents[2] / "docs"
MADE_OF = {"xml": "XML", "json": "JSON", "lines": "JSON lines", "text": "text"}


def rows(page: str, columns: int) -> list[list[str]]:
    """Return the rows of a page's tables that have so many columns, the heads left out."""
    lines = [line for line in (DOCS / page).read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == columns]


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of a section with its default, those of the sections in it in their place."""
    for name, field in model.model_fields.items():
        many = get_origin(field.annotation) is dict
        inner = get_args(field.annotation)[1] if many else field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.NAME." if many else f"{prefix}{name}.")
        else:
            yield prefix + (field.alias or name), field.get_default(call_default_factory=True)


def shown(default: Any) -> str:
    return "required" if default is PydanticUndefined else f"`{json.dumps(default)}`"


def test_every_key_of_the_configuration_is_on_its_page_with_its_default():
    table = {row[0]: row[1] for row in rows("configuration.md", 3) if row[0] != "key"}
    assert table == {f"`{key}`": shown(default) for key, default in keys(ConfigDocument)}


def test_every_key_says_what_it_means():
    assert all(len(row[2]) > 10 for row in rows("configuration.md", 3) if row[0] != "key")


def test_every_command_is_on_its_page():
    named = " ".join(row[0] for row in rows("commands.md", 2))
    assert [verb for verb in VERBS if f"`{verb}" not in named] == []


def test_every_format_is_on_its_page_with_what_it_measures_and_is_made_of():
    table = [tuple(row[:3]) for row in rows("formats.md", 4) if row[0] != "format"]
    assert sorted(table) == sorted((each.name, each.kind, MADE_OF[each.syntax]) for each in FORMATS)


def test_every_format_says_who_writes_it():
    assert all(row[3] for row in rows("formats.md", 4))


def test_every_alert_is_on_the_page_of_semantics_with_its_severity():
    table = {(row[1], row[0]) for row in rows("semantics.md", 3) if row[0] in {"CRITICAL", "HIGH", "MEDIUM"}}
    assert table == {(kind.name, kind.severity.name) for kind in TYPES if kind.rule is None}


def test_every_rule_of_integrity_is_on_its_page_with_its_alert_and_severity():
    table = {(row[0], row[1], row[2].partition(",")[0]) for row in rows("integrity.md", 4) if len(row[0]) <= 2}
    rules = [kind for kind in TYPES if kind.rule is not None and len(kind.rule) <= 2]
    assert table == {(kind.rule, kind.name, kind.severity.name) for kind in rules}


def test_every_finding_of_the_rerun_is_on_the_page_of_integrity_with_what_its_severity_means():
    names = {kind.name for kind in TYPES if kind.rule == kind.name}
    told = {name: row[4] for row in rows("integrity.md", 5) for name in names if f"`{name}`" in (row[3] + row[4])}
    assert told.keys() == names
    critical = {kind.name for kind in TYPES if kind.rule == kind.name and kind.severity.name == "CRITICAL"}
    assert critical <= {name for name, verdict in told.items() if verdict.startswith("TAMPERED")}


@table(
    ("page", "columns"),
    [("configuration.md", 3), ("formats.md", 4), ("semantics.md", 3), ("integrity.md", 4), ("ci.md", 2)],
)
def test_the_tables_are_found(page, columns):
    assert len(rows(page, columns)) > 4


def test_every_fault_names_tests_that_exist():
    faults = [row[1] for row in rows("guarantees.md", 2) if "`" in row[1]]
    named = [path for cell in faults for path in re.findall(r"`(tests/[^`]+)`", cell)]
    assert len(named) > len(faults)
    assert [path for path in named if not (DOCS.parent / path).exists()] == []
