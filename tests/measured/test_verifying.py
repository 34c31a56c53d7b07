"""`--verify`: the selected iteration is restored beside the project and measured again before it is applied."""

import json
import subprocess
import sys
import sysconfig
import tempfile

import pytest

from ralph_tracker.cli.app import run

GREEN = "from shop import price\n\n\ndef test_price():\n    assert price() == 3\n"
PYTEST = [".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"]
CHECK = {
    "run": [*PYTEST, "tests"],
    "reports": ["{reports}/junit.xml"],
    "timeout": 60,
}


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory, monkeypatch):
    """Put temporary folders where the test can see whether they went."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
    return folder


@pytest.fixture
def ask(capsys):
    def asked(shop, *words: str):
        capsys.readouterr()
        code = run([*words, "--root", str(shop.root)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return asked


def with_venv(shop) -> None:
    """Make a src layout, installed as editable in an ignored .venv that has pytest."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=shop.root, check=True)
    site = next((shop.root / ".venv/lib").glob("python*/site-packages"))
    (site / "tools.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (site / "__editable__.shop-1.0.pth").write_text(f"{shop.root}/src\n")
    shop.write(".gitignore", ".aiwg/\n.venv/\n__pycache__/\n")
    shop.write("src/shop/__init__.py", "def price():\n    return 4\n")
    shop.write("tests/test_shop.py", GREEN)
    shop.configure({"tests": CHECK})


@pytest.mark.slow
def test_a_real_project_with_its_venv_is_measured_from_what_was_kept(workshop, ask, scratch):
    with_venv(workshop)
    workshop.commit().start()
    workshop.write("src/shop/__init__.py", "def price():\n    return 3\n")
    assert workshop.turn().metrics.tests_passed == 1
    workshop.write("src/shop/__init__.py", "def price():\n    raise SystemError\n")
    workshop.turn()
    before = workshop.files()
    code, out, err = ask(workshop, "hook", "post-loop", "--verify")
    assert (code, err) == (0, "")
    assert "Selected iteration 1" in out
    assert "measured again already, with the same result" in " ".join(out.split())
    assert list(scratch.iterdir()) == []
    assert workshop.files() == before
    assert (workshop.root / ".venv/bin/python").exists()
    assert "return 3" in (workshop.root / ".aiwg/output/src/shop/__init__.py").read_text()


def test_the_document_says_whether_it_was_measured_again(run_before, ask):
    for words, expected in ((("--verify",), True), ((), False)):
        code, out, _ = ask(run_before, "select-best", "--json", *words)
        assert (code, json.loads(out)["best_output_selection"]["verified_again"]) == (0, expected)


@pytest.fixture
def by_the_outside(workshop):
    """Return a loop whose tests go by a file that git ignores."""
    workshop.write(".gitignore", ".aiwg/\nresults.xml\n")
    workshop.start()
    workshop.write("app.py", "def one():\n    return 2\n")
    workshop.turn()
    return workshop


@pytest.mark.parametrize("verb", [("select-best",), ("hook", "post-loop")], ids=["select-best", "post-loop"])
def test_what_measures_otherwise_is_not_applied(run_before, ask, scratch, verb):
    lines = ["case $PWD in", '*/copy/*) printf \'<testsuite name="s" tests="1">']
    lines[1] += '<testcase classname="t" name="t0"><failure/></testcase></testsuite>\' > "$1/junit.xml";;'
    lines += ['*) cp results.xml "$1/junit.xml";;', "esac"]
    shop = run_before
    shop.write("measure.sh", "\n".join(lines) + "\n")
    shop.passing(9)
    assert shop.turn().iteration == 4
    code, out, err = ask(shop, *verb, "--verify", "--apply", "worktree")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "iteration 4 measures test_count 1 now, 9 on record, tests_passed 0 now, 9 on record" in err
    assert "not applied" in err
    assert "and 9 more" in err
    assert not shop.paths.selection.exists()
    assert shop.tracker.store().summary().status == "running"
    assert list(scratch.iterdir()) == []


def test_metrics_that_were_handed_in_are_refused(workshop, ask):
    workshop.tracker.pre_loop({"testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}})
    code, out, err = ask(workshop, "select-best", "--verify")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "metrics are handed in; leave --verify out" in err


def test_what_git_ignores_is_not_there_and_that_is_said(by_the_outside, ask):
    code, _, err = ask(by_the_outside, "select-best", "--verify")
    assert code == 1
    assert "test_count not measured now, 4 on record" in err
    assert "What git ignores was not there" in err


def test_a_temporary_folder_in_the_project_is_refused(run_before, ask, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(run_before.root))
    code, _, err = ask(run_before, "select-best", "--verify")
    assert (code, "name another with TMPDIR" in err) == (1, True)
    assert not list(run_before.root.glob("ralph-tracker-scratch-*"))


def test_an_interruption_takes_the_folder_away(run_before, scratch, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        assert list(scratch.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr("ralph_tracker.iteration.reproduce.measure_tree", interrupted)
    assert run(["select-best", "--verify", "--root", str(run_before.root)]) == 130
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("name", ["manifest.json", "measurement.json"])
def test_a_damaged_iteration_is_refused(run_before, ask, name):
    (run_before.paths.iteration(1) / name).write_text("{}")
    code, _, err = ask(run_before, "select-best", "--verify")
    assert (code, err.count("\n"), "damaged" in err) == (1, 1, True)
    assert not run_before.paths.selection.exists()
