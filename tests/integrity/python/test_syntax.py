"""Walks over syntax trees: the same nodes as those of the standard library, in the same order."""

import ast
import inspect
from collections import Counter

import pytest

from ralph_tracker.integrity.python import syntax
from ralph_tracker.integrity.python.nodes import below
from ralph_tracker.integrity.python.syntax import blocks_below, children_of, nodes_below, statements_below

SOURCE = """
import os as system
from . import box


@marked(1)
class Box(Base, metaclass=Meta):
    lid: int = 1

    async def open(self, *given, wide=True, **more) -> None:
        async with self.lock as held, other:
            async for each in self.lids:
                await each
        return {**more, "a": lambda x: x if x else [y for y in x if y]}


def look(at):
    global seen
    try:
        del at[1:2]
    except (ValueError, KeyError) as error:
        raise box from error
    else:
        seen += 1
    finally:
        assert at, f"{at!r:>{wide}}"
    while at:
        break
    else:
        pass
    match at:
        case {"a": 1, **rest} if rest:
            yield rest
        case Box(lid=[1, *_]) | None as found:
            yield from found
    for each in at:
        if each := at():
            with each:
                continue
        elif not each:
            print(-each, sep="")
"""
TEXTS = {"every kind of statement": SOURCE, "a module of the project": inspect.getsource(syntax), "nothing": ""}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
class TestWalks:
    def test_all_nodes_are_met_but_for_the_contexts_of_names(self, text):
        tree = ast.parse(text)
        assert nodes_below(tree) == [each for each in ast.walk(tree) if not isinstance(each, ast.expr_context)]

    def test_statements_come_as_in_a_walk_over_all_nodes(self, text):
        tree = ast.parse(text)
        assert list(statements_below(tree)) == [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]

    def test_nodes_below_one_come_with_those_that_they_stand_in(self, text):
        tree = ast.parse(text)
        ways = list(below(tree))
        assert Counter(each for each, _ in ways) == Counter(nodes_below(tree)[1:])
        assert all(way[0] is tree and each in children_of(way[-1]) for each, way in ways)

    def test_blocks_alone_lead_to_every_statement(self, text):
        tree = ast.parse(text)
        statements = {each for each, _ in below(tree, inside=blocks_below) if isinstance(each, ast.stmt)}
        assert statements == set(statements_below(tree))


def test_what_a_node_stands_in_begins_with_what_is_given():
    first = ast.parse("if x:\n    y\n").body[0]
    assert {way[0] for _, way in below(first, (ast.Module([], []),))} != {first}
