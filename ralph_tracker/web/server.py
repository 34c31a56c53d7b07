"""Listen on this machine alone until Ctrl-C."""

import os
import socket
from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from ralph_tracker.errors import StoreError

ADDRESS: Final = "127.0.0.1"
_PATIENCE_S: Final = 1
_YIELDING: Final = 10
_WAITING: Final = 128


def listening(port: int) -> socket.socket:
    """Return a socket on the loopback interface; 0 is any free port. Raises StoreError if the port is taken."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(_WAITING)  # who opens the address at once has to wait, not to try again
    except OSError as error:
        listener.close()
        raise StoreError(f"port {port}: {error.strerror}; take another one with --port") from None
    return listener


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests until a signal ends it; the loop's own processes come first."""
    with suppress(OSError):
        os.nice(_YIELDING)
    # Addresses hold the token: they are not logged.
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="critical",
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_PATIENCE_S,
    )
    uvicorn.Server(config).run(sockets=[listener])
