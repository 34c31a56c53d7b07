"""Go's coverprofile (`go test -coverprofile`): a mode, then one block of statements per line."""

import re
from typing import Final

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import Block, CoverageReport
from ralph_tracker.formats.report_content import Content, DamageError, plausible

_MODE: Final = re.compile(r"mode: (?:set|count|atomic|regonly)\s*$", re.MULTILINE)
_BLOCK: Final = re.compile(r"(.+):(\d+\.\d+,\d+\.\d+) (\d{1,9}) (\d+)\s*", re.ASCII)


def sniff(content: Content) -> bool:
    """Whether it begins with the mode."""
    return _MODE.match(content.opening) is not None


def read(content: Content) -> CoverageReport:
    """Count statements; a block that several test binaries list is covered if one covers it. Raises DamageError.

    Other lines are skipped and counted. Go ends every line: a last line without an end was cut short. A cut between two
    lines cannot be detected.
    """
    files: dict[str, dict[Block, bool]] = {}
    if not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    skipped = 0
    for line in content.lines():
        found = _BLOCK.fullmatch(line)
        if found is not None:
            path, place, statements, hits = found.groups()
            blocks = files.setdefault(path, {})
            block = Block(place, plausible(int(statements), "statements"))
            blocks[block] = hits.strip("0") != "" or blocks.get(block, False)
        elif line.strip() and not _MODE.match(line):
            skipped += 1
    if skipped and not files:
        raise DamageError(f"no line is a block of statements, {skipped} are something else")
    return coverage_builder.report(files, skipped_lines=skipped)
