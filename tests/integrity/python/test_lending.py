"""What the tests of a file take from other files of the tests, and how much work it is to know."""

import pytest

from ralph_tracker.integrity.python.lending import Lenders, closed_in

HELPER = "def make():\n    return [3]\n"
LENT = {
    "a function": ({"tests/helpers": HELPER}, "from tests.helpers import make\n", {"make"}),
    "a function of a neighbour": ({"tests/helpers": HELPER}, "from .helpers import make\n", {"make"}),
    "a module": ({"tests/helpers": HELPER}, "import tests.helpers as h\n", {"h"}),
    "a package": ({"tests/stubs/__init__": HELPER}, "from tests.stubs import make\n", {"make"}),
    "through another": (
        {"tests/a": "from tests.b import make\ndef more():\n    return make()\n", "tests/b": HELPER},
        "from tests.a import more\n",
        {"more"},
    ),
    "what leads out": ({"tests/a": "import box\ndef f():\n    return box.f()\n"}, "from tests.a import f\n", set()),
    "what is called alike elsewhere": ({"tests/box": HELPER}, "from lib.box import make\n", set()),
    "nothing that is imported": ({"tests/helpers": HELPER}, "import os\n", set()),
    "no program": ({"tests/helpers": "def make(:\n"}, "from tests.helpers import make\n", set()),
}


@pytest.mark.parametrize(("texts", "text", "names"), LENT.values(), ids=LENT)
def test_what_leads_nowhere_else(texts: dict[str, str], text: str, names: set[str]) -> None:
    assert Lenders(texts).lent_safely(text, "tests/test_box.py") == names


def test_fixtures_of_a_conftest_above() -> None:
    conftest = "import pytest\n@pytest.fixture\ndef box():\n    return [3]\n"

    assert Lenders({"tests/conftest": conftest}).lent_to("", "tests/unit/test_box.py") == {"box"}
    assert Lenders({"tests/conftest": conftest}).lent_to("", "other/test_box.py") == frozenset()


def test_nothing_is_lent_to_what_is_no_program() -> None:
    assert Lenders({"tests/helpers": HELPER}).lent_safely("def test(:\n", "tests/test_box.py") == frozenset()


def test_files_that_all_take_from_each_other_are_read_once_for_each_step_between_them() -> None:
    names = [f"part_{number}" for number in range(40)]
    lines = "".join(f"from tests.{name} import {name}\n" for name in names)
    texts = {f"tests/{name}": f"{lines}def {name}():\n    return 3\n" for name in names}
    others = Lenders(texts)
    before = closed_in.cache_info()

    for name in names:
        others.lent_to(texts[f"tests/{name}"], f"tests/{name}.py")

    after = closed_in.cache_info()
    assert after.hits + after.misses - before.hits - before.misses <= 3 * len(names)
