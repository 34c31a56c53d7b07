"""Give back, as placeholders, the names that earlier tests import and the source has lost.

Without them one missing name keeps a whole file of tests from loading, and hides what its other tests would show. A
placeholder survives being imported, decorated with and subclassed; a test that uses it fails, and says why. Python and
JavaScript; other languages compile, so that the file which the compiler names is left out instead.
"""

import re
from collections.abc import Iterable
from typing import Final

from ralph_tracker.integrity.missing_names import GONE

_PYTHON: Final = re.compile(
    r"(?m)^(?:(?:async )?def|class) (\w+)|^(\w+)(?:\s*:[^=\n]+)?\s*=[^=]|^from [\w.]+ import (?:\(([^)]*)\)|([^\n#(]+))"
)
_ERROR: Final = r"(?m)^class {0}\(.*(?:Error|Exception|Warning)"
_SCRIPT: Final = re.compile(
    r"(?m)^\s*export\s+(?:declare\s+)?(?:async\s+)?(?:const|let|var|function\*?|(?:abstract\s+)?class|enum)\s+(\w+)"
    r"|^\s*export\s*\{([^}]*)\}|^\s*export\s+(default)\b|^\s*(?:module\.)?exports\.(\w+)\s*="
)
# What a module hands on without naming it.
_UNNAMED: Final = re.compile(r"\bimport \*|^\s*export \*|def __getattr__", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
# A placeholder of Python: anything may be done with it while a file is imported, and nothing later. It raises no
# Exception, so that no test which expects one passes by it.
_PLACEHOLDER: Final = """


class _RalphGone(BaseException):
    pass


class _RalphLost:
    def __init__(self, name):
        self.__dict__["_name"] = name

    def _use(self, *given, **named):
        import functools
        import sys

        frame = sys._getframe(1)
        while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is None:
            raise _RalphGone("MESSAGE".format(self._name))
        if len(given) == 1 and hasattr(given[0], "__code__"):
            return functools.wraps(given[0])(lambda *a, **k: self._use())
        return self

    __call__ = __enter__ = __exit__ = __len__ = __bool__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _use
    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __or__ = __and__ = __contains__ = _use
    __setattr__ = __delattr__ = __setitem__ = __instancecheck__ = __subclasscheck__ = __await__ = __fspath__ = _use
    __getitem__ = __int__ = __float__ = __index__ = __format__ = _use

    def __hash__(self):
        return id(self)

    def __iter__(self):
        return iter((self._use(),))

    def __getattr__(self, name):
        if name.startswith(("_", "pytest")):
            raise AttributeError(name)
        return self

    def __mro_entries__(self, bases):
        return ()


""".replace("MESSAGE", GONE)


def with_placeholders(path: str, earlier: str, now: str | None, wanted: Iterable[str]) -> str | None:
    """Return a source file with placeholders for names that it had and lost; None where it needs none.

    `wanted` are the words of the tests that may import them. `now` is None for a file that is gone.
    """
    pattern = _PYTHON if path.endswith(".py") else _SCRIPT if re.search(r"\.[cm]?[jt]sx?$", path) else None
    if pattern is None or _UNNAMED.search(now or ""):
        return None
    names = sorted((_names(pattern, earlier) - _names(pattern, now or "")) & frozenset(wanted))
    if not names and now is not None:
        return None
    if pattern is _PYTHON:
        return _python(path, earlier, now or "", names)
    return f"{now or ''}\n" + "".join(_script(path, earlier, names))


def _names(pattern: re.Pattern[str], text: str) -> set[str]:
    """Return the names that a module defines or hands on."""
    found: set[str] = set()
    for match in pattern.finditer(text):
        for part in ",".join(filter(None, match.groups())).split(","):
            found.update(_WORD.findall(part)[-1:])
    return found


def _python(path: str, earlier: str, now: str, names: Iterable[str]) -> str:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    lines = []
    for name in names:
        is_error = name.endswith(("Error", "Exception")) or re.search(_ERROR.format(name), earlier)
        made = f'type("{name}", (Exception,), {{}})' if is_error else f'_RalphLost("{module}.{name}")'
        lines.append(f"{name} = {made}\n")
    return f"{now}{_PLACEHOLDER}{''.join(lines)}"


def _script(path: str, earlier: str, names: Iterable[str]) -> Iterable[str]:
    common = re.search(r"\bmodule\.exports\b|\bexports\.\w+\s*=", earlier) is not None
    typed = ": any" if "ts" in path.rpartition(".")[2] else ""
    yield "" if common else "export {};\n"
    for name in names:
        if common:
            yield f"module.exports.{name} = undefined;\n"
        elif name == "default":
            yield "export default undefined;\n"
        else:
            yield f"const _ralphLost_{name}{typed} = undefined;\nexport {{ _ralphLost_{name} as {name} }};\n"
