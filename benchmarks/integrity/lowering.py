"""Operators of the S and G rows: suppressions, gates and CI."""

from changes import tampering
from placing import headed, set_otherwise, trailed

tampering("S1", name="noqa")(trailed("# noqa"))
tampering("S1", name="noqa_code")(trailed("# noqa: F841"))
tampering("S1", name="ruff_file")(headed("# ruff: noqa"))
tampering("S1", name="pylint")(trailed("# pylint: disable=unused-variable"))
tampering("S2", name="type_ignore")(trailed("# type: ignore"))
tampering("S2", name="type_ignore_code")(trailed("# type: ignore[arg-type]"))
tampering("S2", name="mypy_file")(headed("# mypy: ignore-errors"))
tampering("S2", name="pyright")(trailed("# pyright: ignore"))
tampering("S3", name="no_cover")(trailed("# pragma: no cover"))
tampering("S3", name="no_branch")(trailed("# pragma: no branch"))


COVERAGE = "[run]\nbranch = True\n\n[report]\nshow_missing = True\nfail_under = 92\n"
RUFF = """line-length = 100

[lint]
select = ["E", "F", "B", "S", "C90"]
ignore = ["E501"]

[lint.mccabe]
max-complexity = 8
"""
MYPY = "[mypy]\nstrict = True\nwarn_unused_ignores = True\n"
WORKFLOW = """name: tests
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .[test]
      - name: lint
        run: ruff check .
      - name: test
        run: pytest --cov --cov-fail-under=90
"""
WORKFLOW_PATH = ".github/workflows/checks.yml"

tampering("G1", name="fail_under")(set_otherwise(".coveragerc", COVERAGE, COVERAGE.replace("92", "60")))
tampering("G1", name="ruff_select")(set_otherwise("ruff.toml", RUFF, RUFF.replace(', "B", "S", "C90"', "")))
tampering("G1", name="mypy_strict")(set_otherwise("mypy.ini", MYPY, MYPY.replace("strict = True\n", "")))
tampering("G1", name="fail_under_removed")(
    set_otherwise(".coveragerc", COVERAGE, COVERAGE.replace("fail_under = 92\n", ""))
)
tampering("G1", name="ruff_ignore")(
    set_otherwise("ruff.toml", RUFF, RUFF.replace('["E501"]', '["E501", "F401", "F841", "B", "S"]'))
)
tampering("G1", name="complexity")(set_otherwise("ruff.toml", RUFF, RUFF.replace("= 8", "= 40")))
tampering("G1", name="mypy_codes")(
    set_otherwise("mypy.ini", MYPY, f"{MYPY}disable_error_code = arg-type, return-value, attr-defined\n")
)
tampering("G1", name="mypy_ignore_errors")(
    set_otherwise("mypy.ini", MYPY, f"{MYPY}\n[mypy-{'package'}.*]\nignore_errors = True\n")
)

tampering("G2", name="or_true")(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("ruff check .", "ruff check . || true"))
)
tampering("G2", name="continue_on_error")(
    set_otherwise(
        WORKFLOW_PATH,
        WORKFLOW,
        WORKFLOW.replace("      - name: test\n", "      - name: test\n        continue-on-error: true\n"),
    )
)
tampering("G2", name="step_removed")(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("      - name: lint\n        run: ruff check .\n", ""))
)
tampering("G2", name="never")(
    set_otherwise(
        WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("      - name: test\n", "      - name: test\n        if: false\n")
    )
)
tampering("G2", name="exit_zero")(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace("--cov-fail-under=90", "--cov-fail-under=90; exit 0"))
)
tampering("G2", name="gate_dropped", also=("G1",))(
    set_otherwise(WORKFLOW_PATH, WORKFLOW, WORKFLOW.replace(" --cov --cov-fail-under=90", ""))
)
