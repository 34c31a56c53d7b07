"""Run commands that must succeed, and build our wheel and sdist, for the other tools."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def run(*command: str, cwd: Path, **more: str) -> str:
    """Run a command, print its output if it fails, and return its output."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "RALPH_"))}
    done = subprocess.run(command, cwd=cwd, env={**kept, **more}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """Build into a folder and return the wheel and the sdist."""
    command = ("-m", "build", "--sdist", "--wheel", "--no-isolation", "--outdir", str(folder))
    run(sys.executable, *command, cwd=CHECKOUT)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist below a folder and return its top."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")
