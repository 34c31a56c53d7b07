"""Installed packages that were edited in place, beside those that were installed anew."""

import time

import pytest

from ralph_tracker.measure.edited_packages import NAMES_PACKAGES, changed_settings, edited_package_file
from tests.tables import table

PLACES = {
    "Node": "node_modules/expect",
    "Node, in a scope": "node_modules/@jest/core",
    "Node, of a workspace": "packages/a/node_modules/expect",
    "Python": ".venv/lib/python3.11/site-packages/expect",
    "PHP": "vendor/expect",
}


@pytest.fixture
def installed(tmp_path):
    """Return what writes files of a package, and a moment after those written so far."""

    def write(package, *names):
        for name in names:
            path = tmp_path / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("1")
        if ".venv" in package:
            (tmp_path / ".venv/pyvenv.cfg").write_text("")

    def moment():
        time.sleep(0.02)  # file times are those of the kernel's last tick
        path = tmp_path / "loop.yaml"
        path.write_text("1")
        time.sleep(0.02)
        return path.stat().st_mtime

    return write, moment, tmp_path


@pytest.mark.parametrize("package", PLACES.values(), ids=PLACES)
def test_an_edited_file_beside_older_ones_is_named(package, installed):
    write, moment, root = installed
    write(package, "a.js", "lib/b.js")
    since = moment()
    projects = ["", "packages/a"]
    assert edited_package_file(root, projects, since) is None
    write(package, "lib/b.js")
    assert edited_package_file(root, projects, since) == f"{package}/lib/b.js"


SITE = ".venv/lib/python3.11/site-packages"


def test_a_package_of_one_file_is_older_than_what_describes_it(installed):
    write, moment, root = installed
    write(f"{SITE}/Round", "__init__.py")
    write(f"{SITE}/round-1.0.dist-info", "METADATA")
    since = moment()
    write(f"{SITE}/Round", "__init__.py")
    assert edited_package_file(root, [""], since) == f"{SITE}/Round/__init__.py"
    write(f"{SITE}/round-1.0.dist-info", "METADATA")
    assert edited_package_file(root, [""], since) is None


@table(
    ("name", "text", "named"),
    [
        ("zz.pth", "import zz\n", True),
        ("sitecustomize.py", "", True),
        ("zz.pth", "/home/me/src\n", False),
        ("__editable__.box-1.pth", "import finder\n", False),
    ],
)
def test_a_new_file_that_python_runs_at_each_start_is_named(name, text, named, installed):
    write, moment, root = installed
    write(f"{SITE}/expect", "__init__.py")
    since = moment()
    for old in (root / SITE).glob("*.p*"):
        old.unlink()
    (root / SITE / name).write_text(text)
    assert edited_package_file(root, [""], since) == (f"{SITE}/{name}" if named else None)


@pytest.mark.parametrize(
    "names",
    [["a.js", "lib/b.js"], [], [".cache/c.js", "__pycache__/d.pyc", "node_modules/inner/e.js"]],
    ids=["installed anew", "not touched", "caches, and a package that it brings"],
)
def test_other_changes_are_no_edit(names, installed):
    write, moment, root = installed
    write("node_modules/expect", "a.js", "lib/b.js")
    since = moment()
    write("node_modules/expect", *names)
    write("node_modules/.vite", "f.js")
    write("node_modules/new", "g.js", "h.js")
    assert edited_package_file(root, [""], since) is None


@table(
    ("path", "is_loaded"),
    [
        ("conftest.py", True),
        ("packages/a/pytest.ini", True),
        ("sitecustomize.py", True),
        ("jest.config.js", True),
        ("vitest.workspace.ts", True),
        ("packages/a/jest.setup.js", True),
        (".mocharc.cjs", True),
        ("bunfig.toml", True),
        (".cargo/config.toml", True),
        ("packages/a/.config/nextest.toml", True),
        ("go.work", True),
        ("gradle.properties", True),
        ("phpunit.xml", True),
        (".rspec", True),
        (".env", False),
        ("packages/a/notes.txt", False),
        ("build/conftest.py", False),  # the tree has no such folder
        ("in_tree/tox.ini", False),
    ],
)
def test_ignored_settings_that_changed_are_those_that_runners_load(path, is_loaded, installed):
    write, moment, root = installed
    tree = {"calc.py", "packages/a/calc.py", "in_tree/tox.ini"}
    write("in_tree", "setup.cfg")
    since = moment()
    write("", path)
    assert changed_settings(root, tree, since) == ([path] if is_loaded else [])
    (root / path).unlink()


@table(
    ("path", "names"),
    [
        ("package.json", True),
        ("packages/a/package-lock.json", True),
        ("requirements-dev.txt", True),
        ("uv.lock", True),
        ("src/package.json.ts", False),
        ("README.md", False),
    ],
)
def test_what_names_packages(path, names):
    assert bool(NAMES_PACKAGES.search(path)) is names
