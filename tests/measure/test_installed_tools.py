"""Whether the command of a check is there is told before anything runs, as far as that can be told."""

import subprocess
import sys

import pytest

from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.installed_tools import (
    command_of,
    find_program,
    is_there,
    last_words,
    missing_modules,
    require_commands,
)
from ralph_tracker.measure.run_checks import Check
from tests.tables import table


@pytest.fixture
def root(tmp_path):
    """Return a project with a program in bin/ and a file that is none."""
    folder = tmp_path / "project"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "tool").write_text("#!/bin/sh\n")
    (folder / "bin" / "tool").chmod(0o755)
    (folder / "bin" / "text").write_text("")
    return folder


@pytest.fixture
def environment():
    return {"PATH": "/usr/bin:/bin"}


@table(
    ("run", "expected"),
    [
        (["ruff", "check"], "ruff"),
        ("ruff check .", "ruff"),
        (" ./run-tests.sh", "./run-tests.sh"),
        ("pytest", "pytest"),
        ("pytest || tox", None),
        ("cd src; make", None),
        ("A=1 make", None),
        ("$TOOL check", None),
        ("(make)", None),
        ("make\npytest", None),
        ("'a tool' x", None),
    ],
)
def test_the_program_of_a_line_for_the_shell_is_known_where_it_is_one_plain_command(run, expected):
    assert command_of(Check("c", run)) == expected


@pytest.mark.parametrize(
    ("run", "options", "expected"),
    [
        (["sh"], {}, True),
        (["/bin/sh"], {}, True),
        (["no-such-tool"], {}, False),
        (["bin/tool"], {}, True),
        (["./tool"], {"cwd": "bin"}, True),
        (["./tool"], {}, False),
        (["bin/text"], {}, False),
        (["bin"], {}, False),
        (["tool"], {"env": {"PATH": "bin"}}, True),
        (["tool"], {"env": {"PATH": "{reports}/bin"}}, True),
        (["{reports}/tool"], {}, True),
        ("no-such-tool -q", {}, False),
        ("bin/tool -q", {}, True),
        ("bin/text -q", {}, False),
        ("test -e x", {}, True),
        ("no-such-tool || true", {}, True),
    ],
    ids=str,
)
def test_a_program_is_looked_up_as_the_check_will(root, environment, run, options, expected):
    assert is_there(Check("c", run, **options), root, environment) is expected


def test_where_it_was_found_is_told(root, environment):
    assert find_program("tool", root, {"PATH": f"/nowhere:{root}/bin"}) == str(root / "bin" / "tool")
    assert find_program("tool", root, environment) is None


def test_a_program_that_is_absent_is_refused_in_one_line_with_check_command_and_next_step(root, environment):
    checks = [Check("build", ["sh"]), Check("tests", ["no-such-tool", "-q"])]
    with pytest.raises(ConfigError) as refused:
        require_commands(checks, root, environment)
    assert str(refused.value) == (
        "checks.tests: command not found: no-such-tool; install it, fix checks.tests.run "
        "(`ralph-tracker doctor` shows what is found), or use --allow-missing"
    )


def test_a_path_in_the_tree_may_be_made_by_an_earlier_check(root, environment):
    built = Check("tests", ["build/tests"])
    require_commands([Check("build", ["make"], env={"PATH": "{reports}"}), built], root, environment)
    with pytest.raises(ConfigError, match=r"checks\.tests: command not found: build/tests"):
        require_commands([built], root, environment)


@pytest.mark.parametrize(
    ("name", "run", "said"),
    [
        ("lint", [sys.executable, "-m", "no_linter", "check"], "no_linter"),
        ("lint", f"{sys.executable} -m no_linter check -m", "no_linter"),
        ("tests", [sys.executable, "-m", "coverage", "run", "-m", "no_runner", "-m", "slow"], "no_runner"),
        ("tests", [sys.executable, "-m", "bin"], "bin"),  # a folder without __main__.py
        ("tests", [sys.executable, "-m", "pytest", "-m", "no_marker"], None),
        ("tests", [sys.executable, "-m", "here.run"], None),
        ("tests", [sys.executable, "-m", "unittest"], None),
        ("tests", f"{sys.executable} -m no_linter || true", None),
        ("tests", ["./python", "-m", "no_linter"], None),  # it does not run, which its own check says
        ("tests", ["bin/tool", "-m", "no_linter"], None),
    ],
    ids=str,
)
def test_a_module_that_the_interpreter_lacks_is_refused_before_anything_runs(root, environment, name, run, said):
    (root / "here").mkdir()
    (root / "here/run.py").touch()
    found = missing_modules([Check(name, run, env={"X": "{reports}"})], root, environment)
    assert {check: each.module for check, each in found.items()} == ({name: said} if said else {})
    if said:
        with pytest.raises(ConfigError, match=rf"^checks\.{name}: \S+ has no module {said}; install it, fix checks"):
            require_commands([Check(name, run)], root, environment)
        assert missing_modules([Check("setup", ["make"]), Check(name, run)], root, environment) == {}


@pytest.mark.parametrize(
    ("call", "step"),
    [
        (("uv", "run", "python"), "uv add --dev ruff"),
        (("poetry", "run", "python"), "poetry add --group dev ruff"),
        (("hatch", "run", "tests:python"), "add ruff to the dependencies of its environment in pyproject.toml"),
        ((".venv/bin/python",), ".venv/bin/python -m pip install ruff"),
    ],
)
def test_a_missing_module_comes_with_what_installs_it(tmp_path, call, step):
    program = tmp_path / call[0]
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\necho lacks ruff\n")
    program.chmod(0o755)
    found = missing_modules([Check("lint", [*call, "-m", "ruff"])], tmp_path, {"PATH": f"{tmp_path}:/bin"})
    assert found["lint"].added_by == step


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
        (
            "",
            "a.js:1\nthrow {code: 7};\n^\n{ code: 7 }\n\nNode.js v20.20.2\n",
            "it said: { code: 7 }",
        ),
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
@pytest.mark.slow
def test_pytest_that_cannot_start_tells_what_it_lacks(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "."]
        assert subprocess.run(command, cwd=tmp_path, stdout=out, stderr=err, check=False).returncode
    assert (last_words(tmp_path / "out", tmp_path / "err") or "").startswith(expected)
