"""Properties of the JUnit reader over generated documents, with junitparser as the oracle."""

import io
import random
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import junitparser
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ralph_tracker.formats import registry
from ralph_tracker.formats.lint.linter_junit import TOOLS
from ralph_tracker.formats.parsed_report import TestReport, Unreadable
from ralph_tracker.formats.tests.case_collector import UNNAMED, id_prefix
from tests.tables import table

# The oracle knows no stray byte, no attribute of a test that was disabled, no error that is a warning, no retry, and no
# case without a suite.
BEYOND_THE_ORACLE = (
    *("stray-byte", "ctest", "phpunit-9-risky", "gradle-retry", "gotestsum-rerun", "node-todo"),
    "node-diffs",  # no suite is around its cases
)
REPORTS = (Path(__file__).parents[3] / "fixtures" / "reports" / "junit").glob("*/report.xml")
REAL = sorted(path for path in REPORTS if path.parent.name not in BEYOND_THE_ORACLE)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), max_size=12
)
SECONDS = st.integers(0, 1_000_000).map(lambda thousandths: thousandths / 1000)
CHILD_OF = {"failed": "failure", "error": "error", "skipped": "skipped"}


@dataclass(frozen=True)
class Case:
    """One generated test: `outcome` is passed, failed, error or skipped."""

    suites: tuple[str, ...]
    owner: str
    name: str
    outcome: str
    seconds: float

    def element(self) -> ET.Element:
        found = ET.Element("testcase", classname=self.owner, name=self.name, time=str(self.seconds))
        if self.outcome in CHILD_OF:
            ET.SubElement(found, CHILD_OF[self.outcome], message="<why> & where")
        return found

    @property
    def id(self) -> str:
        return id_prefix(self.suites, self.owner) + (self.name or UNNAMED)


@st.composite
def suites(draw: st.DrawFn, depth: int = 2, around: tuple[str, ...] = ()) -> tuple[ET.Element, list[Case]]:
    """Draw a testsuite element and its cases in the order of the document, those of nested suites included."""
    # Whoever calls a suite like a tool says that it wrote it.
    name = draw(NAMES.filter(lambda text: text.lower() not in {"pytest", *TOOLS}))
    element, path, cases = ET.Element("testsuite", name=name), (*around, name), []
    outcomes = st.sampled_from(["passed", *CHILD_OF])
    for nested in draw(st.lists(st.booleans(), max_size=3)):
        if nested and depth:
            child, inner = draw(suites(depth - 1, path))
        else:
            case = draw(st.builds(Case, st.just(path), NAMES, NAMES, outcomes, SECONDS))
            child, inner = case.element(), [case]
        element.append(child)
        cases += inner
    return element, cases


@st.composite
def documents(draw: st.DrawFn) -> tuple[ET.Element, list[Case]]:
    """Draw the root of a JUnit document, and its cases in the order of the document."""
    root, cases = ET.Element("testsuites"), []
    for element, inner in draw(st.lists(suites(), max_size=3)):
        root.append(element)
        cases += inner
    return root, cases


def read(root: ET.Element, encoding: str = "utf-8") -> TestReport:
    result = registry.read(ET.tostring(root, encoding=encoding))
    assert isinstance(result, TestReport), result
    return result


@given(documents(), st.sampled_from(["utf-8", "us-ascii", "utf-16"]))
def test_a_generated_document_reads_back(document, encoding):
    root, cases = document
    # Of two cases with one id the worse comes first; tests of the collector have that.
    assume(len({case.id for case in cases}) == len({(case.id, case.outcome) for case in cases}))
    report = read(root, encoding)
    assert report.tests == len(cases)
    in_order = zip(cases, report.outcomes.items(), strict=True)
    for case, (name, outcome) in in_order:
        assert name == case.id or name.startswith(f"{case.id}#")
        assert outcome == ("failed" if case.outcome == "error" else case.outcome)
        assert (name in report.in_error) == (case.outcome == "error")
        assert report.durations[name] == case.seconds


@given(st.lists(st.builds(Case, st.just(("box",)), NAMES, NAMES, st.just("passed"), SECONDS), unique_by=lambda c: c.id))
def test_no_other_test_changes_an_id(cases):
    shuffled = random.Random(len(cases)).sample(cases, len(cases))
    everything, some = (ET.Element("testsuite", name="box") for _ in range(2))
    everything.extend(case.element() for case in shuffled)
    some.extend(case.element() for case in cases[::2])
    assert set(read(everything).outcomes) == {case.id for case in cases}
    assert set(read(some).outcomes) <= set(read(everything).outcomes)


@given(documents(), st.data())
def test_a_document_cut_anywhere_is_unreadable(document, data):
    whole = ET.tostring(document[0])
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert isinstance(registry.read(whole[:cut]), Unreadable)
    assert isinstance(registry.read(whole[:cut], format="junit"), Unreadable)


def verdict(case: junitparser.TestCase) -> str:
    kinds = {type(result) for result in case.result}
    order = {junitparser.Error: "error", junitparser.Failure: "failed", junitparser.Skipped: "skipped"}
    return next((name for kind, name in order.items() if kind in kinds), "passed")


def by_the_oracle(data: bytes) -> list[tuple[str, str, str]]:
    """Return class, name and outcome of each case; junitparser's suites yield the cases of nested ones as well."""
    root = junitparser.JUnitXml.fromroot(ET.parse(io.BytesIO(data)).getroot())  # noqa: S314 (our own files)
    found = root if isinstance(root, junitparser.JUnitXml) else [root]
    return [(case.classname, case.name, verdict(case)) for suite in found for case in suite]


def verdicts(report: TestReport) -> list[str]:
    return ["error" if name in report.in_error else outcome for name, outcome in report.outcomes.items()]


@given(documents())
def test_the_oracle_finds_the_same_outcomes(document):
    theirs = by_the_oracle(ET.tostring(document[0]))
    assert sorted(verdicts(read(document[0]))) == sorted(outcome for _, _, outcome in theirs)


@table("path", REAL, ids=lambda path: path.parent.name)
def test_the_oracle_finds_the_same_in_real_reports(path):
    data = path.read_bytes()
    report = registry.read(data)
    if isinstance(report, Unreadable):
        with pytest.raises(ET.ParseError):
            by_the_oracle(data)
        return
    text = data.decode("utf-16").encode() if data.startswith(b"\xff\xfe") else data
    theirs = by_the_oracle(text)
    if b"pytest" in text:  # it writes a case again for a rerun and for an error in tear-down: the last one is the case
        theirs = list({(owner, name): (owner, name, outcome) for owner, name, outcome in theirs}.values())
    # jest-junit writes the error of a file once more, as a failure
    theirs = [each for each in theirs if each[::2] != ("Test suite failed to run", "failed")]
    # … and a test to do without an outcome
    theirs = [(owner, name, "skipped" if name in {" td", " todo"} else outcome) for owner, name, outcome in theirs]
    assert sorted(verdicts(report)) == sorted(outcome for _, _, outcome in theirs)
