"""Measure the readers of reports: CPU as a ratio to a floor within one run, and peak memory in megabytes.

JUnit is compared with expat with empty handlers, Cobertura with expat with minimal handlers for the same numbers, LCOV
with a loop over its lines with a dictionary of lines; SARIF has only a memory limit. Each reader runs several times on
the same file, in a process of its own; the lowest CPU counts, without start and imports, and the highest peak of the
process, including the file.

    python bench/formats.py [NAME …] [--rounds N]
"""

import argparse
import json
import pyexpat
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reports import LINES, write_cobertura, write_junit, write_lcov, write_sarif
from table import Table

CASES_OF_JUNIT, FILES, RESULTS = 100_000, 5000, 60_000
Files = dict[str, dict[int, int]]
Numbers = tuple[int, ...]


def counted(files: Files) -> Numbers:
    covered = sum(sum(hits > 0 for hits in lines.values()) for lines in files.values())
    return covered, sum(map(len, files.values()))


def junit_bare(data: bytes) -> Numbers:
    parser = pyexpat.ParserCreate()
    parser.StartElementHandler = lambda _name, _attributes: None
    parser.EndElementHandler = lambda _name: None
    parser.Parse(data, True)  # noqa: FBT003
    return ()


def cobertura_bare(data: bytes) -> Numbers:
    files: Files = {}
    lines: dict[int, int] = {}
    in_method = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal lines, in_method
        if name == "line":
            if not in_method:
                number, hits = int(attributes["number"]), int(attributes["hits"])
                if hits > lines.get(number, -1):
                    lines[number] = hits
        elif name == "class":
            lines = files.setdefault(attributes["filename"], {})
        elif name == "method":
            in_method = True

    def end(name: str) -> None:
        nonlocal in_method
        if name == "method":
            in_method = False

    parser = pyexpat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(data, True)  # noqa: FBT003
    return counted(files)


def lcov_bare(data: bytes) -> Numbers:
    files: Files = {}
    lines: dict[int, int] = {}
    for line in data.decode().splitlines():
        if line.startswith("DA:"):
            fields = line[3:].split(",")
            number, hits = int(fields[0]), int(fields[1])
            if hits > lines.get(number, -1):
                lines[number] = hits
        elif line.startswith("SF:"):
            lines = files.setdefault(line[3:], {})
    return counted(files)


def sarif_bare(data: bytes) -> Numbers:
    return (sum(len(run["results"]) for run in json.loads(data)["runs"]),)


def ours(data: bytes) -> Numbers:
    from ralph_tracker.formats import parsed_report, registry  # noqa: PLC0415 (only the process that needs it loads it)

    match registry.read(data):
        case parsed_report.TestReport() as found:
            return (found.tests,)
        case parsed_report.CoverageReport() as found:
            assert found.contradiction is None, found.contradiction
            return found.lines_covered, found.lines_total
        case parsed_report.LintReport() as found:
            return (found.results + found.suppressed,)
    raise AssertionError(data[:80])


@dataclass(frozen=True)
class Case:
    """A measurement: the report, the floor, a tiny report for the imports, the limits, the expected result.

    `ratio` is relative to the floor, `megabytes` is the peak; None is no limit. `expected` is the last number read.
    """

    what: str
    write: Callable[[Path, int], None]
    size: int
    bare: Callable[[bytes], Numbers]
    tiny: bytes
    expected: int
    ratio: float | None = None
    megabytes: float | None = None


CASES = {
    "junit": Case(
        f"JUnit, {CASES_OF_JUNIT:,} cases, against expat with empty handlers",
        write_junit,
        CASES_OF_JUNIT,
        junit_bare,
        b"<testsuite/>",
        CASES_OF_JUNIT,
        2.5,
        80,
    ),
    "cobertura": Case(
        f"Cobertura, {FILES:,} files, against expat with the least of handlers",
        write_cobertura,
        FILES,
        cobertura_bare,
        b'<coverage line-rate="0"/>',
        FILES * LINES,
        1.3,
    ),
    "lcov": Case(
        f"LCOV, {FILES:,} files, against a bare loop over the lines",
        write_lcov,
        FILES,
        lcov_bare,
        b"SF:a\nDA:1,1\nend_of_record\n",
        FILES * LINES,
        1.3,
    ),
    "sarif": Case(
        f"SARIF, {RESULTS:,} results, against the json module",
        write_sarif,
        RESULTS,
        sarif_bare,
        b'{"version": "2.1.0", "runs": []}',
        RESULTS,
        None,
        200,
    ),
}


def measure(case: Case, reader: str, path: Path) -> None:
    """Print the cost of one reading: seconds of CPU without start and imports, the peak of the whole process."""
    data = path.read_bytes()
    read = ours if reader == "ours" else case.bare
    if reader == "ours":
        from ralph_tracker.formats import registry  # noqa: PLC0415 (as above)

        registry.read(case.tiny)
    began = time.process_time()
    numbers = read(data)
    seconds = time.process_time() - began
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({"seconds": seconds, "megabytes": peak, "numbers": numbers}))


def run(name: str, reader: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, name, "--reader", reader, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(table: Table, name: str, rounds: int) -> None:
    """Print the figures of one format."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report"
        case.write(path, case.size)
        megabytes = path.stat().st_size / 1e6
        results = {reader: [] for reader in ("bare", "ours")}
        for _ in range(rounds):
            for reader, runs in results.items():
                runs.append(run(name, reader, path))
    assert all(each["numbers"][-1] == case.expected for each in results["ours"])
    least = {reader: min(each["seconds"] for each in runs) for reader, runs in results.items()}
    ratio, peak = least["ours"] / least["bare"], max(each["megabytes"] for each in results["ours"])
    limit = "none" if case.ratio is None else f"{case.ratio} x"
    table.row(case.what, f"{ratio:.2f} x", limit, held=case.ratio is None or ratio <= case.ratio)
    limit = "none" if case.megabytes is None else f"{case.megabytes} MB"
    what = f"the same, {megabytes:.0f} MB of report, peak of the process"
    table.row(what, f"{peak:.0f} MB", limit, held=case.megabytes is None or peak <= case.megabytes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*CASES, []], default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reader", choices=("bare", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        measure(CASES[options.names[0]], options.reader, options.file)
        return 0
    table = Table()
    for name in options.names or CASES:
        compare(table, name, options.rounds)
    return int(not table.held)


if __name__ == "__main__":
    sys.exit(main())
