"""A loop on a small project with real pytest, coverage and ruff: what they report is what is on record."""

import pytest

from ralph_tracker.store.iteration_snapshots import IterationSnapshots

pytestmark = pytest.mark.slow

CODE = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
TESTS = (
    "from calc import add\n\n\n"
    "def test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_zero():\n    assert add(0, 0) == 0\n"
)
MORE = "\n\ndef test_sub():\n    import calc\n\n    assert calc.sub(3, 2) == 1\n"


@pytest.fixture(scope="module")
def loop(workshop_at, tmp_path_factory, tool):
    """Return a project and the records of its loop: each iteration is one kind of trouble, and then it is fixed."""
    shop = workshop_at((tmp_path_factory.mktemp("real") / "project").resolve())
    shop.root.mkdir()
    shop.write("calc.py", CODE)
    shop.write("test_calc.py", TESTS)
    shop.write(".gitignore", ".aiwg/\n")
    data = {"COVERAGE_FILE": "{reports}/.coverage"}
    pytest_run = ("run", "--source=.", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    report = "{reports}/coverage.json"
    shop.configure(
        {
            "tests": {
                "run": tool("coverage", *pytest_run, "--rootdir=.", "--junitxml={reports}/junit.xml"),
                "reports": ["{reports}/junit.xml"],
                "env": {**data, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            },
            "coverage": {
                "run": tool("coverage", "json", "-q", "-o", report),
                "reports": [report],
                "needs": ["tests"],
                "env": data,
            },
            "lint": {
                "run": tool("ruff", "check", "--no-cache", "--isolated", "--output-format=json"),
                "reports": ["-"],
            },
        }
    )
    records = {"baseline": shop.start()}
    for name, content in {
        "more": TESTS + MORE,
        "failing": TESTS.replace("== 3", "== 4") + MORE,
        "zero collected": "VALUE = 1\n",
        "no file": None,
        "collection error": "import no_such_module\n" + TESTS + MORE,
        "fixed": TESTS + MORE,
        "findings": TESTS + MORE + "    assert undefined is None or True\n",
    }.items():
        file = shop.root / "test_calc.py"
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_text(content)
        records[name] = shop.turn()
    return shop, records


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("baseline", (2, 2, 0, 0)),
        ("more", (3, 3, 0, 0)),
        ("failing", (3, 2, 1, 0)),
        ("collection error", (None, None, None, None)),
        ("zero collected", (0, 0, 0, 0)),
        ("no file", (0, 0, 0, 0)),
        ("fixed", (3, 3, 0, 0)),
        ("findings", (3, 2, 1, 0)),
    ],
)
def test_counts_are_those_of_pytest(loop, name, counts):
    found = loop[1][name].metrics
    assert (found.test_count, found.tests_passed, found.tests_failed, found.tests_skipped) == counts


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("baseline", []),
        ("more", []),
        ("failing", ["working_tests_failing"]),
        ("findings", ["working_tests_failing"]),
    ],
)
def test_alerts_name_what_went_wrong(loop, name, kinds):
    assert [alert.type for alert in loop[1][name].alerts] == kinds


@pytest.mark.parametrize("name", ["zero collected", "no file", "collection error"])
def test_a_deletion_stays_open_until_the_tests_are_back(loop, name):
    record = loop[1][name]
    assert "test_deletion" in {alert.type for alert in (*record.alerts, *record.open_alerts)}
    assert record.best.iteration != record.iteration


def test_a_deletion_unverifies_every_iteration_until_the_tests_are_back(loop):
    assert [loop[1][name].verified for name in ("zero collected", "no file")] == [False, False]


def test_once_the_tests_are_back_every_alert_is_closed(loop):
    assert loop[1]["fixed"].open_alerts == ()
    assert loop[1]["fixed"].verified


def test_coverage_and_findings_are_the_tools_own(loop):
    baseline, more, findings = (loop[1][name].metrics for name in ("baseline", "more", "findings"))
    assert (baseline.coverage_percentage, baseline.lint_errors) == (88.9, 0)
    assert (more.coverage_percentage, more.coverage_lines_covered) == (100.0, more.coverage_lines_total)
    assert findings.error_count == findings.lint_errors
    assert (findings.lint_errors or 0) > (more.lint_errors or 0) == 0


def test_code_is_counted_as_the_agent_left_it(loop):
    baseline, more = loop[1]["baseline"].metrics, loop[1]["more"].metrics
    assert (baseline.file_count, baseline.complexity_score) == (2, 1.0)
    assert more.loc_total == baseline.loc_total + 3


def test_nothing_that_the_tools_wrote_is_in_the_tree(loop):
    shop, records = loop
    assert not any("tree_changed" in note for record in records.values() for note in record.notes)
    assert set(IterationSnapshots(shop.tracker.store()).store.paths(records["more"].tree)) == {
        ".gitignore",
        "calc.py",
        "ralph-tracker.yaml",
        "test_calc.py",
    }


def test_the_raw_reports_and_the_changed_files_lie_in_the_iterations_folder(loop):
    folder = loop[0].paths.iteration(1)
    assert (folder / "artifacts/test_calc.py").read_text() == TESTS + MORE
    assert {path.name for path in (folder / "reports").iterdir()} == {".coverage", "coverage.json", "junit.xml"}
    assert b"3 passed" in (folder / "output/tests.stdout").read_bytes()


def test_the_peak_is_selected_with_its_tests(loop):
    shop, _ = loop
    chosen = shop.tracker.select_output(apply="output", finish=False).selection.selected
    assert chosen.iteration in {1, 6}
    assert (shop.root / ".aiwg/output/test_calc.py").read_text() == TESTS + MORE


def test_the_severity_of_lint_findings_is_frozen_with_the_configuration(workshop):
    shop = workshop.prepare()
    shop.write("lint.txt", "a.py:1:1: E501 line too long\na.py:2:1: W291 trailing whitespace\n")
    checks = {"lint": {"run": "cat lint.txt", "reports": ["-"]}}
    first = shop.configure(checks, severity={"E5": "warning", "W": "error", "W29": "note"}).start()
    then = shop.configure(checks, severity={"": "error"}).turn()
    for record in (first, then):
        assert (record.metrics.lint_errors, record.metrics.lint_warnings) == (0, 1)
