"""The tests that the source is read to hold are those that the reports of the real tools name, skipped ones alike."""

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph_tracker.core.metrics import SKIPPED
from ralph_tracker.formats.registry import examine
from ralph_tracker.formats.tests.report import TestReport
from ralph_tracker.integrity.naming import Reported
from ralph_tracker.integrity.source_tests import tests_of as read

_spec = importlib.util.spec_from_file_location("ecosystem_sources", Path(__file__).with_name("sources.py"))
assert _spec is not None
assert _spec.loader is not None
sources = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sources)

_MAVEN_OFFLINE = Path("/etc/maven/settings-debian.xml")
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
def test_names_of_the_source_are_those_of_the_report(name, project, request):
    case = CASES[name]
    missing = [each for each in case.needs if shutil.which(each) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not found; looked at where it is installed")
    if case.install:
        request.getfixturevalue("registry")
    files = _offline(case.files)
    outcomes = _outcomes(project(files, case.install, ()), case)
    reported = Reported(outcomes)
    of_source = {
        (path, test.name): (reported.ids_of(path, test.name), test.skipped)
        for path, text in files.items()
        for test in read(path, text)
    }
    # Go's subtests count for their test as well, and begin as it does.
    assert [key for key, (ids, _) in of_source.items() if not ids or any(not i.startswith(ids[0]) for i in ids)] == []
    assert {ids[0]: skipped for ids, skipped in of_source.values()} == {
        test: outcome == SKIPPED for test, outcome in outcomes.items() if "doc-tests" not in test
    }


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


def _offline(files):
    if "pom.xml" not in files:
        return files
    offline = _MAVEN_OFFLINE.is_file()
    settings = {".mvn/maven.config": f"-o\n-s\n{_MAVEN_OFFLINE}\n"} if offline else {}
    return {**files, "pom.xml": files["pom.xml"].replace("JUNIT", "4.x" if offline else "4.13.2"), **settings}
