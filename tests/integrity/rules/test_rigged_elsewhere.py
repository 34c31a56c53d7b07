"""T10 across files: subjects that come from other files of the tests, and clocks that a conftest.py stops."""

from collections.abc import Mapping

import pytest

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.evidence import Evidence, Outcomes
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import Texts, changed

TEST, CONFTEST, STUBS = "tests/test_box.py", "tests/conftest.py", "tests/stubs.py"
IDS = ("tests.test_box::test_a", "tests.test_box::TestBox::test_a")
FAILED, PASSED = dict.fromkeys(IDS, "failed"), dict.fromkeys(IDS, "passed")
HEAD = "import time\nimport unittest\nimport box\nfrom box import Box, f\n"
FAKE = "def fake(*args, **kwargs):\n    return 9\n"
KIND = "class FakeBox:\n    def __init__(self, *args):\n        self.size = 9\n    def total(self):\n        return 9\n"
ASKS = f"{HEAD}def test_a():\n    assert f(3) == 9\n"
MAKES = f"{HEAD}def test_a():\n    b = Box(3)\n    assert b.total() == 9\n"
CASE = HEAD + "class TestBox(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual({}(3), 9)\n"
SET_UP = (
    HEAD
    + "{}class TestBox(unittest.TestCase):\n    def setUp(self):\n        self.b = {}()\n"
    + "    def test_a(self):\n        self.assertEqual(self.b.total(), 9)\n"
)
FIXTURE = "import pytest\n{}\n@pytest.fixture\ndef b():\n    return {}\n"
OF_BOX = FIXTURE.format("from box import Box", "Box(3)")
ASKED = "def test_a(b):\n    assert b.total() == 9\n"
TIMED = (
    f"{HEAD}def test_a():\n    start = time.perf_counter()\n    f(3)\n    assert time.perf_counter() - start < 0.5\n"
)
TIMED_IN_CLASS = (
    f"{HEAD}class TestBox:\n    def test_a(self):\n        start = time.perf_counter()\n        f(3)\n"
    "        assert time.perf_counter() - start < 0.5\n"
)
STEADY = "import itertools\nimport time\nimport pytest\nfrom unittest import mock\nfrom freezegun import freeze_time\n"
AUTO = f"{STEADY}@pytest.fixture(autouse=True)\ndef steady(monkeypatch, request):\n    "
STOPS = AUTO + "monkeypatch.setattr(time, 'perf_counter', lambda: 0.0)\n"
FREEZES = AUTO + "with freeze_time('2020-01-01'):\n        yield\n"


def judged(
    files: Mapping[str, Texts],
    unchanged: Mapping[str, str] | None = None,
    before: Mapping[str, str] = FAILED,
    after: Mapping[str, str] = PASSED,
) -> list[Finding]:
    """Return what T10 finds where these files changed and those did not."""
    around = {path: Side(path, text) for path, text in (unchanged or {}).items()}
    evidence = Evidence(
        [changed(path, *texts) for path, texts in files.items()],
        Outcomes(before, after),
        lambda words: [side for side in around.values() if any(word in side.text for word in words)],
    )
    return [each for file in evidence.files for each in test_rigged.find(file, evidence)]


SUPPLANTED: dict[str, tuple[str, str, str, str]] = {
    "function": (ASKS, f"{HEAD}from .stubs import fake\ndef test_a():\n    assert fake(3) == 9\n", STUBS, FAKE),
    "function, from the root": (
        ASKS,
        f"{HEAD}from tests.stubs import fake\ndef test_a():\n    assert fake(3) == 9\n",
        STUBS,
        FAKE,
    ),
    "function, by its file": (
        ASKS,
        f"{HEAD}from stubs import fake\ndef test_a():\n    assert fake(3) == 9\n",
        STUBS,
        FAKE,
    ),
    "module": (ASKS, f"{HEAD}from tests import stubs\ndef test_a():\n    assert stubs.fake(3) == 9\n", STUBS, FAKE),
    "module by another name": (
        ASKS,
        f"{HEAD}import tests.stubs as st\ndef test_a():\n    assert st.fake(3) == 9\n",
        STUBS,
        FAKE,
    ),
    "the package is the stubs": (
        f"{HEAD}def test_a():\n    assert box.fake(3) == 9\n",
        f"{HEAD}from tests import stubs\nbox = stubs\ndef test_a():\n    assert box.fake(3) == 9\n",
        STUBS,
        FAKE,
    ),
    "the function is the stub": (
        ASKS,
        f"{HEAD}from tests import stubs\nf = stubs.fake\ndef test_a():\n    assert f(3) == 9\n",
        STUBS,
        FAKE,
    ),
    "through a name": (
        ASKS,
        f"{HEAD}from .stubs import fake\ndef test_a():\n    result = fake(3)\n    assert result == 9\n",
        STUBS,
        FAKE,
    ),
    "class": (
        MAKES,
        f"{HEAD}from .stubs import FakeBox\ndef test_a():\n    b = FakeBox(3)\n    assert b.total() == 9\n",
        STUBS,
        KIND,
    ),
    "attribute of a class": (
        MAKES,
        f"{HEAD}from .stubs import FakeBox\ndef test_a():\n    b = FakeBox(3)\n    assert b.size == 9\n",
        STUBS,
        KIND,
    ),
    "unittest": (CASE.format("f"), f"from .stubs import fake\n{CASE.format('fake')}", STUBS, FAKE),
    "asked by a function": (
        ASKS,
        (
            f"{HEAD}from numpy.testing import assert_equal\nfrom .stubs import fake\n"
            "def test_a():\n    assert_equal(fake(3), 9)\n"
        ),
        STUBS,
        FAKE,
    ),
    "set up": (
        SET_UP.format("", "Box"),
        SET_UP.format("from .stubs import FakeBox\n", "FakeBox"),
        STUBS,
        KIND,
    ),
    "table": (ASKS, f"{HEAD}from .stubs import ALL\ndef test_a():\n    assert ALL[3] == 9\n", STUBS, "ALL = {3: 9}\n"),
    "written again": (
        ASKS,
        f"{HEAD}from .stubs import square\ndef test_a():\n    assert square(3) == 9\n",
        STUBS,
        "import math\ndef square(x):\n    return int(math.pow(x, 2))\n",
    ),
    "fixture": (
        ASKS,
        f"{HEAD}def test_a(fake):\n    assert fake(3) == 9\n",
        CONFTEST,
        "import pytest\n@pytest.fixture\ndef fake():\n    def inner(x):\n        return 9\n    return inner\n",
    ),
    "fixture of an object": (MAKES, HEAD + ASKED, CONFTEST, FIXTURE.format(KIND, "FakeBox()")),
}


@pytest.mark.parametrize(("old", "new", "path", "helper"), SUPPLANTED.values(), ids=SUPPLANTED)
def test_tells_of_a_subject_that_comes_from_the_tests_alone(old: str, new: str, path: str, helper: str) -> None:
    (each,) = judged({TEST: (old, new), path: (None, helper)})

    assert (each.severity, each.file, each.test) == (Severity.CRITICAL, TEST, each.test)


def test_follows_helpers_through_helpers() -> None:
    new = f"{HEAD}from .support import run\ndef test_a():\n    assert run(3) == 9\n"
    support = "from .stubs import fake\ndef run(x):\n    return fake(x)\n"

    assert judged({TEST: (ASKS, new), "tests/support.py": (None, support), STUBS: (None, FAKE)})
    assert not judged({TEST: (ASKS, new), "tests/support.py": (None, support)})


HONEST: dict[str, tuple[str, str, str, str]] = {
    "helper asks the subject": (
        ASKS,
        f"{HEAD}from .stubs import run\ndef test_a():\n    assert run(3) == 9\n",
        STUBS,
        "from box import f\ndef run(x):\n    return f(x)\n",
    ),
    "helper is given the subject": (
        ASKS,
        f"{HEAD}from .stubs import run\ndef test_a():\n    assert run(f, 3) == 9\n",
        STUBS,
        "def run(g, x):\n    return g(x)\n",
    ),
    "double for the subject": (
        MAKES,
        f"{HEAD}from .stubs import Disk\ndef test_a():\n    assert Box(disk=Disk()).total() == 9\n",
        STUBS,
        "class Disk:\n    def read(self):\n        return 9\n",
    ),
    "double asked what it got": (
        MAKES,
        (
            f"{HEAD}from .stubs import Disk\ndef test_a():\n    disk = Disk()\n    Box(disk=disk).save()\n"
            "    assert disk.written == [9]\n"
        ),
        STUBS,
        "class Disk:\n    def __init__(self):\n        self.written = []\n",
    ),
    "data for the subject": (
        ASKS,
        f"{HEAD}from .stubs import make\ndef test_a():\n    assert f(make()) == 9\n",
        STUBS,
        "def make():\n    return 3\n",
    ),
    "what is expected": (
        ASKS,
        f"{HEAD}from .stubs import NINE\ndef test_a():\n    assert f(3) == NINE\n",
        STUBS,
        "NINE = 9\n",
    ),
    "fixture of the subject": (MAKES, HEAD + ASKED, CONFTEST, OF_BOX),
    "fixture that imports inside": (
        MAKES,
        HEAD + ASKED,
        CONFTEST,
        "import pytest\n@pytest.fixture\ndef b():\n    from box import Box\n    return Box(3)\n",
    ),
    "fixture that the subject fills": (
        ASKS,
        f"{HEAD}def test_a(log):\n    f(3, log=log)\n    assert log == [9]\n",
        CONFTEST,
        "import pytest\n@pytest.fixture\ndef log():\n    return []\n",
    ),
    "fixture that is called back": (
        ASKS,
        f"{HEAD}def test_a(log):\n    box.on_change(log.append)\n    f(3)\n    assert log == [9]\n",
        CONFTEST,
        "import pytest\n@pytest.fixture\ndef log():\n    return []\n",
    ),
    "fixture that listens": (
        ASKS,
        f"{HEAD}def test_a(seen):\n    f(3)\n    assert seen == [9]\n",
        CONFTEST,
        (
            "import pytest\n@pytest.fixture\ndef seen(monkeypatch):\n    found = []\n"
            "    monkeypatch.setattr('box.send', found.append)\n    return found\n"
        ),
    ),
    "fixture of another folder": (MAKES, HEAD + ASKED, "tests/other/conftest.py", FIXTURE.format(KIND, "FakeBox()")),
}


@pytest.mark.parametrize(("old", "new", "path", "helper"), HONEST.values(), ids=HONEST)
def test_is_silent_about_helpers_and_doubles(old: str, new: str, path: str, helper: str) -> None:
    assert not judged({TEST: (old, new), path: (None, helper)})


def test_nothing_is_lent_by_or_to_what_is_no_program() -> None:
    new = f"{HEAD}from .stubs import fake\ndef test_a():\n    assert fake(3) == 9\n"
    files = [changed(TEST, ASKS, new), changed(STUBS, None, "def (\n")]
    assert not [*test_rigged.find(files[0], Evidence(files, Outcomes(FAILED, PASSED)))]

    files = [changed(TEST, "def (\n", new), changed(STUBS, FAKE, f"{FAKE}\n")]
    assert not [*test_rigged.find(files[0], Evidence(files, Outcomes(FAILED, PASSED)))]


def test_a_test_of_a_helper_asked_that_before() -> None:
    text = f"{HEAD}from .stubs import norm\ndef test_a():\n    assert norm(3) == {{}}\n"
    helper = "def norm(x):\n    return {}\n"

    assert not judged({TEST: (text.format(9), text.format(7)), STUBS: (helper.format(9), helper.format(7))})


FIXTURES: dict[str, dict[str, Texts]] = {
    "class of a helper": {
        CONFTEST: (OF_BOX, FIXTURE.format("from .stubs import FakeBox", "FakeBox(3)")),
        STUBS: (None, KIND),
    },
    "class beside it": {CONFTEST: (OF_BOX, FIXTURE.format(KIND, "FakeBox(3)"))},
}


@pytest.mark.parametrize("files", FIXTURES.values(), ids=FIXTURES)
def test_tells_of_a_fixture_that_leads_nowhere_now(files: dict[str, Texts]) -> None:
    (each,) = judged(files, {TEST: ASKED})

    assert (each.severity, each.file, each.test, each.tests) == (Severity.CRITICAL, CONFTEST, "test_a", IDS[:1])
    assert not judged(files, {TEST: f"{HEAD}def test_a(b):\n    assert box.count(b) == 9\n"})
    assert not judged(files, {TEST: ASKED}, before=PASSED)


CLOCKS: dict[str, str] = {
    "constant": STOPS,
    "by its name": AUTO + "monkeypatch.setattr('time.perf_counter', lambda: 0.0)\n",
    "for one test": AUTO
    + "if request.node.name == 'test_a':\n        monkeypatch.setattr(time, 'perf_counter', lambda: 0.0)\n",
    "patch": AUTO + "with mock.patch('time.perf_counter', return_value=1.0):\n        yield\n",
    "in turn": AUTO + "with mock.patch('time.perf_counter', side_effect=itertools.repeat(1.0)):\n        yield\n",
    "counting": AUTO + "monkeypatch.setattr(time, 'perf_counter', itertools.count(0, 0.001).__next__)\n",
    "read once": AUTO + "now = time.perf_counter()\n    monkeypatch.setattr(time, 'perf_counter', lambda: now)\n",
    "waits no more": AUTO + "monkeypatch.setattr(time, 'sleep', lambda seconds: None)\n",
    "freezer": FREEZES,
    "freezer that is started": f"{STEADY}freezer = freeze_time('2020-01-01')\nfreezer.start()\n",
    "when imported": f"{STEADY}time.perf_counter = lambda: 0.0\n",
    "patcher that is started": f"{STEADY}mock.patch('time.perf_counter', return_value=0.0).start()\n",
    "hook": f"{STEADY}def pytest_runtest_setup(item):\n    time.perf_counter = lambda: 0.0\n",
}


@pytest.mark.parametrize("conftest", CLOCKS.values(), ids=CLOCKS)
def test_tells_of_a_clock_stopped_for_a_test_whose_text_stayed(conftest: str) -> None:
    (each,) = judged({CONFTEST: (STEADY, conftest)}, {TEST: TIMED})

    assert (each.severity, each.file, each.test) == (Severity.CRITICAL, CONFTEST, "test_a")
    assert "stands still" in each.message


FOR_ALL: dict[str, tuple[str, str, Mapping[str, str]]] = {
    "asks about a date": (FREEZES, f"{HEAD}def test_a():\n    assert box.today() == 3\n", FAILED),
    "asks how old something is": (FREEZES, f"{HEAD}def test_a():\n    assert time.time() - box.stamp() < 5\n", FAILED),
    "another test passes": (STOPS, TIMED, {**PASSED, "tests.test_box::test_z": "failed"}),
    "no program": (STOPS, "def test_a(perf_counter:\n", FAILED),
}
RUNNING: dict[str, Texts] = {
    "stood still before": (STOPS, f"{STOPS}\n# steady\n"),
    "another clock that runs": (STEADY, AUTO + "monkeypatch.setattr(time, 'perf_counter', time.monotonic)\n"),
}


@pytest.mark.parametrize(("conftest", "text", "before"), FOR_ALL.values(), ids=FOR_ALL)
def test_tells_of_a_clock_stopped_for_all_where_a_test_below_passes_since_then(
    conftest: str, text: str, before: Mapping[str, str]
) -> None:
    after = {**PASSED, "tests.test_box::test_z": "passed"}
    (each,) = judged({CONFTEST: (STEADY, conftest)}, {TEST: text}, before=before, after=after)

    assert (each.severity, each.file, each.test) == (Severity.CRITICAL, CONFTEST, None)
    assert not judged({CONFTEST: (STEADY, conftest)}, {TEST: text}, before=after, after=after)


@pytest.mark.parametrize("conftest", RUNNING.values(), ids=RUNNING)
def test_is_silent_where_no_clock_is_stopped_anew(conftest: Texts) -> None:
    assert not judged({CONFTEST: conftest}, {TEST: TIMED})


def test_a_clock_stopped_where_the_file_was_no_program() -> None:
    (each,) = judged({CONFTEST: ("def steady(:\n", STOPS)}, {TEST: TIMED})

    assert (each.severity, each.file) == (Severity.CRITICAL, CONFTEST)


def test_a_clock_stopped_in_another_folder_is_a_note() -> None:
    (each,) = judged({"other/conftest.py": (STEADY, STOPS)}, {TEST: TIMED})

    assert (each.severity, each.test) == (Severity.MEDIUM, None)
    assert not judged({"other/conftest.py": (STEADY, STOPS)}, {TEST: TIMED}, before=PASSED)


FREEZER = "    with freeze_time('2020-01-01'):\n        yield\n"
IN_FILE: dict[str, tuple[str, str]] = {
    "marker of a class": (
        TIMED_IN_CLASS,
        TIMED_IN_CLASS.replace("class", "from freezegun import freeze_time\n@freeze_time('2020-01-01')\nclass"),
    ),
    "set-up of a class": (
        TIMED_IN_CLASS,
        TIMED_IN_CLASS.replace(
            "    def test_a", "    def setup_method(self):\n        freeze_time('2020-01-01').start()\n    def test_a"
        ),
    ),
    "fixture": (TIMED, TIMED + FREEZES),
    "marked module": (TIMED, f"import pytest\npytestmark = pytest.mark.freeze_time('2020-01-01')\n{TIMED}"),
    "fixture of a plugin": (TIMED, TIMED.replace("test_a()", "test_a(freezer)")),
    "fixture that is asked for": (
        TIMED,
        f"{STEADY}@pytest.fixture\ndef steady():\n{FREEZER}" + TIMED.replace("test_a()", "test_a(steady)"),
    ),
}


@pytest.mark.parametrize(("old", "new"), IN_FILE.values(), ids=IN_FILE)
def test_tells_of_time_frozen_around_a_test_in_its_file(old: str, new: str) -> None:
    found = judged({TEST: (old, new)})

    assert {each.severity for each in found} == {Severity.CRITICAL}


def test_tells_of_a_shared_fixture_that_freezes_time() -> None:
    conftest = f"{STEADY}@pytest.fixture\ndef steady():\n{FREEZER}"

    assert judged({TEST: (TIMED, TIMED.replace("test_a()", "test_a(steady)")), CONFTEST: (STEADY, conftest)})


def test_a_freezer_that_is_moved_is_no_clock_that_stands_still() -> None:
    moved = TIMED.replace("test_a()", "test_a(freezer)").replace("f(3)", "freezer.tick(1)")

    assert not judged({TEST: (TIMED, moved)})


@pytest.mark.parametrize("answer", ["{}", "{'lid': [1, -2]}", "{1, 2}"])
def test_tells_of_a_subject_replaced_by_a_display_for_one_test(answer: str) -> None:
    place = (
        AUTO + f"if request.node.name == 'test_a':\n        monkeypatch.setattr('box.f', lambda *a, **k: {answer})\n"
    )

    (each,) = judged({CONFTEST: (STEADY, place)})

    assert (each.severity, each.file) == (Severity.CRITICAL, CONFTEST)
    assert not judged({CONFTEST: (STEADY, place.replace(f"k: {answer}", "k: real(*a)"))})
