"""`init` without an edit measures what the tools print by themselves, before the loop and after an iteration."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from . import printed, sources

pytestmark = pytest.mark.sampled

_TO_A_TENTH = 0.051  # the record has one digit after the point

Commands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Case:
    """A project, what it installs, how its tools are run by hand, and what an iteration changes in it.

    `only` are the programs that are on its PATH, none: all. `on_path` puts what npm installs there.
    """

    files: Mapping[str, str]
    by_hand: Commands
    numbers: Callable[[str], printed.Numbers]
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
        printed.jest,
        ("test/sum.test.js", *_MORE_JS),
        install=("jest@30.5.2",),
    ),
    "vitest 3": Case(
        sources.VITEST,
        (_local("vitest", "run", "--coverage", "--coverage.reporter=text", "--coverage.reportOnFailure"),),
        printed.jest,
        ("test/sum.test.js", *_MORE_JS),
        install=("vitest@3.2.7", "@vitest/coverage-v8@3.2.7"),
    ),
    "mocha 12": Case(
        sources.MOCHA,
        (_local("nyc", "--temp-dir=target/nyc", "node_modules/.bin/mocha", "test/**/*.spec.js"),),
        printed.mocha,
        ("test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@12.0.3", "nyc@18.0.0"),
    ),
    "mocha 8": Case(
        {**sources.MOCHA, "package.json": '{"scripts": {"test": "mocha --recursive --reporter dot"}}'},
        (_local("mocha", "--recursive"),),
        printed.mocha,
        ("test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@8.4.0",),
    ),
    "eslint 10": Case(
        sources.ESLINT, (_local("eslint", "."),), printed.eslint, ("src/a.js", *_MORE_LINT), install=("eslint@10.15.0",)
    ),
    "eslint 8": Case(
        sources.ESLINT_8,
        (_local("eslint", "."),),
        printed.eslint,
        ("src/a.js", *_MORE_LINT),
        install=("eslint@8.57.1",),
    ),
    "tsc 5": Case(
        sources.TSC,
        (_local("tsc", "--noEmit", "--pretty", "--tsBuildInfoFile", "target/tsc"),),
        printed.tsc,
        ("src/a.ts", *_MORE_TYPES),
        install=("typescript@5.9.3",),
    ),
    "tsc 7": Case(
        sources.TSC,
        (_local("tsc", "--noEmit", "--pretty", "--tsBuildInfoFile", "target/tsc"),),
        printed.tsc,
        ("src/a.ts", *_MORE_TYPES),
        install=("typescript@7.0.2",),
    ),
    "cargo test": Case(
        sources.CRATE,
        (("cargo", "test", "--no-fail-fast"), _CLIPPY),
        printed.cargo,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy"),
        only=("cargo", "rustc", "rustdoc", "cargo-clippy", "clippy-driver", "git", "cc", "ld", "as", "sh"),
    ),
    "cargo workspace": Case(
        sources.CRATES,
        (("cargo", "test", "--workspace", "--no-fail-fast"), _CLIPPY),
        printed.cargo,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy"),
        only=("cargo", "rustc", "rustdoc", "cargo-clippy", "clippy-driver", "git", "cc", "ld", "as", "sh"),
    ),
    "cargo nextest": Case(
        sources.CRATE,
        (("cargo", "nextest", "run", "--no-fail-fast"), ("cargo", "test", "--doc"), _CLIPPY),
        printed.nextest,
        ("tests/whole.rs", *_MORE_RUST),
        needs=("cargo", "cargo-clippy", "cargo-nextest"),
    ),
    "go test": Case(
        sources.MODULE,
        _GO,
        printed.go,
        ("calc_test.go", *_MORE_GO),
        needs=("go",),
        only=("go", "git", "mkdir"),
    ),
    "gotestsum": Case(sources.MODULE, _GO, printed.go, ("calc_test.go", *_MORE_GO), needs=("go", "gotestsum")),
    "go workspace": Case(
        sources.MODULES,
        _GO_WORKSPACE,
        printed.go,
        ("calc/calc_test.go", *_MORE_GO),
        needs=("go",),
        only=("go", "git", "mkdir"),
    ),
    "rspec": Case(
        sources.RSPEC,
        (("rspec",), ("rubocop", "--cache", "false")),
        printed.rspec,
        ("spec/calc_spec.rb", *_MORE_RUBY),
        needs=("ruby", "rspec", "rubocop"),
    ),
    "minitest": Case(
        sources.MINITEST,
        (("rake", "test"),),
        printed.minitest,
        ("test/calc_test.rb", *_MORE_MINITEST),
        needs=("ruby", "rake"),
    ),
    "phpunit": Case(
        sources.PHP,
        (("phpunit", "--do-not-cache-result", "--coverage-text"),),
        printed.phpunit,
        ("tests/CalcTest.php", *_MORE_PHP),
        needs=("php", "phpunit"),
    ),
    "ctest": Case(
        sources.CTEST,
        (("sh", "-c", _CTEST),),
        printed.ctest,
        ("test/calc_test.cpp", *_MORE_CPP),
        needs=("cmake", "ctest", "gcovr", "c++", "/usr/include/gtest/gtest.h"),
    ),
    "node:test": Case(
        sources.NODE_TEST,
        (("node", "--test", "--test-reporter=spec", "--experimental-test-coverage"),),
        printed.node,
        ("test/sum.test.js", *_MORE_NODE),
        needs=("node",),
    ),
    "bun": Case(
        sources.BUN,
        (("bun", "test", "--coverage"),),
        printed.bun,
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
        printed.deno,
        ("sum_test.ts", *_MORE_DENO),
        install=("deno@2.9.6",),
        on_path=True,
    ),
    "biome 2": Case(
        sources.BIOME,
        (_local("biome", "lint", "."),),
        printed.biome,
        ("src/a.js", *_MORE_BIOME),
        install=("@biomejs/biome@2.6.8",),
    ),
    "npm workspaces": Case(
        sources.WORKSPACES,
        (("npm", "test", "--workspaces", "--if-present"),),
        printed.mocha,
        ("packages/two/test/sum.spec.js", *_MORE_MOCHA),
        install=("mocha@12.0.3",),
    ),
    "maven": Case(
        sources.POM,
        (("mvn", "-B", "test"),),
        printed.maven,
        ("src/test/java/calc/CalcTest.java", *_MORE_JAVA),
        needs=("mvn",),
    ),
    "gradle": Case(
        sources.GRADLE,
        (("gradle", "--no-daemon", "cleanTest", "test"),),
        printed.gradle,
        ("src/test/java/calc/CalcTest.java", *_MORE_JAVA),
        needs=("gradle",),
    ),
}


# An older version, a workspace or another runner of a tool that has a case of its own.
DEEP = {"mocha 8", "eslint 8", "tsc 5", "gotestsum", "cargo workspace", "go workspace"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.deep) if name in DEEP else name for name in CASES]
)
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


@pytest.mark.parametrize(
    ("files", "install", "fix"),
    [
        (sources.UVU, ("uvu@0.5.6",), ("tests/a.js", "1 + 1, 3", "1 + 1, 2")),
        (sources.MAKE, (), ("answer", "wrong", "right")),
    ],
    ids=["uvu", "make"],
)
def test_a_runner_without_a_report_counts_by_its_exit_status(project, with_tools, files, install, fix):
    with_tools(("make",), install)
    made = project(files, install)
    assert "counts by its exit status only" in " ".join(made.ours("init", "--yes").split())
    assert made.record("pre-loop")["quality"]["build_status"] == "failure"
    _edit(made.root, *fix)
    second = made.record("post-iteration")
    assert second["quality"]["build_status"] == "success"
    assert second["classification"] == "forward"
    _edit(made.root, fix[0], fix[2], fix[1])
    assert made.record("post-iteration")["classification"] == "regression"


@pytest.mark.parametrize(
    ("files", "install"),
    [
        pytest.param(sources.VITEST, ("vitest@4.1.12",), marks=pytest.mark.deep),
        (sources.JEST, ("jest@30.5.2",)),
        pytest.param(sources.MOCHA, ("mocha@12.0.3", "nyc@18.0.0"), marks=pytest.mark.deep),
    ],
    ids=["vitest", "jest", "mocha"],
)
def test_a_test_file_that_does_not_load_is_said_and_is_no_count(project, with_tools, files, install):
    with_tools(("node",), install)
    (name,) = (name for name in files if name.startswith("test/"))
    made = project({**files, name.replace("sum", "more"): files[name].replace("adds", "adds more")}, install)
    made.ours("init", "--yes")
    assert made.record("pre-loop")["testing"]["test_count"] == 8
    _edit(made.root, name.replace("sum", "more"), "src/sum", "src/gone")
    said = " ".join(made.ours("hook", "post-iteration").split())
    assert "Build broken" in said
    assert re.search(r"does not load: test/more\S+: .*Cannot find module '\.\./src/gone", said), said
    _edit(made.root, name, "src/sum", "src/gone")
    assert (made.record("post-iteration").get("testing") or {}).get("test_count") is None
