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


def test_node_finds_no_tests_in_our_records(project, with_tools):
    with_tools(("node",), ())
    made = project({**FILES, "a.test.js": "require('node:test')('one', () => {});\n"})
    made.ours("init", "--yes")
    made.record("pre-loop")
    counts = []
    for title in ("two", "three"):
        (made.root / "a.test.js").write_text(f"require('node:test')('{title}', () => {{}});\n")
        counts.append(made.record("post-iteration")["testing"]["test_count"])
    assert counts == [2, 2]
