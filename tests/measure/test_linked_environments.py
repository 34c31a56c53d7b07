"""A copy of a project is measured with the project's environments, and with its own code."""

import os
import subprocess

import pytest

from ralph_tracker.errors import InputError
from ralph_tracker.measure.linked_environments import endless_links, link_environments
from ralph_tracker.measure.run_checks import Check

NO_PATH = {"PATH": ""}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project").mkdir()
    return (tmp_path / "project").resolve()


@pytest.fixture
def copy(tmp_path):
    (tmp_path / "copy" / "web").mkdir(parents=True)
    return tmp_path / "copy"


@pytest.fixture
def site(root):
    """Return where the packages of the project's environment lie."""
    site = root / ".venv/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").touch()
    return site


def test_environments_are_lent_and_nothing_else(root, copy, site):
    for name in ("node_modules/part", "node_modules/@a/b", "build", "web/node_modules/x", "other/node_modules/y"):
        (root / name).mkdir(parents=True)
    (root / ".env").touch()
    link_environments(root, copy, [Check(name="gone", run="x", cwd="nowhere")], NO_PATH)
    links = {path.relative_to(copy).as_posix(): path.resolve() for path in copy.rglob("*") if path.is_symlink()}
    names = (".venv", "node_modules/part", "node_modules/@a/b", "web/node_modules/x")
    assert links == {name: root / name for name in names}
    assert not (copy / ".env").exists()


def test_caches_beside_packages_are_the_copys_own(root, copy):
    for name in (".bin", ".pnpm", ".vite", ".cache"):
        (root / "node_modules" / name).mkdir(parents=True)
    (root / "node_modules/.package-lock.json").touch()
    link_environments(root, copy, (), NO_PATH)
    assert {path.name for path in (copy / "node_modules").iterdir()} == {".bin", ".pnpm", ".package-lock.json"}
    (copy / "node_modules/.vite").mkdir()
    assert list((root / "node_modules/.vite").iterdir()) == []


def test_an_environment_that_was_kept_with_the_files_is_not_replaced(root, copy, site):
    (copy / ".venv").mkdir()
    link_environments(root, copy, (), NO_PATH)
    assert not (copy / ".venv").is_symlink()


def test_submodules_are_lent_where_the_copy_has_their_folder(root, copy):
    for name in ("web/part", "other/part", "kept"):
        (root / name).mkdir(parents=True)
        (root / name / ".git").write_text("gitdir: ../.git/modules/part\n")
    (copy / "kept").mkdir()
    link_environments(root, copy, (), NO_PATH)
    assert (copy / "web/part").resolve() == root / "web/part"
    assert not (copy / "kept").is_symlink()
    assert not (copy / "other").exists()


def test_packages_of_the_projects_tree_come_from_the_copy(root, copy, site, tmp_path):
    (site / "a.pth").write_text(f"import os\n{root}/src\n{tmp_path}\n../x\n")
    (site / "__editable___b_finder.py").write_text(f"x = 1\nMAPPING: dict[str, str] = {{'b': '{root}/lib/b'}}\n")
    found = link_environments(root, copy, (), {**NO_PATH, "PYTHONPATH": "mine"})
    assert found["PYTHONPATH"].split(os.pathsep) == [f"{copy}/src", f"{copy}/lib", "mine"]
    assert found["UV_NO_SYNC"] == "1"


@pytest.mark.parametrize("how", ["PATH", "VIRTUAL_ENV"])
def test_an_environment_elsewhere_is_looked_into_too(root, copy, tmp_path, how):
    site, program = tmp_path / "env/lib/python3.12/site-packages", tmp_path / "env/bin/python"
    site.mkdir(parents=True)
    program.parent.mkdir()
    program.touch(0o755)
    (site / "a.pth").write_text(f"{root}\n")
    environment = {"PATH": str(program.parent)} if how == "PATH" else {**NO_PATH, "VIRTUAL_ENV": str(tmp_path / "env")}
    assert link_environments(root, copy, [Check(name="t", run="make")], environment)["PYTHONPATH"] == str(copy)


@pytest.mark.parametrize("text", ["", "MAPPING = {x}\n", "MAPPING = {'a': 1, 2: 'b'}\n"])
def test_a_finder_that_says_nothing_is_passed_over(root, copy, site, text):
    (site / "__editable___b_finder.py").write_text(text)
    (site / "folder.pth").mkdir()
    assert "PYTHONPATH" not in link_environments(root, copy, (), NO_PATH)


def test_a_package_under_another_name_cannot_be_redirected(root, copy, site):
    (site / "__editable___b_finder.py").write_text(f"MAPPING = {{'b': '{root}/src'}}\n")
    with pytest.raises(InputError, match="takes b from src of the working tree"):
        link_environments(root, copy, (), NO_PATH)


@pytest.mark.parametrize("name", ["part", "@scope/part"])
def test_a_workspace_that_links_into_the_tree_is_refused(root, copy, name):
    (root / "packages/part").mkdir(parents=True)
    link = root / "node_modules" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(root / "packages/part")
    with pytest.raises(InputError, match=f"node_modules/{name} is a link into the working tree"):
        link_environments(root, copy, (), NO_PATH)


def test_without_the_same_source_too_what_the_copy_has_is_linked_to_the_copy(root, copy):
    """A workspace's package and its program, and the project itself (`npm link`, `file:.`)."""
    (root / "node_modules/.bin").mkdir(parents=True)
    for folder in (root, copy):
        (folder / "packages/part").mkdir(parents=True)
        (folder / "packages/part/cli.js").write_text(folder.name)
    for name, target in (("part", "../packages/part"), ("self", ".."), (".bin/cli", "../../packages/part/cli.js")):
        (root / "node_modules" / name).symlink_to(target)
    link_environments(root, copy, (), NO_PATH)
    found = {name: (copy / "node_modules" / name).resolve() for name in ("part", "self", ".bin/cli")}
    assert found == {"part": copy / "packages/part", "self": copy, ".bin/cli": copy / "packages/part/cli.js"}


@pytest.mark.parametrize("same_source", [True, False])
def test_a_link_that_leads_to_itself_is_left_out_and_named(root, copy, same_source):
    (root / "node_modules/@a").mkdir(parents=True)
    for name, target in (("one", "two"), ("two", "one"), ("@a/b", "b"), ("around", "."), ("dangling", "nowhere")):
        (root / "node_modules" / name).symlink_to(target)
    link_environments(root, copy, (), NO_PATH, same_source=same_source)
    lent = {path.relative_to(copy).as_posix() for path in (copy / "node_modules").rglob("*")}
    assert lent == {"node_modules/@a", "node_modules/around", "node_modules/dangling"}
    assert endless_links(root) == ["node_modules/one", "node_modules/two", "node_modules/@a/b"]


def test_links_within_node_modules_are_fine(root, copy):
    (root / "node_modules/.store/part").mkdir(parents=True)
    (root / "node_modules/part").symlink_to(root / "node_modules/.store/part")
    link_environments(root, copy, (), NO_PATH)
    assert (copy / "node_modules/part").is_dir()


@pytest.mark.parametrize("name", ["part", "@scope/part"])
def test_with_the_same_source_a_workspace_is_linked_to_the_copy(root, copy, name):
    link = root / "node_modules" / name
    for folder in (root / "packages/part", root / "packages/part/node_modules/x", copy / "packages/part", link.parent):
        folder.mkdir(parents=True, exist_ok=True)
    link.symlink_to(root / "packages/part")
    (root / "node_modules/gone").symlink_to(root / "packages")
    (copy / "packages/part/new.js").touch()
    link_environments(root, copy, (), NO_PATH, same_source=True)
    assert (copy / "node_modules" / name).resolve() == (copy / "packages/part").resolve()
    assert (copy / "packages/part/node_modules/x").resolve() == root / "packages/part/node_modules/x"


def test_with_the_same_source_a_package_under_another_name_is_taken_from_the_tree(root, copy, site):
    (site / "__editable___b_finder.py").write_text(f"MAPPING = {{'b': '{root}/src', 'c': '{root}/lib/c'}}\n")
    assert link_environments(root, copy, (), NO_PATH, same_source=True)["PYTHONPATH"] == f"{copy}/lib"


def test_with_the_same_source_small_ignored_files_are_copied(root, copy, site):
    (root / "web").mkdir()
    (root / "large").touch()
    os.truncate(root / "large", (16 << 20) + 1)
    for name in (".env", ".git/config", "web/made.py", ".cargo/config.toml", "build/made.py", "kept"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("ignored")
    (copy / ".git").mkdir()
    (copy / "kept").write_text("kept")
    link_environments(root, copy, (), NO_PATH, same_source=True)
    files = {path.relative_to(copy).as_posix(): path.read_text() for path in copy.rglob("*") if path.is_file()}
    assert {name: text for name, text in files.items() if ".venv" not in name} == {
        ".env": "ignored",
        "web/made.py": "ignored",
        ".cargo/config.toml": "ignored",
        "kept": "kept",
    }
    assert not (copy / ".env").is_symlink()


def test_builds_are_kept_in_a_folder_of_their_own(root, copy, tmp_path):
    assert link_environments(root, copy, (), NO_PATH, builds=tmp_path / "builds")["CARGO_TARGET_DIR"] == str(
        tmp_path / "builds/cargo"
    )
    assert "CARGO_TARGET_DIR" not in link_environments(root, copy, (), NO_PATH)


@pytest.mark.parametrize(
    ("tool", "asked", "call"),
    [
        ("poetry", "env info --path", "poetry run python"),
        ("pipenv", "--venv", "pipenv run python"),
        ("hatch", "env find default", "hatch run python"),
        ("hatch", "env find tests.py3.12", "hatch run tests.py3.12:python"),
    ],
)
def test_what_a_tool_keeps_elsewhere_runs_in_the_copy(root, copy, tmp_path, tool, asked, call):
    elsewhere = tmp_path / "kept elsewhere"
    script(elsewhere / "bin/python", 'echo "python of the project in $PWD: $*"')
    script(
        tmp_path / "path" / tool,
        f'[ "$*" = "{asked}" ] && [ "$PWD" = "{root}" ] && echo "{elsewhere}" || echo "it: $*"',
    )
    (elsewhere / "lib/python3.12/site-packages").mkdir(parents=True)
    (elsewhere / "lib/python3.12/site-packages/demo.pth").write_text(f"{root}/src\n")
    path = {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin"}
    found = link_environments(root, copy, [Check(name="tests", run=f"{call} -m pytest")], path)
    assert found["PYTHONPATH"] == f"{copy}/src"
    for words, printed in (
        (f"{call} -m pytest 'a b'", f"python of the project in {copy}: -m pytest a b"),
        (f"{tool} run test", "it: run test"),  # a script that the tool knows, not the program of that name
    ):
        done = subprocess.run(["/bin/sh", "-c", words], cwd=copy, env=found, capture_output=True, text=True, check=True)
        assert done.stdout == f"{printed}\n"


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_packages_of_composer_are_lent_and_its_loader_is_the_copys_own(root, copy):
    for name in ("vendor/acme/box", "vendor/composer", "vendor/bin"):
        (root / name).mkdir(parents=True)
    (root / "vendor/autoload.php").write_text("<?php")
    (root / "vendor/composer/autoload_static.php").write_text("<?php")
    link_environments(root, copy, (), NO_PATH)
    assert (copy / "vendor/acme").resolve() == root / "vendor/acme"
    for name in ("autoload.php", "composer/autoload_static.php", "bin"):
        assert (copy / "vendor" / name).resolve() == copy.resolve() / "vendor" / name


def test_the_bundle_is_lent_into_a_vendor_folder_that_is_kept(root, copy):
    (root / "vendor/bundle/ruby").mkdir(parents=True)
    (copy / "vendor/own").mkdir(parents=True)
    link_environments(root, copy, (), NO_PATH)
    assert (copy / "vendor/bundle").resolve() == root / "vendor/bundle"
