"""Find the first real error line in the output of a compiler, a bundler, an interpreter or a build tool.

One table for all tools, applied line by line: the first line that matches wins. Help texts, stack frames, downloads and
summaries match nothing. Some tools print the place on a line before the error (Python, Node), others after it (rustc,
esbuild, oxc, jest): it is then appended to the error in parentheses.
"""

import re
from itertools import islice
from typing import Final, NamedTuple

from ralph_tracker.formats.report_content import plain

_LONGEST: Final = 300
_LINES_AFTER: Final = 40
_PATH: Final = r"(?P<file>(?:[A-Za-z]:)?[^\s:()\[\]\"'`*][^:()\[\]\"'`*]*\.\w+)"
# What a program puts before an error that it did not expect.
_UNEXPECTED: Final = (
    r"\s*(?:(?:[✖×] )?ERROR: | ?Exception during run: |\[error\] |\[!\] (?:\([^)]*\) )?|Exception in thread \"[^\"]*\" "
    r"|Unhandled exception[.:] |Uncaught (?:\(in promise\) )?|\(in promise\) )*"
)
_CODE: Final = r"(?: \[\w+\])?"  # of Node's own errors
_MODULE: Final = (
    rf"{_UNEXPECTED}(?:[Ee]rror{_CODE}: )?(?P<what>(?:Cannot find (?:module|package)|Failed to resolve import)"
)
_AT: Final = rf"{_PATH}:(?P<number>\d{{1,9}})"


class FirstError(NamedTuple):
    """One error: the line to show, and the file (as printed) and line number, None if unknown."""

    line: str
    file: str | None = None
    number: int | None = None


# Lines that look like errors but are not, or that only say that there was one.
_NEVER: Final = (
    r"\[ERROR\] \[Help \d\]|Failed to import test module|There (?:are|were) test failures|Transform failed with \d"
    r"|^TSError: . Unable to compile TypeScript|^error: Type checking failed"
    r"|^(?:make.*: \*\*\* \[|error: (?:could not compile|aborting due|(?:doc)?test failed|\d+ targets? failed"
    r"|no such (?:sub)?command|unexpected argument|build failed|process didn't exit|script |command ))"
)
# `what` is the error without the tool's prefix.
_ERRORS: Final = (
    r"(?:vet: )?(?P<what>(?P<file>[^\s:]+\.go):(?P<number>\d{1,9}):\d+: (?!warning|note).+)",  # go build, go vet
    # go test with coverage: the compiler prints no columns (a log line has a bare name, or its whole path) …
    r"(?P<what>(?P<file>[^\s:/]+/[^\s:]*\.go):(?P<number>\d{1,9}): .+)",
    # … and what reads the sources before it, the time first
    r"[\d/: ]*cover: \S+: (?P<what>(?P<file>[^\s:]+\.go):(?P<number>\d{1,9}):\d+: .+)",
    rf"(?P<what>{_AT}(?::\d+)?: (?:fatal |internal compiler )?error: .+)",  # gcc, clang, javac, swiftc
    rf"(?P<what>{_AT}:\d+: ERROR: .+)",  # esbuild within vite
    rf"(?P<what>{_AT}:\d+ - error TS\d+: .+)",  # tsc --pretty
    rf"(?P<what>{_PATH}\((?P<number>\d{{1,9}}),\d+\): error [A-Z]+\d+: .+)",  # tsc, csc
    r"(?P<what>error TS\d+: .+)",  # tsc, of its settings
    r"(?P<what>TS\d+ \[ERROR\]: .+)",  # deno
    rf"\[error\] (?P<what>{_PATH}: SyntaxError: .+ \((?P<number>\d{{1,9}}):\d+\))$",  # prettier
    r" {2}× (?P<what>[A-Z].+)",  # biome, its place above
    r"(?P<what>Module not found: .+)",  # webpack, its place above
    rf"\[ERROR\] (?P<what>{_PATH}:\[(?P<number>\d{{1,9}}),\d+\] .+)",  # Maven's compiler plugins
    r"\[(?:ERROR|FATAL)\] (?P<what>(?:Non-parseable POM|Malformed POM|Non-resolvable) .+)",  # Maven
    # Maven, where it cannot have a plugin
    r"\[ERROR\] (?:Failed to execute goal .* failed: )?(?P<what>Plugin \S+ .+?)(?: -> \[Help \d\])?$",
    rf"e: (?:file://)?(?P<what>{_AT}:\d+:? .+)",  # Kotlin in Gradle
    r"(?P<what>build file '(?P<file>[^']+)': (?P<number>\d{1,9}): .+)",  # Gradle
    r"(?P<what>(?P<file>[Mm]akefile|\S+\.mk):(?P<number>\d{1,9}): \*\*\* .+)",  # make
    r"(?P<what>make(?:\[\d+\])?: \*\*\* No rule .+)",
    r"(?P<what>CMake Error at (?P<file>[^\s:]+):(?P<number>\d{1,9}).*)",
    r"(?:PHP )?(?P<what>(?:Parse|Fatal) error: .+ in (?P<file>\S+\.\w+)(?: on line |:)(?P<number>\d{1,9}))$",
    # Ruby: the place of its loader, which comes first, is not that of the error
    r"\s*(?:\S+:\d+:in .{1,8}require.{0,20}: )?(?P<what>(?P<file>[^\s:]+\.rb):(?P<number>\d{1,9}): syntax error.*)",
    r"(?P<file>[^\s:<]+\.rb):(?P<number>\d{1,9}):in .{1,8}require_relative.: (?P<what>.+ \(LoadError\))$",
    r"\S+:\d+:in .{1,8}require.{0,20}: (?P<what>.+ \(LoadError\))$",
    r"(?P<what>(?P<file>[^\s:<]+\.rb):(?P<number>\d{1,9}):in .+ \((?:\w+::)*[A-Z]\w*(?:Error|Exception)\))$",
    rf"{_MODULE} .+ from ['\"]?(?P<file>[^'\"\s]+).*)",  # jest, vite, vitest, bun
    r"(?P<what>error(?:\[E\d+\])?: .+)",  # rustc, cargo
    r"(?:/\S*ld(?:\.\w+)?: )?(?P<what>.*undefined reference to .+|.*ld: error: .+)",  # linkers
    r"✘ \[ERROR\] (?P<what>.+)",  # esbuild
    r"(?P<what>(?:panic|fatal error|FATAL ERROR|Fatal Python error): .+)",  # Go, Node, Python
    r"(?P<what>\[[A-Z_]+_ERROR\] .+)",  # oxc and rolldown within vite
    r"\s*(?P<what>SyntaxError: (?P<file>[^\s:]+): .+ \((?P<number>\d{1,9}):\d+\))",  # babel
    r"\[(?P<what>(?:\w+\.)*[A-Z]\w*Error(?: \[\w+\])?: .+)\]$",  # Node, of an error without a stack
    r"\[?UnhandledPromiseRejection: .*?(?P<what>The promise rejected with the reason .+?)\.?\]?(?: \{)?$",  # Node
    r"thread .* panicked at (?P<file>\S+\.rs):(?P<number>\d{1,9}):\d+:(?P<what>)$",  # Rust, the message below
    r"thread .* panicked at '(?P<what>[^']+)(?:', (?P<file>\S+\.rs):(?P<number>\d{1,9}):\d+)?$",  # before 1.73
    r"(?P<what>import file mismatch:)$",  # pytest, of two test files of one name
    r"(?P<what>An error occurred inside PHPUnit\.)$",
    r"\s*(?P<what>(?!SyntaxError:)(?:\w+::)*[A-Z]\w*(?:Error|Exception):)$",  # RSpec
    r"INTERNALERROR> (?P<what>(?:\w+\.)*[A-Z]\w*: .+)",  # pytest; with filterwarnings = error also a warning
    # Python, Ruby, Node, Java, .NET
    rf"{_UNEXPECTED}(?P<what>(?:\w+\.)*(?:[A-Z]\w*(?:Error|Exception|Exit){_CODE}(?:: .+)?|Error{_CODE}: .+))$",
)
# A stack frame of Python or pytest, or the place that Node, biome or webpack prints first; of a module that is loaded
# anew Node also names the query.
_QUERY: Final = r"(?:\?[^\s:]*)?"
_BEFORE: Final = (
    r"\s*File \"([^\"]+)\", line (\d{1,9})|(\S+\.py):(\d{1,9}): in "
    rf"|(?: ?Exception during run: )?(?:file://)?([^\s?]+\.[cm]?[jt]sx?){_QUERY}:(\d{{1,9}})$"
    r"|(\S+\.\w+):(\d{1,9}):\d+ [\w/]+ (?:FIXABLE )*━|ERROR in (?:\./)?(\S+\.\w+):?[ :](\d{1,9})\b"
)
_AFTER: Final = (
    r"\s*(?:-->|╭─\[|[❯›] (?:.*[ (])?|#|at .*\(|at (?:async )?|from |│|Location: |File: )?\s*(?:file://)?(?:\./)?"
    rf"(?P<file>[^\s()\[\]:?]+\.\w+){_QUERY}:(?P<number>\d{{1,9}})(?::\d+|:in\b|$)"
)
# What follows the error in a stack trace of JavaScript, Java or .NET.
_FRAME: Final = (
    r"\s+at (?:.*[:( ]\d+(?::\d+)?\)?|.*:line \d+|.*\((?:<anonymous>|native|index \d+|Native Method|Unknown Source)\)"
    r"|(?:async )?<anonymous>|native)(?: \{|,)?$|\s+[❯›] .*:\d+:\d+\)?$|\s+\.\.\. \d+ more$"
)
_NAMED: Final = rf"\s*(?:Uncaught )?[A-Z][\w$.]*{_CODE}: \S"
# By what an error begins whose message follows, and how many lines that has.
_MESSAGE_BELOW: Final = {"CMake Error at ": 1, "import file mismatch:": 4, "An error occurred inside PHPUnit.": 1}
_ENDED_BY_MAKE: Final = re.compile(r"g?make(?:\[\d+\])?: \*\*\* \[.*\] Error \d+")
_OF_MAKE: Final = re.compile(r"g?make(?:\[\d+\])?: ")
_LIBRARY: Final = r"/gems/|site-packages|dist-packages|/lib/python\d|<frozen|node_modules|node:|/rustc/"
_PYTEST: Final = re.compile(r"E(?: {2,}|$)")


def first_error(text: str) -> FirstError | None:
    """Return the first real error line of a tool's output, None if there is none."""
    lines = plain(text).splitlines()[:50_000]
    if re.search(r"(?m)^TAP version \d", text):  # node's comments have what the test files printed
        lines = [line.removeprefix("# ") for line in lines]
    # Here, not at import: most checks pass, and have no error to look for.
    never, before, library = map(re.compile, (_NEVER, _BEFORE, _LIBRARY))
    errors = tuple(map(re.compile, _ERRORS))
    place: FirstError | None = None
    for index, raw in enumerate(lines):
        line = _PYTEST.sub("", raw[:2_000]).rstrip()
        if not line or never.search(line):
            continue
        if above := before.match(line):
            if not library.search(line):
                file, number = filter(None, above.groups())
                place = FirstError("", file, int(number))
            continue
        found = next((match for pattern in errors if (match := pattern.match(line))), None)
        if found is None:
            if re.match(_FRAME, line) and (head := _above_the_frames(lines[max(0, index - 30) : index])):
                near = place or _place_after(lines[index : index + _LINES_AFTER])
                return FirstError(head) if near is None else near._replace(line=f"{head} ({near.file}:{near.number})")
            continue
        named = found.groupdict()
        what, own, number = named["what"].strip(), named.get("file"), named.get("number")
        below = 1 if not what or what.endswith(("Error:", "Exception:")) else 0
        below = next((count for begins, count in _MESSAGE_BELOW.items() if what.startswith(begins)), below)
        what = " ".join([*filter(None, [what]), *_first_lines(lines[index + 1 :], below)])
        if len(what) > _LONGEST:
            what = f"{what[: _LONGEST - 1]}…"
        near = place or _place_after(lines[index + 1 : index + 1 + _LINES_AFTER])
        if number is None and own is not None:
            near = _place_after(lines[index + 1 : index + 1 + _LINES_AFTER])
            near = near if near is not None and near.file == own else None
        if number is None and near is not None:
            return near._replace(line=f"{what} ({near.file}:{near.number})")
        if own is not None and own not in what:  # Rust
            what = f"{what} ({own}:{number})"
        return FirstError(what, own, None if number is None else int(number))
    return _below_a_heading(lines) or _above_the_end_of_make(lines)


def is_no_reason(line: str) -> bool:
    """Return whether a line is part of a stack trace, or ends a crash, so that it never says what went wrong."""
    # What ends a crash of Node, whatever it was.
    return re.match(_FRAME, line) is not None or re.match(r"Node\.js v\d|\W*$", line) is not None


def _above_the_frames(lines: list[str]) -> str | None:
    """Return the line of an error of any name above its stack trace, None if that is no error's."""
    if not lines or not lines[-1].strip() or re.match(_FRAME, lines[-1]):
        return None
    head = next((line for line in reversed(lines) if re.match(_NAMED, line)), lines[-1])
    return None if re.search(r"\bTrace\b|Warning\b", head) else head.strip()[:_LONGEST]


def _below_a_heading(lines: list[str]) -> FirstError | None:
    """Return the reason that a tool prints below the heading of its failure, None without one."""
    # Below what a tool prints the reason why it gave up, if no line of it is an error by its form.
    below = [
        index for index, line in enumerate(lines) if re.match(r"ESLint: \d+\.\d+\.\d+\S*$|● Validation Error:$", line)
    ]
    reason = _first_lines(lines[below[-1] + 1 :], 1) if below else []
    return FirstError(reason[0][:_LONGEST]) if reason else None


def _first_lines(lines: list[str], count: int) -> list[str]:
    """Return the first lines that are not empty, without white space around them."""
    return list(islice((line.strip() for line in lines if line.strip()), count))


def _above_the_end_of_make(lines: list[str]) -> FirstError | None:
    """Return what a command printed last before make ended with its error, None if make did not."""
    end = next((index for index, line in enumerate(lines) if _ENDED_BY_MAKE.match(line)), 0)
    above = next((line.strip() for line in reversed(lines[:end]) if line.strip() and not _OF_MAKE.match(line)), None)
    return None if above is None else FirstError(above[:_LONGEST])


def _place_after(lines: list[str]) -> FirstError | None:
    """Return the first place in the project's own files below an error and before the next one, None without one."""
    for line in lines:
        if " error TS" in line:  # its place is its own
            return None
        if (found := re.match(_AFTER, line)) and not re.search(_LIBRARY, line):
            return FirstError("", found["file"], int(found["number"]))
        if line.startswith(("error", "E  ", "FAIL", "warning")):
            return None
    return None
