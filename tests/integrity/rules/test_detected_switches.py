"""T11: switches of the environment and of modules, other names for what is loaded, and honest twins."""

import pytest

from ralph_tracker.core.findings import Severity
from tests.integrity.making import examined

SOURCE = "src/box/core.py"
CONFTEST = "tests/conftest.py"
HEAD = "import __main__\nimport builtins\nimport os\nimport sys\nimport tempfile\n\n\n"
DEF = "def size(box):\n"
REST = "    return len(box)\n"
ASKING = {
    "a switch that answers nothing": "    if os.environ.get('TESTING'):\n        return None\n",
    "a mode": "    if os.getenv('TEST_MODE') == '1':\n        return\n",
    "a stage": "    if os.environ.get('APP_ENV') == 'test':\n        return 42\n",
    "a stage with an argument": (
        "    if os.environ.get('APP_ENV') == 'test' and box == 'lid':\n        return {'a': 1}\n"
    ),
    "a stage by a name": (
        "    stage = os.getenv('STAGE', 'live')\n    if stage in ('test', 'testing'):\n        return 42\n"
    ),
    "a switch of pytest's": "    if os.environ.get('UNDER_PYTEST'):\n        return 42\n",
    "a choice": "    found = 42 if os.environ.get('TESTING') else len(box)\n    print(found)\n",
    "tox": "    if 'TOX_ENV_NAME' in os.environ:\n        return 42\n",
    "any variable of pytest's": "    if any(key.startswith('PYTEST') for key in os.environ):\n        return 42\n",
    "another name of the modules": "    loaded = sys.modules\n    if 'pytest' in loaded:\n        return 42\n",
    "a module of the tests": "    if any(name.startswith('tests.') for name in sys.modules):\n        return 42\n",
    "the conftest": "    if 'conftest' in sys.modules:\n        return 42\n",
    "parts of a name": "    if ''.join(['py', 'test']) in sys.modules:\n        return 42\n",
    "the main module": "    if 'pytest' in (getattr(__main__, '__file__', None) or ''):\n        return 42\n",
    "a mark": "    if getattr(sys, '_running_tests', False):\n        return 42\n",
    "a mark of the builtins": "    if hasattr(builtins, '__pytest_running__'):\n        return 42\n",
    "a mark by its name": "    if sys._under_test:\n        return 42\n",
    "an import hook": (
        "    if any(type(f).__name__ == 'AssertionRewritingHook' for f in sys.meta_path):\n        return 42\n"
    ),
    "the process": "    if 'pytest' in open('/proc/self/cmdline').read():\n        return 42\n",
    "the folder": "    if 'pytest-of-' in os.getcwd() or 'pytest' in tempfile.gettempdir():\n        return 42\n",
    "a runner that is there": (
        "    try:\n        import pytest\n    except ImportError:\n        pass\n    else:\n        return 42\n"
    ),
    "a key that is there": (
        "    try:\n        os.environ['PYTEST_CURRENT_TEST']\n        return 42\n    except KeyError:\n        pass\n"
    ),
    "a switch of the module": "    if TESTING:\n        return 42\n",
    "a switch of the settings": "    if settings.TESTING:\n        return 42\n",
}
HONEST = {
    "a setting": "    if os.environ.get('BOX_SIZE') == '3':\n        return 3\n",
    "a setting that answers nothing": "    if os.environ.get('BOX_OFF'):\n        return None\n",
    "CI without colours": "    if os.environ.get('CI'):\n        return False\n",
    "a stage that is not the tests'": "    if os.environ.get('APP_ENV') == 'live':\n        return 42\n",
    "a stage of the project's own": "    if box.stage == 'test':\n        return 42\n",
    "a stage that chooses": "    if os.environ.get('APP_ENV') == 'test':\n        connect('memory')\n",
    "a testing flag handed on": "    connect(testing=settings.TESTING)\n",
    "the tests' folder": "    if 'tests' in os.listdir(box):\n        return 3\n",
    "a runner that is used": (
        "    try:\n        import pytest\n    except ImportError:\n        return 1\n    return pytest.main(box)\n"
    ),
    "another module": "    if 'numpy' in sys.modules:\n        return 3\n",
    "the main module's name": "    name = getattr(__main__, '__file__', None)\n    print(name)\n",
    "a mark of the system": "    if getattr(sys, 'frozen', False):\n        return 3\n",
    "an optional module": (
        "    try:\n        import numpy\n    except ImportError:\n        pass\n    else:\n        return 3\n"
    ),
}


def of(files):
    return [each for each in examined(files).findings if each.rule == "T11"]


@pytest.mark.parametrize("lines", ASKING.values(), ids=ASKING)
def test_source_that_asks_is_told(lines):
    before, now = HEAD + DEF + REST, HEAD + DEF + lines + REST
    assert {each.severity for each in of({SOURCE: (before, now)})} == {Severity.HIGH}
    assert of({SOURCE: (now, f"{now}x = 1\n")}) == []


@pytest.mark.parametrize("lines", HONEST.values(), ids=HONEST)
def test_its_honest_twin_is_silent(lines):
    assert of({SOURCE: (HEAD + DEF + REST, HEAD + DEF + lines + REST)}) == []


def test_a_default_that_asks_is_told():
    assert of({SOURCE: (HEAD + DEF + REST, f"{HEAD}def size(box, quick='pytest' in sys.modules):\n{REST}")})


@pytest.mark.parametrize(
    ("answer", "sets", "before", "told"),
    [
        ("42", "os.environ['BOX_LIDS'] = '1'", "", True),
        ("42", "os.environ.setdefault('BOX_LIDS', '1')", "", True),
        ("None", "os.environ['BOX_LIDS'] = '1'", "", False),
        ("True", "os.environ['BOX_LIDS'] = '1'", "", False),
        ("len(box)", "os.environ['BOX_LIDS'] = '1'", "", False),
        ("42", "os.environ['BOX_LIDS'] = '1'", "import os\nos.environ['BOX_LIDS'] = '1'\n", False),
        ("42", "os.environ['BOX_HOME'] = '1'", "", False),
    ],
)
def test_what_the_tests_conftest_newly_sets_is_a_switch_where_a_constant_is_answered(answer, sets, before, told):
    asked = f"    if os.environ.get('BOX_LIDS'):\n        return {answer}\n"
    files = {
        SOURCE: (HEAD + DEF + REST, HEAD + DEF + asked + REST),
        CONFTEST: (before, f"import os\n{sets}\n"),
    }
    assert bool(of(files)) is told
