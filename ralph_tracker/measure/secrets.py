"""Mask the values of secret environment variables in what commands print and report."""

import json
import mmap
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

_NAMES: Final = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION)_?KEY", re.IGNORECASE
)
# A line of a value of several lines, such as a key in PEM, is masked alone too: tools print line by line.
_SHORTEST_LINE: Final = 16
_IN_XML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_ATTRIBUTES: Final = str.maketrans({'"': "&quot;", "'": "&apos;"})
_FILE: Final = 0o600


def secret_values(environment: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the values to mask, as written plainly, in XML, JSON and addresses, longest first.

    They are the values of at least 8 bytes of variables whose names say that they are secret; the path of a file that
    exists is none.
    """
    found: set[bytes] = set()
    for name, value in environment.items():
        if not _NAMES.search(name) or (value.startswith("/") and os.path.exists(value)):  # noqa: PTH110  # never raises
            continue
        parts = {value, value.strip()}
        lines = value.splitlines()
        if len(lines) > 1:
            parts |= {line for line in lines if len(line) >= _SHORTEST_LINE and "-----" not in line}
        for part in parts:
            found |= {os.fsencode(written) for written in _ways_to_write(part)}
    return tuple(sorted((each for each in found if len(each) >= 8), key=lambda each: (-len(each), each)))


def _ways_to_write(value: str) -> Iterable[str]:
    plain = value.encode("utf-8", "replace").decode()
    return (
        value,
        value.translate(_IN_XML),
        value.translate(_IN_XML).replace('"', "&quot;"),
        value.translate(_IN_XML).translate(_IN_ATTRIBUTES),
        json.dumps(plain)[1:-1],
        json.dumps(plain, ensure_ascii=False)[1:-1],
        quote(plain, safe=""),
    )


def mask_secrets(data: bytes, values: Iterable[bytes]) -> bytes:
    """Return the data with an asterisk for each byte of a secret value, so that every place in it stays the same."""
    for value in values:
        data = data.replace(value, b"*" * len(value))
    return data


def mask_file(path: Path, values: Iterable[bytes]) -> None:
    """Mask secret values in a file of ours, and make it its owner's alone. Raises OSError if the disk refuses.

    Links, what is no regular file, and files of another user are left alone; a file that has another name is replaced
    by a copy.
    """
    with suppress(FileNotFoundError, PermissionError):  # deleted meanwhile, or written by a check that ran as root
        if stat.S_ISREG(path.lstat().st_mode):
            path.chmod(_FILE)
            _mask(path, values)


def _mask(path: Path, values: Iterable[bytes]) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "r+b") as file:  # noqa: PTH123  # a descriptor, not a path
        status = os.fstat(descriptor)
        if status.st_nlink > 1:
            data = mask_secrets(file.read(), values)
            path.unlink()
            path.touch(_FILE)
            path.write_bytes(data)
        elif status.st_size:
            with mmap.mmap(descriptor, 0) as content:
                for value in values:
                    at = content.find(value)
                    while at >= 0:
                        content[at : at + len(value)] = b"*" * len(value)
                        at = content.find(value, at + len(value))


def mask_folder(folder: Path, values: Iterable[bytes]) -> None:
    """Mask secret values in all files of a folder of ours, and make it and them its owner's alone.

    Raises OSError as `mask_file` does.
    """
    values = tuple(values)
    for place, _, names in os.walk(folder):
        with suppress(FileNotFoundError, PermissionError):
            Path(place).chmod(0o700)
        for name in names:
            mask_file(Path(place, name), values)
