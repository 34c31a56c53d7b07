"""Write loops as a Markdown table: one line an iteration, for a wiki or a chat."""

from collections.abc import Iterable, Iterator

from ralph_tracker.export.loop_rows import ExportedLoop, records


def lines(loops: Iterable[ExportedLoop]) -> Iterator[str]:
    """Yield the lines of the table; what was not measured is a dash."""
    yield "| loop | iteration | score | passed |\n"
    yield "|---|---|---|---|\n"
    for each in records(loops):
        cells = (each["loop_id"], each["iteration"], each["score.adjusted"], each["testing.tests_passed"])
        yield f"| {' | '.join('–' if cell is None else str(cell) for cell in cells)} |\n"
