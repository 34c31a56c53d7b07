"""A test file that does not load is a broken build with its file and line in the runners that `init` writes, and no
test that is gone.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from . import sources

pytestmark = pytest.mark.sampled


@dataclass(frozen=True)
class Case:
    """A project with two files of tests, the edit by which the second does not load any more, and where it says so."""

    files: Mapping[str, str]
    edit: tuple[str, str, str]
    place: str
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ("node",)


def _javascript(script: str, test: str, *install: str, place: str = r"test/b\.test\.js:\d", kind: str = "") -> Case:
    package = {"private": True, "scripts": {"test": script}, **({"type": kind} if kind else {})}
    load = "import {one} from '../one.js';\n" if kind else "const {one} = require('../one.js');\n"
    files = {
        ".gitignore": sources.IGNORED,
        "package.json": json.dumps(package),
        "one.js": "export const one = 1;\n" if kind else "exports.one = 1;\n",
        **{f"test/{name}.test.js": load + test.replace("NAME", f"is {name}") for name in "ab"},
    }
    return Case(files, ("test/b.test.js", "../one.js", "../gone.js"), place, install)


def _two(path: str, text: str, **files: str) -> dict[str, str]:
    both = {path.replace("NAME", name): text.replace("NAME", name) for name in ("First", "Second")}
    return {".gitignore": sources.IGNORED, **files, **both}


_GO = 'package NAME\n\nimport (\n\t"testing"\n\n\t_ "strings"\n)\n\nfunc TestNAME(t *testing.T) {}\n'
_RUST = "use calc::add;\n\n#[test]\nfn is_NAME() {\n    assert_eq!(add(1, 2), 3);\n}\n"
_RSPEC = "require_relative '../lib/calc'\nRSpec.describe(Calc) { it('adds NAME') { expect(1).to eq 1 } }\n"
_MINITEST = (
    "require 'minitest/autorun'\nrequire_relative '../lib/calc'\n"
    "class NAMETest < Minitest::Test\n  def test_NAME\n    assert true\n  end\nend\n"
)
_UNITTEST = "import unittest\nfrom one import one\n\nclass NAME(unittest.TestCase):\n    def test_NAME(self): one()\n"
_MODULES = {
    "go.mod": "module example.org/calc\n\ngo 1.19\n",
    **{f"{name}/code.go": f"package {name}\n\nfunc One() int {{ return 1 }}\n" for name in ("First", "Second")},
}
_GLOBAL = "const {test} = require('node:test');\n"
CASES = {
    "jest": _javascript("jest", "test('NAME', () => { expect(one).toBe(1); });\n", "jest@30.5.2"),
    "vitest": _javascript(
        "vitest run --globals", "test('NAME', () => { expect(one).toBe(1); });\n", "vitest@4.1.12", kind="module"
    ),
    "mocha": _javascript("mocha test/*.js", "it('NAME', () => { one; });\n", "mocha@12.0.3"),
    "mocha of modules": _javascript("mocha test/*.js", "it('NAME', () => { one; });\n", "mocha@12.0.3", kind="module"),
    "node": _javascript("node --test", f"{_GLOBAL}test('NAME', () => {{ one; }});\n"),
    "node of modules": _javascript(
        "node --test", "import {test} from 'node:test';\ntest('NAME', () => { one; });\n", kind="module"
    ),
    "ava": _javascript(
        "ava", "import test from 'ava';\ntest('NAME', t => t.is(one, 1));\n", "ava@7.0.0", kind="module"
    ),
    "tap": _javascript("tap", "require('tap').test('NAME', async t => { t.equal(one, 1); });\n", "tap@21.8.0"),
    "tape": _javascript(
        "tape test/*.js", "require('tape')('NAME', t => { t.equal(one, 1); t.end(); });\n", "tape@5.9.0"
    ),
    "bun": _javascript(
        "bun test", "import {test} from 'bun:test';\ntest('NAME', () => { one; });\n", "bun@1.4.5", kind="module"
    ),
    "deno": Case(
        _two(
            "NAME_test.ts",
            'import { one } from "./one.ts";\nDeno.test("NAME", () => { one; });\n',
            **{"deno.json": "{}", "one.ts": "export const one = 1;\n"},
        ),
        ("Second_test.ts", "./one.ts", "./gone.ts"),
        r"Second_test\.ts:\d",
        ("deno@2.9.6",),
    ),
    "go": Case(
        _two("NAME/code_test.go", _GO, **_MODULES),
        ("Second/code_test.go", '_ "strings"', '_ "example.org/calc/gone"'),
        r"Second/code_test\.go:\d",
        needs=("go",),
    ),
    "cargo": Case(
        _two("tests/NAME.rs", _RUST, **{"Cargo.toml": sources.CRATE["Cargo.toml"]})
        | {"src/lib.rs": "pub fn add(a: u64, b: u64) -> u64 {\n    a + b\n}\n"},
        ("tests/Second.rs", "calc::add", "calc::gone"),
        r"tests/Second\.rs:\d",
        needs=("cargo",),
    ),
    "phpunit": Case(
        _two(
            "tests/NAMETest.php",
            "<?php\nrequire_once __DIR__ . '/../src/Calc.php';\nfinal class NAMETest "
            "extends PHPUnit\\Framework\\TestCase {\n"
            "    public function testNAME(): void { $this->assertTrue(true); }\n}\n",
            **{"phpunit.xml": sources.PHP["phpunit.xml"], "src/Calc.php": sources.PHP["src/Calc.php"]},
        ),
        ("tests/SecondTest.php", "src/Calc.php", "src/Gone.php"),
        r"tests/SecondTest\.php:2",
        needs=("php", "phpunit"),
    ),
    "rspec": Case(
        _two("spec/NAME_spec.rb", _RSPEC, **{"lib/calc.rb": sources.RSPEC["lib/calc.rb"], "Rakefile": ""}),
        ("spec/Second_spec.rb", "lib/calc", "lib/gone"),
        r"spec/Second_spec\.rb:1",
        needs=("ruby", "rspec"),
    ),
    "minitest": Case(
        _two(
            "test/NAME_test.rb",
            _MINITEST,
            **{name: sources.MINITEST[name] for name in ("Rakefile", "lib/calc.rb")},
        ),
        ("test/Second_test.rb", "lib/calc", "lib/gone"),
        r"test/Second_test\.rb:2",
        needs=("ruby", "rake"),
    ),
    "unittest": Case(
        _two("tests/test_NAME.py", _UNITTEST, **{"one.py": "def one(): return 1\n", "tests/__init__.py": ""})
        | {"tox.ini": "[testenv]\ncommands = python -m unittest\n"},
        ("tests/test_Second.py", "from one", "from gone"),
        r"tests/test_Second\.py:2",
        needs=("python3",),
    ),
}


# The others show the same with other runners.
SHALLOW = {"minitest", "unittest"}


@pytest.mark.parametrize(
    "name", [name if name in SHALLOW else pytest.param(name, marks=pytest.mark.deep) for name in CASES]
)
def test_a_file_that_does_not_load_breaks_the_build_and_deletes_nothing(name, project, with_tools):
    case = CASES[name]
    with_tools(case.needs, case.install)
    made = project(case.files, case.install)
    made = replace(made, path=f"{made.root / 'node_modules/.bin'}{os.pathsep}{made.path}")
    made.ours("init", "--yes")
    first = made.record("pre-loop")
    assert first["testing"]["tests_failed"] == 0
    assert first["testing"]["test_count"] >= 2

    file, old, new = case.edit
    text = (made.root / file).read_text()
    assert old in text
    (made.root / file).write_text(text.replace(old, new))
    broken = made.record("post-iteration")
    raised = {alert["type"]: alert["message"] for alert in broken["alerts"]}
    assert re.search(case.place, raised.get("build_broken", "")), broken["alerts"]
    assert not {"test_deletion", "tests_dropped", "functionality_loss"} & raised.keys()
    assert broken["integrity"]["verdict"] != "TAMPERED"

    (made.root / file).write_text(text)
    last = made.record("post-iteration")
    assert (last["testing"]["test_count"], last["alerts"]) == (first["testing"]["test_count"], [])
