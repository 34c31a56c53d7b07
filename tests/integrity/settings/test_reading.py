"""Every kind of file says the same under the same keys; what cannot be read is refused with a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.settings.commands import commands_in
from ralph_tracker.integrity.settings.files import is_settings, settings_of
from ralph_tracker.integrity.settings.literals import literals_of
from ralph_tracker.integrity.settings.targets import holds_targets, targets_of
from ralph_tracker.integrity.settings.values import MAX_SETTINGS, flat, lines, shell_words, shown, words
from ralph_tracker.integrity.settings.yaml_text import MAX_CHARACTERS, yaml_values
from ralph_tracker.integrity.source_tests import Unparsable

NAMES = st.text("abcdefgh-_", min_size=1, max_size=8)
PLAIN = st.one_of(st.booleans(), st.integers(0, 9999), st.text("abc /.,:{}[]'\"\\#é", max_size=12))
DOCUMENTS = st.dictionaries(
    NAMES, st.recursive(PLAIN, lambda inner: st.dictionaries(NAMES, inner, max_size=3)), max_size=4
)


@pytest.mark.parametrize(
    ("path", "text", "key", "value"),
    [
        ("pyproject.toml", "tool.mypy.strict = true", "mypy.strict", True),
        ("pyproject.toml", "[tool.ruff]\nselect = ['E']", "ruff.select", ("E",)),
        ("pyproject.toml", "[tool.ruff.lint]\nextend-select = ['B']", "ruff.select", ("E4", "E7", "E9", "F", "B")),
        ("pyproject.toml", "[tool.ruff.lint]\nextend-ignore = ['B']\nignore = ['E']", "ruff.ignore", ("E", "B")),
        ("pyproject.toml", "[tool.pylint.'messages control']\ndisable = 'a,b'", "pylint.disable", "a,b"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-Werror'", "pytest.filterwarnings", ("error",)),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-W error'", "pytest.filterwarnings", ("error",)),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--cov-branch'", "coverage.run.branch", True),
        ("pyproject.toml", "[[tool.mypy.overrides]]\nmodule = ['a']\nstrict = false", "mypy[a].strict", False),
        ("ruff.toml", "[lint]\nselect = ['E']", "ruff.select", ("E",)),
        ("setup.cfg", "[mypy-a.b]\nignore_errors = True", "mypy[a.b].ignore_errors", "True"),
        ("tox.ini", "[flake8]\nmax_complexity = 9", "flake8.max-complexity", "9"),
        ("setup.cfg", "[pylint.messages]\ndisable = a", "pylint.disable", "a"),
        ("setup.cfg", "[coverage:run]\nbranch = 1", "coverage.run.branch", "1"),
        (".coveragerc", "[run]\nomit =\n  a\n  b", "coverage.run.omit", "\na\nb"),
        (
            "package.json",
            '{"jest": {"coverageThreshold": {"global": {"lines": 9.5}}}}',
            "jest.coverageThreshold.global.lines",
            9.5,
        ),
        (
            "jest.config.js",
            "module.exports = {roots: ['a', /* no */ 'b',], x: () => { return {y: 1} }}",
            "jest.roots",
            ("a", "b"),
        ),
        ("jest.config.ts", "const c: Config = { bail: -1 };", "jest.bail", -1),
        (
            "vite.config.ts",
            "export default defineConfig({ plugins: [a()], test: { include: [`x`] } })",
            "vitest.include",
            "x",
        ),
        (".eslintrc.yaml", "rules:\n  a: [error, {b: 1}]\n", "eslint.rules.a", ("error",)),
        (
            "tsconfig.base.json",
            '{"compilerOptions": {"strict": true, /* , */},}',
            "tsconfig.compilerOptions.strict",
            True,
        ),
        ("jest.config.js", "x = { a: { 'b-c': \"it\\'s\" } }", "jest.a.b-c", "it's"),
        ("jest.config.js", "x = { a: f('b') }", "jest.a", ()),
        ("jest.config.js", "x = { a: null, b: c ? 1 : 2 }", "jest.a", ()),
    ],
)
def test_a_setting_is_read_under_its_key(path, text, key, value):
    assert settings_of(path, text)[key] == value
    assert settings_of(f"deep/er/{path}", text)[key] == value


@pytest.mark.parametrize("path", ["a.toml", "setup.py", "README.md", "jest.js", "my-package.json", "conftest.txt"])
def test_other_files_hold_no_settings(path):
    assert not is_settings(path)
    assert settings_of(path, "[x") == {}
    assert not holds_targets(path)
    assert targets_of(path, "test:\n\tpytest\n") == {}


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("pyproject.toml", "[tool", "Expected"),
        ("setup.cfg", "x", "no section headers"),
        (".eslintrc.yml", "a: [", "not readable as YAML"),
        (".eslintrc.yml", "[" * 80 + "]" * 80, "nested deeper than 60 levels"),
        (".eslintrc.yml", "#" * (MAX_CHARACTERS + 1), "larger than 500 kB of YAML"),
        ("conftest.py", "collect_ignore = [", "was never closed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(path, text, reason):
    with pytest.raises(Unparsable, match=reason):
        settings_of(path, text)


def test_commands_of_a_broken_file_are_refused_with_a_reason():
    with pytest.raises(Unparsable):
        targets_of("pyproject.toml", "[tool")


@pytest.mark.parametrize(
    "text",
    [
        "tool = 1",
        "tool.mypy.overrides = 3",
        "[[tool.mypy.overrides]]\nmodule = 3",
        "tool.tox = 1",
        "tool.tox.env = 3",
        "[tool.tox.env]\na = 1",
        "[tool.tox.env.a]\ncommands = 'x'",
        "tool.mypy.overrides = [1]",
        "lints = []",
    ],
)
def test_settings_of_unexpected_types_are_passed_over(text):
    assert all(not key.startswith("mypy[") for key in settings_of("pyproject.toml", text))
    assert targets_of("pyproject.toml", text) == {}


def test_aliases_that_expand_without_end_are_cut_off():
    for text in ("&a [*a, *a]", "a: &a {b: *a, c: 1}", "&a [x, " + "*a, " * 500 + "]"):
        assert len(flat(yaml_values(text))) <= MAX_SETTINGS


def test_yaml_values_are_plain():
    text = "on: [push]\n? [a]\n: 1\nyes: no\nt: true\nn: null\nq: 'true'\nd: 2026-01-01\n"
    text += "w: &w no\nx: &x {a: 1}\ny: {<<: [*x, 3], b: *w}\n"
    document = yaml_values(text)
    assert document["on"] == ["push"]
    assert (document["yes"], document["t"], document["n"], document["q"], document["d"]) == (
        "no",
        True,
        None,
        "true",
        "2026-01-01",
    )
    assert document["y"] == {"a": "1", "b": "no"}
    assert yaml_values("a: 1\n---\nb: 2\n") == {"a": "1"}
    assert yaml_values("") is None


@given(document=DOCUMENTS)
def test_literals_of_json_are_those_of_the_document(document):
    told = {key: value for key, value in literals_of(json.dumps(document)).items() if value != ()}
    assert told == {key: value for key, value in flat(document).items() if value != ()}


@given(document=DOCUMENTS)
def test_json_is_yaml(document):
    text = json.dumps(document, ensure_ascii=False)
    assert flat(yaml_values(text)).keys() == flat(document).keys()


@given(text=st.text(alphabet="{}[]():,'\"`/*\\ \nabc123$.é", max_size=60))
def test_any_text_has_literals(text):
    assert all(isinstance(key, str) for key in literals_of(text))


@given(script=st.text(alphabet="|&;\n'\"\\() $#abc=-", max_size=60))
def test_any_script_has_commands(script):
    assert all(command.text for command in commands_in(script))


def test_values_are_taken_apart_as_their_tools_do():
    assert words("a, b\n  c  # not d") == ("a", "b", "c")
    assert words(("a", "b c")) == ("a", "b", "c")
    assert lines("\na b\nc # d\n") == ("a b", "c")
    assert shell_words("-k 'a b' -m c") == ("-k", "a b", "-m", "c")
    assert shell_words("-k 'a") == ("-k", "'a")
    assert words(None) == words(3) == ()
    assert [shown(each) for each in (None, True, 3, ("a", 1))] == [None, "true", "3", "a, 1"]


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("pytest", "test"),
        ("PYTHONPATH=src sudo xvfb-run pytest -q", "test"),
        ("uv run --frozen python -m pytest", "test"),
        ("coverage run -m unittest", "test"),
        ("poetry run task test", "test"),
        ("npm run test:unit", "test"),
        ("npx vitest run", "test"),
        ("yarn lint", "lint"),
        ("hatch run types:check", "types"),
        ("npm run build", "other"),
        ("go test ./...", "test"),
        ("cargo test", "test"),
        ("cargo clippy", "lint"),
        ("node --test", "test"),
        ("./scripts/run-tests.sh", "test"),
        ("make test", "test"),
        ("make", "any"),
        ("make check", "any"),
        ("tox -e lint", "lint"),
        ("tox", "any"),
        ("mvn -B verify", "any"),
        ("coverage report --fail-under=90", "coverage"),
        ("coverage xml", "other"),
        ("pip install pytest", "other"),
        ("uv sync --group test", "other"),
        ("uv pip install ruff", "other"),
        ("uv add mypy", "other"),
        ("poetry install --with test", "other"),
        ("npm ci", "other"),
        ("apt-get install shellcheck", "other"),
        ("cp tests/a b", "other"),
        ("echo pytest", "nothing"),
        ("true", "nothing"),
        ("cd tests", "nothing"),
    ],
)
def test_a_command_is_known_by_its_program_or_target(script, kind):
    assert [command.kind for command in commands_in(script)] == [kind]


@pytest.mark.parametrize(
    ("script", "soft"),
    [
        ("pytest", [None]),
        ("pytest || true", ["|| true"]),
        ("pytest || echo 'a || b'", ["|| echo a || b"]),
        ("pytest || exit 0", ["|| exit 0"]),
        ("pytest || exit 1", [None]),
        ("pytest || (echo a; exit 1)", [None]),
        ("pytest && mypy || true", ["|| true", "|| true"]),
        ("pytest; mypy", [None, None]),
        ("pytest; exit 0", ["; exit 0"]),
        ("set +e\npytest\nset -e\nmypy", ["set +e", None]),
        ("pytest --exit-zero", ["--exit-zero"]),
        ("pytest ${{ a || b }}", [None]),
    ],
)
def test_what_makes_a_failure_go_unheard(script, soft):
    assert [command.soft for command in commands_in(script) if command.is_check] == soft
