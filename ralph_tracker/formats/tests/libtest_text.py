"""Text output of Rust's test harness (`cargo test`): one `test result:` per binary, added up.

Tests have names if each has a line; with `--quiet` only their number is known. The id of a test includes its binary if
cargo's own lines (`Running …`, `Doc-tests …`) are present.
"""

import re
from collections import Counter
from typing import Final

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import Counts, TestReport
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with
from ralph_tracker.formats.tests.case_collector import ERROR, CaseCollector, case_id

_N: Final = r"(\d{1,9})"
_RESULT: Final = re.compile(rf"^test result: (?:ok|FAILED)\. {_N} passed; {_N} failed; {_N} ignored; {_N} measured;")
sniff: Final = text_with(re.compile(_RESULT.pattern, re.MULTILINE))
_RUNNING: Final = re.compile(r"^running (\d{1,9}) tests?$")
_TEST: Final = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<outcome>ok|FAILED|ignored|bench:)(?:[, ].*)?$")
_BINARY: Final = re.compile(r"^\s+Running (?:unittests )?(?:(?P<source>\S+) \()?(?P<path>[^\s()]+)\)?$")
_DOC_TESTS: Final = re.compile(r"^\s+Doc-tests (?P<crate>\S+)$")
_HASH: Final = re.compile(r"-[0-9a-f]{16}(?:\.exe)?$")
# Parts of a name that do not identify the test: how it runs, and the line of a documentation test.
_UNSTEADY: Final = re.compile(r" - should panic$| \(line \d+\)")
_OUTPUT: Final = re.compile(r"^---- (.+) stdout ----$")
_OUTCOMES: Final = {"ok": PASSED, "bench:": PASSED, "FAILED": FAILED, "ignored": SKIPPED}


def read(content: Content) -> TestReport:
    """Read the report. Raises DamageError if a binary has no summary: it crashed, or the text was cut short."""
    run = _Run()
    for line in content.lines():
        run.feed(plain(line.rstrip("\r")))
    return run.report()


class _Run:
    """The lines of one run; `_expected` is the number of tests of the open binary, None between two."""

    def __init__(self) -> None:
        self._cases = CaseCollector()
        self._unnamed = Counts()
        self._binary = ""
        self._expected: int | None = None
        self._tests: list[tuple[str, str]] = []
        self._listing = False
        self._messages: dict[str, list[str]] = {}
        self._shown: list[str] | None = None
        self._results = 0
        self._problems: list[str] = []

    def feed(self, line: str) -> None:
        """Handle one line; `failures:` is followed by the output of failed tests, which may look like the harness's."""
        if found := _RESULT.match(line):
            self._close([int(number) for number in found.groups()])
        elif self._expected is not None and not self._listing:
            if test := _TEST.match(line):
                self._tests.append((_UNSTEADY.sub("", test["name"]), _OUTCOMES[test["outcome"]]))
            elif line == "failures:":
                self._listing = True
            elif _RUNNING.match(line) or _BINARY.match(line):
                raise DamageError(self._no_summary())
        elif self._expected is None:
            self._between(line)
        elif shown := _OUTPUT.match(line):  # what a failed test printed
            self._shown = self._messages.setdefault(_UNSTEADY.sub("", shown[1]), [])
        elif line in ("failures:", "stack backtrace:") or line.startswith("note: "):
            self._shown = None
        elif self._shown is not None and len(self._shown) < 50:
            self._shown.append(line)

    def _between(self, line: str) -> None:
        if found := _RUNNING.match(line):
            self._expected = int(found[1])
        elif found := _BINARY.match(line):
            crate = _HASH.sub("", found["path"].replace("\\", "/").rpartition("/")[2])
            self._binary = f"{crate} {found['source'] or ''}".strip()
        elif found := _DOC_TESTS.match(line):
            self._binary = f"{found['crate']} doc-tests"
        elif line.startswith("error: could not compile "):
            self._problems.append("(build)")
        elif line.startswith(("error: test failed", "error: doctest failed")):
            self._problems.append(WHOLE_RUN)

    def _close(self, numbers: list[int]) -> None:
        passed, failed, ignored, measured = numbers
        if self._expected is not None and sum(numbers) != self._expected:
            return  # the summary of a run inside a test
        counts = Counts(passed=passed + measured, failed=failed, skipped=ignored)
        named = Counter(outcome for _, outcome in self._tests)
        if (named[PASSED], named[FAILED], named[SKIPPED]) == (counts.passed, counts.failed, counts.skipped):
            for name, outcome in self._tests:
                said = "\n".join(self._messages.get(name, ())) if outcome == FAILED else None
                self._cases.add(case_id(self._binary, name), outcome, said=said)
        else:
            self._unnamed += counts
        self._results += 1
        self._tests, self._expected, self._listing = [], None, False
        self._messages, self._shown = {}, None

    def _no_summary(self) -> str:
        return f"the tests of {self._binary or 'a binary'} have no `test result:`; it crashed or the text is cut short"

    def report(self) -> TestReport:
        """Return the report; a run that failed although no test did is a case in error."""
        if self._expected is not None:
            raise DamageError(self._no_summary())
        if not self._results:
            raise DamageError("no `test result:` in the output of `cargo test`")
        if self._problems and not self._cases.failed and not self._unnamed.failed:
            self._cases.add(self._problems[0], ERROR)
        note = "some tests have no names in it, so changed outcomes cannot be named" if self._unnamed.tests else None
        return self._cases.report(unnamed=self._unnamed, note=note)
