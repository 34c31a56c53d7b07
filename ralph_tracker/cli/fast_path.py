"""Answer the two hooks of every iteration without click, whose import is slow."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

_FLAGS: Final[Mapping[str, Collection[str]]] = {
    "post-iteration": ("--json",),
    "loop-decision": ("--json", "--apply"),
}
_VALUES: Final = ("--root", "--loop-id")


def answer_fast(arguments: list[str]) -> int | None:
    """Run a hook and return its exit code; None leaves the command to click."""
    verb, phase, *rest = (*arguments, "", "")[: max(2, len(arguments))]
    phase = phase.replace("_", "-")
    found = _options(iter(rest), _FLAGS[phase]) if verb == "hook" and phase in _FLAGS else None
    if found is None:
        return None
    root, loop_id, as_json = Path(found.get("--root", ".")), found.get("--loop-id"), "--json" in found
    if phase == "loop-decision":
        from ralph_tracker.cli.answers import answer

        return answer(root, loop_id, as_json=as_json, apply="--apply" in found)
    from ralph_tracker.cli.answers import record_next

    return record_next(root, loop_id, as_json=as_json)


def _options(words: Iterator[str], flags: Collection[str]) -> dict[str, str] | None:
    """Return each option with its value, "" for a flag; None if a word is not a plain option."""
    found: dict[str, str] = {}
    for word in words:
        if word in flags:
            found[word] = ""
        elif word in _VALUES and (value := next(words, ""))[:1] not in {"", "-"}:
            found[word] = value
        else:
            return None
    return found
