"""T8, form by form: where a failure ends that nobody learns of, and where handlers and conditions are honest."""

import pytest

from ralph_tracker.integrity.rules.failure_swallowed import find
from tests.integrity.making import found

PATH = "tests/test_box.py"
OLD = "def test_lid(box):\n    value = box.open()\n    assert value == 3\n"
BODY = ("value = box.open()", "assert value == 3")
DEF = "def test_lid(box):\n"


def told(new, old=OLD):
    return [each.message for each in found(find, {PATH: (old, new)})]


def tried(*handler, inside=BODY, after=()):
    lines = ["try:", *(f"    {each}" for each in inside), *handler, *after]
    return DEF + "".join(f"    {each}\n" for each in lines)


def lines(*texts, head=DEF):
    return head + "".join(f"    {each}\n" for each in texts)


def under(*heads, body=BODY, after=()):
    """Put statements under the heads of blocks, one in the other."""
    text = DEF
    for depth, head in enumerate(heads, 1):
        text += "    " * depth + head + "\n"
    text += "".join("    " * (len(heads) + 1) + each + "\n" for each in body)
    return text + "".join(f"    {each}\n" for each in after)


ENVIRONMENT = ("ImportError", "OSError", "PermissionError", "NotImplementedError", "TimeoutError", "ConnectionError")
SWALLOWED = {
    "a flag that is set either way": tried(
        "except AssertionError:", "    ok = True", inside=(*BODY, "ok = True"), after=("assert ok",)
    ),
    "an end that may be either": tried(
        "except AssertionError:",
        "    end = 'no'",
        inside=(*BODY, "end = 'yes'"),
        after=("assert end in ('yes', 'no')",),
    ),
    "an end that is something": tried("except AssertionError:", "    end = 'no'", after=("assert end",)),
    "one error is few enough": lines(
        "seen = []",
        "try:",
        *(f"    {each}" for each in BODY),
        "except Exception as e:",
        "    seen.append(e)",
        "assert len(seen) <= 1",
    ),
    "errors in a list": lines(
        "seen = []",
        "try:",
        *(f"    {each}" for each in BODY),
        "except Exception as e:",
        "    seen.append(e)",
        "assert isinstance(seen, list)",
    ),
    "in a function that is tried": lines(
        "def check():", *(f"    {each}" for each in BODY), "try:", "    check()", "except Exception:", "    pass"
    ),
    "in a thread, among other questions": lines(
        "def check():",
        "    assert box.get(3) == 3",
        *(f"    {each}" for each in BODY),
        "thread = Thread(target=check)",
        "thread.start()",
        "errors = box.get('errors')",
    ),
    "under a flag that is never set": lines("strict = False", "value = box.open()", "if strict:", "    " + BODY[1]),
    "under a flag of the module": "STRICT = False\n" + lines("value = box.open()", "if STRICT:", "    " + BODY[1]),
    "where it holds": lines("value = box.open()", "if value == 3:", "    assert value == 3"),
    "left where CI runs it": lines("value = box.open()", "if os.environ.get('CI'):", "    return", BODY[1]),
    "assigned in the handler": tried("except Exception:", "    value = None"),
    "counted in the handler": tried("except Exception:", "    failures = 1"),
    "added up in the handler": tried("except Exception:", "    failures += 1", inside=BODY),
    "the value expected in the handler": tried(
        "except Exception:", "    value = 3", after=("assert value == 3",), inside=BODY[:1]
    ),
    "returned true": tried("except Exception:", "    return True"),
    "an error that is an error": tried("except Exception as e:", "    assert isinstance(e, Exception)"),
    "an error that is there": tried("except Exception as e:", "    assert e"),
    "an error that has a text": tried("except Exception as e:", "    assert str(e) is not None"),
    "raised as skipped": tried("except Exception as e:", "    raise unittest.SkipTest(str(e))"),
    "raised as skipped by pytest": tried("except Exception as e:", "    raise pytest.skip.Exception('no')"),
    "xfailed": tried("except AssertionError:", "    pytest.xfail('later')"),
    "deleted": tried("except Exception as e:", "    del e"),
    "under a constant": tried("except Exception:", "    if False:", "        raise"),
    "under a setting": tried("except Exception:", "    if os.environ.get('STRICT'):", "        raise"),
    "told and left": tried("except Exception as e:", "    print(e)", "    return None"),
    "collected and forgotten": tried("except Exception as e:", "    seen = []", "    seen.append(e)"),
    "traced": tried("except Exception:", "    traceback.print_exc()"),
    "closed": tried("except Exception:", "    box.close()"),
    "many kinds": tried("except (ValueError, TypeError, KeyError, AssertionError):", "    pass"),
    "kinds by a call": tried("except tuple(KINDS):", "    pass"),
    "one kind": tried("except ValueError:", "    pass"),
    "two kinds": tried("except (TypeError, AttributeError):", "    return"),
    "a kind of its own": tried("except LidError:", "    pass"),
    "a group": tried("except* Exception:", "    pass"),
    "a group of assertions": tried("except* AssertionError:", "    print('no')"),
    "a second handler": tried("except KeyError:", "    raise", "except Exception:", "    pass"),
    "only the call": tried("except Exception:", "    return", inside=BODY[:1], after=BODY[1:]),
    "only the assertion": DEF
    + "    value = box.open()\n    try:\n        assert value == 3\n    except AssertionError:\n        pass\n",
    "else": tried("except Exception:", "    pass", "else:", "    assert value == 3", inside=BODY[:1]),
    "finally": tried("finally:", "    return"),
    "finally in a condition": tried("finally:", "    if box:", "        return"),
    "finally in a loop": (
        "def test_lid(box):\n"
        "    for _ in range(1):\n"
        "        try:\n"
        "            value = box.open()\n"
        "            assert value == 3\n"
        "        finally:\n"
        "            break\n"
    ),
    "a loop of tries": (
        "def test_lid(box):\n"
        "    for _ in range(3):\n"
        "        try:\n"
        "            value = box.open()\n"
        "            assert value == 3\n"
        "            break\n"
        "        except AssertionError:\n"
        "            time.sleep(1)\n"
    ),
    "a nested try": (
        "def test_lid(box):\n"
        "    try:\n"
        "        try:\n"
        "            value = box.open()\n"
        "            assert value == 3\n"
        "        finally:\n"
        "            box.close()\n"
        "    except Exception:\n"
        "        pass\n"
    ),
    "suppressed": under("with contextlib.suppress(Exception):"),
    "suppressed by an alias": under("with suppress(AssertionError, ValueError):"),
    "suppressed, one kind": under("with suppress(ValueError):"),
    "suppressed among others": under("with open(p) as f, suppress(BaseException):"),
    "suppressed by a stack": under(
        "with ExitStack() as stack:", body=("stack.enter_context(suppress(Exception))", *BODY)
    ),
    "expected to fail": under("with pytest.raises(AssertionError):"),
    "expected to fail in any way": under("with pytest.raises(Exception):"),
    "expected to fail, unittest": under("with self.assertRaises(Exception):"),
    "returned": lines("return", *BODY),
    "returned a value": lines("return None", *BODY),
    "returned after the call": lines(BODY[0], "return", BODY[1]),
    "returned if it is wrong": lines(BODY[0], "if value != 3:", "    return", BODY[1]),
    "returned if it is none": lines(BODY[0], "if value is None:", "    return", BODY[1]),
    "returned if it is not there": lines(BODY[0], "if not value:", "    return", BODY[1]),
    "returned if it is of another kind": lines(BODY[0], "if not isinstance(value, int):", "    return", BODY[1]),
    "returned if it has no such attribute": lines(BODY[0], "if not hasattr(value, 'lid'):", "    return", BODY[1]),
    "returned by a version of it": lines(BODY[0], "if value.version is None:", "    return", BODY[1]),
    "returned in both ways": lines(BODY[0], "if value:", "    return", "else:", "    print(1)", BODY[1]),
    "returned in the other way": lines(BODY[0], "if value == 3:", "    pass", "else:", "    return", BODY[1]),
    "skipped if it is wrong": lines(BODY[0], "if value != 3:", "    pytest.skip('no')", BODY[1]),
    "raised as skipped if it is wrong": lines(BODY[0], "if value != 3:", "    raise unittest.SkipTest('no')", BODY[1]),
    "skipped by or": lines(BODY[0], "value == 3 or pytest.skip('no')", BODY[1]),
    "skipped by a choice": lines("value = box.open() or pytest.skip('no')", BODY[1]),
    "exited": lines(BODY[0], "sys.exit(0)", BODY[1]),
    "under its own value": lines(BODY[0], "if value:", "    " + BODY[1]),
    "under what it should be": lines(BODY[0], "if value == 3:", "    " + BODY[1]),
    "under not none": lines(BODY[0], "if value is not None:", "    " + BODY[1]),
    "under a kind": lines(BODY[0], "if isinstance(value, int):", "    " + BODY[1]),
    "under an attribute": lines(BODY[0], "if hasattr(value, 'lid'):", "    " + BODY[1]),
    "under a walrus": lines("if (value := box.open()):", "    " + BODY[1]),
    "under a call": lines(BODY[0], "if box.is_open():", "    " + BODY[1]),
    "under a constant name": lines(BODY[0], "if TYPE_CHECKING:", "    " + BODY[1]),
    "under a setting of the environment": lines(BODY[0], "if os.environ.get('STRICT'):", "    " + BODY[1]),
    "in the other branch": lines(BODY[0], "if value is None:", "    print('no')", "else:", "    " + BODY[1]),
    "under a loop": lines(BODY[0], "while value == 3:", "    " + BODY[1], "    break"),
    "in a loop over nothing": lines(BODY[0], "for _ in []:", "    " + BODY[1]),
    "in a loop over no times": lines(BODY[0], "for _ in range(0):", "    " + BODY[1]),
    "in a loop over what is right": lines(BODY[0], "for value in [v for v in [value] if v == 3]:", "    " + BODY[1]),
    "in a loop by a filter": lines(BODY[0], "for value in filter(None, [value]):", "    " + BODY[1]),
    "in a match": lines(BODY[0], "match value:", "    case 3:", "        " + BODY[1]),
    "in a function that nobody calls": lines("def check():", "    value = box.open()", "    assert value == 3"),
    "in a thread": lines(
        "def check():",
        "    value = box.open()",
        "    assert value == 3",
        "thread = threading.Thread(target=check)",
        "thread.start()",
        "thread.join()",
    ),
    "in a thread in place": lines(
        "def check():", "    value = box.open()", "    assert value == 3", "Thread(target=check).start()"
    ),
    "in an executor": lines("def check():", "    value = box.open()", "    assert value == 3", "pool.submit(check)"),
    "in a task": lines(
        "async def check():", "    value = box.open()", "    assert value == 3", "asyncio.create_task(check())"
    ),
    "in a timer": lines(
        "def check():", "    value = box.open()", "    assert value == 3", "threading.Timer(1, check).start()"
    ),
    "at exit": lines("def check():", "    value = box.open()", "    assert value == 3", "atexit.register(check)"),
    "by a callback": lines(
        "def check(_):", "    value = box.open()", "    assert value == 3", "future.add_done_callback(check)"
    ),
    "a coroutine that nobody awaits": lines(
        "async def check():", "    value = box.open()", "    assert value == 3", "check()"
    ),
    "a decorator": (
        "def quiet(f):\n"
        "    def inner(*a, **k):\n"
        "        try:\n"
        "            return f(*a, **k)\n"
        "        except Exception:\n"
        "            pass\n"
        "    return inner\n"
        "\n"
        "@quiet\n"
    )
    + OLD,
    "a decorator with wraps": (
        "def quiet(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*a, **k):\n"
        "        try:\n"
        "            f(*a, **k)\n"
        "        except AssertionError:\n"
        "            return None\n"
        "    return inner\n"
        "\n"
        "@quiet\n"
    )
    + OLD,
    "a decorator that logs": (
        "def quiet(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*a, **k):\n"
        "        try:\n"
        "            return f(*a, **k)\n"
        "        except Exception as error:\n"
        "            logging.warning('%s', error)\n"
        "    return inner\n"
        "\n"
        "@quiet\n"
    )
    + OLD,
    "a decorator that suppresses": (
        "def quiet(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*a, **k):\n"
        "        with suppress(Exception):\n"
        "            f(*a, **k)\n"
        "    return inner\n"
        "\n"
        "@quiet\n"
    )
    + OLD,
    "suppress as a decorator": "@contextlib.suppress(Exception)\n" + OLD,
    "a manager": "@contextmanager\ndef quiet():\n    try:\n        yield\n    except Exception:\n        pass\n\n"
    + under("with quiet():"),
    "a manager's class": (
        "class Quiet:\n"
        "    def __enter__(self):\n"
        "        return self\n"
        "    def __exit__(self, *a):\n"
        "        return True\n"
        "\n"
    )
    + under("with Quiet():"),
    "a helper that calls": "def safely(f):\n    try:\n        f()\n    except Exception:\n        pass\n\n"
    + lines("def check():", "    value = box.open()", "    assert value == 3", "safely(check)"),
    "a helper that calls what is asked": (
        "def safely(f, *a):\n    try:\n        return f(*a)\n    except Exception:\n        return None\n\n"
    )
    + lines("value = safely(box.open)", "assert value == 3"),
}
# (old lines, new lines) of the test
FLIPPED = {
    "one of two where it holds": (
        "assert box.lid == 3\n    box.shut()\n    assert box.lid == 3",
        "seen = box.lid\n    if seen == 3:\n        assert box.lid == 3\n    box.shut()\n    assert box.lid == 3",
    ),
    "a status that is not checked": ("subprocess.run(cmd, check=True)", "subprocess.run(cmd, check=False)"),
    "a status that is not asked": ("subprocess.run(cmd, check=True)", "subprocess.run(cmd)"),
    "a call that checks no status": ("subprocess.check_call(cmd)", "subprocess.call(cmd)"),
    "an output of any status": ("out = subprocess.check_output(cmd)", "out = subprocess.run(cmd).stdout"),
    "a command that is always true": ("os.system('box open')", "os.system('box open || true')"),
    "a check that is gone": ("r = get(x)\n    r.raise_for_status()", "r = get(x)"),
    "a return code that is gone": ("p = run(x)\n    p.check_returncode()", "p = run(x)"),
    "exceptions caught by a runner": ("runner.invoke(cli, [], catch_exceptions=False)", "runner.invoke(cli, [])"),
    "exceptions returned": ("await asyncio.gather(a(), b())", "await asyncio.gather(a(), b(), return_exceptions=True)"),
    "exceptions returned of what was not cancelled": (
        "task.cancel()\n    await other",
        "task.cancel()\n    await asyncio.gather(task, other, return_exceptions=True)",
    ),
    "a way out turned round": (
        "if runner == box.lid:\n        return\n    assert box.lid == 3",
        "if runner != box.lid:\n        return\n    assert box.lid == 3",
    ),
    "a way out for another value": (
        "if box.lid == 2:\n        return\n    assert box.lid == 3",
        "if box.lid == 3:\n        return\n    assert box.lid == 3",
    ),
    "a way out for more": (
        "if box.lid == 2:\n        return\n    assert box.lid == 3",
        "if box.lid == 2 or box:\n        return\n    assert box.lid == 3",
    ),
    "a further way out": (
        "if box.lid == 2:\n        return\n    assert box.lid == 3",
        "if box.lid == 2:\n        return\n    if lid(box) == 2:\n        return\n    assert box.lid == 3",
    ),
    "a failure that is passed": ("if box.broken:\n        pytest.fail('broken')", "if box.broken:\n        pass"),
    "a failure that is printed": (
        "if box.broken:\n        self.fail('broken')",
        "if box.broken:\n        print('broken')",
    ),
    "a failure that is skipped": (
        "if box.broken:\n        pytest.fail('broken')",
        "if box.broken:\n        pytest.skip('broken')",
    ),
    "a failure that is warned of": (
        "if box.broken:\n        raise AssertionError('broken')",
        "if box.broken:\n        warnings.warn('broken')",
    ),
    "a failure in else": (
        "try:\n        box.open()\n    except KeyError:\n        pass\n    else:\n        pytest.fail('opened')",
        "try:\n        box.open()\n    except KeyError:\n        pass",
    ),
    "a failure in a handler": (
        "try:\n        box.open()\n    except KeyError:\n        pytest.fail('closed')",
        "try:\n        box.open()\n    except KeyError:\n        pass",
    ),
    "an await that is gone": ("await check_lid(box)", "check_lid(box)"),
    "an await that is a task": ("await check_lid(box)", "asyncio.ensure_future(check_lid(box))"),
    "a handler that raised": (
        "try:\n        box.open()\n    except Exception:\n        raise",
        "try:\n        box.open()\n    except Exception:\n        pass",
    ),
    "a loop that shrank": (
        "for x in box.all():\n        assert x == 3",
        "for x in box.all()[:0]:\n        assert x == 3",
    ),
    "a loop over some": (
        "for x in box.all():\n        assert x == 3",
        "for x in [x for x in box.all() if x]:\n        assert x == 3",
    ),
    "a loop that goes on": (
        "for x in box.all():\n        assert x == 3",
        "for x in box.all():\n        if x != 3:\n            continue\n        assert x == 3",
    ),
    "a loop that ends": (
        "for x in box.all():\n        assert x == 3",
        "for x in box.all():\n        if not x:\n            break\n        assert x == 3",
    ),
}
HONEST = {
    "as before": OLD,
    "a flag that is set once": lines(
        "ok = False",
        "try:",
        *(f"    {each}" for each in (*BODY, "ok = True")),
        "except KeyError:",
        "    ok = False",
        "assert ok",
    ),
    "no error in a list": lines(
        "seen = []",
        "try:",
        *(f"    {each}" for each in BODY),
        "except Exception as e:",
        "    seen.append(e)",
        "assert len(seen) == 0",
    ),
    "an answer of a pool": lines(
        "def check():", *(f"    {each}" for each in BODY), "later = pool.apply_async(check)", "later.get()"
    ),
    "a thread that tells": lines(
        "def check():",
        "    try:",
        *(f"        {each}" for each in BODY),
        "    except Exception as e:",
        "        told.append(e)",
        "Thread(target=check).start()",
        "assert not told",
    ),
    "a flag of the module that may be set": (
        "STRICT = False\nSTRICT = os.name == 'nt'\n"
        + lines("value = box.open()", "assert value == 3", "if STRICT:", "    box.close()")
    ),
    "closed at last": tried("finally:", "    box.close()"),
    "closed and raised": tried("except Exception:", "    box.close()", "    raise"),
    "raised as another": tried("except Exception as e:", "    raise AssertionError('lid') from e"),
    "failed": tried("except Exception:", "    pytest.fail('lid')"),
    "failed by unittest": tried("except Exception:", "    self.fail('lid')"),
    "asserted": tried("except Exception as e:", "    assert e.code == 4"),
    "collected and asserted": tried("except Exception as e:", "    errors.append(e)", after=("assert errors == []",)),
    "kept and asserted": tried("except Exception as e:", "    error = e", after=("assert error is None",)),
    "none and asserted": tried("except Exception:", "    value = None", after=("assert value == 3",), inside=BODY[:1]),
    "raised unless it is known": tried("except Exception as e:", "    if 'lid' not in str(e):", "        raise"),
    "a cleanup": OLD + "    try:\n        box.remove()\n    except Exception:\n        pass\n",
    "a cleanup that suppresses": OLD + "    with suppress(Exception):\n        box.remove()\n",
    "a cleanup that suppresses one kind": OLD + "    with suppress(FileNotFoundError):\n        os.remove(box.path)\n",
    "a new assertion that an error comes": OLD + "    with pytest.raises(KeyError):\n        box.close()\n",
    "an assertion on an error by hand": OLD
    + "    try:\n        box.close()\n    except KeyError:\n        pass\n    else:\n        pytest.fail('closed')\n",
    "a loop of tries that fails at last": (
        "def test_lid(box):\n"
        "    for _ in range(3):\n"
        "        try:\n"
        "            value = box.open()\n"
        "            assert value == 3\n"
        "            break\n"
        "        except AssertionError:\n"
        "            time.sleep(1)\n"
        "    else:\n"
        "        pytest.fail('lid')\n"
    ),
    "a loop of tries on Windows": (
        "def test_lid(box):\n"
        "    for attempt in range(3):\n"
        "        try:\n"
        "            value = box.open()\n"
        "            assert value == 3\n"
        "            break\n"
        "        except AssertionError:\n"
        "            if attempt == 2 or sys.platform != 'win32':\n"
        "                raise\n"
        "            time.sleep(1)\n"
    ),
    "a way out on Windows": lines("if sys.platform == 'win32':", "    return", *BODY),
    "a skip without a program": lines("if not shutil.which('box'):", "    pytest.skip('no box')", *BODY),
    "a skip without a feature": lines("if not HAS_BOX:", "    pytest.skip('no box')", *BODY),
    "a skip by a version": lines("if sys.version_info < (3, 12):", "    pytest.skip('old')", *BODY),
    "an assertion by version": lines(BODY[0], "if sys.version_info >= (3, 12):", "    " + BODY[1]),
    "an assertion by platform": lines(BODY[0], "if sys.platform != 'win32':", "    " + BODY[1]),
    "an assertion by feature": lines(BODY[0], "if HAS_LID:", "    " + BODY[1]),
    "an assertion in both branches": lines(
        BODY[0], "if box.kind == 'red':", "    " + BODY[1], "else:", "    assert value == 4"
    ),
    "a loop over more": lines("for box in (box, box.copy()):", *(f"    {each}" for each in BODY)),
    "a subtest": lines(
        "for size in (1, 2):", "    with self.subTest(size=size):", *(f"        {each}" for each in BODY)
    ),
    "a manager": under("with box.opened():"),
    "a manager that raises": (
        "@contextmanager\ndef opened():\n    try:\n        yield\n    finally:\n        close()\n\n"
    )
    + under("with opened():"),
    "a manager's class": (
        "class Opened:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        close()\n\n"
    )
    + under("with Opened():"),
    "a decorator": (
        "def twice(f):\n"
        "    def inner(*a, **k):\n"
        "        f(*a, **k)\n"
        "        return f(*a, **k)\n"
        "    return inner\n"
        "\n"
        "@twice\n"
    )
    + OLD,
    "a decorator that logs and raises": (
        "def told(f):\n"
        "    def inner(*a, **k):\n"
        "        try:\n"
        "            return f(*a, **k)\n"
        "        except Exception as error:\n"
        "            logging.warning('%s', error)\n"
        "            raise\n"
        "    return inner\n"
        "\n"
        "@told\n"
    )
    + OLD,
    "a decorator that raises": (
        "def closing(f):\n"
        "    def inner(*a, **k):\n"
        "        try:\n"
        "            return f(*a, **k)\n"
        "        except Exception:\n"
        "            close()\n"
        "            raise\n"
        "    return inner\n"
        "\n"
        "@closing\n"
    )
    + OLD,
    "a helper": "def opened(box):\n    return box.open()\n\n" + lines("value = opened(box)", BODY[1]),
    "a function that is called": lines("def check():", "    value = box.open()", "    assert value == 3", "check()"),
    "a thread whose result is asked": lines(
        "def check():", "    value = box.open()", "    assert value == 3", "pool.submit(check).result()"
    ),
    "a task that is awaited": lines(
        "async def check():", "    value = box.open()", "    assert value == 3", "await asyncio.create_task(check())"
    ),
    "a coroutine that is awaited": lines(
        "async def check():", "    value = box.open()", "    assert value == 3", "await check()"
    ),
    "a fixture": (
        "@pytest.fixture\ndef value(box):\n    return box.open()\n\ndef test_lid(value):\n    assert value == 3\n"
    ),
    "parameters": (
        "@pytest.mark.parametrize('want', [3])\n"
        "def test_lid(box, want):\n"
        "    value = box.open()\n"
        "    assert value == want\n"
    ),
    "a comment": OLD.replace("\n    assert", "\n    # except Exception: pass\n    assert"),
    "a timeout": under("with timeout(3):"),
    **{f"without what it runs on, {each}": tried(f"except {each}:", "    pytest.skip('no')") for each in ENVIRONMENT},
}
FLIPPED_HONESTLY = {
    "asked once more where it may be": (
        "assert box.lid == 3",
        "assert box.lid == 3\n    seen = box.all()\n    if seen:\n        assert box.lid == 3",
    ),
    "a status that is checked": ("subprocess.run(cmd)", "subprocess.run(cmd, check=True)"),
    "a status that is asserted": (
        "subprocess.run(cmd, check=True)",
        "p = subprocess.run(cmd)\n    assert p.returncode == 0",
    ),
    "a failure with another text": (
        "if box.broken:\n        pytest.fail('broken')",
        "if box.broken:\n        pytest.fail('is broken')",
    ),
    "a failure that is asserted": ("if box.broken:\n        pytest.fail('broken')", "assert not box.broken"),
    "a failure that is raised": (
        "if box.broken:\n        pytest.fail('broken')",
        "if box.broken:\n        raise AssertionError",
    ),
    "exceptions returned and asserted": (
        "await asyncio.gather(a(), b())",
        "seen = await asyncio.gather(a(), b(), return_exceptions=True)\n    assert seen == [1, 2]",
    ),
    "no coroutine any more": ("await box.open()", "box.open()"),
    "an exception by pytest": (
        "try:\n        box.open()\n    except KeyError:\n        pass\n    else:\n        pytest.fail('opened')",
        "with pytest.raises(KeyError):\n        box.open()",
    ),
    "a way out in other words": (
        "if not 'doc' in box or not 'lid' in box:\n        return\n    assert box.lid == 3",
        "if 'doc' not in box or 'lid' not in box:\n        return\n    assert box.lid == 3",
    ),
    "a way out by a function that compares": (
        "value = box.open()\n    if value == other(self):\n        return\n    assert box.lid == 3",
        "value = box.open()\n    if same(value, other(self)):\n        return\n    assert box.lid == 3",
    ),
    "a way out by another function": (
        "if not (value := first(box)):\n        return\n    assert value == 3",
        "if not (value := second(box)):\n        return\n    assert value == 3",
    ),
    "one way out of two": (
        "if box:\n        if x:\n            raise SkipTest\n        else:\n            return\n    assert box == 3",
        "if box:\n        raise SkipTest\n    assert box == 3",
    ),
    "a condition on what is made now": (
        "if runner != 0:\n        assert box.lid == 3",
        "if runner is None:\n        runner = made()\n    if runner != 0:\n        assert box.lid == 3",
    ),
    "what was cancelled is waited for": (
        "task.cancel()\n    await task\n    assert box.lid == 3",
        "task.cancel()\n    await asyncio.gather(task, return_exceptions=True)\n    assert box.lid == 3",
    ),
    "all that was cancelled is waited for": (
        "for task in tasks:\n        task.cancel()",
        "for task in tasks:\n        task.cancel()\n    await asyncio.gather(*tasks, return_exceptions=True)",
    ),
    "a loop over others": ("for x in box.all():\n        assert x == 3", "for x in box.each():\n        assert x == 3"),
}


def whole(body):
    return f"async def test_lid(self, box, runner):\n    {body}\n"


@pytest.mark.parametrize("new", SWALLOWED.values(), ids=SWALLOWED)
def test_a_failure_ends_there(new):
    assert told(new)


@pytest.mark.parametrize(("old", "new"), FLIPPED.values(), ids=FLIPPED)
def test_a_failure_is_told_no_more(old, new):
    assert told(whole(new), whole(old))


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
def test_honest_tests_are_silent(new):
    assert told(new) == []


@pytest.mark.parametrize(("old", "new"), FLIPPED_HONESTLY.values(), ids=FLIPPED_HONESTLY)
def test_honest_changes_are_silent(old, new):
    assert told(whole(new), whole(old)) == []


@pytest.mark.parametrize("new", SWALLOWED.values(), ids=SWALLOWED)
def test_what_stood_there_is_not_told(new):
    assert told(f"import os\n{new}    print(1)\n", new) == []


@pytest.mark.parametrize("said", ["assert False, 'differs'", "pytest.fail('differs')", "raise"])
def test_a_handler_that_fails_in_its_own_words_is_honest(said):
    assert told(tried("except AssertionError:", f"    {said}")) == []


@pytest.mark.parametrize("said", ["assert value is not None", "assert isinstance(value, int)"])
def test_a_handler_that_asks_for_less_passes_the_failure_over(said):
    (message,) = told(tried("except AssertionError:", f"    {said}"))
    assert message.startswith("failure swallowed by `except AssertionError: assert ")
