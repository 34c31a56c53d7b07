"""Ready-made ways of asking a model, for `LLMProgressEvaluator` (steering.md § 1).

    LLMProgressEvaluator(openai_ask("http://127.0.0.1:11434/v1", "qwen3"))    # any OpenAI-compatible endpoint
    LLMProgressEvaluator(claude_ask())                                       # the Claude Agent SDK, extra `claude`

They raise InputError for what cannot be asked; an evaluator that raises is logged, and the session goes on.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from http.client import HTTPException
from importlib import import_module
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ralph_tracker.errors import InputError

Ask = Callable[[str], Awaitable[str]]
_TIMEOUT_S: Final = 10.0
_READ_AT_MOST: Final = 1 << 20


def sdk() -> Any:  # noqa: ANN401  # the SDK is an extra: its types are not there
    """Return the package claude_agent_sdk. Raises InputError where it is not installed."""
    try:
        return import_module("claude_agent_sdk")
    except ImportError as error:
        raise InputError(f"claude-agent-sdk: {error}; pip install 'ralph-tracker[claude]'") from None


def claude_ask(**options: Any) -> Ask:  # noqa: ANN401  # keys of ClaudeAgentOptions
    """Return what asks Claude in a session of its own: one turn, no tools, no settings or hooks of the project.

    `options` are keys of the SDK's ClaudeAgentOptions, over those.
    """

    async def ask(prompt: str) -> str:
        package = sdk()
        alone = {"max_turns": 1, "tools": [], "setting_sources": []}
        answer = ""
        async for message in package.query(prompt=prompt, options=package.ClaudeAgentOptions(**{**alone, **options})):
            if type(message).__name__ == "ResultMessage":
                if message.is_error or message.result is None:
                    raise InputError(f"Claude did not answer: {message.result or message.subtype}")
                answer = message.result
        return answer

    return ask


class _NoRedirect(HTTPRedirectHandler):
    """Follow nothing: the key would go along to wherever that is."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401
        return None


def openai_ask(base_url: str, model: str, key: str | None = None, *, timeout_s: float = _TIMEOUT_S) -> Ask:
    """Return what asks a model by POST `base_url`/chat/completions, as OpenAI's API and those like it have it.

    `base_url` usually ends with /v1. `key` goes as a bearer token, None sends none. `timeout_s` is for each wait for
    the network. Raises InputError for an address that is none of http or https.
    """
    if urlsplit(base_url).scheme not in {"http", "https"}:
        raise InputError(f"{base_url}: no address of an endpoint; give one like https://api.openai.com/v1")
    url = base_url.rstrip("/") + "/chat/completions"
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})

    async def ask(prompt: str) -> str:
        asked = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        request = Request(url, json.dumps(asked).encode(), headers)  # noqa: S310  # checked above
        return await asyncio.to_thread(_answer, request, timeout_s)

    return ask


def _answer(request: Request, timeout_s: float) -> str:
    """Return the answer to a request. Raises InputError, in one line, for anything that is none."""
    try:
        with build_opener(_NoRedirect).open(request, timeout=timeout_s) as response:
            document = json.loads(response.read(_READ_AT_MOST))
        answer = document["choices"][0]["message"]["content"]
    except HTTPError as error:
        error.close()
        raise InputError(f"{request.full_url}: HTTP status {error.code}; see the model's name and the key") from None
    except (OSError, HTTPException) as error:
        raise InputError(f"{request.full_url}: {error}; is it running?") from None
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise InputError(f"{request.full_url}: no answer of a chat completion; see the address") from None
    if not isinstance(answer, str):
        raise InputError(f"{request.full_url}: the model answered without words")
    return answer
