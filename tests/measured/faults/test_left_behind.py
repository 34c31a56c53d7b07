"""What a git that was killed has begun goes with the next writer of the loop."""

import pytest

OBJECT, NAME = "store.git/objects/65/tmp_obj_YbuDJ3", "store.git/refs/safety/undo-e79052f9293f.lock"


@pytest.mark.parametrize(
    ("died", "goes", "stays"),
    [pytest.param(True, [OBJECT, NAME], [], id="killed"), pytest.param(False, [NAME], [OBJECT], id="ended well")],
)
def test_the_next_writer_takes_away_what_a_git_has_begun(workshop, died, goes, stays):
    workshop.start()
    for name in (OBJECT, NAME):
        (workshop.paths.folder / name).parent.mkdir(exist_ok=True)
        (workshop.paths.folder / name).write_bytes(b"half")
    if died:
        workshop.paths.staging.mkdir()
    workshop.tracker.restore(0)
    assert not any((workshop.paths.folder / name).exists() for name in goes)
    assert all((workshop.paths.folder / name).exists() for name in stays)
