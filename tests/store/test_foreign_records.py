"""Records that AIWG wrote: found in either place, shown where they can be, damaged ones named."""

import json

import pytest
import yaml

from ralph_tracker.errors import LoopError
from ralph_tracker.report.markdown_reports import iteration_report
from ralph_tracker.store.foreign_records import aiwg_folder, aiwg_records, why_not_showable
from ralph_tracker.store.layout import ProjectPaths
from tests.tables import table

FOREIGN = {"iteration_metrics": {"iteration": 3, "timestamp": "2026-01-01T00:00:00Z", "quality_score": 0.6}}


class TestFolderOfAiwg:
    @pytest.fixture
    def project(self, driven):
        return ProjectPaths(driven.root)

    @pytest.mark.parametrize("place", ["mine/progress", "loops/mine/progress"])
    @pytest.mark.parametrize("name", ["iteration-001-metrics.json", "iteration-001.yaml", "iteration-1.yml"])
    def test_is_found_in_either_place(self, project, place, name):
        folder = project.base / place
        folder.mkdir(parents=True)
        (folder / name).touch()
        assert aiwg_folder(project, "mine") == folder

    def test_is_none_without_records(self, project):
        (project.base / "mine" / "progress").mkdir(parents=True)
        (project.base / "mine" / "progress" / "iteration-001.txt").touch()
        assert aiwg_folder(project, "mine") is None


class TestRecordsOfAiwg:
    def test_are_in_the_order_of_their_numbers(self, tmp_path):
        for number in (10, 2, 1):
            document = {"iteration_metrics": {"iteration": number}}
            (tmp_path / f"iteration-{number}-metrics.json").write_text(json.dumps(document))
        assert [record.number for record in aiwg_records(tmp_path)] == [1, 2, 10]

    @pytest.mark.parametrize(
        "text",
        [json.dumps(FOREIGN), yaml.safe_dump(FOREIGN), "\ufeff" + json.dumps(FOREIGN)],
        ids=["json", "yaml under the name json", "a byte order mark"],
    )
    def test_are_shown_as_they_are(self, tmp_path, text):
        (tmp_path / "iteration-003-metrics.json").write_text(text, encoding="utf-8")
        (record,) = aiwg_records(tmp_path)
        assert (record.number, record.document, record.problem) == (3, FOREIGN, None)

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (b"{", "cannot be read"),
            (b"\xff\xfe", "cannot be read"),
            (b"", "should be keys and values"),
            (b"[]", "should be keys and values"),
            (b"{}", "iteration_metrics: is missing"),
            (b'{"iteration_metrics": {"iteration": "x"}}', "iteration_metrics.iteration: "),
            (b'{"iteration_metrics": {"iteration": 999999999}}', "iteration_metrics.iteration: "),
        ],
        ids=["no yaml", "no text", "empty", "a list", "no record", "no number", "a number of none"],
    )
    def test_that_are_damaged_are_named_and_the_others_go_on(self, tmp_path, data, problem):
        (tmp_path / "iteration-001-metrics.json").write_bytes(data)
        (tmp_path / "iteration-002-metrics.json").write_text(json.dumps(FOREIGN))
        damaged, whole = aiwg_records(tmp_path)
        assert (damaged.number, damaged.document, whole.document) == (1, None, FOREIGN)
        assert damaged.problem.startswith(f"iteration-001-metrics.json: {problem}")
        assert "\n" not in damaged.problem

    def test_that_have_no_number_come_first(self, tmp_path):
        (tmp_path / "iteration-x.json").write_text("{")
        (tmp_path / "iteration-001.json").write_text(json.dumps(FOREIGN))
        assert [record.number for record in aiwg_records(tmp_path)] == [-1, 3]

    def test_are_missed_with_a_word(self, tmp_path):
        with pytest.raises(LoopError, match="no record of an iteration"):
            aiwg_records(tmp_path)


@table(
    "document",
    [
        {"iteration_metrics": {"iteration": 0}},
        {"iteration_metrics": {"iteration": 1, "testing": None, "alerts": None, "deltas": {}, "notes": []}},
        {"iteration_metrics": {"iteration": 1, "of": "another tool"}, "more": {"keys": 1}},
        {"iteration_metrics": {"iteration": 1, "quality": {"build_status": "success", "lint_errors": 3}}},
        {"iteration_metrics": {"iteration": 1}, "best_iteration_tracker": None, "recommendation": {}},
        {"iteration_metrics": {"iteration": 1, "alerts": [{}]}, "best_iteration_tracker": {"current_best": 0}},
    ],
    ids=["number alone", "nothing in it", "more keys", "status", "no advice", "bare alert"],
)
def test_a_document_that_can_be_shown_is_shown(document):
    assert why_not_showable(document) is None
    assert "\n\n## Iteration " in iteration_report(document)


@table("document", [{}, {"iteration_metrics": []}, {"iteration_metrics": {}}], ids=str)
def test_a_document_without_a_record_cannot_be_shown(document):
    assert why_not_showable(document).startswith("iteration_metrics")
