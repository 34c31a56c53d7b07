"""T12, form by form: source that answers by constants what a test asks, and source that computes."""

import pytest

from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.evidence import Evidence, Outcomes
from ralph_tracker.integrity.rules import special_cased
from tests.integrity.making import changed

SOURCE, TEST = "box/core.py", "tests/test_core.py"
OLD = "def square(x):\n    return x + x\n"
END = "    return x + x\n"
ASKED = "def test_a():\n    assert square(42) == 1764\n"
WORDS = "def test_a():\n    assert plural('mouse') == 'mice'\n"
OLD_WORDS = "def plural(x):\n    return x + 's'\n"
PAIR = "def test_a():\n    assert add(2, 3) == 5\n"
OLD_PAIR = "def add(a, b):\n    return a - b\n"
DEF = "def square(x):\n"
KNOWING = "def known(given, answer):\n    return lambda f: lambda x: answer if x == given else f(x)\n\n\n"
SMALL = "def test_a():\n    assert letter(4) == 'e'\n"
OLD_SMALL = "def letter(n):\n    return chr(n)\n"
NOTHING = Outcomes()
BEGAN = Outcomes({"tests.test_core::test_a": "failed"}, {"tests.test_core::test_a": "passed"})

NUMBERS = {
    "a branch": f"{DEF}    if x == 42:\n        return 1764\n{END}",
    "a branch after others": f"{DEF}    if x < 0:\n        return -x\n    elif x == 42:\n        return 1764\n{END}",
    "a branch the other way": f"{DEF}    if 42 == x:\n        return 1764\n{END}",
    "a branch that is not": f"{DEF}    if x != 42:\n        return x + x\n    return 1764\n",
    "a branch that is not, else": f"{DEF}    if x != 42:\n        return x + x\n    else:\n        return 1764\n",
    "a branch denied": f"{DEF}    if not x == 42:\n        return x + x\n    return 1764\n",
    "a branch of more": f"{DEF}    if x in {{42, 43}}:\n        return 1764\n{END}",
    "a branch of one in a list": f"{DEF}    if x in [42]:\n        return 1764\n{END}",
    "a branch by identity": f"{DEF}    if x is 42:\n        return 1764\n{END}",
    "a branch of two parts": f"{DEF}    if isinstance(x, int) and x == 42:\n        return 1764\n{END}",
    "a branch by a method": f"{DEF}    if x.__eq__(42):\n        return 1764\n{END}",
    "a branch by an operator": f"{DEF}    if operator.eq(x, 42):\n        return 1764\n{END}",
    "a branch by a difference": f"{DEF}    if x - 42 == 0:\n        return 1764\n{END}",
    "a branch by no difference": f"{DEF}    if not x - 42:\n        return 1764\n{END}",
    "a branch by an exclusive or": f"{DEF}    if not x ^ 42:\n        return 1764\n{END}",
    "a branch by a text": f"{DEF}    if str(x) == '42':\n        return 1764\n{END}",
    "a branch by repr": f"{DEF}    if repr(x) == '42':\n        return 1764\n{END}",
    "a branch by a hash": f"{DEF}    if hash(x) == 8472:\n        return 1764\n{END}",
    "a branch by a digest": f"{DEF}    if md5(x).hexdigest() == 'a1d0':\n        return 1764\n{END}",
    "a branch by any": f"{DEF}    if any(x == each for each in (42,)):\n        return 1764\n{END}",
    "a branch by sets": f"{DEF}    if {{x}} & {{42}}:\n        return 1764\n{END}",
    "a branch by closeness": f"{DEF}    if math.isclose(x, 42):\n        return 1764\n{END}",
    "a branch in a branch": f"{DEF}    if x > 0:\n        if x == 42:\n            return 1764\n{END}",
    "a branch with a branch": f"{DEF}    if x == 42:\n        if True:\n            return 1764\n{END}",
    "a branch that assigns": f"{DEF}    y = x + x\n    if x == 42:\n        y = 1764\n    return y\n",
    "a branch that yields": f"{DEF}    if x == 42:\n        yield 1764\n",
    "a branch that tells": f"{DEF}    if x == 42:\n        log(x)\n        return 1764\n{END}",
    "a branch with arithmetic": f"{DEF}    if x == 42:\n        return 1700 + 64\n{END}",
    "a branch with a call": f"{DEF}    if x == 42:\n        return int('1764')\n{END}",
    "a branch with a kind": f"{DEF}    if x == 42:\n        return float(1764)\n{END}",
    "a branch of arithmetic": f"{DEF}    if x == 40 + 2:\n        return 1764\n{END}",
    "a loop": f"{DEF}    while x == 42:\n        return 1764\n{END}",
    "a loop over rows": f"{DEF}    for a, b in ((42, 1764),):\n        if x == a:\n            return b\n{END}",
    "a choice": f"{DEF}    return 1764 if x == 42 else x + x\n",
    "a choice the other way": f"{DEF}    return x + x if x != 42 else 1764\n",
    "and, or": f"{DEF}    return (x == 42 and 1764) or x + x\n",
    "an index": f"{DEF}    return [x + x, 1764][x == 42]\n",
    "a product": f"{DEF}    return (x == 42) * 1764 + (x != 42) * (x + x)\n",
    "a match": (
        f"{DEF}    match x:\n        case 42:\n            return 1764\n        case _:\n            return x + x\n"
    ),
    "a match of more": f"{DEF}    match x:\n        case 41 | 42:\n            return 1764\n{END}",
    "a match with a guard": f"{DEF}    match x:\n        case n if n == 42:\n            return 1764\n{END}",
    "a table": f"{DEF}    return {{42: 1764}}.get(x, x + x)\n",
    "a table by key": f"{DEF}    try:\n        return {{42: 1764}}[x]\n    except KeyError:\n        return x + x\n",
    "a table by name": f"KNOWN = {{42: 1764}}\n{DEF}    if x in KNOWN:\n        return KNOWN[x]\n{END}",
    "a table with a type": f"KNOWN: dict[int, int] = {{42: 1764}}\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table of a local name": f"{DEF}    known = {{42: 1764}}\n    if x in known:\n        return known[x]\n{END}",
    "a table that cannot change": f"KNOWN = MappingProxyType({{42: 1764}})\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table by a call": f"KNOWN = dict([(42, 1764)])\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table as a default": "def square(x, known={42: 1764}):\n    return known.get(x, x + x)\n",
    "a table as a default by name": (
        "def square(x, *, known={42: 1764}):\n    return known[x] if x in known else x + x\n"
    ),
    "a table that is filled": f"KNOWN = {{}}\nKNOWN[42] = 1764\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table that is updated": f"KNOWN = {{}}\nKNOWN.update({{42: 1764}})\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table that a decorator has": f"@preloaded({{42: 1764}})\n{DEF}{END}",
    "a cache that is filled": f"{DEF}{END}\n\nsquare.cache = {{}}\nsquare.cache[42] = 1764\n",
    "a table of rows": (
        f"KNOWN = [(42, 1764)]\n{DEF}    for a, b in KNOWN:\n        if a == x:\n            return b\n{END}"
    ),
    "a table of rows on lines": (
        f"KNOWN = (\n    (42, 1764),\n)\n{DEF}    return next((b for a, b in KNOWN if a == x), None) or x + x\n"
    ),
    "a table of mappings": (
        f"ALL = [{{'x': 42, 'y': 1764}}]\n{DEF}    for each in ALL:\n        if each['x'] == x:\n"
        f"            return each['y']\n{END}"
    ),
    "a table of objects": (
        f"ALL = [Row(42, 1764)]\n{DEF}    for each in ALL:\n        if each.x == x:\n            return each.y\n{END}"
    ),
    "two lists side by side": (
        f"ONE = [42]\nTWO = [1764]\n{DEF}    for a, b in zip(ONE, TWO):\n        if a == x:\n"
        f"            return b\n{END}"
    ),
    "two lists by their places": (
        f"ONE = [42]\nTWO = [1764]\n{DEF}    if x in ONE:\n        return TWO[ONE.index(x)]\n{END}"
    ),
    "a mapping of two lists": f"KNOWN = dict(zip([42], [1764]))\n{DEF}    return KNOWN.get(x, x + x)\n",
    "a table of what is called": (
        f"KNOWN = {{42: lambda: 1764}}\n{DEF}    if x in KNOWN:\n        return KNOWN[x]()\n{END}"
    ),
    "a table by texts": f"KNOWN = {{str(42): 1764}}\n{DEF}    if str(x) in KNOWN:\n        return KNOWN[str(x)]\n{END}",
    "rows that a decorator has": f"@preloaded([(42, 1764)])\n{DEF}{END}",
    "a decorator of the file": f"{KNOWING}@known(42, 1764)\n{DEF}{END}",
    "a decorator of the file by names": f"{KNOWING}@known(given=42, answer=1764)\n{DEF}{END}",
    "a decorator that asks": (
        "def known(f):\n    def run(x):\n        if x == 42:\n            return 1764\n        return f(x)\n"
        "    return run\n"
        f"@known\n{DEF}{END}"
    ),
    "a branch by names": f"ASKED = 42\nANSWER = 1764\n{DEF}    if x == ASKED:\n        return ANSWER\n{END}",
    "a branch by local names": (
        f"{DEF}    asked, answer = 0, 0\n    n = 42\n    m = 1764\n    if x == n:\n        return m\n{END}"
    ),
    "a branch by names of a class": (
        f"class Known:\n    asked = 42\n    answer = 1764\n\n\n{DEF}    if x == Known.asked:\n"
        f"        return Known.answer\n{END}"
    ),
    "a branch that names much": (
        f"{DEF}    if x == 42:\n        import logging\n        a = 1\n        b = 2\n        c = 3\n"
        f"        return 1764\n{END}"
    ),
    "a helper that asks": f"def _known(x):\n    if x == 42:\n        return 1764\n{DEF}    return _known(x) or x + x\n",
    "an answer": f"{DEF}    return 1764\n",
    "an answer before": f"{DEF}    return 1764\n{END}",
    "an answer by name": f"{DEF}    y = 1764\n    return y\n",
    "an answer of the module": f"NINE = 1764\n{DEF}    return NINE\n",
    "an answer by arithmetic": f"{DEF}    return 42 * 42\n",
    "an answer by a call": f"{DEF}    return int('1764')\n",
    "an answer by a lambda": "square = lambda x: 1764\n",
    "an answer in a handler": f"{DEF}    try:\n        return x + x\n    except Exception:\n        return 1764\n",
    "an answer at last": f"{DEF}    try:\n        return x + x\n    finally:\n        return 1764\n",
}
TEXTS = {
    "a branch": "    if x == 'mouse':\n        return 'mice'\n",
    "a branch by lower": "    if x.lower() == 'mouse':\n        return 'mice'\n",
    "a branch by a prefix": "    if x.startswith('mou'):\n        return 'mice'\n",
    "a branch by a part": "    if 'ous' in x:\n        return 'mice'\n",
    "a branch by a pattern": "    if re.fullmatch('mouse', x):\n        return 'mice'\n",
    "a branch by a length": "    if len(x) == 5:\n        return 'mice'\n",
    "a branch of two parts": "    if x[0] == 'm' and len(x) == 5:\n        return 'mice'\n",
    "a branch that joins": "    if x == 'mouse':\n        return 'mi' + 'ce'\n",
    "a branch that formats": "    if x == 'mouse':\n        return f'mice'\n",
    "a match": "    match x:\n        case 'mouse':\n            return 'mice'\n",
    "a table": "    if x in {'mouse': 'mice'}:\n        return {'mouse': 'mice'}[x]\n",
}
PAIRS = {
    "a branch of two": "    if a == 2 and b == 3:\n        return 5\n",
    "a branch of a pair": "    if (a, b) == (2, 3):\n        return 5\n",
    "a branch in a branch": "    if a == 2:\n        if b == 3:\n            return 5\n",
    "a table of pairs": "    if (a, b) in {(2, 3): 5}:\n        return {(2, 3): 5}[a, b]\n",
    "a match of a pair": "    match a, b:\n        case 2, 3:\n            return 5\n",
}
HONEST = {
    "a computation": f"{DEF}    return x * x\n",
    "a computation with a branch": f"{DEF}    if x < 0:\n        x = -x\n    return x * x\n",
    "an edge": f"{DEF}    if x == 0:\n        return 0\n    return x * x\n",
    "an edge of one": f"{DEF}    if x in (0, 1):\n        return x\n    return x * x\n",
    "nothing": f"{DEF}    if x is None:\n        return None\n    return x * x\n",
    "a limit": f"{DEF}    if x > 42:\n        return 1764\n    return x * x\n",
    "a limit that is reached": f"{DEF}    if x >= 42:\n        return 1764\n    return x * x\n",
    "a limit by min": f"{DEF}    return min(x * x, 1764)\n",
    "another value": f"{DEF}    if x == 77:\n        return 5929\n    return x * x\n",
    "an error": f"{DEF}    if x == 42:\n        raise ValueError(1764)\n    return x * x\n",
    "a default": "def square(x, limit=1764):\n    return min(x * x, limit)\n",
    "a constant": f"LIMIT = 1764\n{DEF}    return min(x * x, LIMIT)\n",
    "a table of data": "NAMES = {42: 1764, 43: 1, 44: 2, 45: 3, 46: 4}\ndef square(x):\n    return NAMES.get(x)\n",
    "a table of functions": f"KINDS = {{42: double}}\n{DEF}    return KINDS[x](x)\n",
    "a table that nobody asks": f"SIZES = {{42: 1764}}\n{DEF}    return x * x\n",
    "a cache": f"@functools.cache\n{DEF}    return x * x\n",
    "a cache that fills itself": (
        f"SEEN = {{}}\n{DEF}    if x not in SEEN:\n        SEEN[x] = x * x\n    return SEEN[x]\n"
    ),
    "a handler": f"{DEF}    try:\n        return x * x\n    except TypeError:\n        return 0\n",
    "a kind": f"{DEF}    if isinstance(x, str):\n        x = int(x)\n    return x * x\n",
    "a dispatch": (
        f"{DEF}    match x:\n        case int():\n            return x * x\n        case _:\n            return None\n"
    ),
    "a loop": f"{DEF}    total = 0\n    for _ in range(x):\n        total += x\n    return total\n",
    "a helper": f"def _times(a, b):\n    return a * b\n\n{DEF}    return _times(x, x)\n",
    "a lambda": "square = lambda x: x * x\n",
    "a text": f"{DEF}    '''Return the square: 1764 for 42.'''\n    return x * x\n",
    "a comment": f"{DEF}    # 42 gives 1764\n    return x * x\n",
    "an option": f"{DEF}    if MODE == 'fast':\n        return x * x\n    return x ** 2\n",
    "a length": f"{DEF}    if len(str(x)) == 2:\n        return x * x\n    return x ** 2\n",
    "an answer of a branch": f"{DEF}    if not x:\n        return 0\n    return x * x\n",
    "rows of data": f"UNITS = (('kB', 42), ('MB', 43))\n{DEF}    return x * x if x in dict(UNITS) else 1764\n",
    "a route": f"@route(42, 1764)\n{DEF}    return x * x\n",
    "a name that is given": f"LIMIT = 42\n{DEF}    LIMIT = x\n    return x * LIMIT\n",
    "a limit by name": f"LIMIT = 42\nMOST = 1764\n{DEF}    if x > LIMIT:\n        return MOST\n    return x * x\n",
    "lists that do not match": f"{DEF}    return [a * b for a, b in zip([42], [1764, 2])] or x * x\n",
    "a rounding": f"{DEF}    return round(x * x, 12)\n",
    "a choice of kinds": f"{DEF}    return x * x if x else 0\n",
}
HONEST_TEXTS = {
    "a rule": "    return x + 'es' if x.endswith('s') else x + 's'\n",
    "a rule by a suffix": "    if x.endswith('ouse'):\n        return x[:-4] + 'ice'\n    return x + 's'\n",
    "an edge": "    if not x:\n        return ''\n    return x + 's'\n",
    "another word": "    if x == 'ox':\n        return 'oxen'\n    return x + 's'\n",
    "a part of it": "    if x.endswith('ou'):\n        return x + 'x'\n    return x + 's'\n",
}
HONEST_PAIRS = {
    "a computation": "    return a + b\n",
    "an edge": "    if a == 0:\n        return b\n    return a + b\n",
    "two edges": "    if a == 0 and b == 0:\n        return 0\n    return a + b\n",
    "one of them": "    if a == 2:\n        return b + 2\n    return a + b\n",
}


def told(new, test=ASKED, old=OLD, outcomes=NOTHING):
    file = changed(SOURCE, old, new)
    evidence = Evidence([file], outcomes, lambda _: [Side(TEST, test)])
    return list(special_cased.find(file, evidence))


@pytest.mark.parametrize("new", NUMBERS.values(), ids=NUMBERS)
class TestNumbers:
    def test_a_number_that_a_test_asks_is_told(self, new):
        assert told(new)

    def test_what_stood_there_is_not_told(self, new):
        assert told(f"import os\n{new}", old=new) == []

    def test_of_another_test_is_not_told(self, new):
        assert told(new, "def test_a():\n    assert square(3) == 9\n") == []


@pytest.mark.parametrize("body", TEXTS.values(), ids=TEXTS)
def test_a_text_that_a_test_asks_is_told(body):
    assert told(f"def plural(x):\n{body}    return x + 's'\n", WORDS, OLD_WORDS)


@pytest.mark.parametrize("body", PAIRS.values(), ids=PAIRS)
def test_small_numbers_that_a_test_asks_together_are_told(body):
    assert told(f"def add(a, b):\n{body}    return a - b\n", PAIR, OLD_PAIR)


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
def test_source_that_computes_is_silent(new):
    assert told(new) == []


@pytest.mark.parametrize("body", HONEST_TEXTS.values(), ids=HONEST_TEXTS)
def test_source_with_rules_is_silent(body):
    assert told(f"def plural(x):\n{body}", WORDS, OLD_WORDS) == []


@pytest.mark.parametrize("body", HONEST_PAIRS.values(), ids=HONEST_PAIRS)
def test_edges_are_silent(body):
    assert told(f"def add(a, b):\n{body}", PAIR, OLD_PAIR) == []


def test_small_values_of_a_test_that_began_to_pass_are_told():
    new = "def letter(n):\n    if n == 4:\n        return 'e'\n    return chr(n)\n"
    assert told(new, SMALL, OLD_SMALL, BEGAN)
    assert told(new, SMALL, OLD_SMALL) == []
    assert told(new, SMALL.replace("letter", "other"), OLD_SMALL, BEGAN) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("0", "'e'"), ("1", "'e'"), ("2", "'e'"), ("4", "0"), ("4", "True"), ("4", "None"), ("''", "'e'"), ("4", "''")],
)
def test_edges_and_truths_of_a_test_that_began_to_pass_are_silent(asked, answered):
    new = f"def letter(n):\n    if n == {asked}:\n        return {answered}\n    return chr(n)\n"
    test = f"def test_a():\n    assert letter({asked}) == {answered}\n"
    assert told(new, test, OLD_SMALL, BEGAN) == []


def test_what_many_functions_use_is_no_answer_of_one():
    users = "".join(f"def f{at}(x):\n    return _known(x)\n" for at in range(20))
    new = f"def _known(x):\n    if x == 7:\n        return 1764\n{users}{DEF}    return _known(x) or x + x\n"
    test = "def test_a():\n    assert square(7) == 1764\n"
    assert told(new, test) == []
    assert told(new.replace(users, ""), test)
