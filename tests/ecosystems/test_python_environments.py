"""The environments that tox, nox, hatch and poetry make are those that a Python project is measured in."""

import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    ".gitignore": ".aiwg/\n.tox/\n.nox/\n.venv/\n__pycache__/\n*.egg-info/\npoetry.lock\n",
    "pyproject.toml": """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "calc"
version = "1"
requires-python = ">=3.11"

[tool.hatch.envs.default]
dependencies = ["pytest", "coverage"]
path = ".venv-of-hatch"

[tool.poetry]
package-mode = false

[dependency-groups]
dev = ["pytest", "coverage"]
""",
    "src/calc/__init__.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    "tox.ini": "[tox]\nenv_list = py\n\n[testenv]\ndeps =\n    pytest\n    coverage\ncommands = pytest\n",
    "noxfile.py": "import nox\n\n\n@nox.session\ndef tests(session):\n"
    "    session.install('-e', '.', 'pytest', 'coverage')\n    session.run('pytest')\n",
}
MADE_BY = {
    "tox": (("tox.ini",), ("tox", "run", "-q"), ".tox/py/bin/python"),
    "nox": (("noxfile.py",), ("nox", "-s", "tests"), ".nox/tests/bin/python"),
    "hatch": ((), ("hatch", "env", "create"), ".venv-of-hatch/bin/python"),
    "poetry": ((), ("poetry", "install"), "poetry run python"),
}


@pytest.fixture(scope="session")
def runners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the four beside one another; skip where the package index cannot be reached."""
    folder = tmp_path_factory.mktemp("runners") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [folder / "bin/python", "-m", "pip", "install", "--quiet", *MADE_BY]
    if subprocess.run(install, capture_output=True, timeout=500, check=False).returncode:
        pytest.skip("the package index cannot be reached; tox, nox, hatch and poetry are tried where it can be")
    return folder / "bin"


@pytest.mark.parametrize("tool", MADE_BY)
def test_its_environment_is_measured_in(tool, runners, project, tmp_path):
    own, make, python = MADE_BY[tool]
    others = {name for names, _, _ in MADE_BY.values() for name in names if name not in own}
    programs = tmp_path / "beside"
    programs.mkdir()
    (programs / tool).symlink_to(runners / tool)
    made = project({name: text for name, text in FILES.items() if name not in others})
    made = type(made)(made.root, f"{programs}:{made.path}")
    done = made.run(*make)
    assert done.returncode == 0, done.stdout + done.stderr
    said = made.ours("init", "--yes")
    assert f"tests: {python} -m coverage run -m pytest" in " ".join(said.split())
    record = made.record("pre-loop")["testing"]
    assert (record["test_count"], record["tests_passed"]) == (1, 1)
    assert record["coverage_percentage"] is not None
