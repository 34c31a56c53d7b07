"""Loops on a project with real pytest: what earlier tests show of honest changes, and of those that bend a green."""

import sys
import time

import pytest

from ralph_tracker.core.integrity_result import EarlierTests

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::", one_of=3)]

CHECK = {
    "run": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"],
    "reports": ["{reports}/junit.xml"],
    "env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": "."},
    "timeout": 60,
}
CALC = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b + 1\n"
FIXED = CALC.replace(" + 1", "")
ADDS = "def test_add():\n    assert add(2, 3) == 5\n"
SUBS = "def test_sub():\n    assert sub(3, 2) == 1\n"
IMPORT = "from calc import add, sub\n\n\n"
TESTS = f"{IMPORT}{ADDS}\n\n{SUBS}"
GREEN = {"calc.py": FIXED, "test_calc.py": TESTS}
RED = {"calc.py": CALC, "test_calc.py": TESTS}


@pytest.fixture
def loop(workshop):
    """Return what drives a loop: each step maps paths to texts, None for a file that goes; the last record is told."""

    def drive(start, *steps, env=None, **settings):
        workshop.write("pyproject.toml", '[project]\nname = "calc"\nversion = "0"\n')
        workshop.write(".gitignore", ".aiwg/\n__pycache__/\n.venv/\n")
        (workshop.root / "app.py").unlink(missing_ok=True)
        (workshop.root / "measure.sh").unlink(missing_ok=True)
        workshop.configure({"tests": {**CHECK, "env": {**CHECK["env"], **(env or {})}}}, **settings)
        for number, step in enumerate((start, *steps)):
            for path, text in step.items():
                workshop.write(path, text) if text is not None else (workshop.root / path).unlink()
            record = workshop.turn() if number else workshop.start()
        return record

    return drive


def found(record):
    """Return the rules, severities and tests that the findings of an iteration name, by their last part."""
    return [
        (each.rule, each.severity.name, [test.rpartition("::")[2] for test in each.tests])
        for each in record.integrity.found.findings
    ]


def names(tests):
    return sorted(test.rpartition("::")[2] for test in tests)


class TestHonest:
    def test_what_touches_no_file_of_the_tests_costs_no_run(self, loop):
        record = loop(RED, {"calc.py": FIXED})
        assert (found(record), record.integrity.found.reruns, record.best.iteration) == ([], (), 1)
        assert record.integrity.found.earlier == EarlierTests(against=0)

    def test_a_fix_with_a_test_added_is_a_gain(self, loop):
        record = loop(
            RED, {"calc.py": FIXED, "test_calc.py": f"{TESTS}\n\ndef test_more():\n    assert add(0, 0) == 0\n"}
        )
        assert (found(record), record.best.iteration) == ([], 1)
        assert names(record.integrity.found.earlier.fixed) == ["test_sub"]

    @pytest.mark.parametrize(
        "tests",
        [
            pytest.param(
                f"import pytest\n{IMPORT}@pytest.mark.parametrize('f, a, b, is_', [(add, 2, 3, 5), (sub, 3, 2, 1)])\n"
                "def test_all(f, a, b, is_):\n    assert f(a, b) == is_\n",
                id="parametrised",
            ),
            pytest.param(
                f"{IMPORT}def test_both():\n    assert add(2, 3) == 5\n    assert sub(3, 2) == 1\n", id="merged"
            ),
            pytest.param(TESTS.replace("test_add", "test_sum").replace("test_sub", "test_less"), id="renamed"),
        ],
    )
    def test_tests_that_hold_are_no_loss_whatever_their_names_are(self, loop, tests):
        record = loop(GREEN, {"test_calc.py": tests})
        assert (found(record), record.integrity.verdict, record.best.iteration) == ([], "PASS", 1)
        assert names(record.integrity.found.earlier.held) == ["test_add", "test_sub"]

    def test_moved_tests_hold(self, loop):
        record = loop(GREEN, {"test_calc.py": None, "tests/test_sums.py": TESTS, "tests/conftest.py": PATH})
        assert (found(record), record.best.iteration) == ([], 1)
        assert names(record.integrity.found.earlier.held) == ["test_add", "test_sub"]

    def test_a_duplicate_that_is_dropped_holds(self, loop):
        twice = {**GREEN, "test_twice.py": f"{IMPORT}{ADDS.replace('test_add', 'test_add_again')}"}
        record = loop(twice, {"test_twice.py": None})
        assert (found(record), record.integrity.verdict) == ([], "PASS")
        assert names(record.integrity.found.earlier.held) == ["test_add_again"]

    def test_a_function_that_is_renamed_with_its_tests_is_no_question(self, loop):
        record = loop(GREEN, {"calc.py": FIXED.replace("sub", "minus"), "test_calc.py": TESTS.replace("sub", "minus")})
        assert (found(record), record.best.iteration) == ([], 1)

    def test_a_function_that_moves_to_another_module_is_no_question(self, loop):
        add, sub = FIXED.split("\n\n\n")
        record = loop(
            GREEN,
            {
                "calc.py": f"{add}\n",
                "more.py": sub,
                "test_calc.py": TESTS.replace(IMPORT, "from calc import add\nfrom more import sub\n\n\n"),
            },
        )
        assert (found(record), record.best.iteration) == ([], 1)

    def test_a_new_setting_that_the_source_needs_is_taken(self, loop):
        moved = {"src/calc.py": FIXED, "calc.py": None, "pyproject.toml": SRC}
        record = loop(GREEN, {**moved, "test_calc.py": f"{TESTS}\n\ndef test_more():\n    assert add(0, 0) == 0\n"})
        assert record.integrity.verdict in {"PASS", "SUSPECT"}
        assert "TAMPERED" not in record.integrity.verdict


PATH = "import sys\n\nsys.path.insert(0, '.')\n"
SRC = '[project]\nname = "calc"\nversion = "0"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'


class TestRemoved:
    def test_a_module_that_goes_with_its_tests_retires_them(self, loop):
        record = loop(REMOVABLE, {"mul.py": None, "test_mul.py": None})
        assert (found(record), record.integrity.verdict) == ([], "PASS")
        assert names(record.integrity.found.earlier.retired) == [
            "test_error",
            "test_muls",
            "test_muls_zero",
            "test_parse",
        ]

    def test_so_does_one_with_two_test_files_of_which_one_imports_it_inside(self, loop):
        inside = "def test_inside():\n    from mul import mul\n\n    assert mul(2, 2) == 4\n"
        record = loop(
            {**REMOVABLE, "test_tool.py": inside}, {"mul.py": None, "test_mul.py": None, "test_tool.py": None}
        )
        assert found(record) == []
        assert "test_inside" in names(record.integrity.found.earlier.retired)

    def test_one_function_that_goes_retires_its_users_and_no_neighbour(self, loop):
        record = loop(REMOVABLE, {"mul.py": MUL.partition("\n\n\n")[0], "test_mul.py": "from mul import mul\n"})
        earlier = record.integrity.found.earlier
        assert names(earlier.retired) == ["test_error", "test_parse"]
        assert names(earlier.held) == ["test_muls", "test_muls_zero"]

    def test_behaviour_that_changes_with_its_test_is_a_question(self, loop):
        changed = MUL.replace("int(s) if s else None", "None")
        tests = MUL_TESTS.replace('assert parse("3") == 3', 'assert parse("3") is None').partition("def test_error")[0]
        start = REMOVABLE | {"test_mul.py": MUL_TESTS.partition("def test_error")[0]}
        record = loop(start, {"mul.py": changed, "test_mul.py": tests})
        assert found(record) == [("demand_changed", "HIGH", ["test_parse"])]
        assert (record.integrity.verdict, record.best.iteration) == ("SUSPECT", 1)
        assert names(record.integrity.found.earlier.met) == ["test_parse"]
        assert record.integrity.found.findings[0].message == (
            "Iteration 1 edited 1 test that passed in 0; as it was in 0, it fails on the source of 1 "
            "(AssertionError: assert None == 3): test_mul::test_parse"
        )

    def test_a_test_that_goes_with_the_behaviour_that_it_demands_is_a_question(self, loop):
        changed = MUL.replace("int(s) if s else None", "None")
        record = loop(REMOVABLE, {"mul.py": changed, "test_mul.py": MUL_TESTS.partition("def test_parse")[0]})
        assert found(record) == [("demand_changed", "HIGH", ["test_error", "test_parse"])]
        assert record.best.iteration == 0

    def test_a_failing_test_that_goes_with_its_code_is_a_question(self, loop):
        red = REMOVABLE | {"test_mul.py": MUL_TESTS.replace("== 2", "== 3")}
        record = loop(red, {"mul.py": None, "test_mul.py": None})
        assert found(record) == [("removed_with_code", "HIGH", ["test_muls"])]


MUL = """def mul(a, b):
    return a * b


def parse(s):
    return int(s) if s else None
"""
MUL_TESTS = """import pytest
from mul import mul, parse


def test_muls():
    assert mul(1, 2) == 2


def test_muls_zero():
    assert mul(1, 0) == 0


def test_parse():
    assert parse("3") == 3


def test_error():
    with pytest.raises(Exception):
        parse("x")
"""
REMOVABLE = {**GREEN, "mul.py": MUL, "test_mul.py": MUL_TESTS}

FORGING = """import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
"""
PATCHING = "import calc\n\ncalc.sub = lambda a, b: a - b\n"
BENT = TESTS.replace("== 1", "== 2")
FRESH = "def test_new():\n    assert True\n"


class TestBent:
    @pytest.mark.parametrize(
        "beside", [{}, {"NOTES.md": "# Plan\n"}, {"test_new.py": FRESH}], ids=["alone", "notes", "fresh"]
    )
    def test_a_bent_red_test_is_no_gain_whatever_lies_beside_it(self, loop, beside):
        record = loop(RED, {"test_calc.py": BENT, **beside})
        assert found(record) == [("green_by_edit", "CRITICAL", ["test_sub"])]
        assert (record.integrity.verdict, record.best.iteration) == ("TAMPERED", 0)
        assert (record.decision.action, record.decision.target_iteration) == ("rollback", 0)
        assert record.integrity.found.findings[0].message == (
            "1 test that failed passes in iteration 1; test_calc.py was edited, and as it was in 0, it fails on the "
            "source of 1 (assert 2 == 1): test_calc::test_sub"
        )

    def test_with_source_that_changes_beside_it_it_is_asked_and_still_no_gain(self, loop):
        record = loop(RED, {"test_calc.py": BENT, "calc.py": f"# sums\n{CALC}", "test_new.py": FRESH})
        assert found(record) == [("green_by_edit", "HIGH", ["test_sub"])]
        assert (record.integrity.verdict, record.best.iteration) == ("SUSPECT", 0)
        assert names(record.integrity.found.earlier.no_gain) == ["test_new", "test_sub"]

    @pytest.mark.parametrize(
        "files",
        [
            pytest.param({"conftest.py": FORGING}, id="hook"),
            pytest.param({"conftest.py": PATCHING}, id="patch"),
            pytest.param({"sitecustomize.py": PATCHING}, id="start-up file"),
            pytest.param({"pytest.ini": "[pytest]\naddopts = -p forge\n", "forge.py": FORGING}, id="plugin"),
            pytest.param(
                {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p forge"\n', "forge.py": FORGING},
                id="mixed settings",
            ),
            pytest.param({"test_a.py": PATCHING}, id="test file"),
            pytest.param({"test_calc.py": None, "test_other.py": f"{IMPORT}{ADDS}"}, id="gone"),
            pytest.param(
                {"test_calc.py": TESTS.replace(SUBS, f"import pytest\n\n\n@pytest.mark.skip\n{SUBS}")}, id="skipped"
            ),
        ],
    )
    def test_what_is_new_beside_the_tests_makes_no_red_test_green(self, loop, files):
        record = loop(RED, files)
        assert [each[:2] for each in found(record) if each[0] != "R2"] in (
            [("green_by_edit", "CRITICAL")],
            [("failure_hidden", "CRITICAL")],
        )
        assert (record.integrity.verdict, record.best.iteration) == ("TAMPERED", 0)

    def test_a_skip_by_platform_is_asked(self, loop):
        skipped = TESTS.replace(
            SUBS, f"import pytest, sys\n\n\n@pytest.mark.skipif(sys.platform == 'linux', reason='')\n{SUBS}"
        )
        record = loop(RED, {"test_calc.py": skipped})
        assert found(record) == [("failure_hidden", "HIGH", ["test_sub"])]

    def test_a_failing_test_that_fails_under_another_name_is_hidden_from_nobody(self, loop):
        record = loop(RED, {"test_calc.py": TESTS.replace("test_sub", "test_less")})
        assert (found(record), record.integrity.verdict) == ([], "PASS")

    def test_failing_tests_of_which_fewer_fail_under_new_names_are_asked(self, loop):
        more = f"{TESTS}\n\ndef test_sub_more():\n    assert sub(5, 2) == 3\n"
        merged = f"{IMPORT}{ADDS}\n\ndef test_subs():\n    assert sub(3, 2) == 1\n    assert sub(5, 2) == 3\n"
        record = loop({"calc.py": CALC, "test_calc.py": more}, {"test_calc.py": merged})
        assert found(record) == [("failure_hidden", "HIGH", ["test_sub", "test_sub_more"])]

    def test_a_new_test_that_passes_anywhere_earns_nothing_beside_source_that_sees_it_is_tested(self, loop):
        seeing = CALC.replace("a - b + 1", "a - b + ('pytest' not in sys.modules)").replace(
            "def add", "import sys\n\n\ndef add"
        )
        record = loop(RED, {"calc.py": seeing, "test_more.py": "def test_more():\n    assert True\n"})
        assert [each[0] for each in found(record)] == ["R1"]
        assert record.best.iteration == 0

    def test_a_renamed_function_hides_no_test_that_goes(self, loop):
        tests = f"{IMPORT}{ADDS}".replace("add", "plus").replace(", sub", "")
        record = loop(RED, {"calc.py": CALC.replace("add", "plus"), "test_calc.py": tests})
        assert found(record) == [("failure_hidden", "CRITICAL", ["test_sub"])]

    def test_what_was_weakened_while_green_and_breaks_later_is_found(self, loop):
        weak = TESTS.replace("assert sub(3, 2) == 1", "assert sub(3, 2)")
        record = loop(GREEN, {"test_calc.py": weak}, {"calc.py": CALC})
        assert found(record) == [("demand_changed", "HIGH", ["test_sub"])]
        assert record.integrity.found.findings[0].against == 0
        assert (record.best.iteration, record.integrity.found.references) == (1, {})

    def test_what_a_fixture_hides_that_was_edited_before_the_break_is_found(self, loop):
        fixture = "import pytest\n\n\n@pytest.fixture\ndef pair():\n    return 3, 2\n"
        tests = f"{IMPORT}{ADDS}\n\ndef test_sub(pair):\n    assert sub(*pair) == 1\n"
        start = {"calc.py": FIXED, "test_calc.py": tests, "conftest.py": fixture}
        broken = FIXED.replace("return a - b", "return a - b + (a == 3)")
        record = loop(start, {"conftest.py": fixture.replace("3, 2", "4, 3")}, {"calc.py": broken})
        assert found(record) == [("demand_changed", "HIGH", ["test_sub"])]

    def test_a_helper_that_was_weakened_beside_a_fix_hides_no_later_break(self, loop):
        helper = "from calc import sub\n\n\ndef check():\n    assert sub(3, 2) == 1\n"
        tests = "from calc import add\nfrom tests.checks import check\n\n\ndef test_sub():\n    check()\n\n\n" + ADDS
        start = {"calc.py": CALC, "test_calc.py": tests, "tests/checks.py": helper}
        fix = {"calc.py": FIXED, "tests/checks.py": helper.replace(" == 1", "")}
        record = loop(start, fix, {"calc.py": FIXED.replace("a - b", "b - a")})
        assert found(record) == [("demand_changed", "HIGH", ["test_sub"])]
        assert record.best.iteration == 1

    def test_a_fixture_whose_lines_changed_places_is_another_form(self, loop):
        fixture = "import pytest\n\n\n@pytest.fixture\ndef pair():\n    return [\n        2,\n        3,\n    ]\n"
        tests = f"{IMPORT}{ADDS}\n\ndef test_first_is_less(pair):\n    assert sub(*sorted(pair)) < 0\n"
        start = {"calc.py": FIXED, "test_calc.py": tests.replace("*sorted(pair)", "*pair"), "conftest.py": fixture}
        swapped = fixture.replace("2,", "0,").replace("3,", "2,").replace("0,", "3,")
        weak = tests.replace("*sorted(pair)", "*pair").replace("< 0", "!= 0")
        record = loop(
            start, {"conftest.py": swapped, "test_calc.py": weak}, {"calc.py": FIXED.replace("a - b", "b - a")}
        )
        assert found(record) == [("demand_changed", "HIGH", ["test_first_is_less"])]

    def test_a_test_that_passes_anywhere_is_no_gain_beside_a_suppression_of_a_whole_file(self, loop):
        more = {"test_word.py": "def test_word():\n    assert 'a'.isalpha()\n"}
        record = loop(GREEN, {"calc.py": f"# ruff: noqa\n{FIXED}", **more})
        assert (found(record), names(record.integrity.found.earlier.no_gain)) == ([], ["test_word"])

    def test_a_new_test_file_that_patches_the_source_for_the_others_hides_no_break(self, loop):
        patching = "import calc\n\ncalc.sub = lambda a, b: a - b\n\n\ndef test_word():\n    assert 'a'.isalpha()\n"
        tests = "import calc\n\n\ndef test_sub():\n    assert calc.sub(3, 2) == 1\n"
        record = loop({"calc.py": FIXED, "test_calc.py": tests}, {"calc.py": CALC, "test_a_word.py": patching})
        assert found(record) == [("outcome_forged", "HIGH", ["test_sub"])]
        assert record.best.iteration == 0

    def test_what_passes_only_by_settings_that_nobody_edited_the_tests_for_is_forged(self, loop):
        record = loop(GREEN, {"calc.py": CALC, "conftest.py": PATCHING})
        assert found(record) == [("outcome_forged", "HIGH", ["test_sub"])]

    @pytest.mark.parametrize(
        ("start", "source", "rule"),
        [(RED, f"# sums\n{CALC}", "green_by_edit"), (GREEN, CALC, "outcome_forged")],
        ids=["of what fails", "of what breaks"],
    )
    def test_a_green_by_settings_that_git_ignores_is_none(self, loop, start, source, rule):
        kept = {".gitignore": ".aiwg/\n__pycache__/\nconftest.py\n", "old/conftest.py": ""}
        record = loop({**start, **kept}, {"calc.py": source, "conftest.py": PATCHING})
        assert found(record) == [(rule, "HIGH", ["test_sub"])]
        message = record.integrity.found.findings[0].message
        assert "; conftest.py is ignored by git and newer than the loop, and as it was in 0, it fails" in message
        assert record.best.iteration == 0

    def test_a_green_by_an_edit_of_an_installed_package_proves_nothing(self, loop, workshop):
        site = ".venv/lib/python3/site-packages/signs"
        for path, text in (("__init__.py", "MINUS = 1\n"), ("more.py", "PLUS = 1\n")):
            workshop.write(f"{site}/{path}", text)
        workshop.write(".venv/pyvenv.cfg", "home = /usr\n")
        time.sleep(0.02)  # file times are those of the kernel's last tick
        source = CALC.replace("+ 1", "+ signs.MINUS").replace("def add", "import signs\n\n\ndef add")
        path = {"PYTHONPATH": f".:{site.rpartition('/')[0]}"}
        start = {"calc.py": source, "test_calc.py": TESTS}
        edited = {f"{site}/__init__.py": "MINUS = 0\n"}
        record = loop(start, edited, {"NOTES.md": "# Plan\n"}, env=path)
        assert found(record) == [("unproven", "HIGH", ["test_sub"])]
        assert f"{site}/__init__.py was edited, and no lock file changed" in record.integrity.found.findings[0].message
        assert record.best.iteration == 0

    def test_a_finding_ends_when_the_earlier_form_passes(self, loop):
        record = loop(RED, {"test_calc.py": BENT}, {"calc.py": FIXED, "test_calc.py": TESTS})
        assert (found(record), record.best.iteration) == ([], 2)

    def test_and_stays_while_it_does_not(self, loop):
        record = loop(RED, {"test_calc.py": BENT}, {"NOTES.md": "# Plan\n"})
        assert found(record) == [("green_by_edit", "CRITICAL", ["test_sub"])]
        assert record.best.iteration == 0


class TestNotRun:
    def test_source_that_only_runs_with_the_new_tests_is_unproven(self, loop):
        guard = "import os\n\nif 'NEW' not in os.environ:\n    os._exit(1)\n\n\n"
        record = loop(RED, {"calc.py": guard + FIXED, "conftest.py": "import os\n\nos.environ['NEW'] = '1'\n"})
        assert found(record) == [("unproven", "HIGH", ["test_sub"])]
        assert (record.integrity.verdict, record.best.iteration) == ("SUSPECT", 0)
