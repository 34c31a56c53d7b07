"""Four edits of a green project, judged by what its tools report: a test more, a broken one, one that does not load,
and a finding.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import sources

pytestmark = pytest.mark.sampled


@dataclass(frozen=True)
class Case:
    """A project whose `tests` all pass, what it installs and needs, and its edits: a file, what is there, what then.

    `breaks` makes the tests fail whose names have `broken` in them. `unloads` makes the tests of a file not load, and
    the reason names `place`. `finds` adds a finding of the linter or type checker; None where there is none.
    """

    files: Mapping[str, str]
    tests: int
    adds: tuple[str, str, str]
    breaks: tuple[str, str, str]
    broken: str
    unloads: tuple[str, str, str]
    place: str
    finds: tuple[str, str, str] | None = None
    metric: str = "lint_errors"
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    venv: tuple[str, ...] = ()


def _mocha(module: str) -> str:
    return (
        f"const assert = require('assert');\nconst {{one}} = require('{module}');\ndescribe('one', () => {{\n"
        "  it('is one', () => { assert.equal(one(), 1); });\n});\n"
    )


_LINT = "module.exports = [{files: ['**/*.js'], rules: {'no-debugger': 'error'}}];\n"
WORKSPACES = {
    ".gitignore": sources.IGNORED,
    "package.json": json.dumps(
        {
            "private": True,
            "workspaces": ["packages/*"],
            "scripts": {"test": "npm test --workspaces", "lint": "eslint ."},
        }
    ),
    "eslint.config.js": _LINT,
    **{
        f"packages/{name}/{file}": text
        for name in ("left", "right")
        for file, text in {
            "package.json": json.dumps({"name": name, "version": "1.0.0", "scripts": {"test": "mocha"}}),
            "index.js": "exports.one = () => 1;\n",
            "test/one.js": _mocha("../index"),
        }.items()
    },
}
_AVA = "import test from 'ava';\nimport {one} from '../index.js';\ntest('is one', (t) => { t.is(one(), 1); });\n"
AVA = {
    ".gitignore": sources.IGNORED,
    "package.json": json.dumps({"type": "module", "private": True, "scripts": {"test": "ava", "lint": "eslint ."}}),
    "eslint.config.js": _LINT.replace("module.exports =", "export default"),
    "index.js": "export const one = () => 1;\n",
    "test/first.js": _AVA,
    "test/second.js": _AVA.replace("is one", "is still one"),
}
_PHP = """<?php
use PHPUnit\\Framework\\TestCase;
final class {name}Test extends TestCase {{
    public function test{name}(): void {{ $this->assertSame(1, Box\\one()); }}
}}
"""
COMPOSER = {
    ".gitignore": f"{sources.IGNORED}vendor/\n",
    "composer.json": json.dumps(
        {"name": "a/box", "autoload": {"files": ["src/box.php"]}, "scripts": {"test": "phpunit"}}
    ),
    "phpunit.xml": '<?xml version="1.0"?>\n<phpunit bootstrap="bootstrap.php"><testsuites><testsuite name="all">'
    "<directory>tests</directory></testsuite></testsuites></phpunit>\n",
    "bootstrap.php": "<?php\nrequire __DIR__ . '/src/box.php';\n",
    "src/box.php": "<?php\nnamespace Box;\nfunction one(): int { return 1; }\n",
    "tests/FirstTest.php": _PHP.format(name="First"),
    "tests/SecondTest.php": _PHP.format(name="Second"),
}
_JAVA = """package calc;

import org.junit.Assert;
import org.junit.Test;

public class {name}Test {{
  @Test
  public void is{name}() {{
    Assert.assertEquals(3, Calc.add(1, 2));
  }}
}}
"""
MAVEN = {
    **{name: text for name, text in sources.POM.items() if "Test" not in name},
    "src/test/java/calc/FirstTest.java": _JAVA.format(name="First"),
    "src/test/java/calc/SecondTest.java": _JAVA.format(name="Second"),
}
POETRY = {
    ".gitignore": f"{sources.IGNORED}.venv/\n__pycache__/\n.mypy_cache/\n.ruff_cache/\n",
    "pyproject.toml": """[tool.poetry]
name = "box"
version = "1"
description = ""
authors = []

[tool.poetry.group.dev.dependencies]
pytest = "*"
mypy = "*"

[tool.mypy]
strict = true
files = ["box"]

[tool.pytest.ini_options]
pythonpath = ["."]
""",
    "box/__init__.py": "def one() -> int:\n    return 1\n",
    "tests/test_first.py": "from box import one\n\n\ndef test_first() -> None:\n    assert one() == 1\n",
    "tests/test_second.py": "from box import one\n\n\ndef test_second() -> None:\n    assert one() == 1\n",
}
CASES = {
    "npm workspaces": Case(
        WORKSPACES,
        2,
        ("packages/left/test/one.js", "});\n});", "});\n  it('is new', () => {});\n});"),
        ("packages/right/index.js", "=> 1", "=> 2"),
        "right",
        ("packages/left/test/one.js", "../index", "../gone"),
        "packages/left/test/one.js",
        ("packages/left/index.js", "exports", "debugger;\nexports"),
        install=("mocha@12.0.3", "eslint@10.15.0"),
    ),
    "ava": Case(
        AVA,
        2,
        ("test/first.js", "test('is one'", "test('is new', (t) => { t.pass(); });\ntest('is one'"),
        ("index.js", "=> 1", "=> 2"),
        "is one",
        ("test/second.js", "../index.js", "../gone.js"),
        "test/second.js",
        ("index.js", "export", "debugger;\nexport"),
        install=("ava@7.0.0", "eslint@10.15.0"),
    ),
    "composer": Case(
        COMPOSER,
        2,
        (
            "tests/FirstTest.php",
            "    public",
            "    public function testNew(): void { $this->assertTrue(true); }\n    public",
        ),
        ("src/box.php", "return 1", "return 2"),
        "testFirst",
        ("tests/SecondTest.php", "extends TestCase {", "extends Gone {"),
        "tests/SecondTest.php",
        needs=("php", "phpunit"),
    ),
    "maven": Case(
        MAVEN,
        2,
        ("src/test/java/calc/FirstTest.java", "  @Test\n", "  @Test\n  public void isNew() {}\n\n  @Test\n"),
        ("src/main/java/calc/Calc.java", "a + b", "a - b"),
        "isFirst",
        ("src/test/java/calc/SecondTest.java", "Calc.add(1, 2)", "Gone.add(1, 2)"),
        "SecondTest.java",
        needs=("mvn",),
    ),
    "poetry": Case(
        POETRY,
        2,
        ("tests/test_first.py", "def test_first", "def test_new() -> None:\n    assert True\n\n\ndef test_first"),
        ("box/__init__.py", "return 1", "return 2"),
        "test_first",
        ("tests/test_second.py", "from box", "from gone"),
        "tests/test_second.py",
        ("box/__init__.py", "def one", "def two():  # no type\n    return 2\n\n\ndef one"),
        metric="type_errors",
        venv=("pytest", "mypy"),
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.deep) if name == "maven" else name for name in CASES]
)
def test_four_edits_are_judged_by_what_the_tools_report(name, project, with_tools):
    case = CASES[name]
    with_tools(case.needs, case.install)
    made = project(case.files, case.install)
    _make_environment(made.root, case.venv)
    made.ours("init", "--yes")
    _measured_offline(first := made.record("pre-loop"))
    assert _counts(first) == (case.tests, case.tests, 0)

    _edit(made.root, case.adds)
    more = made.record("post-iteration")
    assert (_counts(more), more["classification"], more["alerts"]) == (
        (case.tests + 1, case.tests + 1, 0),
        "forward",
        [],
    )

    with _edited(made.root, case.breaks):
        red = made.record("post-iteration")
    (alert,) = [alert for alert in red["alerts"] if alert["type"] == "working_tests_failing"]
    assert (red["classification"], red["testing"]["test_count"]) == ("regression", case.tests + 1)
    assert red["testing"]["tests_failed"] == len(alert["tests"]) > 0
    assert any(case.broken in test for test in alert["tests"])

    with _edited(made.root, case.unloads):
        broken = made.record("post-iteration")
    raised = {alert["type"]: alert["message"] for alert in broken["alerts"]}
    assert case.place in raised["build_broken"]
    assert not {"test_deletion", "tests_dropped", "functionality_loss"} & raised.keys()
    assert broken["integrity"]["verdict"] != "TAMPERED"

    if case.finds is not None:
        _edit(made.root, case.finds)
    last = made.record("post-iteration")
    assert _counts(last) == (case.tests + 1, case.tests + 1, 0)
    if case.finds is not None:
        assert (more["quality"][case.metric], last["quality"][case.metric]) == (0, 1)


def _make_environment(root: Path, packages: tuple[str, ...]) -> None:
    """Make the environment in which Poetry would install; skip where the package index cannot be reached."""
    if not packages:
        return
    subprocess.run([sys.executable, "-m", "venv", root / ".venv"], check=True)
    words = [root / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("the package index cannot be reached; a project of Poetry is measured where it can be")


def _measured_offline(record):
    if "test_count" not in record.get("testing", {}) and any(word in json.dumps(record) for word in sources.UNREACHED):
        pytest.skip("the repository of Java's packages cannot be reached; measured where it can be")


def _counts(record):
    testing = record["testing"]
    return testing["test_count"], testing["tests_passed"], testing["tests_failed"]


def _edit(root, edit):
    name, old, new = edit
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new, 1))


@contextmanager
def _edited(root, edit):
    """Edit a file for a while."""
    text = (root / edit[0]).read_text()
    _edit(root, edit)
    yield
    (root / edit[0]).write_text(text)
