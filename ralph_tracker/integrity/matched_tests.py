"""Match missing tests of a report with those that replace them: moved, renamed, parametrised, merged, split,
duplicated.

Ids of one function and its parameters are matched together. Ambiguous cases are not matched.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Final

from ralph_tracker.integrity.report_ids import Parts, definitions, split_id
from ralph_tracker.integrity.source_tests import SEPARATOR, SourceTest, language_of

_STRING: Final = (
    r"[a-zA-Z]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|`(?:\\.|[^`\\])*`"
)
_TOKEN: Final = rf"|(?P<string>{_STRING})|(?P<number>\d[\w.]*)|\w+|\n|[^\s\w]"
_PYTHON: Final = re.compile(r"(?P<comment>#[^\n]*)" + _TOKEN, re.DOTALL)
_OTHERS: Final = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)" + _TOKEN, re.DOTALL)
_DOCSTRING: Final = re.compile(r":\s*\n\s*[rR]?(?:\"\"\".*?\"\"\"|'''.*?''')", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_LEFT_OUT: Final = frozenset({";", "self", "cls", "public", "void"})
_TITLED: Final = frozenset({"javascript", "typescript", "tsx"})
_CLOSES: Final = frozenset(")]}")
ALIKE: Final = 0.9  # share of tokens that a renamed test keeps, besides all its literals
_RELATED: Final = 0.5  # share of tokens that a test of the same name keeps elsewhere
_OF_ROW: Final = 0.6  # share of a test's words in the parametrised test of which it became a row
_MANY: Final = 50  # what more tests than this have in common does not distinguish them
_DEEPEST: Final = 12
# Unnamed cases are numbered: by pytest, by rstest, by JUnit.
_NUMBERED: Final = re.compile(r"(?:\[\D*[^\W\d]|::case_|\(.*\)\[)(\d+)\]?\Z")


class Body:
    """The content of a test without its name, documentation, comments and layout."""

    def __init__(self, test: SourceTest) -> None:
        language = language_of(test.path)
        name = test.name.rpartition(SEPARATOR)[2]
        text = _DOCSTRING.sub(":", test.text, count=1) if language == "python" else test.text
        self.literals: set[str] = set()
        lines: list[list[str]] = [[]]
        first = 0  # the line after that with the name
        for found in (_PYTHON if language == "python" else _OTHERS).finditer(text):
            lexeme = found[0]
            if lexeme == "\n":
                lines.append([])
            elif found["comment"] or lexeme in _LEFT_OUT:
                continue
            elif not first and (found["string"] if language in _TITLED else lexeme == name):
                first = len(lines)
                if language == "go":
                    lines[-1].clear()  # its receiver
            else:
                if found["string"]:
                    lexeme = '"' + lexeme.strip("rbufRBUF").strip("\"'`")
                if found["string"] or found["number"]:
                    self.literals.add(lexeme)
                lines[-1].append(lexeme)
        tokens = [lexeme for line in lines for lexeme in line]
        following = [*tokens[1:], ""]
        self.tokens = tuple(
            lexeme for lexeme, after in zip(tokens, following, strict=True) if lexeme != "," or after not in _CLOSES
        )
        self.lines = Counter(tuple(line) for line in lines[first:] if any(map(_WORD.search, line)))

    @cached_property
    def bag(self) -> Counter[str]:
        return Counter(self.tokens)

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(lexeme for lexeme in self.tokens if _WORD.search(lexeme))

    @cached_property
    def tables(self) -> list[list[frozenset[str]]]:
        """Return the literals of each item, for each pair of brackets with several items that have literals."""
        found: list[list[frozenset[str]]] = []
        open_: list[list[set[str]]] = [[set()]]
        for lexeme in self.tokens:
            if lexeme in "([{":
                open_.append([set()])
            elif lexeme in _CLOSES and len(open_) > 1:
                rows = [frozenset(row) for row in open_.pop() if row]
                if len(rows) > 1:
                    found.append(rows)
                open_[-1][-1].update(*rows)
            elif lexeme == ",":
                open_[-1].append(set())
            elif lexeme in self.literals:
                open_[-1][-1].add(lexeme)
                if lexeme[0] == '"':  # a row as one string: @CsvSource
                    pieces = lexeme[1:].split(",")
                    open_[-1][-1].update(each.strip() for each in pieces if len(pieces) > 1)
        return found

    def similarity(self, other: "Body") -> float:
        common = (self.bag & other.bag).total()
        return 2 * common / max(1, len(self.tokens) + len(other.tokens))


class _Function:
    """The ids of one function or title by parameters, with the source test if it is known."""

    def __init__(self, owner: Parts, name: str, test: SourceTest | None) -> None:
        self.owner = owner
        self.name = name
        self.test = test
        self.ids: dict[str, str] = {}  # by parameters

    @cached_property
    def body(self) -> Body | None:
        return None if self.test is None else Body(self.test)

    @property
    def path(self) -> str:
        return "" if self.test is None else self.test.path

    def of_parameters(self, parameters: str) -> tuple[str, ...]:
        """Return the id with these parameters, or all ids if none has them."""
        return (self.ids[parameters],) if parameters in self.ids else tuple(self.ids.values())


def matches(
    gone: Mapping[str, str],
    added: Mapping[str, str],
    old_tests: Iterable[SourceTest],
    new_tests: Iterable[SourceTest],
    kept: Iterable[str] = (),
) -> Mapping[str, tuple[str, ...]]:
    """Return the replacements of missing ids; several together hold all that the missing test held.

    `gone` and `added` are outcomes in the order of the reports, `old_tests` and `new_tests` the tests of the changed
    files. `kept` are ids that both reports have: a missing test is matched with one of them only if that contains its
    text, so that nothing is lost.
    """
    kept = frozenset(kept)
    lost = [test for test in gone if test not in added and test not in kept]
    if not lost:
        return {}
    new_tests = tuple(new_tests)
    matcher = _Matcher(
        _functions(lost, old_tests),
        _functions(added, new_tests),
        _functions(sorted(kept.difference(added)), new_tests),
        frozenset((test.path, test.name) for test in new_tests),
    )
    matcher.same_names()
    matcher.same_bodies()
    matcher.rows()
    matcher.match_contained()
    matcher.split()
    return matcher.found


def _functions(ids: Iterable[str], tests: Iterable[SourceTest]) -> list[_Function]:
    """Return the ids by function, in order."""
    ids = tuple(ids)
    found: dict[Hashable, _Function] = {}
    for test, defined in definitions(ids, tests).items():
        owner, name, parameters = split_id(test)
        one = defined[0] if len(defined) == 1 else None
        key: Hashable = (owner, name)
        if (
            one is not None
            and language_of(one.path) in _TITLED
            and _WORD.findall(name)[-1:] != _WORD.findall(one.name)[-1:]
        ):
            # A title with placeholders: each row has its own.
            key, name, parameters = (one.path, one.name), one.name, name + parameters
        function = found.setdefault(key, _Function(owner, name, one))
        function.ids[parameters] = test
    return list(found.values())


class _Matcher:
    """Match missing functions with new ones, each once; `found` is the result so far."""

    def __init__(
        self,
        gone: Iterable[_Function],
        new: Sequence[_Function],
        kept: Sequence[_Function],
        still_there: Collection[tuple[str, str] | None],
    ) -> None:
        self.gone = dict.fromkeys(gone)  # dicts as ordered sets with fast removal
        self.new = dict.fromkeys(new)
        self.known = [each for each in (*new, *kept) if each.test is not None]
        self.still_there = still_there
        self.found: dict[str, tuple[str, ...]] = {}

    def same_names(self) -> None:
        """Match the same function with other parameters, or of another owner: the closest one first."""
        self._unique(lambda each: (each.owner, each.name), lambda _, __: True)
        self._unique(_place, lambda _, __: True)
        # A function that still exists in its place lost some of its ids: no other test replaced these.
        for each in list(self.gone):
            if _place(each) in self.still_there:
                self.gone.pop(each)
        siblings = _siblings(self.gone) | _siblings(self.new)
        successors = self._unique(lambda each: (each.name, each.test.text) if each.test else None)
        for depth in range(min(_DEEPEST, max((len(each.owner) for each in siblings), default=0)), 0, -1):
            successors += self._unique(partial(_tail, depth))
        successors += self._unique(lambda each: (siblings[each], each.name))
        successors += self._unique(lambda each: (each.owner[:-1], each.name))
        successors += self._unique(lambda each: each.name)
        # Functions of one name in several owners go where most functions of their owner went.
        successor: dict[Parts, Parts] = {}
        for (owner, other), _ in Counter((old.owner, new.owner) for old, new in successors).most_common():
            successor.setdefault(owner, other)
        there = {(each.owner, each.name): each for each in self.new}
        for old in list(self.gone):
            new = there.get((successor[old.owner], old.name)) if old.owner in successor else None
            if new in self.new and _is_related(old, new):
                self._pair(old, new)

    def same_bodies(self) -> None:
        """Match tests that differ only in their name, in the same file first; then similar ones and duplicates."""
        for same_file in (True, False):
            for old, new in self._group(partial(_body, same_file)):
                if len(old) == len(new):
                    for one, other in zip(old, new, strict=True):
                        self._pair(one, other)
        for old, new in self._group(lambda each: frozenset(each.body.literals) if each.body else None):
            self._nearest(old, new)
        doubles = (
            {each.body.tokens: each for each in reversed(self.known) if each.body is not None} if self.gone else {}
        )
        for each in list(self.gone):
            if each.body is not None and each.body.tokens in doubles:
                self._replace_by(each, doubles[each.body.tokens])

    def _nearest(self, old: Sequence[_Function], new: Sequence[_Function]) -> None:
        if len(old) * len(new) > _MANY * _MANY:
            return
        similarity = {
            (one, other): one.body.similarity(other.body)
            for one in old
            for other in new
            if one.body is not None and other.body is not None
        }
        pairs = sorted((pair for pair, like in similarity.items() if like >= ALIKE), key=lambda pair: -similarity[pair])
        best = Counter((one, similarity[one, other]) for one, other in pairs)
        for one, other in pairs:
            if one in self.gone and other in self.new and best[one, similarity[one, other]] == 1:
                self._pair(one, other)

    def rows(self) -> None:
        """Match tests that became a row of a parametrised test: it has their words, the row their literals."""
        holding: defaultdict[str, list[_Function]] = defaultdict(list)
        for each in self.known if self.gone else ():
            if len(each.ids) > 1 and each.body is not None:
                for literal in {literal for rows in each.body.tables for row in rows for literal in row}:
                    holding[literal.strip('"')].append(each)
        for old in list(self.gone):
            literals = {each.strip('"') for each in old.body.literals} if old.body is not None else set()
            near = [holding[each] for each in literals if each in holding]
            for new in min(near, key=len)[:_MANY] if near else ():
                ids = _row_of(old, new, literals)
                if ids:
                    self._take(old, dict.fromkeys(old.ids.values(), ids))
                    break

    def match_contained(self) -> None:
        """Match tests that are contained line by line in another test, in one of the same file first."""
        holding = self._by_line(self.known)
        for old in list(self.gone):
            if old.body is None or not (old.body.literals or len(old.body.lines) > 1):
                continue
            near = min((holding.get(line, []) for line in old.body.lines), key=len, default=[])[:_MANY]
            held = [each for each in near if each.body is not None and old.body.lines <= each.body.lines]
            if held:
                self._replace_by(old, min(held, key=lambda each: each.path != old.path))

    def split(self) -> None:
        """Match tests that were split: each new test is a part of the old one, and together they are all of it."""
        holding = self._by_line(self.new)
        for old in list(self.gone):
            if old.body is None or not old.body.lines:
                continue
            near = dict.fromkeys(each for line in old.body.lines for each in holding.get(line, [])[:_MANY])
            parts = [
                each
                for each in near
                if each in self.new and each.body is not None and each.body.lines.keys() <= old.body.lines.keys()
            ]
            if (
                len(parts) > 1
                and set().union(*(each.body.lines for each in parts if each.body)) >= old.body.lines.keys()
            ):
                parts.sort(key=lambda each: (each.path, each.test.line if each.test else 0))
                stand_ins = {
                    test: tuple(new for part in parts for new in part.of_parameters(parameters))
                    for parameters, test in old.ids.items()
                }
                self._take(old, stand_ins)
                for part in parts:
                    self.new.pop(part)

    def _unique(
        self,
        key: Callable[[_Function], Hashable],
        accept: Callable[[_Function, _Function], bool] | None = None,
    ) -> list[tuple[_Function, _Function]]:
        """Pair functions whose key is unique on each side; None is not a key."""
        accept = accept or _is_related
        pairs = [(old[0], new[0]) for old, new in self._group(key) if len(old) == len(new) == 1]
        return [pair for pair in pairs if accept(*pair) and self._pair(*pair)]

    def _group(self, key: Callable[[_Function], Hashable]) -> list[tuple[list[_Function], list[_Function]]]:
        sides: tuple[defaultdict[Hashable, list[_Function]], ...] = (defaultdict(list), defaultdict(list))
        if self.gone and self.new:
            for side, functions in zip(sides, (self.gone, self.new), strict=True):
                for each in functions:
                    side[key(each)].append(each)
        return [
            (group, sides[1][found]) for found, group in sides[0].items() if found is not None and found in sides[1]
        ]

    def _by_line(self, functions: Iterable[_Function]) -> Mapping[tuple[str, ...], list[_Function]]:
        found: defaultdict[tuple[str, ...], list[_Function]] = defaultdict(list)
        for each in functions if any(old.body for old in self.gone) else ():
            for line in each.body.lines if each.body is not None else ():
                found[line].append(each)
        return found

    def _pair(self, old: _Function, new: _Function) -> bool:
        """Match the ids of two functions by their parameters; return whether any matched."""
        found = _by_parameters(old, new)
        if found:
            self._take(old, found)
            self.new.pop(new)
        return bool(found)

    def _replace_by(self, old: _Function, new: _Function) -> None:
        self._take(old, {test: new.of_parameters(parameters) for parameters, test in old.ids.items()})

    def _take(self, old: _Function, found: Mapping[str, tuple[str, ...]]) -> None:
        self.found |= found
        self.gone.pop(old)


def _place(function: _Function) -> tuple[str, str] | None:
    return None if function.test is None else (function.test.path, function.test.name)


def _tail(depth: int, function: _Function) -> Hashable:
    return (function.owner[-depth:], function.name) if len(function.owner) >= depth else None


def _body(same_file: bool, function: _Function) -> Hashable:  # noqa: FBT001
    return None if function.body is None else (function.path if same_file else "", function.body.tokens)


def _siblings(functions: Iterable[_Function]) -> dict[_Function, frozenset[str]]:
    """Return, for each function, the names that its owner lost or gained together, which identify a renamed class."""
    names: defaultdict[Parts, set[str]] = defaultdict(set)
    functions = list(functions)
    for each in functions:
        names[each.owner].add(each.name)
    frozen = {owner: frozenset(found) for owner, found in names.items()}
    return {each: frozen[each.owner] for each in functions}


def _is_related(old: _Function, new: _Function) -> bool:
    """Return whether two functions of one name may be the same: by their content, else by their parameters."""
    if old.test is None or new.test is None:
        return not old.ids.keys().isdisjoint(new.ids)
    if old.test.text == new.test.text:
        return True
    if old.body is None or new.body is None:
        return False
    common = (old.body.words & new.body.words).total()
    return 2 * common >= _RELATED * (old.body.words.total() + new.body.words.total())


def _by_parameters(old: _Function, new: _Function) -> dict[str, tuple[str, ...]]:
    """Match the ids of a function: by equal parameters, else by most shared words, else in order."""
    found: dict[str, tuple[str, ...]] = {
        test: (new.ids[parameters],) for parameters, test in old.ids.items() if parameters in new.ids
    }
    left = {parameters: test for parameters, test in old.ids.items() if parameters not in new.ids}
    free = {parameters: test for parameters, test in new.ids.items() if parameters not in old.ids}
    if not left or not free:
        return found
    if list(old.ids) == [""]:  # parameters were added
        return found | {old.ids[""]: tuple(free.values())}
    if list(new.ids) == [""]:  # the parameters became a loop, or one of them is left
        literals = {each.strip('"') for each in new.body.literals} if new.body is not None else set()
        return found | {
            test: (new.ids[""],) for parameters, test in left.items() if {*_WORD.findall(parameters)} <= literals
        }
    holding: defaultdict[str, list[str]] = defaultdict(list)
    for parameters in free:
        for word in {*_WORD.findall(parameters)}:
            holding[word].append(parameters)
    for parameters, test in list(left.items()):
        shared = Counter(
            each
            for word in {*_WORD.findall(parameters)}
            for each in holding[word]
            if each in free and len(holding[word]) <= _MANY
        )
        if shared:
            found[test] = (free.pop(shared.most_common(1)[0][0]),)
            left.pop(parameters)
    if len(left) == len(free):
        found |= {test: (other,) for test, other in zip(left.values(), free.values(), strict=True)}
    return found


def _row_of(old: _Function, new: _Function, literals: set[str]) -> tuple[str, ...]:
    """Return the ids of the row that holds the literals of a test, () if there is none or the test differs."""
    if old.body is None or new.body is None:
        return ()
    words = old.body.bag.keys() - old.body.literals
    if len(words & new.body.bag.keys()) < _OF_ROW * len(words):
        return ()
    everywhere = {each.strip('"') for each in new.body.literals}
    for rows in new.body.tables:
        plain = [{each.strip('"') for each in row} for row in rows]
        frame = everywhere.difference(*plain)
        held = [number for number, row in enumerate(plain) if literals & row and literals <= row | frame]
        if len(held) != 1:
            continue
        return _ids_of_row(held[0], plain, new)
    return ()


def _ids_of_row(number: int, rows: Sequence[set[str]], function: _Function) -> tuple[str, ...]:
    """Return the id of a row by its number or its values; all ids if neither identifies it."""
    numbers = {int(found[1]): test for each, test in function.ids.items() if (found := _NUMBERED.match(each))}
    if len(numbers) == len(function.ids) == len(rows) and max(numbers) - min(numbers) + 1 == len(rows):
        return (numbers[min(numbers) + number],)
    values = {word for value in rows[number] for word in _WORD.findall(value)}
    others = {word for row in rows if row is not rows[number] for value in row for word in _WORD.findall(value)}
    named = [test for each, test in function.ids.items() if (values - others) & {*_WORD.findall(each)}]
    return tuple(named if len(named) == 1 else function.ids.values())
