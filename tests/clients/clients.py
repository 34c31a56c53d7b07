"""The four coding agents that people use, from the npm registry: how each is driven with nothing but the loopback."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.clients.messages import MESSAGES, Protocol
from tests.clients.protocols import CHAT, GEMINI, RESPONSES

NOWHERE = "http://127.0.0.1:9"
_CODEX_SETTINGS = """\
model_provider = "stand-in"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.stand-in]
name = "stand-in"
base_url = "{url}/v1"
env_key = "STAND_IN_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[features]
plugins = false
"""
_GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 1},
    "privacy": {"usageStatisticsEnabled": False},
}
OPENCODE_PRICE = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 0}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _no_settings(_home: Path, _url: str) -> None:
    pass


def _codex_settings(home: Path, url: str) -> None:
    _write(home / ".codex" / "config.toml", _CODEX_SETTINGS.format(url=url))


def _gemini_settings(home: Path, _url: str) -> None:
    _write(home / ".gemini" / "settings.json", json.dumps(_GEMINI_SETTINGS))


def _opencode_settings(home: Path, url: str) -> None:
    _write(home / ".npmrc", f"registry={url}/npm/\nfetch-retries=0\n")  # else it waits for a package of its own
    model = {"name": "m", "tool_call": True, "limit": {"context": 100_000, "output": 8_000}, "cost": OPENCODE_PRICE}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stand-in",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
        "models": {"m": model},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # thirty calls of git a step, for an undo of its own
        "formatter": False,
        "lsp": False,
        "model": "stand-in/m",
        "small_model": "stand-in/m",
        "enabled_providers": ["stand-in"],
        "provider": {"stand-in": provider},
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
    }
    _write(home / ".config" / "opencode" / "opencode.json", json.dumps(settings))


@dataclass(frozen=True)
class Client:
    """A client: its package, the protocol of its service, and what it needs around it.

    `key` is the variable of its key, `address` that of its service's address, "" if `settings(home, url)` write it.
    `own` are the words of a user to `run --backend`.
    """

    name: str
    package: str
    version: str
    program: str
    protocol: Protocol
    key: str
    address: str = ""
    more: dict[str, str] = field(default_factory=dict)
    settings: Callable[[Path, str], None] = _no_settings
    own: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Return the folder in which it is installed."""
        return Path(sys.prefix) / "clients" / f"{self.name}-{self.version}"

    @property
    def variable(self) -> str:
        """Return the variable that names another version."""
        return "RALPH_TRACKER_" + {"gemini": "GEMINI_CLI"}.get(self.name, self.name.upper().replace("-", "_"))

    def environment(self, url: str) -> dict[str, str]:
        """Return what it needs in the environment to ask the stand-in at `url`."""
        return {self.key: "sk-fake", **({self.address: url} if self.address else {}), **self.more}

    def installed(self) -> Path:
        """Return its program, installed once beside the tests' environment; skip where that cannot be."""
        folder = self.folder
        program = folder / "node_modules" / ".bin" / self.program
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._answers(program):
                self._install(folder)
        if not self._answers(program):
            pytest.skip(f"{self.name} {self.version} does not start on this machine")
        return program

    def _install(self, folder: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip(f"npm is not installed; {self.name} is driven where it is")
        words = ["install", "--no-audit", "--no-fund", "--loglevel=error", f"{self.package}@{self.version}"]
        done = subprocess.run([npm, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            pytest.skip(f"npm does not install {self.name} {self.version}: {done.stderr.strip()[:200]}")

    def _answers(self, program: Path) -> bool:
        if not program.exists():
            return False
        environment = {"PATH": os.environ["PATH"], "HOME": str(program.parents[2]), **self.environment(NOWHERE)}
        words = [program, "--version"]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode == 0 and self.version in done.stdout


CLAUDE = Client(
    name="claude-code",
    package="@anthropic-ai/claude-code",
    version=os.environ.get("RALPH_TRACKER_CLAUDE_CODE", "2.1.197"),
    program="claude",
    protocol=MESSAGES,
    key="ANTHROPIC_API_KEY",
    address="ANTHROPIC_BASE_URL",
    more={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"},
    # The model by name: what a version asks by default, and so its price, changes with the newest.
    own=("--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5"),
)
CODEX = Client(
    name="codex",
    package="@openai/codex",
    version=os.environ.get("RALPH_TRACKER_CODEX", "0.169.0"),
    program="codex",
    protocol=RESPONSES,
    key="STAND_IN_KEY",
    settings=_codex_settings,
    own=("--model", "gpt-5-codex"),
)
GEMINI_CLI = Client(
    name="gemini",
    package="@google/gemini-cli",
    version=os.environ.get("RALPH_TRACKER_GEMINI_CLI", "0.61.0"),
    program="gemini",
    protocol=GEMINI,
    key="GEMINI_API_KEY",
    address="GOOGLE_GEMINI_BASE_URL",
    more={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
    settings=_gemini_settings,
    own=("--model", "gemini-2.5-flash"),
)
OPENCODE = Client(
    name="opencode",
    package="opencode-ai",
    version=os.environ.get("RALPH_TRACKER_OPENCODE", "1.18.33"),
    program="opencode",
    protocol=CHAT,
    key="STAND_IN_KEY",
    more={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
    settings=_opencode_settings,
)
COPILOT = Client(
    name="copilot",
    package="@github/copilot",
    version=os.environ.get("RALPH_TRACKER_COPILOT", "1.0.102"),
    program="copilot",
    protocol=CHAT,
    key="COPILOT_PROVIDER_API_KEY",
    address="COPILOT_PROVIDER_BASE_URL",
    more={
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "gpt-5-codex",
        "COPILOT_ALLOW_ALL": "true",
        "COPILOT_AUTO_UPDATE": "false",
    },
)


@cache
def program_of(name: str) -> Path:
    """Return the program of a client by its backend's name, looked at once in a process."""
    return CLIENTS.get(name, COPILOT).installed()


CLIENTS = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI_CLI, "opencode": OPENCODE}

ALL = (*CLIENTS.values(), COPILOT)


def newest(client: Client) -> str:
    """Return the newest version that the registry has, the pinned one where it does not say."""
    words = ["npm", "view", client.package, "version"]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    return client.version


if __name__ == "__main__" and "newest" in sys.argv:  # as variables, of those that have a newer one than the pinned
    found = {client.variable: version for client in ALL if (version := newest(client)) != client.version}
    sys.stdout.write(" ".join(f"{variable}={version}" for variable, version in found.items()))
elif __name__ == "__main__":  # install them all, before a test asks for one
    for client in ALL:
        with suppress(pytest.skip.Exception):
            client.installed()
