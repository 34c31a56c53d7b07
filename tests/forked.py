"""Call something in a fork of the test's process: what it gives up or changes there ends with it."""

import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def forked(act: Callable[[], Any], environment: Mapping[str, str], folder: Path) -> Any:
    """Return what a function returns in a fork of this process; raise what it raised there."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(folder)
            try:
                answer: tuple[Any, Exception | None] = act(), None
            except Exception as error:
                answer = None, RuntimeError(f"{type(error).__name__}: {error}")
            with open(writer, "wb") as pipe:  # noqa: PTH123  # a descriptor
                pipe.write(pickle.dumps(answer))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:  # noqa: PTH123  # a descriptor
        told = pipe.read()
    os.waitpid(child, 0)
    assert told, "the fork has died"
    value, error = pickle.loads(told)
    if error is not None:
        raise error
    return value
