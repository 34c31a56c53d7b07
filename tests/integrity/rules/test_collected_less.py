"""T3: hooks that keep some of what was collected, options in the environment, settings that are overridden."""

import pytest

from tests.integrity.making import examined

CONFTEST = "tests/conftest.py"
MODIFY = "def pytest_collection_modifyitems(config, items):\n"
MAKE = "def pytest_pycollect_makeitem(collector, name, obj):\n"
LEFT_OUT = {
    "two lists": (
        f"{MODIFY}    kept, rest = [], []\n    for item in items:\n        if item.name in BROKEN:\n"
        "            rest.append(item)\n        else:\n            kept.append(item)\n    items[:] = kept\n"
    ),
    "a list with continue": (
        f"{MODIFY}    kept = []\n    for item in items:\n        if 'lid' in item.name:\n            continue\n"
        "        kept.append(item)\n    items[:] = kept\n"
    ),
    "a filtered list by a name": f"{MODIFY}    kept = [i for i in items if i.name != 'x']\n    items[:] = kept\n",
    "deselected": f"{MODIFY}    config.hook.pytest_deselected(items=items[:1])\n",
    "the items of the session": (
        "def pytest_collection_finish(session):\n    session.items = [i for i in session.items if i.name != 'x']\n"
    ),
    "a test by its name though an option is asked": (
        f"{MODIFY}    if config.getoption('--all'):\n        return\n"
        "    items[:] = [i for i in items if i.name != 'test_lid']\n"
    ),
    "a test by a constant though the environment is asked": (
        f"import os\nBROKEN = ('tests/test_box.py::test_lid',)\n{MODIFY}    if os.environ.get('ALL'):\n        return\n"
        "    items[:] = [i for i in items if i.nodeid not in BROKEN]\n"
    ),
    "no item": f"{MAKE}    if name == 'test_lid':\n        return []\n",
    "no item by choice": f"{MAKE}    return [] if name in BROKEN else None\n",
    "no item, forced": (
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_pycollect_makeitem(collector, name, obj):\n"
        "    outcome = yield\n    if name == 'test_lid':\n        outcome.force_result([])\n"
    ),
    "no file, forced": (
        "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_collect_file(file_path, parent):\n"
        "    outcome = yield\n    if file_path.name == 'test_lid.py':\n        outcome.force_result(None)\n"
    ),
    "no test any more": f"{MAKE}    if name == 'test_lid':\n        obj.__test__ = False\n",
    "a collector of nothing": (
        "def pytest_collectstart(collector):\n    if collector.name == 'test_lid.py':\n"
        "        collector.collect = lambda: []\n"
    ),
    "no parameters": (
        "def pytest_generate_tests(metafunc):\n    if metafunc.function.__name__ == 'test_lid':\n"
        "        metafunc.parametrize('unused', [])\n"
    ),
    "a stop": (
        "def pytest_runtest_setup(item):\n    if item.name == 'test_lid':\n        item.session.shouldstop = 'x'\n"
    ),
    "an item taken out": "def pytest_itemcollected(item):\n    item.session.items.remove(item)\n",
    "settings set": "def pytest_configure(config):\n    config._inicache['python_files'] = ['smoke_*.py']\n",
}
HONEST = {
    "another order": (
        f"{MODIFY}    first, last = [], []\n    for item in items:\n        if 'slow' in item.keywords:\n"
        "            last.append(item)\n        else:\n            first.append(item)\n    items[:] = first + last\n"
    ),
    "sorted": f"{MODIFY}    ordered = sorted(items, key=rank)\n    items[:] = ordered\n",
    "slow ones by an option": (
        f"{MODIFY}    if config.getoption('--slow'):\n        return\n"
        "    items[:] = [i for i in items if 'slow' not in i.keywords]\n"
    ),
    "a folder by an option": (
        f"{MODIFY}    if config.getoption('--all'):\n        return\n"
        "    items[:] = [i for i in items if 'tests/integration' not in i.nodeid]\n"
    ),
    "an item of one's own": (
        f"{MAKE}    if name.startswith('check'):\n        return Check.from_parent(collector, name=name)\n"
    ),
    "a file of one's own": (
        "def pytest_collect_file(file_path, parent):\n    if file_path.suffix == '.yaml':\n"
        "        return Case.from_parent(parent, path=file_path)\n    return None\n"
    ),
    "parameters": "def pytest_generate_tests(metafunc):\n    metafunc.parametrize('box', boxes())\n",
    "one item made several": (
        "def pytest_collection_finish(session):\n    for i, item in reversed(list(enumerate(session.items))):\n"
        "        if item.twice:\n            made = []\n            for kind in kinds():\n"
        "                made.append(twin(item, kind))\n            session.items[i : i + 1] = made\n"
    ),
    "names counted": (
        f"{MODIFY}    names = []\n    for item in items:\n        if item.cls:\n            names.append(item.name)\n"
    ),
}


def of(path, new, old=""):
    return [each for each in examined({path: (old, new)}).findings if each.rule == "T3"]


@pytest.mark.parametrize("text", LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_hook_that_keeps_less_is_told(text):
    assert of(CONFTEST, text)
    assert of(CONFTEST, f"{text}x = 1\n", text) == []


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_its_honest_twin_is_silent(text):
    assert of(CONFTEST, text) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("-o python_files=smoke_*.py", True),
        ("--override-ini=python_functions=check_*", True),
        ("-p no:python", True),
        ("-p no:unittest", True),
        ("tests/test_box.py", True),
        ("tests/test_box.py::test_lid", True),
        ("--sw", True),
        ("--stepwise-skip", True),
        ("--fixtures", True),
        ("--picked", True),
        ("-o log_cli=true", False),
        ("-p no:cacheprovider", False),
        ("--import-mode=importlib", False),
        ("--doctest-modules src tests", False),
        ("--ff", False),
        ("-c tests/test_box.py", False),
    ],
)
def test_options_that_leave_tests_out_are_told(options, told):
    assert bool(of("pytest.ini", f"[pytest]\naddopts = -ra {options}\n", "[pytest]\naddopts = -ra\n")) is told


STEP = "on: push\njobs:\n  test:\n    runs-on: ubuntu\n{}    steps:\n      - run: pytest\n"
NOX = "import nox\n\n\n@nox.session\ndef tests(session):\n    session.run('pytest'{})\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("Makefile", "test:\n\tpytest\n", "test:\n\tPYTEST_ADDOPTS='-k \"not lid\"' pytest\n", True),
        ("Makefile", "test:\n\tpytest\n", "export PYTEST_ADDOPTS = --ignore=tests/test_a.py\ntest:\n\tpytest\n", True),
        ("Makefile", "test:\n\tpytest\n", "export PYTEST_ADDOPTS = --color=yes\ntest:\n\tpytest\n", False),
        (
            "tox.ini",
            "[testenv]\ncommands = pytest\n",
            "[testenv]\nsetenv =\n    PYTEST_ADDOPTS = --deselect tests/test_a.py::test_b\ncommands = pytest\n",
            True,
        ),
        (
            ".github/workflows/test.yml",
            STEP.format(""),
            STEP.format("    env:\n      PYTEST_ADDOPTS: -k 'not lid'\n"),
            True,
        ),
        (
            ".github/workflows/test.yml",
            STEP.format(""),
            STEP.format("    env:\n      PYTEST_ADDOPTS: --color=yes\n"),
            False,
        ),
        ("noxfile.py", NOX.format(""), NOX.format(", env={'PYTEST_ADDOPTS': '-k not_lid'}"), True),
        ("noxfile.py", NOX.format(""), NOX.format(", env={'PYTEST_ADDOPTS': '-v'}"), False),
        (".env", "DEBUG=0\n", 'DEBUG=0\nPYTEST_ADDOPTS="-k not_lid"\n', True),
    ],
)
def test_options_put_into_the_environment_are_told(path, old, new, told):
    assert bool(of(path, new, old)) is told
