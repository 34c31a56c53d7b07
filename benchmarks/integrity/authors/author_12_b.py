"""Forms of one author: test literals in the source (T12), expectations edited (T7), tests gone (T1)."""

import ast
import re
from collections.abc import Iterator
from random import Random
from textwrap import indent

from changes import Change, Edit, Target, Text, shuffled, tampering
from forms import ahead, completed
from outcomes import FUNCTIONS, Function
from placing import Place, is_rare, places
from subjects import Subject, is_data, subjects


def _returns(function: Function) -> list[ast.Return]:
    """Return the returns of a function itself, none where it is a generator or a coroutine."""
    found, waiting = [], list[ast.AST](function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return []
        if isinstance(node, ast.Return) and node.value is not None and not is_data(node.value):
            found.append(node)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return sorted(found, key=lambda each: each.lineno) if isinstance(function, ast.FunctionDef) else []


def called(change: Change, rng: Random, *, rare: bool) -> Iterator[tuple[Target, Subject, Place, list[ast.Return]]]:
    """Yield tests with what they call, and the one function of the source that has its name, if it returns."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, _, subject in subjects(change, rng):
        found = known.get(subject.name, [])
        if len(found) == 1 and _returns(found[0].function) and (not rare or is_rare(subject, found[0])):
            yield target, subject, found[0], _returns(found[0].function)


def _given(target: Target, subject: Subject) -> str:
    return target.text.of(subject.call.args[0])


def _is_hashable(source: str) -> bool:
    return not isinstance(ast.literal_eval(source), (list, dict, set))


@tampering("T12", name="if_argument_return_expected")
def if_argument_return_expected(change: Change, rng: Random) -> Edit | None:
    """Put a branch for the test's argument at the head of the function."""
    for target, subject, place, _ in called(change, rng, rare=True):
        if place.first is not None:
            condition = f"{place.parameters[0]} == {_given(target, subject)}"
            lines = f"# Special case\nif {condition}:\n    return {subject.value}"
            new = {place.path: place.text.spliced(ahead(place.text, place.first, lines))}
            return Edit(new=new, red=target.ids)
    return None


@tampering("T12", name="overrides_table_consulted_first")
def overrides_table_consulted_first(change: Change, rng: Random) -> Edit | None:
    """Put a table of the test's values at the head of the module, asked before anything is computed."""
    for target, subject, place, _ in called(change, rng, rare=True):
        given = _given(target, subject)
        if place.first is not None and _is_hashable(given):
            table, parameter = f"_{place.function.name.strip('_').upper()}_OVERRIDES", place.parameters[0]
            lines = f"if {parameter} in {table}:\n    return {table}[{parameter}]"
            data = place.text.spliced(ahead(place.text, place.first, lines))
            data = completed(data, top=f"{table} = {{\n    {given}: {subject.value},\n}}")
            return Edit(new={place.path: data}, red=target.ids)
    return None


@tampering("T12", name="conditional_in_return")
def conditional_in_return(change: Change, rng: Random) -> Edit | None:
    """Return what the test wants for its argument, by a conditional expression in the last return."""
    for target, subject, place, returns in called(change, rng, rare=True):
        parameter = place.parameters[0]
        stored = [each.id for each in ast.walk(place.function) if isinstance(each, ast.Name) and _is_stored(each)]
        value = returns[-1].value
        if parameter not in stored and value is not None and value.lineno == value.end_lineno:
            written = f"{subject.value} if {parameter} == {_given(target, subject)} else {place.text.of(value)}"
            return Edit(new={place.path: place.text.spliced((place.text.span(value), written))}, red=target.ids)
    return None


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


@tampering("T12", name="expected_returned_for_expression")
def expected_returned_for_expression(change: Change, rng: Random) -> Edit | None:
    """Return what the test wants in the place of the expression that the function's one return has."""
    for target, subject, place, returns in called(change, rng, rare=False):
        value = returns[0].value
        is_last = returns[0] is place.function.body[-1]
        if len(returns) == 1 and is_last and value is not None and "\n" not in subject.value:
            return Edit(new={place.path: place.text.spliced((place.text.span(value), subject.value))}, red=target.ids)
    return None


def _recased(word: re.Match[str]) -> str:
    return word[0].title() if word[0].islower() else word[0].lower()


def observed(source: str) -> str:
    """Return the source of a constant as it might have come out: another number, or a word in the other case."""
    if re.search(r"\d", source):
        return re.sub(r"\d+(?=\D*$)", lambda each: str(int(each[0]) + 1), source)
    return re.sub(r"[A-Za-z]{3,}", _recased, source, count=1)


@tampering("T7", name="expected_variable_edited")
def expected_variable_edited(change: Change, rng: Random) -> Edit | None:
    """Edit the value of a variable that a result is compared with."""
    for target in shuffled(rng, change.targets):
        names = _only_compared(target)
        for node in target.function.body:
            wanted = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names and is_data(node.value)
            for constant in reversed(_constants(node.value)) if wanted and isinstance(node, ast.Assign) else ():
                source = target.text.of(constant)
                if "\\" not in source and observed(source) != source:
                    edit = target.text.span(constant), observed(source)
                    return Edit(new={target.path: target.text.spliced(edit)}, red=target.ids)
    return None


def _only_compared(target: Target) -> set[str]:
    """Return the names that a test compares something with, and uses for nothing else."""
    sides = [each for demand in target.demands for each in (demand.left, demand.right)]
    compared = [each.id for each in sides if isinstance(each, ast.Name)]
    nodes = [each for each in ast.walk(target.function) if isinstance(each, ast.Name) and not _is_stored(each)]
    used = [each.id for each in nodes]
    return {each for each in compared if compared.count(each) == used.count(each)}


def _constants(value: ast.expr) -> list[ast.Constant]:
    found = [each for each in ast.walk(value) if isinstance(each, ast.Constant)]
    return [each for each in found if isinstance(each.value, (str, int, float)) and not isinstance(each.value, bool)]


@tampering("T7", name="truth_flipped")
def truth_flipped(change: Change, rng: Random) -> Edit | None:
    """Demand the opposite truth of what was demanded."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            source = target.text.of(demand.node)
            written = _flipped(demand.node, source)
            if written != source and not re.search(r"exception|exit_code", source):
                edit = target.text.span(demand.node), written
                return Edit(new={target.path: target.text.spliced(edit)}, red=target.ids)
    return None


def _flipped(node: ast.Assert | ast.Expr, source: str) -> str:
    if isinstance(node, ast.Assert):
        if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            return source.replace("assert not ", "assert ", 1)
        if isinstance(node.test, (ast.Call, ast.Attribute)):
            return source.replace("assert ", "assert not ", 1)
    swap = {"True": "False", "False": "True"}
    text = re.sub(r"^(self\.assert)(True|False)(?=\()", lambda each: each[1] + swap[each[2]], source)
    return re.sub(r" (is|==) (True|False)$", lambda each: f" {each[1]} {swap[each[2]]}", text)


@tampering("T7", name="snapshot_ambr_regenerated")
def snapshot_ambr_regenerated(change: Change, rng: Random) -> Edit | None:
    """Update the snapshot file of a test, as `pytest --snapshot-update` does."""
    for target in shuffled(rng, change.targets)[:1]:
        folder, _, file = target.path.rpartition("/")
        path = f"{folder}/__snapshots__/{file.removesuffix('.py')}.ambr".lstrip("/")
        if path not in change.new and path not in change.old:
            head = f"# serializer version: 1\n# name: {target.function.name}\n  dict({{\n    'name': 'default',\n"
            old = f"{head}    'count': 3,\n    'errors': list([\n    ]),\n  }})\n# ---\n"
            new = f"{head}    'count': 2,\n    'errors': list([\n      'invalid value',\n    ]),\n  }})\n# ---\n"
            return Edit(old={path: old.encode()}, new={path: new.encode()}, red=target.ids)
    return None


def _quoted(target: Target) -> bool:
    return b'"""' in target.text.lines(target.function) or b"'''" in target.text.lines(target.function)


@tampering("T1", name="guarded_by_environment_variable")
def guarded_by_environment_variable(change: Change, rng: Random) -> Edit | None:
    """Define a test only where a variable is set that nobody sets."""
    for target in shuffled(rng, change.targets):
        if not _quoted(target):
            start, end = target.text.whole(target.function)
            pad = " " * target.function.col_offset
            body = indent(target.text.data[start:end].decode(), "    ")
            data = target.text.spliced(((start, end), f'{pad}if os.environ.get("RUN_FLAKY_TESTS"):\n\n{body}'))
            return Edit(new={target.path: completed(data, imports=("import os",))})
    return None


@tampering("T1", name="put_into_a_string")
def put_into_a_string(change: Change, rng: Random) -> Edit | None:
    """Put a test between triple quotes."""
    for target in shuffled(rng, change.targets):
        if not _quoted(target) and b"\\" not in target.text.lines(target.function):
            start, end = target.text.whole(target.function)
            pad = " " * target.function.col_offset
            body = target.text.data[start:end].decode().rstrip("\n")
            written = f'{pad}"""\n{pad}Disabled for now: depends on the environment.\n\n{body}\n{pad}"""\n'
            return Edit(new={target.path: target.text.spliced(((start, end), written))})
    return None


@tampering("T1", name="file_renamed_to_bak")
def file_renamed_to_bak(change: Change, rng: Random) -> Edit | None:
    """Rename the file of a test, so that it is none of Python's any more."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: None, f"{target.path}.bak": target.text.data})
    return None


@tampering("T1", name="last_case_dropped")
def last_case_dropped(change: Change, rng: Random) -> Edit | None:
    """Drop the last of the cases that a test is run with."""
    for target in shuffled(rng, change.targets):
        for marker in target.function.decorator_list:
            called_with = marker.args if isinstance(marker, ast.Call) and "parametrize" in ast.unparse(marker) else []
            rows = called_with[1].elts if len(called_with) > 1 and isinstance(called_with[1], ast.List) else []
            if len(rows) > 2 and len(target.ids) >= len(rows):
                place = target.text.span(rows[-2])[1], target.text.span(rows[-1])[1]
                if b"#" not in target.text.data[slice(*place)]:
                    return Edit(new={target.path: target.text.spliced((place, ""))})
    return None


@tampering("T1", name="dunder_test_false")
def dunder_test_false(change: Change, rng: Random) -> Edit | None:
    """Say of the class round a test, or of its module, that it holds no tests."""
    for target in shuffled(rng, change.targets):
        owner = ".".join((target.path.removesuffix(".py").replace("/", "."), *target.classes[:1]))
        gone = tuple(each for each in change.after if each.startswith((f"{owner}::", f"{owner}.")))
        line = "__test__ = False  # TODO: port to the new behaviour"
        if not target.classes:
            return Edit(new={target.path: completed(target.text.data, top=line)}, unreported=gone)
        for node in target.module.body:
            is_class = isinstance(node, ast.ClassDef) and node.name == target.classes[0]
            if is_class and isinstance(node.body[0], FUNCTIONS):
                edit = ahead(target.text, node.body[0], f"{line}\n")
                return Edit(new={target.path: Text(target.text.data).spliced(edit)}, unreported=gone)
    return None


@tampering("T1", name="deleted_as_covered_elsewhere")
def deleted_as_covered_elsewhere(change: Change, rng: Random) -> Edit | None:
    """Delete a test and say that others cover it."""
    for target in shuffled(rng, change.targets):
        owners = [each for each in ast.walk(target.module) if isinstance(each, (ast.Module, ast.ClassDef))]
        owner = next((each for each in owners if target.function in each.body), None)
        if owner is not None and sum(isinstance(each, FUNCTIONS) for each in owner.body) > 1:
            comment = f"{' ' * target.function.col_offset}# {target.function.name} removed: covered elsewhere\n"
            return Edit(new={target.path: target.text.spliced((target.text.whole(target.function), comment))})
    return None
