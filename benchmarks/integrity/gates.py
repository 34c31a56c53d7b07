"""Operators of the S and G rows."""

import ast
from random import Random

from changes import Change, Edit, Operator, imported, tampering
from forging import head, source_functions
from lowering import COVERAGE, MYPY, RUFF, WORKFLOW, WORKFLOW_PATH
from placing import headed, set_otherwise, trailed


def _behind_line(comment: str, *, branch: bool) -> Operator:
    """Return an operator that puts a comment behind the line that begins a function, or a branch of one."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for path, text, function in source_functions(change, rng):
            inner = [each for each in ast.walk(function) if isinstance(each, (ast.If, ast.ExceptHandler))]
            for node in inner if branch else [function]:
                line = text.data[text.line(node.lineno) : text.line(node.lineno + 1)].rstrip()
                at = text.line(node.lineno) + len(line)
                if line.endswith(b":"):
                    return Edit(new={path: text.spliced(((at, at), f"  {comment}"))})
        return None

    return apply


@tampering("S1")
def pylint_scope(change: Change, rng: Random) -> Edit | None:
    """Turn checks off for the whole of a function."""
    for path, text, function in source_functions(change, rng)[:1]:
        return Edit(new={path: head(text, function, "# pylint: disable=too-many-branches,too-many-statements")})
    return None


@tampering("S2")
def no_type_check(change: Change, rng: Random) -> Edit | None:
    """Let no type checker look at a function."""
    for path, text, function in source_functions(change, rng)[:1]:
        at = text.whole(function)[0]
        data = text.spliced(((at, at), f"{' ' * function.col_offset}@no_type_check\n"))
        return Edit(new={path: imported(data, "from typing import no_type_check")})
    return None


tampering("S1", name="nosec")(trailed("# nosec"))
tampering("S2", name="mypy_codes_of_file")(headed('# mypy: disable-error-code="arg-type, return-value, union-attr"'))
tampering("S3", name="whole_function")(_behind_line("# pragma: no cover - exercised by hand", branch=False))
tampering("S3", name="branch_in_other_spelling")(_behind_line("# pragma: nocover", branch=True))

_OMITTED = "branch = True\nomit =\n    src/*/core/*\n    src/*/handlers/*\n"
_PYRIGHT = '{\n  "include": ["src"],\n  "typeCheckingMode": "strict"\n}\n'
_GITLAB = """test:
  image: python:3.12
  script:
    - pip install -e .[test]
    - ruff check .
    - pytest
"""

tampering("G1", name="coverage_omit", also=("S3",))(
    set_otherwise(".coveragerc", COVERAGE, COVERAGE.replace("branch = True\n", _OMITTED))
)
tampering("G1", name="all_ignored_by_file")(
    set_otherwise("ruff.toml", RUFF, f'{RUFF}\n[lint.per-file-ignores]\n"src/**" = ["ALL"]\n')
)
tampering("G1", name="mypy_exclude")(set_otherwise("mypy.ini", MYPY, f"{MYPY}exclude = ^src/\n"))
tampering("G1", name="pyright_off")(set_otherwise("pyrightconfig.json", _PYRIGHT, _PYRIGHT.replace("strict", "off")))

tampering("G2", name="by_hand_only")(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("[push, pull_request]", "workflow_dispatch"))
)
tampering("G2", name="lint_exit_zero", also=("G1",))(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("ruff check .", "ruff check --exit-zero ."))
)
tampering("G2", name="allow_failure")(set_otherwise(".gitlab-ci.yml", _GITLAB, f"{_GITLAB}  allow_failure: true\n"))
