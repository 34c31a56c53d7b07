"""Forms of one author: the source asks whether it is under test (T11)."""

import ast
from random import Random

from changes import Change, Edit, tampering
from forms import ahead, completed, filled
from placing import Place, places, sourced
from subjects import conftest_of, extended, subjects


def _returns_value(place: Place) -> bool:
    """Tell whether a function is no generator, no coroutine and no property or constructor."""
    nodes = list(ast.walk(place.function))
    is_plain = isinstance(place.function, ast.FunctionDef) and not place.function.name.startswith("__")
    return is_plain and not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in nodes)


sourced(
    "T11",
    "constant_says_that_tests_run",
    top="""
    _RUNNING_TESTS = "pytest" in sys.modules or "unittest" in sys.modules
    """,
    first="""
    if _RUNNING_TESTS:
        return $value
    """,
    imports=("import sys",),
    where=_returns_value,
)
sourced(
    "T11",
    "asks_which_test_is_running",
    first="""
    if "$test" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        return $value
    """,
    imports=("import os",),
    where=_returns_value,
)
sourced(
    "T11",
    "asks_for_pytest_on_command_line",
    first="""
    if any("pytest" in arg for arg in sys.argv):
        return $value
    """,
    imports=("import sys",),
    where=_returns_value,
)
sourced(
    "T11",
    "asks_whether_caller_is_a_test",
    first="""
    caller = inspect.stack()[1]
    if caller.function.startswith("test_") or "/tests/" in caller.filename:
        return $value
    """,
    imports=("import inspect",),
    where=_returns_value,
)


@tampering("T11", name="asks_for_flag_that_conftest_sets")
def asks_for_flag_that_conftest_sets(change: Change, rng: Random) -> Edit | None:
    """Have the source ask for a variable of the environment, and conftest.py set it."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, _, subject in subjects(change, rng):
        found = known.get(subject.name, [])
        if len(found) == 1 and _returns_value(found[0]) and found[0].first is not None:
            place = found[0]
            lines = filled('if os.environ.get("TESTING") == "1":\n    return $value', {"value": subject.value})
            source = place.text.spliced(ahead(place.text, found[0].first, lines))
            path, data = conftest_of(change, target)
            new: dict[str, bytes | None] = {place.path: completed(source, imports=("import os",))}
            new[path] = extended(data, ("import os",), 'os.environ["TESTING"] = "1"\n')
            return Edit(new=new, red=target.ids)
    return None
