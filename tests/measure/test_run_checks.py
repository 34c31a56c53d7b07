"""Running the configured checks: their order, their environment, and what stands in the way of running them."""

import os
import re
import sys
import threading
from pathlib import Path

import pytest

from ralph_tracker.errors import ConfigError, StoreError
from ralph_tracker.measure.run_checks import Check, environment_for_checks, in_order, run_checks
from tests.tables import table

PYTHON = (sys.executable, "-I", "-S", "-c")
# Says that it is there and waits until the other one is.
MEET = """
import pathlib, sys, time
me, other = map(pathlib.Path, sys.argv[1:])
me.touch()
end = time.monotonic() + 20
while not other.exists() and time.monotonic() < end:
    time.sleep(0.01)
sys.exit(not other.exists())
"""


@pytest.fixture
def run(tmp_path):
    def run(*checks, **options):
        settings = {"environment": {"PATH": os.environ["PATH"]}} | options
        return run_checks(
            checks, root=tmp_path / "root", folder=tmp_path / "kept", reports=tmp_path / "reports", **settings
        )

    (tmp_path / "root").mkdir()
    return run


class TestRun:
    def test_result(self, run, tmp_path):
        """A result holds the check, how it ended, and where its output is."""
        check = Check("some", "echo out; echo err >&2; exit 2")

        (result,) = run(check)

        assert (result.check, result.finished.exit_code, result.reports) == (check, 2, ())
        assert result.stdout == tmp_path / "kept" / "some.stdout"
        assert result.stdout.read_text() == "out\n"
        assert result.stderr == tmp_path / "kept" / "some.stderr"
        assert result.stderr.read_text() == "err\n"

    def test_a_folder_behind_a_link_out_of_the_project_is_refused_before_anything_runs(self, run, tmp_path):
        (tmp_path / "root/real").mkdir()
        (tmp_path / "root/inside").symlink_to("real")
        (tmp_path / "root/out").symlink_to(tmp_path)
        assert run(Check("some", "true", cwd="inside"))[0].finished.exit_code == 0
        with pytest.raises(ConfigError, match=r"^checks\.other\.cwd: out is a link out of the project; name a folder"):
            run(Check("some", "touch ran"), Check("other", "touch ran", cwd="out"))
        assert not list(tmp_path.rglob("ran"))

    def test_relative_folders(self, tmp_path):
        """Folders may be given relative to ours; a check sees absolute ones."""
        (tmp_path / "root").mkdir()
        root, folder, reports = (Path(os.path.relpath(tmp_path / name)) for name in ("root", "kept", "reports"))
        command = [*PYTHON, "import sys; print(sys.argv[1])", "{reports}"]

        (result,) = run_checks([Check("some", command)], root=root, folder=folder, reports=reports, environment={})

        assert not reports.is_absolute()
        assert result.stdout.read_text() == f"{reports.absolute()}\n"

    def test_no_checks(self, run):
        """Nothing to run is no error."""
        assert run() == ()

    def test_folder_and_environment(self, run, tmp_path):
        """A check runs in its folder below the root, with its own environment over the common one."""
        (tmp_path / "root" / "web").mkdir()
        check = Check("some", "pwd; echo $A $B $C", cwd="web", env={"B": "own", "C": "{reports}/c"})

        (result,) = run(check, environment={"A": "common", "B": "common"})

        assert result.stdout.read_text() == f"{tmp_path}/root/web\ncommon own {tmp_path}/reports/c\n"

    def test_failures_are_data(self, run):
        """Whatever happens to a check, the others still run."""
        results = run(
            Check("killed", "kill -TERM $$"),
            Check("absent", ["no-such-tool"]),
            Check("slow", "sleep 30", timeout_s=0.2),
            Check("astray", "true", cwd="gone"),
            Check("last", "true", needs=("killed", "absent", "slow", "astray")),
        )

        assert [result.finished.signal for result in results][:1] == ["SIGTERM"]
        assert [result.finished.not_found for result in results] == [False, True, False, False, False]
        assert [result.finished.timed_out for result in results] == [False, False, True, False, False]
        assert "no such folder" in results[3].finished.summary
        assert results[4].finished.succeeded

    def test_progress(self, run):
        """Each start and each end is told, in the thread that asked."""
        told = []

        run(
            Check("one", "exit 3"),
            Check("two", "true"),
            jobs=2,
            on_progress=lambda line: told.append((line, threading.current_thread())),
        )

        lines = [line for line, _ in told]
        assert lines[:2] == ["one: running", "two: running"]
        assert sorted(line.split(" after")[0] for line in lines[2:]) == ["one: exit 3", "two: exit 0"]
        assert {thread for _, thread in told} == {threading.current_thread()}

    def test_time_of_a_long_check(self, run, tmp_path):
        """While a check runs alone, its seconds are told, and those that it took the last time where they are known."""
        told = []

        def tell(line):
            told.append(line)
            if ", " in line:
                (tmp_path / f"seen {line.partition(':')[0]}").touch()

        run(
            *(Check(name, f"until [ -e '{tmp_path}/seen {name}' ]; do sleep 0.05; done") for name in ("known", "new")),
            on_progress=tell,
            lasted={"known": 30.4},
        )

        shown = [re.sub(r"(running, |after )[\d.]+ s", r"\1N s", line) for line in dict.fromkeys(told)]
        assert [*dict.fromkeys(shown)] == [
            "known: running",
            "known: running, N s, 30 s last time",
            "known: exit 0 after N s",
            "new: running",
            "new: running, N s",
            "new: exit 0 after N s",
        ]


class TestReportsFolder:
    def test_is_made(self, run, tmp_path):
        """The folder is there before the first check, and one for all."""
        one = Check("one", [*PYTHON, "import sys; open(sys.argv[1], 'w')", "{reports}/a.xml"])
        two = Check("two", "test -f {reports}/a.xml", needs=("one",))

        assert all(result.finished.succeeded for result in run(one, two))
        assert (tmp_path / "reports" / "a.xml").exists()

    def test_empty_is_taken(self, run, tmp_path):
        """A folder that is there and empty is as good as a new one."""
        (tmp_path / "reports").mkdir()

        assert run(Check("some", "true"))[0].finished.succeeded

    def test_not_empty_is_refused(self, run, tmp_path):
        """Reports of another run would be taken for this one's: nothing is run."""
        (tmp_path / "reports").mkdir()
        (tmp_path / "reports" / "junit.xml").touch()

        with pytest.raises(StoreError, match=r"reports: not empty \(junit\.xml\)"):
            run(Check("some", "touch ran"))
        assert not (tmp_path / "root" / "ran").exists()

    def test_something_else_is_in_the_way(self, run, tmp_path):
        """A file where the folder should be is said in one line."""
        (tmp_path / "reports").touch()

        with pytest.raises(StoreError, match="reports: File exists; checks need a folder"):
            run(Check("some", "true"))

    def test_output_cannot_be_kept(self, run, tmp_path):
        """A check whose output has no place is an error of the store, not a result."""
        (tmp_path / "kept" / "some.stdout").mkdir(parents=True)

        with pytest.raises(StoreError, match=r"what check some prints cannot be kept: .*some\.stdout"):
            run(Check("some", "true"))

    @pytest.mark.parametrize(
        "command",
        [
            "echo hi > {reports}/x",
            "echo hi > '{reports}/x'",
            'echo hi > "{reports}/x"',
            "echo 'it'\\''s' \\' > {reports}/x",
            'echo "a \\" $HOME" > "{reports}"/x; test -f {reports}/x',
            ["/bin/sh", "-c", 'echo hi > "$0/x"', "{reports}"],
        ],
    )
    @pytest.mark.parametrize("name", ["plain", "with blank", 'it\'s $HOME "so" \\ `x`', "{reports}", "*"])
    def test_any_path_goes_into_any_command(self, tmp_path, command, name):
        """A blank or a quote in the path breaks no command, wherever in its quotes the path stands."""
        reports = tmp_path / name / "r"

        (result,) = run_checks(
            [Check("some", command)], root=tmp_path, folder=tmp_path / "kept", reports=reports, environment={}
        )

        assert result.finished.succeeded, result.stderr.read_text()
        assert (reports / "x").exists()


class TestOrder:
    @table(
        ("needs", "expected"),
        [
            ({"a": (), "b": (), "c": ()}, "abc"),
            ({"a": ("c",), "b": (), "c": ()}, "bca"),
            ({"tests": (), "lint": (), "coverage": ("tests",)}, ["tests", "lint", "coverage"]),
            ({"a": ("b", "c"), "b": ("c",), "c": ()}, "cba"),
            ({"a": (), "b": ("c",), "c": ("a",), "d": ("a",)}, "acbd"),
        ],
    )
    def test_needs_first_then_as_configured(self, needs, expected):
        """A check comes after what it needs, else where it was written."""
        checks = [Check(name, "true", needs=wanted) for name, wanted in needs.items()]

        assert [check.name for check in in_order(checks)] == list(expected)

    def test_one_after_the_other(self, run):
        """With one job nothing overlaps: the first does not get to see the second."""
        alone = "set -C; : > busy && sleep 0.05 && rm busy"

        results = run(Check("b", alone, needs=("c",)), Check("a", alone), Check("c", alone), jobs=0)

        assert [result.check.name for result in results] == ["a", "c", "b"]
        assert all(result.finished.succeeded for result in results)

    def test_jobs_overlap(self, run):
        """With two jobs two checks run at once, and what needs them comes after both."""
        results = run(
            Check("one", [*PYTHON, MEET, "1", "2"]),
            Check("both", "test -f 1 -a -f 2 && touch both", needs=("one", "two")),
            Check("two", [*PYTHON, MEET, "2", "1"]),
            jobs=2,
        )

        assert [result.check.name for result in results] == ["one", "two", "both"]
        assert all(result.finished.succeeded for result in results)

    def test_no_more_than_jobs_at_once(self, run):
        """Two jobs are two: of three checks that could start, the third waits."""
        told = []

        run(*(Check(name, "sleep 0.1") for name in "abc"), jobs=2, on_progress=told.append)

        assert told[:2] == ["a: running", "b: running"]
        assert "after" in told[2]
        assert "c: running" in told[3:]

    @pytest.mark.parametrize(
        ("checks", "message"),
        [
            (
                [Check("a", "x", needs=("tets",)), Check("tests", "x")],
                r"checks\.a\.needs: .*'tets'; did you mean tests\?",
            ),
            ([Check("a", "x", needs=("q",))], r"checks\.a\.needs: no check is named 'q'; known: a"),
            ([Check("a", "x", needs=("a",))], r"checks: a → a need one another in a circle"),
            (
                [Check("a", "x", needs=("b",)), Check("b", "x", needs=("a",)), Check("c", "x")],
                r"checks: (a → b → a|b → a → b) need one another",
            ),
            ([Check("a", "x"), Check("a", "y")], r"checks\.a: this name is used twice"),
            ([Check("Tests", "x"), Check("tests", "y")], r"checks\.tests: this name is used twice"),
            ([Check("../a", "x")], r"checks\.\.\./a: a name is letters"),
            ([Check("", "x")], r"checks\.: a name is letters"),
            ([Check("a", "")], r"checks\.a\.run: nothing to run"),
            ([Check("a", ())], r"checks\.a\.run: nothing to run"),
        ],
    )
    def test_refused(self, run, checks, message):
        """What cannot be run as it stands is refused before anything runs."""
        with pytest.raises(ConfigError, match=message):
            run(*checks)


class TestInterrupted:
    def test_running_checks_are_ended(self, run, tmp_path):
        """Ctrl-C while two checks run ends both, and starts no third."""

        def interrupt(line):
            if line.startswith("quick: exit"):
                raise KeyboardInterrupt

        endless = Check("endless", "touch started; trap 'touch ended; exit' TERM; while :; do sleep 0.05; done")
        quick = Check("quick", "while ! test -f started; do sleep 0.05; done; sleep 0.1")

        with pytest.raises(KeyboardInterrupt):
            run(endless, quick, Check("third", "touch third", needs=("quick",)), jobs=2, on_progress=interrupt)

        assert (tmp_path / "root" / "ended").exists()
        assert not (tmp_path / "root" / "third").exists()


class TestEnvironment:
    @table(
        ("base", "expected"),
        [
            ({"PATH": "p", "LANG": "l"}, {"PATH": "p", "LANG": "l", "PYTHONDONTWRITEBYTECODE": "1"}),
            (
                {"RALPH_TRACKER_DEBUG": "1", "RALPH_LOOP_ID": "x"},
                {"RALPH_LOOP_ID": "x", "PYTHONDONTWRITEBYTECODE": "1"},
            ),
            ({"PYTHONDONTWRITEBYTECODE": ""}, {"PYTHONDONTWRITEBYTECODE": ""}),
            ({"PYTHONPYCACHEPREFIX": "p"}, {"PYTHONPYCACHEPREFIX": "p"}),
        ],
    )
    def test_table(self, base, expected, tmp_path):
        """Our own variables go, bytecode is kept out of the tree unless that is settled, the rest stays."""
        assert environment_for_checks(base, tmp_path) == expected

    def test_python_leaves_the_tree_alone(self, run, tmp_path):
        """A check that imports the project's modules leaves nothing beside them."""
        (tmp_path / "root" / "module.py").touch()

        (result,) = run(
            Check("some", [sys.executable, "-c", "import module"]),
            environment=environment_for_checks(os.environ, tmp_path),
        )

        assert result.finished.succeeded
        assert [path.name for path in (tmp_path / "root").iterdir()] == ["module.py"]
