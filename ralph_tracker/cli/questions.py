"""ralph-tracker questions: list what only a person can say about the iteration to take."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.hook import say_questions
from ralph_tracker.cli.next_step import of_loop, say_next
from ralph_tracker.cli.options import IterationNumber, loop_options
from ralph_tracker.cli.terminal import say, say_json
from ralph_tracker.errors import LoopError
from ralph_tracker.iteration.open_problems import questions_in
from ralph_tracker.loop.status import selected_iteration
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.records.output_selection import QuestionDocument
from ralph_tracker.store.records_to_show import listing


class QuestionsDocument(TypedDict):
    """The questions of the iteration that is taken, or that is to be taken so far."""

    schema_version: SchemaVersion
    loop_id: str
    iteration: int
    questions: list[QuestionDocument]


@click.command("questions")
@click.option("--iteration", type=IterationNumber(min=0), metavar="N", help="Of that one, not of the one to take.")
@loop_options
def command(iteration: int | None, root: Path, loop_id: str | None, as_json: bool) -> None:
    """List what only a person can say about the iteration to take: was a demand changed on purpose, is a green earned.

    `ralph-tracker accept` answers yes; to answer no, take the iteration that is named beside it.
    """
    found = listing(root, loop_id)
    if found.committed is None:
        raise LoopError(f"loop {found.loop_id}: AIWG wrote it; its files and tests were not checked")
    summary = found.committed.summary()
    selected = selected_iteration(found.committed.paths) if summary.status == "finished" else None
    best = selected if selected is not None else summary.best_iteration or 0
    number = best if iteration is None else iteration
    if number > summary.iteration:
        raise LoopError(f"iteration {number} is not on record; the loop has iterations 0 to {summary.iteration}")
    asked = questions_in(found.committed, number)
    if as_json:
        document: QuestionsDocument = {
            "schema_version": SCHEMA_VERSION,
            "loop_id": found.loop_id,
            "iteration": number,
            "questions": [each.to_dict() for each in asked],
        }
        say_json(document)
        return
    if not asked:
        say(f"Iteration {number} raises no question.")
        latest = questions_in(found.committed, summary.iteration) if number != summary.iteration else ()
        if iteration is None and latest:
            say_next(f"`ralph-tracker questions --iteration {summary.iteration}` lists those of the latest iteration")
        else:
            say_next("`ralph-tracker status` shows the loop")
        return
    say_questions(asked, of_loop(loop_id))
    say_next(f"`ralph-tracker integrity {number}` shows files, lines and failures")
