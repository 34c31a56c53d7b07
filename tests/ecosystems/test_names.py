"""The tests that the source is read to hold are those that the reports of the real tools name."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.registry import examine
from ralph_tracker.integrity.report_ids import definitions
from ralph_tracker.integrity.source_tests import tests_of as read

from . import sources

pytestmark = pytest.mark.sampled

_NESTED = """
describe('outer', () => {
  describe('inner', () => {
    it("says 'hi'", () => { expect(sum(1, 1)).toBe(2); });
    it.skip('rests', () => {});
  });
});
"""


@dataclass(frozen=True)
class Case:
    """A project, how a report of its tests is made, and where it is then: "" where it is what was printed."""

    files: Mapping[str, str]
    command: tuple[str, ...]
    report: str = ""
    install: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def _with(files, name, more):
    return {**files, name: files[name] + more}


CASES = {
    "jest": Case(
        _with(sources.JEST, "test/sum.test.js", _NESTED),
        ("node_modules/.bin/jest", "--json", "--outputFile=report.json"),
        "report.json",
        install=("jest@30.5.2",),
    ),
    "vitest": Case(
        _with(sources.VITEST, "test/sum.test.js", _NESTED.replace("describe(", "describe.sequential(", 1)),
        ("node_modules/.bin/vitest", "run", "--globals", "--reporter=junit", "--outputFile=report.xml"),
        "report.xml",
        install=("vitest@3.2.7",),
    ),
    "mocha": Case(
        sources.MOCHA,
        ("node_modules/.bin/mocha", "test/sum.spec.js", "--reporter=json", "--reporter-option", "output=report.json"),
        "report.json",
        install=("mocha@12.0.3",),
    ),
    "go": Case(sources.MODULE, ("go", "test", "-json", "./..."), needs=("go",)),
    "rust": Case(sources.CRATE, ("cargo", "test", "--no-fail-fast"), needs=("cargo",)),
    "java": Case(sources.POM, ("mvn", "-B", "test"), "target/surefire-reports/TEST-calc.CalcTest.xml", needs=("mvn",)),
}


@pytest.mark.parametrize("name", CASES)
def test_names_of_the_source_are_those_of_the_report(name, project, with_tools):
    case = CASES[name]
    with_tools(case.needs, case.install)
    outcomes = _outcomes(project(case.files, case.install), case)
    of_source = [test for path, text in case.files.items() for test in read(path, text)]
    reported = {test for test in outcomes if "doc-tests" not in test}
    defined = definitions(reported, of_source)
    assert sorted(test for test in reported if not defined[test]) == []
    found = {(test.path, test.name) for tests in defined.values() for test in tests}
    assert sorted({(test.path, test.name) for test in of_source} - found) == []


def _outcomes(made, case):
    done = made.run(*case.command)
    if "could not be resolved" in done.stdout or "Could not resolve" in done.stdout:
        pytest.skip("the repository of Java's packages cannot be reached; looked at where it can be")
    data = (made.root / case.report).read_bytes() if case.report else (done.stderr + done.stdout).encode()
    if case.report == "" and case.command[0] == "cargo":
        data = made.run("sh", "-c", f"{' '.join(case.command)} 2>&1").stdout.encode()
    report = examine(data).result
    assert isinstance(report, TestReport), report
    return report.outcomes
