"""What a test is made of, whatever it is called: its tokens, the literals in them, and what it demands of whom."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Final

from ralph_tracker.integrity.python.syntax import nodes_below, statements_below
from ralph_tracker.integrity.source_tests import SEPARATOR, SourceTest

Bag = Mapping[str, int]  # how often each token stands in a text

# Each pattern has one group: what is worth keeping. A token outside it (comment, receiver, comma before a closing
# bracket) is read over. No alternative can be left half-way, so that no text takes more than one pass. A plain word is
# what most tokens are: it is tried before strings, whose prefixes begin like words.
_PYTHON: Final = re.compile(
    r"""\#[^\n]*|\b(?:self|cls)\b\s*\.?|,(?=\s*[)\]}])|"""
    r"""([^\W\d]\w*+(?!["'])|[rRbBuUfF]{0,2}(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*"{0,3}|'''(?:[^'\\]|\\.|'(?!''))*'{0,3}"""
    r"""|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|\d[\w.]*|\w+|[=!<>]=|[^\w\s])""",
    re.DOTALL,
)
_BRACED: Final = re.compile(
    r"""//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|\bthis\b\s*\.?|,(?=\s*[)\]}])|"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|\d[\w.]*|\w+|[=!]==?|[<>]=|[^\w\s])""",
    re.DOTALL,
)
_STRING: Final = re.compile(r"\A([a-zA-Z]{0,2})(\"\"\"|'''|[\"'`])(.*?)\2?\Z", re.DOTALL)
_QUOTES: Final = frozenset("\"'`")
_COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "===", "!=="})
_LITERAL: Final = tuple("'0123456789")
_LISTS: Final = (ast.List, ast.Tuple, ast.Set)
_RECEIVERS: Final = frozenset({"self", "cls"})
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Fingerprint:
    """Be a test of the source by its content; what is made of it is made once, and only where somebody asks."""

    def __init__(self, test: SourceTest) -> None:
        self.test = test
        self.path = test.path
        self.file = test.path.rpartition("/")[2]
        self.classes, _, self.function = test.name.rpartition(SEPARATOR)

    @cached_property
    def _texts(self) -> tuple[str, tuple[str, ...], str]:
        """Return the text before the function, the names of its parameters, and its body without the docstring."""
        test, node = self.test, self.test.node
        if node is None:
            return "", (), test.text
        lines = test.text.split("\n")
        given = node.args
        names = tuple(each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs))
        header = "\n".join(lines[: node.lineno - test.line])
        statements = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        return header, tuple(name for name in names if name not in _RECEIVERS), _from(statements, test.line, lines)

    @cached_property
    def header(self) -> tuple[str, ...]:
        """Return the tokens before the function: its decorators, with the cases that they hold."""
        return tokens_of(self._texts[0])

    @cached_property
    def body(self) -> tuple[str, ...]:
        """Return the tokens of the body; comments, docstring, formatting and its own name are taken out."""
        own = {self.function, _string(f"'{self.function}'")}
        found = tokens_of(self._texts[2], _BRACED if self.test.node is None else _PYTHON)
        return tuple(token for token in found if token not in own)

    @cached_property
    def content(self) -> tuple[tuple[str, ...], ...]:
        """Return what two tests have in common that do the same, whatever they are called."""
        return (self._texts[1], self.body)

    @cached_property
    def bag(self) -> Bag:
        """Return how often each word, literal and comparison stands in it, decorators included."""
        return _bag((*self.header, *self.body))

    @cached_property
    def literals(self) -> frozenset[str]:
        """Return its strings and numbers, those of its decorators included."""
        return frozenset(filter(is_literal, self.bag))

    @cached_property
    def rows(self) -> tuple[Bag, ...]:
        """Return what each case of its decorators and loops holds, in their order."""
        node = self.test.node
        if node is None or not ("(" in self.header or "for" in self.body):
            return ()
        calls = (each for each in node.decorator_list if isinstance(each, ast.Call))
        given = [value for call in calls for value in call.args[1:] or call.args]
        given += [each.iter for each in statements_below(node) if isinstance(each, ast.For)]
        listed = (row for each in given if isinstance(each, _LISTS) for row in each.elts)
        return tuple(_bag(tokens_of(ast.unparse(row))) for row in listed)

    @cached_property
    def asserted(self) -> Mapping[tuple[str, ...], int]:
        """Return its assertions as tokens, and how often each is there."""
        return Counter(tokens_of(each.text, self._pattern) for each in self.test.assertions)

    @cached_property
    def demands(self) -> frozenset[frozenset[str]]:
        """Return what each assertion asks about: its words and comparisons, without values and names of its own."""
        return frozenset(
            frozenset(token for token in each if _tells(token) and not is_literal(token)) - self._local
            for each in self.asserted
        )

    def asks(self, demand: frozenset[str], given: Iterable[str] = ()) -> bool:
        """Tell whether it demands what another test does, whatever it calls the values by that it is given."""
        return any(demand.difference(self._local, given) <= each for each in self.demands)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words that its function's name is made of."""
        return frozenset(word.lower() for word in _WORDS.findall(self.function)) - {"test"}

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _BRACED if self.test.node is None else _PYTHON

    @cached_property
    def _local(self) -> frozenset[str]:
        """Return the names of its parameters and variables."""
        node = self.test.node
        if node is None:
            return frozenset()
        names = (each for each in nodes_below(node) if isinstance(each, ast.Name))
        stored = (each.id for each in names if isinstance(each.ctx, ast.Store))
        return frozenset((*self._texts[1], *stored))


def tokens_of(text: str, pattern: re.Pattern[str] = _PYTHON) -> tuple[str, ...]:
    """Return the tokens of a text, strings in one way of writing them."""
    found = filter(None, pattern.findall(text))
    return tuple([_string(token) if token[-1] in _QUOTES else token for token in found])


@lru_cache(maxsize=4096)
def _string(token: str) -> str:
    """Write a string so that quotes, indentation and a prefix without effect make no difference."""
    return _STRING.sub(_written, token)


def _written(string: re.Match[str]) -> str:
    prefix = string[1].lower().replace("u", "")
    opening = "f'" if "f" in prefix else f"'{prefix}"
    return f"{opening}{' '.join(string[3].split())}'"


def _from(statements: Iterable[ast.stmt], line: int, lines: list[str]) -> str:
    """Return the text from the first of these statements on; `line` is the number of the first of the lines."""
    first = next(iter(statements), None)
    if first is None:
        return ""
    decorated = [each.lineno for each in getattr(first, "decorator_list", ())]
    if decorated:
        return "\n".join(lines[min(decorated) - line :])
    row = first.lineno - line
    start = lines[row].encode()[first.col_offset :].decode("utf-8", "replace")
    return "\n".join((start, *lines[row + 1 :]))


def is_literal(token: str) -> bool:
    """Tell whether a token is a string or a number."""
    return token.startswith(_LITERAL)


def _bag(tokens: Iterable[str]) -> Bag:
    return {token: count for token, count in Counter(tokens).items() if _tells(token)}


def _tells(token: str) -> bool:
    return token[0] == "'" or token[0].isalnum() or token[0] == "_" or token in _COMPARISONS
