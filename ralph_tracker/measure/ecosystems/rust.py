"""Rust: cargo nextest where it is installed, else what `cargo test` prints, and clippy.

cargo looks at the crates that the manifest names, never into `.aiwg`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.measure.ecosystems.found import Checks, Ecosystem, program, version_of

NAME: Final = "rust"
_TIMEOUT: Final = "30m"  # it builds first
_PLAIN: Final = {"CARGO_TERM_COLOR": "never"}
_REPORT: Final = "{reports}/nextest.xml"
# A configuration of a tool stands behind the project's own, and lies outside of its tree.
_SETTINGS: Final = "{reports}/nextest.toml"
_NEXTEST: Final = (
    f"printf '[profile.default.junit]\\npath = \"%s\"\\n' {_REPORT} > {_SETTINGS} && "
    f"cargo nextest run --no-fail-fast --tool-config-file ralph-tracker:{_SETTINGS}"
)


def detect(root: Path, environment: Mapping[str, str]) -> Ecosystem | None:
    """Return how a Rust project can be measured, None where it is none."""
    if not (root / "Cargo.toml").is_file():
        return None
    version = version_of(("cargo",), root, environment) if program("cargo", environment) else None
    if version is None:
        return Ecosystem(NAME, notes=(f"no cargo found for {root}; install Rust, and have cargo on PATH",))
    calls = {name: ("cargo", name) for name in ("nextest", "clippy")}
    # the proxies of a toolchain manager are on PATH whether the tool is installed or not
    tools = {name: call for name, call in calls.items() if version_of(call, root, environment) is not None}
    notes = ["coverage is not measured: add a check whose report is LCOV, as cargo llvm-cov writes it"]
    if "clippy" not in tools:
        notes.append("clippy not found: rustup component add clippy")
    return Ecosystem(NAME, ("cargo",), version, tools, _checks(root, tools), tuple(notes))


def _checks(root: Path, tools: Mapping[str, Any]) -> Checks:
    text = {"reports": ["-"], "format": "libtest-text", "env": dict(_PLAIN), "timeout": _TIMEOUT}
    # which binary a test belongs to is written to the other stream
    checks: Checks = {"tests": {"run": "cargo test --no-fail-fast 2>&1", **text}}
    if "nextest" in tools:
        checks["tests"] = {"run": _NEXTEST, "reports": [_REPORT], "format": "junit", "timeout": _TIMEOUT}
        if (root / "src" / "lib.rs").is_file():
            # nextest leaves these out
            doctests = {**text, "reports": ["-"], "kind": "tests", "needs": ["tests"]}
            checks["doctests"] = {"run": "cargo test --doc --no-fail-fast 2>&1", **doctests}
    if "clippy" in tools:
        run = ["cargo", "clippy", "--message-format=json"]
        checks["lint"] = {"run": run, "reports": ["-"], "format": "cargo-json", "timeout": _TIMEOUT}
    return checks
