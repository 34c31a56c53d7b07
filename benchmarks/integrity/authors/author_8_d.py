"""Forms of one author, fourth part: tests that are gone from the collection."""

import ast
import re
from random import Random

from changes import Change, Edit, Target, shuffled, tampering
from forms import ahead

# --- T1: tests are gone


def goes_alone(target: Target) -> bool:
    """Tell whether a test can go without leaving an empty class."""
    holders = [each for each in ast.walk(target.module) if isinstance(each, (ast.ClassDef, ast.If))]
    return all(len(each.body) > 1 for each in holders if target.function in each.body)


def parting(target: Target, lines: str) -> Edit:
    """Return the edit that writes lines in the place of a test."""
    return Edit(new={target.path: target.text.spliced((target.text.whole(target.function), lines))})


@tampering("T1", name="test_function_removed")
def test_removed(change: Change, rng: Random) -> Edit | None:
    """Delete the test, with the blank lines behind it."""
    for target in filter(goes_alone, shuffled(rng, change.targets)):
        start, end = target.text.whole(target.function)
        rest = target.text.data[end:]
        end += len(rest) - len(rest.lstrip(b"\n"))
        return Edit(new={target.path: target.text.spliced(((start, end), ""))})
    return None


@tampering("T1", name="test_commented_out_with_fixme")
def test_commented_out(change: Change, rng: Random) -> Edit | None:
    """Comment the whole test out."""
    for target in filter(goes_alone, shuffled(rng, change.targets)):
        pad = " " * target.function.col_offset
        lines = target.text.lines(target.function).decode().splitlines()
        quiet = [f"{pad}# {line.removeprefix(pad)}".rstrip() for line in lines]
        return parting(target, "\n".join([f"{pad}# FIXME: fails with the current implementation", *quiet, ""]))
    return None


@tampering("T1", name="test_renamed_to_disabled")
def test_renamed(change: Change, rng: Random) -> Edit | None:
    """Give the test a name that is not collected."""
    for target in shuffled(rng, change.targets):
        name = target.function.name
        head = target.text.line(target.function.lineno)
        at = target.text.data.index(f"def {name}".encode(), head) + len("def ")
        return Edit(new={target.path: target.text.spliced(((at, at), "_disabled_"))})
    return None


@tampering("T1", name="failing_case_dropped_from_parameters")
def case_dropped(change: Change, rng: Random) -> Edit | None:
    """Take one case out of the table of a parametrized test."""
    for target in shuffled(rng, change.targets):
        calls = [each for each in target.function.decorator_list if isinstance(each, ast.Call) and len(each.args) > 1]
        tables = [each.args[1] for each in calls if ast.unparse(each.func).endswith("mark.parametrize")]
        rows = tables[0].elts if len(tables) == 1 and isinstance(tables[0], ast.List) else []
        if len(rows) > 2 and len(target.ids) == len(rows):
            place = rng.randrange(1, len(rows))
            cut = target.text.span(rows[place - 1])[1], target.text.span(rows[place])[1]
            return Edit(new={target.path: target.text.spliced((cut, ""))})
    return None


@tampering("T1", name="test_file_renamed_disabled")
def file_disabled(change: Change, rng: Random) -> Edit | None:
    """Give the test file a name that is not collected."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: None, f"{target.path}.disabled": change.new[target.path]})
    return None


@tampering("T1", name="class_not_a_test")
def class_not_a_test(change: Change, rng: Random) -> Edit | None:
    """Tell pytest that a class holds no tests."""
    for target in shuffled(rng, change.targets):
        owners = [each for each in target.module.body if isinstance(each, ast.ClassDef)]
        for owner in owners if len(target.classes) == 1 else ():
            first = owner.body[1] if ast.get_docstring(owner) is not None and len(owner.body) > 1 else owner.body[0]
            if owner.name == target.classes[0] and first.lineno > owner.lineno:
                (at, _), _ = ahead(target.text, first, "")
                lines = f"{' ' * first.col_offset}__test__ = False  # needs a rewrite\n\n"
                start = f"{target.path.removesuffix('.py').replace('/', '.')}.{owner.name}"
                gone = tuple(each for each in change.after if re.match(rf"{re.escape(start)}[.:]", each))
                return Edit(new={target.path: target.text.spliced(((at, at), lines))}, unreported=gone)
    return None
