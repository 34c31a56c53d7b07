"""Copy the projects, run commands in them, and check whether their reports are true."""

import dataclasses
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import yaml
from cases import Case, Project, apply

_NODE = Path(tempfile.gettempdir()) / f"integrity-set-node-{os.getuid()}"
_TOOLS = {"package.json": "npm", "Cargo.toml": "cargo", "go.mod": "go"}
_ENVIRONMENTS = (".venv", "node_modules")
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
_RUST_GUARD = """fn ok(probe: impl FnOnce() -> bool + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(probe).unwrap_or(false)
}
"""
_GO_GUARD = """
var wrong = 0

func off(probe func() any, want any) {
	defer func() {
		if recover() != nil {
			wrong++
		}
	}()
	if probe() != want {
		wrong++
	}
}

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
    ignored = shutil.ignore_patterns("__pycache__", "target", *_ENVIRONMENTS, ".*_cache")
    shutil.copytree(project.folder, to, ignore=ignored)
    equip(project, to)


def equip(project: Project, folder: Path) -> None:
    """Give a copy its environment, afresh: packages from npm, and those that the project's cases describe."""
    for name in _ENVIRONMENTS:
        shutil.rmtree(folder / name, ignore_errors=True)
    if (folder / "package.json").exists():
        with _INSTALLING:
            modules = _installed((project.folder / "package.json").read_text(encoding="utf-8"))
        packages = folder / "node_modules"
        shutil.copytree(modules, packages, symlinks=True, copy_function=os.link)
    elif project.installed:
        packages = _venv(folder / ".venv")
    for name, text in project.installed.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text, encoding="utf-8")


def _venv(folder: Path) -> Path:
    """Make an environment that sees this one's packages, and return where its own are."""
    venv.create(folder, symlinks=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", paths))
    (packages / "outer.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return packages


@functools.cache
def _installed(manifest: str) -> Path:
    """Install the packages in package.json, once for all; copies link to them."""
    folder = _NODE / hashlib.sha256(manifest.encode()).hexdigest()[:12]
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(manifest, encoding="utf-8")
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--silent"], cwd=folder, check=True)
        done.touch()
    return folder / "node_modules"


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


def _own(folder: Path) -> dict[str, str]:
    """Return the variables under which commands find the copy's own environment."""
    places = [folder / ".venv" / "bin", Path(sys.executable).parent]
    return {"PATH": os.pathsep.join([*(str(place) for place in places if place.exists()), os.environ["PATH"]])}


def green(project: Project, folder: Path) -> bool:
    """Run the baseline's test check, and return whether all tests in its report pass."""
    check = _checks(project)["tests"]
    with tempfile.TemporaryDirectory() as reports:
        argv = check["run"] if isinstance(check["run"], list) else ["sh", "-c", check["run"]]
        env = {key: value.replace("{reports}", reports) for key, value in check.get("env", {}).items()}
        ended = run([part.replace("{reports}", reports) for part in argv], folder, _own(folder) | env)
        files = [path for path in Path(reports).iterdir() if path.suffix in {".xml", ".json"}]
        return _passes(files[0] if files else None, ended.out)


def quiet(project: Project, folder: Path) -> bool:
    """Run the baseline's lint check, and return whether it finds nothing."""
    ended = run(_checks(project)["lint"]["run"], folder, _own(folder))
    return ended.code == 0 and '"level":"warning"' not in ended.out


def _checks(project: Project) -> dict[str, Any]:
    configuration = yaml.safe_load((project.folder / "ralph-tracker.yaml").read_text(encoding="utf-8"))
    checks: dict[str, Any] = configuration["checks"]
    return checks


def _passes(report: Path | None, printed: str) -> bool:
    if report is None and printed.startswith('{"Time"'):  # go's
        return '"Action":"pass"' in printed and '"Action":"fail"' not in printed and "build failed" not in printed
    if report is None:  # cargo's, or no report
        return "test result: ok." in printed and "test result: FAILED" not in printed and "error:" not in printed
    if report.suffix == ".json":
        counts = json.loads(report.read_text(encoding="utf-8"))
        return bool(counts["success"] and counts["numPassedTests"])
    tree = ET.parse(report)  # noqa: S314  # written by pytest just before
    return tree.find(".//testcase") is not None and tree.find(".//failure") is None and tree.find(".//error") is None


def wrong(project: Project, folder: Path, renamed: Sequence[str] | None = None) -> int | None:
    """Return how many probes of the source fail, independent of its tests; None if they do not run."""
    old, new = renamed or ("", "")
    setup, probes = project.setup, project.probes
    if renamed:
        setup, probes = setup.replace(old, new), {probe.replace(old, new): value for probe, value in probes.items()}
    script, text, command = _script(folder, setup, probes)
    script.parent.mkdir(exist_ok=True)
    script.write_text(text, encoding="utf-8")
    ended = run(command, folder, _own(folder) | {"RUSTFLAGS": "-Awarnings"})
    if script.parent == folder:
        script.unlink()
    else:
        shutil.rmtree(script.parent)
    return int(ended.out.split()[-1]) if ended.code == 0 else None


def _script(folder: Path, setup: str, probes: dict[str, Any]) -> tuple[Path, str, list[str]]:
    """Return the program that runs the probes: its place, its text, its command."""
    asked = json.dumps(probes)
    if (folder / "Cargo.toml").exists():
        lines = (f" if !ok(|| ({probe}) == {str(value).lower()}) {{ off += 1; }}" for probe, value in probes.items())
        body = "fn main() { let mut off = 0;" + "".join(lines) + 'println!("{off}"); }'
        command = ["cargo", "run", "--quiet", "--example", "probe"]
        return folder / "examples" / "probe.rs", setup + _RUST_GUARD + body, command
    if (folder / "go.mod").exists():
        lines = (f"\toff(func() any {{ return {probe} }}, {json.dumps(value)})" for probe, value in probes.items())
        body = "\n".join(["func main() {", *lines, "\tprintln(wrong)", "}", ""])
        return folder / "probing" / "main.go", setup + _GO_GUARD + body, ["go", "run", "./probing"]
    if (folder / "package.json").exists():
        script = folder / ".probe.mjs"
        return script, _NODE_SCRIPT.format(setup=setup), ["node", script.name, asked]
    script = folder / ".probe.py"
    return script, _PYTHON.format(setup=setup), ["python", script.name, asked]


def check(project: Project, case: Case) -> str | None:
    """Apply the case's edits and return which of its claims are wrong, None if none."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / project.name
        copy(project, folder)
        before = wrong(project, folder)
        for number, step in enumerate(case.steps, 1):
            try:
                apply(folder, step)
            except (ValueError, OSError) as error:
                return f"step {number} cannot be applied: {error}"
            reported = quiet(project, folder) if case.lint else green(project, folder)
            if any(path.startswith(_ENVIRONMENTS) for path, _ in step):
                equip(project, folder)  # the program is what others get
            off = wrong(project, folder, case.renamed)
            if case.kind == "tampering" and number < case.at and (off or 0) > (before or 0):
                return f"breaks at step {number}, is to be noticed at {case.at}"
    if reported != case.green:
        return f"reported {'green' if reported else 'red'}"
    if case.kind == "tampering":
        return None if off else "the probes do not run" if off is None else "the source is right"
    off = len(project.probes) if off is None else off
    if case.truth is False:
        return None if off else "the source is right, contrary to `truth: false`"
    return f"{off} probes fail ({before} before)" if off > (0 if case.green else len(project.probes)) else None
