"""What a test is made of, whatever it is called: its tokens, the literals in them, and what it demands of whom."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.syntax import dotted, nodes_below, statements_below
from ralph_tracker.integrity.source_tests import SEPARATOR, SourceTest

Bag = Mapping[str, int]  # how often each token stands in a text

# Each pattern has one group: what is worth keeping. A token outside it (comment, receiver, comma before a closing
# bracket, spaces) is read over. No alternative can be left half-way, so that no text takes more than one pass. A plain
# word is what most tokens are: it is tried before strings, whose prefixes begin like words; and spaces are tried first,
# as indentation would else be asked for every alternative, sign by sign.
_PYTHON: Final = Pattern(
    r"""\s+|\#[^\n]*|\b(?:self|cls)\b\s*\.?|,(?=\s*[)\]}])|"""
    r"""([^\W\d]\w*+(?!["'])|[rRbBuUfF]{0,2}(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*"{0,3}|'''(?:[^'\\]|\\.|'(?!''))*'{0,3}"""
    r"""|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|\d[\w.]*|\w+|[=!<>]=|[^\w\s])""",
    re.DOTALL,
)
_BRACED: Final = Pattern(
    r"""\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|\bthis\b\s*\.?|,(?=\s*[)\]}])|"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?|\d[\w.]*|\w+|[=!]==?|[<>]=|[^\w\s])""",
    re.DOTALL,
)
_STRING: Final = re.compile(r"\A([a-zA-Z]{0,2})(\"\"\"|'''|[\"'`])(.*?)\2?\Z", re.DOTALL)
_ESCAPED: Final = Pattern(
    r"\\(?:(?P<space>[ntr])|\n|(?P<sign>[^\w\s])|N\{(?P<name>[^}]*)\}"
    r"|(?:x(?=[\da-fA-F]{2})|u(?=[\da-fA-F]{4})|U000(?=[\da-fA-F]{5}))(?P<code>(?<=x)..|(?<=u)....|(?<=0).....))"
)
_ESCAPED_IN_RAW: Final = Pattern(r"\\([^\w\s])")
_SPACES: Final = re.compile(r"\s+")
_QUOTES: Final = frozenset("\"'`")
_COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "===", "!=="})
_LITERAL: Final = tuple("'0123456789")
_LISTS: Final = (ast.List, ast.Tuple, ast.Set)
_FAILING: Final = frozenset({"fail", "fail_if", "fail_unless"})
_RAISING: Final = re.compile(r"(?:raises|raises_regex|assertRaises\w*|assert_raises\w*)\Z")
_CONDITIONS: Final = frozenset({"skipif", "skipIf", "skipUnless"})
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
        header = _marked(node, test.line, lines)
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
        return tuple([token for token in found if token not in own])

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
        given += _looped_over(node)
        listed = (row for each in given if isinstance(each, _LISTS) for row in each.elts)
        return tuple(_row(row) for row in listed)

    @cached_property
    def expected(self) -> frozenset[str]:
        """Return the exceptions that it asks for, in any way of writing that."""
        node = self.test.node
        if node is None or not ("raises" in self.test.text.lower() or "except" in self.body):
            return frozenset()
        return frozenset(name.rpartition(".")[2] for each in nodes_below(node) for name in _awaited(each))

    @cached_property
    def messages(self) -> frozenset[str]:
        """Return the texts that are told when an assertion fails: they say nothing of what is tested."""
        node = self.test.node
        if node is None:
            return frozenset()
        told = (text for each in nodes_below(node) for text in _told(each))
        return frozenset(token for text in told for token in tokens_of(ast.unparse(text)) if is_literal(token))

    @cached_property
    def asserted(self) -> Mapping[tuple[str, ...], int]:
        """Return its assertions as tokens, and how often each is there."""
        return Counter(tokens_of(each.text, self._pattern) for each in self.test.assertions)

    @cached_property
    def demands(self) -> frozenset[frozenset[str]]:
        """Return what each assertion asks about: its words and comparisons, without values and names of its own."""
        return frozenset(
            frozenset(token for token in each if _tells(token) and not is_literal(token)) - self.local
            for each in self.asserted
        )

    def asks(self, demand: frozenset[str], given: Iterable[str] = ()) -> bool:
        """Tell whether it demands what another test does, whatever it calls the values by that it is given."""
        return any(demand.difference(self.local, given) <= each for each in self.demands)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words that its function's name is made of."""
        return frozenset(word.lower() for word in _WORDS.findall(self.function)) - {"test"}

    @property
    def _pattern(self) -> Pattern:
        return _BRACED if self.test.node is None else _PYTHON

    @cached_property
    def local(self) -> frozenset[str]:
        """Return the names of its parameters and variables."""
        node = self.test.node
        if node is None:
            return frozenset()
        nodes = nodes_below(node)
        stored = (each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        caught = (each.name for each in nodes if isinstance(each, ast.ExceptHandler) and each.name)
        return frozenset((*self._texts[1], *stored, *caught))


def _marked(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int, lines: list[str]) -> str:
    """Return the text of the decorators; where a test is not to be run says nothing of what it asks."""
    header = "\n".join(lines[: function.lineno - line])
    if "skip" not in header:
        return header
    kept = (each for each in function.decorator_list if dotted(each).rpartition(".")[2] not in _CONDITIONS)
    return "\n".join(
        "\n".join(lines[each.lineno - line : (each.end_lineno or each.lineno) - line + 1]) for each in kept
    )


def _looped_over(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Return what its loops go over, a name of its own as the list that it was given."""
    statements = list(statements_below(function))
    given = {
        each.targets[0].id: each.value
        for each in statements
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name)
    }
    over = [each.iter for each in statements if isinstance(each, ast.For)]
    return [given.get(each.id, each) if isinstance(each, ast.Name) else each for each in over]


def _row(row: ast.expr) -> Bag:
    """Return what a case holds: neither the name of the case nor what its lambdas call their parameters."""
    named = isinstance(row, ast.Call) and dotted(row).rpartition(".")[2] == "param"
    values = row.args if isinstance(row, ast.Call) and named else [row]
    lambdas = [each for value in values for each in nodes_below(value) if isinstance(each, ast.Lambda)]
    own = {"lambda", *(each.arg for one in lambdas for each in one.args.args)}
    return _bag(token for each in values for token in tokens_of(ast.unparse(each)) if token not in own)


def _awaited(node: ast.AST) -> list[str]:
    """Return the names of the exceptions that a handler takes or that a call asks for."""
    if isinstance(node, ast.ExceptHandler):
        kinds = node.type
    elif isinstance(node, ast.Call) and node.args and _RAISING.search(dotted(node.func)):
        kinds = node.args[0]
    else:
        return []
    listed = kinds.elts if isinstance(kinds, ast.Tuple) else [] if kinds is None else [kinds]
    return [name for each in listed if (name := dotted(each))]


def _told(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assert):
        return [] if node.msg is None else [node.msg]
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _FAILING:
        return [*node.args, *(each.value for each in node.keywords)]
    return []


def tokens_of(text: str, pattern: Pattern = _PYTHON) -> tuple[str, ...]:
    """Return the tokens of a text, strings in one way of writing them."""
    found: list[str] = []
    for token in filter(None, pattern.findall(text)):
        if token[-1] not in _QUOTES:
            found.append(token)
        elif found and found[-1][-1] == "'":  # texts one after the other are one
            prefix, _, rest = _string(token).partition("'")
            found[-1] = f"{found[-1][:-1]}{rest}" if found[-1][0] != "'" else f"{prefix}{found[-1][:-1]}{rest}"
        else:
            found.append(_string(token))
    return tuple([_stripped(token) if token[-1] == "'" else token for token in found])


def _stripped(string: str) -> str:
    prefix, _, text = string[:-1].partition("'")
    return f"{prefix}'{text.strip()}'"


@lru_cache(maxsize=4096)
def _string(token: str) -> str:
    """Write a string so that quotes, indentation and a prefix without effect make no difference."""
    return _STRING.sub(_written, token)


def _written(string: re.Match[str]) -> str:
    prefix, text = string[1].lower().replace("u", ""), string[3]
    if "\\" in text:
        text = _ESCAPED_IN_RAW.sub(r"\1", text) if "r" in prefix else _ESCAPED.sub(_meant, text)
    if "\\" not in text:
        prefix = prefix.replace("r", "")
    opening = "f'" if "f" in prefix else f"'{prefix}"
    return f"{opening}{_SPACES.sub(' ', text)}'"


def _meant(escaped: re.Match[str]) -> str:
    """Return what an escape stands for: line ends and tabs are spaces here."""
    if escaped["code"]:
        return chr(int(escaped["code"], 16))
    if escaped["name"]:
        return _named(escaped["name"]) or escaped[0]
    return " " if escaped["space"] else escaped["sign"] or ""


def _named(character: str) -> str:
    from unicodedata import lookup  # noqa: PLC0415  hardly any text names a character

    try:
        return lookup(character)
    except KeyError:
        return ""


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
