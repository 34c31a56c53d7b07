"""Measure the JUnit reader against bare expat: CPU as a ratio within one run, peak memory in megabytes.

Each reader runs in a process of its own on the same file, several times in turn; the least CPU of each counts. The
file is as pytest writes it: by default 100,000 cases, one in ten failed with a traceback, about 22 MB.

    python bench/junit.py [--cases N] [--rounds N] [--check]

With --check the exit status is 1 where the reader takes more than 2.5 × expat or 80 MB.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAX_RATIO = 2.5
MAX_MEGABYTES = 80
TRACEBACK = "&gt;       assert total == expected\nE       assert 41 == 42\n\ntests/test_totals.py:31: AssertionError\n"


def write_report(path: Path, cases: int) -> None:
    """Write a report piece by piece: a parent that is big would make its children look big."""
    with path.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" ')
        out.write(f'errors="0" failures="{cases // 10}" skipped="0" tests="{cases}" time="99.5">\n')
        for number in range(cases):
            module, case = divmod(number, 50)
            out.write(f'<testcase classname="tests.unit.package_{module % 40:02}.test_module_{module:04}.TestThing" ')
            out.write(f'name="test_it_does_what_it_should_in_case_number[{case:02}-left-right-{number}]" ')
            out.write(f'file="tests/unit/package_{module % 40:02}/test_module_{module:04}.py" line="{number % 997}" ')
            out.write(f'time="{number % 500 / 1000:.3f}"')
            if number % 10:
                out.write(" />\n")
            else:
                out.write(f'><failure message="assert 41 == 42">{TRACEBACK}</failure></testcase>\n')
        out.write("</testsuite></testsuites>\n")


def read_with_expat(data: bytes) -> int:
    import pyexpat  # noqa: PLC0415 (each process loads its own reader)

    parser = pyexpat.ParserCreate()
    parser.StartElementHandler = lambda _name, _attributes: None
    parser.EndElementHandler = lambda _name: None
    parser.Parse(data, True)  # noqa: FBT003
    return 0


def read_with_ours(data: bytes) -> int:
    from ralph_tracker.formats import registry, report  # noqa: PLC0415 (as above)

    result = registry.read(data)
    assert isinstance(result, report.TestReport), result
    return result.tests


READERS = {"expat": read_with_expat, "ralph-tracker": read_with_ours}


def measure(reader: str, path: Path) -> None:
    """Print what one reading takes: seconds of CPU without start and imports, the peak of the whole process."""
    data = path.read_bytes()
    READERS[reader](b"<testsuite/>")
    began = time.process_time()
    cases = READERS[reader](data)
    seconds = time.process_time() - began
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    print(json.dumps({"seconds": seconds, "megabytes": peak, "cases": cases}))


def run(reader: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--reader", reader, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(cases: int, rounds: int) -> tuple[float, float]:
    """Print the table and return the ratio of CPU and the peak of our reader."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "junit.xml"
        write_report(path, cases)
        print(f"{cases:,} cases, {path.stat().st_size / 1e6:.1f} MB, least of {rounds} rounds")
        results = {reader: [] for reader in READERS}
        for _ in range(rounds):
            for reader, runs in results.items():
                runs.append(run(reader, path))
    assert all(each["cases"] == cases for each in results["ralph-tracker"])
    least = {reader: min(each["seconds"] for each in runs) for reader, runs in results.items()}
    peak = {reader: max(each["megabytes"] for each in runs) for reader, runs in results.items()}
    for reader in READERS:
        print(f"{reader:14} {least[reader] * 1000:6.0f} ms CPU  {peak[reader]:6.1f} MB peak")
    ratio = least["ralph-tracker"] / least["expat"]
    print(f"ratio {ratio:.2f} (at most {MAX_RATIO}), peak {peak['ralph-tracker']:.1f} MB (at most {MAX_MEGABYTES})")
    return ratio, peak["ralph-tracker"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the JUnit reader against bare expat.")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="fail beyond the limits")
    parser.add_argument("--reader", choices=READERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        measure(options.reader, options.file)
        return 0
    ratio, peak = compare(options.cases, options.rounds)
    return int(options.check and (ratio > MAX_RATIO or peak > MAX_MEGABYTES))


if __name__ == "__main__":
    sys.exit(main())
