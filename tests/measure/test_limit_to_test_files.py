"""A check of tests is limited to files where its runner takes them, and to nothing else."""

import shlex

import pytest

from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.run_checks import Check

FILES = {
    "tests/test_a.py": "",
    "tests/test_b.py": "",
    "tests/deep/test_c.py": "",
    "tests/it's $(touch x) test.py": "",
    "-x.py": "",
    "web/test/a.test.js": "",
    "test/a.test.js": "",
    "test/b.test.js": "",
    "go.mod": "module example.org/calc\n",
    "a_test.go": "",
    "inner/b_test.go": "",
    "other/go.mod": "module example.org/other\n",
    "other/c_test.go": "",
    "Cargo.toml": '[package]\nname = "calc"\n[[test]]\nname = "named"\npath = "checks/own.rs"\n',
    "src/lib.rs": "",
    "checks/own.rs": "",
    "tests/whole.rs": "",
    "tests/large/main.rs": "",
    "tests/common/mod.rs": "",
    "crates/part/Cargo.toml": '[package]\nname = "part"\n',
    "crates/part/tests/some.rs": "",
}
PACKAGE = '{"scripts": {"test": "jest --ci", "unit": "vitest run", "cov": "vitest run --coverage", "all": "jest && x"}}'
A, B = "tests/test_a.py", "tests/test_b.py"
AJS = "test/a.test.js"

# command, files, the command that runs these alone
NARROWED = {
    "pytest": ("pytest -q", [A], f"pytest {A} -q"),
    "several files": ("pytest", [B, A], f"pytest {A} {B}"),
    "paths are replaced": ("pytest -x tests --tb short", [A], f"pytest {A} -x --tb short"),
    "patterns are replaced": ("pytest tests/*.py", [A], f"pytest {A}"),
    "other paths are kept out": ("pytest tests/deep", [A, "tests/deep/test_c.py"], "pytest tests/deep/test_c.py"),
    "tests named one by one": (f"pytest {A}::test_x tests/deep", [A], f"pytest {A}::test_x"),
    "a person's choice stays": ("pytest -k tests --deselect tests/x", [A], f"pytest {A} -k tests --deselect tests/x"),
    "values that are no paths": ("pytest --plugin-option word", [A], f"pytest {A} --plugin-option word"),
    "python -m pytest": (".venv/bin/python -X dev -m pytest", [A], f".venv/bin/python -X dev -m pytest {A}"),
    "coverage": ("coverage run --source src -m pytest", [A], f"coverage run --source src -m pytest {A}"),
    "coverage as a module": ("python -m coverage run -m pytest -q", [A], f"python -m coverage run -m pytest {A} -q"),
    "uv": ("uv run --extra test pytest", [A], f"uv run --extra test pytest {A}"),
    "uv and python": ("uv run python -m coverage run -m pytest", [A], f"uv run python -m coverage run -m pytest {A}"),
    "jest": ("npx jest --ci --json", [AJS], f"npx jest --runTestsByPath {AJS} --ci --json"),
    "jest's program": (
        "node node_modules/jest/bin/jest.js web test -t adds",
        [AJS],
        f"node node_modules/jest/bin/jest.js --runTestsByPath {AJS} -t adds",
    ),
    "vitest": (
        "node_modules/.bin/vitest run --reporter json",
        [AJS],
        f"node_modules/.bin/vitest run {AJS} --reporter json",
    ),
    "vitest without run": ("vitest --coverage", [AJS], f"vitest {AJS} --coverage"),
    "npm": ("npm test", [AJS], f"npm test -- --runTestsByPath {AJS}"),
    "npm with words": (
        "npm run --silent test -- --json",
        [AJS],
        f"npm run --silent test -- --json --runTestsByPath {AJS}",
    ),
    "pnpm": ("pnpm unit", [AJS], f"pnpm unit {AJS}"),
    "go": ("go test -json ./...", ["inner/b_test.go"], "go test -json ./inner"),
    "go's values": ("go test ./... -run X -count 1", ["a_test.go"], "go test . -run X -count 1"),
    "go and what the tests are given": ("go test ./... -args ./x", ["a_test.go"], "go test . -args ./x"),
    "go's other modules are kept out": ("go test ./...", ["other/c_test.go", "a_test.go"], "go test ."),
    "cargo": (
        "cargo +nightly test -- --nocapture",
        ["tests/whole.rs"],
        "cargo +nightly test --test whole -- --nocapture",
    ),
    "cargo's folders and names": (
        "cargo nextest run --no-fail-fast",
        ["tests/large/main.rs", "checks/own.rs"],
        "cargo nextest run --test large --test named --no-fail-fast",
    ),
    "a member": ("cargo test", ["crates/part/tests/some.rs"], "cargo test -p part --test some"),
    "all members": ("cargo test --workspace", ["crates/part/tests/some.rs"], "cargo test --test some --workspace"),
}

# the line for the shell, files, the line that runs these alone
LINES = {
    "redirection": (
        "cargo test --no-fail-fast 2>&1",
        ["tests/whole.rs"],
        "cargo test --test whole --no-fail-fast 2>&1",
    ),
    "what stands before": (
        "printf '[x]\\n' > {reports}/x && cargo nextest run --tool-config-file a:{reports}/x",
        ["tests/whole.rs"],
        "printf '[x]\\n' > {reports}/x && cargo nextest run --test whole --tool-config-file a:{reports}/x",
    ),
    "what stands behind": ("pytest -q | tee out; true", [A], f"pytest {A} -q | tee out; true"),
    "assignments": ('A="$B" CI=1 pytest', [A], f'A="$B" CI=1 pytest {A}'),
    "quotes are kept": ("pytest -k \"a or 'b'\" -m 'not slow'", [A], f"pytest {A} -k \"a or 'b'\" -m 'not slow'"),
    "names are quoted": (
        "pytest",
        ["tests/it's $(touch x) test.py"],
        "pytest 'tests/it'\"'\"'s $(touch x) test.py'",
    ),
}

WHOLE = {
    "another program": ("make test", [A]),
    "another runner": ("mvn -q test", ["src/test/java/ATest.java"]),
    "a script of python": ("python tests/run.py pytest", [A]),
    "a tool of uv": ("uv pip install pytest", [A]),
    "another folder": ("uv run --directory web pytest", [A]),
    "no file of the check": ("pytest web", [A]),
    "a file that is gone": ("pytest", ["tests/gone.py"]),
    "a name like an option": ("pytest", ["-x.py"]),
    "packages": ("pytest --pyargs calc", [A]),
    "unittest, which takes modules": ("python -m unittest discover -s tests", [A]),
    "changed files": ("jest --onlyChanged", [AJS]),
    "related files": ("vitest related src/a.js", [AJS]),
    "the end of the script is an option": ("npm run cov", [AJS]),
    "a script of two commands": ("npm run all", [AJS]),
    "a script of another folder": ("npm --prefix web test", [AJS]),
    "an unknown script": ("npm run other", [AJS]),
    "a helper in Go's folders": ("go test ./...", ["src/lib.rs"]),
    "go, elsewhere": ("go test ./inner", ["a_test.go"]),
    "unit tests of a crate": ("cargo test", ["tests/whole.rs", "src/lib.rs"]),
    "a helper of a crate": ("cargo test", ["tests/common/mod.rs"]),
    "documentation": ("cargo test --doc", ["tests/whole.rs"]),
}

WHOLE_LINES = {
    "two runners": ("pytest tests; pytest web", [A]),
    "a folder is changed": ("cd web && pytest", [A]),
    "a subshell": ("(pytest)", [A]),
    "a variable": ("pytest $ARGS", [A]),
    "a here document": ("pytest <<END\nEND", [A]),
    "a comment": ("# pytest", [A]),
    "redirected in the middle": ("pytest > out -q", [A]),
    "an open quote": ("pytest 'a", [A]),
}


@pytest.fixture
def project(tree):
    return tree({**FILES, "package.json": PACKAGE})


@pytest.mark.parametrize(("run", "files", "expected"), NARROWED.values(), ids=NARROWED)
def test_a_command_is_limited_to_files(project, run, files, expected):
    found = limited_to_files(Check(name="tests", run=run.split()), files, project)
    assert (shlex.join(found.check.run), found.whole) == (shlex.join(expected.split()), False)


@pytest.mark.parametrize(("run", "files", "expected"), LINES.values(), ids=LINES)
def test_a_line_for_the_shell_keeps_all_other_text(project, run, files, expected):
    found = limited_to_files(Check(name="tests", run=run), files, project)
    assert (found.check.run, found.whole) == (expected, False)


@pytest.mark.parametrize(("run", "files"), WHOLE.values(), ids=WHOLE)
def test_all_tests_run_where_the_command_takes_no_files_for_certain(project, run, files):
    check = Check(name="tests", run=run.split())
    assert limited_to_files(check, files, project) == (check, True)


@pytest.mark.parametrize(("run", "files"), WHOLE_LINES.values(), ids=WHOLE_LINES)
def test_all_tests_run_where_a_line_is_more_than_one_runner(project, run, files):
    check = Check(name="tests", run=run)
    assert limited_to_files(check, files, project) == (check, True)


def test_files_are_named_from_the_folder_of_the_check(project):
    check = Check(name="tests", run=["jest"], cwd="web", timeout_s=5)
    found = limited_to_files(check, ["web/test/a.test.js", AJS], project)
    assert found.check == check._replace(run=["jest", "--runTestsByPath", "test/a.test.js"])


def test_the_modules_of_a_workspace_are_run(project):
    (project / "go.work").touch()
    check = Check(name="tests", run=["go", "test", "./other/..."])
    run = limited_to_files(check, ["other/c_test.go"], project).check.run
    assert run == ["go", "test", "./other"]


def test_where_all_files_are_of_another_part_all_tests_run(project):
    check = Check("tests", ["jest"], cwd="web")
    assert limited_to_files(check, [A], project).whole
