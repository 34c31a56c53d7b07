"""The exceptions and exit codes of ralph-tracker, and the words for what is wrong with an input.

    RalphTrackerError             expected: one line that says what, where and what to do next (exit 1)
    ├── WrongUsageError           a command line that no verb takes (exit 2)
    ├── InputError                metrics, usage or arguments that are inconsistent or not numbers
    ├── ConfigError               a configuration key or value that cannot be used
    ├── LoopError                 a hook called out of order, an unknown loop, an unfinished one
    │   ├── NotRecordedError      the last iteration was not recorded
    │   └── NoSnapshotError       files were requested that were never kept
    │       └── CollectedError    files that gc removed
    ├── RecordError               a stored document that is damaged or missing
    ├── NewerSchemaError          a stored document that a newer version wrote; never treated as damage
    ├── NothingMeasuredError      a selection among iterations of which none was measured
    ├── NotReproducedError        an iteration whose measurement differs from its record
    ├── UntrustedError            commands that came with a project, which this user has neither started nor accepted
    └── StoreError                the loop folder cannot be read, written or locked

Terminated stands beside KeyboardInterrupt: a request to end. Any other exception is a bug (exit 70). LoopWarning is a
warning of Python, in one line.

A validation error of pydantic is worded here, but pydantic is not imported before there is one: hooks start fast.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from ralph_tracker.short_text import shorten

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

EXIT_OK: Final = 0
EXIT_FAILURE: Final = 1
EXIT_USAGE: Final = 2
EXIT_REGRESSION: Final = 3
EXIT_NOT_MEASURED: Final = 4
EXIT_STOP: Final = 10
EXIT_ROLLBACK: Final = 11
EXIT_ESCALATE: Final = 12
EXIT_BUG: Final = 70
EXIT_SIGNAL: Final = 128  # plus the number of the signal: 143 SIGTERM, 129 SIGHUP
EXIT_INTERRUPTED: Final = 130
SHOWN: Final = 60  # characters of a value in a message
_KEYS_AND_VALUES: Final = "should be keys and values"
_WORDS: Final[Mapping[str, str]] = {
    "finite_number": "not a finite number",
    "model_type": _KEYS_AND_VALUES,
    "dict_type": _KEYS_AND_VALUES,
    "missing": "is missing",
}
# The branches of a union, which pydantic adds to a path though nobody wrote them.
_BRANCHES: Final = frozenset({"str", "int", "list[str]"})


class RalphTrackerError(Exception):
    """An expected failure; its text is the one line that the user reads."""

    exit_code = EXIT_FAILURE


class WrongUsageError(RalphTrackerError):
    exit_code = EXIT_USAGE


class InputError(RalphTrackerError): ...


class ConfigError(RalphTrackerError): ...


class LoopError(RalphTrackerError): ...


class NotRecordedError(LoopError): ...


class NoSnapshotError(LoopError): ...


class CollectedError(NoSnapshotError): ...


class RecordError(RalphTrackerError): ...


class NewerSchemaError(RalphTrackerError): ...


class NothingMeasuredError(RalphTrackerError):
    """A selection among iterations of which none was measured; `why` is the reason of the newest one."""

    def __init__(self, loop_id: str, why: str, step: str) -> None:
        super().__init__(f"nothing was measured in {loop_id}, so nothing is selected: {why}; {step}")
        self.why = why


class NotReproducedError(RalphTrackerError): ...


class UntrustedError(RalphTrackerError):
    """A refusal to run what came with a project: this user has neither started nor accepted it."""


class StoreError(RalphTrackerError): ...


class LoopWarning(UserWarning):
    """What happened to a loop that stops nothing: it was brought back, or is not linked below git's folder."""


class Terminated(BaseException):  # like KeyboardInterrupt, so that `except Exception` does not catch it
    """The request of another process, by a signal, to end; it unwinds everything like Ctrl-C.

    `next_step` is what a person can do then, "" if nothing needs to be done.
    """

    def __init__(self, number: int, next_step: str = "") -> None:
        super().__init__(number)
        self.number = number
        self.next_step = next_step


def nearest(word: str, known: list[str]) -> str:
    """Return `; did you mean X?`, or the list of what is known where nothing is near."""
    from difflib import get_close_matches  # noqa: PLC0415  # nobody but a typing error needs it

    matches = get_close_matches(word, known, n=1, cutoff=0.6)
    if matches:
        return f"; did you mean {matches[0]}?"
    return f"; known: {', '.join(sorted(known))}" if known else ""


def short_text(value: object) -> str:
    """Write a value as it was given, cut where it is long; None is nothing."""
    if value is None:
        return "nothing"
    try:
        return shorten(repr(value), SHOWN)
    except ValueError:  # Python writes no number of more than some thousand digits
        return "a number of thousands of digits"


def first_problem(error: "ValidationError", model: type["BaseModel"]) -> str:
    """Return the first problem of a failed validation in one line, and in how many more places there is one."""
    problems = error.errors(include_url=False, include_context=False)
    places = [_path(problem["type"], problem["loc"]) for problem in problems]
    first, path, others = problems[0], places[0], len(set(places)) - 1
    place = ".".join(shorten(str(part), SHOWN) for part in path)
    text = _text(first["type"], first["msg"], path, model)
    if first["type"] not in {"extra_forbidden", "value_error", "missing"}:
        text += f", found {short_text(first['input'])}"
    more = f" (and {others} more)" if others else ""
    return f"{place}: {text}{more}" if place else f"{text}{more}"


def _path(kind: str, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    return location[:-1] if kind != "extra_forbidden" and location[-1:] and location[-1] in _BRANCHES else location


def _text(kind: str, message: str, path: tuple[int | str, ...], model: type["BaseModel"]) -> str:
    if kind != "extra_forbidden":
        return _WORDS.get(kind) or message.removeprefix("Value error, ").replace("Input should be", "should be")
    section: Any = model
    for part in path[:-1]:
        if get_origin(section) is dict:
            section = get_args(section)[1]
        elif not isinstance(part, int):
            section = _section_in(_fields(section).get(part, (None, ()))[0])
    key, known = str(path[-1]), [name for _, names in _fields(section).values() for name in names]
    if key in known:
        return "another name of a key that is also given; remove one"
    return f"unknown key{nearest(key, known)}"


def _fields(section: Any) -> dict[str, tuple[Any, list[str]]]:  # noqa: ANN401  # any annotation
    """Return the keys of a section, each with its annotation and all its names."""
    from pydantic import AliasChoices  # noqa: PLC0415  # as above

    if _is_section(section) and hasattr(section, "model_fields"):
        names = {
            name: [str(choice) for choice in field.validation_alias.choices]
            if isinstance(field.validation_alias, AliasChoices)
            else [name]
            for name, field in section.model_fields.items()
        }
        return {name: (field.annotation, names[name]) for name, field in section.model_fields.items()}
    if _is_section(section):
        return {name: (annotation, [name]) for name, annotation in section.__annotations__.items()}
    return {}


def _is_section(candidate: Any) -> bool:  # noqa: ANN401  # any annotation
    """Return whether it is a model or a TypedDict."""
    from pydantic import BaseModel  # noqa: PLC0415  # as above
    from typing_extensions import is_typeddict  # noqa: PLC0415  # as above

    return is_typeddict(candidate) or (isinstance(candidate, type) and issubclass(candidate, BaseModel))


def _section_in(annotation: Any) -> Any:  # noqa: ANN401  # any annotation
    """Return the section that an annotation holds, a mapping of names to sections as it is, None where it has none."""
    if _is_section(annotation) or get_origin(annotation) is dict:
        return annotation
    return next((found for arg in get_args(annotation) if (found := _section_in(arg)) is not None), None)
