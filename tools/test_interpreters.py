"""Install the wheel with every supported interpreter on PATH, and test the demo, the core and the command line."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from building import built, run, unpacked

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SMOKE = ("tests/core", "tests/cli/test_listing.py", "tests/cli/test_shell.py", "tests/cli/test_upgrade.py")


def interpreter(version: str) -> str | None:
    """Return the interpreter of that version, None if PATH has none that runs: a shim may lead nowhere."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    asked = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([found, "-c", asked], capture_output=True, text=True, check=False)
    return found if done.stdout.strip() == version else None


def attempt(python: str, wheel: Path, tests: Path, folder: Path) -> str:
    """Install and test with one interpreter; return the last line of pytest."""
    run(python, "-m", "venv", str(folder), cwd=tests)
    own = str(folder / "bin" / "python")
    pip = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "pip>=25.1", cwd=tests)
    run(*pip, str(wheel), "--group", "test", cwd=tests)
    run(str(folder / "bin" / "ralph-tracker"), "demo", "--no-keep", cwd=tests)
    printed = run(own, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", *SMOKE, cwd=tests)
    return printed.strip().splitlines()[-1]


def main() -> None:
    """Test every interpreter; exit with a message at the first that fails, or if there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel, sdist = built(folder / "built")
        tests = unpacked(sdist, folder)
        shutil.rmtree(tests / "ralph_tracker")  # test the installed package
        tried = 0
        for version in VERSIONS:
            python = interpreter(version)
            if python is None:
                print(f"Python {version}: none on PATH that runs, skipped")
                continue
            print(f"Python {version}: {attempt(python, wheel, tests, folder / version)}", flush=True)
            tried += 1
        if not tried:
            sys.exit(f"none of Python {', '.join(VERSIONS)} is on PATH")


if __name__ == "__main__":
    main()
