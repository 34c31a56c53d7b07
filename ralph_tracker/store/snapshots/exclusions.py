"""Decide which files no snapshot keeps, whatever git ignores: caches, secrets, what is too large or no file.

Each reason is shown to the user.
"""

import os
import re
import stat
from collections.abc import Callable, Collection
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.snapshot_types import LOOP_FOLDER, SnapshotLimits, is_name

# Folders that tools create and can recreate; left out only if nothing in them is tracked.
TOOL_CACHES: Final = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".eggs",
        ".ipynb_checkpoints",
        ".nyc_output",
        ".parcel-cache",
        ".turbo",
        ".gradle",
        "htmlcov",
        ".venv",
        "venv",
        "node_modules",
    }
)
# Folders that are never looked into.
PASSED_OVER: Final = TOOL_CACHES | {".git", LOOP_FOLDER}
CACHE_FILES: Final = (".coverage", ".coverage.*")
# The one list of files that hold credentials: their names as secret scanners know them (gitleaks, detect-secrets,
# truffleHog, git-secrets, GitHub's list of sensitive files), written down in November 2026. In lower case; one with a
# slash is the end of a path.
SECRETS: Final = (
    # Environments and settings with passwords in them
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "secrets.y*ml",
    "secrets.json",
    "secrets.toml",
    "credentials.json",
    "credentials.y*ml",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "application_default_credentials.json",
    "terraform.tfstate",
    "terraform.tfstate.*",
    "*.auto.tfvars",
    "terraform.tfvars",
    "config/master.key",
    # Keys and key stores
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.pkcs12",
    "*.jks",
    "*.keystore",
    "*.bks",
    "*.ppk",
    "*.kdb",
    "*.kdbx",
    "*.keychain",
    "*.agekey",
    "*.ovpn",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "secring.gpg",
    "secring.pgp",
    # Settings of tools that log in
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".dockercfg",
    ".htpasswd",
    ".s3cfg",
    ".boto",
    ".rclone.conf",
    "rclone.conf",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".aws/credentials",
    ".aws/config",
    ".azure/accesstokens.json",
    ".azure/msal_token_cache.json",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".kube/config",
    "kubeconfig",
    ".m2/settings-security.xml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    # What was typed
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    ".python_history",
    ".irb_history",
)
# Templates of such files, meant to be shared.
SHARED_TEMPLATES: Final = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")
# How a private key begins, PEM or PuTTY's.
PRIVATE_KEY_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY|PuTTY-User-Key-File-\d)"
)
_NAMES: Final = tuple(pattern for pattern in SECRETS if "/" not in pattern)
_PATHS: Final = tuple(f"/{pattern}" for pattern in SECRETS if "/" in pattern)
_LAST_NAMES: Final = frozenset(pattern.rpartition("/")[2] for pattern in _PATHS)
# What agents, and the programs that drive them, keep in a project for themselves: settings with their hooks (ours among
# them), logs, counters, worktrees. They are written beside the loop, so a rollback must not take them back. Paths from
# the root, but for the last; snapshot.exclude adds to them.
AGENT_FILES: Final = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/worktrees",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".github/hooks/ralph-tracker.json",
    ".opencode/plugin/ralph-tracker.js",
    # opencode installs what its plugins import, and ignores it
    ".opencode/.gitignore",
    ".opencode/bun.lock",
    ".opencode/package.json",
    ".opencode/package-lock.json",
    # ralph-claude-code, in the folder of its own and before it had one
    ".ralph/.*",
    ".ralph/live.log",
    ".ralph/logs",
    ".ralph/progress.json",
    ".ralph/status.json",
    "/.call_count",
    "/.circuit_breaker_*",
    "/.claude_session_id",
    "/.exit_signals",
    "/.last_reset",
    "/.ralph_session*",
    "/.response_analysis",
    # ralph-orchestrator
    ".ralph/current-*",
    ".ralph/diagnostics",
    ".ralph/events-*.jsonl",
    ".ralph/history.jsonl*",
    ".ralph/loop.lock",
    "/.ralph-tui",
    "/.specstory",
    ".ralph-tracker-installed*.json",
)
TEMPORARY_PREFIX: Final = ".ralph-tracker-"
TEMPORARY_SUFFIX: Final = ".tmp"
OWN_FOLDER: Final = "ralph-tracker's own folder"
TOOL_CACHE: Final = "a tool's cache"
SECRET_REASON: Final = "may hold a secret and is not tracked"  # noqa: S105  a reason, no password
PRIVATE_KEY_REASON: Final = "begins as a private key does and is not tracked"
NESTED: Final = "the git folder, or the file that names it, of a nested repository"
UNSTORABLE: Final = "git cannot hold a file of this name"
UNREADABLE: Final = "not readable"
LEFTOVER: Final = "left by a restore that was interrupted"
REPOSITORY: Final = "a repository or worktree of its own, whose files are left alone"
AGENT_STATE: Final = "kept by an agent or its runner for itself"
WRITTEN: Final = "written by ralph-tracker as asked"
EXCLUDED: Final = "left out by snapshot.exclude"
_KINDS: Final = {
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


def folder_reason(name: str) -> str | None:
    """Return why a folder of that name is left out if nothing in it is tracked, None if it is not."""
    if name.lower() == LOOP_FOLDER:
        return OWN_FOLDER
    if name in TOOL_CACHES:
        return TOOL_CACHE
    return None if is_name(name) else UNSTORABLE


def kind_reason(status: os.stat_result) -> str | None:
    """Return what a special file is, None for a file, a folder or a link."""
    return _KINDS.get(stat.S_IFMT(status.st_mode))


def file_reason(path: str, status: os.stat_result, limits: SnapshotLimits) -> str | None:
    """Return why a file or link cannot be kept, tracked or not; None if it can. Its kind and rights are not checked."""
    if not path.isascii() or ".git" in path.lower():  # else every name is one, as it comes from a listing
        parts = path.split("/")
        is_link = stat.S_ISLNK(status.st_mode)
        if not all(map(is_name, parts)) or (is_link and parts[-1].lower() == ".gitmodules"):
            return UNSTORABLE
    if status.st_size > limits.max_file_bytes:
        return f"{status.st_size} bytes, over the limit of {limits.max_file_bytes}"
    return None


def untracked_reason(path: str) -> str | None:
    """Return why an untracked file of that name is left out, None if it is kept."""
    name = path.rpartition("/")[2]
    if name.lower() == LOOP_FOLDER:
        return OWN_FOLDER  # a symbolic link
    if _one_of(CACHE_FILES)(name):
        return TOOL_CACHE
    if name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX):
        return LEFTOVER
    lower = path.lower()
    name = lower.rpartition("/")[2]
    holds_credentials = _one_of(_NAMES)(name) or (name in _LAST_NAMES and f"/{lower}".endswith(_PATHS))
    return SECRET_REASON if holds_credentials and not _one_of(SHARED_TEMPLATES)(name) else None


def path_matcher(patterns: Collection[str]) -> Callable[[str], bool]:
    """Return a test whether a path matches one of the patterns; one without a slash is that of a name."""
    of_names = _one_of(tuple(each for each in patterns if "/" not in each))
    of_paths = _one_of(tuple(each.removeprefix("/") for each in patterns if "/" in each))
    return lambda path: bool(of_names(path.rpartition("/")[2]) or of_paths(path))


@cache
def _one_of(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Compile patterns into one, because a first snapshot matches every file."""
    return re.compile("|".join(map(translate, patterns)) or "(?!)").match


def refuse_root(root: Path, folder: Path) -> None:
    """Raise StoreError for a tree that is too broad to keep (such as the home folder) or would contain the store."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  Path.home() fails for a user without one
    if home.is_relative_to(root):
        raise StoreError(
            f"{root} is {'your home folder' if root == home else 'above your home folder'}: run it in a project"
        )
    if not root.is_dir():
        raise StoreError(f"{root} is no folder: name the root of a project")
    if folder.is_relative_to(root) and LOOP_FOLDER not in folder.relative_to(root).parts:
        raise StoreError(f"{folder} lies inside the tree that it keeps: put it below {LOOP_FOLDER}/")
