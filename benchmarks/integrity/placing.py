"""Operators from templates, for what is no test: sources, settings, workflows and files of their own."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from changes import Change, Edit, Operator, Target, Text, shuffled, tampering
from forms import above, ahead, completed, filled, placed
from outcomes import FUNCTIONS, Function, parsed
from subjects import Subject, is_data, subjects


def first_of(function: Function) -> ast.stmt | None:
    """Return the first statement of a function behind its docstring, None where that is all."""
    body = function.body
    is_doc = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[0] if not is_doc else body[1] if len(body) > 1 else None


@dataclass(frozen=True, slots=True)
class Place:
    """Be a function of the source, with the file that it stands in."""

    path: str
    text: Text
    function: Function

    @property
    def first(self) -> ast.stmt | None:
        """Return its first statement behind the docstring."""
        return first_of(self.function)

    @property
    def parameters(self) -> list[str]:
        """Return its parameters by place, less `self` and `cls`."""
        names = [each.arg for each in (*self.function.args.posonlyargs, *self.function.args.args)]
        return names[1:] if names[:1] in (["self"], ["cls"]) else names


def places(change: Change, rng: Random) -> list[Place]:
    """Return the functions of the sources, in an order by the seed."""
    found = []
    for path in change.sources:
        module = parsed(change.new[path])
        if module is not None and b"\r" not in change.new[path]:
            text = Text(change.new[path])
            inner = [Place(path, text, each) for each in ast.walk(module) if isinstance(each, FUNCTIONS)]
            found += [each for each in inner if each.first and each.function.body[0].lineno > each.function.lineno]
    return rng.sample(found, len(found))


def _named(change: Change, rng: Random) -> Iterator[tuple[Target, Subject, Place]]:
    """Yield tests with their subject and the one function of the source that has its name."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, _, subject in subjects(change, rng):
        if len(known.get(subject.name, [])) == 1:
            yield target, subject, known[subject.name][0]


def sourced(  # noqa: PLR0913  # one argument for each thing that a form may say
    rule: str,
    name: str,
    *,
    first: str = "",
    decorator: str = "",
    top: str = "",
    imports: Sequence[str] = (),
    literal: bool = False,
    every: bool = False,
    where: Callable[[Place], bool] = lambda _: True,
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form that writes into the source function that a red test is about.

    `first` are lines at its head, `decorator` what stands above it, `top` what its module gets behind its imports.
    Values: $function, $test, $value (what the test demands, source text), $argument (the first argument of the test's
    call, source text), $parameter (the name of that parameter in the source). With `literal` only calls whose first
    argument and demanded value are data, no everyday ones. `every`: a function of any source, no certain test ($value,
    $argument, $parameter and $test are no values then).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for place, test, values in _anywhere(change, rng) if every else _asked_about(change, rng, literal=literal):
            if where(place):
                return Edit(new={place.path: _changed(place, values)}, red=test)
        return None

    def _changed(place: Place, values: Mapping[str, str]) -> bytes:
        edits = []
        if first:
            assert place.first is not None
            edits.append(ahead(place.text, place.first, filled(first, values)))
        if decorator:
            edits.append(above(place.text, place.function, filled(decorator, values)))
        return completed(place.text.spliced(*edits), top=filled(top, values), imports=imports)

    tampering(rule, name=name, also=also)(apply)


Found = tuple[Place, tuple[str, ...], dict[str, str]]


def _anywhere(change: Change, rng: Random) -> Iterator[Found]:
    red = tuple(each for target in shuffled(rng, change.targets)[:2] for each in target.ids)
    for place in places(change, rng):
        yield place, red, {"function": place.function.name}


def _asked_about(change: Change, rng: Random, *, literal: bool) -> Iterator[Found]:
    for target, subject, place in _named(change, rng):
        if not literal or is_rare(subject, place):
            values = {"function": subject.name, "test": target.function.name, "value": subject.value}
            if subject.call.args and place.parameters:
                values["argument"] = target.text.of(subject.call.args[0])
                values["parameter"] = place.parameters[0]
            yield place, target.ids, values


def is_rare(subject: Subject, place: Place) -> bool:
    """Tell whether a call's first argument and what is demanded of it are data, and no everyday values."""
    both = [ast.unparse(subject.call.args[0]), subject.value] if subject.call.args and place.parameters else []
    everyday = {"0", "1", "-1", "2", "''", '""', "None", "True", "False", "[]", "{}", "()"}
    return len(both) == 2 and is_data(subject.call.args[0]) and not everyday & set(both)


def trailed(comment: str) -> Operator:
    """Return an operator that puts a comment behind a simple line of the source."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for place in places(change, rng):
            for statement in place.function.body:
                end = place.text.span(statement)[1]
                is_line = statement.lineno == statement.end_lineno and place.text.data[end : end + 1] == b"\n"
                if is_line and not isinstance(statement, (*FUNCTIONS, ast.Pass)):
                    return Edit(new={place.path: place.text.spliced(((end, end), f"  {comment}"))})
        return None

    return apply


def headed(line: str) -> Operator:
    """Return an operator that puts a line at the head of a source file."""

    def apply(change: Change, rng: Random) -> Edit | None:
        paths = [path for path in change.sources if parsed(change.new[path]) is not None and change.new[path].strip()]
        path = rng.choice(paths) if paths else ""
        return Edit(new={path: f"{line}\n".encode() + change.new[path]}) if paths else None

    return apply


def set_otherwise(path: str, before: str, after: str | None) -> Operator:
    """Return an operator on a settings file that both sides are given where the project has none of that name.

    `after` None: it is removed.
    """

    def apply(change: Change, _: Random) -> Edit | None:
        if path in change.old or path in change.new:
            return None
        return Edit(old={path: before.encode()}, new={path: None if after is None else after.encode()})

    return apply


def trailing(rule: str, name: str, comment: str, *, also: tuple[str, ...] = ()) -> None:
    """Enter a form that puts a comment behind a simple line of the source."""
    tampering(rule, name=name, also=also)(trailed(comment))


def heading(rule: str, name: str, line: str, *, also: tuple[str, ...] = ()) -> None:
    """Enter a form that puts a line at the head of a source file."""
    tampering(rule, name=name, also=also)(headed(line))


def setting(
    rule: str, name: str, path: str, before: str, after: str | None, *, ends: str = "", also: tuple[str, ...] = ()
) -> None:
    """Enter a form about a settings file or workflow that both sides are given where the project has none of that name.

    `after` None: it is removed. With `ends` ("unreported", "red", "skipped") a test's end changes by it, and the texts
    may hold its $test, $file, $folder and $path ($$ is a dollar sign then).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        if path in change.old or path in change.new:
            return None
        for target in shuffled(rng, change.targets)[:1]:
            values = placed(target)
            old, new = (f"{filled(each, values)}\n".encode() for each in (before, after or ""))
            return Edit(old={path: old}, new={path: new}, **{ends: target.ids})
        return None

    tampering(rule, name=name, also=also)(apply if ends else set_otherwise(path, before, after))


def added(rule: str, name: str, files: Mapping[str, str], *, ends: str = "red", also: tuple[str, ...] = ()) -> None:
    """Enter a form that adds files, by path and text; both may hold a test's $test, $file, $folder and $path."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            values = placed(target)
            new = {
                filled(path, values).lstrip("/"): f"{filled(each, values)}\n".encode() for path, each in files.items()
            }
            return None if new.keys() & change.new.keys() else Edit(new=dict(new), **{ends: target.ids})
        return None

    tampering(rule, name=name, also=also)(apply)
