"""Arguments and places that cannot be used: one line each, the code of its kind, and nothing is changed."""

import errno
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from tests.tables import table

ID_RULE = "use 1 to 64 of a-z, 0-9, dot, underscore and hyphen, a letter or digit first"
# id: the loop id, and how it is shown
LOOP_IDS = {
    "way out": ("../x", "'../x'"),
    "dots inside": ("a..b", "'a..b'"),
    "folder": ("a/b", "'a/b'"),
    "hidden": (".x", "'.x'"),
    "option": ("-x", "'-x'"),
    "300 characters": ("x" * 300, f"'{'x' * 40}…'"),
    "newline": ("a\nb", r"'a\nb'"),
    "newline at the end": ("a\n", r"'a\n'"),
    "empty": ("", "''"),
    "blank": (" ", "' '"),
    "uppercase": ("Ralph-001", "'Ralph-001'"),
    "accent": ("é", "'é'"),
    "escape": ("\x1b[31m", r"'\x1b[31m'"),
    "name of ours": ("loops", "'loops'"),
}
SEE = "see `ralph-tracker {} --help`"
USAGE = {
    "no such command": (["histroy"], "no command 'histroy'; did you mean history?; see `ralph-tracker --help`"),
    "no command like it": (["zzz"], "no command 'zzz'; see `ralph-tracker --help`"),
    "no such option": (["--bogus"], "No such option '--bogus'; see `ralph-tracker --help`"),
    "unknown iteration word": (
        ["show", "last"],
        f"Invalid value for '[NUMBER]': 'last' is not a valid integer range; {SEE.format('show')}",
    ),
    "iteration 0 of post-iteration": (
        ["hook", "post-iteration", "--iteration", "0"],
        f"Invalid value for '--iteration': 0 is not in the range x>=1; {SEE.format('hook post-iteration')}",
    ),
    "iteration with a leading zero": (
        ["show", "010"],
        f"Invalid value for '[NUMBER]': 010 begins with a zero: write 10; {SEE.format('show')}",
    ),
    "iteration with a leading zero in an option": (
        ["hook", "post-iteration", "--iteration", "08"],
        f"Invalid value for '--iteration': 08 begins with a zero: write 8; {SEE.format('hook post-iteration')}",
    ),
    "baseline written as 00": (
        ["restore", "00"],
        f"Invalid value for '[NUMBER]': 00 begins with a zero: write 0; {SEE.format('restore')}",
    ),
    "a branch for the output folder": (
        ["select-best", "--branch", "peak"],
        f"--branch needs --apply branch, not output; {SEE.format('select-best')}",
    ),
    "a branch for the working tree": (
        ["hook", "post-loop", "--branch", "peak", "--apply", "worktree"],
        f"--branch needs --apply branch, not worktree; {SEE.format('hook post-loop')}",
    ),
    "export to nothing": (
        ["export"],
        f"Missing option '--to'. Choose from: mlflow, otlp, csv, jsonl, parquet; {SEE.format('export')}",
    ),
    "acceptance without an id": (["accept", "--reason", "x"], f"Missing argument 'ID'; {SEE.format('accept')}"),
    "acceptance without a reason": (["accept", "it1-x"], f"Missing option '--reason'; {SEE.format('accept')}"),
    "both ways to replace a loop": (
        ["hook", "pre-loop", "--new", "--rebaseline"],
        f"--new and --rebaseline exclude each other; {SEE.format('hook pre-loop')}",
    ),
    "one argument too many": (
        ["status", "now"],
        f"Got unexpected extra argument (now); {SEE.format('status')}",
    ),
}


@table("name", LOOP_IDS)
@table(
    "command",
    [("status",), ("hook", "loop-decision"), ("hook", "loop-decision", "--json"), ("hook", "post-loop"), ("history",)],
    ids=" ".join,
)
def test_a_loop_id_that_is_no_safe_folder_name_is_refused(running, name, command):
    loop_id, shown = LOOP_IDS[name]
    before = running.content()
    answer = running.ralph(*command, f"--loop-id={loop_id}")
    assert (answer.code, answer.complaint) == (1, f"loop id {shown}: {ID_RULE}")
    answer = running.ralph(*command, "--loop-id", loop_id)
    assert (answer.code, answer.complaint) == (1, f"loop id {shown}: {ID_RULE}")
    assert running.content() == before


@pytest.mark.parametrize("name", [name for name in LOOP_IDS if name != "empty"])
def test_a_loop_id_of_the_environment_is_held_to_the_same_rule(running, monkeypatch, metrics_of, name):
    loop_id, shown = LOOP_IDS[name]
    monkeypatch.setenv("RALPH_LOOP_ID", loop_id)
    before = running.content()
    for answer in (running.ralph("status"), running.hook("pre-loop", metrics_of()), running.hook("loop-decision")):
        assert (answer.code, answer.complaint) == (1, f"loop id {shown}: {ID_RULE}")
    assert running.content() == before


@table("name", LOOP_IDS)
def test_no_loop_starts_under_an_id_that_is_no_safe_folder_name(project, metrics_of, name):
    loop_id, shown = LOOP_IDS[name]
    answer = project.hook("pre-loop", metrics_of(), "--loop-id", loop_id)
    assert (answer.code, answer.complaint) == (1, f"loop id {shown}: {ID_RULE}")
    assert project.content() == {}


@table("name", USAGE)
def test_wrong_usage_is_one_line_that_says_where_to_read_on(project, name):
    arguments, said = USAGE[name]
    answer = project.ralph(*arguments)
    assert (answer.code, answer.complaint) == (2, said)
    assert project.content() == {}


@table(("arguments", "heading"), [([], "Start and drive a loop"), (["hook"], "Commands")])
def test_no_command_at_all_shows_the_help_and_counts_as_wrong_usage(capsys, arguments, heading):
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("Usage: ralph-tracker")
    assert f"\n{heading}:\n" in told.err


def every_command(metrics):
    return [
        ("hook", "pre-loop", "--metrics", metrics),
        ("hook", "post-iteration", "--metrics", metrics),
        ("hook", "loop-decision"),
        ("hook", "post-loop"),
        ("status",),
        ("history",),
        ("show",),
        ("report",),
        ("select-best",),
        ("accept", "it1-stalled", "--reason", "x"),
    ]


@pytest.mark.parametrize("kind", ["nothing", "file"])
def test_a_root_that_is_no_folder_is_refused_by_every_command(project, metrics_of, capsys, kind):
    root = project.root.parent / "elsewhere"
    if kind == "file":
        root.write_text("")
    for command in every_command(project.file("metrics.json", metrics_of())):
        code = run([*map(str, command), "--root", str(root)])
        told = capsys.readouterr()
        said = f"ralph-tracker: {root}: not a folder; --root takes the project's folder\n"
        assert (code, told.out, told.err) == (1, "", said), command
    assert root.exists() is (kind == "file")


def test_a_root_that_cannot_be_written_is_named(project, metrics_of):
    blocked = project.root / ".aiwg"
    blocked.write_text("not a folder")
    answer = project.hook("pre-loop", metrics_of())
    assert answer.code == 1
    assert answer.complaint == f"{blocked / 'ralph'}: Not a directory; nothing was changed"
    assert blocked.read_text() == "not a folder"
    for command in every_command(None)[2:]:
        answer = project.ralph(*command)
        assert (answer.code, answer.complaint) == (
            1,
            f"no loop in {project.root}; run `ralph-tracker hook pre-loop` first",
        )


def test_a_report_that_cannot_be_written_where_it_should_is_named(running):
    answer = running.ralph("report", "-o", running.root)
    assert (answer.code, answer.complaint) == (1, f"{running.root}: Is a directory; nothing was changed")


def test_a_report_is_written_to_a_file_and_not_printed(running, tmp_path):
    file = tmp_path / "report.md"
    assert running.ralph("report", "1", "-o", file).out == ""
    assert file.read_text(encoding="utf-8") == running.ralph("report", "1").out


class Unreadable(list):
    """Stand for a fault of ours: arguments that fail when they are looked at."""

    def __getitem__(self, index):
        raise RuntimeError("first line\nsecond \x1b[31m line")


class Refused(list):
    """Stand for a machine that refuses something where nobody looked for it."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def __getitem__(self, index):
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory"),
        (SystemError("no error set"), "Python failed, as it does when memory runs out: no error set"),
        (ImportError("cannot be mapped", path="/a.so"), "Python cannot load a library: cannot be mapped"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (OSError(errno.ENOSPC, "No space left on device", "/some/file"), "/some/file: No space left on device"),
    ],
    ids=["memory", "interpreter", "library", "open files", "space"],
)
def test_a_limit_of_the_machine_is_one_line_and_no_bug(capsys, error, said):
    assert run(Refused(error)) == 1
    assert capsys.readouterr().err == f"ralph-tracker: {said}; recorded iterations are kept\n"


def test_a_bug_of_ours_is_one_line_and_a_log(capsys):
    assert run(Unreadable(["status"])) == 70
    told = capsys.readouterr()
    assert told.out == ""
    line = told.err
    assert line.startswith(
        "ralph-tracker: a bug in ralph-tracker: RuntimeError: first line second \\u001b[31m line; please report it "
        "with "
    )
    assert line.count("\n") == 1
    log = Path(line.rpartition(" with ")[2].strip())
    text = log.read_text(encoding="utf-8")
    log.unlink()
    assert text.startswith("ralph-tracker ")
    assert "Traceback (most recent call last)" in text
