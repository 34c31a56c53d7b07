"""The outcomes of every iteration, read fast; what is damaged or has no names is unknown."""

import json

import pytest

from ralph_tracker.loop.reports import changed_paths, outcome_history
from ralph_tracker.store.layout import LoopPaths

NAMED = {"measured": True, "names": ["a", "b"], "outcomes": "pf", "gone": {}}


@pytest.fixture
def loop(tmp_path):
    """Return a function that writes documents beside iterations and returns the loop's paths."""

    def write(*contents, name="tests.json"):
        paths = LoopPaths(tmp_path, "one")
        for number, content in enumerate(contents):
            folder = paths.iteration(number)
            folder.mkdir(parents=True)
            if content is not None:
                (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return paths

    return write


def test_iterations_share_what_did_not_change(loop):
    paths = loop(NAMED, NAMED, {**NAMED, "outcomes": "pp"}, {**NAMED, "names": ["b", "a"]})
    first, second, third, fourth = outcome_history(paths, 3)
    assert first is second
    assert first.names is third.names
    assert third.by_name() == {"a": "p", "b": "p"}
    assert fourth.by_name() == {"b": "p", "a": "f"}


def test_what_has_no_names_or_is_damaged_is_unknown_and_the_rest_is_read(loop):
    bad = ("{", None, {**NAMED, "outcomes": "p"}, {**NAMED, "measured": False}, {**NAMED, "names": [1]})
    found = outcome_history(loop(NAMED, *bad, {**NAMED, "outcomes": "ps"}), 6)
    assert [None if each is None else each.letters for each in found] == ["pf", *[None] * 5, "ps"]


def test_changed_files_come_from_the_manifest(loop):
    paths = loop({"since_previous": [{"path": "a.py"}]}, {"since_previous": None}, "{", name="manifest.json")
    assert [changed_paths(paths, number) for number in range(4)] == [("a.py",), None, None, None]
