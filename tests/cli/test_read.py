"""`read` says what a report file holds, and why another one is none."""

import json
import os
from pathlib import Path

import jsonschema
import pytest

REPORTS = Path(__file__).parents[2] / "fixtures" / "reports"
KINDS = {"junit": "tests", "coveragepy-json": "coverage", "ruff-json": "lint", "mypy-text": "types"}


def report_of(form: str) -> Path:
    """Return a real report of a format, no matter which, that can be read."""
    for folder in sorted((REPORTS / form).iterdir()):
        expected = json.loads((folder / "expected.json").read_text())
        if "unreadable" not in expected and not expected.get("contradiction"):
            return next(path for path in folder.iterdir() if path.name != "expected.json")
    raise AssertionError(form)


@pytest.fixture
def project(project_at, tmp_path):
    return project_at(tmp_path / "project")


@pytest.mark.parametrize(("form", "kind"), KINDS.items(), ids=KINDS.values())
class TestReadable:
    def test_is_a_line_with_kind_format_and_numbers(self, project, form, kind):
        path = report_of(form)
        answer = project.plainly("read", path)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith(f"{path}: {kind} ({form}): ")
        assert answer.out.count("\n") == 1

    def test_is_json_as_published(self, project, form, kind):
        answer = project.plainly("read", report_of(form), "--json")
        (found,) = answer.json
        jsonschema.validate(answer.json, project.plainly("schema", "read").json)
        assert (found["status"], found["kind"], found["format"], found["why"]) == ("ok", kind, form, None)
        assert {"tests", "coverage", "lint", "types"} & found.keys() == {kind}


def test_the_name_of_a_file_says_nothing(project, tmp_path):
    lying = tmp_path / "coverage.json"
    lying.write_bytes(report_of("junit").read_bytes())
    assert project.plainly("read", lying, "--json").json[0]["kind"] == "tests"


# id: content, why, line, column
BAD = {
    "empty": (b"", "empty", None, None),
    "no report": (b"hello", "not a report of a known format", None, None),
    "XML of another kind": (b" <html/>", "XML with the root <html>, no known report", 1, 2),
    "XML cut short": (b"<testsuite>\n <testcase", "malformed XML: unclosed token", 2, 2),
    "JSON cut short": (b'{"a":\n [1', "malformed JSON: Expecting ',' delimiter", 2, 4),
}


@pytest.mark.parametrize(("data", "why", "line", "column"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_says_why_and_where_and_ends_with_1(project, tmp_path, data, why, line, column):
    path = tmp_path / "report"
    path.write_bytes(data)
    answer = project.plainly("read", path, "--json")
    (found,) = answer.json
    jsonschema.validate(answer.json, project.plainly("schema", "read").json)
    assert (answer.code, found["status"]) == (1, "unreadable")
    assert (found["why"], found["line"], found["column"]) == (why, line, column)
    told = project.plainly("read", path)
    assert (told.code, told.out, told.err.count("\n")) == (1, "", 1)
    assert told.err.startswith(f"ralph-tracker: {path}: unreadable")
    assert why in told.err


@pytest.mark.parametrize("path", ["none.xml", ".", "a\0b"], ids=["missing", "a folder", "no name"])
def test_a_file_that_cannot_be_opened_is_one_line_and_the_others_are_read(project, path):
    answer = project.plainly("read", path, report_of("junit"), "--json")
    assert answer.code == 1
    assert [each["status"] for each in answer.json] == ["unreadable", "ok"]
    assert answer.json[0]["why"].startswith("cannot be opened")


def test_a_format_that_is_asked_for_decides(project):
    answer = project.plainly("read", report_of("junit"), "--format", "ruff-json")
    assert (answer.code, answer.out) == (1, "")
    assert "unreadable as ruff-json: malformed JSON" in answer.err


def test_an_unknown_format_names_the_nearest(project):
    assert "did you mean junit?" in project.plainly("read", report_of("junit"), "--format", "junitt").err


def test_a_report_that_contradicts_itself_says_so(project, tmp_path):
    path = tmp_path / "report.xml"
    path.write_text('<testsuite tests="3"><testcase name="a"/></testsuite>')
    assert "contradicts itself: declared tests: 3, found: 1" in project.plainly("read", path).out
    assert project.plainly("read", path, "--json").json[0]["contradiction"] == "declared tests: 3, found: 1"


def test_no_file_at_all_is_wrong_usage(project):
    assert project.plainly("read").code == 2


@pytest.mark.parametrize("verb", ["read", "simulate"])
def test_a_pipe_or_a_device_is_refused_without_waiting(project, verb):
    os.mkfifo(project.root / "pipe")
    for path in (str(project.root / "pipe"), "/dev/zero"):
        answer = project.plainly(verb, path)
        assert answer.code == 1
        assert answer.err.startswith(f"ralph-tracker: {path}: ")
        assert "a pipe or a device, not a file" in answer.err
        assert answer.err.count("\n") == 1
