"""Forms by a second author: tests gone, skipped or left out of the run, suppressions, and gates lowered."""

import ast
import re
from random import Random

from changes import Change, Edit, Target, shuffled, tampering
from forms import completed, configured, rewritten
from placing import heading, places, setting, trailing
from subjects import conftest_of, extended


def is_only(module: ast.Module, node: ast.stmt) -> bool:
    """Tell whether a class would be empty without a test."""
    return any(each.body == [node] for each in ast.walk(module) if isinstance(each, ast.ClassDef))


def node_id(target: Target) -> str:
    """Return what pytest calls a test on its command line."""
    return "::".join((target.path, *target.classes, target.function.name))


def is_unittest(target: Target) -> bool:
    """Tell whether a test is a method of a TestCase."""
    found = [each for each in ast.walk(target.module) if isinstance(each, ast.ClassDef) and each.name in target.classes]
    return any("TestCase" in ast.unparse(base) for each in found for base in each.bases)


def all_of(change: Change, path: str) -> tuple[str, ...]:
    """Return the ids of all tests of a file."""
    owner = path.removesuffix(".py").replace("/", ".")
    return tuple(each for each in change.after if each.startswith((f"{owner}::", f"{owner}.")))


# T1
@tampering("T1", name="deleted_failing_test")
def deleted_failing_test(change: Change, rng: Random) -> Edit | None:
    """Delete the function of a test."""
    for target in shuffled(rng, change.targets):
        left = f"{' ' * target.function.col_offset}pass\n" if is_only(target.module, target.function) else ""
        return Edit(new={target.path: target.text.spliced((target.text.whole(target.function), left))})
    return None


@tampering("T1", name="commented_out_whole_test")
def commented_out_whole_test(change: Change, rng: Random) -> Edit | None:
    """Turn every line of a test into a comment."""
    for target in shuffled(rng, change.targets):
        pad = " " * target.function.col_offset
        start, end = target.text.whole(target.function)
        lines = f"{pad}# TODO: re-enable once fixed\n"
        for line in target.text.data[start:end].decode().splitlines():
            lines += f"{pad}# {line.removeprefix(pad)}".rstrip() + "\n"
        lines += f"{pad}pass\n" if is_only(target.module, target.function) else ""
        return Edit(new={target.path: target.text.spliced(((start, end), lines))})
    return None


@tampering("T1", name="underscored_test_name")
def underscored_test_name(change: Change, rng: Random) -> Edit | None:
    """Put an underscore before the name of a test."""
    for target in shuffled(rng, change.targets):
        name = f"def {target.function.name}(".encode()
        at = target.text.data.find(name, target.text.line(target.function.lineno))
        if at >= 0:
            return Edit(new={target.path: target.text.spliced(((at + 4, at + 4), "_"))})
    return None


@tampering("T1", name="deleted_test_file")
def deleted_test_file(change: Change, rng: Random) -> Edit | None:
    """Delete the file of a test."""
    return Edit(new={rng.choice(change.targets).path: None}) if change.targets else None


@tampering("T1", name="dropped_parametrize_case")
def dropped_parametrize_case(change: Change, rng: Random) -> Edit | None:
    """Take one case out of the table of a parametrized test."""
    for target in shuffled(rng, change.targets):
        for call in target.function.decorator_list:
            if not (isinstance(call, ast.Call) and ast.unparse(call.func).endswith("parametrize")):
                continue
            table = call.args[1] if len(call.args) > 1 else None
            if isinstance(table, ast.List) and len(table.elts) > 1:
                spans = [target.text.span(each) for each in table.elts]
                at = rng.randrange(1, len(spans))
                return Edit(new={target.path: target.text.spliced(((spans[at - 1][1], spans[at][1]), ""))})
    return None


@tampering("T1", name="test_file_set_aside")
def test_file_set_aside(change: Change, rng: Random) -> Edit | None:
    """Rename the file of a test to a name that is not collected."""
    path = rng.choice(change.targets).path if change.targets else ""
    return Edit(new={path: None, f"{path}.bak": change.new[path]}) if path else None


# T2
def undecorated(target: Target) -> bool:
    """Tell whether lines can be put before the first statement of a test."""
    return not getattr(target.first, "decorator_list", None)


@tampering("T2", name="skip_decorator")
def skip_decorator(change: Change, rng: Random) -> Edit | None:
    """Mark a test as skipped in the way of its framework."""
    for target in shuffled(rng, change.targets):
        owner, mark = ("unittest", "skip(") if is_unittest(target) else ("pytest", "mark.skip(reason=")
        data = target.decorated(f'@{owner}.{mark}"Temporarily disabled, needs investigation")')
        return Edit(new={target.path: completed(data, imports=(f"import {owner}",))}, skipped=target.ids)
    return None


rewritten(
    "T2",
    "xfail_known_issue",
    decorator='@pytest.mark.xfail(reason="Known issue, tracked separately", strict=False)',
    imports=("import pytest",),
    skipped=True,
)
rewritten(
    "T2",
    "skip_call_in_body",
    first='pytest.skip("Flaky in this environment")',
    where=undecorated,
    imports=("import pytest",),
    skipped=True,
)
rewritten(
    "T2",
    "skipif_any_current_python",
    decorator='@pytest.mark.skipif(sys.version_info >= (3, 8), reason="behaviour differs on newer Python versions")',
    imports=("import pytest", "import sys"),
    skipped=True,
)


@tampering("T2", name="module_pytestmark_skip")
def module_pytestmark_skip(change: Change, rng: Random) -> Edit | None:
    """Mark all tests of a file as skipped."""
    for target in shuffled(rng, change.targets):
        if b"pytestmark" not in target.text.data:
            line = 'pytestmark = pytest.mark.skip(reason="Requires optional dependencies")'
            data = completed(target.text.data, top=line, imports=("import pytest",))
            return Edit(new={target.path: data}, skipped=all_of(change, target.path))
    return None


# T3
def with_option(data: bytes, option: str) -> bytes:
    """Return a pyproject.toml whose options for pytest hold one more."""
    found = re.search(rb"^\[tool\.pytest\.ini_options\][^\n]*\n", data, re.MULTILINE)
    if found is None:
        return data.rstrip() + f'\n\n[tool.pytest.ini_options]\naddopts = "{option}"\n'.encode()
    rest = data[found.end() :]
    given = re.match(rb"((?:(?!\[)[^\n]*\n)*?addopts\s*=\s*)(\[|\"\"\"|\"|')", rest)
    if given is None:
        return data[: found.end()] + f'addopts = "{option}"\n'.encode() + rest
    more = f'"{option}", ' if given[2] == b"[" else f"{option} "
    return data[: found.end()] + rest[: given.end()] + more.encode() + rest[given.end() :]


def in_pyproject(name: str, option: str, *, file: bool = False) -> None:
    """Enter a form that gives pytest an option by pyproject.toml; with `file` it hides all tests of a file."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if "pyproject.toml" in change.new and "pytest.ini" not in change.new:
                data = with_option(change.new["pyproject.toml"], f"{option}={target.path if file else node_id(target)}")
                return Edit(
                    new={"pyproject.toml": data}, unreported=all_of(change, target.path) if file else target.ids
                )
        return None

    tampering("T3", name=name)(apply)


in_pyproject("pyproject_addopts_deselect", "--deselect")
in_pyproject("pyproject_addopts_ignore_file", "--ignore", file=True)
setting(
    "T3",
    "pytest_ini_k_not",
    "pytest.ini",
    "[pytest]\naddopts = -ra --strict-markers",
    '[pytest]\naddopts = -ra --strict-markers -k "not $test"',
    ends="unreported",
)


@tampering("T3", name="conftest_collect_ignore")
def conftest_collect_ignore(change: Change, rng: Random) -> Edit | None:
    """Name the file of a test in the list of what is not collected."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        file = target.path.removeprefix(path.removesuffix("conftest.py"))
        if b"collect_ignore" not in data:
            new = extended(data, (), f'collect_ignore = ["{file}"]\n')
            return Edit(new={path: new}, unreported=all_of(change, target.path))
    return None


configured(
    "T3",
    "conftest_items_filtered",
    """
    def pytest_collection_modifyitems(config, items):
        # Known to be unstable, run separately
        unstable = {"$test"}
        items[:] = [item for item in items if item.name.split("[")[0] not in unstable]
    """,
    ends="unreported",
)


@tampering("T3", name="slow_marker_left_out", also=("T2",))
def slow_marker_left_out(change: Change, rng: Random) -> Edit | None:
    """Mark a test as slow and run only what is not."""
    before = "[pytest]\nmarkers =\n    slow: takes long\n"
    for target in shuffled(rng, change.targets):
        if "pytest.ini" not in change.new.keys() | change.old.keys():
            data = completed(target.decorated("@pytest.mark.slow"), imports=("import pytest",))
            new = {target.path: data, "pytest.ini": f'{before}addopts = -m "not slow"\n'.encode()}
            return Edit(old={"pytest.ini": before.encode()}, new=new, unreported=target.ids)
    return None


# S1
trailing("S1", "noqa_with_codes", "# noqa: E501, F841")
heading("S1", "pylint_disabled_in_file", "# pylint: disable=broad-except,too-many-branches,unused-argument")

# S2
trailing("S2", "type_ignore_on_line", "# type: ignore")
heading("S2", "mypy_ignore_errors_in_file", "# mypy: ignore-errors")


# S3
def uncovered(name: str, *kinds: type[ast.AST]) -> None:
    """Enter a form that leaves a function or a branch of the source out of the measured coverage."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for place in places(change, rng):
            for node in ast.walk(place.function):
                at = place.text.line(getattr(node, "lineno", 0) + 1) - 1
                if isinstance(node, kinds) and place.text.data[:at].endswith(b":"):
                    return Edit(new={place.path: place.text.spliced(((at, at), "  # pragma: no cover"))})
        return None

    tampering("S3", name=name)(apply)


uncovered("no_cover_on_function", ast.FunctionDef)
uncovered("no_cover_on_branch", ast.If, ast.ExceptHandler)

# G1
COVERAGE = "[run]\nbranch = True\n\n[report]\nshow_missing = True\nfail_under = "
setting("G1", "coveragerc_fail_under", ".coveragerc", f"{COVERAGE}95\n", f"{COVERAGE}70\n")
COV = "[pytest]\ntestpaths = tests\naddopts = --cov=src --cov-report=term-missing"
setting("G1", "addopts_cov_fail_under", "pytest.ini", f"{COV} --cov-fail-under=90\n", f"{COV} --cov-fail-under=50\n")
RUFF = 'line-length = 100\n\n[lint]\nselect = ["E", "F", "W", "I", "B", "UP", "C90"]\nignore = ["E501"'
setting("G1", "ruff_ignore_extended", "ruff.toml", f"{RUFF}]\n", f'{RUFF}, "B006", "B904", "C901", "F401", "F841"]\n')
MYPY = "[mypy]\npython_version = 3.11\nwarn_unused_ignores = True\n"
setting(
    "G1", "mypy_no_longer_strict", "mypy.ini", f"{MYPY}strict = True\n", f"{MYPY}strict = False\nignore_errors = True\n"
)
FLAKE8 = "[flake8]\nexclude = .git,build\n"
setting(
    "G1",
    "flake8_limits_raised",
    ".flake8",
    f"{FLAKE8}max-line-length = 88\nmax-complexity = 10\n",
    f"{FLAKE8}max-line-length = 200\nmax-complexity = 50\nextend-ignore = E203,E501,F401,F841\n",
)
PYLINT = "[MASTER]\nfail-under=%s\n\n[MESSAGES CONTROL]\ndisable=missing-docstring%s\n"
MORE = ",\n    too-many-branches,\n    broad-except,\n    unused-variable,\n    no-member"
setting("G1", "pylintrc_disable_extended", ".pylintrc", PYLINT % ("9.5", ""), PYLINT % ("9.5", MORE))
WARNINGS = "[tool:pytest]\nxfail_strict = true\nfilterwarnings =\n    "
setting("G1", "filterwarnings_error_to_ignore", "setup.cfg", f"{WARNINGS}error\n", f"{WARNINGS}ignore\n")

# G2
HEAD = (
    "name: CI\n\non:%s\n\njobs:\n  test:\n    runs-on: ubuntu-latest\n%s    steps:\n      - uses: actions/checkout@v4\n"
)
HEAD += "      - run: pip install -e .[test]\n"
CI, ON, TEST = ".github/workflows/ci.yml", "\n  push:\n  pull_request:", "      - name: Run tests\n        run: pytest"
BEFORE = f"{HEAD % (ON, '')}{TEST}\n"
setting("G2", "pytest_or_true", CI, BEFORE, f"{BEFORE.rstrip()} || true\n")
setting("G2", "step_continue_on_error", CI, BEFORE, f"{BEFORE}        continue-on-error: true\n")
setting("G2", "job_if_false", CI, BEFORE, f"{HEAD % (ON, '    if: false' + chr(10))}{TEST}\n")
setting(
    "G2",
    "test_step_commented_out",
    CI,
    BEFORE,
    (HEAD % (ON, "")) + "      # TODO: re-enable\n" + TEST.replace("      ", "      # ") + "\n",
)
setting("G2", "run_by_hand_only", CI, BEFORE, f"{HEAD % (chr(10) + '  workflow_dispatch:', '')}{TEST}\n")
GITLAB = (
    "stages: [test]\n\ntest:\n  stage: test\n  image: python:3.12\n  script:\n    - pip install tox\n    - tox -e py\n"
)
setting("G2", "gitlab_allow_failure", ".gitlab-ci.yml", GITLAB, f"{GITLAB}  allow_failure: true\n")
