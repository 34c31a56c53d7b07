"""Ask other checkers the same question: each judges the diff of two commits of a git repository made for it."""

import json
import os
import resource
import subprocess
import tempfile
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judge import Judged, Seen
from trees import Tree

from ralph_tracker.core.findings import Severity

_LIMIT_S: Final = 120
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "warn": Severity.MEDIUM,
    "medium": Severity.MEDIUM,
    "low": Severity.MEDIUM,
    "info": Severity.MEDIUM,
}
# Which of our rows a kind of theirs may stand for, as widely as their own words allow.
CHECKWASH: Final[Mapping[str, str]] = {
    "EXEMPTION_ADDED": "G1",
    "GUARDRAIL_TOUCHED": "G1 G2 T3 T9 T2",
    "HIDDEN_UNICODE": "",
    "TEST_FILE_UNPARSEABLE": "T1 T9",
    "ASSERT_REMOVED": "T5 T4 T8 T1",
    "ASSERT_SUBSTITUTED": "T4 T5 T6 T7 T10",
    "ASSERT_WEAKENED": "T4 T6 T10 T8",
    "TEST_DISABLED": "T1 T2 T3 T8 T9",
    "CONFTEST_PATCHES_PROD": "T9 T10",
    "TEST_PATCHES_SUBJECT": "T10",
    "TOLERANCE_LOOSENED": "T6",
    "EXPECTED_VALUE_HARDCODED": "T7 T12",
    "EXPECTED_VALUE_CHANGED": "T6 T7 T10",
    "EXPECTED_VALUE_DERIVED": "T4 T7 T10",
    "EXPECTATION_DEFINITION_CHANGED": "T7",
    "SUBJECT_NORMALIZED": "T6",
    "SUBJECT_INPUT_CHANGED": "T6 T7",
    "SNAPSHOT_CODE_COCHANGE": "T7",
    "CI_WORKFLOW_TOUCHED": "G1 G2",
    "BROAD_EXCEPT_ADDED": "T8",
    "SUPPRESSION_ADDED": "S1 S2 S3",
    "IMPORT_UNRESOLVED": "",
    "SCOPE_DRIFT": "",
}
TAMPERCHECK: Final[Mapping[str, str]] = {
    "test-deleted": "T1",
    "test-focused": "T3",
    "unconditional-success": "T4 T8 T9 G2",
    "test-skipped": "T2",
    "test-filtered": "T3",
    "assertion-weakened": "T1 T4 T5 T6 T8",
    "swallowed-error": "T8",
    "placeholder": "",
}
TESTSEAL: Final[Mapping[str, str]] = {
    "TS001": "T1 T4 T5 T8",
    "TS002": "T2 T3 T8",
    "TS003": "T4 T6 T10",
    "TS004": "T6",
    "TS005": "T8",
    "TS006": "T7",
    "TS007": "T10",
    "TS008": "T7 T12",
}


@dataclass(frozen=True, slots=True)
class Peer:
    """Describe a checker: its pinned version, its command over the commits `base` and `head`, and how it answers."""

    name: str
    version: str
    command: tuple[str, ...]
    rows: Mapping[str, str]
    kind: str


PEERS: Final = (
    Peer("checkwash", "0.9.0", ("check", "base..head", "--format", "json"), CHECKWASH, "rule"),
    Peer("tampercheck", "0.1.1", ("--from", "base", "--to", "head", "--json"), TAMPERCHECK, "kind"),
    Peer("testseal", "1.0.1", ("scan", "--base", "base", "--head", "head", "--format", "json"), TESTSEAL, "rule_id"),
)


def installed(folder: Path) -> Path:
    """Install the pinned versions into an environment of their own, and return its folder of commands."""
    commands = folder / "bin"
    wanted = [f"{peer.name}=={peer.version}" for peer in PEERS]
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8").split() != wanted:
        venv.create(folder, with_pip=True)
        pip = [str(commands / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
        subprocess.run(pip, check=True)
        stamp.write_text("\n".join(wanted), encoding="utf-8")
    return commands


class Repository:
    """Be a git repository whose commits `base` and `head` are made anew for each change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git("init", "--quiet", "--initial-branch", "head")

    def lay(self, old: Tree, new: Tree) -> None:
        """Commit the two trees."""
        stream = b"".join((*_commit("base", 1, old), *_commit("head", 2, new)))
        self._git("fast-import", "--quiet", "--force", given=stream)
        self._git("reset", "--quiet", "--hard", "head")

    def _git(self, *words: str, given: bytes | None = None) -> None:
        subprocess.run(["git", "-C", str(self.folder), *words], input=given, check=True, capture_output=True)


def _commit(branch: str, mark: int, tree: Tree) -> Iterable[bytes]:
    head = f"commit refs/heads/{branch}\nmark :{mark}\ncommitter a <a@example.invalid> {mark} +0000"
    yield f"{head}\ndata 1\n{mark}\n".encode()
    yield b"from :1\ndeleteall\n" if mark > 1 else b"deleteall\n"
    for path, data in tree.items():
        yield f"M 100644 inline {json.dumps(path)}\ndata {len(data)}\n".encode()
        yield data + b"\n"


def asked(peer: Peer, commands: Path, repository: Repository) -> Judged:
    """Return what a peer finds of the change that the repository holds; its CPU includes its start, and git's."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT_"))}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [str(commands / peer.name), *peer.command],
            cwd=repository.folder,
            env=environment,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Judged((), "PASS", float(_LIMIT_S), "no answer in time")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return Judged((), "PASS", cpu, done.stderr.decode("utf-8", "replace")[-200:] or "no JSON")
    seen = tuple(_seen(peer, each) for each in document.get("findings", ()))
    return Judged(seen, _verdict(peer, document, seen), cpu)


def _seen(peer: Peer, entry: Mapping[str, Any]) -> Seen:
    kind = str(entry.get(peer.kind))
    told = {key: value for key, value in entry.items() if key not in {"line", "end_line", "column", "fingerprint"}}
    told = {key: _without_spans(value) for key, value in told.items()}
    rules = frozenset(peer.rows.get(kind, "").split())
    severity = _SEVERITIES.get(str(entry.get("severity")), Severity.MEDIUM)
    return Seen(rules, severity, str(entry.get("path")), json.dumps(told, sort_keys=True), kind)


def _without_spans(value: Any) -> Any:
    return value.get("text") if isinstance(value, dict) else value


def _verdict(peer: Peer, document: Mapping[str, Any], seen: Iterable[Seen]) -> str:
    """Return its verdict in our words: critical is TAMPERED, high is SUSPECT; checkwash says itself what it stops."""
    severities = {each.severity for each in seen}
    if peer.name == "checkwash" and document.get("verdict") == "block":
        return "TAMPERED"
    if Severity.CRITICAL in severities:
        return "TAMPERED"
    return "SUSPECT" if Severity.HIGH in severities else "PASS"


def repository() -> tuple[tempfile.TemporaryDirectory[str], Repository]:
    """Make an empty repository in a folder that goes with the first of the two."""
    folder = tempfile.TemporaryDirectory(prefix="ralph-tracker-bench-")
    return folder, Repository(Path(folder.name))
