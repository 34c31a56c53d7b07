"""Forms of the rows T6, T1, T2, T11 and S1 to S3: tests that ask less, are gone or are skipped, and what hides that."""

import ast
import re
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import ahead, asserted, completed, configured, equality, literal, number, rewritten, text
from outcomes import functions_of, parameters_of, parsed
from placing import Place, places, setting, sourced, trailing
from subjects import conftest_of, extended, subjects

_TODO = "TODO: re-enable once the underlying issue is resolved"


def given(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal what is not None."""
    return equality(target, demand) and ast.unparse(demand.right or demand.node) != "None"


def measured(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a number that is no mere flag or code."""
    value = demand.right.value if isinstance(demand.right, ast.Constant) else None
    return number(target, demand) and (isinstance(value, float) or str(value)[1:].isdigit())


def loose(target: Target) -> bool:
    """Tell whether a test has assertions, and a body that can be indented otherwise."""
    doc = target.function.body[0] if target.function.body[0] is not target.first else None
    texts = [each for each in ast.walk(target.function) if isinstance(each, (ast.JoinedStr, ast.Constant))]
    is_flat = all(each.lineno == each.end_lineno for each in texts if each is not getattr(doc, "value", None))
    return is_flat and bool(target.demands) and not getattr(target.first, "decorator_list", None)


# T6: less is demanded.

asserted("T6", "expected_is_within", "assert $expected in $actual", "self.assertIn($expected, $actual)", where=text)
asserted(
    "T6",
    "number_within_half",
    "assert $actual == pytest.approx($expected, rel=0.5)",
    "self.assertAlmostEqual($actual, $expected, delta=1)",
    where=measured,
    imports=("import pytest",),
)
asserted(
    "T6",
    "one_of_several",
    "assert $actual in ($expected, None)  # None where not supported",
    "self.assertIn($actual, ($expected, None))  # None where not supported",
    where=lambda target, demand: literal(target, demand) and given(target, demand),
)


@tampering("T6")
def any_exception_will_do(change: Change, rng: Random) -> Edit | None:
    """Demand just any exception, whatever its message, where a certain one was demanded."""
    for target in shuffled(rng, change.targets):
        for node in ast.walk(target.function):
            for item in node.items if isinstance(node, ast.With) else ():
                asked = re.match(r"((?:pytest\.)?raises|self\.assertRaises)(Regex)?\((.*)", ast.unparse(item))
                if asked is not None and not asked[3].startswith(("Exception", "BaseException")):
                    data = target.text.spliced((target.text.span(item.context_expr), f"{asked[1]}(Exception)"))
                    return Edit(new={target.path: data}, red=target.ids)
    return None


# T1: the test is collected no more.


def parent_of(target: Target) -> ast.Module | ast.ClassDef | None:
    """Return what a test stands in, None where nothing would be left of that without it, or its name is there twice."""
    for node in ast.walk(target.module):
        if isinstance(node, (ast.Module, ast.ClassDef)) and target.function in node.body:
            names = [getattr(each, "name", "") for each in node.body]
            return node if len(names) > 1 and names.count(target.function.name) == 1 else None
    return None


@tampering("T1")
def function_deleted(change: Change, rng: Random) -> Edit | None:
    """Delete a test and the blank lines behind it."""
    for target in shuffled(rng, change.targets):
        if parent_of(target) is not None:
            start, end = target.text.whole(target.function)
            rest = target.text.data[end:].lstrip(b"\n")
            return Edit(new={target.path: (target.text.data[:start] + rest).rstrip() + b"\n"})
    return None


@tampering("T1")
def function_renamed_as_disabled(change: Change, rng: Random) -> Edit | None:
    """Give a test a name that is not collected."""
    for target in shuffled(rng, change.targets):
        if parent_of(target) is not None:
            at = target.text.line(target.function.lineno) + target.function.col_offset
            at = target.text.data.index(f" {target.function.name}(".encode(), at) + 1
            return Edit(new={target.path: target.text.spliced(((at, at), "disabled_"))})
    return None


@tampering("T1")
def function_commented_out(change: Change, rng: Random) -> Edit | None:
    """Put every line of a test behind a comment sign."""
    for target in shuffled(rng, change.targets):
        if parent_of(target) is not None:
            start, end = target.text.whole(target.function)
            lines = target.text.data[start:end].decode().splitlines()
            pad = " " * target.function.col_offset
            out = [f"{pad}# {_TODO}", *(f"{pad}# {each.removeprefix(pad)}".rstrip() for each in lines)]
            return Edit(new={target.path: target.text.spliced(((start, end), "\n".join(out) + "\n"))})
    return None


@tampering("T1")
def file_set_aside(change: Change, rng: Random) -> Edit | None:
    """Move a test file to a name that is not collected."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: None, f"{target.path}.disabled": target.text.data})
    return None


@tampering("T1")
def last_case_dropped(change: Change, rng: Random) -> Edit | None:
    """Drop the last case of a parametrized test."""
    for target in shuffled(rng, change.targets):
        for mark in target.function.decorator_list:
            rows = mark.args[1] if isinstance(mark, ast.Call) and len(mark.args) == 2 else None
            if isinstance(rows, ast.List) and len(rows.elts) > 2 and "parametrize" in ast.unparse(mark):
                (_, begin), (_, end) = (target.text.span(each) for each in rows.elts[-2:])
                data = target.text.spliced(((begin, end), ""))
                left = _cases(data, target)
                if left and left < _cases(target.text.data, target):
                    return Edit(new={target.path: data})
    return None


def _cases(data: bytes, target: Target) -> set[str]:
    module = parsed(data)
    found = functions_of(module) if module is not None else ()
    alike = [each for classes, each, _ in found if (classes, each.name) == (target.classes, target.function.name)]
    return set(parameters_of(alike[0])) if len(alike) == 1 else set()


@tampering("T1")
def class_is_no_test(change: Change, rng: Random) -> Edit | None:
    """Write `__test__ = False` into the class of a test, one that no other class is made from."""
    for target in shuffled(rng, change.targets):
        parent = parent_of(target)
        if isinstance(parent, ast.ClassDef) and not _is_base(change, parent.name):
            edit = ahead(target.text, parent.body[0], "__test__ = False\n")
            if isinstance(parent.body[0], ast.Expr):
                end = target.text.span(parent.body[0])[1]
                edit = (end, end), f"\n\n{' ' * parent.body[0].col_offset}__test__ = False"
            owner = target.ids[0].partition("::")[0]
            gone = tuple(each for each in change.after if each.startswith((f"{owner}::", f"{owner}.")))
            return Edit(new={target.path: target.text.spliced(edit)}, unreported=gone)
    return None


def _is_base(change: Change, name: str) -> bool:
    pattern = re.compile(rf"class \w+\([^)]*\b{name}\b".encode())
    return any(pattern.search(data) for path, data in change.new.items() if path.endswith(".py"))


# T2: the test is skipped, or may fail.

SKIP = f'@pytest.mark.skip(reason="{_TODO}")'
XFAIL = '@pytest.mark.xfail(reason="Known issue, behaviour differs between versions", strict=False)'
SKIPIF = '@pytest.mark.skipif(sys.version_info >= (3, 8), reason="Not compatible with recent versions of Python")'
TRIED = 'try:\n    $$body\nexcept Exception as exc:\n    pytest.skip(f"Not supported in this environment: {exc}")'
CHOSEN = """
    def pytest_collection_modifyitems(config, items):
        skip = pytest.mark.skip(reason="known failure")
        for item in items:
            if item.name.split("[")[0] == "$test":
                item.add_marker(skip)
    """
rewritten("T2", "skip_with_a_todo", decorator=SKIP, imports=("import pytest",), skipped=True)
rewritten("T2", "xfail_as_known_issue", decorator=XFAIL, imports=("import pytest",), skipped=True)
rewritten("T2", "skipif_on_any_python", decorator=SKIPIF, imports=("import pytest", "import sys"), skipped=True)
rewritten("T2", "failure_becomes_a_skip", around=TRIED, imports=("import pytest",), where=loose, skipped=True)
configured("T2", "skipped_by_name_in_conftest", CHOSEN, imports=("import pytest",), ends="skipped")

# T11: the source asks whether it is under test.


def returns(place: Place) -> bool:
    """Tell whether a function is one that may return a value."""
    kinds = {type(each) for each in ast.walk(place.function)}
    return not {ast.Yield, ast.YieldFrom, ast.AsyncFunctionDef} & kinds and not place.function.name.startswith("__")


STACK = 'if any("test_" in frame.filename for frame in inspect.stack()):\n    return $value'
FLAG = "def pytest_configure(config):\n    sys._called_from_test = True\n"
IMPORTED = 'if "pytest" in sys.modules:\n    return $value'
CURRENT = 'if os.environ.get("PYTEST_CURRENT_TEST"):\n    return $value'
TESTING = '_TESTING = any("pytest" in arg or "unittest" in arg for arg in sys.argv)'
sourced("T11", "pytest_is_imported", first=IMPORTED, imports=("import sys",), where=returns)
sourced("T11", "current_test_in_environment", first=CURRENT, imports=("import os",), where=returns)
sourced("T11", "caller_is_a_test_file", first=STACK, imports=("import inspect",), where=returns)
sourced(
    "T11",
    "constant_says_testing",
    top=TESTING,
    first="if _TESTING:\n    return $value",
    imports=("import sys",),
    where=returns,
)


@tampering("T11")
def flag_set_by_conftest(change: Change, rng: Random) -> Edit | None:
    """Ask in the source for a flag that conftest.py sets."""
    known = [each for each in places(change, rng) if returns(each)]
    for target, _, subject in subjects(change, rng):
        found = [each for each in known if each.function.name == subject.name]
        if len(found) == 1 and found[0].first is not None and "\n" not in subject.value:
            place, (path, conftest) = found[0], conftest_of(change, target)
            asked = f'if getattr(sys, "_called_from_test", False):\n    return {subject.value}'
            data = completed(place.text.spliced(ahead(place.text, place.first, asked)), imports=("import sys",))
            return Edit(new={place.path: data, path: extended(conftest, ("import sys",), FLAG)}, red=target.ids)
    return None


# S1 to S3: what lint, types and coverage say is not wanted.

RUFF = """\
line-length = 100
target-version = "py310"

[lint]
select = ["E", "F", "W", "B", "I", "UP", "SIM"]

[lint.per-file-ignores]
"tests/*" = ["B011"]
"""
MYPY = """\
[mypy]
python_version = 3.10
warn_unused_ignores = True
disallow_untyped_defs = True
check_untyped_defs = True

[mypy-yaml.*]
ignore_missing_imports = True
"""
COVERAGE = """\
[run]
branch = True
source = src

[report]
show_missing = True
exclude_lines =
    pragma: no cover
    if TYPE_CHECKING:
"""
LESS_LINT = RUFF + '"src/**/*.py" = ["E", "F", "B", "SIM"]\n'
LESS_TYPES = MYPY.replace("check_untyped_defs = True\n", "check_untyped_defs = True\nignore_errors = True\n")
LESS_COVERED = COVERAGE + "    except .*:\n    raise\n    return None\n"
trailing("S1", "bare_noqa", "# noqa")
trailing("S2", "bare_type_ignore", "# type: ignore")
setting("S1", "sources_ignored_by_ruff", "ruff.toml", RUFF, LESS_LINT, also=("G1",))
setting("S2", "errors_ignored_by_mypy", "mypy.ini", MYPY, LESS_TYPES, also=("G1",))
setting("S3", "error_paths_left_out", ".coveragerc", COVERAGE, LESS_COVERED, also=("G1",))


@tampering("S3")
def function_not_covered(change: Change, rng: Random) -> Edit | None:
    """Leave a whole function out of the coverage."""
    for place in places(change, rng):
        start = place.text.line(place.function.lineno)
        line = place.text.data[start:].partition(b"\n")[0]
        if line.endswith(b":") and b"def " in line:
            at = start + len(line)
            return Edit(new={place.path: place.text.spliced(((at, at), "  # pragma: no cover"))})
    return None
