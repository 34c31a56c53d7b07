"""Read small JSON files without heavy imports, so that `loop-decision` starts fast."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import NewerSchemaError, StoreError
from ralph_tracker.store.layout import SCHEMA_VERSION
from ralph_tracker.store.safe_open import own_file

# The largest file of a loop is that of all tests ever seen: 100 MB would be a million of them.
MAX_BYTES: Final = 256 << 20


def read_json(path: Path) -> Any:  # noqa: ANN401  # any document
    """Return the document in a file, None if it is missing or damaged.

    Raises StoreError for an OSError, after which the file may still be intact; NewerSchemaError as `refuse_newer`.
    """
    data = read_bytes(path)
    return None if data is None else refuse_newer(parsed_json(data), str(path))


def read_lines(path: Path) -> list[Any]:
    """Return the documents in a file of JSON lines, None for a damaged one; a torn last line is dropped.

    Raises StoreError and NewerSchemaError as `read_json` does.
    """
    data = read_bytes(path) or b""
    return [refuse_newer(parsed_json(line), str(path)) for line in data.split(b"\n")[:-1] if line]


def read_bytes(path: Path | str) -> bytes | None:
    """Return the content of a file of a loop, None if it is missing.

    Raises StoreError for an OSError, and for a link, a pipe, a device or more than 256 MiB in its place.
    """
    try:
        data = _read(os.fspath(path))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); fix that and try again") from None
    if len(data) > MAX_BYTES:
        raise StoreError(f"{path}: larger than {MAX_BYTES >> 20} MiB, which no file of a loop is; move it away")
    return data


def _read(path: str) -> bytes:
    """Return at most one byte too many; a file object would cost more than most files of ours take to read."""
    descriptor = own_file(path, os.O_RDONLY)
    try:
        size = min(os.fstat(descriptor).st_size, MAX_BYTES) + 1
        data = os.read(descriptor, size)
        while len(data) < size and (more := os.read(descriptor, size - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)


def refuse_newer(plain: Any, name: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the document unchanged. Raises NewerSchemaError if a newer version wrote it."""
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{name}: written by a newer ralph-tracker (schema {version}, this one reads up to {SCHEMA_VERSION}); "
            "upgrade ralph-tracker"
        )
    return plain


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


def parsed_json(data: bytes) -> Any:  # noqa: ANN401  # any document
    """Return the document, None if it is damaged."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
