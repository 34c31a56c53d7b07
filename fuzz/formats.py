"""Throw bytes at the readers of reports: a report or Unreadable comes out, never an exception, never a hang.

The first byte of an input says in which format the rest is read (0: the one that it looks like). The seeds are the
reports of fixtures/reports, each read as it looks and in its own format; libFuzzer mutates them, guided by the
branches of the package that an input reaches. An input that takes more than ten seconds, or more than a gigabyte, is a
finding too. Findings are written to fuzz/findings/.

    python fuzz/formats.py [--inputs N] [--seed N]
"""

import argparse
import random
import shutil
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ralph_tracker.formats"]):
    from ralph_tracker.formats import registry
    from ralph_tracker.formats.parsed_report import CoverageReport, LintReport, TestReport, TypeReport, Unreadable

ROOT = Path(__file__).parent
FINDINGS, SEEDS = ROOT / "findings", ROOT / "seeds"
RESULTS = CoverageReport | LintReport | TestReport | TypeReport | Unreadable
NAMES = (None, *registry.BY_NAME)
MAX_LENGTH = 8192


def one_input(data: bytes) -> None:
    """Read one input."""
    name = NAMES[data[0] % len(NAMES)] if data else None
    result = registry.read(data[1:], format=name)
    assert isinstance(result, RESULTS), result


def write_seeds(folder: Path) -> int:
    """Write each real report twice, and return how many seeds there are."""
    count = 0
    for path in sorted(ROOT.parent.glob("fixtures/reports/*/*/report.*")):
        data = path.read_bytes()[: MAX_LENGTH - 1]
        for number in (0, NAMES.index(path.parent.parent.name)):
            (folder / f"{count:04}").write_bytes(bytes([number]) + data)
            count += 1
    return count


def main() -> None:
    """Run until the inputs are used up; libFuzzer ends the process, with 0 where it found nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))  # noqa: S311  # not a secret
    options = parser.parse_args()
    FINDINGS.mkdir(exist_ok=True)
    shutil.rmtree(SEEDS, ignore_errors=True)
    SEEDS.mkdir()
    print(f"{options.inputs:,} inputs, {write_seeds(SEEDS)} seeds, --seed {options.seed}", flush=True)
    limits = ["-timeout=10", "-rss_limit_mb=1024", f"-max_len={MAX_LENGTH}", f"-artifact_prefix={FINDINGS}/"]
    runs = [f"-runs={options.inputs}", f"-seed={options.seed}", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, *runs, str(SEEDS)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
