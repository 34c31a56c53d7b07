"""Stand-ins for the messages and the client of claude-agent-sdk, named as there; tests/clients has the real ones."""

from dataclasses import dataclass, field
from typing import Any

import pytest


@dataclass
class TextBlock:
    text: str


@dataclass
class ThinkingBlock:
    thinking: str


@dataclass
class ToolUseBlock:
    id: str
    name: str
    input: dict[str, Any]


@dataclass
class ServerToolUseBlock(ToolUseBlock):
    pass


@dataclass
class ToolResultBlock:
    tool_use_id: str
    content: Any = None
    is_error: bool | None = None


@dataclass
class ServerToolResultBlock:
    tool_use_id: str
    content: dict[str, Any]


@dataclass
class AssistantMessage:
    content: list[Any]
    message_id: str | None = None
    model: str = "claude"
    usage: dict[str, Any] | None = None
    parent_tool_use_id: str | None = None


@dataclass
class UserMessage:
    content: str | list[Any]
    parent_tool_use_id: str | None = None


@dataclass
class StreamEvent:
    event: dict[str, Any]
    parent_tool_use_id: str | None = None


@dataclass
class SystemMessage:
    subtype: str = "init"


@dataclass
class ResultMessage:
    total_cost_usd: float | None = None
    usage: dict[str, Any] | None = None


USAGE = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 1000, "output_tokens": 1}


class Sdk:
    """Make messages in few words."""

    @staticmethod
    def says(text, turn=None, **more):
        return AssistantMessage([TextBlock(text)], turn, usage=USAGE, **more)

    @staticmethod
    def calls(call, name="Bash", turn=None, given=None, **more):
        return AssistantMessage([ToolUseBlock(call, name, given or {"command": call})], turn, usage=USAGE, **more)

    @staticmethod
    def gives(call, content="done", is_error=None, **more):
        return UserMessage([ToolResultBlock(call, content, is_error)], **more)

    @staticmethod
    def starts(turn):
        return StreamEvent({"type": "message_start", "message": {"id": turn}})

    @staticmethod
    def took(tokens):
        return StreamEvent({"type": "message_delta", "usage": {"output_tokens": tokens}})

    @staticmethod
    def ends(cost=None, tokens=None):
        return ResultMessage(cost, None if tokens is None else {"output_tokens": tokens})

    @staticmethod
    def message(*blocks, turn=None):
        return AssistantMessage(list(blocks), turn)

    text, thinking = TextBlock, ThinkingBlock
    server_use, server_result = ServerToolUseBlock, ServerToolResultBlock
    user, system = UserMessage, SystemMessage


@pytest.fixture
def sdk():
    return Sdk


@dataclass
class Client:
    """A client that plays messages; interrupted, it plays those of `after` and is done."""

    messages: list[Any]
    after: list[Any] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    interrupted: bool = False
    closed: bool = False

    async def query(self, prompt):
        self.prompts.append(prompt)

    async def receive_response(self):
        self.closed = False
        try:
            while self.messages and not self.interrupted:
                message = self.messages.pop(0)
                yield message
                if type(message).__name__ == "ResultMessage":
                    return
            for message in self.after:
                yield message
        finally:
            self.closed = True

    async def interrupt(self):
        self.interrupted = True


@pytest.fixture
def client():
    return Client
