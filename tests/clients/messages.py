"""A stand-in for the Messages API on the loopback: it plays a script to a real client, and keeps what it was asked.

A turn of the script is one answer of the model: `say("…")` ends its turn, `call("Write", file_path=…)` asks for tools,
`fail(529)` refuses the request. Requests that offer no tools (titles, summaries) are answered, take no turn and cost
nothing.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
OVER = "There is nothing left in the script."


@dataclass(frozen=True)
class Turn:
    """One answer: text, then calls of tools as (name, input); `refused` is a status in their place.

    `tokens` are those of the answer: read anew, written to the cache, read from the cache, output.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    refused: int | None = None
    tokens: tuple[int, int, int, int] = (100, 20, 1000, 10)

    def and_call(self, name: str, **values: Any) -> "Turn":
        """Ask for one more tool in the same answer."""
        return Turn(self.text, (*self.calls, (name, values)), self.refused, self.tokens)

    def blocks(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the blocks of the answer's content."""
        if self.text:
            yield {"type": "text", "text": self.text}
        for place, (name, values) in enumerate(self.calls):
            yield {"type": "tool_use", "id": f"toolu_{number:04d}_{place}", "name": name, "input": dict(values)}

    def usage(self) -> dict[str, int]:
        """Return what the answer took."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        return dict(zip(names, self.tokens, strict=True))


def say(text: str) -> Turn:
    """End the model's turn with a text."""
    return Turn(text=text)


def call(name: str, **values: Any) -> Turn:
    """Ask for a tool."""
    return Turn(calls=((name, values),))


def fail(status: int) -> Turn:
    """Refuse a request: 529 overloaded, 429 rate limit, 400 and so on."""
    return Turn(refused=status)


@dataclass
class Messages:
    """Play a script, the rest is silence; hold every request that took a turn, in order."""

    script: Sequence[Turn]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, request: dict[str, Any]) -> tuple[int, Turn]:
        """Return the turn that answers a request, and its number."""
        if not request.get("tools"):
            return 0, Turn(text="ok", tokens=(0, 0, 0, 0))
        with self.lock:
            self.requests.append(request)
            number = len(self.requests)
        return number, self.script[number - 1] if number <= len(self.script) else say(OVER)

    @property
    def told(self) -> list[str]:
        """Return, for each request, the text of its last message: what the model was told since its last answer."""
        return [_text(request["messages"][-1]["content"]) for request in self.requests]

    @property
    def played_out(self) -> bool:
        """Tell whether every turn of the script was asked for, and none more."""
        return len(self.requests) == len(self.script)


@contextmanager
def playing(*script: Turn) -> Iterator[Messages]:
    """Serve a script on a free port of the loopback."""
    messages = Messages(script)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"messages": messages}))
    messages.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield messages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    messages: Messages

    def log_message(self, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(200, "text/plain", b"")

    def do_GET(self) -> None:
        self._answer(404, "application/json", b"{}")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if not self.path.startswith("/v1/messages"):
            self._json(404, {})
        elif "count_tokens" in self.path:
            self._json(200, {"input_tokens": 100})
        else:
            self._play(request)

    def _play(self, request: dict[str, Any]) -> None:
        number, turn = self.messages.next(request)
        if turn.refused is not None:
            error = {"type": ERRORS.get(turn.refused, "api_error"), "message": "refused by the script"}
            self._json(turn.refused, {"type": "error", "error": error})
            return
        message = {
            "id": f"msg_{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", ""),
            "content": list(turn.blocks(number)),
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": turn.usage(),
        }
        if request.get("stream"):
            stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
            self._answer(200, "text/event-stream", stream.encode())
        else:
            self._json(200, message)

    def _json(self, status: int, document: Any) -> None:
        self._answer(status, "application/json", json.dumps(document).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", f"req_{len(self.messages.requests):04d}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as it is streamed: begun empty, each block begun empty and filled, then how it ended."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": block | empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _text(content: Any) -> str:
    """Return the text of a message, what tools gave back and reminders included."""
    if isinstance(content, str):
        return content
    return "\n".join(_text(block.get("text") or block.get("content") or "") for block in content)
