"""Ask a model for `LLMProgressEvaluator`, and read the loop's latest iteration for `QualityProgressEvaluator`."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.errors import InputError, LoopError
from ralph_tracker.steering.progress_evaluators import QualityState
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.summary import summary_at

Ask = Callable[[str], Awaitable[str]]


def claude_ask(**options: Any) -> Ask:  # noqa: ANN401  # keys of ClaudeAgentOptions
    """Return a function that asks Claude in a new session: one turn, no tools, none of the project's settings or hooks.

    `options` are keys of the SDK's ClaudeAgentOptions and override those.
    """
    from ralph_tracker.agents.claude_sdk_session import sdk  # noqa: PLC0415  # hooks of a session read records only

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


def openai_ask(base_url: str, model: str, key: str | None = None, *, timeout_s: float = 10.0) -> Ask:
    """Return a function that asks a model by POST `base_url`/chat/completions, the API of OpenAI and others.

    `base_url` usually ends with /v1. `key` is sent as a bearer token, None sends none. `timeout_s` limits each network
    wait. Raises InputError unless the address is http or https.
    """
    if urlsplit(base_url).scheme not in {"http", "https"}:
        raise InputError(f"{base_url}: no address of an endpoint; give one like https://api.openai.com/v1")
    url = base_url.rstrip("/") + "/chat/completions"
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})

    async def ask(prompt: str) -> str:
        asked = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        return await asyncio.to_thread(_completion, url, json.dumps(asked).encode(), headers, timeout_s)

    return ask


def _completion(url: str, asked: bytes, headers: Mapping[str, str], timeout_s: float) -> str:
    """Return the answer to a request, without following redirects, which would get the key.

    Raises InputError, in one line, if it fails.
    """
    from http.client import HTTPException  # noqa: PLC0415  # hooks of a session read records only
    from urllib.error import HTTPError  # noqa: PLC0415  # as above
    from urllib.request import HTTPRedirectHandler, Request, build_opener  # noqa: PLC0415  # as above

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:  # noqa: ANN401
            return None

    try:
        request = Request(url, asked, dict(headers))  # noqa: S310  # the scheme was checked
        with build_opener(NoRedirect).open(request, timeout=timeout_s) as response:
            document = json.loads(response.read(1 << 20))
        answer = document["choices"][0]["message"]["content"]
    except HTTPError as error:
        error.close()
        raise InputError(f"{url}: HTTP status {error.code}; see the model's name and the key") from None
    except (OSError, HTTPException) as error:
        raise InputError(f"{url}: {error}; is it running?") from None
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise InputError(f"{url}: no answer of a chat completion; see the address") from None
    if not isinstance(answer, str):
        raise InputError(f"{url}: the model answered without words")
    return answer


def latest_iteration_quality(
    root: str | Path = ".", loop_id: str | None = None, environment: Mapping[str, str] = os.environ
) -> Callable[[], QualityState | None]:
    """Return a function that reads the latest iteration of a loop at each call; it returns None if there is no loop.

    `loop_id` None is the one in the environment, or else the current one. The function raises RecordError if the record
    is damaged.
    """

    def state() -> QualityState | None:
        try:
            summary = summary_at(find_loop(Path(root), loop_id, environment))
        except LoopError:
            return None
        critical = [each for each in summary.alerts if each["severity"] == Severity.CRITICAL.name]
        return QualityState(summary.classification, tuple(f"{each['id']}: {each['message']}" for each in critical))

    return state
