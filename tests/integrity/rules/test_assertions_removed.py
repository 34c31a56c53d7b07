"""T5: surviving tests that assert less often, and the honest ways to do so."""

import pytest

from ralph_tracker.integrity.rules.assertions_removed import find
from tests.integrity.making import found

PATH = "tests/test_box.py"
OLD = "def test_lid():\n    box = Box()\n    assert box.lid == 3\n    assert box.size == 4\n"
HEAD = "def test_lid():\n    box = Box()\n"


def texts(new, old=OLD, more=None, **outcomes):
    return [each.old for each in found(find, {PATH: (old, new), **(more or {})}, **outcomes)]


@pytest.mark.parametrize(
    ("new", "gone"),
    [
        pytest.param(HEAD + "    assert box.lid == 3\n", "assert box.size == 4", id="one of two"),
        pytest.param(HEAD, "assert box.lid == 3 ; assert box.size == 4", id="all"),
        pytest.param(
            'def test_lid():\n    """Say so."""\n', "assert box.lid == 3 ; assert box.size == 4", id="emptied"
        ),
        pytest.param("def test_lid():\n    pass\n", "assert box.lid == 3 ; assert box.size == 4", id="pass"),
        pytest.param(HEAD + "    assert box.lid == 3\n    print(box.size)\n", "assert box.size == 4", id="printed"),
        pytest.param(HEAD + "    assert box.lid == 3\n    _ = box.size\n", "assert box.size == 4", id="only read"),
    ],
)
def test_assertions_that_are_gone_are_named(new, gone):
    assert texts(new) == [gone]


HELPER = "def looks_right(box):\n    assert box.lid == 3\n    assert box.size == 4\n\n\n"
PARTS = "def test_size():\n    box = Box()\n    assert box.size == 4\n"


@pytest.mark.parametrize(
    ("new", "more"),
    [
        pytest.param(OLD, {}, id="same"),
        pytest.param(OLD.replace("Box()", "Box( )  # a box"), {}, id="formatted"),
        pytest.param(HELPER + HEAD + "    looks_right(box)\n", {}, id="helper"),
        pytest.param(
            "def test_lid(right_box):\n    box = right_box\n",
            {"tests/conftest.py": (None, "@fixture\ndef right_box():\n    box = Box()\n    assert box.lid == 3\n")},
            id="fixture",
        ),
        pytest.param(HEAD + "    assert_box_is(box, 3, 4)\n", {}, id="library helper"),
        pytest.param(HEAD + "    assert (box.lid, box.size) == (3, 4)\n", {}, id="merged"),
        pytest.param(HEAD + "    assert vars(box) == {'lid': 3, 'size': 4}\n", {}, id="one stronger"),
        pytest.param(
            HEAD + "    for name in NAMES:\n        assert getattr(box, name) == NAMES[name]\n", {}, id="loop"
        ),
        pytest.param(HEAD + "    assert box.lid == 3\n\n\n" + PARTS, {}, id="split"),
        pytest.param(
            HEAD + "    assert box.lid == 3\n", {"tests/test_size.py": (None, PARTS)}, id="split into another file"
        ),
        pytest.param(
            HEAD + "    assert box.lid == 3\n",
            {"box.py": ("class Box:\n    lid = 3\n    size = 4\n", "class Box:\n    lid = 3\n")},
            id="its subject went with the source",
        ),
        pytest.param(HEAD + "    with pytest.raises(Closed):\n        box.open()\n", {}, id="other specification"),
        pytest.param(HEAD + "    assert True\n    assert True\n", {}, id="hollow ones are another rule"),
        pytest.param(None, {}, id="gone"),
    ],
)
def test_honest_changes_stay_quiet(new, more):
    assert texts(new, more=more) == []


TWICE = "    assert box.lid == 3\n    assert box.lid == 3\n"
OLD_PYTHON = "    if PY2:\n        assert box.lid == 30\n    else:\n        assert box.lid == 3\n"


@pytest.mark.parametrize(
    ("old", "new", "quiet"),
    [
        pytest.param(TWICE, "    assert box.lid == 3\n", True, id="said twice"),
        pytest.param(
            TWICE.replace("\n", "\n    box.open()\n", 1), "    assert box.lid == 3\n", False, id="asked again"
        ),
        pytest.param(OLD_PYTHON, "    assert box.lid == 3\n", True, id="a platform given up"),
        pytest.param(OLD_PYTHON, OLD_PYTHON.replace("assert box.lid == 30", "pass"), False, id="a platform kept"),
        pytest.param(OLD_PYTHON.replace("PY2", "box"), "    assert box.lid == 3\n", False, id="another question"),
    ],
)
def test_what_was_asked_for_nothing_may_go(old, new, quiet):
    assert (texts(HEAD + new, HEAD + old) == []) is quiet


@pytest.mark.parametrize(
    ("asserted", "quiet"),
    [
        pytest.param("box.hinge_kind == 3", True, id="a name used less often"),
        pytest.param("'the hinge opens' in box.text", False, id="prose that shares a word"),
        pytest.param("'a rusty lid' in box.text", True, id="a message that is gone"),
    ],
)
def test_what_recedes_from_the_source_may_go(asserted, quiet):
    source = "hinge_kind = 1\nuse(hinge_kind)\nsay('hinge')\ncall('hinge')\n"
    more = {"box/core.py": (source + "say('rusty')\n", source.replace("use(hinge_kind)\nsay('hinge')\n", ""))}
    old = f"{HEAD}    assert box.lid == 3\n    assert {asserted}\n"
    assert (texts(HEAD + "    assert box.lid == 3\n", old, more) == []) is quiet


@pytest.mark.parametrize("path", ["tests/conftest.py", "tests/checks.py", PATH])
@pytest.mark.parametrize("body", ["    pass\n", "    return box\n", "    assert box.lid == 3\n"])
def test_a_function_that_asserts_for_tests_counts_as_one(path, body):
    old = "class Checks:\n    def looks_right(self, box):\n        assert box.lid == 3\n        assert box.size == 4\n"
    new = "class Checks:\n    def looks_right(self, box):\n    " + body
    [each] = found(find, {path: (old, new)})
    assert (each.test, each.file) == ("Checks::looks_right", path)
    assert found(find, {"box/core.py": (old, new)}) == found(find, {path: (old, None)}) == []


def test_a_reworked_test_that_began_to_pass_is_named():
    new = HEAD + "    assert box.open()\n"
    name = "tests.test_box::test_lid"
    assert texts(new) == []
    assert texts(new, before={name: "failed"}, after={name: "passed"}) != []


def test_a_source_that_is_no_program_hides_nothing():
    assert texts(HEAD, more={"tests/test_bad.py": ("x", "def test_x(:")}) != []


def test_it_is_known_by_its_test_alone():
    [each] = found(find, {PATH: (OLD, HEAD)})
    assert each.key == "T5|tests/test_box.py|test_lid|"


def test_other_languages_are_compared_by_their_lines():
    assert texts("const x = 1;\n", old="const x = 2;\n", more={"web/box.test.js": ("a", "b")}) == []


NEVER = (
    "def test_lid():\n    try:\n        Box().open()\n    except Closed as e:\n        assert e.lid == 3\n    else:\n"
)


@pytest.mark.parametrize(
    ("old", "new", "quiet"),
    [
        pytest.param(
            NEVER + "        assert False, 'no'\n", NEVER + "        raise AssertionError('no')\n", True, id="raised"
        ),
        pytest.param(NEVER + "        assert 0\n", NEVER + "        pytest.fail('no')\n", True, id="failed"),
        pytest.param(NEVER + "        assert False, 'no'\n", NEVER + "        print('no')\n", False, id="printed"),
        pytest.param(
            HEAD + "    assert box is not None\n    assert box.lid == 3\n",
            HEAD + "    assert box.lid == 3\n",
            True,
            id="what is used is something",
        ),
        pytest.param(
            HEAD + "    assert box.lid is not None\n    assert box.size == 3\n",
            HEAD + "    assert box.size == 3\n",
            False,
            id="what nobody uses",
        ),
        pytest.param(
            HEAD + "    if LID_VERSION_INFO[0] < 3:\n        assert box.lid == 2\n    assert box.size == 3\n",
            HEAD + "    assert box.size == 3\n",
            True,
            id="a version given up",
        ),
    ],
)
def test_what_is_said_in_another_way_may_go(old, new, quiet):
    assert (texts(new, old) == []) is quiet


@pytest.mark.parametrize("asserted", ["assert list(box.lids) == [1]", "assert not box.lids.append(3)"])
def test_words_of_the_language_say_nothing_of_what_is_asserted_about(asserted):
    source = "def f(x):\n    assert list(x)\n    return x.append(3)\n"
    more = {"box/core.py": (source, "def f(x):\n    return x\n")}
    old = f"{HEAD}    assert box.lid == 3\n    {asserted}\n"
    assert texts(HEAD + "    assert box.lid == 3\n", old, more) == [asserted]


@pytest.mark.parametrize("failing", ["assert False", "assert 0"])
def test_that_nothing_is_raised_takes_no_assertions_place(failing):
    new = f"{HEAD}    assert box.lid == 3\n    try:\n        box.size\n    except Exception:\n        {failing}\n"
    ends = {"before": {"tests.test_box::test_lid": "failed"}, "after": {"tests.test_box::test_lid": "passed"}}
    assert texts(new, **ends) == ["assert box.size == 4"]
    assert texts(new) == []
