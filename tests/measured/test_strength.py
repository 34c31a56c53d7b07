"""What tests notice of small errors: real runs in copies, within a time, and nothing of it in the project."""

import json
import os
import sys
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.strength import strength_of
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.write import LoopStore

CASES = Path(__file__).parents[2] / "fixtures" / "mutation"
# Runs the functions of test_*.py, and says which lines of prices.py ran, by test where CONTEXTS is there.
RUNNER = """
import glob, importlib, json, os, sys
sys.path[:0] = ["."]
lines, by_test, cases, current = set(), {}, [], [""]
def trace(frame, event, arg):
    if frame.f_code.co_filename.endswith("/prices.py") and event == "line":
        lines.add(frame.f_lineno)
        by_test.setdefault(frame.f_lineno, set()).add(current[0])
    return trace
sys.settrace(trace)
for path in sorted(glob.glob("test_*.py")):
    module = importlib.import_module(path[:-3])
    suite = getattr(module, "SUITE", path[:-3])
    for name in sorted(n for n in vars(module) if n.startswith("test_")):
        current[0] = f"{getattr(module, 'DEFINED_IN', suite)}.{name}"
        try:
            getattr(module, name)()
            cases.append((suite, name, ""))
        except Exception:
            cases.append((suite, name, "<failure/>"))
sys.settrace(None)
out = sys.argv[1]
said = "".join(f'<testcase classname="{m}" name="{n}">{how}</testcase>' for m, n, how in cases)
open(f"{out}/junit.xml", "w").write(f'<testsuite name="s" tests="{len(cases)}">{said}</testsuite>')
text = open("prices.py").read().split("\\n")
ran = sorted(lines)
missing = [at for at, line in enumerate(text, 1) if line.strip() and at not in lines]
file = {"executed_lines": ran, "missing_lines": missing}
if os.path.exists("CONTEXTS"):
    file["contexts"] = {str(at): sorted(names) for at, names in by_test.items()}
count = len(ran) + len(missing)
totals = {"covered_lines": len(ran), "num_statements": count, "percent_covered": 100 * len(ran) / max(count, 1)}
whole = {"meta": {"version": "7"}, "files": {"prices.py": file}, "totals": totals}
json.dump(whole, open(f"{out}/coverage.json", "w"))
"""
PRICES = """def price(n, each):
    if n > 10:
        return n * each - 5
    return n * each

def unused(n):
    return n + 1
"""


@pytest.fixture
def shop(workshop):
    """Return a project whose iteration 1 adds code with one test that looks at it and one that does not."""
    workshop.write("run_tests.py", RUNNER).parent.joinpath("results.xml").unlink()
    tests = {"run": [sys.executable, "run_tests.py", "{reports}"], "reports": ["{reports}/junit.xml"], "timeout": 20}
    coverage = {"run": ["true"], "reports": ["{reports}/coverage.json"], "needs": ["tests"]}
    workshop.configure({"tests": tests, "coverage": coverage})
    workshop.write("test_app.py", "import app\ndef test_one():\n    assert app.one() == 1\n")
    workshop.write("prices.py", "")
    workshop.start()
    workshop.write("prices.py", PRICES)
    looks, runs = "    assert prices.price(2, 3) == 6\n", "    prices.price(20, 3)\n"
    workshop.write("test_prices.py", f"import prices\ndef test_few():\n{looks}def test_many():\n{runs}")
    return workshop


def _strength(shop, since: int | None = 0, *, seconds=60, jobs=2):
    loop = ConfiguredLoop.read(LoopStore(shop.paths), configured_by)
    return strength_of(loop, 1, since, os.environ, seconds=seconds, jobs=jobs)


def test_an_error_that_no_test_notices_is_named(shop):
    shop.turn()
    before = shop.files()
    found = _strength(shop)
    assert (found.lines, found.tried, found.noticed, found.unreached, found.left) == (6, 9, 3, 3, 0)
    assert {(each.line, each.new) for each in found.missed} == {
        (2, "if n >= 10:"),
        (2, "if n > 11:"),
        (3, "return None"),
        (3, "return n / each - 5"),
        (3, "return n * each + 5"),
        (3, "return n * each - 6"),
    }
    assert found.files == {"prices.py": (9, 3)}
    assert (found.added, found.added_tried, found.added_noticed, found.by_test) == (2, 9, 3, False)
    assert shop.files() == before


def test_only_the_tests_that_reach_a_line_are_asked_where_coverage_names_them(shop):
    shop.write("CONTEXTS", "")
    shop.write("test_prices.py", "import prices\ndef test_many():\n    prices.price(20, 3)\n")
    shop.write("test_app.py", "import prices\ndef test_one():\n    assert prices.price(2, 3) == 6\n")
    shop.turn()
    found = _strength(shop, jobs=1)
    assert (found.tried, found.noticed, found.by_test) == (9, 3, True)
    assert (found.added, found.added_tried, found.added_noticed) == (1, 7, 0)


def test_an_inherited_test_is_asked_though_coverage_names_the_class_that_defines_it(shop):
    shop.write("CONTEXTS", "")
    shop.write("test_base.py", "SUITE = 'test_base.TestBase'\ndef test_it():\n    pass\n")
    inherits = "import prices\nSUITE, DEFINED_IN = 'test_prices.TestPrices', 'test_base.TestBase'\n"
    shop.write("test_prices.py", f"{inherits}def test_it():\n    assert prices.price(2, 3) == 6\n")
    shop.turn()
    assert _strength(shop, jobs=1).noticed == 3


def test_what_takes_too_long_is_noticed(shop):
    shop.write("prices.py", "def price(n, each):\n    while n < 2:\n        n += 1\n    return n\n")
    shop.write("test_prices.py", "import prices\ndef test_few():\n    assert prices.price(0, 3) == 2\n")
    shop.turn()
    found = _strength(shop)
    assert "n -= 1" not in {each.new for each in found.missed}
    assert found.tried == found.noticed + len(found.missed)


def test_what_there_is_no_time_for_is_counted(shop):
    shop.turn()
    found = _strength(shop, seconds=0.01)
    assert (found.tried, found.left, found.unreached) == (0, 9, 3)


def test_a_link_is_not_written_through(shop, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1 < 2\n")
    (shop.root / "linked.py").symlink_to(outside)
    shop.turn()
    assert "linked.py" not in _strength(shop, None).files
    assert outside.read_text() == "x = 1 < 2\n"


def test_errors_in_all_lines(shop):
    shop.turn()
    found = _strength(shop, None)
    assert found.files.keys() >= {"app.py", "prices.py"}
    assert (found.added, found.added_tried) == (0, 0)


def test_tests_that_do_not_run_in_a_copy(shop):
    shop.turn()
    shop.write("run_tests.py", "raise SystemExit(1)\n")
    shop.turn()
    loop = ConfiguredLoop.read(LoopStore(shop.paths), configured_by)
    with pytest.raises(LoopError, match="iteration 2: its tests do not run in a copy"):
        strength_of(loop, 2, 0, os.environ, seconds=9, jobs=1)


def test_metrics_that_were_handed_in_have_no_tests_to_run(workshop):
    workshop.tracker.pre_loop({"testing": {"test_count": 1, "tests_passed": 1}})
    loop = ConfiguredLoop.read(LoopStore(workshop.paths), configured_by)
    with pytest.raises(InputError, match="handed in"):
        strength_of(loop, 0, None, os.environ, seconds=9, jobs=1)


class TestCommand:
    def test_the_result_is_shown_and_tests_that_notice_nothing_are_told_to_the_agent(self, shop, capsys):
        shop.write("test_prices.py", "import prices\ndef test_few():\n    prices.price(2, 3)\n")
        shop.turn()
        assert run(["strength", "1", "--root", str(shop.root)]) == 0
        said = capsys.readouterr().out
        assert "its tests notice 0 of 5 small errors in the changed lines that they run" in said
        assert "prices.py:4  return n * each  →  return n / each" in said
        assert run(["show", "1", "--root", str(shop.root)]) == 0
        assert "test strength: 1 new test of it notices 0 of 5 in these lines\n" in capsys.readouterr().out
        assert run(["report", "1", "--root", str(shop.root)]) == 0
        assert "test strength: 1 new test of it notices 0 of 5 in these lines\n" in capsys.readouterr().out
        assert run(["feedback", "--root", str(shop.root)]) == 0
        assert "1 new test notices none of 5 small errors put into changed lines, such as:" in capsys.readouterr().out

    def test_tests_that_notice_something_are_not_told(self, shop, capsys):
        shop.turn()
        assert run(["strength", "--json", "--root", str(shop.root)]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["iteration"], document["since"], document["tried"]) == (1, 0, 9)
        assert run(["feedback", "--root", str(shop.root)]) == 0
        assert "small errors" not in capsys.readouterr().out

    def test_the_baseline_has_changed_nothing(self, shop, capsys):
        assert run(["strength", "0", "--root", str(shop.root)]) == 1
        assert "iteration 0 has changed no line; --whole" in capsys.readouterr().err

    def test_a_mutation_tools_report_counts_in_the_changed_lines(self, shop, capsys):
        shop.turn()
        shop.write("test_more.py", "def test_more():\n    pass\n")
        shop.write("prices.py", PRICES.replace("- 5", "- 6"))
        shop.turn()
        asked = ["strength", "2", "--report", str(CASES / "cosmic-ray.jsonl"), "--root", str(shop.root)]
        assert run(asked) == 0
        said = capsys.readouterr().out
        assert f"iteration 2: 1 line of source since iteration 1, as {CASES / 'cosmic-ray.jsonl'} says" in said
        assert "its tests notice 0 of 2 small errors in the changed lines that they run" in said
        assert "prices.py:3  return n * each - 5  →  return n / each - 5" in said
        assert run(["strength", "1", *asked[2:], "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["tried"], document["noticed"], document["seconds"]) == (4, 2, 0.0)
        assert run(["show", "2", "--root", str(shop.root)]) == 0
        assert "test strength: its tests notice 0 of 2" in capsys.readouterr().out

    def test_what_mutmut_shows_counts_where_the_function_is(self, shop, capsys):
        shop.write("prices.py", f"import os\n\n\n{PRICES}")
        shop.turn()
        assert run(["strength", "1", "--report", str(CASES / "mutmut.txt"), "--json", "--root", str(shop.root)]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["tried"], document["noticed"], document["unreached"]) == (6, 1, 2)
        assert {(each["line"], each["new"]) for each in document["missed"]} >= {
            (5, "if n >= 10:"),
            (6, "return n / each - 5"),
        }

    def test_a_report_that_names_packages_counts_in_their_folders(self, shop, capsys, tmp_path):
        shop.write("src/main/java/p/A.java", "package p;\nclass A {\n    int f(int n) { return n; }\n}\n")
        shop.turn()
        report = tmp_path / "mutations.xml"
        report.write_text(
            "<mutations><mutation status='SURVIVED'><sourceFile>A.java</sourceFile><mutatedClass>p.A</mutatedClass>"
            "<lineNumber>3</lineNumber><description>replaced int return with 0</description></mutation></mutations>"
        )
        assert run(["strength", "1", "--report", str(report), "--root", str(shop.root)]) == 0
        assert "src/main/java/p/A.java:3" in capsys.readouterr().out

    def test_a_report_of_other_files_or_of_nothing_is_refused_in_a_line(self, shop, capsys, tmp_path):
        shop.turn()
        broken = tmp_path / "broken.json"
        broken.write_text("{")
        for file, why in [
            (CASES / "stryker.json", "none of its 12 errors is in these lines; it has to be of iteration 1's files"),
            (broken, "no report of Stryker"),
            (tmp_path / "absent.json", "No such file"),
        ]:
            assert run(["strength", "1", "--report", str(file), "--root", str(shop.root)]) == 1
            assert f"{file}: {why}" in capsys.readouterr().err
