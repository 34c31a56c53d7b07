"""What earlier tests show in other ecosystems: code that goes with its tests, and reds that are made green."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ralph_tracker import IterationRecord, post_iteration, pre_loop
from ralph_tracker.config.yaml_io import dump_yaml

pytestmark = pytest.mark.sampled

Files = dict[str, str | None]
_JUNIT = "{reports}/junit.xml"


@dataclass(frozen=True)
class Ecosystem:
    """A runner with a project of two modules, each with a test file: `add`, and `mul` that may be wrong."""

    check: dict[str, Any]
    source: Callable[[str, str], dict[str, str]]
    test: Callable[[str, int], dict[str, str]]
    settings: dict[str, str] = field(default_factory=dict)
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        both = {**self.source("add", "a + b"), **self.source("mul", "a * b")}
        return {**self.settings, **both, **self.test("add", 5), **self.test("mul", 6)}


def _script(imports: str, suffix: str = "js", source: str = "src", title: str = "test", folder: str = "test") -> Any:
    def module(name: str, body: str) -> dict[str, str]:
        kind = "(a: number, b: number)" if suffix == "ts" else "(a, b)"
        return {f"{source}/{name}.{suffix}": f"export const {name} = {kind} => {body};\n"}

    def tests(name: str, expected: int) -> dict[str, str]:
        ending = "" if suffix == "ts" else ".js"
        head = f"{imports}\nimport {{{name}}} from '../{source}/{name}{ending}';\n"
        check = f"if ({name}(2, 3) !== {expected}) throw new Error('wrong');"
        return {f"{folder}/{name}.test.{suffix}": f"{head}{title}('{name} works', () => {{ {check} }});\n"}

    return module, tests


def _go_source(name: str, body: str) -> dict[str, str]:
    return {f"{name}.go": f"package m\n\nfunc {name.title()}(a, b int) int {{ return {body} }}\n"}


def _go_test(name: str, expected: int) -> dict[str, str]:
    check = f"if {name.title()}(2, 3) != {expected} {{\n\t\tt.Fatal()\n\t}}"
    return {
        f"{name}_test.go": f'package m\n\nimport "testing"\n\nfunc Test{name.title()}(t *testing.T) {{\n\t{check}\n}}\n'
    }


def _rust_source(name: str, body: str) -> dict[str, str]:
    return {f"src/{name}.rs": f"pub fn {name}(a: i32, b: i32) -> i32 {{\n    {body}\n}}\n"}


def _rust_test(name: str, expected: int) -> dict[str, str]:
    check = f"assert_eq!(m::{name}::{name}(2, 3), {expected});"
    return {f"tests/{name}.rs": f"#[test]\nfn {name}_works() {{\n    {check}\n}}\n"}


_PACKAGE = {"package.json": '{"name": "m", "type": "module"}\n'}
_MODULES = "pub mod add;\npub mod mul;\n"
_NODE = _script("import test from 'node:test';")
_VITEST = _script("import {test} from 'vitest';", "ts")
_BUN = _script("import {test} from 'bun:test';", "ts", folder="tests")
_JEST = _script("", title="test")
ECOSYSTEMS = {
    "node": Ecosystem(
        {
            "run": ["node", "--test", "--test-reporter=junit", f"--test-reporter-destination={_JUNIT}"],
            "reports": [_JUNIT],
        },
        *_NODE,
        _PACKAGE,
        needs=("node",),
    ),
    "vitest": Ecosystem(
        {"run": ["npx", "vitest", "run", "--reporter=junit", f"--outputFile={_JUNIT}"], "reports": [_JUNIT]},
        *_VITEST,
        _PACKAGE,
        install=("vitest@3.2.7",),
        needs=("npx",),
    ),
    "jest": Ecosystem(
        {
            "run": [
                "node",
                "--experimental-vm-modules",
                "node_modules/jest/bin/jest.js",
                "--json",
                "--outputFile={reports}/j.json",
            ],
            "reports": ["{reports}/j.json"],
        },
        *_JEST,
        _PACKAGE,
        install=("jest@30.5.2",),
        needs=("node",),
    ),
    "bun": Ecosystem(
        {
            "run": ["node_modules/.bin/bun", "test", "--reporter=junit", f"--reporter-outfile={_JUNIT}"],
            "reports": [_JUNIT],
        },
        *_BUN,
        _PACKAGE,
        install=("bun@1.3.0",),
        needs=("npx",),
    ),
    "go": Ecosystem(
        {"run": "go test -json ./...", "reports": ["-"], "kind": "tests"},
        _go_source,
        _go_test,
        {"go.mod": "module example.com/m\n\ngo 1.19\n"},
        needs=("go",),
    ),
    "cargo": Ecosystem(
        {"run": "cargo test --no-fail-fast 2>&1", "reports": ["-"], "kind": "tests"},
        _rust_source,
        _rust_test,
        {
            "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": _MODULES,
            "Cargo.lock": 'version = 4\n\n[[package]]\nname = "m"\nversion = "0.1.0"\n',
        },
        needs=("cargo",),
    ),
}


@pytest.fixture(params=ECOSYSTEMS)
def ecosystem(request, with_tools):
    found = ECOSYSTEMS[request.param]
    with_tools(found.needs, found.install)
    return found


@pytest.fixture
def loop(ecosystem, project, monkeypatch):
    """Return what drives a loop, and tells the record of its last step."""

    def drive(start: Files, *steps: Files) -> IterationRecord:
        checks = {"tests": {**ecosystem.check, "timeout": 300}}
        configuration = {"ralph-tracker.yaml": dump_yaml({"version": 1, "checks": checks})}
        ignored = {".gitignore": ".aiwg/\nnode_modules/\ntarget/\n"}
        made = project({**ecosystem.files, **start, **configuration, **ignored}, ecosystem.install)
        monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
        record = pre_loop(root=made.root)
        for step in steps:
            for path, text in step.items():
                if text is None:
                    (made.root / path).unlink()
                else:
                    (made.root / path).parent.mkdir(exist_ok=True, parents=True)
                    (made.root / path).write_text(text)
            record = post_iteration(root=made.root)
        return record

    return drive


def _gone(files: dict[str, str]) -> Files:
    return dict.fromkeys(files)


def _without_mul(ecosystem: Ecosystem) -> Files:
    return {"src/lib.rs": "pub mod add;\n"} if "src/lib.rs" in ecosystem.settings else {}


def _found(record: IterationRecord) -> list[tuple[str, str]]:
    return [(each.rule, each.severity.name) for each in record.integrity.found.findings]


def test_a_module_that_goes_with_its_tests_retires_them(ecosystem, loop):
    gone = {**_gone(ecosystem.source("mul", "")), **_gone(ecosystem.test("mul", 6)), **_without_mul(ecosystem)}
    record = loop({}, gone)
    assert (_found(record), record.integrity.verdict) == ([], "PASS")
    assert len(record.integrity.found.earlier.retired) == 1


@pytest.mark.parametrize("ecosystem", ["vitest", "jest", "bun"], indirect=True)
def test_source_that_does_not_load_deletes_no_test(ecosystem, loop):
    """Whatever the runner makes of it: one error for the file, or a report without it."""
    ((path, text),) = ecosystem.source("mul", "a * b * x").items()
    record = loop({}, {path: f"import {{x}} from './gone';\n{text}"})
    assert [each.type for each in record.alerts] == ["build_broken"]
    assert "gone" in record.alerts[0].message
    assert (record.integrity.verdict, record.best.iteration) == ("UNPROVEN", 0)


def test_a_bent_red_test_is_no_gain(ecosystem, loop):
    record = loop(ecosystem.source("mul", "a * b + 1"), {**ecosystem.test("mul", 7), "NOTES.md": "# Plan\n"})
    assert _found(record) == [("green_by_edit", "CRITICAL")]
    assert (record.integrity.verdict, record.best.iteration) == ("TAMPERED", 0)


def test_a_module_that_moves_with_its_tests_is_no_question(ecosystem, loop):
    moved = {
        path.replace("mul", "times"): text.replace("mul", "times").replace("Mul", "Times")
        for path, text in {**ecosystem.source("mul", "a * b"), **ecosystem.test("mul", 6)}.items()
    }
    gone = {**_gone(ecosystem.source("mul", "")), **_gone(ecosystem.test("mul", 6))}
    library = {"src/lib.rs": "pub mod add;\npub mod times;\n"} if "src/lib.rs" in ecosystem.settings else {}
    record = loop({}, {**gone, **moved, **library})
    assert (_found(record), record.integrity.verdict, record.best.iteration) == ([], "PASS", 1)


SETUP = "import {vi} from 'vitest';\n\nvi.mock('/src/mul.ts', () => ({mul: () => 6}));\n"
CONFIGURATION = "export default {test: {setupFiles: ['./forge.ts']}};\n"


@pytest.mark.parametrize("ecosystem", ["vitest"], indirect=True)
def test_a_new_set_up_of_vitest_makes_no_red_test_green(ecosystem, loop):
    record = loop(ecosystem.source("mul", "a * b + 1"), {"vitest.config.ts": CONFIGURATION, "forge.ts": SETUP})
    assert ("green_by_edit", "CRITICAL") in _found(record)
    assert (record.integrity.verdict, record.best.iteration) == ("TAMPERED", 0)


@pytest.mark.parametrize("ecosystem", ["cargo"], indirect=True)
def test_a_module_that_moves_with_a_helper_of_its_tests_is_no_question(ecosystem, loop):
    helper = "pub fn both() -> i32 {\n    m::mul::mul(2, 3)\n}\n"
    tests = "mod common;\n\n#[test]\nfn mul_works() {\n    assert_eq!(common::both(), 6);\n}\n"
    moved = {"src/mul.rs": None, "src/lib.rs": "pub mod add;\npub mod times;\n", "tests/mul.rs": None}
    moved |= {**ecosystem.source("times", "a * b"), "tests/times.rs": tests}
    moved |= {"tests/common/mod.rs": helper.replace("mul", "times")}
    record = loop({"tests/common/mod.rs": helper, "tests/mul.rs": tests}, moved)
    assert (_found(record), record.integrity.verdict, record.best.iteration) == ([], "PASS", 1)


INSIDE = "\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn adds() {{ assert_eq!(super::add(1, 2), {}); }}\n}}\n"


@pytest.mark.parametrize("ecosystem", ["cargo"], indirect=True)
def test_a_red_test_inside_of_source_that_is_bent_is_no_gain(ecosystem, loop):
    wrong = ecosystem.source("mul", "a * b")
    inside = {"src/add.rs": ecosystem.source("add", "a + b")["src/add.rs"] + INSIDE.format(4)}
    bent = {"src/add.rs": inside["src/add.rs"].replace("2), 4", "2), 3")}
    record = loop({**wrong, **inside}, bent)
    assert _found(record) == [("green_by_edit", "CRITICAL")]


@pytest.mark.parametrize("ecosystem", ["cargo"], indirect=True)
def test_a_test_inside_of_source_that_was_weakened_while_green_shows_the_break_that_comes_next(ecosystem, loop):
    source = ecosystem.source("add", "a + b")["src/add.rs"]
    weak = INSIDE.format(3).replace("assert_eq!(super::add(1, 2), 3)", "let _ = super::add(1, 2)")
    steps = source + weak, source.replace("a + b", "a + b + (a == 1) as i32") + weak
    record = loop({"src/add.rs": source + INSIDE.format(3)}, *({"src/add.rs": text} for text in steps))
    assert _found(record) == [("demand_changed", "HIGH")]
    assert record.best.iteration == 1


MAIN = (
    'package m\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tfix = 0\n\tos.Exit(m.Run())\n}\n'
)


@pytest.mark.parametrize("ecosystem", ["go"], indirect=True)
def test_tests_under_other_names_are_no_gain_where_the_earlier_ones_cannot_be_run(ecosystem, loop):
    """The package got another name, and the red test is gone."""
    renamed = {path: text.replace("package m", "package n") for path, text in ecosystem.files.items()}
    renamed |= {"add_test.go": renamed["add_test.go"].replace("TestAdd", "TestSum"), "mul_test.go": None}
    wrong = ecosystem.source("mul", "a*b + 1")
    record = loop(wrong, {**renamed, "mul.go": wrong["mul.go"].replace("package m", "package n")})
    assert {rule for rule, _ in _found(record)} == {"unproven", "failure_hidden"}
    assert record.best.iteration == 0


@pytest.mark.parametrize("ecosystem", ["go"], indirect=True)
def test_a_new_test_main_makes_no_red_test_green(ecosystem, loop):
    red = {"mul.go": "package m\n\nvar fix = 1\n\nfunc Mul(a, b int) int { return a*b + fix }\n"}
    record = loop(red, {"main_test.go": MAIN})
    assert _found(record) == [("green_by_edit", "CRITICAL")]
