"""Why a command left no report, in one line that says what to do."""

import subprocess
import sys

import pytest

from ralph_tracker.measure.failure_reason import last_words

WHERE = "into the project's environment"


@pytest.mark.parametrize(
    ("stdout", "stderr", "expected"),
    [
        (
            "",
            "x: error: unrecognized arguments: --cov=app",
            f"unknown option --cov=app; pip install pytest-cov {WHERE}",
        ),
        (
            "",
            "error: unrecognized arguments: -n auto --cov-report=html --cov\n  inifile: x\n",
            f"unknown option -n --cov-report=html --cov; pip install pytest-xdist pytest-cov {WHERE}",
        ),
        (
            "",
            "error: unrecognized arguments: --own-thing",
            f"unknown option --own-thing; install the plugin that knows it {WHERE}",
        ),
        (
            "",
            "E   ModuleNotFoundError: No module named 'a.b'\n",
            f"module a is missing; install it {WHERE}",
        ),
        ("ERROR: Missing required plugins: pytest-x, pytest-y>2\n", "", f"pip install pytest-x pytest-y>2 {WHERE}"),
        ("first\nlast \x1b[31mred\x1b[0m\n\n", "", "it said: last red"),
        ("out\n", "err\n", "it said: err"),
        (
            "",
            "npm error code ETARGET\nnpm error notarget No version found for a@9.\nnpm error A complete log: /l\n",
            "it said: notarget No version found for a@9.",
        ),
        ("out\n", " \n", "it said: out"),
        ("", "bell\x07 and \u202eback", "it said: bell  and  back"),
        ("", "x" * 500, "it said: " + "x" * 159 + "…"),
        ("", "", None),
        (None, None, None),
    ],
)
def test_the_last_words_of_a_command(tmp_path, stdout, stderr, expected):
    for name, text in (("out", stdout), ("err", stderr)):
        if text is not None:
            (tmp_path / name).write_text(text)
    assert last_words(tmp_path / "out", tmp_path / "err") == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"pytest.ini": "[pytest]\naddopts = --no-such-thing=1\n"},
            "unknown option --no-such-thing=1; install the plugin",
        ),
        ({"pytest.ini": "[pytest]\nrequired_plugins = pytest-none\n"}, f"pip install pytest-none {WHERE}"),
        ({"conftest.py": "import no_such_module\n"}, "module no_such_module is missing; install"),
        ({"conftest.py": "def pytest_no_such(\n"}, "it said: "),
    ],
    ids=["option", "plugin", "module", "syntax"],
)
def test_pytest_that_cannot_start_tells_what_it_lacks(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "."]
        assert subprocess.run(command, cwd=tmp_path, stdout=out, stderr=err, check=False).returncode
    assert (last_words(tmp_path / "out", tmp_path / "err") or "").startswith(expected)
