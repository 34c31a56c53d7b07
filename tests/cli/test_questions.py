"""What only a person can say: listed by its verb, first in every view, answered by the commands beside it."""

import jsonschema
import pytest
from markdown_it import MarkdownIt

from ralph_tracker.cli.schema import SCHEMAS, schema_of
from ralph_tracker.report.escaping import for_markdown

FORCED = "class Box:\n    def __eq__(self, other):\n        return True\n"
FACTS = "box.py:2: The comparison has the same result for every operand; compare the values"
YES = "ralph-tracker accept it1-equality_overloaded --reason WHY"
NO = "ralph-tracker select-best --iteration 0 --reason WHY"
NONE = "Iteration {} raises no question.\n  next: `ralph-tracker status` shows the loop\n"
SENTENCE = f"Iteration 1: {FACTS}. Intended? `{YES}`. Not intended? Take 0: `{NO}`."


def begin(project, configuration="codebase: {keep: always}\n"):
    """Capture a baseline whose files are kept."""
    (project.root / "ralph-tracker.yaml").write_text(configuration)
    (project.root / "app.py").write_text("ONE = 1\n")
    return project.started(test_count=9, tests_passed=9)


@pytest.fixture
def asked(project, metrics_of):
    """Return a loop whose first iteration gains a test and raises a question."""
    begin(project)
    (project.root / "box.py").write_text(FORCED)
    project.must("post-iteration", metrics_of())
    return project


def words(text):
    return " ".join(text.split())


def test_are_listed_with_the_facts_and_the_commands_that_answer(asked):
    told = asked.ralph("questions")
    assert (told.code, told.err) == (0, "")
    assert words(told.out) == (
        f"Question: {SENTENCE} next: `ralph-tracker integrity 1` shows files, lines and failures"
    )
    named = words(asked.ralph("questions", "--loop-id", "ralph-001").out)
    assert "`ralph-tracker accept it1-equality_overloaded --loop-id ralph-001 --reason WHY`" in named
    assert "`ralph-tracker select-best --iteration 0 --loop-id ralph-001 --reason WHY`" in named


def test_are_a_document_too(asked):
    found = asked.ralph("questions", "--json").json
    jsonschema.validate(found, schema_of(SCHEMAS["questions"]))
    assert (found["loop_id"], found["iteration"]) == ("ralph-001", 1)
    assert found["questions"] == [
        {
            "alert": "it1-equality_overloaded",
            "iteration": 1,
            "facts": FACTS,
            "tests": [],
            "otherwise": 0,
            "accept": YES,
            "refuse": NO,
        }
    ]


@pytest.mark.parametrize("verb", [("select-best",), ("hook", "post-loop")], ids=" ".join)
def test_come_first_where_the_iteration_is_taken(asked, verb):
    told = words(asked.ralph(*verb).out)
    assert told.startswith(f"Question: {SENTENCE} Selected iteration 1 ")
    named = words(asked.ralph(*verb, "--loop-id", "ralph-001").out)
    assert "`ralph-tracker accept it1-equality_overloaded --loop-id ralph-001 --reason WHY`" in named
    (question,) = asked.ralph(*verb, "--json").json["best_output_selection"]["questions"]
    assert question["facts"] == FACTS


def test_are_in_both_reports_the_page_and_the_comment(asked, tmp_path):
    asked.must("post-loop")
    reports = asked.root / ".aiwg/ralph/ralph-001/reports"
    told = [(reports / name).read_text(encoding="utf-8") for name in ("output-selection.md", "loop-report.md")]
    for text in (*told, asked.ralph("report", "--for", "pr").out):
        assert f"**Question**: Iteration 1: {for_markdown(FACTS)}. Intended? `{YES}`. " in text
    page = tmp_path / "loop.html"
    assert asked.ralph("report", "--html", page).code == 0
    assert f"<b>Question</b>: Iteration 1: {FACTS}. Intended? `{YES}`. " in page.read_text(encoding="utf-8")


def test_are_text_in_the_reports_whatever_file_they_are_about(project, metrics_of):
    begin(project)
    (project.root / "`<b>``` `<i>```.py").write_text(FORCED)
    project.must("post-iteration", metrics_of())
    comment = project.ralph("report", "--for", "pr").out
    assert "**Question**" in comment
    inline = [token for block in MarkdownIt().parse(comment) for token in block.children or ()]
    assert not [token.content for token in inline if token.type == "html_inline"]


def test_are_answered_by_yes(asked):
    assert asked.ralph("accept", "it1-equality_overloaded", "--reason", "boxes are all the same").code == 0
    assert asked.ralph("questions").out == NONE.format(1)
    assert asked.must("post-loop")["best_output_selection"]["questions"] == []


def test_are_answered_by_no_and_then_nothing_is_asked_of_what_is_taken(asked):
    assert asked.hook("post-loop", None, "--iteration", "0", "--reason", "it compares nothing").code == 0
    assert words(asked.ralph("questions").out) == (
        "Iteration 0 raises no question. "
        "next: `ralph-tracker questions --iteration 1` lists those of the latest iteration"
    )
    assert "box.py:2" in asked.ralph("questions", "--iteration", "1").out


def test_of_an_iteration_without_a_gain_refuse_it_until_they_are_answered(project, metrics_of, tmp_path):
    begin(project)
    (project.root / "box.py").write_text(FORCED)
    record = project.must("post-iteration", metrics_of(test_count=9, tests_passed=9))["iteration_metrics"]
    assert (record["not_kept"], record["is_best_iteration"]) == (
        f"gains no test, and 1 question is open: {FACTS}",
        False,
    )
    assert project.ralph("questions").out.startswith("Iteration 0 raises no question.\n")
    selection = project.ralph("select-best", "--json").json["best_output_selection"]
    assert selection["selected_iteration"] == 0
    assert selection["passed_over"] == [f"Not taken: 1 {record['not_kept']}"]
    assert f"\n- Not taken: 1 gains no test, and 1 question is open: {for_markdown(FACTS)}\n" in (
        project.ralph("report", "--for", "pr").out
    )
    project.ralph("report", "--html", tmp_path / "loop.html")
    assert f"<li>Not taken: 1 {record['not_kept']}</li>" in (tmp_path / "loop.html").read_text(encoding="utf-8")
    project.ralph("accept", "it1-equality_overloaded", "--reason", "boxes are all the same")
    assert project.ralph("select-best", "--json").json["best_output_selection"]["selected_iteration"] == 1


def test_refuse_whatever_is_gained_where_the_configuration_says_so(project, metrics_of):
    begin(project, "codebase: {keep: always}\nselection: {questions: refuse}\n")
    (project.root / "box.py").write_text(FORCED)
    record = project.must("post-iteration", metrics_of())["iteration_metrics"]
    assert record["not_kept"] == f"gains 1 test, and 1 question is open: {FACTS}"
    selection = project.must("post-loop")["best_output_selection"]
    assert (selection["selected_iteration"], selection["questions"]) == (0, [])
    assert selection["passed_over"] == [f"Not taken: 1 (+1 test) {record['not_kept']}"]


def test_are_none_where_nobody_raised_any(running):
    assert running.ralph("questions").out == NONE.format(1)
    assert running.ralph("questions", "--json").json["questions"] == []


def test_of_an_iteration_that_is_not_there_are_an_error(running):
    assert running.ralph("questions", "--iteration", "7").complaint == (
        "iteration 7 is not on record; the loop has iterations 0 to 1"
    )


def test_without_a_loop_are_an_error(project):
    answer = project.ralph("questions")
    assert (answer.code, answer.complaint) == (1, project.ralph("integrity").complaint)
