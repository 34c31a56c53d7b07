"""Operators from templates: one form of tampering in a line or two, whatever test or source it is applied to.

Templates are `string.Template` texts. Lines of a template are indented as the place where they are put.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from random import Random
from string import Template
from textwrap import dedent, indent

from changes import Change, Demand, Edit, Target, Text, shuffled, tampering
from outcomes import Function, parsed
from subjects import Subject, conftest_of, extended, importing, is_data, subjects

Asked = Callable[[Target, Demand], bool]
Splice = tuple[tuple[int, int], str]


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its values; what has no value raises KeyError."""
    return Template(dedent(template).strip("\n")).substitute(values)


def above(text: Text, function: Function, lines: str) -> Splice:
    """Return the edit that puts lines above a function and its decorators."""
    at = text.whole(function)[0]
    return (at, at), indent(lines, " " * function.col_offset) + "\n"


def ahead(text: Text, statement: ast.stmt, lines: str) -> Splice:
    """Return the edit that puts lines before a statement."""
    at = text.line(min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))]))
    return (at, at), indent(lines, " " * statement.col_offset) + "\n"


def completed(data: bytes, *, top: str = "", imports: Sequence[str] = ()) -> bytes:
    """Return a module with definitions behind its imports, and imports that it lacks."""
    module = parsed(data)
    if top and module is not None:
        heads = [each for each in module.body if isinstance(each, (ast.Import, ast.ImportFrom))]
        is_text = bool(module.body) and ast.get_docstring(module) is not None
        last = heads[-1].end_lineno if heads else module.body[0].end_lineno if is_text else 0
        at = Text(data).line((last or 0) + 1)
        data = Text(data).spliced(((at, at), f"\n\n{dedent(top).strip()}\n\n"))
    have = data.decode("utf-8", "replace").splitlines()
    for line in sorted(set(imports) - set(have), reverse=True):
        data = importing(data, line)
    return data


def equality(_: Target, demand: Demand) -> bool:
    """Tell whether an assertion demands that two expressions are equal."""
    return demand.left is not None and not isinstance(demand.left, ast.Constant)


def anything(_: Target, __: Demand) -> bool:
    """Tell that any assertion will do."""
    return True


def literal(target: Target, demand: Demand) -> bool:
    """Tell whether something that is no data is demanded to equal a literal."""
    return equality(target, demand) and is_data(demand.right) and not is_data(demand.left)


def number(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a number."""
    value = demand.right.value if isinstance(demand.right, ast.Constant) else None
    return literal(target, demand) and isinstance(value, (int, float)) and not isinstance(value, bool)


def text(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a text that is not empty."""
    value = demand.right.value if isinstance(demand.right, ast.Constant) else None
    return literal(target, demand) and isinstance(value, str) and bool(value)


def asserted(  # noqa: PLR0913  # one argument for each thing that a form may say
    rule: str,
    name: str,
    bare: str,
    unit: str | None = None,
    *,
    where: Asked = equality,
    every: bool = False,
    top: str = "",
    imports: Sequence[str] = (),
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form that writes another text in the place of an assertion (`every`: of all that fit) of a red test.

    `bare` is for an `assert` statement, `unit` for a method of unittest ("" : such tests are left alone; None: the same
    text). Values: $actual and $expected of an equality, $condition (what an `assert` asks, or the call of the method),
    $assertion (the whole statement), $test (the function's name).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            fitting = [each for each in target.demands if where(target, each) and _form(each)]
            chosen = fitting if every or not fitting else [rng.choice(fitting)]
            edits = [(target.text.span(each.node), _written(target, each)) for each in chosen]
            if edits:
                data = completed(target.text.spliced(*edits), top=top, imports=imports)
                return Edit(new={target.path: data}, red=target.ids)
        return None

    def _form(demand: Demand) -> str:
        return (bare if unit is None else unit) if demand.call else bare

    def _written(target: Target, demand: Demand) -> str:
        lines = filled(_form(demand), _values(target, demand))
        return lines.replace("\n", "\n" + " " * demand.node.col_offset)

    tampering(rule, name=name, also=also)(apply)


def _values(target: Target, demand: Demand) -> dict[str, str]:
    of = target.text.of
    asked = demand.node.test if isinstance(demand.node, ast.Assert) else demand.node.value
    values = {"condition": of(asked), "assertion": of(demand.node), "test": target.function.name}
    if demand.left is not None and demand.right is not None:
        values |= {"actual": of(demand.left), "expected": of(demand.right)}
    return values


def rewritten(  # noqa: PLR0913  # as above
    rule: str,
    name: str,
    *,
    first: str = "",
    last: str = "",
    around: str = "",
    decorator: str = "",
    top: str = "",
    imports: Sequence[str] = (),
    where: Callable[[Target], bool] = lambda _: True,
    skipped: bool = False,
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form that puts lines first or last into a test, round its body (a line `$$body`), or a decorator on it.

    The test was red; with `skipped` it is reported as skipped now instead. Values: $test (the function's name).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if where(target):
                data = completed(_changed(target), top=top, imports=imports)
                red, away = ((), target.ids) if skipped else (target.ids, ())
                return Edit(new={target.path: data}, red=red, skipped=away)
        return None

    def _changed(target: Target) -> bytes:
        values = {"test": target.function.name}
        source = target.text
        begin = source.line(target.first.lineno)
        end = source.line((target.function.end_lineno or 0) + 1)
        body = dedent(source.data[begin:end].decode()).rstrip("\n")
        parts = [filled(first, values)] if first else []
        parts.append(_embraced(filled(around, values | {"body": "$body"}), body) if around else body)
        parts += [filled(last, values)] if last else []
        edits = [((begin, end), indent("\n".join(parts), target.indent) + "\n")]
        if decorator:
            edits.append(above(source, target.function, filled(decorator, values)))
        return source.spliced(*edits)

    tampering(rule, name=name, also=also)(apply)


def _embraced(around: str, body: str) -> str:
    lines = []
    for line in around.splitlines():
        pad = line[: len(line) - len(line.lstrip())]
        lines.append(indent(body, pad) if line.strip() == "$body" else line)
    return "\n".join(lines)


def rigged(  # noqa: PLR0913  # as above
    rule: str,
    name: str,
    *,
    first: str = "",
    decorator: str = "",
    argument: str = "",
    call: str = "",
    top: str = "",
    conftest: str = "",
    imports: Sequence[str] = (),
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form about the subject of a red test: the project's function whose result it demands.

    `first` are lines at the head of the test, `argument` is a fixture that it asks for, `call` what is written in the
    place of the call, `conftest` what is added to the nearest conftest.py. Values: $function (its name), $owner (the
    expression it is looked up on, such as `module` or `Class`, "" where it is a name of the test module), $dotted (the
    import path of that owner: `package.module` or `package.module.Class`), $value (the demanded value, source text),
    $call (the call, source text), $test.
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng):
            new = {} if "\n" in subject.value else _changed(change, target, subject)
            if new:
                return Edit(new=new, red=target.ids)
        return None

    def _changed(change: Change, target: Target, subject: Subject) -> dict[str, bytes | None]:
        source = target.text
        values = _about(target, subject)
        edits = [ahead(source, target.first, filled(first, values))] if first else []
        edits += [above(source, target.function, filled(decorator, values))] if decorator else []
        edits += [(source.span(subject.call), filled(call, values))] if call else []
        asked = asked_too(target, argument) if argument else None
        if argument and asked is None:
            return {}
        edits += [asked] if asked else []
        imported = tuple(filled(each, values) for each in imports)
        needs = () if conftest and not edits else imported
        new: dict[str, bytes | None] = {
            target.path: completed(source.spliced(*edits), top=filled(top, values), imports=needs)
        }
        if conftest:
            path, data = conftest_of(change, target)
            new[path] = extended(data, imported, filled(conftest, values) + "\n")
        return {path: data for path, data in new.items() if data != change.new.get(path)}

    tampering(rule, name=name, also=also)(apply)


def _about(target: Target, subject: Subject) -> dict[str, str]:
    return {
        "function": subject.name,
        "owner": subject.owner,
        "dotted": subject.dotted,
        "value": subject.value,
        "call": target.text.of(subject.call),
        "test": target.function.name,
    }


def asked_too(target: Target, argument: str) -> Splice | None:
    """Return the edit by which a test function of pytest's asks for one more fixture, None where it cannot."""
    bases = [
        ast.unparse(base)
        for each in target.module.body
        if isinstance(each, ast.ClassDef) and each.name in target.classes
        for base in each.bases
    ]
    line = target.text.line(target.function.lineno)
    head = target.text.data[line:].partition(b"\n")[0].decode()
    if any("Test" in base for base in bases) or not head.rstrip().endswith("):") or "->" in head:
        return None
    at = line + len(head.rstrip().encode()) - 2
    inside = head.rstrip()[:-2].rpartition("(")[2].strip()
    return (at, at), f", {argument}" if inside else argument


def configured(
    rule: str,
    name: str,
    source: str,
    *,
    imports: Sequence[str] = (),
    ends: str = "red",
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form that adds a text to the conftest.py nearest to a test.

    `ends` says what became of the test: "red" (it failed before and is reported as passed now), "skipped" or
    "unreported" (it is collected no more). Values: $test (the function's name), $file (its file's name), $folder.
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            path, data = conftest_of(change, target)
            new = {path: extended(data, tuple(imports), filled(source, placed(target)) + "\n")}
            return Edit(new=new, **{ends: target.ids})
        return None

    tampering(rule, name=name, also=also)(apply)


def placed(target: Target) -> dict[str, str]:
    """Return the values of a test's place: $test, $file, $folder and $path."""
    folder, _, file = target.path.rpartition("/")
    return {"test": target.function.name, "file": file, "folder": folder, "path": target.path}
