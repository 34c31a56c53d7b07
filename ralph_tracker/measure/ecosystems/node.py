"""JavaScript and TypeScript: jest, vitest or mocha, eslint and tsc, as they are installed for the project.

Copies of earlier iterations lie below `.aiwg`, and each tool is told to leave that out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.found import Checks, Found
from ralph_tracker.measure.ecosystems.node_package import Package, package_of, read_json
from ralph_tracker.measure.ecosystems.node_runners import RUNNERS, Runner, test_checks
from ralph_tracker.measure.ecosystems.node_scripts import Usage, usage_of, without
from ralph_tracker.measure.ecosystems.programs import program, version_of

NAME: Final = "node"
_LINT_FILES: Final = ("eslint.config.*", ".eslintrc", ".eslintrc.*")
_LINT_FLAGS: Final = frozenset({"--fix", "--fix-dry-run", "--cache", "--color"})
_LINT_VALUED: Final = frozenset(
    {"-f", "--format", "-o", "--output-file", "--cache-location", "--cache-file", "--cache-strategy", "--max-warnings"}
    | {"--fix-type"}
)
_REFERENCE: Final = re.compile(r'"path"\s*:\s*"([^"]+)"')
_REFERENCES: Final = re.compile(r'"references"\s*:\s*\[(.*?)\]', re.DOTALL)
_NO_FILES: Final = re.compile(r'"files"\s*:\s*\[\s*\]')
_COMMENT: Final = re.compile(r"^\s*(?://[^\n]*|/\*.*?\*/)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Part:
    """Hold what was found of one kind."""

    checks: Checks
    tools: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


def detect(root: Path, environment: Mapping[str, str]) -> Found | None:
    """Return how a project with a package.json can be measured, None where there is none."""
    package = package_of(root)
    if package is None:
        return None
    if not package.document:
        return Found(NAME, notes=(f"package.json in {root} is empty or cannot be read; mend it",))
    version = version_of(("node",), root, environment) if program("node", environment) else None
    if version is None:
        return Found(NAME, notes=(f"no Node.js found for {root}; install it, and have node on PATH",))
    parts = [_tests(package), _lint(package), _types(package)]
    return Found(
        NAME,
        ("node",),
        version,
        {name: call for part in parts for name, call in part.tools.items()},
        {name: check for part in parts for name, check in part.checks.items()},
        tuple(note for part in parts for note in part.notes),
    )


def _missing(package: Package, tool: str) -> str:
    how = package.install if tool in package.declared else f"{package.add} {tool}"
    return f"{tool} not found: {how}"


def _tests(package: Package) -> _Part:
    """Take the runner that the test script calls, else the first that is declared."""
    scripts = package.scripts
    names = ["test", *sorted(name for name in scripts if name.startswith("test") and name != "test"), "unit"]
    used = {name: usage for name in RUNNERS if (usage := usage_of(name, scripts, names))}
    by_test = [name for name in used if usage_of(name, scripts, ["test"])]
    declared = [name for name in RUNNERS if name in package.declared]
    chosen = next(iter([*by_test, *used, *declared]), None)
    if chosen is None:
        return _Part({}, {}, (f"no test runner found: {package.add} vitest, or jest, or mocha",))
    call = package.tool(chosen)
    if call is None:
        return _Part({}, {}, (_missing(package, chosen),))
    usage = used.get(chosen, Usage())
    checks, notes = test_checks(Runner(chosen, usage.program or call, usage, package))
    others = [f"{name} is here too; add a check where its tests count" for name in declared if name != chosen]
    return _Part(checks, {chosen: call}, (*notes, *_unsaid(usage, scripts), *others))


def _unsaid(usage: Usage, scripts: Mapping[str, str]) -> list[str]:
    """Name what the test script does first, and the check does not."""
    first = [scripts["pretest"]] if "pretest" in scripts else []
    told = ", ".join(f"`{command}`" for command in (*first, *usage.before))
    return [f"the test script runs {told} first; put it in front of the check where the tests need it"] if told else []


def _lint(package: Package) -> _Part:
    names = ["lint", *sorted(name for name in package.scripts if name != "lint")]
    usage = usage_of("eslint", package.scripts, names)
    if usage is None and "eslint" not in package.declared:
        return _Part({}, {})
    call = package.tool("eslint")
    if call is None:
        return _Part({}, {}, (_missing(package, "eslint"),))
    if not package.table("eslintConfig") and not any(next(package.root.glob(name), None) for name in _LINT_FILES):
        return _Part({}, {"eslint": call}, ("eslint has no configuration: npm init @eslint/config",))
    words = without(usage.words, _LINT_FLAGS, _LINT_VALUED) if usage else ()
    report = "{reports}/eslint.json"
    run = [*call, *(words or ["."]), "--ignore-pattern", ".aiwg/**", "-f", "json", "-o", report]
    env = {"env": dict(usage.env)} if usage and usage.env else {}
    return _Part({"lint": {"run": run, "reports": [report], "format": "eslint-json", **env}}, {"eslint": call})


def _types(package: Package) -> _Part:
    """Check the program of tsconfig.json, or each that it only refers to; a compiler leaves out dotted folders."""
    path = package.root / "tsconfig.json"
    if not path.is_file():
        return _Part({}, {})
    call = package.tool("tsc")
    if call is None:
        return _Part({}, {}, (_missing(package, "typescript"),))
    programs = _programs(path)
    checks: Checks = {}
    for number, project in enumerate(programs, start=1):
        name = "types" if number == 1 else f"types-{number}"
        checks[name] = {**_type_check(call, name, project), **({} if number == 1 else {"kind": "types"})}
    return _Part(checks, {"tsc": call})


def _type_check(call: tuple[str, ...], name: str, project: str | None) -> dict[str, Any]:
    which = [] if project is None else ["-p", project]
    # what a program of references notes for its next build would else lie in the tree
    notes = ["--incremental", "--tsBuildInfoFile", f"{{reports}}/{name}.tsbuildinfo"]
    run = [*call, *which, "--noEmit", "--pretty", "false", *notes]
    return {"run": run, "reports": ["-"], "format": "tsc-text"}


def _programs(path: Path) -> list[str | None]:
    """Return the programs that a tsconfig.json only refers to, [None] where it is one itself."""
    document = read_json(path)
    text = "" if document is not None else _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    if document is not None:
        empty = document.get("files") == []
        references = [each.get("path") for each in document.get("references") or () if isinstance(each, Mapping)]
    else:
        found = _REFERENCES.search(text)
        empty, references = _NO_FILES.search(text) is not None, _REFERENCE.findall(found[1]) if found else []
    named: list[str | None] = [each for each in references if isinstance(each, str)]
    return named if empty and named else [None]
