"""T3: what passes over places without tests, or asks for names that no test bears, leaves nothing out."""

import pytest

from ralph_tracker.integrity.changes import FileChange, Side
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import examine
from ralph_tracker.integrity.rules.run_narrowed import find
from tests.integrity.making import found

RAN = {"tests.unit.test_lid.TestLid::test_open": "passed", "tests.test_box::test_box": "failed"}
INI = "[pytest]\naddopts = -q\n"


def told(setting, before=RAN, path="pytest.ini", old=INI):
    return [each.about for each in found(find, {path: (old, old + setting)}, before=before)]


@pytest.mark.parametrize(
    "setting",
    [
        "norecursedirs = tests/typing\n",
        "norecursedirs = tests/css-parsing-tests .hypothesis\n",
        "    --ignore hatch_build.py\n",
        "    --ignore=tests/typing --ignore=scripts/release.py\n",
        "    --ignore-glob=tests/data\n",
    ],
)
def test_a_place_where_no_test_was_run_may_be_passed_over(setting):
    assert told(setting) == []
    assert told(setting, before={}) != []


@pytest.mark.parametrize(
    "setting",
    [
        "norecursedirs = tests/unit\n",
        "norecursedirs = unit\n",
        "norecursedirs = tests/typing tests/un*\n",
        "    --ignore tests/unit\n",
        "    --ignore=tests/typing --ignore=tests/unit/\n",
        "    --ignore=tests/typing -k 'not lid'\n",
        "    --ignore tests/test_never_imported.py\n",
        "    --ignore-glob=*_lid*\n",
        "    --deselect tests/typing\n",
    ],
)
def test_a_place_where_tests_were_run_or_may_stand_may_not(setting):
    assert told(setting) != []


def test_a_list_of_conftest_is_asked_about_its_places_too():
    assert told("collect_ignore = ['setup.py', 'stubs']\n", path="conftest.py", old="import box\n") == []
    assert told("collect_ignore = ['unit']\n", path="conftest.py", old="import box\n") == ["pytest.collect_ignore"]


CLASSES = "python_classes = Check*\n"
OF_UNITTEST = "import unittest\n\nclass TestLid(unittest.TestCase):\n    def test_open(self):\n        assert LID\n"
PLAIN = OF_UNITTEST.replace("unittest.TestCase", "Base")


def narrowed_around(test_file):
    sides = [Side("tests/unit/test_lid.py", test_file)]
    changes = [FileChange("pytest.ini", INI.encode(), (INI + CLASSES).encode())]
    examined = examine(changes, Outcomes(RAN, RAN), around=lambda words: [s for s in sides if words & {"TestLid"}])
    return [each.about for each in examined.findings]


def test_names_of_classes_bind_no_class_of_unittest():
    assert narrowed_around(OF_UNITTEST) == []
    assert narrowed_around(PLAIN) == ["pytest.python_classes"]
    assert narrowed_around("") == ["pytest.python_classes"]
    assert told(CLASSES) == ["pytest.python_classes"]
    assert told(CLASSES, before={}) == ["pytest.python_classes"]


def test_names_of_classes_bind_nobody_where_no_class_bears_another():
    assert told(CLASSES, before={"tests.test_box::test_box": "passed"}) == []


JOB = "on: [push]\nenv:\n  OPTIONS: {}\njobs:\n  test:\n    runs-on: x\n    steps:\n      - run: pytest {}\n"


@pytest.mark.parametrize(
    ("old", "new", "fewer"),
    [
        pytest.param(JOB.format("-k lid", "$OPTIONS"), JOB.format("", "-k lid"), False, id="written out"),
        pytest.param(JOB.format("-q", "$OPTIONS"), JOB.format("", "-k lid"), True, id="and narrowed"),
        pytest.param(JOB.format("-k lid", ""), JOB.format("", "-k lid"), True, id="held by no command"),
    ],
)
def test_what_a_variable_held_may_stand_in_the_command(old, new, fewer):
    assert bool(found(find, {".github/workflows/ci.yml": (old, new)})) is fewer


def test_a_built_package_is_no_place_of_tests():
    tox = "[testenv]\ncommands = tox run --installpkg {} tests\n"
    assert found(find, {"tox.ini": (tox.format("dist/box.whl dist/lid.whl"), tox.format("dist/box.whl"))}) == []
