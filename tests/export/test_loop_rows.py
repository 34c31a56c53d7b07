"""What is exported of a loop are its records: numbers by name, and nothing secret of its configuration."""

import csv
import io
import json

import pytest

from ralph_tracker.export.loop_rows import COLUMNS, VALUES, ExportedLoop, csv_lines, json_lines, write_parquet
from tests.measured.conftest import Workshop

TOKEN = "tok-0123456789abcdef"  # noqa: S105  # what must not be found


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    found = Workshop(root.resolve())
    found.prepare()
    found.configure(
        {
            "tests": {
                "run": f"echo {TOKEN}; cp results.xml {{reports}}/junit.xml",
                "reports": ["{reports}/junit.xml"],
                "env": {"DEPLOY_TOKEN": TOKEN},
            }
        }
    )
    found.start()
    found.passing(2)
    found.turn()
    return found


def exported(shop, **environment):
    return ExportedLoop(shop.tracker.store(), environment)


def test_each_iteration_is_a_row_of_what_was_measured(shop):
    rows = list(exported(shop).rows(0, 1))
    records = [json.loads((shop.tracker.store().paths.iteration(n) / "metrics.json").read_text()) for n in (0, 1)]
    assert [row.number for row in rows] == [0, 1]
    for row, record in zip(rows, records, strict=True):
        iteration = record["iteration_metrics"]
        assert row.values["testing.tests_passed"] == iteration["testing"]["tests_passed"]
        assert row.values["score.adjusted"] == iteration["adjusted_score"]
        assert row.texts["classification"] == iteration["classification"]
        assert row.at.isoformat().replace("+00:00", "Z") == iteration["timestamp"]
        assert [alert["id"] for alert in row.alerts] == [alert["id"] for alert in iteration["alerts"]]
        assert row.values.keys() <= VALUES.keys()
    assert "quality.type_errors" not in rows[0].values  # not measured is no 0
    assert rows[1].alerts


def test_parameters_have_no_command_variable_or_path(shop):
    parameters = exported(shop).parameters()
    assert parameters["alerts.coverage_drop"] == "2.0"
    assert parameters["checks.tests.kind"] == "tests"
    assert parameters["selection.mode"] == "walk"
    assert not [name for name, value in parameters.items() if TOKEN in value or "/" in value or "echo" in value]


def test_secrets_of_the_environment_and_of_checks_are_masked_everywhere(shop):
    words = shop.tracker.store().summary().message.split()
    longest = max(words, key=len)
    loop = exported(shop, SOME_PASSWORD=longest.ljust(8, "x"), OTHER_TOKEN="Test deletion")  # noqa: S106
    text = "".join(json_lines([loop])) + "".join(csv_lines([loop]))
    assert "Test deletion" not in text
    assert "*" * len("Test deletion") in text
    assert loop.mask(f"a {TOKEN} b") == f"a {'*' * len(TOKEN)} b"


def test_tables_have_the_same_columns_and_an_empty_cell_where_nothing_was_measured(shop, tmp_path):
    loop = exported(shop)
    rows = list(csv.DictReader(io.StringIO("".join(csv_lines([loop, loop])))))
    assert [(row["iteration"], row["testing.tests_passed"], row["quality.type_errors"]) for row in rows] == [
        ("0", "4", ""),
        ("1", "2", ""),
    ] * 2
    documents = [json.loads(line) for line in json_lines([loop])]
    assert [list(document) for document in documents] == [[*COLUMNS, "alerts", "metrics"]] * 2
    assert documents[1]["quality.type_errors"] is None
    assert rows[1]["alerts"].split() == [alert["id"] for alert in documents[1]["alerts"]]


def test_parquet_has_the_same_rows_with_types(shop, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an extra; make suite NAME=fleet installs it")
    file = tmp_path / "loops.parquet"
    assert write_parquet([exported(shop)], file) == 2
    table = parquet.read_table(file)
    documents = [json.loads(line) for line in json_lines([exported(shop)])]
    for row, document in zip(table.to_pylist(), documents, strict=True):
        assert {name: row[name] for name in VALUES} == {name: document[name] for name in VALUES}
        assert row["timestamp"].isoformat() == document["timestamp"]
    assert str(table.schema.field("testing.tests_passed").type) == "int64"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("parquet")] == ["loops.parquet"]
