"""How git is run on a store of ours: its variables, and the options for what a verb is to do."""

from pathlib import Path
from typing import Final

# Options for a patch whose paths a person reads: letters that are not English stand as they are.
PLAIN_PATHS: Final = ("-c", "core.quotePath=false")
# Options for what comes last, the commit and its name.
DURABLE: Final = ("-c", "core.fsyncMethod=fsync")
# Options for many new files: content goes into one pack, a tenth of the cost of as many files.
BULK: Final = ("-c", "core.bigFileThreshold=1")
# Options for very many: a pack stays one, however small.
AHEAD: Final = ("-c", "fastimport.unpackLimit=0")
# glibc gives the memory of each content back, and the system clears it for the next one: half of the time it takes.
_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_TOP_PAD_": str(4 << 20)}


def private_environment(folder: Path, root: Path | None) -> dict[str, str]:
    """Return all git variables with which a store is worked on; without a root there is no working tree."""
    environment = {
        "GIT_DIR": str(folder),
        "GIT_INDEX_FILE": str(folder / "index"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **_MEMORY,
    }
    if root:
        environment["GIT_WORK_TREE"] = str(root)
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "ralph-tracker", f"GIT_{role}_EMAIL": "ralph-tracker@localhost"}
    return environment


def one_pack(folder: Path) -> Path:
    """Return the mark of a store whose git puts many new files into one pack; asking git itself costs a process."""
    return folder / "info" / "one-pack"
