"""Find the tests in a source file, by its language: one tree-sitter query per language, one engine for all."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node
from typing import Literal

Language = Literal["python", "javascript", "typescript", "tsx", "go", "rust", "java"]
_BY_SUFFIX: Final[Mapping[str, Language]] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}


# The package of a grammar and the function that returns it.
_GRAMMARS: Final[Mapping[Language, tuple[str, str]]] = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
}
_MAX_BYTES: Final = 2_000_000
_MAX_DEPTH: Final = 1_000  # of brackets; parsing time grows with its square
# A bracket or the end of a statement: a `<` that compares is not a bracket and stays unclosed.
_BRACKET: Final = r"[()\[\]{}<>;]"
_CHUNK: Final = 2_048  # a query reads one per node whose text it needs
# The parser calls back about 17 times per 1,000 bytes; after the first error it may take a thousand times as long.
_CALLS_AFTER_ERROR: Final = 200
SEPARATOR: Final = "::"
# A @scope prefixes the tests in it with its @name. A @test is a test of that @name; in Python it hides its content. A
# @function is a test if _kind says so, for conditions that a query cannot express.
_SCRIPT: Final = """
(call_expression function: (_) @callee arguments: (arguments . (_) @name)
 (#match? @callee "(^|[.])([xf]?(describe|context|it|test|specify)|suite|module|Deno|QUnit)\\\\b")) @function
"""
_QUERIES: Final[Mapping[Language, str]] = {
    "python": """
        (class_definition name: (identifier) @name) @scope
        (function_definition name: (identifier) @name) @function
    """,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": """
        (function_declaration name: (identifier) @name (#match? @name "^(Test|Fuzz|Example)([^a-z]|$)")) @function
        (method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver))
         name: (field_identifier) @name (#match? @name "^Test([^a-z]|$)")) @test
    """,
    "rust": """
        (mod_item name: (identifier) @name body: (_)) @scope
        (function_item name: (identifier) @name) @function
    """,
    "java": """
        [(class_declaration name: (identifier) @name) (record_declaration name: (identifier) @name)
         (interface_declaration name: (identifier) @name) (enum_declaration name: (identifier) @name)] @scope

        (method_declaration (modifiers [(marker_annotation name: (_) @mark) (annotation name: (_) @mark)])
         name: (identifier) @name
         (#match? @mark "(^|[.])(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory|Property)$")) @test

        (class_declaration superclass: (superclass (_) @parent)
         body: (class_body (method_declaration (modifiers "public") name: (identifier) @name) @test)
         (#match? @parent "TestCase$") (#match? @name "^test"))

        (class_declaration (modifiers [(marker_annotation name: (_) @mark) (annotation name: (_) @mark)])
         body: (class_body (method_declaration (modifiers . "public" .) name: (identifier) @name) @test)
         (#match? @mark "(^|[.])Test$"))
    """,
}
# Words that any text with tests contains: other texts are not parsed.
_WORDS_OF_SCRIPT: Final = re.compile(r"\b(?:[xf]?(?:it|test|specify))\b[\w.\s]*[(<`]")
_WORDS: Final[Mapping[Language, re.Pattern[str]]] = {
    "python": re.compile(r"\bdef\s+(?:test|runTest\b)"),
    "javascript": _WORDS_OF_SCRIPT,
    "typescript": _WORDS_OF_SCRIPT,
    "tsx": _WORDS_OF_SCRIPT,
    "go": re.compile(r"\bfunc\s+(?:\([^)]*\)\s*)?(?:Test|Fuzz|Example)"),
    "rust": re.compile(r"#\s*\[[^\]]*(?:test|case|quickcheck)"),
    "java": re.compile(r"@(?:\w+\.)*\w*(?:Test|Theory|Property)|\bextends\s+[\w.]*TestCase\b"),
}
_TEST_ATTRIBUTE: Final = (
    r"#\s*\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|case|wasm_bindgen_test|quickcheck|test_log|traced_test)\b"
)
_SUITES: Final = frozenset(["describe", "suite", "context", "xdescribe", "fdescribe", "xcontext", "fcontext", "module"])
_TESTS: Final = frozenset(["it", "test", "specify", "xit", "xtest", "xspecify", "fit", "ftest"])
_OWNERS: Final = frozenset({"Deno", "QUnit", "test"})
_TAKES_DATA: Final = frozenset(
    ["each", "for", "skipIf", "runIf", "todoIf", "if"]
)  # what they return is called with the title
_MODIFIERS: Final = _TAKES_DATA | frozenset(
    [
        "skip",
        "todo",
        "fixme",
        "fails",
        "failing",
        "fail",
        "only",
        "concurrent",
        "sequential",
        "serial",
        "parallel",
        "shuffle",
        "ignore",
    ]
)
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_STRINGS: Final = frozenset({"string", "template_string"})
_ESCAPE: Final = r"(?s)\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))"
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_LAST_CODE_POINT: Final = 0x10FFFF


def language_of(path: str) -> Language | None:
    """Return the language of a file, None if it is not supported."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _BY_SUFFIX.get(dot + suffix.lower()) if stem else None


class Syntax(NamedTuple):
    """A text with its syntax tree; if the text is not valid, parts of the tree are errors."""

    language: Language
    data: bytes
    root: "Node"

    def text(self, node: "Node") -> str:
        """Return the text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def matches(self, query: str) -> Sequence[Mapping[str, Sequence["Node"]]]:
        """Return the matches of a tree-sitter query, each as its captures by name."""
        from tree_sitter import QueryCursor  # noqa: PLC0415  only where a file has to be parsed

        return [captures for _, captures in QueryCursor(_query(self.language, query)).matches(self.root)]


def syntax_of(language: Language, text: str) -> Syntax | None:
    """Return the syntax of a text, None if it is over 2 MB, nested too deeply, or has too many errors."""
    data = text.encode("utf-8", "replace")
    if len(data) > _MAX_BYTES or _is_deep(text):
        return None
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    parser = tree_sitter.Parser(_grammar(language))
    errors = 0

    def is_hopeless(_: int, has_error: bool) -> bool:  # noqa: FBT001  # the parser calls it so
        nonlocal errors
        errors += has_error
        return errors > _CALLS_AFTER_ERROR

    try:
        tree = parser.parse(lambda start, _: data[start : start + _CHUNK], progress_callback=is_hopeless)
    except ValueError:  # stopped by is_hopeless
        return None
    return Syntax(language, data, tree.root_node)


def _is_deep(text: str) -> bool:
    if sum(map(text.count, "([{<")) <= _MAX_DEPTH:
        return False
    depth = angles = 0
    for bracket in re.findall(_BRACKET, text):
        if bracket in "([{":
            depth += 1
        elif bracket in ")]}":
            depth = max(0, depth - 1)
        elif bracket == "<":
            angles += 1
        elif bracket == ">":
            angles = max(0, angles - 1)
        if bracket in ";{}":
            angles = 0
        if depth + angles > _MAX_DEPTH:
            return True
    return False


@cache
def _grammar(language: Language) -> "tree_sitter.Language":
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    package, function = _GRAMMARS[language]
    return tree_sitter.Language(getattr(import_module(package), function)())


@cache
def _query(language: Language, query: str) -> "tree_sitter.Query":
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    return tree_sitter.Query(_grammar(language), query)


class SourceTest(NamedTuple):
    """One test in the source.

    `name` is its path within the file: `TestBox::test_lid`, the titles of `describe` and `it`, Go's `TestLid`, Rust's
    `tests::opens`, Java's `BoxTest::opens`. `line` and `end` are its first and last line, counted from 1, including
    decorators and attributes; `text` is these lines.
    """

    path: str
    name: str
    line: int
    end: int
    text: str


def tests_of(path: str, text: str) -> tuple[SourceTest, ...]:
    """Return the tests of a file in order.

    () for an unsupported language. Of an invalid text it returns the tests that are still recognisable.
    """
    language = language_of(path)
    if language is None or (language == "go" and not path.endswith("_test.go")):
        return ()
    if _WORDS[language].search(text) is None:  # most files hold no test, and need not be parsed
        return ()
    syntax = syntax_of(language, text)
    if syntax is None:
        return ()
    lines = text.split("\n")
    return tuple(
        SourceTest(path, name, line, end, "\n".join(lines[line - 1 : end])) for name, line, end in _tests(syntax)
    )


def _tests(syntax: Syntax) -> Iterator[tuple[str, int, int]]:
    """Yield name, first and last line of each test, in source order."""
    blocks = {}
    for found in syntax.matches(_QUERIES[syntax.language]):
        captured = {name: nodes[0] for name, nodes in found.items()}
        what = next(name for name in ("scope", "test", "function") if name in captured)
        blocks[captured[what].id] = _Block(what, captured[what], captured)
    around: list[tuple[int, str]] = []  # the end of each scope, and its full name
    hidden = in_test = 0
    for block in sorted(blocks.values(), key=lambda each: (each.node.start_byte, -each.node.end_byte)):
        node = block.node
        if node.start_byte < hidden:
            continue
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        kind = block.kind
        if kind == "function":
            kind = _kind(block, syntax, in_test=node.start_byte < in_test)
        if syntax.language == "python" and kind != "scope":
            hidden = node.end_byte
        if kind == "none":
            continue
        name = (around[-1][1] + SEPARATOR if around else "") + _name(block, syntax)
        around.append((node.end_byte, name))
        if kind == "test":
            in_test = node.end_byte
            yield name, _first_line(node), node.end_point.row + 1


class _Block(NamedTuple):
    """A query match: `kind` is scope, test or function, `captured` the nodes by capture name."""

    kind: str
    node: "Node"
    captured: Mapping[str, "Node"]


def _name(block: _Block, syntax: Syntax) -> str:
    node = block.captured["name"]
    text = syntax.text(node)
    if node.type in _STRINGS:
        return re.sub(_ESCAPE, _unescape, text[1:-1])
    receiver = block.captured.get("receiver")
    if receiver is not None:  # a method of a testify suite
        return syntax.text(receiver).lstrip("*").partition("[")[0] + SEPARATOR + text
    return " ".join(text.split())


def _first_line(node: "Node") -> int:
    """Return the first line of a test, including decorators in Python and attributes in Rust."""
    # Looking up a parent takes time that grows with the file, and most nodes do not need it.
    if node.type == "function_definition" and node.parent is not None and node.parent.type == "decorated_definition":
        node = node.parent
    attributes = _attributes(node) if node.type == "function_item" else []
    return [node, *attributes][-1].start_point.row + 1


def _attributes(node: "Node") -> Iterator["Node"]:
    """Yield the attributes of a Rust function from the last up; comments may be between them."""
    above = node.prev_named_sibling
    while above is not None and (above.type == "attribute_item" or "comment" in above.type):
        if above.type == "attribute_item":
            yield above
        above = above.prev_named_sibling


def _kind(block: _Block, syntax: Syntax, *, in_test: bool) -> str:
    """Return whether a block is a test, a scope of tests or none."""
    if syntax.language == "python":
        is_test = re.match(r"test|runTest$", _name(block, syntax)) is not None
    elif syntax.language == "rust":
        is_test = any(re.match(_TEST_ATTRIBUTE, syntax.text(each)) for each in _attributes(block.node))
    elif syntax.language != "go":
        return _kind_in_script(block, syntax, in_test=in_test)
    elif _name(block, syntax).startswith("Example"):  # only run if it declares its output
        is_test = re.search(r"//\s*(?:Unordered\s+)?[Oo]utput:", syntax.text(block.node)) is not None
    else:  # by its parameter
        is_test = re.search(r"testing\.(?!M\b)", syntax.text(block.node).partition("{")[0]) is not None
    return "test" if is_test else "none"


def _kind_in_script(block: _Block, syntax: Syntax, *, in_test: bool) -> str:
    """Recognise `describe.skip("…", …)`, `it.each(…)("…", …)`, `t.test("…", …)` inside a test, and similar calls."""
    callee, title = block.captured["callee"], block.captured["name"]
    arguments = block.node.child_by_field_name("arguments")
    given = [each for each in arguments.named_children if each.type != "comment"] if arguments is not None else [title]
    has_body = given[-1].type in _FUNCTIONS
    if title.type in _FUNCTIONS or not (title.type in _STRINGS or has_body):
        return "none"
    takes_data = callee.type == "call_expression"
    head = callee.child_by_field_name("function") if takes_data else callee
    names = [] if head is None else [each.strip() for each in syntax.text(head).split(".")]
    if not names or takes_data is not (names[-1] in _TAKES_DATA):
        return "none"
    if names[0] not in _SUITES | _TESTS | _OWNERS:
        is_subtest = in_test and len(names) == 2 and names[1] in _TESTS and len(given) > 1  # noqa: PLR2004  # `t.test`
        return "test" if is_subtest and has_body and title.type in _STRINGS else "none"
    if not set(names[1:]) <= _SUITES | _TESTS | _MODIFIERS or not _SUITES.union(_TESTS).intersection(names):
        return "none"
    return "scope" if _SUITES.intersection(names) else "test"


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPED.get(found[4], found[4])
    number = int(code, 16)
    return chr(number) if number <= _LAST_CODE_POINT else found[0]
