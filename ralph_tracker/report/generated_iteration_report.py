"""The template iteration-report.md.j2 in Python, by tools/translate_template.py: change that, then `make bless`."""

from ralph_tracker.report.escaping import for_markdown
from ralph_tracker.report.iteration_view import IterationView


def render(it: IterationView) -> str:  # noqa: C901, PLR0912, PLR0915  # as long as the template
    """Return the report."""
    out = ""
    out += f"## Iteration {it.iteration} Progress Report\n"
    out += "\n"
    out += f"**Timestamp**: {for_markdown(it.timestamp)}\n"
    out += f"**Classification**: {for_markdown(it.classification)}\n"
    out += f"**Quality Score**: {it.quality_score}\n"
    out += "\n"
    out += "### Metrics\n"
    out += "\n"
    if it.classification == "baseline":
        out += "| Metric | Current |\n"
        out += "|--------|---------|\n"
        for row in it.rows:
            out += f"| {row.label} | {row.current} |\n"
    if it.classification != "baseline":
        out += "| Metric | Current | Previous | Delta | Baseline | Delta from Baseline |\n"
        out += "|--------|---------|----------|-------|----------|---------------------|\n"
        for row in it.rows:
            out += f"| {row.label} | {row.current} | {row.previous} | {row.change} | {row.baseline} | "
            out += f"{row.change_from_baseline} |\n"
    out += "\n"
    out += "### Quality Score Breakdown\n"
    out += "\n"
    out += "| Dimension | Score | Weight | Contribution |\n"
    out += "|-----------|-------|--------|--------------|\n"
    for dimension in it.dimensions:
        out += f"| {dimension.label} | {dimension.score} | {dimension.weight} | {dimension.contribution} |\n"
    out += f"| **Total** | **{it.total}** | 1.00 | **{it.total}** |\n"
    out += "\n"
    out += "### Alerts\n"
    out += "\n"
    for alert in it.all_alerts:
        out += f"- **{alert.severity}** {for_markdown(alert.type)}"
        if alert.carried:
            out += f", open since {for_markdown(alert.since)}"
        out += f": {for_markdown(alert.message)}"
        if alert.note:
            out += f" ({for_markdown(alert.note)})"
        if alert.state == "accepted":
            out += " (accepted)"
        out += "\n"
    if not it.all_alerts:
        out += "No alerts\n"
    out += "\n"
    out += "### Best Iteration Tracker\n"
    out += "\n"
    if it.best == "n/a":
        out += "- **Current Best**: none yet\n"
    if it.best != "n/a":
        out += f"- **Current Best**: Iteration {it.best} (quality: {it.best_score})\n"
    out += f"- **This Iteration**: Iteration {it.iteration} (quality: {it.quality_score})\n"
    out += f"- **Best Preserved**: {it.best_preserved}\n"
    out += "\n"
    out += "### Recommendation\n"
    out += "\n"
    out += f"**Action**: {for_markdown(it.action)}\n"
    out += f"**Reason**: {for_markdown(it.reason)}\n"
    out += f"**Confidence**: {it.confidence}\n"
    for alternative in it.alternatives:
        out += f"- {for_markdown(alternative)}\n"
    out += "\n"
    out += "### Adjusted Score and Verdict\n"
    out += "\n"
    out += f"- **Adjusted Score**: {it.adjusted_score}"
    if it.adjusted_because:
        out += f" ({for_markdown(it.adjusted_because)})"
    out += "\n"
    out += f"- **Evidence**: {it.evidence} of the score's components were measured\n"
    out += f"- **Verified**: {it.verified}\n"
    if it.not_kept:
        out += f"- **Not Taken**: it {for_markdown(it.not_kept)}\n"
    if it.integrity:
        out += f"- **Integrity**: {it.integrity}\n"
    if it.cost:
        out += f"- **Cost**: {it.cost}\n"
    if it.plan:
        out += f"- **Plan**: {it.plan} tasks done\n"
    for closed in it.closed_alerts:
        out += f"- **Closed**: {for_markdown(closed)}\n"
    for note in it.notes:
        out += f"- **Note**: {for_markdown(note)}\n"
    if it.findings:
        out += "\n"
        out += "### Integrity\n"
        out += "\n"
        for finding in it.findings:
            out += f"- **{finding.severity}** {finding.rule} {for_markdown(finding.place)}"
            if finding.test:
                out += f", {for_markdown(finding.test)}"
            out += f": {for_markdown(finding.message)}\n"
            if finding.old:
                out += f"    - old: {for_markdown(finding.old)}\n"
            if finding.new:
                out += f"    - new: {for_markdown(finding.new)}\n"
            if finding.failure:
                out += f"    - failed with: {for_markdown(finding.failure)}\n"
            if finding.command:
                out += f"    - again: `{finding.command}`\n"
        if it.more_findings:
            out += f"- and {it.more_findings} more: `ralph-tracker integrity {it.iteration}`\n"
    if it.reruns:
        out += "\n"
        out += "### Earlier Tests on This Source\n"
        out += "\n"
        for line in it.reruns:
            out += f"- {for_markdown(line)}\n"
    if it.unread:
        out += "\n"
        out += "### Not Checked\n"
        out += "\n"
        for file in it.unread:
            out += f"- {for_markdown(file)}\n"
    if it.more_rows:
        out += "\n"
        out += "### All Metrics\n"
        out += "\n"
        if it.classification == "baseline":
            out += "| Metric | Current |\n"
            out += "|--------|---------|\n"
            for row in it.more_rows:
                out += f"| {row.label} | {row.current} |\n"
        if it.classification != "baseline":
            out += "| Metric | Current | Previous | Delta | Baseline | Delta from Baseline |\n"
            out += "|--------|---------|----------|-------|----------|---------------------|\n"
            for row in it.more_rows:
                out += f"| {row.label} | {row.current} | {row.previous} | {row.change} | {row.baseline} | "
                out += f"{row.change_from_baseline} |\n"
    return out
