"""`restore` says what it deletes before it does, and leaves alone what is not the loop's."""

import json

import pytest

from .conftest import measured


@pytest.fixture
def kept(project):
    """Return a project without git whose loop keeps its files, at its baseline."""
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"codebase": {"keep": "always"}}))
    (project.root / "app.py").write_text("one = 1\n")
    return project.started()


def test_what_a_restore_deletes_is_listed_before_it_is_done(kept):
    for number in range(42):
        (kept.root / f"new{number:02}.py").write_text("")
    (kept.root / "app.py").write_text("two = 2\n")
    first, *rest = kept.ralph("restore", 0).out.splitlines()
    assert first.startswith("Deletes 42 files: new00.py, new01.py")
    assert first.endswith("new39.py and 2 more")
    undo = rest[1].strip().removeprefix("undo with `ralph-tracker restore --undo ").rstrip("`")
    assert rest[0].startswith("The working tree is iteration 0 now")
    assert kept.ralph("restore", "--undo", undo).out.startswith("The working tree is as it was before")
    assert (kept.root / "new41.py").exists()
    assert len(kept.ralph("restore", 0, "--json").json["deleted"]) == 42


def test_nothing_is_announced_where_nothing_goes_or_the_restore_is_refused(kept):
    assert kept.ralph("restore", 0).out.startswith("The working tree is iteration 0 now")
    (kept.root / "new.py").write_text("")
    assert kept.ralph("restore", 7).complaint.startswith("iteration 7 is not on record")
    assert "undo id" in kept.ralph("restore", "--undo", "undo-1").complaint
    assert (kept.root / "new.py").exists()


writes = pytest.mark.parametrize(
    "words",
    [("report", "--html"), ("report", "-o"), ("export", "--to", "csv", "-o"), ("gate", "--metrics", "{}", "--junit")],
    ids=" ".join,
)


@writes
def test_what_was_written_as_asked_stays(kept, words):
    given = kept.file("metrics.json", measured())
    for name in ("reports/one.out", "../outside.out"):
        (kept.root / name).parent.mkdir(exist_ok=True)
        assert kept.ralph(*(each.format(given) for each in words), kept.root / name).code == 0
    (kept.root / "app.py").write_text("two = 2\n")
    kept.must("post-iteration", measured())
    kept.ralph("restore", 0)
    assert (kept.root / "reports/one.out").stat().st_size
    assert (kept.root / "app.py").read_text() == "one = 1\n"


@writes
@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nowhere"])
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_nothing_is_written_through_a_link_out_of_the_project(kept, words, linked, exists, tmp_path_factory):
    given, theirs = kept.file("metrics.json", measured()), tmp_path_factory.mktemp("theirs")
    if exists:
        (theirs / "one.out").write_text("theirs")
    place = kept.root / "reports/one.out"
    place.parent.symlink_to(theirs) if linked == "folder" else place.parent.mkdir()
    if linked == "file":
        place.symlink_to(theirs / "one.out")
    said = kept.ralph(*(each.format(given) for each in words), place).complaint
    assert said.endswith(
        f"{place}: a link leads to {theirs}/one.out, out of the project; name that file; nothing was written"
    )
    assert [path.read_text() for path in theirs.iterdir()] == (["theirs"] if exists else [])
    assert kept.ralph(*(each.format(given) for each in words), theirs / "two.out").code == 0


def test_a_selection_that_is_put_in_place_says_first_what_it_deletes(kept):
    (kept.root / "app.py").write_text("two = 2\n")
    (kept.root / "new.py").write_text("")
    kept.must("post-iteration", measured(tests_passed=5, tests_failed=5))
    told = kept.ralph("select-best", "--apply", "worktree", "--iteration", 0, "--reason", "x", "--yes").out
    assert "2 files in the working tree: D new.py, M app.py" in told
