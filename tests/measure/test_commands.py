"""Whether the command of a check is there is told before anything runs, as far as that can be told."""

import pytest

from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.checks import Check
from ralph_tracker.measure.commands import command_of, is_there, located, require_commands
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
    assert located("tool", root, {"PATH": f"/nowhere:{root}/bin"}) == str(root / "bin" / "tool")
    assert located("tool", root, environment) is None


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
