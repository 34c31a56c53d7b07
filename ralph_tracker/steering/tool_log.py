"""The tools of a session, one line each (seed interactive-agent-progress, steering.md § 3)."""

from collections import deque
from typing import Final

KEPT_TOOLS: Final = 100
"""How many tools a log shows one by one; those before them are counted."""
_SYMBOLS: Final = {None: "...", True: "✓", False: "✗"}


def tool_line(name: str, success: bool | None) -> str:  # noqa: FBT001  # as on_tool_end has it
    """Return the line of a tool; `success` is None while it runs."""
    return f"🔧 {name} {_SYMBOLS[success]}"


class ToolLog:
    """Keep what ran: the last tools by name and outcome, those before them by their number."""

    __slots__ = ("_earlier", "_tools")

    def __init__(self) -> None:
        self._tools: deque[_Tool] = deque(maxlen=KEPT_TOOLS)
        self._earlier = 0

    @property
    def running(self) -> int:
        """Return how many of the tools shown have not ended."""
        return sum(tool.success is None for tool in self._tools)

    def start(self, name: str, call: str | None = None) -> None:
        """Note that a tool starts; `call` tells this very call from others of that name, None where nobody knows."""
        self._add(_Tool(name, call, None))

    def end(self, name: str, success: bool, call: str | None = None) -> bool:  # noqa: FBT001  # as on_tool_end has it
        """Note how a tool ended, and tell whether its start was seen.

        Without `call` it is the one of that name that has run longest. One whose start nobody saw gets a line too.
        """
        for tool in self._tools:
            if tool.success is None and tool.name == name and call in {None, tool.call}:
                tool.success = success
                return True
        self._add(_Tool(name, call, success))
        return False

    def lines(self) -> list[str]:
        """Return the log as a person sees it: `🔧 name ...`, then `✓` or `✗` for the dots."""
        shown = [tool_line(tool.name, tool.success) for tool in self._tools]
        return [f"({self._earlier} earlier)", *shown] if self._earlier else shown

    def summary(self) -> str:
        """Return what a cancelled session was working on, in one line; what was still running did not succeed."""
        shown = [f"{tool.name} {_SYMBOLS[tool.success is True]}" for tool in self._tools]
        if not shown:
            return "Cancelled. No tool had run yet."
        earlier = [f"({self._earlier} earlier)"] if self._earlier else []
        return f"Cancelled. Was working on: {' → '.join([*earlier, *shown])}"

    def _add(self, tool: "_Tool") -> None:
        self._earlier += len(self._tools) == KEPT_TOOLS
        self._tools.append(tool)


class _Tool:
    __slots__ = ("call", "name", "success")

    def __init__(self, name: str, call: str | None, success: bool | None) -> None:  # noqa: FBT001  # as above
        self.name, self.call, self.success = name, call, success
