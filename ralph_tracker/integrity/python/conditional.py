"""Which assertions of a Python test are made only under a condition that the outcome itself decides."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.assertions import demands_in
from ralph_tracker.integrity.python.expectations import rows_in
from ralph_tracker.integrity.python.handlers import asks_for, is_loud, names_made
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

_SETTING: Final = Pattern(r"environ|getenv|TYPE_CHECKING|__debug__")
_AROUND: Final = Pattern(
    r"^(sys|os|platform|shutil|socket|importlib|locale|time|struct|ssl|sqlite3|find_spec|which|hasattr|getattr|Version"
    r"|isinstance|issubclass|callable|type|len)\b"
)
_LOSING: Final = frozenset(
    {
        "Thread",
        "Timer",
        "Process",
        "submit",
        "run_in_executor",
        "create_task",
        "ensure_future",
        "call_soon",
        "call_later",
    }
    | {
        "register",
        "start_new_thread",
        "add_done_callback",
        "run_coroutine_threadsafe",
        "addCleanup",
        "apply_async",
        "spawn",
    }
)
_ASKED_AFTER: Final = (".result(", "await ", "gather(", ".exception(", "excepthook")
Path = tuple[str, ...]


class Conditional(NamedTuple):
    """Hold an assertion and the conditions that decide whether it is made, by the text of their heads."""

    text: str
    line: int
    under: Path


def conditionals_of(test: Function, also: frozenset[str] = frozenset()) -> Iterator[Conditional]:
    """Yield each assertion of a test with what it stands under, so far as that depends on what the test has made.

    `also` are further names that count as made: those of the other version of the test.
    """
    made = names_made(test) | also
    waiting: list[tuple[Sequence[ast.stmt], Path]] = [(test.body, ())]
    while waiting:
        body, under = waiting.pop()
        for statement in body:
            for text, _ in demands_in(statement):
                yield Conditional(text, statement.lineno, under)
            waiting.extend((inner, under + head) for inner, head in _blocks(statement, made))


def is_by_case(head: str, old: Function, new: Function) -> bool:
    """Tell whether a condition asks for nothing but what a table gives a test in turn that it was not given before."""
    if not head.startswith("if "):
        return False
    asked = ast.parse(head.removeprefix("if "), mode="eval").body
    names = {each.id for each in nodes_below(asked) if isinstance(each, ast.Name)}
    given = {each.arg for each in nodes_below(new.args) if isinstance(each, ast.arg)}
    given -= {each.arg for each in nodes_below(old.args) if isinstance(each, ast.arg)}
    if not names or not names <= given:
        return False
    return len({ast.unparse(row) for marker in new.decorator_list for row in rows_in(marker)}) > 1


def _blocks(statement: ast.stmt, made: frozenset[str]) -> Iterator[tuple[Sequence[ast.stmt], Path]]:
    if isinstance(statement, ast.If):
        both = _claims(statement.body) and _claims(statement.orelse)
        head = (f"if {ast.unparse(statement.test)}",) if not both and _is_open(statement.test, made) else ()
        yield statement.body, head
        yield statement.orelse, head
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield statement.body, (f"for … in {ast.unparse(statement.iter)}",) if _is_picked(statement.iter) else ()
        yield statement.orelse, ()
    elif isinstance(statement, ast.While):
        yield statement.body, (f"while {ast.unparse(statement.test)}",) if asks_for(statement.test, made) else ()
    elif isinstance(statement, ast.Match):
        head = (f"match {ast.unparse(statement.subject)}",) if asks_for(statement.subject, made) else ()
        yield from ((case.body, () if _all_claim(statement) else head) for case in statement.cases)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield statement.body, ()
    elif isinstance(statement, ast.Try | ast.TryStar):
        yield from ((part, ()) for part in (statement.body, statement.orelse, statement.finalbody))


def _claims(body: Sequence[ast.stmt]) -> bool:
    """Tell whether a branch asserts too, or fails."""
    return any(is_loud(each) or any(demands_in(each)) for each in body)


def _all_claim(statement: ast.Match) -> bool:
    last = statement.cases[-1].pattern
    return (
        isinstance(last, ast.MatchAs) and last.pattern is None and all(_claims(case.body) for case in statement.cases)
    )


def _is_open(condition: ast.expr, made: frozenset[str]) -> bool:
    """Tell whether a condition depends on what is tested: on names of the test, on calls, on the environment."""
    if asks_for(condition, made) or _SETTING.search(ast.unparse(condition)):
        return True
    calls = [ast.unparse(each.func) for each in nodes_below(condition) if isinstance(each, ast.Call)]
    return any(not _AROUND.search(each) for each in calls)


def _is_picked(values: ast.expr) -> bool:
    """Tell whether a loop goes over nothing, or over what was picked of something."""
    if isinstance(values, ast.List | ast.Tuple | ast.Set):
        return not values.elts
    if isinstance(values, ast.ListComp | ast.GeneratorExp):
        return any(each.ifs for each in values.generators)
    if isinstance(values, ast.Subscript):
        return isinstance(values.slice, ast.Slice)
    if not isinstance(values, ast.Call):
        return False
    nowhere = dotted(values) in {"range", "iter"} and all(
        ast.unparse(each) in {"0", "()", "[]"} for each in values.args
    )
    return nowhere or dotted(values) in {"filter", "islice", "itertools.islice", "takewhile", "itertools.takewhile"}


def unheard_in(test: Function, text: str) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the assertions of functions inside a test that others run, so that their failures reach nobody."""
    inner = [each for each in nodes_in(test) if isinstance(each, FUNCTIONS) and each is not test]
    if not inner or any(each in text for each in _ASKED_AFTER):
        return
    calls = [each for each in nodes_in(test) if isinstance(each, ast.Call)]
    for function in inner:
        uses = [each for each in calls if _names(each, function.name)]
        if _hands_back(function) or _is_asked_for(uses, test):
            continue
        if uses and all(_loses(each, function) for each in uses):
            for statement in function.body:
                yield from ((statement, asked) for asked, _ in demands_in(statement))


def _hands_back(function: Function) -> bool:
    """Tell whether a function catches what fails in it, to tell it elsewhere."""
    return any(isinstance(each, ast.Try) and each.handlers for each in nodes_in(function))


def _is_asked_for(uses: list[ast.Call], test: Function) -> bool:
    """Tell whether a test asks what it bound to such a call for its outcome: `box.apply_async(check).get()`."""
    bound = {
        dotted(target)
        for each in nodes_in(test)
        if isinstance(each, ast.Assign) and any(each.value is use for use in uses)
        for target in each.targets
    }
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "get"
        and (dotted(each.func.value) in bound or any(each.func.value is use for use in uses))
        for each in nodes_in(test)
    )


def _names(call: ast.Call, name: str) -> bool:
    given = (*call.args, *(each.value for each in call.keywords))
    return dotted(call.func) == name or any(dotted(each) == name for each in given)


def _loses(call: ast.Call, function: Function) -> bool:
    if dotted(call.func) == function.name:
        return isinstance(function, ast.AsyncFunctionDef)
    func = call.func
    return (func.attr if isinstance(func, ast.Attribute) else dotted(func)) in _LOSING
