"""A stand-in for a model's service on the loopback: it plays a script to a real client, and keeps what it was asked.

A turn of the script is one answer of the model: `say("…")` ends its turn, `call("Write", file_path=…)` asks for tools,
`shell("…")` for the client's shell, `fail(529)` refuses the request, `hang()` never answers it. Requests that offer no
tools (titles, summaries) are answered, take no turn and cost nothing. Which service it is says a `Protocol`; that of
Claude Code is here, the others are in `protocols.py`.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
SHELL = "the client's shell"
REFUSED = "refused by the script"


@dataclass(frozen=True)
class Turn:
    """One answer: text, then calls of tools as (name, input); `refused` is a status in their place.

    `tokens` are those of the answer: read anew, written to the cache, read from the cache, output. With `hangs` there
    is no answer as long as the stand-in runs.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    refused: int | None = None
    tokens: tuple[int, int, int, int] = (100, 20, 1000, 10)
    hangs: bool = False

    def and_call(self, name: str, **values: Any) -> "Turn":
        """Ask for one more tool in the same answer."""
        return replace(self, calls=(*self.calls, (name, values)))

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


def shell(command: str) -> Turn:
    """Ask for the tool of the client that runs a shell command."""
    return call(SHELL, command=command)


def fail(status: int) -> Turn:
    """Refuse a request: 529 overloaded, 429 rate limit, 400 and so on."""
    return Turn(refused=status)


def hang() -> Turn:
    """Leave a request without an answer."""
    return Turn(hangs=True)


@dataclass(frozen=True)
class Protocol:
    """What a model's service is asked, and how it answers.

    `asks` knows a request for an answer by its path, `offers_tools` one that takes a turn. `conversation` is the key of
    the messages, `is_models` knows those of the model among them. `runs` names the client's shell, with its arguments
    for a command. `answer` makes the body from turn, number and request, as a stream if the last argument says so.
    """

    asks: Callable[[str], bool]
    offers_tools: Callable[[dict[str, Any]], bool]
    conversation: str
    is_models: Callable[[dict[str, Any]], bool]
    runs: Callable[[str], tuple[str, Mapping[str, Any]]]
    answer: Callable[[Turn, int, dict[str, Any], bool], str]
    refusal: Callable[[int], dict[str, Any]]

    def resolved(self, turn: Turn) -> Turn:
        """Return the turn with the client's own name for its shell."""
        calls = (self.runs(values["command"]) if name == SHELL else (name, values) for name, values in turn.calls)
        return replace(turn, calls=tuple(calls))


def _message(turn: Turn, number: int, request: dict[str, Any], is_stream: bool) -> str:  # noqa: FBT001  # of all
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
    if not is_stream:
        return json.dumps(message)
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))


MESSAGES = Protocol(
    asks=lambda path: path.startswith("/v1/messages"),
    offers_tools=lambda request: bool(request.get("tools")),
    conversation="messages",
    is_models=lambda message: message["role"] == "assistant",
    runs=lambda command: ("Bash", {"command": command}),
    answer=_message,
    refusal=lambda status: {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": REFUSED}},
)


@dataclass
class Messages:
    """Play a script, the rest is silence; hold every request that took a turn, in order."""

    script: Sequence[Turn]
    protocol: Protocol = MESSAGES
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def next(self, request: dict[str, Any]) -> tuple[int, Turn]:
        """Return the turn that answers a request, and its number."""
        if not self.protocol.offers_tools(request):
            return 0, Turn(text="ok", tokens=(0, 0, 0, 0))
        with self.lock:
            self.requests.append(request)
            number = len(self.requests)
        return number, self.protocol.resolved(self.script[number - 1] if number <= len(self.script) else say(OVER))

    @property
    def told(self) -> list[str]:
        """Return, for each request, what the model was told since its last answer."""
        return ["\n".join(_texts(self._since_answer(request))) for request in self.requests]

    @property
    def prompts(self) -> list[str]:
        """Return, for each request, the whole conversation as text."""
        return ["\n".join(_texts(request[self.protocol.conversation])) for request in self.requests]

    @property
    def played_out(self) -> bool:
        """Tell whether every turn of the script was asked for, and none more."""
        return len(self.requests) == len(self.script)

    def _since_answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        messages = request[self.protocol.conversation]
        answers = [place for place, message in enumerate(messages) if self.protocol.is_models(message)]
        return messages[answers[-1] + 1 if answers else 0 :]


@contextmanager
def playing(*script: Turn, protocol: Protocol = MESSAGES) -> Iterator[Messages]:
    """Serve a script on a free port of the loopback."""
    messages = Messages(script, protocol)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"messages": messages}))
    messages.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield messages
    finally:
        messages.over.set()
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
        request = json.loads(self._body() or b"{}")
        if "count_tokens" in self.path or "countTokens" in self.path:
            self._json(200, {"input_tokens": 100, "totalTokens": 100})
        elif self.messages.protocol.asks(self.path):
            self._play(request)
        else:
            self._json(404, {})

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _play(self, request: dict[str, Any]) -> None:
        number, turn = self.messages.next(request)
        if turn.hangs:
            self.messages.over.wait()
            self.close_connection = True
        elif turn.refused is not None:
            self._json(turn.refused, self.messages.protocol.refusal(turn.refused))
        else:
            is_stream = bool(request.get("stream")) or "stream" in self.path
            kind = "text/event-stream" if is_stream else "application/json"
            self._answer(200, kind, self.messages.protocol.answer(turn, number, request, is_stream).encode())

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


_WORDS = ("text", "content", "parts", "output", "functionResponse", "response")


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of messages, what tools gave back and reminders included."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part)
    elif isinstance(content, dict):
        for key in _WORDS:
            yield from _texts(content.get(key))
