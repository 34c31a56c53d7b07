"""For a second try with new settings, the runner's part stays as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.runner_settings import settings_for_retry
from tests.tables import table

PYPROJECT = (
    '[project]\ndependencies = ["{needs}"]\n[tool.pytest.ini_options]\naddopts = "{options}"\n[tool.ruff]\na = 1\n'
)
CARGO = '[dependencies]\n{needs} = "1"\n[[test]]\nname = "{options}"\n'
CFG = "[options]\ninstall_requires = {needs}\n[tool:pytest]\naddopts = {options}\n"


def _package(needs, options):
    return json.dumps(
        {"dependencies": {needs: "1"}, "jest": {"a": options}, "scripts": {"build": needs, "test": options}}
    )


@table(
    ("path", "written"),
    [
        ("pyproject.toml", lambda a, b: PYPROJECT.format(needs=a, options=b)),
        ("crates/a/Cargo.toml", lambda a, b: CARGO.format(needs=a, options=b)),
        ("setup.cfg", lambda a, b: CFG.format(needs=a, options=b)),
        ("package.json", _package),
    ],
)
def test_of_a_shared_manifest_what_the_source_needs_is_taken(path, written):
    text = settings_for_retry(path, written("old", "-q"), written("new", "-k none"))
    assert "new" in text
    assert "-q" in text
    assert "old" not in text
    assert "-k none" not in text


@table(
    ("path", "earlier", "now", "taken"),
    [
        ("pytest.ini", "old", "new", "old"),
        ("pytest.ini", None, "new", None),
        ("go.mod", "old", "new", "new"),
        ("tsconfig.json", None, "new", "new"),
        ("tsconfig.json", "old", None, "old"),
        ("package.json", "{}", "no JSON", "{}"),
        ("vitest.config.ts", "old", "old\nalias: {'@': './src'}", "old\nalias: {'@': './src'}"),
        ("vitest.config.ts", "old", "old\nplugins: [forge]", "old"),
        ("vitest.config.ts", None, "export default { test: { setupFiles: ['./a'] } }", None),
    ],
)
def test_other_settings_are_taken_whole_or_not_at_all(path, earlier, now, taken):
    assert settings_for_retry(path, earlier, now) == taken


@table(
    ("path", "earlier", "now", "taken"),
    [
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\naddopts = "-q"\npythonpath = ["."]\n',
            '[project]\n[tool.pytest.ini_options]\npythonpath = [\n  "src",\n]\naddopts = "-k none"\n',
            '\n[project]\n[tool.pytest.ini_options]\naddopts = "-q"\n\n\npythonpath = [\n  "src",\n]',
        ),
        (
            "pyproject.toml",
            "",
            '[tool.pytest.ini_options]\npythonpath = "src"\nplugins = 1',
            '\n[tool.pytest.ini_options]\npythonpath = "src"',
        ),
        (
            "setup.cfg",
            "[tool:pytest]\na = 1",
            "[tool:pytest]\npythonpath =\n  src\n  lib\nb = 1",
            "\n[tool:pytest]\na = 1\npythonpath =\n  src\n  lib",
        ),
        ("pytest.ini", "[pytest]\na = 1", "[pytest]\npythonpath = src\nb = 1", "\n[pytest]\na = 1\npythonpath = src"),
    ],
)
def test_where_the_source_is_is_taken_from_the_runners_section(path, earlier, now, taken):
    assert settings_for_retry(path, earlier, now) == taken


@pytest.mark.parametrize("path", ["pyproject.toml", "package.json", "setup.cfg", "Cargo.toml", "pytest.ini", "pom.xml"])
@given(
    earlier=st.text(alphabet="[]tool.pyes{}\"':, \n", max_size=60), now=st.text(alphabet="[]tes{}\"':, \n", max_size=60)
)
def test_any_text_can_be_a_settings_file(path, earlier, now):
    assert isinstance(settings_for_retry(path, earlier, now), str)
