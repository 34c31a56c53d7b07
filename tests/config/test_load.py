"""Where the configuration is found, what it becomes, and how a change of it is told."""

import hashlib

import pytest

from ralph_tracker.config.load import (
    changed_keys,
    config_digest,
    config_of,
    frozen_config,
    load_config,
    validity_mark,
    with_checks,
    with_limits,
)
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import ConfigError
from tests.tables import table

OURS = "loop: {max_iterations: 3}\n"
THEIRS = "[tool.ralph-tracker.loop]\nmax_iterations = 4\n"


@pytest.fixture
def root(tmp_path):
    """Return a function that writes files into a project."""

    def write(**files: str) -> object:
        for name, content in files.items():
            (tmp_path / {"yaml": "ralph-tracker.yaml", "toml": "pyproject.toml"}[name]).write_text(content)
        return tmp_path

    return write


def test_without_a_file_the_defaults_stand_alone(root):
    config = load_config(root())
    assert (config.thresholds, config.source, config.digest) == (Thresholds(), None, "")
    assert config.document["loop"]["max_iterations"] == 20


@pytest.mark.parametrize("content", ["", "null\n", "# nothing yet\n", "version: 1\n"])
def test_a_file_without_keys_is_the_defaults(root, content):
    config = load_config(root(yaml=content))
    assert (config.thresholds, config.source) == (Thresholds(), "ralph-tracker.yaml")
    assert config.digest == hashlib.sha256(content.encode()).hexdigest()


def test_a_file_of_our_own_goes_before_pyproject(root):
    config = load_config(root(yaml=OURS, toml=THEIRS))
    assert (config.source, config.thresholds.loop.max_iterations) == ("ralph-tracker.yaml", 3)


def test_pyproject_is_read_where_it_has_a_section_of_ours(root):
    config = load_config(root(toml=f"[project]\nname = 'x'\n{THEIRS}"))
    assert (config.source, config.thresholds.loop.max_iterations) == ("pyproject.toml", 4)


@pytest.mark.parametrize(
    "content",
    ["[project]\nname = 'x'\n", "this is [ no TOML", "tool = 1\n", "[tool.other]\nx = 1\n"],
    ids=["no tools", "broken, of no interest", "tool is a number", "other tools"],
)
def test_a_pyproject_that_says_nothing_of_us_is_no_configuration(root, content):
    assert load_config(root(toml=content)).thresholds == Thresholds()


@pytest.mark.parametrize("content", ["tool = 1 # ralph-tracker", "dependencies = ['ralph-tracker']"])
def test_a_pyproject_that_only_names_us_is_the_defaults(root, content):
    assert load_config(root(toml=content)).thresholds == Thresholds()


def test_a_byte_order_mark_is_no_part_of_the_configuration(root):
    assert load_config(root(yaml="\ufeff" + OURS)).thresholds.loop.max_iterations == 3


def test_a_path_below_a_file_has_no_configuration(tmp_path):
    (tmp_path / "file").write_text("")
    assert load_config(tmp_path / "file").source is None


def test_the_frozen_document_has_every_key_and_makes_the_same_rules_again(root):
    content = "loop: {hardLimitUsd: 5}\nchecks: {tests: {run: pytest}}\nscore: {acceptance: 0.5}\n"
    config = load_config(root(yaml=content))
    again = config_of(config.document, "loop.yaml", config.digest)
    assert (again.document, again.thresholds) == (config.document, config.thresholds)
    assert config.document["loop"]["max_cost_usd"] == 5.0
    assert config.document["checks"]["tests"]["timeout"] == "15m"


def test_a_frozen_document_with_its_mark_is_taken_as_it_is():
    config = config_of({"loop": {"max_iterations": 7}}, None)
    again = frozen_config(config.document, "loop.yaml", "d", validity_mark(config.document))
    assert (again.document, again.thresholds, again.source, again.digest) == (
        config.document,
        config.thresholds,
        "loop.yaml",
        "d",
    )


@table("mark", [None, "", 7, "0" * 64], ids=repr)
def test_a_frozen_document_without_its_mark_is_validated(mark):
    assert frozen_config({"loop": {"max_iterations": 7}}, "loop.yaml", "", mark).document["version"] == 1
    with pytest.raises(ConfigError, match=r"^loop\.yaml: loop\.max_iterations: "):
        frozen_config({"loop": {"max_iterations": 0}}, "loop.yaml", "", mark)


@table(
    ("before", "after"),
    [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 1.0}), ({"1": "x"}, {1: "x"}), ({"a": 1}, {"a": 1, "b": 2})],
    ids=["value", "type", "type of a key", "key"],
)
def test_an_edit_changes_the_mark(before, after):
    assert validity_mark(before) != validity_mark(after)


def test_a_document_that_holds_itself_is_refused():
    document: dict[str, object] = {}
    document["loop"] = document
    with pytest.raises(ConfigError, match=r"^loop\.yaml: "):
        frozen_config(document, "loop.yaml", "", "0" * 64)


@table("raw", [[], "text", 5, True], ids=repr)
def test_a_configuration_is_keys_and_values(raw):
    with pytest.raises(ConfigError, match=r"^configuration: expected keys and values at the top, found "):
        config_of(raw, None)


# id: the file at the start, the file now, the keys that are named
CHANGES = {
    "nothing": (OURS, OURS, ()),
    "spelling alone": (OURS, "loop:\n  max_iterations: 3\n", ()),
    "a value": (OURS, "loop: {max_iterations: 4}", ("loop.max_iterations",)),
    "a default written out": (OURS, OURS + "stall: {window: 3}\n", ()),
    "two sections": ("", "stall: {window: 4}\nloop: {max_minutes: 1}\n", ("loop.max_minutes", "stall.window")),
    "a check that is new": ("", "checks: {tests: {run: pytest}}", ("checks.tests",)),
    "a check that is gone": ("checks: {a: {run: x}, b: {run: y}}", "checks: {a: {run: x}}", ("checks.b",)),
    "a command": ("checks: {a: {run: [x, y]}}", "checks: {a: {run: [x, z]}}", ("checks.a.run",)),
    "a file that is gone": (OURS, None, ("loop.max_iterations",)),
    "a file that said nothing and is gone": ("", None, ()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told_by_the_keys_whose_values_differ(root, name):
    before, now, keys = CHANGES[name]
    folder = root(yaml=before)
    frozen = load_config(folder)
    (folder / "ralph-tracker.yaml").unlink()
    if now is not None:
        root(yaml=now)
    assert changed_keys(folder, frozen) == keys


def test_a_file_that_can_no_longer_be_used_is_told_in_place_of_keys(root):
    folder = root(yaml=OURS)
    frozen = load_config(folder)
    root(yaml="loop: {max_iterations: many}")
    (said,) = changed_keys(folder, frozen)
    assert said.startswith("unusable now (ralph-tracker.yaml: loop.max_iterations: should be a valid integer")


@pytest.mark.parametrize(
    ("now", "keys"),
    [
        (OURS, ("loop.max_iterations",)),
        ("checks: {tests: {run: pytest}}", ()),
        ("checks: {tests: {run: other}}", ("checks.tests.run",)),
        ("version: 1", ()),
    ],
)
def test_checks_that_were_found_are_changed_by_a_file_that_names_some(root, now, keys):
    folder = root(yaml=now)
    frozen = config_of({"checks": {"tests": {"run": "pytest"}}}, None)
    assert changed_keys(folder, frozen._replace(detected=True)) == keys


def test_a_file_of_our_own_beside_pyproject_is_a_change(root):
    folder = root(toml=THEIRS)
    frozen = load_config(folder)
    root(yaml="loop: {max_iterations: 400}")
    assert changed_keys(folder, frozen) == ("loop.max_iterations",)


def test_the_digest_is_that_of_the_file_in_use(root):
    folder = root(toml=THEIRS)
    assert config_digest(folder) == hashlib.sha256(THEIRS.encode()).hexdigest()
    root(yaml=OURS)
    assert config_digest(folder) == hashlib.sha256(OURS.encode()).hexdigest()


def test_limits_of_a_command_stand_over_those_of_the_file_and_are_no_change_of_it(root):
    """Another key of the file, or the same limit there, may change: only the first is told."""
    folder = root(yaml="loop: {max_iterations: 3, max_minutes: 5}")
    frozen = with_limits(load_config(folder), {"max_iterations": 7, "max_cost_usd": 1.5})

    own = load_config(folder).document["loop"]
    assert frozen.document["loop"] == own | {"max_iterations": 7, "max_cost_usd": 1.5}
    root(yaml="loop: {max_iterations: 4, max_minutes: 6}")
    assert changed_keys(folder, frozen) == ("loop.max_minutes",)


def test_checks_of_a_command_stand_beside_those_of_the_file_and_are_no_change_of_it(root):
    folder = root(yaml="checks: {tests: {run: pytest}}")
    frozen = with_checks(with_limits(load_config(folder), {"max_iterations": 7}), {"plan-1": {"run": "true"}})
    assert list(frozen.document["checks"]) == ["tests", "plan-1"]
    assert (frozen.given, frozen.limits) == (("plan-1",), ("max_iterations",))
    root(yaml="checks: {tests: {run: pytest, timeout: 5m}}")
    assert changed_keys(folder, frozen) == ("checks.tests.timeout",)
    assert with_checks(frozen, {}) is frozen


def test_a_limit_that_cannot_be_is_refused_as_in_a_file(root):
    with pytest.raises(ConfigError, match=r"loop\.max_iterations"):
        with_limits(load_config(root()), {"max_iterations": 0})


def test_without_limits_a_configuration_is_as_it_was(root):
    config = load_config(root())
    assert with_limits(config, {}) is config
