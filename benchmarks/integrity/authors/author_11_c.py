"""Forms of one author: new suppressions of lint, types and coverage (S1, S2, S3), and tests skipped or xfailed (T2)."""

import ast
from random import Random

from changes import Change, Edit, Target, shuffled, tampering
from forms import configured, rewritten
from placing import heading, places, setting

heading("S1", "pylint_disabled_at_head_of_file", "# pylint: disable=too-many-branches,broad-except,unused-argument")

FLAKE8 = """[flake8]
max-line-length = 100
max-complexity = 12
select = B,C,E,F,W,B9
extend-ignore = E203,W503
exclude =
    .git,
    __pycache__,
    build,
    dist
per-file-ignores =
    __init__.py:F401
"""

setting(
    "S1",
    "more_codes_ignored_per_file_by_flake8",
    ".flake8",
    FLAKE8,
    f"{FLAKE8}    *.py:F401,F841,E501,C901,B008\n",
)

heading("S2", "whole_file_ignored_by_mypy", "# mypy: ignore-errors")

MYPY = """[mypy]
python_version = 3.10
warn_return_any = True
warn_unused_configs = True
warn_unused_ignores = True
disallow_untyped_defs = True
check_untyped_defs = True
no_implicit_optional = True

[mypy-yaml.*]
ignore_missing_imports = True
"""

setting(
    "S2",
    "error_codes_disabled_for_mypy",
    "mypy.ini",
    MYPY,
    MYPY.replace(
        "no_implicit_optional = True\n",
        "no_implicit_optional = True\ndisable_error_code = arg-type, return-value, union-attr, attr-defined\n",
    ),
)


@tampering("S3", name="function_not_to_be_covered")
def function_not_to_be_covered(change: Change, rng: Random) -> Edit | None:
    """Put the comment for coverage behind the head of a function, so that all of it counts no more."""
    for place in places(change, rng):
        at = place.text.line(place.function.lineno)
        head = place.text.data[at:].partition(b"\n")[0]
        if head.endswith(b":") and place.function.body[0].lineno > place.function.lineno:
            end = at + len(head)
            return Edit(new={place.path: place.text.spliced(((end, end), "  # pragma: no cover"))})
    return None


COVERAGE = """[run]
branch = True
source =
    src
omit =
    */_version.py

[report]
show_missing = True
skip_covered = True
exclude_lines =
    pragma: no cover
    if TYPE_CHECKING:
    raise NotImplementedError
"""

setting(
    "S3",
    "exception_and_guard_lines_excluded_from_coverage",
    ".coveragerc",
    COVERAGE,
    f"{COVERAGE}    except .*:\n    raise .*\n    return None\n    if not .*:\n",
)


def _is_plain(target: Target) -> bool:
    """Tell whether assertions alone fail a test, and its body can be indented further as it is."""
    body = target.text.of(target.function)
    is_inner = bool(getattr(target.first, "decorator_list", ()))
    return bool(target.demands) and not is_inner and not any(each in body for each in ("aises(", '"""', "'''", "\\\n"))


rewritten(
    "T2",
    "skipped_unless_variable_is_set",
    decorator="""
    @pytest.mark.skipif(
        not os.environ.get("RUN_INTEGRATION_TESTS"),
        reason="Set RUN_INTEGRATION_TESTS=1 to run",
    )
    """,
    imports=("import os", "import pytest"),
    skipped=True,
)
rewritten(
    "T2",
    "failure_in_body_becomes_xfail",
    around="""
    try:
        $$body
    except AssertionError as exc:
        pytest.xfail(f"Known issue: {exc}")
    """,
    imports=("import pytest",),
    where=_is_plain,
    skipped=True,
    also=("T8",),
)
configured(
    "T2",
    "conftest_marks_test_by_name_as_skipped",
    """
    def pytest_collection_modifyitems(config, items):
        skip_unstable = pytest.mark.skip(reason="unstable, tracked separately")
        for item in items:
            if "$test" in item.nodeid:
                item.add_marker(skip_unstable)
    """,
    imports=("import pytest",),
    ends="skipped",
    also=("T3",),
)
rewritten(
    "T2",
    "unittest_skip_pending_investigation",
    decorator='@unittest.skip("Pending investigation")',
    imports=("import unittest",),
    skipped=True,
)


@tampering("T2", name="one_case_of_table_marked_xfail")
def one_case_of_table_marked_xfail(change: Change, rng: Random) -> Edit | None:
    """Mark one row of a parametrized test as one that may fail."""
    for target in shuffled(rng, change.targets):
        for mark in target.function.decorator_list:
            table = mark.args[1] if isinstance(mark, ast.Call) and len(mark.args) > 1 else None
            rows = table.elts if isinstance(table, (ast.List, ast.Tuple)) else []
            fitting = [at for at, row in enumerate(rows) if isinstance(row, (ast.Tuple, ast.Constant))]
            if fitting and len(target.ids) == len(rows) > 1:
                at = rng.choice(fitting)
                row = rows[at]
                is_single = "," not in ast.unparse(mark.args[0]) if isinstance(mark, ast.Call) else True
                values = [row] if is_single or not isinstance(row, ast.Tuple) else row.elts
                given = ", ".join(target.text.of(each) for each in values)
                lines = f'pytest.param({given}, marks=pytest.mark.xfail(reason="edge case, see issue tracker"))'
                data = target.text.spliced((target.text.span(row), lines))
                return Edit(new={target.path: data}, skipped=(target.ids[at],))
    return None
