"""ralph-tracker strength: put small errors into the lines that the loop changed, and see which the tests notice."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.options import loop_options, quiet_option, trust_option
from ralph_tracker.cli.terminal import consent, progress, say, say_json, say_table, say_wrapped
from ralph_tracker.codec import document_of
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import InputError
from ralph_tracker.formats.mutation_reports import read
from ralph_tracker.formats.report_content import DamageError
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.iteration.strength import Strength, strength_as_reported, strength_of
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.report.wording import strength_in_words
from ralph_tracker.safe_files import read_regular
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.records_to_show import listing
from ralph_tracker.store.write import LoopStore

_SHOWN: Final = 20


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    StrengthDocument = dict[str, object]
else:
    StrengthDocument = document_of(
        Strength,
        {"schema_version": SchemaVersion, "loop_id": str},
        about="`since` is null where errors were put into all lines; `unreached` are in lines that no test runs.\n\n"
        "`added` counts the tests that `since` has not, `added_tried` the errors in lines that they reach, as far as "
        "coverage says which test reaches a line (`by_test`), `added_noticed` those that they notice. For `left` there "
        "was no time.",
    )


@click.command("strength")
@click.argument("number", type=click.IntRange(min=0), required=False)
@click.option("--whole", is_flag=True, help="In all lines of the source, not only in those that were changed.")
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, show_default=True, help="The time for it.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="How many copies at once.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="Read a mutation tool's; run nothing.")
@quiet_option
@trust_option
@loop_options
def command(
    number: int | None,
    whole: bool,
    seconds: float,
    jobs: int,
    trust: bool,
    root: Path,
    loop_id: str | None,
    as_json: bool,
    *,
    report: Path | None,
) -> None:
    """Put small errors into the lines that iteration NUMBER changed, one at a time, and run the tests on each.

    Without NUMBER it is the iteration to take, and all lines that differ from the baseline. It runs in temporary
    copies; the result is kept for `show`, and the agent is told of its tests that notice nothing. No score counts it.
    """
    from ralph_tracker.iteration.trust_listing import loop_runs
    from ralph_tracker.store.lock import hold_lock
    from ralph_tracker.store.trust import Trust

    found = listing(root, loop_id)
    if found.committed is None:
        raise InputError(f"loop {found.loop_id}: AIWG wrote it; it has no files")
    store = LoopStore(found.committed.paths)
    of, since = (store.summary().best_iteration or 0, 0) if number is None else (number, None)
    measured = store.measurement(found.one(of).number)
    if number is not None and measured is not None:
        since = measured[1]
    if of == 0 and not whole:
        raise InputError("iteration 0 has changed no line; --whole puts errors into all lines")
    if report is None:
        Trust(store.paths.root, consent(trust=trust)).require_loop(store.paths, lambda: loop_runs(store))
        show = progress() or (lambda _: None)
        show(f"iteration {of}: running its tests in a copy, then on each error, {seconds:g} s")
        loop = ConfiguredLoop.read(store, configured_by)
        result = strength_of(loop, of, None if whole else since, os.environ, seconds=seconds, jobs=jobs)
    else:
        result = _as_reported(store, of, None if whole else since, report)
    if not whole:
        with hold_lock(store.paths.lock, "strength"):
            store.append_event(result.event())
    if as_json:
        say_json({"schema_version": SCHEMA_VERSION, "loop_id": found.loop_id, **result.to_dict()})
        return
    where = "all" if whole else f"since iteration {result.since}"
    how = f"{result.seconds:g} s" if report is None else f"as {report} says"
    say(f"iteration {of}: {quantity(result.lines, 'line')} of source {where}, {how}")
    for line in strength_in_words(result.event()):
        say_wrapped(line, indent=2)
    if result.missed:
        say("  not noticed:")
        say_table([(f"    {each.file}:{each.line}", each.old, "→", each.new) for each in result.missed[:_SHOWN]])
    if len(result.missed) > _SHOWN:
        say(f"    and {len(result.missed) - _SHOWN} more; --json has all")
    if len(result.files) > 1:
        say_table([(f"  {path}", f"{each.noticed} of {each.tried}") for path, each in sorted(result.files.items())])
    if result.left:
        longer = seconds * (result.tried + result.left) / max(result.tried, 1)
        say_wrapped(f"{quantity(result.left, 'error')} not tried: the time was over; `--seconds {longer:.0f}`", 2)
    say_next("a test for a line above that fails with the error; `ralph-tracker strength` again shows whether it does")


def _as_reported(store: LoopStore, number: int, since: int | None, report: Path) -> Strength:
    try:
        data = read_regular(report, name="it")
        return strength_as_reported(store, number, since, read(data))
    except OSError as error:
        raise InputError(f"{report}: {error.strerror or error}; name the mutation tool's report") from None
    except (DamageError, InputError) as error:
        raise InputError(f"{report}: {error}") from None
