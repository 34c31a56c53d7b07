"""What the checks wrote is named by folders, with the lines that .gitignore lacks."""

from ralph_tracker.iteration.measure_iteration import change_note
from tests.tables import table

BEFORE = frozenset({"app.py", "src/a/one.py", "src/b/two.py"})


@table(
    ("paths", "said"),
    [
        (["app.py"], "app.py"),
        (["new.txt", "app.py"], "app.py, new.txt; add to .gitignore: new.txt"),
        ([f"target/debug/{n}" for n in range(54)], "target/ (54 files); add to .gitignore: target/"),
        (["src/out/x"], "src/out/; add to .gitignore: src/out/"),
        (["src/a/tmp/x", "src/b/tmp/y"], "src/a/tmp/, src/b/tmp/; add to .gitignore: tmp/"),
        (list("1234567"), "1, 2, 3, 4, 5 and 2 more; add to .gitignore: 1, 2, 3, 4, 5 and 2 more"),
        (["wri\nten"], "wri\\nten; add to .gitignore: wri\\nten"),
    ],
    ids=["edited", "edited and written", "a new folder", "in an old folder", "the same name twice", "many", "odd name"],
)
def test_folders_that_are_new_are_named_once(paths, said):
    assert change_note(paths, BEFORE) == f"tree_changed_by_checks: {said}"
