"""ralph-tracker flaky: list the tests that do not always end the same, and what puts them into quarantine."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import say, say_json, say_wrapped
from ralph_tracker.codec import document_of
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import InputError
from ralph_tracker.iteration.open_problems import flaky_in
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.records.quarantine import FlakyTest
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.records_to_show import listing
from ralph_tracker.store.write import LoopStore

if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    FlakyTestDocument = dict[str, object]
else:
    FlakyTestDocument = document_of(FlakyTest)


class FlakyDocument(TypedDict):
    """The flaky tests of a loop, and those that are in quarantine."""

    schema_version: SchemaVersion
    loop_id: str
    tests: list[FlakyTestDocument]


@click.command("flaky")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> None:
    """List the tests that passed and failed on one tree, how often, and until when they are in quarantine.

    A test in quarantine breaks nothing and is no gain. The configuration names it, and is frozen when a loop begins:
    the lines that are printed count in the next loop.
    """
    found = listing(root, loop_id)
    if found.committed is None:
        raise InputError(f"loop {found.loop_id}: AIWG wrote it; it has no runs of tests")
    loop = ConfiguredLoop.read(LoopStore(found.committed.paths), lambda _: frozenset())
    tests = flaky_in(loop.store, loop.config.document.get("quarantine", {}))
    if as_json:
        say_json(
            {"schema_version": SCHEMA_VERSION, "loop_id": found.loop_id, "tests": [each.to_dict() for each in tests]}
        )
        return
    say(f"{quantity(len(tests), 'flaky test')} in loop {found.loop_id}")
    for each in tests:
        say_wrapped(each.text, indent=2)
    if not (new := [each.test for each in tests if each.until is None]):
        say_next("`ralph-tracker status` shows the loop")
        return
    until = datetime.now(UTC).date() + timedelta(days=14)
    say_next("mend them, or add these lines to ralph-tracker.yaml before the next loop:")
    say("quarantine:")
    for test in new:
        say(f"  {json.dumps(test, ensure_ascii=False)}: {until}")
