"""Tests of plain functions as tables: all rows are one case, and each row that fails is named."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def table(names: str | Sequence[str], rows: Iterable[Any], ids: object = None) -> Callable[..., Any]:
    """Call a test with every row, as `pytest.mark.parametrize` would; for tests that need no fixture.

    A row has a value for each name, one that stands alone for a single name, or is a `pytest.param`.
    """
    del ids  # a row that fails is shown whole
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    listed = list(rows)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(*owner: Any) -> None:
            failed: list[Exception] = []
            for row in listed:
                values = _values(row, len(wanted))
                try:
                    test(*owner, **dict(zip(wanted, values, strict=True)))
                except Exception as error:  # the other rows are tried too
                    error.add_note(f"with {dict(zip(wanted, values, strict=True))!r}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(listed)} rows", failed)

        functools.update_wrapper(run, test)
        del run.__wrapped__  # its parameters are no fixtures
        has_owner = next(iter(inspect.signature(test).parameters), None) == "self"
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if has_owner else []
        )
        return run

    return decorate


def _values(row: Any, count: int) -> Sequence[Any]:
    values = getattr(row, "values", None)
    if isinstance(values, tuple):  # a pytest.param
        return values
    return (row,) if count == 1 else row
