"""Copy the projects, run commands in them, and check whether their reports are true."""

import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from xml.etree import ElementTree as ET

import yaml
from cases import Case, Project, apply

_NODE = Path(tempfile.gettempdir()) / f"integrity-set-node-{os.getuid()}"
_TOOLS = {"package.json": "npm", "Cargo.toml": "cargo"}
_INSTALLING = threading.Lock()
# Each prints how many probes fail; a probe that raises fails.
_PYTHON = """import json, sys
{setup}
def off(probe, wanted):
    try: found = eval(probe, globals())
    except Exception as error: found = repr(error)
    return json.loads(json.dumps(found)) != wanted
print(sum(off(probe, wanted) for probe, wanted in json.loads(sys.argv[1]).items()))
"""
_NODE_SCRIPT = """{setup}
const off = (probe, wanted) => {{
  try {{ return JSON.stringify(eval(probe)) !== JSON.stringify(wanted) }} catch {{ return true }}
}}
console.log(Object.entries(JSON.parse(process.argv[2])).filter(([probe, wanted]) => off(probe, wanted)).length)
"""


@dataclasses.dataclass(frozen=True)
class Ended:
    code: int
    out: str
    cpu: float


def missing(project: Project) -> str | None:
    """Return the tool that a project needs and this machine lacks, None if there is none."""
    needed = (tool for mark, tool in _TOOLS.items() if (project.folder / mark).exists())
    return next((tool for tool in needed if shutil.which(tool) is None), None)


def copy(project: Project, to: Path) -> None:
    shutil.copytree(
        project.folder, to, ignore=shutil.ignore_patterns("__pycache__", "target", "node_modules", ".*_cache")
    )
    if (to / "package.json").exists():
        with _INSTALLING:
            modules = _installed((to / "package.json").read_text(encoding="utf-8"))
        shutil.copytree(modules, to / "node_modules", symlinks=True, copy_function=os.link)


@functools.cache
def _installed(manifest: str) -> Path:
    """Install the packages in package.json, once for all; copies link to them."""
    done = _NODE / "done"
    if not done.exists() or done.read_text(encoding="utf-8") != manifest:
        shutil.rmtree(_NODE, ignore_errors=True)
        _NODE.mkdir()
        (_NODE / "package.json").write_text(manifest, encoding="utf-8")
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--silent"], cwd=_NODE, check=True)
        done.write_text(manifest, encoding="utf-8")
    return _NODE / "node_modules"


def run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> Ended:
    """Run a command and measure its CPU, including its finished children."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("RALPH_", "PYTHON", "PYTEST_"))}
    clean["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=folder, env=clean | (env or {}), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return Ended(process.returncode, text, usage.ru_utime + usage.ru_stime)


def green(project: Project, folder: Path) -> bool:
    """Run the baseline's test check, and return whether all tests in its report pass."""
    configuration = yaml.safe_load((project.folder / "ralph-tracker.yaml").read_text(encoding="utf-8"))
    check = configuration["checks"]["tests"]
    with tempfile.TemporaryDirectory() as reports:
        argv = check["run"] if isinstance(check["run"], list) else ["sh", "-c", check["run"]]
        env = {key: value.replace("{reports}", reports) for key, value in check.get("env", {}).items()}
        ended = run([part.replace("{reports}", reports) for part in argv], folder, env)
        files = [path for path in Path(reports).iterdir() if path.suffix in {".xml", ".json"}]
        return _passes(files[0] if files else None, ended.out)


def _passes(report: Path | None, printed: str) -> bool:
    if report is None:  # cargo's, or no report
        return "test result: ok." in printed and "test result: FAILED" not in printed and "error:" not in printed
    if report.suffix == ".json":
        counts = json.loads(report.read_text(encoding="utf-8"))
        return bool(counts["success"] and counts["numPassedTests"])
    tree = ET.parse(report)  # noqa: S314  # written by pytest just before
    return tree.find(".//testcase") is not None and tree.find(".//failure") is None and tree.find(".//error") is None


def wrong(project: Project, folder: Path) -> int:
    """Return how many probes of the source fail, independent of its tests."""
    asked = json.dumps(project.probes)
    if (folder / "Cargo.toml").exists():
        return _wrong_rust(project, folder)
    node = (folder / "package.json").exists()
    script = (folder / f".probe.{'mjs' if node else 'py'}").resolve()
    script.write_text((_NODE_SCRIPT if node else _PYTHON).format(setup=project.setup), encoding="utf-8")
    ended = run(["node" if node else "python", str(script), asked], folder)
    script.unlink()
    return int(ended.out.split()[-1]) if ended.code == 0 else len(project.probes)


def _wrong_rust(project: Project, folder: Path) -> int:
    wanted = {probe: str(value).lower() for probe, value in project.probes.items()}
    lines = (f" if !ok(|| ({probe}) == {value}) {{ off += 1; }}" for probe, value in wanted.items())
    guard = "fn ok(probe: impl FnOnce() -> bool + std::panic::UnwindSafe) -> bool {"
    guard += "std::panic::catch_unwind(probe).unwrap_or(false) }"
    body = "fn main() { let mut off = 0;" + "".join(lines) + 'println!("{off}"); }'
    script = folder / "examples" / "probe.rs"
    script.parent.mkdir(exist_ok=True)
    script.write_text(project.setup + guard + body, encoding="utf-8")
    ended = run(["cargo", "run", "--quiet", "--example", "probe"], folder, {"RUSTFLAGS": "-Awarnings"})
    shutil.rmtree(script.parent)
    return int(ended.out.split()[-1]) if ended.code == 0 else len(project.probes)


def check(project: Project, case: Case) -> str | None:
    """Apply the case's edits and return which of its claims are wrong, None if none."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / project.name
        copy(project, folder)
        before = wrong(project, folder)
        for number, step in enumerate(case.steps, 1):
            apply(folder, step)
            reported, off = green(project, folder), wrong(project, folder)
            if case.kind == "tampering" and number < case.at and off > before:
                return f"breaks at step {number}, is to be noticed at {case.at}"
    if reported != case.green:
        return f"reported {'green' if reported else 'red'}"
    if case.kind == "tampering":
        return None if off else "the source is right"
    if case.truth is False:
        return None if off else "the source is right, contrary to `truth: false`"
    return f"{off} probes fail ({before} before)" if off > (0 if case.green else len(project.probes)) else None
