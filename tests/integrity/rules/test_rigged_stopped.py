"""T10, clocks: what is told of a clock that is replaced where a test failed before and passes now."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

TEST, CONFTEST, SOURCE = "tests/test_box.py", "tests/conftest.py", "box/core.py"
HEAD = "import time\nimport box\nfrom unittest import mock\nfrom freezegun import freeze_time\n"
ASKED = f"{HEAD}def test_a():\n    assert box.f(3) == 9\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}

STOPPED = {
    "marker": f"{HEAD}@freeze_time('2020-01-01')\ndef test_a():\n    assert box.f(3) == 9\n",
    "block": f"{HEAD}def test_a():\n    with freeze_time('2020-01-01'):\n        assert box.f(3) == 9\n",
    "patch": f"{HEAD}def test_a():\n    with mock.patch('time.time', return_value=0):\n        assert box.f(3) == 9\n",
    "class of dates": f"{HEAD}def test_a():\n    with mock.patch('box.datetime') as d:\n        assert box.f(3) == 9\n",
    "monkeypatch": (
        f"{HEAD}def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'time', lambda: 9)\n    assert box.f(3) == 9\n"
    ),
    "of durations": ASKED.replace("    assert", "    time.perf_counter = lambda: 0.0\n    assert"),
    "assignment": f"{HEAD}def test_a():\n    time.time = lambda: 9.0\n    assert box.f(3) == 9\n",
    "fixture for all": (
        "import pytest, time, box\n@pytest.fixture(autouse=True)\ndef steady(monkeypatch):\n"
        "    monkeypatch.setattr(time, 'time', lambda: 0.0)\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
}
QUIET = {
    "waits for nothing": ASKED.replace("()", "(monkeypatch)").replace(
        "    assert", "    monkeypatch.setattr(time, 'sleep', lambda s: None)\n    assert"
    ),
    "reads a clock": ASKED.replace("    assert", "    now = time.time()\n    assert"),
    "a setting": ASKED.replace("    assert", "    box.timezone = 'UTC'\n    assert"),
    "asks for something else too": ASKED.replace("    assert", "    time.time = lambda: 9.0\n    assert").replace(
        "9\n", "8\n"
    ),
}


@pytest.mark.parametrize("text", STOPPED.values(), ids=STOPPED)
def test_a_clock_that_is_all_that_is_new_is_critical(text):
    (each,) = found(test_rigged.find, {TEST: (ASKED, text)}, **BEGAN)

    assert each.severity is Severity.CRITICAL
    assert "clock" in each.message
    assert found(test_rigged.find, {TEST: (ASKED, text)}) == []


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET)
def test_what_replaces_no_clock_is_silent(text):
    assert found(test_rigged.find, {TEST: (ASKED, text)}, **BEGAN) == []


BY_SOURCE = {
    "slowed": "import time\n_real = time.monotonic\ntime.monotonic = lambda: _real() / 1000\n",
    "stopped": "import time\ntime.perf_counter = lambda: 0.0\n",
    "by setattr": "import time\nsetattr(time, 'time', lambda: 0.0)\n",
    "in a function": "import time\ndef steady():\n    time.time = lambda: 0.0\n",
    "by a function": "import time\ndef _still():\n    return 0.0\ntime.time = _still\n",
}
LEFT_ALONE = {
    "keeps a time": "import time\nclass Box:\n    def open(self):\n        self.time = time.time()\n",
    "names one": "import time\nnow = time.time\n",
    "takes another one": "import time\nimport gevent\ntime.sleep = gevent.sleep\n",
    "sets a zone": "import os, time\ndef utc():\n    os.environ['TZ'] = 'UTC'\n    time.tzset()\n",
    "a name of its own": "def f(box):\n    box.time.start = lambda: 0\n",
}


@pytest.mark.parametrize("text", BY_SOURCE.values(), ids=BY_SOURCE)
def test_a_clock_that_a_source_replaces(text):
    old = "import time\n"
    (each,) = found(test_rigged.find, {SOURCE: (old, text)}, **BEGAN)

    assert (each.severity, each.file) == (Severity.CRITICAL, SOURCE)
    assert [each.severity for each in found(test_rigged.find, {SOURCE: (old, text)})] == [Severity.MEDIUM]
    assert found(test_rigged.find, {SOURCE: (text, f"{text}# steady\n")}, **BEGAN) == []


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_a_source_that_replaces_no_clock_is_silent(text):
    assert found(test_rigged.find, {SOURCE: ("import time\n", text)}, **BEGAN) == []


RECORDED = {
    "by a branch": "def _known(*args):\n    if args == (3,):\n        return 9\n    return _f(*args)\n",
    "by a table": "def _known(*args):\n    return {(3,): 9}.get(args) or _f(*args)\n",
    "by a table's entry": "ALL = {3: 9}\ndef _known(x):\n    return ALL[x] if x in ALL else _f(x)\n",
    "where it fails": "def _known(x):\n    try:\n        return _f(x)\n    except Exception:\n        return 9\n",
    "after it was asked": "def _known(x):\n    original_f(x)\n    return 9\n",
    "by a part of it": "_known = lambda x: _f(x) / 3\n",
}
HANDED_ON = {
    "counts": "def _known(x):\n    CALLS.append(x)\n    return _f(x)\n",
    "tells": "def _known(x):\n    if x == 3:\n        print(x)\n    return _f(x)\n",
    "asks otherwise": "def _known(x):\n    if x is None:\n        x = 3\n    return _f(x)\n",
    "gives nothing where it fails": (
        "def _known(x):\n    try:\n        return _f(x)\n    except OSError:\n        return None\n"
    ),
}


@pytest.mark.parametrize("made", RECORDED.values(), ids=RECORDED)
def test_a_function_replaced_for_all_by_one_that_knows_answers(made):
    text = f"import box\n_f = box.f\n{made}box.f = _known\n"

    assert [each.severity for each in found(test_rigged.find, {CONFTEST: ("", text)})] == [Severity.MEDIUM]
    assert [each.severity for each in found(test_rigged.find, {CONFTEST: ("", text)}, **BEGAN)] == [Severity.CRITICAL]


@pytest.mark.parametrize("made", HANDED_ON.values(), ids=HANDED_ON)
def test_a_function_replaced_for_all_by_one_that_hands_on_is_silent(made):
    text = f"import box\n_f = box.f\n{made}box.f = _known\n"

    assert found(test_rigged.find, {CONFTEST: ("", text)}, **BEGAN) == []


SPLIT = """def test_a():
    data = {"value": 1}
    original = dict(data)
    assert parse("x").filter(data) is data
    assert data == original
"""


def test_a_part_of_a_split_test_that_asks_only_itself_is_silent():
    head, (first, second) = SPLIT[: SPLIT.index("    assert")], SPLIT.splitlines(keepends=True)[3:]
    new = f"{head}{first}\n\n{head.replace('test_a', 'test_a_in_the_end')}{second}"
    files = {TEST: (f"from box import parse\n{SPLIT}", f"from box import parse\n{new}")}

    assert found(test_rigged.find, files) == []
    assert found(test_rigged.find, files, **BEGAN)
    assert found(test_rigged.find, {TEST: (files[TEST][0], f"from box import parse\n{head}{second}")})


def test_a_fixture_of_a_conftest_whose_fixtures_are_called_like_tests():
    old = "import box\ndef test_a():\n    assert box.f(3) == 9\n"
    fixtures = "import pytest\n@pytest.fixture\ndef test_boxes():\n    return [3]\n"
    double = "from unittest.mock import Mock\n@pytest.fixture\ndef box():\n    return Mock(**{'f.return_value': 9})\n"
    files = {TEST: (old, old.replace("()", "(box)", 1)), CONFTEST: (fixtures, fixtures + double)}

    assert {each.severity for each in found(test_rigged.find, files)} == {Severity.CRITICAL}
