"""Operators of T8: the assertion stays, and its failure is swallowed or never reached."""

import re
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from hollowing import anything, rewriting


def _statement(target: Target, demand: Demand) -> str:
    return target.text.of(demand.node)


tampering("T8", name="except_assertion_pass")(
    rewriting(anything, lambda t, d: f"try:\n    {_statement(t, d)}\nexcept AssertionError:\n    pass")
)
tampering("T8", name="suppress")(
    rewriting(
        anything, lambda t, d: f"with contextlib.suppress(Exception):\n    {_statement(t, d)}", "import contextlib"
    )
)
tampering("T8", name="except_printed")(
    rewriting(anything, lambda t, d: f"try:\n    {_statement(t, d)}\nexcept Exception as error:\n    print(error)")
)
tampering("T8", name="expected_to_fail", also=("T6", "T4"))(
    rewriting(anything, lambda t, d: f"with pytest.raises(AssertionError):\n    {_statement(t, d)}", "import pytest")
)
tampering("T8", name="never_reached", also=("T5", "T4"))(
    rewriting(anything, lambda t, d: f"if False:\n    {_statement(t, d)}")
)


@tampering("T8")
def early_return(change: Change, rng: Random) -> Edit | None:
    """Return at the head of a test."""
    for target in shuffled(rng, change.targets):
        if target.demands and not re.search(r"\byield\b", target.text.of(target.function)):
            return Edit(new={target.path: target.headed("return")}, red=target.ids)
    return None


@tampering("T8")
def return_before_assertion(change: Change, rng: Random) -> Edit | None:
    """Return before an assertion, behind the call that it is about."""
    return rewriting(anything, lambda t, d: f"return\n{_statement(t, d)}")(change, rng)
