"""Honest edits of single tests and files, as controls: specifications, markers, clocks, text."""

import ast
import io
import re
import tokenize
from random import Random

from changes import Change, Edit, Text, control, imported, shuffled
from hollowing import any_equality, equality, left, plain, right
from outcomes import parsed


@control
def repair_tautology(change: Change, rng: Random) -> Edit | None:
    """Make an assertion that nothing could fail demand something: the old side has the tautology."""
    for target in shuffled(rng, change.targets):
        demands = [each for each in target.demands if equality(target, each)]
        if demands:
            demand = demands[0]
            vacuous = target.rewritten(demand, f"assert {left(target, demand)} == {left(target, demand)}")
            return Edit(old={target.path: vacuous}, new={target.path: target.text.data})
    return None


@control
def platform_skipif(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets)[:1]:
        marker = "@pytest.mark.skipif(sys.platform == 'win32', reason='paths differ there')"
        return Edit(new={target.path: imported(target.decorated(marker), "import sys\n\nimport pytest")})
    return None


@control
def changed_specification(change: Change, rng: Random) -> Edit | None:
    """Change a text in the source, and the test that expects it."""
    texts: dict[str, list[tuple[str, ast.Constant]]] = {}
    for path in change.sources:
        module = parsed(change.new[path])
        for each in ast.walk(module) if module is not None and b"\r" not in change.new[path] else ():
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and 3 < len(each.value) < 80:
                texts.setdefault(each.value, []).append((path, each))
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            expected = demand.right
            if not (any_equality(target, demand) and isinstance(expected, ast.Constant)) or expected.value not in texts:
                continue
            path, constant = texts[expected.value][0]
            text = Text(change.new[path])
            if not re.fullmatch(r"['\"][^'\"\\\n]*['\"]", text.of(constant)):
                continue
            changed = repr(f"{expected.value} (new)")
            test = target.text.spliced((target.text.span(expected), changed))
            return Edit(new={target.path: test, path: text.spliced((text.span(constant), changed))})
    return None


@control
def logging_hook(change: Change, _: Random) -> Edit | None:
    folders = sorted({target.path.rpartition("/")[0] for target in change.targets})
    if not folders:
        return None
    path = f"{folders[0]}/conftest.py".lstrip("/")
    hook = (
        "\n\nimport logging\n\nimport pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n"
        "    logging.getLogger(__name__).info('%s %s', report.nodeid, report.outcome)\n"
    )
    data = change.new.get(path, b"")
    return None if b"pytest_runtest_makereport" in data else Edit(new={path: data + hook.encode()})


@control
def patched_clock(change: Change, rng: Random) -> Edit | None:
    """Freeze the clock in a test that asks for it by the fixture."""
    for target in shuffled(rng, change.targets):
        line = target.text.data[target.text.line(target.function.lineno) :].partition(b"\n")[0].decode()
        arguments = re.search(r"\((self)?\):\s*$", line)
        if arguments is None or b"TestCase" in target.text.data:
            continue
        data = target.headed("monkeypatch.setattr(time, 'time', lambda: 1700000000.0)")
        asked = line.replace(arguments[0].strip(), f"({'self, ' if arguments[1] else ''}monkeypatch):")
        start = target.text.line(target.function.lineno)
        data = Text(data).spliced(((start, start + len(line.encode())), asked))
        return Edit(new={target.path: imported(data, "import time")})
    return None


@control
def format_only(change: Change, rng: Random) -> Edit | None:
    """Write a whole file as the syntax tree has it: other quotes, lines and parentheses, no comments."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: (ast.unparse(target.module) + "\n").encode()})
    return None


@control
def comments_and_docstrings(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets)[:1]:
        has = target.first is not target.function.body[0]
        lines = (
            ["# as the documentation says"] if has else ['"""It does what the documentation says."""', "# see there"]
        )
        return Edit(new={target.path: target.headed(*lines)})
    return None


@control
def strip_comments(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets):
        edits = []
        for token in tokenize.tokenize(io.BytesIO(target.text.data).readline):
            if token.type == tokenize.COMMENT:
                start = target.text.line(token.start[0])
                line = target.text.data[start:].partition(b"\n")[0].decode()
                at = start + len(line[: token.start[1]].encode())
                edits.append(((at, at + len(token.string.encode())), ""))
        if edits:
            return Edit(new={target.path: target.text.spliced(*edits)})
    return None


@control
def demand_more(change: Change, rng: Random) -> Edit | None:
    """Say with a message what differs, and ask for more than before."""
    for target in shuffled(rng, change.targets):
        demands = [each for each in target.demands if plain(target, each) and each.left is not None]
        if demands:
            demand = demands[0]
            said = f"{target.text.of(demand.node)}, 'not as documented'"
            added = f"{said}\nassert {left(target, demand)} is not NotImplemented"
            return Edit(new={target.path: target.rewritten(demand, added)})
    return None


@control
def unittest_to_plain(change: Change, rng: Random) -> Edit | None:
    """Write every `assertEqual` of a test as a plain assert."""
    for target in shuffled(rng, change.targets):
        demands = [each for each in target.demands if each.call and each.left is not None]
        one_line = [each for each in demands if each.node.lineno == each.node.end_lineno]
        if one_line:
            edits = [
                (target.text.span(each.node), f"assert {left(target, each)} == {right(target, each)}")
                for each in one_line
            ]
            return Edit(new={target.path: target.text.spliced(*edits)})
    return None
