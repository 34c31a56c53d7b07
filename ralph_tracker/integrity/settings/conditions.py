"""When GitHub runs a workflow, a job or a step: whether a change of the code sets it off."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from ralph_tracker.integrity.patterns import Pattern

_NEVER: Final = Pattern(r"\s*(\$\{\{)?\s*(false|0|''|!\s*(true|always\(\)))\s*(&&[^|]*)?(\}\})?\s*", re.IGNORECASE)
_ALWAYS: Final = Pattern(
    r"\s*(\$\{\{)?\s*(true|always\(\)|github\.event_name\s*[!=]=\s*'[^']*')\s*(\}\})?\s*", re.IGNORECASE
)
_BRACED: Final = Pattern(r"^\s*\$\{\{(.*)\}\}\s*$", re.DOTALL)
# Terms that no ordinary change of the code makes true.
_RARE: Final = Pattern(
    r"github\.event_name\s*==\s*'(?!push'|pull_request'|pull_request_target'|merge_group')[^']*'"
    r"|startsWith\(\s*github\.ref\s*,\s*'refs/tags|github\.ref_type\s*==\s*'tag'"
    r"|contains\(\s*(toJSON\()?\s*github\.event\.(pull_request|issue)\.labels|github\.event\.label\.name\s*=="
    r"|vars\.\w+\s*==|^\s*vars\.\w+\s*$|^\s*(failure|cancelled)\(\)\s*$"
    r"|contains\(\s*github\.event\.head_commit\.message"
)
_NEGATED_MESSAGE: Final = Pattern(r"!\s*contains\(\s*github\.event\.head_commit\.message\s*,\s*'(?!\[(skip|ci|no))")
_NEGATED: Final = Pattern(r"^\s*!")
_CONSTANTS: Final = Pattern(r"^\s*('[^']*'|\d+|true|false)\s*(==|!=)\s*('[^']*'|\d+|true|false)\s*$")
_TRIGGERS: Final = frozenset({"push", "pull_request", "pull_request_target", "merge_group"})
_STARTING: Final = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})
_DOCUMENTS: Final = Pattern(
    r"^!?(\./)?(docs?/|\.github/|examples?/|website/|\.vscode/|.*\.(md|rst|txt|ya?ml|json|adoc|svg|png)$|README|LICEN[SC]E|CHANGE)",
    re.IGNORECASE,
)
_CODE: Final = ("box.py", "box/lid.py", "src/box/lid.py", "tests/test_lid.py")
_IN_SOURCES: Final = ("src/", "src/**", "src/*", "tests/**", "tests/*")


def excuse_of(node: Mapping[str, Any]) -> str | None:
    """Return by what the failure of a job or step goes unheard, None where it counts."""
    goes_on, condition, shell = node.get("continue-on-error"), node.get("if"), node.get("shell")
    if goes_on is True or (isinstance(goes_on, str) and _ALWAYS.fullmatch(goes_on)):
        return f"continue-on-error: {'true' if goes_on is True else goes_on.strip()}"
    if condition is False or (isinstance(condition, str) and _NEVER.fullmatch(condition)):
        return "if: false"
    if isinstance(condition, str) and _is_rare(condition):
        return f"if: {condition.strip()}"
    return f"shell: {shell}" if is_careless(shell) else None


def is_careless(shell: Any) -> bool:  # noqa: ANN401  # any YAML value
    """Tell whether a shell goes on after a command that failed, where the usual one stops."""
    words = shell.split() if isinstance(shell, str) else []
    return (
        words[:1] in (["bash"], ["sh"])
        and "{0}" in words
        and not any(re.match(r"-\w*e|--?errexit", each) for each in words)
    )


def _is_rare(condition: str) -> bool:
    """Tell whether each alternative of a condition has a term that ordinary changes do not make true."""
    bare = _BRACED.sub(r"\1", condition)
    if "(" in re.sub(r"\w+\(", "", bare):  # alternatives within brackets
        return False
    return all(any(_rare_term(term) for term in way.split("&&")) for way in bare.split("||"))


def _rare_term(term: str) -> bool:
    constants = _CONSTANTS.match(term)
    if constants:
        return (constants[1] == constants[3]) != (constants[2] == "==")
    if _NEGATED.match(term):
        return _NEGATED_MESSAGE.search(term) is not None
    return _RARE.search(term) is not None


def set_off_by_changes(triggers: Any) -> bool:  # noqa: ANN401  # any YAML value
    """Tell whether a push or a pull request that changes code sets a workflow off."""
    if isinstance(triggers, Mapping):
        return any(name in _TRIGGERS and _for_code(name, event) for name, event in triggers.items())
    names = [triggers] if isinstance(triggers, str) else triggers if isinstance(triggers, list) else ()
    return any(name in _TRIGGERS for name in names if isinstance(name, str))


def _for_code(name: str, event: Any) -> bool:  # noqa: ANN401  # any YAML value
    if not isinstance(event, Mapping):
        return True
    types = _texts(event.get("types"))
    if name != "push" and types and not _STARTING & {*types}:
        return False
    if name == "push" and "tags" in event and "branches" not in event and "branches-ignore" not in event:
        return False
    if any(each in {"*", "**"} for each in _texts(event.get("branches-ignore"))):
        return False
    chosen = _texts(event.get("paths"))
    if chosen and all(_DOCUMENTS.match(each) for each in chosen):
        return False
    return not any(_holds_code(each) for each in _texts(event.get("paths-ignore")))


def _holds_code(pattern: str) -> bool:
    whole = pattern.replace("**/", "*").replace("**", "*")
    return pattern in _IN_SOURCES or all(fnmatchcase(path, whole) for path in _CODE)


def _texts(value: Any) -> list[str]:  # noqa: ANN401  # any YAML value
    return (
        [value]
        if isinstance(value, str)
        else [each for each in value if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )
