"""Formatters and linters that a user runs over the whole project leave our records alone, or count nothing in them."""

import json

import pytest

SETTINGS = (
    "module.exports = [{files: ['**/*.js'], linterOptions: {reportUnusedDisableDirectives: 'error'}, "
    "rules: {'no-debugger': 'error'}}];\n"
)
FILES = {
    ".gitignore": "node_modules/\n",  # not .aiwg/
    "package.json": '{ "name": "sample", "private": true, "scripts": { "test": "node --test" } }\n',
    "eslint.config.js": SETTINGS,
    "src/a.js": "exports.a = 1;\n",
    "test/a.test.js": "const { test } = require('node:test');\ntest('a', () => {});\n",
}


@pytest.mark.parametrize(
    ("install", "command", "what"),
    [
        ("prettier@3.10.1", ("node_modules/.bin/prettier", "--check", "."), "src/a.js"),
        ("@biomejs/biome@2.6.8", ("node_modules/.bin/biome", "check", "."), "src/a.js"),
        pytest.param(
            "eslint@10.15.0", ("node_modules/.bin/eslint", "."), "src/a.js", id="eslint", marks=pytest.mark.deep
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "@" in value else "",
)
def test_a_tool_that_runs_over_everything_reads_none_of_our_records(project, with_tools, install, command, what):
    with_tools(("node",), (install,))
    made = project(FILES, (install,))
    made.ours("init", "--yes")
    made.record("pre-loop")
    (made.root / "src/a.js").write_text("exports.a   = 1; if (exports.a) { debugger }\n")
    made.record("post-iteration")
    assert list((made.root / ".aiwg").rglob("a.js"))
    done = made.run(*command)
    printed = done.stdout + done.stderr
    assert (done.returncode != 0, what in printed) == (True, True), printed
    assert not [line for line in printed.splitlines() if ".aiwg/" in line]


def test_a_check_that_reads_our_records_counts_nothing_in_them(project, with_tools):
    install = ("eslint@10.15.0",)
    with_tools(("node",), install)
    run = "node_modules/.bin/eslint --no-ignore -f json ."
    check = {"run": run, "reports": ["-"], "format": "eslint-json"}
    settings = json.dumps({"version": 1, "checks": {"lint": check}})
    made = project({**FILES, "ralph-tracker.yaml": settings}, install)
    made.ours("trust")
    made.record("pre-loop")
    (made.root / "src/a.js").write_text("debugger;\n")
    made.record("post-iteration")
    assert made.record("post-iteration")["quality"]["lint_errors"] == 1


@pytest.mark.parametrize(
    ("runner", "install"),
    [
        ("node --test", ()),
        ("jest", ("jest@30.5.2",)),
        pytest.param("vitest run --globals", ("vitest@4.1.12",), marks=pytest.mark.deep),
    ],
)
def test_a_runner_that_looks_everywhere_finds_no_tests_in_our_records(project, with_tools, runner, install):
    with_tools(("node",), install)
    package = {"private": True, "scripts": {"test": runner}}
    source = "const test = globalThis.test ?? require('node:test').test;\ntest('{}', () => {{}});\n"
    files = {"package.json": json.dumps(package), "a.test.js": source.format("one")}
    made = project({".gitignore": "node_modules/\n", **files}, install)
    made.ours("init", "--yes")
    counts = [made.record("pre-loop")["testing"]["test_count"]]
    for title in ("two", "three"):
        (made.root / "a.test.js").write_text(source.format(title))
        counts.append(made.record("post-iteration")["testing"]["test_count"])
    assert list((made.root / ".aiwg").rglob("a.test.js"))
    assert counts == [1, 1, 1]
