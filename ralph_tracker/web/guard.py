"""Let in only who was given the token, under a name of this machine, and only to read."""

import secrets
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN: Final = "token"  # noqa: S105  # the name of the parameter
_METHODS: Final = frozenset({"GET", "HEAD"})
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_NOTHING: Final = b"default-src 'none'; frame-ancestors 'none'"


class Guard:
    """Refuse requests by Host, Origin, method and session before the application sees them.

    The token of the printed address is taken once and answered with a cookie of this port, so that it does not stay in
    the address. Every answer forbids embedding, guessing of types and other sites.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Sequence[str]) -> None:
        self._app, self._token, self._session = app, token, secrets.token_urlsafe(32)
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._cookie = f"ralph_tracker_{hosts[0].rpartition(':')[2]}"  # cookies of all ports of a host are shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # uvicorn refuses what was not accepted

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message["headers"]]
                own = dict(_HEADERS) | {b"content-security-policy": _NOTHING} | dict(given)
                message = {**message, "headers": list(own.items())}
            await send(message)

        refused = self._refused(scope)
        await (self._app if refused is None else refused)(scope, receive, answer)

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not reach the application, None for one that does."""
        headers = Headers(scope=scope)
        if [host.lower() for host in headers.getlist("host")] not in [[host] for host in self._hosts]:
            return _no(421, "this server answers only to the address that `ralph-tracker serve` printed")
        if any(origin.lower() not in self._origins for origin in headers.getlist("origin")):
            return _no(403, "requests of other sites are refused")
        if scope["method"] not in _METHODS:
            return _no(405, "read-only: only GET and HEAD are answered")
        given = parse_qsl(scope["query_string"].decode("latin-1"))
        token = next((value for name, value in given if name == TOKEN), None)
        if token is not None and _same(token, self._token):
            rest = urlencode([(name, value) for name, value in given if name != TOKEN])
            path = f"/{quote(scope['path'].lstrip('/'))}{f'?{rest}' if rest else ''}"
            welcome = RedirectResponse(path, status_code=303)
            welcome.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
            return welcome
        if not _same(_cookies(headers.get("cookie", "")).get(self._cookie, ""), self._session):
            return _no(403, "open the address with the token that `ralph-tracker serve` printed")
        return None


def _no(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=status)


def _same(given: str, expected: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}
