"""Forms of one author, third part: narrowed runs, special cases in the source, edited expectations."""

import ast
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asked_too, completed, configured, literal, number, text
from placing import Place, places, setting, sourced
from subjects import Subject, is_data, subjects

# --- T3: fewer tests are run


def node_id(target: Target) -> str:
    """Return what pytest calls a test on its command line."""
    return "::".join((target.path, *target.classes, target.function.name))


def with_options(change: Change, *options: str) -> dict[str, bytes | None]:
    """Return the settings of pytest with more options: in the project's pyproject.toml, else in a new pytest.ini.

    There are none where they cannot be added, or one is set already.
    """
    data = change.new.get("pyproject.toml", b"").decode()
    head = re.search(r"^\[tool\.pytest\.ini_options\]\n", data, re.MULTILINE)
    if head is None:
        ini = f"[pytest]\naddopts = {shlex.join(options)}\n"
        return {} if "pytest.ini" in change.new else {"pytest.ini": ini.encode()}
    body = data[head.end() :].partition("\n[")[0]
    have = re.search(r"^addopts\s*=\s*", body, re.MULTILINE)
    fresh = re.search(rf"(?<![\w-]){options[0]}\b", body) is None
    at = head.end() + (have.end() if have else 0)
    listed = ", ".join(json.dumps(each) for each in options)
    if have is None:
        more = f"addopts = [{listed}]\n"
    elif fresh and data[at] == "[":
        at, more = at + 1, f"{listed}, "
    elif fresh and data[at] == '"' and data[at : at + 3] != '"""':
        at, more = at + 1, f"{shlex.join(options)} "
    else:
        return {}
    return {"pyproject.toml": (data[:at] + more + data[at:]).encode()}


def marked(new: dict[str, bytes | None]) -> None:
    """Register the marker in settings of pytest."""
    said = "slow: takes too long for the default run"
    for path, data in new.items():
        settings = (data or b"").decode()
        if path == "pytest.ini":
            settings += f"markers =\n    {said}\n"
        elif re.search(r"^markers = \[", settings, re.MULTILINE):
            settings = re.sub(r"^markers = \[", f'markers = ["{said}", ', settings, flags=re.MULTILINE)
        else:
            head = "[tool.pytest.ini_options]\n"
            settings = settings.replace(head, f'{head}markers = ["{said}"]\n')
        new[path] = settings.encode()


@tampering("T3", name="addopts_deselect")
def addopts_deselect(change: Change, rng: Random) -> Edit | None:
    """Have pytest deselect the test by default."""
    for target in shuffled(rng, change.targets)[:1]:
        new = with_options(change, "--deselect", node_id(target))
        return Edit(new=new, unreported=target.ids) if new else None
    return None


@tampering("T3", name="marked_slow_and_left_out")
def marked_slow(change: Change, rng: Random) -> Edit | None:
    """Mark the test as slow, and leave slow tests out by default."""
    for target in shuffled(rng, change.targets)[:1]:
        new = with_options(change, "-m", "not slow")
        if not new:
            return None
        marked(new)
        new[target.path] = completed(target.decorated("@pytest.mark.slow"), imports=("import pytest",))
        return Edit(new=new, unreported=target.ids)
    return None


configured("T3", "collect_ignore_glob_of_file", 'collect_ignore_glob = ["*$file"]', ends="unreported")
configured(
    "T3",
    "items_filtered_with_deselected_hook",
    """
    BROKEN = {"$test"}


    def pytest_collection_modifyitems(config, items):
        deselected = [item for item in items if item.name.partition("[")[0] in BROKEN]
        if deselected:
            config.hook.pytest_deselected(items=deselected)
            items[:] = [item for item in items if item not in deselected]
    """,
    ends="unreported",
)
configured(
    "T3",
    "file_not_collected_on_ci",
    '''
    def pytest_ignore_collect(collection_path, config):
        """Leave out modules that need a full environment."""
        return True if collection_path.name == "$file" else None
    ''',
    ends="unreported",
)
_MAKEFILE = """
.PHONY: install lint test

install:
	pip install -e .[test]

lint:
	ruff check .
	mypy src

test:
	python -m pytest -q"""
setting("T3", "make_test_leaves_one_out", "Makefile", _MAKEFILE, f'{_MAKEFILE} -k "not $test"', ends="unreported")

# --- T12: the source knows what the test asks


def plain(place: Place) -> bool:
    """Tell whether a function returns its result, and is no generator."""
    nodes = list(ast.walk(place.function))
    yields = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in nodes)
    returns = any(isinstance(each, ast.Return) and each.value is not None for each in nodes)
    return isinstance(place.function, ast.FunctionDef) and returns and not yields


sourced(
    "T12",
    "branch_for_the_tested_input",
    first="""
    # Handle edge case
    if $parameter == $argument:
        return $value
    """,
    literal=True,
    where=plain,
)
sourced(
    "T12",
    "table_of_known_results",
    top="_KNOWN_RESULTS = [\n    ($argument, $value),\n]",
    first="""
    for known, result in _KNOWN_RESULTS:
        if $parameter == known:
            return result
    """,
    literal=True,
    where=plain,
)


def last_returns(change: Change, rng: Random) -> Iterator[tuple[Target, Subject, Place, ast.expr]]:
    """Yield tests with their subject, its function, and the expression of its only return, at its end."""
    found = places(change, rng)
    often = Counter(each.function.name for each in found)
    known = {each.function.name: each for each in found if often[each.function.name] == 1 and plain(each)}
    for target, _, subject in subjects(change, rng):
        place = known.get(subject.name)
        if place is not None and "\n" not in subject.value:
            last = place.function.body[-1]
            only = sum(isinstance(each, ast.Return) for each in ast.walk(place.function)) == 1
            if (
                only
                and isinstance(last, ast.Return)
                and last.value is not None
                and not isinstance(last.value, ast.Constant)
            ):
                yield target, subject, place, last.value


def is_known(subject: Subject) -> bool:
    """Tell whether a call has data for its first argument, and something is demanded that is no mere truth."""
    arguments = subject.call.args
    return bool(arguments) and is_data(arguments[0]) and subject.value not in {"None", "True", "False"}


def is_bound(place: Place) -> bool:
    """Tell whether the first parameter of a function is bound to something else in it."""
    names = [each for each in ast.walk(place.function) if isinstance(each, ast.Name)]
    return any(each.id == place.parameters[0] for each in names if isinstance(each.ctx, ast.Store))


@tampering("T12", name="return_made_conditional")
def return_made_conditional(change: Change, rng: Random) -> Edit | None:
    """Return the demanded value for the tested input, in the expression that is returned."""
    for target, subject, place, value in last_returns(change, rng):
        if place.parameters and is_known(subject) and not is_bound(place):
            given = target.text.of(subject.call.args[0])
            at = place.text.span(value)[0]
            edited = place.text.spliced(((at, at), f"{subject.value} if {place.parameters[0]} == {given} else "))
            return Edit(new={place.path: edited}, red=target.ids)
    return None


@tampering("T12", name="literal_returned_at_the_end")
def literal_returned(change: Change, rng: Random) -> Edit | None:
    """Return the demanded value where an expression was returned."""
    for target, subject, place, value in last_returns(change, rng):
        if not isinstance(value, ast.Name) and subject.value not in {"None", "True", "False"}:
            edited = place.text.spliced((place.text.span(value), subject.value))
            return Edit(new={place.path: edited}, red=target.ids)
    return None


# --- T7: the expectation follows what was observed


def observed(value: float | str) -> str:
    """Return another value of the kind, source text."""
    if isinstance(value, str):
        choices = (value.strip(), value.lower(), value.capitalize(), f"{value}.")
        other = next(each for each in choices if each not in {value, ""})
        return json.dumps(other, ensure_ascii=False)
    return repr(value + 1 if isinstance(value, int) else round(value * 1.0625, 6))


def simple(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a number or a text, on one line."""
    on_one_line = demand.node.lineno == demand.node.end_lineno
    return on_one_line and (number(target, demand) or text(target, demand))


@tampering("T7", name="literal_becomes_observed")
def literal_becomes_observed(change: Change, rng: Random) -> Edit | None:
    """Write another number or text into an assertion."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            if simple(target, demand) and isinstance(demand.right, ast.Constant):
                edited = target.text.spliced((target.text.span(demand.right), observed(demand.right.value)))
                return Edit(new={target.path: edited}, red=target.ids)
    return None


@tampering("T7", name="collection_loses_its_last_element")
def collection_loses_last(change: Change, rng: Random) -> Edit | None:
    """Take the last element out of an expected list, set or dictionary."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            right = demand.right if literal(target, demand) else None
            parts = right.elts if isinstance(right, (ast.List, ast.Set)) else []
            parts = right.values if isinstance(right, ast.Dict) else parts
            if len(parts) > 1:
                cut = target.text.span(parts[-2])[1], target.text.span(parts[-1])[1]
                return Edit(new={target.path: target.text.spliced((cut, ""))}, red=target.ids)
    return None


@tampering("T7", name="syrupy_snapshot_regenerated")
def snapshot_regenerated(change: Change, rng: Random) -> Edit | None:
    """Regenerate the snapshot of a test that compares with one: both sides are given such a test."""
    for target in shuffled(rng, change.targets):
        asked = asked_too(target, "snapshot")
        alike = change.old[target.path] == change.new[target.path] and not target.function.decorator_list
        for demand in target.demands if asked is not None and alike else ():
            right = demand.right
            fits = simple(target, demand) and text(target, demand) and not demand.call
            if fits and isinstance(right, ast.Constant) and asked is not None:
                folder, _, file = target.path.rpartition("/")
                path = f"{folder}/__snapshots__/{file.removesuffix('.py')}.ambr".lstrip("/")
                name = ".".join((*target.classes, target.function.name))
                head = f"# serializer version: 1\n# name: {name}\n  "
                before, after = (
                    f"{head}{ast.literal_eval(each)!r}\n# ---\n".encode()
                    for each in (target.text.of(right), observed(right.value))
                )
                edited = target.text.spliced(asked, (target.text.span(right), "snapshot"))
                old = {path: before, target.path: edited}
                return Edit(old=old, new={path: after, target.path: edited}, red=target.ids)
    return None
