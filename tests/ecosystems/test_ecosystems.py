"""`init` without an edit measures what the tools print by themselves, before the loop and after an iteration."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from . import sources

_TO_A_TENTH = 0.051  # the record has one digit after the point
_ALL_FILES = re.compile(r"^All files +\|(?: +[\d.]+ \|){3} +([\d.]+) ", re.MULTILINE)

Numbers = dict[str, float | None]
Commands = tuple[tuple[str, ...], ...]


def _count(word: str, text: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+) {word}\b", text))


def _last(pattern: str, text: str) -> Any:
    return re.findall(pattern, text, re.MULTILINE)[-1]


def _tests(passed: int, failed: int, skipped: int) -> Numbers:
    return {"tests": passed + failed + skipped, "passed": passed, "failed": failed, "skipped": skipped}


def _covered(text: str) -> Numbers:
    found = _ALL_FILES.search(text)
    return {"coverage": float(found[1]) if found else None}


def _jest(text: str) -> Numbers:
    line = re.findall(r"^ *Tests:? +(.*)$", text, re.MULTILINE)[-1]
    skipped = _count("skipped", line) + _count("todo", line)
    return _tests(_count("passed", line), _count("failed", line), skipped) | _covered(text)


def _mocha(text: str) -> Numbers:
    return _tests(_count("passing", text), _count("failing", text), _count("pending", text)) | _covered(text)


def _eslint(text: str) -> Numbers:
    found = re.search(r"\((\d+) errors?, (\d+) warnings?\)", text)
    return {"errors": int(found[1]), "warnings": int(found[2])} if found else {"errors": 0, "warnings": 0}


def _tsc(text: str) -> Numbers:
    found = re.search(r"Found (\d+) errors?", text)
    return {"types": int(found[1]) if found else 0}


def _cargo(text: str) -> Numbers:
    results = "\n".join(line for line in text.splitlines() if line.startswith("test result: "))
    counts = _tests(_count("passed", results), _count("failed", results), _count("ignored", results))
    return counts | {"errors": 0, "warnings": _generated(text)}


def _nextest(text: str) -> Numbers:
    """Read nextest's summary and that of the documentation's tests; what is ignored is in no report of nextest's."""
    summary = re.findall(r"^ *Summary .*$", text, re.MULTILINE)[-1]
    doctests = "\n".join(line for line in text.splitlines() if line.startswith("test result: "))
    passed, failed = (_count(word, summary) + _count(word, doctests) for word in ("passed", "failed"))
    return _tests(passed, failed, _count("ignored", doctests)) | {"errors": 0, "warnings": _generated(text)}


def _generated(text: str) -> int:
    """Read clippy's own sum, which alone is told of the library and not of its tests."""
    return sum(int(number) for number in re.findall(r"\(lib\) generated (\d+) warning", text))


def _go(text: str) -> Numbers:
    passed, failed, skipped = (len(re.findall(rf"--- {word}: ", text)) for word in ("PASS", "FAIL", "SKIP"))
    total = re.search(r"^total:\s+\(statements\)\s+([\d.]+)%", text, re.MULTILINE)
    return _tests(passed, failed, skipped) | {"coverage": float(total[1]) if total else None}


def _maven(text: str) -> Numbers:
    line = re.findall(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)", text)[-1]
    run, failures, errors, skipped = map(int, line)
    return _tests(run - failures - errors - skipped, failures + errors, skipped)


def _gradle(text: str) -> Numbers:
    """Read what Gradle says where a test has failed: else it gives no number."""
    run, failed, skipped = (_count(word, text) for word in ("tests completed", "failed", "skipped"))
    return _tests(run - failed - skipped, failed, skipped)


def _rspec(text: str) -> Numbers:
    run, failed, pending = map(
        int, re.findall(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", text, re.MULTILINE)[-1]
    )
    covered = re.search(r"(\d+) / (\d+) LOC", text)
    offenses = re.search(r"(\d+) offenses? detected", text)
    return {
        **_tests(run - failed - pending, failed, pending),
        "coverage": 100 * int(covered[1]) / int(covered[2]) if covered else None,
        "errors": 0,
        "warnings": int(offenses[1]) if offenses else 0,
    }


def _minitest(text: str) -> Numbers:
    found = re.findall(r"^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips", text, re.MULTILINE)[
        -1
    ]
    run, failures, errors, skips = map(int, found)
    return _tests(run - failures - errors - skips, failures + errors, skips)


def _phpunit(text: str) -> Numbers:
    line = _last(r"^Tests: .*$", text)
    count = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", line)}
    failed = count.get("Failures", 0) + count.get("Errors", 0)
    skipped = count.get("Skipped", 0) + count.get("Incomplete", 0)
    covered = re.search(r"^ +Lines: +([\d.]+)%", text, re.MULTILINE)
    passed = count["Tests"] - failed - skipped
    return _tests(passed, failed, skipped) | {"coverage": float(covered[1]) if covered else None}


def _ctest(text: str) -> Numbers:
    words = {
        word: len(re.findall(rf"(?:\.|\*\*\*) *{word}", text)) for word in ("Passed", "Failed", "Skipped", "Not Run")
    }
    covered = re.search(r"^TOTAL +(\d+) +(\d+)", text, re.MULTILINE)
    return {
        **_tests(words["Passed"], words["Failed"], words["Skipped"] + words["Not Run"]),
        "coverage": 100 * int(covered[2]) / int(covered[1]) if covered else None,
    }


def _deno(text: str) -> Numbers:
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    line = _last(r"^(?:FAILED|ok) \| .*$", text)
    counts = {}
    for word in ("passed", "failed", "ignored"):
        found = re.search(rf"(\d+) {word}(?: \((\d+) steps?\))?", line)
        counts[word] = int(found[1]) + int(found[2] or 0) if found else 0
    covered = re.search(r"^\| *All files *\|(?:[^|]*\|){2} *([\d.]+) *\|", text, re.MULTILINE)
    numbers = _tests(counts["passed"], counts["failed"], counts["ignored"])
    return numbers | {"coverage": float(covered[1]) if covered else None}


def _bun(text: str) -> Numbers:
    passed, failed, skipped, todo = (_count(word, text) for word in ("pass", "fail", "skip", "todo"))
    covered = re.search(r"^All files *\| *[\d.]+ *\| *([\d.]+)", text, re.MULTILINE)
    return _tests(passed, failed, skipped + todo) | {"coverage": float(covered[1]) if covered else None}


def _node(text: str) -> Numbers:
    count = {
        name: int(number)
        for name, number in re.findall(r"^\S (tests|pass|fail|skipped|todo) (\d+)", text, re.MULTILINE)
    }
    covered = re.search(r"^\S all files *\| *([\d.]+)", text, re.MULTILINE)
    numbers = _tests(count["pass"], count["fail"], count["skipped"] + count["todo"])
    return numbers | {"coverage": float(covered[1]) if covered else None}


def _biome(text: str) -> Numbers:
    found = {word: re.search(rf"Found (\d+) {word}", text) for word in ("error", "warning")}
    return {f"{word}s": int(said[1]) if said else 0 for word, said in found.items()}


@dataclass(frozen=True)
class Case:
    """A project, what it installs, how its tools are run by hand, and what an iteration changes in it.

    `only` are the programs that are on its PATH, none: all. `on_path` puts what npm installs there.
    """

    files: Mapping[str, str]
    by_hand: Commands
    numbers: Callable[[str], Numbers]
    edit: tuple[str, str, str]
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    on_path: bool = False


def _local(*words: str) -> tuple[str, ...]:
    return (f"node_modules/.bin/{words[0]}", *words[1:])


_MORE_JS = ("test.todo('never');", "test.todo('never');\ntest('more', () => { expect(sum(2, 2)).toBe(4); });")
_MORE_MOCHA = ("  it('never');", "  it('never');\n  it('more', () => {});")
_MORE_LINT = ("debugger; }", "debugger; }\nif (a == 3) { debugger; }")
_MORE_TYPES = ("c + a;", "c + a;\nexport const d: string = 1;")
_MORE_RUST = ("#[test]\nfn whole", "#[test]\nfn more() {}\n\n#[test]\nfn whole")
_MORE_GO = ("func TestLater", "func TestMore(t *testing.T) {}\n\nfunc TestLater")
_MORE_JAVA = ("  @Test\n  @Ignore", "  @Test\n  public void more() {}\n\n  @Test\n  @Ignore")
_PROFILE = "target/cover.out"
_GO = (
    ("mkdir", "-p", "target"),
    ("go", "test", "-v", f"-coverprofile={_PROFILE}", "./..."),
    ("go", "tool", "cover", f"-func={_PROFILE}"),
)
_CLIPPY = ("cargo", "clippy", "--workspace")
_GO_WORKSPACE = (
    ("mkdir", "-p", "target"),
    ("go", "test", "-v", f"-coverprofile={_PROFILE}", "./calc/...", "./more/..."),
    ("go", "tool", "cover", f"-func={_PROFILE}"),
)
_MORE_RUBY = ("  xit('later')", "  it('more') { expect(1).to eq 1 }\n  xit('later')")
_MORE_MINITEST = ("  def test_later", "  def test_more; end\n\n  def test_later")
_MORE_PHP = (
    "    public function testRisky",
    "    public function testMore(): void { $this->assertTrue(true); }\n    public function testRisky",
)
_MORE_CPP = ("TEST(Calc, Later)", "TEST(Calc, More) { EXPECT_EQ(add(2, 2), 4); }\nTEST(Calc, Later)")
_MORE_DENO = ("Deno.test.ignore", 'Deno.test("more", () => {});\nDeno.test.ignore')
_MORE_NODE = ("test.todo('never');", "test.todo('never');\ntest('more', () => {});")
_MORE_BIOME = ("export const a = b;", "export const a = b;\nif (a == 3) { debugger; }")
_CTEST = """mkdir -p target/cmake
export CXXFLAGS=--coverage LDFLAGS=--coverage
cmake -S . -B target/cmake && cmake --build target/cmake && ctest --test-dir target/cmake
gcovr -r . -d --object-directory target/cmake target/cmake"""

CASES = {
    "jest 30": Case(
        sources.JEST,
        (_local("jest", "--coverage", "--coverageReporters=text"),),
        _jest,
        ("test/sum.test.js", *_MORE_JS),
        install=("jest@30.5.2",),
    ),
    "vitest 3": Case(
        sources.VITEST,
        (_local("vitest", "run", "--coverage", "--coverage.reporter=text", "--coverage.reportOnFailure"),),
        _jest,
        ("test/sum.test.js", *_MORE_JS),
        install=("vitest@3.2.7", "@vitest/coverage-v8@3.2.7"),
    ),
    "mocha 12": Case(
        sources.MOCHA,
        (_local("nyc", "--temp-dir=target/nyc", "node_modules/.bin/mocha", "test/**/*.spec.js"),),
        _mocha,
        ("test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@12.0.3", "nyc@18.0.0"),
    ),
    "mocha 8": Case(
        {**sources.MOCHA, "package.json": '{"scripts": {"test": "mocha --recursive --reporter dot"}}'},
        (_local("mocha", "--recursive"),),
        _mocha,
        ("test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@8.4.0",),
    ),
    "eslint 10": Case(
        sources.ESLINT, (_local("eslint", "."),), _eslint, ("src/a.js", *_MORE_LINT), install=("eslint@10.15.0",)
    ),
    "eslint 8": Case(
        sources.ESLINT_8, (_local("eslint", "."),), _eslint, ("src/a.js", *_MORE_LINT), install=("eslint@8.57.1",)
    ),
    "tsc 5": Case(
        sources.TSC,
        (_local("tsc", "--noEmit", "--pretty", "--tsBuildInfoFile", "target/tsc"),),
        _tsc,
        ("src/a.ts", *_MORE_TYPES),
        install=("typescript@5.9.3",),
    ),
    "tsc 7": Case(
        sources.TSC,
        (_local("tsc", "--noEmit", "--pretty", "--tsBuildInfoFile", "target/tsc"),),
        _tsc,
        ("src/a.ts", *_MORE_TYPES),
        install=("typescript@7.0.2",),
    ),
    "cargo test": Case(
        sources.CRATE,
        (("cargo", "test", "--no-fail-fast"), _CLIPPY),
        _cargo,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy"),
        only=("cargo", "rustc", "rustdoc", "cargo-clippy", "clippy-driver", "git", "cc", "ld", "as", "sh"),
    ),
    "cargo workspace": Case(
        sources.CRATES,
        (("cargo", "test", "--workspace", "--no-fail-fast"), _CLIPPY),
        _cargo,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy"),
        only=("cargo", "rustc", "rustdoc", "cargo-clippy", "clippy-driver", "git", "cc", "ld", "as", "sh"),
    ),
    "cargo nextest": Case(
        sources.CRATE,
        (("cargo", "nextest", "run", "--no-fail-fast"), ("cargo", "test", "--doc"), _CLIPPY),
        _nextest,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy", "cargo-nextest"),
    ),
    "go test": Case(
        sources.MODULE,
        _GO,
        _go,
        ("calc_test.go", *_MORE_GO),
        needs=("go",),
        only=("go", "git", "mkdir"),
    ),
    "gotestsum": Case(sources.MODULE, _GO, _go, ("calc_test.go", *_MORE_GO), needs=("go", "gotestsum")),
    "go workspace": Case(
        sources.MODULES,
        _GO_WORKSPACE,
        _go,
        ("calc/calc_test.go", *_MORE_GO),
        needs=("go",),
        only=("go", "git", "mkdir"),
    ),
    "rspec": Case(
        sources.RSPEC,
        (("rspec",), ("rubocop", "--cache", "false")),
        _rspec,
        ("spec/calc_spec.rb", *_MORE_RUBY),
        needs=("ruby", "rspec", "rubocop"),
    ),
    "minitest": Case(
        sources.MINITEST,
        (("rake", "test"),),
        _minitest,
        ("test/calc_test.rb", *_MORE_MINITEST),
        needs=("ruby", "rake"),
    ),
    "phpunit": Case(
        sources.PHP,
        (("phpunit", "--do-not-cache-result", "--coverage-text"),),
        _phpunit,
        ("tests/CalcTest.php", *_MORE_PHP),
        needs=("php", "phpunit"),
    ),
    "ctest": Case(
        sources.CTEST,
        (("sh", "-c", _CTEST),),
        _ctest,
        ("test/calc_test.cpp", *_MORE_CPP),
        needs=("cmake", "ctest", "gcovr", "c++", "/usr/include/gtest/gtest.h"),
    ),
    "node:test": Case(
        sources.NODE_TEST,
        (("node", "--test", "--test-reporter=spec", "--experimental-test-coverage"),),
        _node,
        ("test/sum.test.js", *_MORE_NODE),
        needs=("node",),
    ),
    "bun": Case(
        sources.BUN,
        (("bun", "test", "--coverage"),),
        _bun,
        ("src/sum.test.ts", *_MORE_JS),
        install=("bun@1.4.5",),
        on_path=True,
    ),
    "deno": Case(
        sources.DENO,
        (
            ("deno", "test", "--allow-env", "--coverage=target/deno"),
            ("deno", "coverage", "target/deno"),
            ("rm", "-r", "target/deno"),
        ),
        _deno,
        ("sum_test.ts", *_MORE_DENO),
        install=("deno@2.9.6",),
        on_path=True,
    ),
    "biome 2": Case(
        sources.BIOME,
        (_local("biome", "lint", "."),),
        _biome,
        ("src/a.js", *_MORE_BIOME),
        install=("@biomejs/biome@2.6.8",),
    ),
    "npm workspaces": Case(
        sources.WORKSPACES,
        (("npm", "test", "--workspaces", "--if-present"),),
        _mocha,
        ("packages/two/test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@12.0.3",),
    ),
    "maven": Case(
        sources.POM,
        (("mvn", "-B", "test"),),
        _maven,
        ("src/test/java/calc/CalcTest.java", *_MORE_JAVA),
        needs=("mvn",),
    ),
    "gradle": Case(
        sources.GRADLE,
        (("gradle", "--no-daemon", "cleanTest", "test"),),
        _gradle,
        ("src/test/java/calc/CalcTest.java", *_MORE_JAVA),
        needs=("gradle",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_on_record_are_those_that_the_tools_print(name, project, with_tools):
    case = CASES[name]
    with_tools(case.needs, case.install)
    made = project(case.files, case.install, case.only)
    if case.on_path:
        made = replace(made, path=f"{made.root / 'node_modules/.bin'}{os.pathsep}{made.path}")
    theirs = _by_hand(made, case)
    made.ours("init", "--yes")
    first = made.record("pre-loop")
    assert _unequal(first, theirs) == {}
    assert made.changed() == ["?? ralph-tracker.yaml"]
    assert any(theirs.get(name) for name in ("failed", "warnings", "types"))

    _edit(made.root, *case.edit)
    second = made.record("post-iteration")
    kept = [path for path in (made.root / ".aiwg").rglob(Path(case.edit[0]).name) if path.is_file()]
    assert kept, "nothing of the iteration is kept, so that nothing could be collected"
    changed = _by_hand(made, case)
    assert _unequal(second, changed) == {}
    assert changed != theirs


def _by_hand(made, case):
    text = "\n".join(made.printed(*command) for command in case.by_hand)
    if any(word in text for word in sources.UNREACHED):
        pytest.skip("the repository of Java's packages cannot be reached; measured where it can be")
    return case.numbers(text)


def _edit(root, name, old, new):
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def _unequal(record, theirs):
    """Return what is on record and by hand where these differ; what no tool of the project measures is on neither."""
    testing, quality = record.get("testing") or {}, record.get("quality") or {}
    ours = {
        "tests": testing.get("test_count"),
        "passed": testing.get("tests_passed"),
        "failed": testing.get("tests_failed"),
        "skipped": testing.get("tests_skipped"),
        "coverage": testing.get("coverage_percentage"),
        "errors": quality.get("lint_errors"),
        "warnings": quality.get("lint_warnings"),
        "types": quality.get("type_errors"),
    }
    return {name: (ours[name], theirs.get(name)) for name in ours if not _same(ours[name], theirs.get(name))}


def _same(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= _TO_A_TENTH
