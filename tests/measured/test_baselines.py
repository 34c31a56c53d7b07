"""A baseline that measured nothing is refused in one line; one that meets the target already says so."""

import pytest

from ralph_tracker import pre_loop
from ralph_tracker.cli.app import run
from ralph_tracker.errors import ConfigError

SILENT = {"run": "true", "reports": ["{reports}/junit.xml"]}
LINT = {"run": "echo '[]'", "reports": ["-"], "format": "ruff-json"}


def broken(*lines):
    """Return a check of the tests whose command prints these lines and leaves no report."""
    printed = " ".join(f"'{line}'" for line in lines)
    return {"run": f"printf '%s\\n' {printed}; exit 1", "reports": ["{reports}/junit.xml"]}


def test_tests_that_were_not_measured_are_refused_with_the_first_error_of_the_tool(workshop):
    check = broken("go: downloading x v1", "main.go:3:2: undefined: mean", "FAIL example [build failed]")
    shop = workshop.configure({"tests": check, "lint": LINT})
    with pytest.raises(ConfigError) as refused:
        shop.start()
    (line,) = str(refused.value).splitlines()
    assert line.startswith("Tests could not be measured for the baseline: check `tests` ")
    assert "it said: main.go:3:2: undefined: mean" in line
    assert line.endswith("; fix that, or start without it with --allow-missing")
    assert not shop.paths.iteration(0).exists()


def test_the_next_call_begins_the_loop_once_that_is_mended(workshop):
    shop = workshop.configure({"tests": SILENT})
    with pytest.raises(ConfigError):
        shop.start()
    shop.prepare()
    assert shop.start().metrics.test_count == 4


def test_who_goes_on_without_tests_says_so_on_the_command_line_or_in_the_call(workshop, capsys):
    shop = workshop.configure({"tests": SILENT})
    assert run(["hook", "pre-loop", "--root", str(shop.root)]) == 1
    assert "Tests could not be measured for the baseline" in capsys.readouterr().err
    assert run(["hook", "pre-loop", "--root", str(shop.root), "--allow-missing"]) == 0
    assert pre_loop(root=shop.root, new=True, allow_missing=True).metrics.test_count is None


def test_without_tests_one_measured_group_is_enough(workshop):
    coverage = {"run": "true", "reports": ["{reports}/coverage.json"], "kind": "coverage"}
    assert workshop.configure({"coverage": coverage, "lint": LINT}).start().metrics.lint_errors == 0
    shop = workshop.configure({"coverage": coverage})
    with pytest.raises(ConfigError, match=r"Coverage could not be measured for the baseline: check `coverage` "):
        shop.start(new=True)


def test_a_check_that_comes_with_the_command_may_measure_what_is_yet_to_be(workshop):
    shop = workshop.configure({"lint": LINT})
    assert shop.tracker.pre_loop(None, checks={"tests": SILENT}).metrics.test_count is None


def test_a_baseline_that_meets_the_target_says_so_and_the_loop_goes_on(workshop):
    shop = workshop.prepare()
    tests = {"run": "cp results.xml {reports}/junit.xml", "reports": ["{reports}/junit.xml"]}
    shop.configure({"tests": tests}, loop={"target_score": 0.5})
    assert (
        shop.start().notes[0].startswith("the target 0.5 never stops this loop, because its baseline already scores ")
    )
    shop.write("app.py", "def one():\n    return 0 + 1\n")
    assert shop.turn().decision.action == "continue"


def test_tasks_of_the_plan_are_counted_in_the_record_the_history_and_the_report(workshop, capsys):
    shop = workshop.prepare()
    shop.write("TODO.md", "- [x] one\n- [ ] two\n- [ ] three\n")
    shop.start()
    shop.write("TODO.md", "- [x] one\n- [x] two\n- [ ] three\n")
    assert shop.turn().plan == (2, 1)
    assert run(["history", "--root", str(shop.root)]) == 0
    head, baseline, first = (line.split() for line in capsys.readouterr().out.splitlines())
    assert "plan" in head
    assert "1/3" in baseline
    assert "2/3" in first
    assert run(["report", "--root", str(shop.root)]) == 0
    assert "- **Plan**: 2/3 tasks done\n" in capsys.readouterr().out
