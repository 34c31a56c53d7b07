"""Read, append to and write the JSON documents of a loop; one that a newer version wrote is refused."""

import io
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ralph_tracker.errors import NewerSchemaError
from ralph_tracker.safe_files import read_own_file, sync_folder
from ralph_tracker.store.layout import SCHEMA_VERSION


def read_json(path: Path) -> Any:  # noqa: ANN401  # any document
    """Return the document in a file, None if it is missing or damaged.

    Raises StoreError for an OSError, after which the file may still be intact; NewerSchemaError as `refuse_newer`.
    """
    data = read_own_file(path)
    return None if data is None else refuse_newer(parsed_json(data), str(path))


def read_lines(path: Path) -> list[Any]:
    """Return the documents in a file of JSON lines, None for a damaged one; a torn last line is dropped.

    Raises StoreError and NewerSchemaError as `read_json` does.
    """
    data = read_own_file(path) or b""
    return [refuse_newer(parsed_json(line), str(path)) for line in data.split(b"\n")[:-1] if line]


def append_line(path: Path, document: Mapping[str, Any], *, durable: bool = True) -> None:
    """Append one line of JSON, and sync it if it must be `durable`; a torn last line left by a crash is cut off first.

    If the disk refuses, the file stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o666), "a+b", buffering=0) as file:  # noqa: PTH123  # a descriptor, not a path
        end = _cut_torn_line(file)
        try:
            rest = memoryview(to_json(document) + b"\n")
            while rest:
                rest = rest[file.write(rest) :]
            if durable:
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(end)
            raise
    if not end and durable:
        sync_folder(path.parent)  # the file may be new


def _cut_torn_line(file: io.FileIO) -> int:
    """Cut off what follows the last whole line, and return the length of the file."""
    end = file.seek(0, os.SEEK_END)
    if not end:
        return 0
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return end
    file.seek(0)
    return file.truncate(file.readall().rfind(b"\n") + 1)


def refuse_newer(plain: Any, name: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the document unchanged. Raises NewerSchemaError if a newer version wrote it."""
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{name}: written by a newer ralph-tracker (schema {version}, this one reads up to {SCHEMA_VERSION}); "
            "upgrade ralph-tracker"
        )
    return plain


def parsed_json(data: bytes) -> Any:  # noqa: ANN401  # any document
    """Return the document, None if it is damaged."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


def parsed_quickly(data: bytes | None) -> Any:  # noqa: ANN401  # any document
    """Return what `parsed_json` does, three times as fast where msgspec is loaded; None for None.

    Its import takes as long as reading a thousand documents: only modules that read as many import it.
    """
    if data is None:
        return None
    msgspec: Any = sys.modules.get("msgspec")
    if msgspec is None:
        return parsed_json(data)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return parsed_json(data)  # lone surrogates are valid for us


def to_json(document: Any) -> bytes:  # noqa: ANN401  # any plain document
    """Return a document as one line of UTF-8 JSON; lone surrogates are escaped."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
