"""Hooks that are answered without click: the same answers, and everything else left to click."""

import json

import pytest

from ralph_tracker.cli.hook_output import answer_fast
from ralph_tracker.cli.verbs import dispatch
from ralph_tracker.tracker import pre_loop
from tests.conftest import handed_in
from tests.tables import table


@table(
    "words",
    [
        "",
        "hook",
        "status --json",
        "hook pre-loop",
        "hook post-loop --json",
        "hook post-iteration --help",
        "hook post-iteration --apply",
        "hook post-iteration --metrics m.json",
        "hook post-iteration --root=.",
        "hook post-iteration --root",
        "hook post-iteration --loop-id --json",
        "hook loop-decision extra",
    ],
)
def test_what_is_not_plain_is_left_to_click(words):
    assert answer_fast(words.split()) is None


def test_an_empty_value_is_left_to_click():
    assert answer_fast(["hook", "loop-decision", "--loop-id", ""]) is None


@pytest.mark.parametrize("phase", ["post-iteration", "post_iteration", "loop-decision", "loop_decision"])
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["plain", "json"])
def test_a_plain_hook_is_answered_as_click_answers_it(tmp_path, capsys, phase, flags):
    """Both refuse a loop that measures nothing, or decide on its baseline, in the same words."""
    pre_loop(root=tmp_path, loop_id="one", metrics=handed_in())
    command = ["hook", phase, "--root", str(tmp_path), "--loop-id", "one", *flags]
    told = []
    for answer in (answer_fast, dispatch):
        try:
            code = answer(command)
        except Exception as error:
            code = f"{type(error).__name__}: {error}"
        told.append((code, capsys.readouterr()))
    assert told[0] == told[1]


def test_an_iteration_is_recorded(tmp_path, capsys, monkeypatch):
    checks = {"checks": {"build": {"run": ["true"]}}}
    (tmp_path / "ralph-tracker.yaml").write_text(json.dumps(checks))
    monkeypatch.chdir(tmp_path)
    pre_loop()
    assert answer_fast(["hook", "post-iteration", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iteration_metrics"]["iteration"] == 1
