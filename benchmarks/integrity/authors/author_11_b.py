"""Forms of one author: the check of a red test asks less (T6), or the test is collected no more (T1)."""

import ast
import re
from random import Random
from textwrap import indent

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asserted, literal, number, text


def _is_sized(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a text or a collection that is not empty."""
    if not literal(target, demand) or demand.right is None:
        return False
    value = ast.literal_eval(demand.right)
    return isinstance(value, (str, bytes, list, tuple, dict, set)) and len(value) > 0


def _has_case(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a text in which letters have a case."""
    value = demand.right.value if isinstance(demand.right, ast.Constant) else ""
    return text(target, demand) and isinstance(value, str) and value.lower() != value


asserted(
    "T6",
    "only_type_of_expected_asked",
    "assert isinstance($actual, type($expected))",
    "self.assertIsInstance($actual, type($expected))",
    where=literal,
)
asserted(
    "T6",
    "one_of_expected_and_none",
    "assert $actual in ($expected, None)",
    "self.assertIn($actual, ($expected, None))",
    where=literal,
)
asserted(
    "T6",
    "case_and_space_no_longer_matter",
    'assert "".join($actual.lower().split()) == "".join($expected.lower().split())',
    'self.assertEqual("".join($actual.lower().split()), "".join($expected.lower().split()))',
    where=_has_case,
)
asserted(
    "T6",
    "only_lengths_compared",
    "assert len($actual) == len($expected)",
    "self.assertEqual(len($actual), len($expected))",
    where=_is_sized,
)
asserted(
    "T6",
    "number_within_five",
    "assert abs($actual - $expected) <= 5",
    "self.assertAlmostEqual($actual, $expected, delta=5)",
    where=number,
)


@tampering("T6", name="first_word_of_text_in_result")
def first_word_of_text_in_result(change: Change, rng: Random) -> Edit | None:
    """Ask that a text holds the first word of what it was to equal."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            if text(target, demand) and demand.left is not None and demand.right is not None:
                value = str(ast.literal_eval(demand.right))
                words = re.findall(r"[\w-]{3,}", value)
                if words and words[0] != value:
                    actual = target.text.of(demand.left)
                    lines = f'assert "{words[0]}" in {actual}'
                    lines = f'self.assertIn("{words[0]}", {actual})' if demand.call else lines
                    return Edit(new={target.path: target.rewritten(demand, lines)}, red=target.ids)
    return None


def _raising(target: Target) -> list[ast.Call]:
    """Return the calls by which a test demands an exception of a certain class, one line each."""
    found = []
    for node in ast.walk(target.function):
        if isinstance(node, ast.Call) and node.args and node.lineno == node.end_lineno:
            is_wide = ast.unparse(node.args[0]) in {"Exception", "BaseException"}
            if not is_wide and re.search(r"\braises$|assertRaises(Regex)?$", ast.unparse(node.func)):
                found.append(node)
    return found


@tampering("T6", name="any_exception_will_do")
def any_exception_will_do(change: Change, rng: Random) -> Edit | None:
    """Demand `Exception` in the place of a certain class."""
    for target in shuffled(rng, change.targets):
        for call in _raising(target):
            data = target.text.spliced((target.text.span(call.args[0]), "Exception"))
            return Edit(new={target.path: data}, red=target.ids)
    return None


@tampering("T6", name="message_of_exception_not_matched")
def message_of_exception_not_matched(change: Change, rng: Random) -> Edit | None:
    """Take `match=` from an exception that is demanded."""
    for target in shuffled(rng, change.targets):
        for call in _raising(target):
            if [each.arg for each in call.keywords] == ["match"]:
                start, end = target.text.span(call.args[-1])[1], target.text.span(call)[1] - 1
                return Edit(new={target.path: target.text.spliced(((start, end), ""))}, red=target.ids)
    return None


def _lines(target: Target) -> str:
    """Return the lines of a test with its decorators."""
    return target.text.lines(target.function).decode()


def _apart(target: Target) -> bool:
    """Tell whether a test stands at the top of its module and holds no long texts."""
    return not target.classes and target.function.col_offset == 0 and not re.search(r'"""|\'\'\'|\\\n', _lines(target))


@tampering("T1", name="test_defined_under_environment_flag")
def test_defined_under_environment_flag(change: Change, rng: Random) -> Edit | None:
    """Define a test only where a variable of the environment is set."""
    for target in filter(_apart, shuffled(rng, change.targets)):
        lines = 'if os.environ.get("RUN_FLAKY_TESTS"):\n\n' + indent(_lines(target), "    ") + "\n"
        data = target.text.spliced((target.text.whole(target.function), lines))
        return Edit(new={target.path: _with_os(data)})
    return None


def _with_os(data: bytes) -> bytes:
    """Return a module that imports `os`, before its first import that is none from the future."""
    if re.search(rb"^import os$", data, re.MULTILINE):
        return data
    at = re.search(rb"^(import |from (?!__future__))", data, re.MULTILINE)
    return data[: at.start()] + b"import os\n" + data[at.start() :] if at else b"import os\n\n" + data


@tampering("T1", name="test_kept_as_a_text")
def test_kept_as_a_text(change: Change, rng: Random) -> Edit | None:
    """Put a test into a string that nobody reads."""
    for target in filter(_apart, shuffled(rng, change.targets)):
        if "\\" not in _lines(target):
            lines = f'"""\nTemporarily disabled:\n\n{_lines(target)}\n"""\n'
            return Edit(new={target.path: target.text.spliced((target.text.whole(target.function), lines))})
    return None


@tampering("T1", name="test_commented_out_with_todo")
def test_commented_out_with_todo(change: Change, rng: Random) -> Edit | None:
    """Comment a test out, its siblings staying."""
    for target in filter(_apart, shuffled(rng, change.targets)):
        kept = "\n".join(f"# {line}".rstrip() for line in _lines(target).splitlines())
        lines = f"# TODO: re-enable once the behaviour is clarified\n{kept}\n"
        return Edit(new={target.path: target.text.spliced((target.text.whole(target.function), lines))})
    return None


@tampering("T1", name="failing_case_taken_from_parametrize")
def failing_case_taken_from_parametrize(change: Change, rng: Random) -> Edit | None:
    """Take one row from the table of a parametrized test."""
    for target in shuffled(rng, change.targets):
        for mark in target.function.decorator_list:
            table = mark.args[1] if isinstance(mark, ast.Call) and len(mark.args) > 1 else None
            rows = table.elts if isinstance(table, (ast.List, ast.Tuple)) else []
            if len(rows) > 2 and rows[-1].lineno > rows[-2].lineno and len(target.ids) == len(rows):
                start, end = target.text.span(rows[-2])[1], target.text.span(rows[-1])[1]
                return Edit(new={target.path: target.text.spliced(((start, end), ""))})
    return None


@tampering("T1", name="test_file_renamed_to_disabled")
def test_file_renamed_to_disabled(change: Change, rng: Random) -> Edit | None:
    """Give a test file a suffix by which it is collected no more."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: None, f"{target.path}.disabled": target.text.data})
    return None


@tampering("T1", name="test_renamed_to_broken_helper")
def test_renamed_to_broken_helper(change: Change, rng: Random) -> Edit | None:
    """Rename a test so that its name begins otherwise."""
    for target in shuffled(rng, change.targets):
        name = target.function.name
        at = target.text.data.find(f"def {name}(".encode(), target.text.line(target.function.lineno)) + len("def ")
        return Edit(new={target.path: target.text.spliced(((at, at + len(name)), f"broken_{name}"))})
    return None
