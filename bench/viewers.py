"""Viewers of `serve` as threads: each has the cookie, and asks for a page again and again or follows its events."""

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
_ANSWERS_S = 60


def _connection(host: str) -> http.client.HTTPConnection:
    """Connect to this machine: not every resolver knows that a name below `localhost` is it."""
    return http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]), timeout=_ANSWERS_S)


class Site(NamedTuple):
    """A server that runs, and the cookie of its user."""

    host: str
    cookie: str

    def seconds(self, path: str) -> float:
        """Return how long a page takes, as a browser asks for it. Raises OSError if it is refused."""
        connection = _connection(self.host)
        began = time.perf_counter()
        connection.request("GET", path, headers={"Host": self.host, "Cookie": self.cookie, "Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        answer.read()
        taken = time.perf_counter() - began
        connection.close()
        if answer.status != 200:
            raise OSError(f"{path}: {answer.status}")
        return taken

    def follow(self, path: str, stop: threading.Event, errors: list[str]) -> None:
        """Do as a page does: follow its events, and ask for it again whenever its version changed."""
        try:
            connection = _connection(self.host)
            connection.request("GET", f"{path}/events", headers={"Host": self.host, "Cookie": self.cookie})
            answer, version = connection.getresponse(), ""
            while not stop.is_set() and (line := answer.readline()):
                if line.startswith(b"data: ") and (now := json.loads(line[6:])["version"]) != version:
                    version = now
                    self.seconds(path)
        except OSError as error:
            errors.append(str(error))

    def at_once(self, path: str, viewers: int, times: int) -> tuple[list[float], list[str]]:
        """Return how long so many viewers wait for a page, each so many times, and what went wrong."""
        taken: list[float] = []
        errors: list[str] = []

        def view() -> None:
            try:
                taken.extend([self.seconds(path) for _ in range(times)])
            except OSError as error:
                errors.append(str(error))

        threads = [threading.Thread(target=view) for _ in range(viewers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return taken, errors

    @contextmanager
    def followed(self, path: str, viewers: int) -> Iterator[list[str]]:
        """Let so many viewers follow a page while the body runs; yield what goes wrong."""
        stop, errors = threading.Event(), list[str]()
        threads = [threading.Thread(target=self.follow, args=(path, stop, errors), daemon=True) for _ in range(viewers)]
        for thread in threads:
            thread.start()
        try:
            yield errors
        finally:
            stop.set()


@contextmanager
def site_of(root: Path) -> Iterator[Site]:
    """Serve a project while the body runs."""
    server = subprocess.Popen([TRACKER, "serve", "--root", root], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    host, token = re.search(r"http://([^/]+)/\?token=(\S+)", server.stdout.readline()).groups()
    connection = _connection(host)
    connection.request("GET", f"/?token={token}", headers={"Host": host})
    cookie = connection.getresponse().headers["set-cookie"].partition(";")[0]
    connection.close()
    try:
        yield Site(host, cookie)
    finally:
        server.terminate()
        server.wait()


def p99(seconds: Sequence[float]) -> float:
    """Return the time that 99 of 100 do not exceed."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.99))]
