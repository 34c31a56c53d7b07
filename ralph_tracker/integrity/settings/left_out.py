"""Which lines a pattern leaves out of coverage: such as do nothing, or such as work."""

import re
from typing import Final

from ralph_tracker.integrity.patterns import Pattern

_LONGEST: Final = 80
_REPEATED: Final = Pattern(r"\)[*+{]")  # may take for ever, as many repetitions one after the other do
_REPETITION: Final = re.compile(r"[*+?{]")
_MOST_REPETITIONS: Final = 4
_IDLE: Final = (
    "    pass",
    "    ...",
    "def f(self): ...",
    "    def f(self) -> int: ...",
    "    raise NotImplementedError",
    "    raise NotImplementedError()",
    "    raise",
    "    raise AssertionError('not here')",
    "    raise unittest.SkipTest('not here')",
    "    pytest.skip('not here')",
    "if pytest.importorskip('x'):",
    "    self.fail('not here')",
    "    pytest.fail('not here')",
    "    self.skipTest('not here')",
    "def f() -> NoReturn:",
    "    return NotImplemented",
    "    @overload",
    "    @abstractmethod",
    "    @skip('not here')",
    "    @unittest.skip('not here')",
    "if TYPE_CHECKING:",
)
_WORKING: Final = (
    "x = 1",
    "    x = f(y)",
    "    x += 1",
    "    return x",
    "    return f(x)",
    "    if x:",
    "    if x == 1:",
    "    elif x:",
    "    else:",
    "    for x in y:",
    "    while x:",
    "    try:",
    "    except ValueError:",
    "    raise ValueError(x)",
    "    with f(x) as y:",
    "def f(x):",
    "    def f(self, x):",
    "class Box:",
    "    f(x)",
    "    yield x",
    "    @property",
    "import x",
)


def leaves_out_nothing(pattern: str) -> bool:
    """Tell whether a pattern finds lines that do nothing, and none that work."""
    if len(pattern) > _LONGEST or _REPEATED.search(pattern) or len(_REPETITION.findall(pattern)) > _MOST_REPETITIONS:
        return False
    try:
        found = re.compile(pattern).search
    except re.error:
        return False
    return any(map(found, _IDLE)) and not any(map(found, _WORKING))
