"""Labels of release steps: what is honest and what is relaxed, by the text of two trees alone."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "integrity"
NAMES = ("changes", "fetch", "lowered", "outcomes", "relaxing", "slicing", "trees", "vanished", "vocabulary")

SOURCE = """
import simplejson

MODES = ("fast", "slow")


def area(width, height=1, unit="mm"):
    if width < 0:
        raise ValueError("width must not be negative")
    return width * height


def volume(width, height, depth):
    return width * height * depth


class Box:
    def __init__(self, lid, weight=None):
        self.closed = bool(lid)

    def pack(self, thing):
        return [thing]
"""
KEPT_TEST = """
def test_area_is_positive():
    assert area(31, 17) == 527
"""


@pytest.fixture(scope="module")
def bench():
    """Import the labeller, and forget its modules again: their names are short."""
    known = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})
    sys.path.remove(str(FOLDER))
    for name in set(sys.modules) - known:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def tree(files):
    return {path: text.encode() for path, text in files.items()}


def step_of(bench, old, new):
    return bench.vanished.Step(tree(old), tree(new))


def dropped(bench, test, source=SOURCE, instead="", more=None):
    """Return what became of a test that a step takes out of its file."""
    old = {"box.py": SOURCE, "tests/test_box.py": f"{KEPT_TEST}\n{test}"}
    new = {"box.py": source, "tests/test_box.py": f"{KEPT_TEST}\n{instead}", **(more or {})}
    return bench.vanished.vanished_of(step_of(bench, old, new))


def fates(found):
    return {each.test.partition("::")[2]: each.fate for each in found}


CALLS_VOLUME = "def test_volume():\n    found = volume(2, 30, 45)\n    assert found == 2700\n"
IN_HELPER = "def made():\n    return volume(2, 30, 45)\n\n\ndef test_made():\n    assert made() == 2700\n"


@pytest.mark.parametrize(
    ("test", "before", "after", "why"),
    [
        pytest.param(CALLS_VOLUME, "def volume", "def content", "name volume", id="function"),
        pytest.param(IN_HELPER, "def volume", "def content", "name volume", id="function in a helper gone too"),
        pytest.param(
            "def test_packs():\n    assert Box(1).pack('hammer') == ['hammer']\n", "def pack", "def put", "name pack",
            id="method",
        ),
        pytest.param(
            "def test_unit():\n    assert area(3, unit='inch') == 3\n", ', unit="mm"', "", "parameter unit",
            id="parameter",
        ),
        pytest.param(
            CALLS_VOLUME, "(width, height, depth)", "(width, depth, height)", "signature volume",
            id="parameters in another order",
        ),
        pytest.param(
            "def test_one():\n    assert area(3) == 3\n", "height=1", "height=2", "signature area", id="another default"
        ),
        pytest.param(
            "def test_message():\n    with pytest.raises(ValueError, match="
            "'must not be negative'):\n        area(-1)\n",
            "width must not be negative", "a width is positive", "text must not be negative", id="message",
        ),
        pytest.param(
            "def test_json():\n    assert simplejson.dumps([]) == '[]'\n", "import simplejson", "",
            "dependency simplejson", id="dependency",
        ),
    ],
)  # fmt: skip
def test_a_test_goes_with_what_it_uses(bench, test, before, after, why):
    (found,) = dropped(bench, test, SOURCE.replace(before, after))
    assert (found.fate, found.why) == ("with its code", why)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "", id="source as it was"),
        pytest.param("def area", "def surface", id="another name gone"),
        pytest.param("depth)", "depth, colour=None)", id="a parameter added"),
        pytest.param("height * depth", "depth * height", id="body rewritten"),
        pytest.param("class Box:", 'class Box:\n    """Hold things."""\n', id="docstring"),
    ],
)
def test_a_test_goes_without_its_code(bench, before, after):
    (found,) = dropped(bench, CALLS_VOLUME, SOURCE.replace(before, after, 1))
    assert found.fate == "dropped"


def test_a_text_is_gone_where_a_part_of_it_is(bench):
    test = "def test_message():\n    assert said == '3: width must not be negative, but -1'\n"
    (found,) = dropped(bench, test, SOURCE.replace("width must not be negative", "a width is positive"))
    assert found.fate == "with its code"
    (found,) = dropped(bench, test, SOURCE.replace("def volume", "def content"))
    assert found.fate == "dropped"


def test_helpers_of_helpers_are_part_of_a_test(bench):
    table = "SIZES = (2, 30, 45)\n\n\nclass Maker:\n    def make(self):\n        return volume(*SIZES)\n\n\n"
    test = f"{table}class TestMade:\n    def made(self):\n        return Maker().make()\n\n"
    test += "    def test_made(self):\n        assert self.made() == 2700\n"
    (found,) = dropped(bench, test, SOURCE.replace("def volume", "def content"))
    assert (found.test, found.why) == ("tests.test_box.TestMade::test_made", "name volume")


def test_what_cannot_be_parsed_has_no_tests_and_defines_nothing(bench):
    step = step_of(bench, {"tests/test_a.py": "def (", "box.py": "def ("}, {"tests/test_a.py": "def )", "box.py": ""})
    assert bench.vanished.vanished_of(step) == []
    assert step.lost.names == frozenset()


def test_a_name_that_the_test_binds_itself_is_no_use_of_the_package(bench):
    test = "def test_sum():\n    volume = 12 + 30\n    assert volume == 42\n"
    (found,) = dropped(bench, test, SOURCE.replace("def volume", "def content"))
    assert found.fate == "dropped"


def test_a_helper_that_stays_is_no_reason(bench):
    helper = "def made():\n    return volume(2, 30, 45)\n"
    (found,) = dropped(bench, IN_HELPER, SOURCE.replace("def volume", "def content"), instead=helper)
    assert found.fate == "dropped"


PLATFORM = "import sys\n\n\ndef test_old():\n    assert len(b'x' * 40) == 40 or sys.version_info < (3, 8)\n"


def test_an_interpreter_is_gone_where_its_classifier_is(bench):
    line = '    "Programming Language :: Python :: {}",\n'
    old, new = ({"setup.py": "".join(map(line.format, each))} for each in (("3.7", "3.8"), ("3.8",)))
    step = step_of(bench, {"tests/test_box.py": PLATFORM, **old}, {"tests/test_box.py": "", **new})
    assert [each.why for each in bench.vanished.vanished_of(step)] == ["interpreter"]


@pytest.mark.parametrize(
    ("before", "after", "fate"),
    [
        (">=3.7", ">=3.9", "with its code"),
        (">=3.9", ">=3.9", "dropped"),
        (">=3.9", ">=3.7", "dropped"),
    ],
    ids=["raised", "same", "lowered"],
)
def test_a_test_for_an_interpreter_goes_with_its_support(bench, before, after, fate):
    files = [{"pyproject.toml": f'[project]\nrequires-python = "{each}"\n'} for each in (before, after)]
    old = {"tests/test_box.py": f"{KEPT_TEST}\n{PLATFORM}", **files[0]}
    new = {"tests/test_box.py": KEPT_TEST, **files[1]}
    assert set(fates(bench.vanished.vanished_of(step_of(bench, old, new))).values()) == {fate}


@pytest.mark.parametrize(
    "instead",
    [
        pytest.param(CALLS_VOLUME.replace("test_volume", "test_content_of_a_box"), id="renamed"),
        pytest.param(f"class TestVolume:\n    {CALLS_VOLUME.replace(chr(10), chr(10) + '    ')}", id="into a class"),
        pytest.param(
            "@pytest.mark.parametrize('sizes, all', [((2, 30, 45), 2700), ((1, 1, 11), 11)])\n"
            "def test_volumes(sizes, all):\n    assert volume(*sizes) == all\n",
            id="into a table",
        ),
    ],
)
def test_a_test_that_goes_on_elsewhere_is_kept_whatever_is_gone(bench, instead):
    for source in (SOURCE, SOURCE.replace("def volume", "def content")):
        assert fates(dropped(bench, CALLS_VOLUME, source, instead))["test_volume"] == "kept"


def test_a_test_that_nobody_runs_any_more_is_dropped(bench):
    shelved, called = CALLS_VOLUME.replace("def test", "def x_test"), "\n\ndef test_again():\n    x_test_volume()\n"
    assert fates(dropped(bench, CALLS_VOLUME, instead=shelved)) == {"test_volume": "dropped"}
    assert fates(dropped(bench, CALLS_VOLUME, instead=shelved + called)) == {"test_volume": "kept"}


def test_a_test_moved_to_another_file_names_that_file(bench):
    (found,) = dropped(bench, CALLS_VOLUME, more={"tests/test_volume.py": CALLS_VOLUME})
    assert (found.fate, found.homes) == ("kept", {"tests/test_volume.py"})


TABLE = "@pytest.mark.parametrize('word', [{}])\ndef test_word(word):\n    assert Box(word).pack(word) == [word]\n"


@pytest.mark.parametrize(
    ("before", "after", "fate"),
    [
        pytest.param("'hammer', 'pliers'", "'hammer'", "dropped", id="fewer"),
        pytest.param("'hammer', 'pliers'", "'hammer', 'wrench'", "kept", id="as many"),
        pytest.param("1, 2", "1", "unclear", id="nothing tells the case from others"),
    ],
)
def test_cases_of_a_table(bench, before, after, fate):
    found = dropped(bench, TABLE.format(before), instead=TABLE.format(after))
    assert [each.fate for each in found] == [fate]


def relaxed(bench, old, new, source=(SOURCE, SOURCE)):
    files = [{"box.py": text, "tests/test_box.py": test} for text, test in zip(source, (old, new), strict=True)]
    step = step_of(bench, *files)
    return [each.rule for each in bench.relaxing.relaxed_tests(step, bench.vanished.vanished_of(step))]


BODY = "def test_box():\n    box = Box(1)\n    assert box.closed\n    assert box.pack(731) == [731]\n"
RAISING = "def test_negative():\n    with pytest.raises({}):\n        area(-1)\n"
LIMIT = "def test_n():\n    assert area(31, 17) {}\n"
NEAR = "def test_n():\n    assert area(31, 17) == pytest.approx(527, rel={})\n"


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        pytest.param(BODY, f"@pytest.mark.skip\n{BODY}", ["T2"], id="skipped"),
        pytest.param(BODY, f"@pytest.mark.skipif(os.name == 'nt', reason='paths')\n{BODY}", [], id="on a platform"),
        pytest.param(BODY, BODY[: BODY.rindex("    assert")], ["T5"], id="assertion gone"),
        pytest.param(
            BODY, BODY.replace("assert box.pack(731) == [731]", "check_packed(box, 731)"), [], id="in a helper"
        ),
        pytest.param(
            BODY,
            f"{BODY[: BODY.rindex('    assert')]}\n\ndef test_pack():\n    assert Box(1).pack(731) == [731]\n",
            [],
            id="split",
        ),
        pytest.param(BODY, BODY.replace(" == [731]", ""), ["T6"], id="equality to truth"),
        pytest.param(BODY, BODY.replace("== [731]", "== [732]"), [], id="another value"),
        pytest.param(BODY, BODY.replace("box", "crate"), [], id="a variable renamed"),
        pytest.param(RAISING.format("ValueError"), RAISING.format("Exception"), ["T6"], id="any exception"),
        pytest.param(
            RAISING.format("ValueError, match='width'"), RAISING.format("ValueError"), ["T6"], id="any message"
        ),
        pytest.param(RAISING.format("ValueError"), RAISING.format("TypeError"), [], id="another exception"),
        pytest.param(RAISING.format("Exception"), RAISING.format("BaseException"), ["T6"], id="whatever is raised"),
        pytest.param(RAISING.format("KeyError"), RAISING.format("LookupError"), ["T6"], id="a wider family"),
        pytest.param(RAISING.format("LookupError"), RAISING.format("KeyError"), [], id="one of a family"),
        pytest.param(RAISING.format("IOError"), RAISING.format("OSError"), [], id="another name of the same"),
        pytest.param(BODY, BODY.replace("== [731]", "in ([731], [732])"), ["T6"], id="one of several"),
        pytest.param(BODY, BODY.replace("== [731]", "== [731] or box.empty"), ["T6"], id="either will do"),
        pytest.param(LIMIT.format("< 0.1"), LIMIT.format("< 0.2"), ["T6"], id="a wider limit"),
        pytest.param(LIMIT.format("< 0.2"), LIMIT.format("< 0.1"), [], id="a tighter limit"),
        pytest.param(NEAR.format("1e-9"), NEAR.format("1e-6"), ["T6"], id="a wider tolerance"),
        pytest.param(NEAR.format("1e-9"), NEAR.format("1e-9").replace("527", "528"), [], id="another near value"),
        pytest.param(
            "def test_n():\n    self.assertEqual(area(2), 2)\n",
            "def test_n():\n    self.assertTrue(area(2))\n",
            ["T6"],
            id="unittest",
        ),
    ],
)
def test_what_a_test_that_stays_demands_no_longer(bench, old, new, rules):
    assert relaxed(bench, old, new) == rules


def test_an_assertion_goes_with_what_it_asks_for(bench):
    source = SOURCE.replace("def pack", "def put")
    assert relaxed(bench, BODY, BODY[: BODY.rindex("    assert")], (SOURCE, source)) == []


RUFF = '[tool.ruff.lint]\nselect = ["E", "B", "S"]\nignore = ["E501"]\n[tool.ruff]\nline-length = 100\n'


@pytest.mark.parametrize(
    ("path", "before", "after", "rules"),
    [
        pytest.param(".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 80\n", ["G1"], id="lower"),
        pytest.param(".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 95\n", [], id="higher"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace(', "S"', ""), ["G1"], id="family not chosen"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace('"E501"', '"E501", "S"'), ["G1"], id="family ignored"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace('"E501"', '"E501", "S101"'), [], id="one rule ignored"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace('"E501"', '"E501", "N"'), [], id="family never chosen"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace("100", "140"), ["G1"], id="longer lines"),
        pytest.param("pyproject.toml", RUFF, RUFF.replace('"E", "B", "S"', '"ALL"'), [], id="all chosen"),
        pytest.param("pyproject.toml", "[tool.ruff", "[tool", [], id="no TOML"),
        pytest.param("mypy.ini", "[mypy]\nstrict = True\n", "[mypy]\nstrict = False\n", ["G1"], id="type checks"),
        pytest.param("mypy.ini", "[mypy]\nwarn_unreachable = True\n", "[mypy]\nstrict = True\n", [], id="strict now"),
        pytest.param(
            "pyproject.toml",
            '[tool.pyright]\nreportAny = "error"\n',
            '[tool.pyright]\nreportAny = "none"\n',
            ["G1"],
            id="diagnostics",
        ),
        pytest.param(
            "tox.ini", "[pytest]\naddopts = -ra\n", "[pytest]\naddopts = -ra -m 'not slow'\n", ["T3"], id="fewer tests"
        ),
        pytest.param(
            "pytest.ini", "[pytest]\ntestpaths = a b\n", "[pytest]\ntestpaths = a\n", ["T3"], id="fewer folders"
        ),
        pytest.param("pytest.ini", "[pytest]\naddopts = -ra\n", "[pytest]\ntestpaths = a\n", [], id="folder named"),
        pytest.param(
            "codecov.yml", "coverage:\n  target: 100\n", "coverage:\n  target: 90\n", ["G1"], id="target of a service"
        ),
        pytest.param(
            ".github/workflows/ci.yml",
            "steps:\n- run: pytest\n- run: ruff check\n",
            "steps:\n- run: pytest\n",
            ["G2"],
            id="check no longer run",
        ),
        pytest.param(
            ".github/workflows/ci.yml",
            "steps:\n- run: pytest\n- run: ruff check\n",
            "steps:\n- run: |\n    pytest\n    ruff check\n",
            [],
            id="checks in one step",
        ),
        pytest.param(
            "tox.ini",
            "[pytest]\naddopts = --cov-fail-under=100\n",
            "[pytest]\naddopts = --cov-fail-under=99\n",
            ["G1"],
            id="lower by option",
        ),
        pytest.param("setup.cfg", "no section\n", "[mypy]\n", [], id="no settings"),
        pytest.param(".coveragerc", "[report]\nfail_under = 9\n", "[report]\nfail_under = x\n", ["G1"], id="no number"),
        pytest.param(".flake8", "[flake8]\nselect = E,B\n", "[flake8]\nextend-select = B\n", [], id="own choice"),
        pytest.param("mypy.ini", "[mypy]\n", "[mypy]\ndisable_error_code = override\n", [], id="tool set up only now"),
        pytest.param(
            "pyproject.toml",
            "[tool.mypy]\npretty = true\n",
            '[tool.mypy]\npretty = true\n[[tool.mypy.overrides]]\nmodule = ["box.*", "lids"]\nignore_errors = true\n',
            ["G1", "G1"],
            id="modules not checked",
        ),
        pytest.param(
            "mypy.ini",
            "[mypy]\npretty = True\n",
            "[mypy]\npretty = True\ndisable_error_code = override\n",
            ["G1"],
            id="kind of error not reported",
        ),
        pytest.param(
            ".github/workflows/ci.yml", "run: pytest\n", "run: pytest || true\n", ["G2"], id="check that may fail"
        ),
        pytest.param(
            ".github/workflows/ci.yml",
            "steps:\n- run: pytest\n- run: ruff check\n",
            "steps:\n- run: pytest\n# - run: ruff check\n",
            ["G2"],
            id="check commented out",
        ),
        pytest.param(
            "tox.ini",
            "[testenv]\ncommands = coverage report --fail-under=100\n",
            "[testenv]\ncommands = coverage report\n",
            ["G1"],
            id="no floor of a command",
        ),
        pytest.param(
            "tox.ini",
            "[testenv]\ncommands = coverage report --fail-under=90\n",
            "[testenv]\ncommands = coverage report\n[coverage:report]\nfail_under = 90\n",
            [],
            id="floor of a command becomes a setting",
        ),
        pytest.param(
            "tox.ini",
            "[testenv]\ncommands = pylint --fail-under=9 box\n    coverage report\n",
            "[testenv]\ncommands = pylint --fail-under=8 box\n    coverage report\n",
            [],
            id="floor of pylint",
        ),
    ],
)
def test_gates(bench, path, before, after, rules):
    found = list(bench.lowered.lowered_gates(tree({path: before}), tree({path: after})))
    assert [each.rule for each in found] == rules


def test_checks_are_gone_with_the_last_workflow(bench):
    workflows = {".github/workflows/ci.yml": "run: |\n  pytest\n", ".github/workflows/cd.yml": "run: twine\n"}
    old, new = tree({**workflows, "box.py": ""}), tree({"box.py": ""})
    assert [each.rule for each in bench.lowered.lowered_gates(old, new)] == ["G2"]
    assert list(bench.lowered.lowered_gates(new, new)) == []


def test_a_gate_that_moves_to_another_file_stays(bench):
    old = tree({"setup.cfg": "[mypy]\nstrict = True\n[coverage:report]\nfail_under = 90\n"})
    new = tree({"pyproject.toml": "[tool.mypy]\nstrict = true\n[tool.coverage.report]\nfail_under = 90\n"})
    assert list(bench.lowered.lowered_gates(old, new)) == []


def slices(bench, old, new):
    change = bench.changes.Change("box", "1 to 2", tree(old), tree(new))
    gone = bench.vanished.vanished_of(bench.vanished.Step(change.old, change.new))
    return {part.name.rpartition(", ")[2]: part.paths for part in bench.slicing.slices_of(change, gone)}


def test_a_step_is_cut_by_test_file_with_the_sources_that_it_imports(bench):
    old = {
        "src/box/__init__.py": "from .sizes import area\n",
        "src/box/sizes.py": "def area(): ...\n",
        "src/box/lids.py": "from . import sizes\n",
        "tests/conftest.py": "",
        "tests/test_area.py": "from box import area\n\ndef test_area():\n    assert area() == 1\n",
        "tests/test_lids.py": "import box.lids\n\ndef test_lid():\n    assert box.lids.closed\n",
        "tox.ini": "[tox]\n",
    }
    new = {path: f"{text}\n# edited\n" for path, text in old.items()} | {
        "src/box/__init__.py": old["src/box/__init__.py"]
    }
    assert slices(bench, old, new) == {
        "tests/test_area.py": ("src/box/sizes.py", "tests/conftest.py", "tests/test_area.py"),
        "tests/test_lids.py": ("src/box/lids.py", "tests/conftest.py", "tests/test_lids.py"),
        "settings": ("tox.ini",),
    }


def test_sources_that_are_only_reached_belong_to_a_change_where_no_nearer_one_changed(bench):
    old = {
        "box/__init__.py": "",
        "box/lids.py": "from .sizes import area\n",
        "box/sizes.py": "area = 1\n",
        "box/other.py": "",
        "tests/test_lids.py": "from box import lids\n",
        "tests/data/lids.json": "{}",
        "tests/helping.py": "",
    }
    edited = ("box/sizes.py", "box/other.py", "tests/test_lids.py", "tests/data/lids.json", "tests/helping.py")
    new = old | {path: f"{old[path]}\n" for path in edited}
    taken = ("box/sizes.py", "tests/data/lids.json", "tests/test_lids.py")
    assert slices(bench, old, new) == {"tests/test_lids.py": taken}


CONSTANT = "import unittest\n\n\nclass TestVolume(unittest.TestCase):\n    subject = volume\n\n"
CONSTANT += "    def test_it(self):\n        self.assertEqual(self.made(1001), 2002)\n"


def test_what_a_class_says_of_itself_goes_with_the_class_only(bench):
    source = SOURCE.replace("def volume", "def content")
    (found,) = dropped(bench, CONSTANT, source)
    assert (found.fate, found.why) == ("with its code", "name volume")
    stays = "class TestVolume(unittest.TestCase):\n    subject = volume\n"
    (found,) = dropped(bench, CONSTANT, source, instead=stays)
    assert found.fate == "dropped"


@pytest.mark.parametrize("values", [(None, True), (False, ...), (1, 2)])
def test_values_without_words_or_numbers_keep_no_test(bench, values):
    told = ", ".join(map(repr, values)).replace("Ellipsis", "...")
    (found,) = dropped(bench, f"def test_it():\n    made({told})\n", instead=f"OTHERS = [{told}]\n")
    assert found.fate == "dropped"


def test_a_file_that_moved_adds_what_it_did_not_hold(bench):
    first = "def test_lid():\n    box = Box('lid')\n    assert box.pack('hammer') == ['hammer']\n"
    second = "def test_nail():\n    box = Box('lid')\n    box.pack('hammer')\n"
    step = step_of(bench, {"test_box.py": KEPT_TEST + first + second}, {"tests/test_box.py": KEPT_TEST + first})
    assert fates(bench.vanished.vanished_of(step)) == {
        "test_area_is_positive": "kept", "test_lid": "kept", "test_nail": "dropped",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "classes"),
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_classes = '*Test'\n", ("*Test",)),
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_classes = ['*Test', \"Test\"]\n", ("*Test", "Test")),
        ("setup.cfg", "[tool:pytest]\npython_classes =\n    Test\n    *Test\naddopts = -q\n", ("Test", "*Test")),
        ("tox.ini", "[pytest]\naddopts = -q\n", ("Test",)),
    ],
)
def test_settings_choose_the_classes_that_are_collected(bench, path, text, classes):
    files = tree({path: text, "tests/test_box.py": "class LidTest:\n    def test_it(self):\n        assert 1\n"})
    assert bench.outcomes.classes_of(files) == classes
    assert bool(bench.outcomes.outcomes_of(files)) is ("*Test" in classes)


def test_classes_that_either_release_chooses_are_collected_in_all_parts_of_a_step(bench):
    old = {"tests/test_box.py": "class LidTest(TestCase):\n    def test_it(self):\n        assert lid\n"}
    new = {
        "tests/test_box.py": old["tests/test_box.py"].replace("(TestCase)", ""),
        "pytest.ini": "[pytest]\npython_classes = *Test\n",
    }
    change = bench.changes.Change("box", "1 to 2", tree(old), tree(new))
    assert [part.vanished for part in bench.slicing.slices_of(change, [])] == [frozenset(), frozenset()]


def test_a_file_that_goes_goes_in_its_change(bench):
    assert slices(bench, {"tests/test_a.py": KEPT_TEST}, {}) == {"tests/test_a.py": ("tests/test_a.py",)}


def test_files_between_which_a_test_moves_are_one_change(bench):
    old = {"tests/test_a.py": KEPT_TEST + CALLS_VOLUME, "tests/test_b.py": "", "tests/test_c.py": "x = 1\n"}
    new = {"tests/test_a.py": KEPT_TEST, "tests/test_b.py": CALLS_VOLUME, "tests/test_c.py": "x = 2\n"}
    assert set(slices(bench, old, new).values()) == {("tests/test_a.py", "tests/test_b.py"), ("tests/test_c.py",)}


def test_a_part_has_the_relaxations_of_its_files_only(bench):
    change = bench.changes.Change("box", "1 to 2", tree({"a.py": "1", "b.py": "1"}), tree({"a.py": "2", "b.py": "1"}))
    found = [bench.relaxing.Relaxation("T1", path, "test") for path in ("a.py", "b.py")]
    assert bench.slicing.relaxed_in(change, found) == (found[0],)


def test_a_case_keeps_its_id_where_a_fixture_gives_its_parameter_now(bench):
    marked = "@pytest.mark.parametrize('slots', [True, False])\ndef test_it(slots):\n    assert slots in (0, 1)\n"
    old, new = ({"tests/test_box.py": text} for text in (marked, marked[marked.index("def") :]))
    assert bench.outcomes.carried_over(tree(old), tree(new)) == bench.outcomes.outcomes_of(tree(old))


def test_a_case_keeps_its_id_where_its_table_has_a_name_now(bench):
    marked = "@pytest.mark.parametrize('slots', [1, 2])\ndef test_it(slots):\n    assert slots in (0, 1)\n"
    old, new = (
        {"tests/test_box.py": text} for text in (marked, "SLOTS = (1, 2)\n" + marked.replace("[1, 2]", "SLOTS"))
    )
    assert bench.outcomes.carried_over(tree(old), tree(new)) == bench.outcomes.outcomes_of(tree(old))


COLLECTED = {
    "under a version of Python that is old": ("if sys.version_info >= (3, 8):\n    def test_it(): ...\n", 1),
    "under a version of Python to come": ("if sys.version_info >= (4, 0):\n    def test_it(): ...\n", 0),
    "under a version of Python that is over": ("if sys.version_info < (3, 8):\n    def test_it(): ...\n", 0),
    "under a name that is imported": (
        "try:\n    from enum import Enum\nexcept ImportError:\n    Enum = None\nif Enum:\n    def test_it(): ...\n",
        1,
    ),
    "under another name": ("FULL = False\nif FULL:\n    def test_it(): ...\n", 0),
    "under nothing that can be": ("if False:\n    def test_it(): ...\n", 0),
    "under what is no version": ("if sys.version_info >= LEAST:\n    def test_it(): ...\n", 0),
    "a fixture": ("@pytest.fixture()\ndef testapp(): ...\n\n@fixture\ndef test_it(): ...\n", 0),
}


@pytest.mark.parametrize(("text", "number"), COLLECTED.values(), ids=COLLECTED)
def test_what_is_collected_is_read_from_the_source(bench, text, number):
    assert len(bench.outcomes.outcomes_of(tree({"tests/test_box.py": text}))) == number


def test_labels_ask_nothing_of_the_rules_that_they_judge():
    names = ("vocabulary", "vanished", "relaxing", "lowered", "slicing")
    code = f"import sys; import {', '.join(names)}; print([n for n in sys.modules if n.startswith('ralph_tracker')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
