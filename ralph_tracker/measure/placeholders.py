"""`{reports}` in a command, its environment and its report paths."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

PLACEHOLDER: Final = "{reports}"
_PIECES: Final = re.compile(re.escape(PLACEHOLDER) + "|.", re.DOTALL)


def filled(text: str, folder: str) -> str:
    """Put the folder's path in place of `{reports}`, as it is."""
    return text.replace(PLACEHOLDER, folder)


def filled_run(run: str | Sequence[str], folder: str) -> str | list[str]:
    """Put the folder's path into a command: as it is into argv, quoted as its place needs into a shell's line."""
    return _filled_shell(run, folder) if isinstance(run, str) else [filled(word, folder) for word in run]


def _filled_shell(command: str, folder: str) -> str:
    """Follow the shell's quotes, so that a blank in the path does not split a word, in quotes or out of them."""
    quote, escaped, done = "", False, []
    for piece in _PIECES.findall(command):
        if piece == PLACEHOLDER:
            done.append(_quoted(folder, quote))
            escaped = False
            continue
        done.append(piece)
        if escaped:
            escaped = False
        elif piece == "\\" and quote != "'":
            escaped = True
        elif piece == quote:
            quote = ""
        elif piece in {"'", '"'} and not quote:
            quote = piece
    return "".join(done)


def _quoted(folder: str, quote: str) -> str:
    if quote == "'":
        return folder.replace("'", "'\\''")
    if quote == '"':
        return re.sub(r'([\\$"`])', r"\\\1", folder)
    return shlex.quote(folder)
