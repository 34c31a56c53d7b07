"""What Codex, Gemini CLI and opencode ask of their models' services, for the stand-in in `messages.py`."""

import json
from collections.abc import Iterator
from typing import Any

from tests.clients.messages import REFUSED, Protocol, Turn

_STATUS = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def _read(turn: Turn) -> tuple[int, int, int]:
    """Return all input tokens, those of them that came from a cache, and output tokens."""
    fresh, kept, cached, written = turn.tokens
    return fresh + kept + cached, cached, written


def _openai_refusal(status: int) -> dict[str, Any]:
    code = _CODES.get(status, "server_error")
    return {"error": {"message": REFUSED, "type": code, "code": code}}


def _response(turn: Turn, number: int, _request: dict[str, Any], _is_stream: bool) -> str:  # noqa: FBT001
    read, cached, written = _read(turn)
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
    items = list(_items(turn, number))
    whole = {"id": f"resp_{number:04d}", "object": "response", "status": "completed", "output": items, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**whole, "status": "in_progress"}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            events.append({"type": "response.output_text.delta", **place, "delta": turn.text})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _items(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{number:04d}", "role": "assistant", "content": content}
    for place, (name, values) in enumerate(turn.calls):
        ids = {"id": f"fc_{number:04d}_{place}", "call_id": f"call_{number:04d}_{place}"}
        yield {"type": "function_call", **ids, "name": name, "arguments": json.dumps(values)}


RESPONSES = Protocol(
    asks=lambda path: path.partition("?")[0].endswith("/responses"),
    offers_tools=lambda request: bool(request.get("tools")),
    conversation="input",
    is_models=lambda item: item.get("role") == "assistant" or item.get("type") in {"function_call", "reasoning"},
    runs=lambda command: ("exec_command", {"cmd": command}),
    answer=_response,
    refusal=_openai_refusal,
)


def _candidates(turn: Turn, number: int, _request: dict[str, Any], is_stream: bool) -> str:  # noqa: FBT001
    read, cached, written = _read(turn)
    parts = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": name, "args": dict(values)}} for name, values in turn.calls]
    answer = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "totalTokenCount": read + written,
            "cachedContentTokenCount": cached,
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": f"r{number}",
    }
    return f"data: {json.dumps(answer)}\r\n\r\n" if is_stream else json.dumps(answer)


GEMINI = Protocol(
    asks=lambda path: "enerateContent" in path,
    offers_tools=lambda request: any(each.get("functionDeclarations") for each in request.get("tools") or ()),
    conversation="contents",
    is_models=lambda content: content.get("role") == "model",
    runs=lambda command: ("run_shell_command", {"command": command, "description": "run"}),
    answer=_candidates,
    refusal=lambda status: {"error": {"code": status, "message": REFUSED, "status": _STATUS.get(status, "UNKNOWN")}},
)


def _completion(turn: Turn, number: int, request: dict[str, Any], _is_stream: bool) -> str:  # noqa: FBT001
    read, cached, written = _read(turn)
    same = {"id": f"c{number}", "object": "chat.completion.chunk", "created": 1, "model": request.get("model")}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**same, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    calls = [
        {
            "index": place,
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(values)},
        }
        for place, (name, values) in enumerate(turn.calls)
    ]
    said = {"role": "assistant", "content": turn.text or None}
    usage = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    chunks = [
        chunk(said | ({"tool_calls": calls} if calls else {})),
        chunk({}, "tool_calls" if calls else "stop"),
        {**same, "choices": [], "usage": usage},
    ]
    return "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"


CHAT = Protocol(
    asks=lambda path: path.endswith("/chat/completions"),
    offers_tools=lambda request: bool(request.get("tools")),
    conversation="messages",
    is_models=lambda message: message["role"] == "assistant",
    runs=lambda command: ("bash", {"command": command, "description": "run"}),
    answer=_completion,
    refusal=_openai_refusal,
)
