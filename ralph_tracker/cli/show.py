"""ralph-tracker show: show one iteration with its score's components, alerts, changes and checks."""

from pathlib import Path

import click

from ralph_tracker.cli.diff import say_differences
from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import complain, document_of, say, say_json, say_table, say_wrapped
from ralph_tracker.iteration.explain import explain, explanation_document
from ralph_tracker.iteration.iteration_story import IterationStory, iteration_story
from ralph_tracker.store.records_to_show import listing


@click.command("show")
@click.argument("number", type=IterationNumber(min=0), required=False)
@loop_options
def command(number: int | None, root: Path, loop_id: str | None, as_json: bool) -> None:
    """Show iteration NUMBER as it was recorded (default: the latest), and how the result came about."""
    found = listing(root, loop_id)
    document = document_of(found.one(number))
    explanation = None if found.committed is None else explain(found.committed, document)
    if explanation is not None and explanation.problem is not None:
        complain(explanation.problem)
    if as_json:
        extra = {} if explanation is None else {"explanation": explanation_document(explanation)}
        say_json({**document, **extra})
        return
    _print_story(iteration_story(document, found.committed, explanation))


def _print_story(story: IterationStory) -> None:
    say(story.title)
    say_wrapped(story.sentence)
    for line in story.wrong:
        say_wrapped(line.text, colour="red")
    for line in (*story.score, *story.alerts, *story.decision):
        say_wrapped(line.text, indent=2 * line.depth, hang=4 if line.severity else 2, colour=line.severity)
    for table in story.tables:
        say_table(table, right=range(1, len(table[0])))
    for line in story.standing:
        say_wrapped(line.text)
    if story.differences is not None:
        say(f"since iteration {story.compared_with}")
        say_differences(story.differences, 5, 20)
    for line in (*story.checks, *story.notes):
        say_wrapped(line.text)
