"""Which reports of a check count: those that this run has written, wherever they are."""

import os
from pathlib import Path

import pytest

from ralph_tracker.measure.find_reports import Missing
from ralph_tracker.measure.run_checks import Check, run_checks

OLD_NS = 1_000_000_000 * 10**9


@pytest.fixture
def found(tmp_path):
    """Run one check in root/ and return its reports as (path, text or why missing)."""

    def found(run, *reports, cwd=".", **options):
        check = Check("some", run, reports=reports, cwd=cwd)
        (result,) = run_checks(
            [check],
            root=tmp_path / "root",
            folder=tmp_path / "kept",
            reports=tmp_path / "reports",
            environment={"PATH": os.environ["PATH"]},
            **options,
        )
        return [
            (report.path, report.data_path.read_text() if report.data_path else report.missing)
            for report in result.reports
        ]

    (tmp_path / "root").mkdir()
    return found


@pytest.fixture
def old(tmp_path):
    """Write a file below root/ that is older than the run."""

    def old(name, text="old") -> Path:
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(OLD_NS, OLD_NS))
        return path

    return old


class TestStandardOutput:
    def test_is_the_captured_file(self, found):
        """`-` is what the check has printed, also nothing, and also if it fails."""
        assert found("printf '{}'; echo no >&2; exit 1", "-") == [("-", "{}")]

    def test_empty(self, found):
        """Nothing printed is an empty report: what that means is for its reader."""
        assert found("true", "-") == [("-", "")]

    def test_of_a_command_that_was_not_started(self, found):
        """A command that is not there has printed no report."""
        assert found(["no-such-tool"], "-") == [("-", Missing.ABSENT)]

    def test_cut(self, found, tmp_path):
        """Output that was cut is no report; what was kept of it stays to be looked at."""
        assert found("echo 12345678", "-", output_cap=8) == [("-", Missing.CUT)]
        assert (tmp_path / "kept" / "some.stdout").read_text().startswith("12345678\n[")

    def test_cut_errors(self, found):
        """What was printed beside the report may be cut without harm to it."""
        assert found("echo 12345678 >&2; echo {}", "-", output_cap=8) == [("-", "{}\n")]


class TestReportsFolder:
    def test_counts_if_it_is_there(self, found):
        """The folder was empty before: what is in it is of this run."""
        assert found("echo x > {reports}/a.xml", "{reports}/a.xml", "{reports}/b.xml") == [
            ("{reports}/a.xml", "x\n"),
            ("{reports}/b.xml", Missing.ABSENT),
        ]

    def test_pattern(self, found):
        """A pattern gives each file that it matches, in order; none is one that is absent."""
        run = "mkdir {reports}/sub; touch {reports}/b.xml {reports}/a.xml {reports}/sub/c.xml {reports}/d.txt"

        assert found(run, "{reports}/*.xml", "{reports}/**/c.*", "{reports}/*.json") == [
            ("{reports}/a.xml", ""),
            ("{reports}/b.xml", ""),
            ("{reports}/sub/c.xml", ""),
            ("{reports}/*.json", Missing.ABSENT),
        ]

    def test_folder_with_wildcards_in_its_name(self, tmp_path):
        """A pattern is only what the configuration says, never what the path to the folder looks like."""
        root = tmp_path / "a[bc]*"
        root.mkdir()

        (result,) = run_checks(
            [Check("some", "touch {reports}/x.xml y.xml", reports=("{reports}/*.xml", "y.*"))],
            root=root,
            folder=root / "kept",
            reports=root / "reports",
            environment={"PATH": os.environ["PATH"]},
        )

        assert [report.data_path for report in result.reports] == [root / "reports" / "x.xml", root / "y.xml"]


class TestFixedPath:
    def test_new(self, found):
        """A report that was not there before is of this run."""
        assert found("echo new > r.xml", "r.xml") == [("r.xml", "new\n")]

    def test_rewritten(self, found, old):
        """One that was rewritten is too."""
        old("r.xml")

        assert found("echo new > r.xml", "r.xml") == [("r.xml", "new\n")]

    def test_rewritten_with_the_same_content(self, found, old):
        """The same result twice is a result: the new time shows that it was written."""
        old("r.xml", "same")

        assert found("printf same > r.xml", "r.xml") == [("r.xml", "same")]

    def test_rewritten_within_the_clock_tick(self, found, old):
        """Same size and same time, but another content, is a rewritten one."""
        old("r.xml", "old")

        assert found("touch -r r.xml t; printf new > r.xml; touch -r t r.xml", "r.xml") == [("r.xml", "new")]

    def test_stale(self, found, old):
        """One that this run has not written does not count, however good it looks."""
        old("r.xml")

        assert found("cat r.xml", "r.xml") == [("r.xml", Missing.STALE)]

    def test_stale_after_a_crash(self, found, old):
        """A tool that is not there leaves the old report: it is not taken for a new one."""
        old("r.xml")

        assert found(["no-such-tool"], "r.xml") == [("r.xml", Missing.STALE)]

    def test_absent_and_removed(self, found, old):
        """One that is gone afterwards is absent, whether it was there before or not."""
        old("r.xml")

        assert found("rm r.xml", "r.xml", "s.xml") == [("r.xml", Missing.ABSENT), ("s.xml", Missing.ABSENT)]

    def test_no_file(self, found):
        """A folder or a pipe in its place would break or block its reader."""
        assert found("mkdir r.xml; mkfifo p.xml", "r.xml", "p.xml") == [
            ("r.xml", Missing.NO_FILE),
            ("p.xml", Missing.NO_FILE),
        ]

    def test_link(self, found, old):
        """A link is the file that it points to: a new link to an old file counts, a link to nowhere does not."""
        old("real.xml")

        assert found("ln -s real.xml r.xml; ln -s nowhere s.xml", "r.xml", "s.xml") == [
            ("r.xml", "old"),
            ("s.xml", Missing.ABSENT),
        ]

    def test_is_relative_to_the_folder_of_the_check(self, found, old):
        """Paths are as the check sees them; absolute ones are taken as they are."""
        path = old("web/out/r.xml").parent / "s.xml"

        got = found(f"touch out/r.xml {path}", "out/r.xml", str(path), f"{path.parent}/s.*", "../x.xml", cwd="web")

        assert got == [("out/r.xml", "old"), (str(path), ""), ("../x.xml", Missing.ABSENT)]

    def test_pattern(self, found, old):
        """Of the files that a pattern matches those count that this run has written."""
        old("target/TEST-a.xml")
        old("target/TEST-b.xml")
        old("target/deep/TEST-d.xml")

        assert found("echo > target/TEST-b.xml; echo > target/TEST-c.xml", "target/TEST-*.xml") == [
            ("target/TEST-b.xml", "\n"),
            ("target/TEST-c.xml", "\n"),
        ]

    def test_pattern_of_stale_files_only(self, found, old):
        """Where this run has written none of them the pattern is stale, said once."""
        old("target/TEST-a.xml")
        old("target/TEST-b.xml")

        assert found("true", "target/TEST-*.xml") == [("target/TEST-*.xml", Missing.STALE)]

    def test_pattern_does_not_look_into_records(self, found, old):
        """`**` finds neither the reports that we kept of earlier iterations nor git's own files."""
        old(".aiwg/ralph/x/junit.xml")
        old(".git/junit.xml")

        assert found("mkdir -p a/b; ln -s .. a/b/up; touch a/b/junit.xml", "**/junit.xml") == [("a/b/junit.xml", "")]

    def test_name_that_looks_like_a_pattern(self, found):
        """A file of exactly that name is meant, if there is one."""
        assert found("touch 'r[1].xml' r1.xml", "r[1].xml") == [("r[1].xml", "")]

    def test_written_by_another_check(self, tmp_path):
        """What counts is the run, not which of its checks did it."""
        (tmp_path / "r.xml").write_text("old")
        checks = [Check("writes", "echo new > r.xml"), Check("reads", "true", reports=("r.xml",), needs=("writes",))]

        results = run_checks(
            checks, root=tmp_path, folder=tmp_path / "kept", reports=tmp_path / "reports", environment={}
        )

        assert [report.data_path for report in results[1].reports] == [tmp_path / "r.xml"]

    def test_that_two_checks_name_is_the_first_ones(self, tmp_path):
        """It counts once, however the paths are written."""
        (tmp_path / "sub").mkdir()
        checks = [
            Check("one", "echo new > r.xml", reports=("r.xml", "*.xml")),
            Check("two", "true", reports=("../r.xml", "-"), cwd="sub"),
        ]

        one, two = run_checks(
            checks, root=tmp_path, folder=tmp_path / "kept", reports=tmp_path / "reports", environment={}
        )

        assert [report.path for report in one.reports] == ["r.xml"]
        assert [report.path for report in two.reports] == ["-"]
        assert (one.shared, two.shared) == ({}, {"../r.xml": "one"})

    def test_unreadable(self, found, old, as_user):
        """A file that nobody may read and nobody has touched is stale."""
        old("r.xml").chmod(0)

        assert as_user(lambda: found("true", "r.xml")) == [("r.xml", Missing.STALE)]


def test_reasons_are_told(tmp_path):
    """Each way of missing has words for a person; a report that counts has none."""
    (tmp_path / "r.xml").touch()
    check = Check("some", "touch n.xml", reports=("r.xml", "s.xml", "n.xml"))

    (result,) = run_checks(
        [check], root=tmp_path, folder=tmp_path / "kept", reports=tmp_path / "reports", environment={"PATH": os.defpath}
    )

    assert [report.reason for report in result.reports] == [
        "left from an earlier run, not rewritten by this one",
        "not written by this run",
        None,
    ]


class TestLinks:
    @pytest.mark.parametrize("target", ["../outside.xml", "/dev/zero"])
    @pytest.mark.parametrize("report", ["junit.xml", "{reports}/junit.xml", "out/*.xml"])
    def test_out_of_the_project_do_not_count(self, found, tmp_path, report, target):
        (tmp_path / "outside.xml").write_text("<testsuite/>")
        target = tmp_path / "outside.xml" if target.startswith("..") else target
        name = report.replace("*", "junit")
        assert found(f"mkdir -p out; ln -s {target} {name}", report) == [(report, Missing.LINK)]

    def test_within_the_project_count(self, found):
        assert found("echo '<a/>' > real.xml; ln -s real.xml junit.xml", "junit.xml") == [("junit.xml", "<a/>\n")]

    def test_of_the_reports_folder_into_the_project_count(self, found):
        assert found("echo '<a/>' > a.xml; ln -s $PWD/a.xml {reports}/b.xml", "{reports}/b.xml") == [
            ("{reports}/b.xml", "<a/>\n")
        ]
