"""What a hook asks a run of pytest to leave out before anything is collected."""

import ast

import pytest

from ralph_tracker.integrity.python.collecting import dropped_from_collection

BEGIN = "def pytest_configure(config):\n    {}\n"
LOAD = "def pytest_load_initial_conftests(early_config, parser, args):\n    {}\n"
COLLECT = "def pytest_collection_modifyitems(items):\n    {}\n"
LEAVING_OUT = {
    "a keyword": BEGIN.format("config.option.keyword = 'not lid'"),
    "a keyword more": BEGIN.format("config.option.keyword = f'({config.option.keyword}) and not lid'"),
    "a mark": BEGIN.format("config.option.markexpr = 'not slow'"),
    "a test": BEGIN.format("config.option.deselect = ['tests/test_lid.py::test_a']"),
    "a file": BEGIN.format("config.option.ignore = ['tests/test_lid.py']"),
    "a file more": BEGIN.format("config.option.ignore.append('tests/test_lid.py')"),
    "all": BEGIN.format("config.option.collectonly = True"),
    "by setattr": BEGIN.format("setattr(config.option, 'keyword', 'not lid')"),
    "all but one file": BEGIN.format("config.args[:] = ['tests/test_box.py']"),
    "all but one test": BEGIN.format("config.args = ['tests/test_box.py::test_a']"),
    "a folder": BEGIN.format("config.addinivalue_line('norecursedirs', 'slow')"),
    "by options of the settings": BEGIN.format("config.addinivalue_line('addopts', '--deselect a.py::b')"),
    "under another condition": BEGIN.format("if config:\n        config.option.keyword = 'not lid'"),
    "by arguments": LOAD.format("args += ['-k', 'not lid']"),
    "by arguments before others": LOAD.format("args[:] = ['-k', 'not lid', *args]"),
    "by one argument more": LOAD.format("args.extend(['--deselect', 'a.py::b'])"),
    "by the environment": "import os\nos.environ['PYTEST_ADDOPTS'] = '--deselect a.py::b'\n",
    "by the environment as it is": "import os\nos.environ.setdefault('PYTEST_ADDOPTS', '-k lid')\n",
    "items that a function picks": COLLECT.format("items[:] = list(filter(is_quick, items))"),
    "some items in order": COLLECT.format("items[:] = sorted(each for each in items if each.quick)"),
}
HONEST = {
    "a marker": BEGIN.format("config.addinivalue_line('markers', 'slow: takes long')"),
    "a filter of warnings": BEGIN.format("config.addinivalue_line('filterwarnings', 'error')"),
    "another option": BEGIN.format("config.option.verbose = 2"),
    "no keyword": BEGIN.format("config.option.keyword = ''"),
    "nothing ignored": BEGIN.format("config.option.ignore = []"),
    "where nobody asked": BEGIN.format("if not config.getoption('-m'):\n        config.option.markexpr = 'not slow'"),
    "on a platform": BEGIN.format("if sys.platform == 'win32':\n        config.option.ignore.append('posix')"),
    "a name like an option": BEGIN.format("ignore = ['lid']"),
    "a folder of tests": BEGIN.format("config.args.append('tests')"),
    "other options of the settings": BEGIN.format("config.addinivalue_line('addopts', '-ra')"),
    "other arguments": LOAD.format("args.extend(['-n', '4'])"),
    "another environment": "import os\nos.environ['PYTEST_ADDOPTS'] = '-q'\n",
    "no hook": "def configure(config):\n    config.option.keyword = 'not lid'\n",
    "items in order": COLLECT.format("items[:] = sorted(items)"),
    "items in the other order": COLLECT.format("items[:] = items[::-1]"),
}


@pytest.mark.parametrize("text", LEAVING_OUT.values(), ids=LEAVING_OUT)
def test_what_is_left_out_is_told(text):
    (dropped,) = dropped_from_collection(text)
    assert dropped.about in ast.unparse(ast.parse(text))


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_hooks_are_silent(text):
    assert dropped_from_collection(text) == ()
