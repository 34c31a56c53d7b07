"""Go: gotestsum, else `go test -json`, the coverage of the same run, golangci-lint.

Patterns with `...` skip folders that begin with a dot, so `.aiwg` is left out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.found import Checks, Ecosystem, program, version_of

NAME: Final = "go"
_TIMEOUT: Final = "30m"  # go itself stops a package's tests after ten minutes
_PROFILE: Final = "{reports}/cover.out"
_LINTED: Final = "{reports}/golangci.json"
_BLOCK: Final = re.compile(r"^use\s*\((.*?)\)", re.MULTILINE | re.DOTALL)
_USE: Final = re.compile(r"^use\s+([^\s(]+)", re.MULTILINE)
_JSON_PATH_SINCE: Final = 2


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Go project can be measured, None if it is not one."""
    if not any((root / name).is_file() for name in ("go.mod", "go.work")):
        return None
    version = version_of(("go",), root, environment, ["version"]) if program("go", environment) else None
    if version is None:
        return Ecosystem(NAME, notes=(f"no Go found for {root}; install it, and have go on PATH",))
    tools = {name: (name,) for name in ("gotestsum", "golangci-lint") if program(name, environment)}
    checks = _test_checks(_packages(root), with_gotestsum="gotestsum" in tools)
    notes = ["golangci-lint not found: install it, lint findings are not measured"]
    if "golangci-lint" in tools:
        found = version_of(("golangci-lint",), root, environment)
        major = int(found.split(".")[0]) if found is not None else _JSON_PATH_SINCE
        how = f"--output.json.path={_LINTED}" if major >= _JSON_PATH_SINCE else f"--out-format=json:{_LINTED}"
        checks["lint"] = {"run": ["golangci-lint", "run", how], "reports": [_LINTED], "format": "golangci-json"}
        notes = []
    return Ecosystem(NAME, ("go",), version, tools, checks, tuple(notes))


def _packages(root: Path) -> list[str]:
    """Return the packages of a module, or of the modules that a workspace uses."""
    text = re.sub(r"//.*", "", text_of(root / "go.work") or "")
    used = [*_USE.findall(text), *(word for block in _BLOCK.findall(text) for word in block.split())]
    folders = [word.strip('"').rstrip("/") for word in used]
    return [f"{folder}/..." for folder in folders] or ["./..."]


def _test_checks(packages: list[str], *, with_gotestsum: bool) -> Checks:
    tests = {"run": ["go", "test", "-json", f"-coverprofile={_PROFILE}", *packages], "reports": ["-"]}
    output = {"format": "gotest-json"}
    if with_gotestsum:
        report = "{reports}/gotestsum.xml"
        run = ["gotestsum", f"--junitfile={report}", "--", f"-coverprofile={_PROFILE}", *packages]
        tests, output = {"run": run, "reports": [report]}, {"format": "junit"}
    # the total that go prints counts statements, like the report
    coverage = {"run": ["go", "tool", "cover", f"-func={_PROFILE}"], "reports": [_PROFILE], "format": "gocover"}
    return {"tests": {**tests, **output, "timeout": _TIMEOUT}, "coverage": {**coverage, "needs": ["tests"]}}
