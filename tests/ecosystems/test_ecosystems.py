"""`init` without an edit measures what the tools print by themselves, before the loop and after an iteration."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import sources

_TO_A_TENTH = 0.051  # the record has one digit after the point
_ALL_FILES = re.compile(r"^All files +\|(?: +[\d.]+ \|){3} +([\d.]+) ", re.MULTILINE)

Numbers = dict[str, float | None]
Commands = tuple[tuple[str, ...], ...]


def _count(word: str, text: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+) {word}\b", text))


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


@dataclass(frozen=True)
class Case:
    """A project, what it installs, how its tools are run by hand, and what an iteration changes in it."""

    files: Mapping[str, str]
    by_hand: Commands
    numbers: Callable[[str], Numbers]
    edit: tuple[str, str, str]
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


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
_CLIPPY = ("cargo", "clippy")

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
