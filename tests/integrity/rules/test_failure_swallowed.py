"""T8: tests whose failures fail nothing."""

import pytest

from ralph_tracker.integrity.rules.failure_swallowed import find
from tests.integrity.making import found

PATH = "tests/test_box.py"
OLD = "def test_lid(box):\n    value = box.open()\n    assert value == 3\n"
HEAD = "def test_lid(box):\n"


def messages(new, old=OLD):
    return [each.message for each in found(find, {PATH: (old, new)})]


def tried(handler, inside="value = box.open()\n        assert value == 3"):
    return f"{HEAD}    try:\n        {inside}\n    {handler}\n"


@pytest.mark.parametrize(
    "new",
    [
        tried("except:\n        pass"),
        tried("except Exception:\n        pass"),
        tried("except Exception as error:\n        print(error)"),
        tried("except AssertionError:\n        return"),
        tried("except (ValueError, AssertionError):\n        logger.info('no')"),
        tried("except ValueError:\n        raise\n    except BaseException:\n        ..."),
        tried("except Exception:\n        pytest.skip('later')"),
        tried("except AssertionError:\n        assert True"),
        tried("finally:\n        return"),
        f"{HEAD}    with contextlib.suppress(AssertionError):\n        value = box.open()\n        assert value == 3\n",
        f"{HEAD}    with suppress(Exception):\n        value = box.open()\n    assert value == 3\n",
        f"{HEAD}    try:\n        value = box.open()\n    except Exception:\n        pass\n    assert value == 3\n",
        f"{HEAD}    return\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    pytest.skip('later')\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if True:\n        return\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if False:\n        assert value == 3\n",
        f"{HEAD}    value = box.open()\n    while False:\n        assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if value != 3:\n        return\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if not value:\n        pytest.skip('no value')\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if value != 3:\n        pytest.skip('not yet')\n    assert value == 3\n",
        f"{HEAD}    def inner():\n        value = box.open()\n        assert value == 3\n",
    ],
)
def test_a_failure_that_fails_nothing_is_named(new):
    [message] = messages(new)
    assert message.startswith(("failure swallowed by", "exit before assertions", "assertion is never reached"))


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        OLD.replace("box.open()", "box.open( )  # now"),
        tried("finally:\n        box.close()"),
        tried("except Exception:\n        raise"),
        tried("except Exception as error:\n        pytest.fail(str(error))"),
        tried("except Exception as error:\n        errors.append(error)"),
        tried("except Exception:\n        pass\n    else:\n        pytest.fail('it opened')"),
        tried("except Exception:\n        pass\n    else:\n        raise AssertionError"),
        tried("except OSError:\n        pass"),
        OLD + "    with suppress(OSError):\n        box.remove()\n",
        OLD + "    with suppress(Exception):\n        box.close()\n",
        f"{HEAD}    if sys.platform == 'win32':\n        return\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    if PY_3_14 and not box.slots:\n        return\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    if not box.slots:\n        pytest.skip('none')\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    if not box.slots:\n        raise SkipTest('none')\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    value = box.open()\n    if isinstance(box, Crate):\n        assert value == 3\n",
        f"{HEAD}    if box.x:\n        box.close()\n    value = box.open()\n    assert value == 3\n",
        f"{HEAD}    def f(x):\n        if x:\n            return 1\n    value = box.open(f)\n    assert value == 3\n",
        f"{HEAD}    def inner():\n        value = box.open()\n        assert value == 3\n    run(inner)\n",
        f"{HEAD}    class Inner:\n        def f(self):\n            assert box.open() == 3\n    run(Inner)\n",
        "def test_lid(box):\n    with lid():\n        raise Closed\n    assert box\n",
    ],
)
def test_honest_changes_stay_quiet(new):
    assert messages(new) == []


HELPED = "def test_lid(box):\n    box.open()\n    roundtrip(box, 3)\n"


@pytest.mark.parametrize(
    ("new", "line", "text"),
    [
        (HELPED.replace("    box.open()", "    return\n    box.open()"), 2, "box.open()"),
        (HELPED.replace("    roundtrip", "    return None\n    roundtrip"), 3, "roundtrip(box, 3)"),
        (HELPED.replace("    roundtrip", "    if True:\n        return\n    roundtrip"), 3, "roundtrip(box, 3)"),
    ],
    ids=["at once", "before the helper", "whatever happens"],
)
def test_a_helper_that_is_never_reached_is_named(new, line, text):
    [told] = found(find, {PATH: (HELPED, new)})
    assert (told.message, told.line) == (f"call is never reached: `{text}`", line)


@pytest.mark.parametrize(
    "new",
    [
        HELPED + "    return\n",
        HELPED.replace("    roundtrip", "    if box.old:\n        return\n    roundtrip"),
        HELPED.replace("    roundtrip", "    return roundtrip"),
        HELPED.replace("    roundtrip", "    raise Closed\n    roundtrip"),
        HELPED.replace("box.open()", "returned = box.open()"),
    ],
    ids=["at the end", "under a condition", "with the last call", "it fails", "a word"],
)
def test_whoever_returns_otherwise_is_not(new):
    assert messages(new, old=HELPED) == []


def test_what_was_never_reached_is_no_loss():
    old = HELPED.replace("    roundtrip", "    return\n    roundtrip")
    assert messages(old.replace("open", "shut"), old=old) == []


def test_what_was_swallowed_before_is_not_new():
    old = tried("except Exception:\n        pass")
    assert messages(old.replace("pass", "return"), old=old) == []


def test_a_new_test_counts_too():
    assert messages(tried("except Exception:\n        pass"), old=None) != []


EACH = "{head}    failed = {start}\n    for value in box.all():\n        try:\n            assert value == 3\n"
GATHERED = EACH + "        except AssertionError:\n            {handler}\n    {end}\n"


@pytest.mark.parametrize(
    ("start", "handler", "end", "quiet"),
    [
        ("[]", "failed.append(value)", "if failed:\n        pytest.fail('no')", True),
        ("0", "failed += 1", "if failed:\n        raise AssertionError(failed)", True),
        ("[]", "failed.append(value)", "print(failed)", False),
        ("0", "failed += 1", "if failed:\n        print(failed)", False),
        ("[]", "failed.append(value)", "if others:\n        pytest.fail('no')", False),
        ("[]", "print(value)", "if failed:\n        pytest.fail('no')", False),
    ],
)
def test_failures_may_be_gathered_and_told_at_the_end(start, handler, end, quiet):
    new = GATHERED.format(head=HEAD, start=start, handler=handler, end=end)
    assert (messages(new) == []) is quiet


LOOPED = f"{HEAD}    for each in box:\n        {{inside}}\n        seen.append(each)\n    assert seen == [3]\n"


@pytest.mark.parametrize(
    ("inside", "asked", "quiet"),
    [
        ("if each.text in KNOWN:\n            continue", "", True),
        ("if each.text in KNOWN:\n            return", "", False),
        ("if each.text in KNOWN:\n            continue\n        assert each.lid", "assert each.lid", False),
    ],
)
def test_what_leaves_a_loop_leaves_what_comes_behind_it(inside, asked, quiet):
    assert (messages(LOOPED.format(inside=inside), LOOPED.format(inside=asked)) == []) is quiet


def test_what_warns_is_no_way_to_swallow():
    old = f"{HEAD}    with pytest.deprecated_call():\n        assert box.open() == 3\n"
    inside = "try:\n            assert box.open() == 3\n        except Exception as error:\n            print(error)"
    assert messages(old.replace("assert box.open() == 3", inside), old) != []


CASES = (
    "@pytest.mark.parametrize('path', [{rows}])\ndef test_lid(box, path):\n    value = box.open(path)\n    {asked}\n"
)


@pytest.mark.parametrize(
    ("rows", "head", "quiet"),
    [
        ("'/a.json', '/b'", "if path.endswith('json'):", True),
        ("True, False", "if path:", True),
        ("'/a.json', '/b'", "if value.endswith('json'):", False),
        ("'/a.json', '/b'", "if value and path:", False),
        ("'/a.json'", "if path.endswith('json'):", False),
    ],
)
def test_an_assertion_may_be_of_some_new_cases(rows, head, quiet):
    asked = f"assert value\n    {head}\n        assert value == 3"
    old = "def test_lid(box):\n    value = box.open('/a.json')\n    assert value\n    assert value == 3\n"
    assert (messages(CASES.format(rows=rows, asked=asked), old) == []) is quiet
