"""Honest refactors of real suites, as controls: none of them makes a test demand less."""

import ast
import re
from random import Random

from changes import Change, Edit, Target, Text, control, imported, shuffled
from hollowing import equality, left, right
from outcomes import parsed


def _renamed(target: Target, name: str) -> tuple[tuple[int, int], str]:
    start = target.text.line(target.function.lineno)
    line = target.text.data[start:].partition(b"\n")[0]
    return (start, start + len(line)), line.decode().replace(f"def {target.function.name}", f"def {name}", 1)


@control
def rename_test(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets):
        span, line = _renamed(target, f"{target.function.name}_as_documented")
        if "_as_documented" in line:
            return Edit(new={target.path: target.text.spliced((span, line))})
    return None


def _free(target: Target) -> bool:
    """Tell whether a test is a function of its module."""
    return not target.classes


@control
def move_to_module(change: Change, rng: Random) -> Edit | None:
    """Move tests to a module of their own, with the head of the old one."""
    for target in shuffled(rng, tuple(filter(_free, change.targets))):
        same = [each for each in change.targets if each.path == target.path and _free(each)][:4]
        heads = [each for each in target.module.body if not isinstance(each, (ast.ClassDef, ast.FunctionDef))]
        new_path = re.sub(r"(test_)?([^/]+)\.py$", r"test_moved_\2.py", target.path)
        if len(same) < 2 or new_path in change.new:
            continue
        head = "\n".join(target.text.of(each) for each in heads)
        others = [
            each
            for each in target.module.body
            if isinstance(each, ast.FunctionDef) and not each.name.startswith("test")
        ]
        helpers = "".join(f"\n\n{_whole(target.text, each)}" for each in others)
        moved = "".join(f"\n\n{_whole(target.text, each.function)}" for each in same)
        rest = target.text.spliced(*((target.text.whole(each.function), "") for each in same))
        return Edit(new={target.path: rest, new_path: f"{head}\n{helpers}{moved}".encode()})
    return None


def _whole(text: Text, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    start, end = text.whole(node)
    return text.data[start:end].decode()


@control
def move_into_class(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, tuple(filter(_free, change.targets))):
        source = _whole(target.text, target.function)
        if '"""' in source or "'''" in source or "\\\n" in source:
            continue
        body = "".join(f"    {line}" if line.strip() else line for line in source.splitlines(keepends=True))
        inside = re.sub(r"(def \w+)\(", r"\1(self, ", body, count=1).replace("(self, )", "(self)")
        data = target.text.spliced(
            (target.text.whole(target.function), ""),
            ((len(target.text.data),) * 2, f"\n\nclass TestGathered:\n{inside}"),
        )
        if parsed(data) is not None:
            return Edit(new={target.path: data})
    return None


@control
def split_test(change: Change, rng: Random) -> Edit | None:
    """Split a test whose last two statements are assertions: the second test has what was before them too."""
    for target in shuffled(rng, change.targets):
        body = target.function.body
        ends = [each.node for each in target.demands]
        if len(body) > 2 and body[-1] in ends and body[-2] in ends:
            text, name = target.text, target.function.name
            whole = _whole(text, target.function)
            offset = text.whole(target.function)[0]
            first, last = (text.span(each)[0] - offset for each in body[-2:])
            raw = whole.encode()
            one = raw[:last].rstrip().decode() + "\n"
            two = (raw[:first] + raw[last:]).decode()
            two = two.replace(f"def {name}(", f"def {name}_in_the_end(", 1)
            pad = "\n" if target.classes else "\n\n"
            if f"def {name}(" in whole:
                data = text.spliced((text.whole(target.function), f"{one}{pad}{two}"))
                return Edit(new={target.path: data}) if parsed(data) is not None else None
    return None


@control
def merge_into_parametrize(change: Change, rng: Random) -> Edit | None:
    """Merge two tests that differ in their literals only."""
    free = [each for each in filter(_free, change.targets) if _single(each)]
    for one in rng.sample(free, len(free)):
        for other in free:
            if other is one or other.path != one.path:
                continue
            merged = _merged(one, other)
            if merged is not None:
                return Edit(new={one.path: merged})
    return None


def _single(target: Target) -> bool:
    """Tell whether a test is nothing but plain statements over literals, without parameters."""
    plain_body = all(isinstance(each, (ast.Assert, ast.Assign, ast.Expr)) for each in target.function.body)
    simple = plain_body and not target.function.args.args and not target.function.decorator_list
    return simple and bool(target.demands) and isinstance(target.function, ast.FunctionDef)


def _merged(one: Target, other: Target) -> bytes | None:
    mine, others = (_constants(each) for each in (one, other))
    differing = [pair for pair in zip(mine, others, strict=False) if ast.dump(pair[0]) != ast.dump(pair[1])]
    if len(mine) != len(others) or not differing or _shape(one) != _shape(other):
        return None
    names = [f"value_{number}" for number in range(len(differing))]
    first, last = one.function.body[0], one.function.body[-1]
    start, end = one.text.line(first.lineno), one.text.line((last.end_lineno or last.lineno) + 1)
    raw = one.text.data[start:end]
    edits = [(one.text.span(pair[0]), name) for pair, name in zip(differing, names, strict=True)]
    for (left_end, right_end), name in sorted(edits, reverse=True):
        raw = raw[: left_end - start] + name.encode() + raw[right_end - start :]
    rows = [", ".join(ast.unparse(pair[side]) for pair in differing) for side in (0, 1)]
    table = ", ".join(f"({row},)" for row in rows)
    source = (
        f"@pytest.mark.parametrize(({', '.join(repr(name) for name in names)},), [{table}])\n"
        f"def {one.function.name}({', '.join(names)}):\n{raw.decode()}"
    )
    data = one.text.spliced((one.text.whole(one.function), source), (other.text.whole(other.function), ""))
    return imported(data, "import pytest")


def _constants(target: Target) -> list[ast.Constant]:
    nodes = [node for statement in target.function.body for node in ast.walk(statement)]
    joined = any(isinstance(each, ast.JoinedStr) for each in nodes)
    found = [] if joined else [each for each in nodes if isinstance(each, ast.Constant)]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))


def _shape(target: Target) -> str:
    """Return the syntax of a body without the values of its literals."""
    copied = ast.parse("\n".join(ast.unparse(each) for each in target.function.body))
    for node in ast.walk(copied):
        if isinstance(node, ast.Constant):
            node.value = 0
    return ast.dump(copied)


@control
def extract_helper(change: Change, rng: Random) -> Edit | None:
    """Move an equality into a function that the test calls."""
    for target in shuffled(rng, change.targets):
        demands = [each for each in target.demands if equality(target, each)]
        if not demands:
            continue
        demand = rng.choice(demands)
        called = target.rewritten(demand, f"_assert_same({left(target, demand)}, {right(target, demand)})")
        helper = "\n\ndef _assert_same(found, expected):\n    assert found == expected\n"
        return Edit(new={target.path: called + helper.encode()})
    return None


@control
def extract_fixture(change: Change, rng: Random) -> Edit | None:
    """Move the assertion of a result into a fixture of conftest.py that tests ask for."""
    for target in shuffled(rng, tuple(filter(_free, change.targets))):
        demands = [each for each in target.demands if equality(target, each)]
        line = target.text.data[target.text.line(target.function.lineno) :].partition(b"\n")[0].decode()
        if not demands or not line.rstrip().endswith(":") or not re.search(r"\((\w*)\):", line):
            continue
        demand = demands[-1]
        data = target.rewritten(demand, f"same({left(target, demand)}, {right(target, demand)})")
        arguments = re.sub(r"\((\w*)\):", lambda found: f"({found[1] + ', ' if found[1] else ''}same):", line, count=1)
        data = data.replace(line.encode(), arguments.encode(), 1)
        path = f"{target.path.rpartition('/')[0]}/conftest.py".lstrip("/")
        fixture = (
            "import pytest\n\n\n@pytest.fixture\ndef same():\n    def check(found, expected):\n"
            "        assert found == expected\n\n    return check\n"
        )
        return Edit(new={target.path: data, path: change.new.get(path, b"") + f"\n\n{fixture}".encode()})
    return None
