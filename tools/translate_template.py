"""Translate a shipped template into Python, as Jinja is too slow for a report after every iteration.

The template stays the source: `make bless` writes the translation, and a test compares the two. Only what our templates
use is translated; for anything else an error is raised.
"""

import json
from collections.abc import Iterator, Sequence
from typing import NoReturn

from jinja2 import Environment, nodes
from jinja2.visitor import NodeVisitor

_WIDTH = 100
_OPERATORS = {"eq": "==", "ne": "!="}
_FILTERS = {"md": "for_markdown"}
_MODULE = '''\
"""The template {name} in Python, by tools/translate_template.py: change that, then `make bless`."""

from ralph_tracker.report.escaping import for_markdown
from {module} import {view}


def render({value}: {view}) -> str:  # noqa: C901, PLR0912, PLR0915  # as long as the template
    """Return the report."""
    out = ""
{lines}
    return out
'''


def translated(environment: Environment, name: str, value: str, view: type) -> str:
    """Return a module whose `render` writes the template with one value, a `view`."""
    source = environment.loader.get_source(environment, name)[0]
    lines = "\n".join(_Translator().block(environment.parse(source).body))
    return _MODULE.format(name=name, module=view.__module__, view=view.__name__, value=value, lines=lines)


class _Translator(NodeVisitor):
    """A translator of statements into lines, and of expressions into text."""

    def block(self, body: Sequence[nodes.Node]) -> list[str]:
        return [f"    {line}" for node in body for line in self.visit(node)]

    def visit_Output(self, node: nodes.Output) -> list[str]:
        lines: list[list[str]] = [[]]
        for part in self._parts(node):
            if sum(map(len, lines[-1])) + len(part) > _WIDTH or (lines[-1] and lines[-1][-1].endswith(r"\n")):
                lines.append([])
            lines[-1].append(part)
        return [f'out += {"f" * any(part[0] == "{" for part in line)}"{"".join(line)}"' for line in lines]

    def _parts(self, node: nodes.Output) -> Iterator[str]:
        for part in node.nodes:
            if isinstance(part, nodes.TemplateData):
                yield from map(_escaped, part.data.splitlines(keepends=True))
            else:
                yield f"{{{self.visit(part)}}}"

    def visit_For(self, node: nodes.For) -> list[str]:
        return [f"for {self.visit(node.target)} in {self.visit(node.iter)}:", *self.block(node.body)]

    def visit_If(self, node: nodes.If) -> list[str]:
        if node.elif_ or node.else_:
            self.generic_visit(node)
        return [f"if {self.visit(node.test)}:", *self.block(node.body)]

    def visit_Name(self, node: nodes.Name) -> str:
        return node.name

    def visit_Const(self, node: nodes.Const) -> str:
        return json.dumps(node.value)

    def visit_Getattr(self, node: nodes.Getattr) -> str:
        return f"{self.visit(node.node)}.{node.attr}"

    def visit_Not(self, node: nodes.Not) -> str:
        return f"not {self.visit(node.node)}"

    def visit_Compare(self, node: nodes.Compare) -> str:
        (other,) = node.ops
        return f"{self.visit(node.expr)} {_OPERATORS[other.op]} {self.visit(other.expr)}"

    def visit_Filter(self, node: nodes.Filter) -> str:
        if node.name not in _FILTERS:
            self.generic_visit(node)
        return f"{_FILTERS[node.name]}({self.visit(node.node)})"

    def generic_visit(self, node: nodes.Node, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError(f"line {node.lineno}: {type(node).__name__} is not translated")


def _escaped(text: str) -> str:
    """Return text escaped for an f-string. Raises ValueError for text that cannot be."""
    if "{" in text or "}" in text:
        raise ValueError(f"{text!r}: a brace is not translated")
    return json.dumps(text, ensure_ascii=False)[1:-1]
