"""How grave a finding is: as its tool says, else by its code, and as the configuration overrides it."""

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args

Severity = Literal["error", "warning", "note", "none"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
NO_CODE: Final = ""

_ERROR_CODE: Final = re.compile(r"[EF][0-9]+")
_WORDS: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(("fatal", "critical", "high", "error"), "error"),
    **dict.fromkeys(("warning", "warn", "medium"), "warning"),
    **dict.fromkeys(("note", "info", "information", "help", "hint", "style", "low", "convention", "refactor"), "note"),
    **dict.fromkeys(("none", "ignore"), "none"),
}


def given(word: object) -> Severity | None:
    """Return the severity that a tool's word means, None where it is none or not known."""
    return _WORDS.get(word.lower()) if isinstance(word, str) else None


def of_code(code: str) -> Severity:
    """Return what a finding is whose tool gives no severity: codes of E and F are errors, others warnings."""
    return "error" if _ERROR_CODE.fullmatch(code) else "warning"


def resolved(word: object, code: str) -> Severity:
    """Return the severity that is given, else that of the code."""
    return given(word) or of_code(code)


def named(code: object) -> str:
    """Return the code as text, `NO_CODE` for what is neither text nor a whole number."""
    return str(code) if isinstance(code, str | int) else NO_CODE


def overridden(code: str, overrides: Mapping[str, Severity]) -> Severity | None:
    """Return what the longest prefix of the code in `overrides` says, None where there is none."""
    fitting = [prefix for prefix in overrides if code.startswith(prefix)]
    return overrides[max(fitting, key=len)] if fitting else None
