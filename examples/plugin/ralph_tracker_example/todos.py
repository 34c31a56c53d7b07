"""Count the lines with a TODO that an agent added since the baseline: work that it left undone."""

from ralph_tracker.measure.tree_metrics import PluginMetric, TreeFacts


def added_todos(facts: TreeFacts) -> float:
    """Return how many of the added lines say TODO."""
    count = 0
    for path, added in facts.new_lines().items():
        lines = (facts.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        count += sum("TODO" in line for number, line in enumerate(lines, 1) if number in added)
    return count


METRIC = PluginMetric(added_todos, direction="down")
