"""Tests of plain functions as tables: all rows are one case, and each row that fails is named."""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def table(names: str | Sequence[str], rows: Iterable[Any], ids: object = None) -> Callable[..., Any]:
    """Call a test with every row, as `pytest.mark.parametrize` would; all rows share the fixtures that the test takes.

    A row has a value for each name, one that stands alone for a single name, or is a `pytest.param`. Tables on top of
    each other try every combination.
    """
    del ids  # a row that fails is shown whole
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    own = [dict(zip(wanted, _values(row, len(wanted)), strict=True)) for row in rows]

    def decorate(below: Callable[..., Any]) -> Callable[..., Any]:
        test: Callable[..., Any] = getattr(below, "test", below)
        listed = [{**inner, **outer} for outer in own for inner in getattr(below, "rows", [{}])]

        def run(*owner: Any, **fixtures: Any) -> None:
            failed: list[Exception] = []
            for row in listed:
                try:
                    test(*owner, **fixtures, **row)
                except Exception as error:  # the other rows are tried too
                    error.add_note(f"with {row!r}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(listed)} rows", failed)

        functools.update_wrapper(run, test)
        del run.__wrapped__  # its parameters are no fixtures
        run.test, run.rows = test, listed  # type: ignore[attr-defined]
        rest = [
            each for name, each in inspect.signature(test).parameters.items() if all(name not in row for row in listed)
        ]
        run.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
        return run

    return decorate


def _values(row: Any, count: int) -> Sequence[Any]:
    values = getattr(row, "values", None)
    if isinstance(values, tuple):  # a pytest.param
        return values
    return (row,) if count == 1 else row


def wider_than_80(text):
    """Return the lines of a text that are wider than a terminal and could be broken: no single word, no command."""
    wide = [line for line in text.splitlines() if len(line) > 80]
    return [line for line in wide if len(re.sub(r"`[^`]*`", "command", line).split()) > 1]
