"""Send bytes to an HTTP server, and to no other that it names."""

import urllib.request
from collections.abc import Mapping
from typing import Final


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: it would carry the headers, and with them secrets, to another server."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirect)


def post(address: str, headers: Mapping[str, str], data: bytes, timeout_s: float) -> bytes:
    """Return the answer to bytes that are sent to an http or https address.

    Raises ValueError for another address, urllib's HTTPError for a status that is no success, else OSError or
    http.client's HTTPException.
    """
    if not address.lower().startswith(("http://", "https://")):
        raise ValueError("the address has to begin with http:// or https://")
    request = urllib.request.Request(address, data, dict(headers))  # noqa: S310  # checked
    with _OPENER.open(request, timeout=timeout_s) as answer:
        body: bytes = answer.read()
    return body
