"""Read the names that a failure reports as missing, tell whether the source lost them, and give them back.

Without placeholders one missing name keeps a whole file of earlier tests from loading, and hides what its other tests
would show. A placeholder survives being imported, decorated with and subclassed; a test that uses it fails, and says
why. Python and JavaScript; other languages compile, so that the file which the compiler names is left out instead.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from ralph_tracker.integrity.deciding_files import is_code

# How our placeholders tell of a name that is gone from its module.
GONE: Final = "'{}' is gone from the source"
_QUOTE: Final = r"[\"'`]"
# Symbols and dotted modules; one group is the name, of which the last part counts.
_SYMBOLS: Final = (
    r"'([\w.]+)' is gone from the source",
    # Python
    r"cannot import name '([\w.]+)'",
    r"module '[\w.]+' has no attribute '(\w+)'",
    r"(?:type object )?'\w+' (?:object )?has no attribute '(\w+)'",
    r"name '(\w+)' is not defined",
    r"got an unexpected keyword argument '(\w+)'",
    r"fixture '(\w+)' not found",
    # Node, vitest, jest, bun
    r"\(?\b[\w.]*?(\w+)\)? is not a (?:function|constructor)",
    r"(\w+) is not defined",
    r"(?:Export named|does not provide an export named) '?(\w+)",
    r"has no exported member (?:named )?'(\w+)'",
    # Go
    r"undefined: (?:\w+\.)?(\w+)",
    r"\.(\w+) undefined \(type",
    # Rust
    r"cannot find (?:function|value|type|struct|macro|trait|method)[^`]*`(\w+)`",
    r"no (?:function|method|field|variant)[^`]*`(\w+)`",
    r"unresolved imports? `(?:\w+::)*(\w+)`",
    r"no `(\w+)` in `",
    r"(?:could not|cannot) find `(\w+)` in",
    r"file not found for module `(\w+)`",
    r"unresolved module or unlinked crate `(\w+)`",
    # Java, Kotlin
    r"symbol:\s+(?:class|method|variable|static) (\w+)",
    r"cannot find symbol.*?(?:class|method|variable) (\w+)",
    r"[Uu]nresolved reference:? '?(\w+)",
    # PHP, Ruby
    r"Class \"?(?:[\w]+\\\\?)*(\w+)\"? not found",
    r"Call to undefined (?:function|method) (?:[\w]+\\\\?)*(?:\w+::)?(\w+)\(",
    r"uninitialized constant (?:\w+::)*(\w+)",
    r"undefined (?:local variable or )?method [`'](\w+[?!]?)'",
)
# Modules by path; the last part counts, without the suffix of a language.
_MODULES: Final = (
    rf"(?:Cannot find (?:module|package)|Could not resolve:?|Module not found:?)\s*{_QUOTE}?([^\"'`\s)]+)",
    rf"Failed to (?:resolve import|load url) {_QUOTE}?([^\"'`\s)]+)",
    r"no required module provides package ([^\s;:]+)|package (\S+) is not in",
    r"cannot load such file -- (\S+)",
)
_DOTTED: Final = (r"No module named '?([\w.]+)", r"package ([\w.]+) does not exist")
_SUFFIX: Final = re.compile(r"\.(?:[cm]?[jt]sx?|json|vue|svelte|rb|php|py|go)$")
_NAME: Final = re.compile(r"\w+[?!]?")
# The start of a definition of the name, in any of the languages, or of a module-level assignment.
_DEFINED: Final = (
    r"\b(?:def|class|function|func|fn|const|let|var|type|struct|enum|trait|interface|mod|module|package|object|fun)"
    r"\s+(?:\([^()\n]*\)\s*)?(?:self\.)?{0}(?![\w-])|^{0}\s*[:=]"
)
_COMMENT: Final = re.compile(r"(?m)^\s*(?:#|//|\*|/\*).*$")
# Files whose module is named after the folder.
_NAMED_AFTER_FOLDER: Final = re.compile(r"([^/]+)/(?:(?:__init__|index|mod)\.\w+|\w+\.go)$")


def missing_names(failure: str) -> tuple[str, ...]:
    """Return each name that a failure reports as missing, without its path or owner; () without any.

    In order of the tables, symbols last: a module that does not exist explains the symbols that it would have.
    """
    found: list[str] = []
    for pattern in _MODULES:
        for match in re.finditer(pattern, failure):
            path = next((group for group in match.groups() if group), "").rstrip(".,;:/")
            found.append(_SUFFIX.sub("", path.rpartition("/")[2]))
    for pattern in (*_DOTTED, *_SYMBOLS):
        for match in re.finditer(pattern, failure):
            found += _NAME.findall(next((group for group in match.groups() if group), ""))[-1:]
    return tuple(dict.fromkeys(filter(None, found)))


def is_import_failure(failure: str) -> bool:
    """Return whether a failure says that a module, or a name in it, is not where it was."""
    told = (*_MODULES, *_DOTTED, *_SYMBOLS[:2], r"[Ee]xport named|exported member")
    return any(re.search(pattern, failure) for pattern in told)


def gone_from_source(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return whether the changed source had a name, defined or as that of a file, and no longer has it.

    Both sides are the texts by path of the changed files that do not decide about tests. Only code counts: plans, logs
    and comments may still mention the name. A name of which no definition is recognised is looked for as a word.
    """
    old, new = (
        {path: _COMMENT.sub("", text) for path, text in side.items() if is_code(path)} for side in (before, after)
    )
    defined = re.compile(_DEFINED.format(re.escape(name)), re.MULTILINE)
    if name in _own_names(old) - _own_names(new) or _holds(old.values(), defined):
        return not _holds(new.values(), defined)
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return _holds(old.values(), word) and not _holds(new.values(), word)


def _holds(texts: Iterable[str], word: re.Pattern[str]) -> bool:
    return any(word.search(text) for text in texts)


def _own_names(paths: Collection[str]) -> set[str]:
    """Return the module names of the paths, of files or folders."""
    files = {_SUFFIX.sub("", path.rpartition("/")[2]) for path in paths}
    files |= {name.partition(".")[0] for name in files if name.endswith((".rs", ".java", ".kt"))}
    return files | {folder[1] for path in paths if (folder := _NAMED_AFTER_FOLDER.search(path))}


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
