"""Rust: cargo nextest if installed, else the output of `cargo test`, and clippy.

cargo only builds the crates in the manifest, never `.aiwg`.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.regular_file import text_of
from ralph_tracker.measure.ecosystems.found import Checks, Ecosystem, program, version_of

NAME: Final = "rust"
_TIMEOUT: Final = "30m"  # it builds first
_PLAIN: Final = {"CARGO_TERM_COLOR": "never"}
_REPORT: Final = "{reports}/nextest.xml"
# A tool configuration has lower priority than the project's own, and lies outside its tree.
_SETTINGS: Final = "{reports}/nextest.toml"
_NEXTEST: Final = (
    f"printf '[profile.default.junit]\\npath = \"%s\"\\n' {_REPORT} > {_SETTINGS} && "
    f"cargo nextest run --no-fail-fast --tool-config-file ralph-tracker:{_SETTINGS}"
)


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Rust project can be measured, None if it is not one."""
    if not (root / "Cargo.toml").is_file():
        return None
    version = version_of(("cargo",), root, environment) if program("cargo", environment) else None
    if version is None:
        return Ecosystem(NAME, notes=(f"no cargo found for {root}; install Rust, and have cargo on PATH",))
    calls = {name: ("cargo", name) for name in ("nextest", "clippy")}
    # rustup's proxies are on PATH even if the tool is not installed
    tools = {name: call for name, call in calls.items() if version_of(call, root, environment) is not None}
    notes = ["coverage is not measured: add a check whose report is LCOV, as cargo llvm-cov writes it"]
    if "clippy" not in tools:
        notes.append("clippy not found: rustup component add clippy")
    return Ecosystem(NAME, ("cargo",), version, tools, _checks(root, tools), tuple(notes))


def _checks(root: Path, tools: Mapping[str, Any]) -> Checks:
    text = {"reports": ["-"], "format": "libtest-text", "env": dict(_PLAIN), "timeout": _TIMEOUT}
    # the binary of a test is printed on standard error; a root package alone would be tested without its members
    whole = " --workspace" if _is_workspace(root) else ""
    checks: Checks = {"tests": {"run": f"cargo test{whole} --no-fail-fast 2>&1", **text}}
    if "nextest" in tools:
        checks["tests"] = {"run": _NEXTEST + whole, "reports": [_REPORT], "format": "junit", "timeout": _TIMEOUT}
        if whole or (root / "src" / "lib.rs").is_file():
            # nextest does not run doctests
            doctests = {**text, "reports": ["-"], "kind": "tests", "needs": ["tests"]}
            checks["doctests"] = {"run": f"cargo test{whole} --doc --no-fail-fast 2>&1", **doctests}
    if "clippy" in tools:
        run = ["cargo", "clippy", *whole.split(), "--message-format=json"]
        checks["lint"] = {"run": run, "reports": ["-"], "format": "cargo-json", "timeout": _TIMEOUT}
    return checks


def _is_workspace(root: Path) -> bool:
    """Return whether cargo has other members to test than its own defaults."""
    try:
        table = tomllib.loads(text_of(root / "Cargo.toml") or "").get("workspace")
    except ValueError:
        return False
    return isinstance(table, dict) and "default-members" not in table
