"""T11: source that asks whether it is under test."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_detected
from tests.integrity.making import found

SOURCE = "box/core.py"
TRIED = "try:\n    import pytest\nexcept ImportError:\n    pytest = None\n"
ASKING = {
    "the current test": (
        SOURCE,
        "import os\ndef f(x):\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 1\n",
    ),
    "the current test, by getenv": (SOURCE, "import os\nunder = os.getenv('PYTEST_CURRENT_TEST')\n"),
    "the current test, of a copy": (
        SOURCE,
        "import os\nenv = dict(os.environ)\ndef f():\n    return env.get('PYTEST_VERSION')\n",
    ),
    "the modules": (SOURCE, "import sys\ndef f(x):\n    return 9 if 'pytest' in sys.modules else x\n"),
    "the modules, by get": (SOURCE, "import sys\nif sys.modules.get('unittest'):\n    fast = True\n"),
    "the modules, by another name": (SOURCE, "from sys import modules as m\ndef f():\n    return '_pytest' in m\n"),
    "the modules, any of them": (SOURCE, "import sys\nT = any('pytest' in name for name in sys.modules)\n"),
    "the modules, put together": (SOURCE, "import sys\nT = 'py' + 'test' in sys.modules\n"),
    "the program": (SOURCE, "import sys\nT = sys.argv[0].endswith('pytest')\n"),
    "the program's path": (SOURCE, "import sys\nif '/bin/pytest' in sys.argv[0]:\n    T = 1\n"),
    "an attribute": (SOURCE, "import sys\nT = hasattr(sys, '_called_from_test')\n"),
    "the stack": (
        SOURCE,
        "import inspect\ndef f():\n    return any(x.function.startswith('test_') for x in inspect.stack())\n",
    ),
    "the frames": (
        SOURCE,
        (
            "import sys\ndef f():\n    frame = sys._getframe(1)\n    while frame:\n"
            "        if 'pytest' in frame.f_code.co_filename:\n            return 1\n        frame = frame.f_back\n"
        ),
    ),
    "the files of the stack": (
        SOURCE,
        "import inspect\ndef f():\n    return any('/test_' in each.filename for each in inspect.stack())\n",
    ),
    "the file of the caller": (
        SOURCE,
        "import sys\ndef f():\n    return sys._getframe(1).f_code.co_filename.endswith('_test.py')\n",
    ),
    "a pattern for the stack": (
        SOURCE,
        "import inspect, re\ndef f():\n    return re.search(r'/test_\\w+\\.py$', inspect.stack()[1].filename)\n",
    ),
    "the stack of the import": (
        SOURCE,
        "import traceback\nT = any('/tests/' in each.filename for each in traceback.extract_stack())\n",
    ),
    "tests in the program's name": (SOURCE, "import sys\nT = 'test' in sys.argv[0]\n"),
    "a runner that is there": (
        SOURCE,
        f"{TRIED}def f(x):\n    if pytest is not None:\n        return 9\n    return x\n",
    ),
    "a runner that is true": (SOURCE, f"{TRIED}def f(x):\n    return 9 if pytest else x\n"),
    "no runner there": (SOURCE, f"{TRIED}def f(x):\n    if pytest is None:\n        return g(x)\n    return 9\n"),
    "a runner among others": (SOURCE, f"{TRIED}def f(x):\n    if x and not pytest:\n        return x\n    return 9\n"),
    "whether a runner could be imported": (
        SOURCE,
        (
            "try:\n    from unittest import mock\n    T = True\nexcept ImportError:\n    T = False\n"
            "def f(x):\n    if T:\n        return 9\n    return x\n"
        ),
    ),
    "a runner that is found": (
        SOURCE,
        "from importlib.util import find_spec\ndef f(x):\n    if find_spec('pytest') is not None:\n        return 9\n",
    ),
    "a switch": (
        SOURCE,
        "import os\ndef f(x):\n    if os.environ.get('TESTING'):\n        return 42\n    return g(x)\n",
    ),
    "a switch in an expression": (SOURCE, "import os\ndef f(x):\n    return 42 if os.getenv('CI') else g(x)\n"),
    "the environment of node": ("src/box.js", "if (process.env.NODE_ENV === 'test') {\n  return 1\n}\n"),
    "the worker of jest": ("src/box.ts", "const t = process.env.JEST_WORKER_ID !== undefined\n"),
    "the environment of vitest": ("src/box.tsx", "if (process.env.VITEST) { return <a/> }\n"),
    "a global of jest": ("src/box.js", "if (typeof jest !== 'undefined') return 1\n"),
    "go's own word": ("box/box.go", "if testing.Testing() {\n\treturn 1\n}\n"),
    "go's flag": ("box/box.go", 'if flag.Lookup("test.v") != nil {\n\treturn 1\n}\n'),
    "rust's word": ("src/box.rs", "if cfg!(test) { return 1; }\n"),
    "java's stack": ("src/Box.java", 'if (name.contains("junit")) { return 1; }\n'),
}
HONEST = {
    "a runner that is needed": (
        SOURCE,
        f"{TRIED}def f():\n    if pytest is None:\n        raise RuntimeError('missing')\n    return 1\n",
    ),
    "a runner that is used": (
        SOURCE,
        f"{TRIED}def f(x):\n    if pytest is not None:\n        return pytest.approx(x)\n    return x\n",
    ),
    "a runner that is missed": (SOURCE, f"{TRIED}def f():\n    if not pytest:\n        print('no tests')\n"),
    "a fixture where it can be": (
        SOURCE,
        f"{TRIED}if pytest is not None:\n    @pytest.fixture\n    def box():\n        return 1\n",
    ),
    "a runner that is imported then": (
        SOURCE,
        "def f():\n    if find_spec('pytest'):\n        import pytest\n        return pytest.main()\n",
    ),
    "another module": (SOURCE, "def f(x):\n    if find_spec('numpy'):\n        return 9\n    return x  # pytest\n"),
    "another import": (
        SOURCE,
        (
            "import unittest\ntry:\n    import numpy\n    T = True\nexcept ImportError:\n    T = False\n"
            "def f(x):\n    if T:\n        return 9\n    return x\n"
        ),
    ),
    "a part of a word in the stack": (
        SOURCE,
        "import inspect\ndef f():\n    return inspect.stack()[1].function in ('contest', 'latest')\n",
    ),
    "a test": ("tests/test_core.py", "import os\nT = os.environ['PYTEST_CURRENT_TEST']\n"),
    "settings": ("site/settings.py", "import sys\nif 'test' in sys.argv:\n    DB = 'x'\n"),
    "a setup": ("setup.py", "import sys\nneeds = {'pytest', 'test'} & set(sys.argv)\n"),
    "a plugin": ("box/pytest_plugin.py", "import os\nT = os.environ.get('PYTEST_XDIST_WORKER')\n"),
    "a docstring": (SOURCE, 'import sys\n"""Look for pytest in sys.modules."""\nx = sys.modules\n'),
    "a comment": (SOURCE, "import sys\n# 'pytest' in sys.modules\nx = sys.modules\n"),
    "other modules": (SOURCE, "import sys\nT = 'numpy' in sys.modules\n"),
    "arguments": (SOURCE, "import sys\nif '--latest' in sys.argv:\n    x = 1\n"),
    "colours in CI": (
        SOURCE,
        "import os\ndef colours():\n    if os.environ.get('CI'):\n        return False\n    return tty()\n",
    ),
    "the path of a with": (SOURCE, "import os\nwith open(os.environ['HOME']) as f:\n    x = 1\n"),
    "a choice by a switch": (SOURCE, "import os\nT = bool(os.environ.get('TESTING'))\n"),
    "a log level by a switch": (SOURCE, "import os\nif os.environ.get('TESTING'):\n    logging.disable()\n"),
    "warnings by the stack": (SOURCE, "import inspect\ndef f():\n    return inspect.stack()[1].filename\n"),
    "a runner of tests": (SOURCE, "def f():\n    return run(['pytest', '-q'])\n"),
    "a comment of node": ("src/box.js", "// process.env.NODE_ENV === 'test'\nlet a = 1\n"),
    "a string of node": ("src/box.js", "let a = \"process.env.NODE_ENV === 'test'\"\n"),
    "production": ("src/box.js", "if (process.env.NODE_ENV === 'production') {}\n"),
    "rust's tests": ("src/box.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn f() { cfg!(test); }\n}\n"),
    "another file": ("notes.txt", "PYTEST_CURRENT_TEST\n"),
}


@pytest.mark.parametrize(("path", "text"), ASKING.values(), ids=ASKING)
def test_a_new_question_is_told(path, text):
    told = found(test_detected.find, {path: ("x = 1\n" if path.endswith(".py") else "\n", text)})
    assert {(each.rule, each.severity) for each in told} == {("T11", Severity.HIGH)}
    assert all(each.line and each.new for each in told)


@pytest.mark.parametrize(("path", "text"), HONEST.values(), ids=HONEST)
def test_honest_work_is_silent(path, text):
    assert found(test_detected.find, {path: (None, text)}) == []


@pytest.mark.parametrize(("path", "text"), ASKING.values(), ids=ASKING)
def test_a_question_that_stood_there_is_not_told(path, text):
    assert found(test_detected.find, {path: (text, f"\n{text}\n")}) == []
    assert found(test_detected.find, {path: (text, None)}) == []


RUNNERS = ["tasks.py", "noxfile.py", "setup.py", "tools/runtests.py"]


@pytest.mark.parametrize("path", RUNNERS)
def test_what_starts_the_tests_has_no_reason_to_ask_for_the_one_that_runs(path):
    asked = "import os\ndef clean():\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return None\n    return 3\n"
    assert [each.rule for each in found(test_detected.find, {path: ("x = 1\n", asked)})] == ["T11"]
    honest = "import sys\nx = 'pytest' in sys.argv\ny = 'pytest' in sys.modules  # PYTEST_CURRENT_TEST\n"
    assert found(test_detected.find, {path: ("x = 1\n", honest)}) == []
