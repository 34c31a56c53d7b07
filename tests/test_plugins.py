"""Plug-ins of other distributions: found beside ralph-tracker alone, and in the way of nothing when they fail."""

import sysconfig
from pathlib import Path

import pytest

from ralph_tracker import plugins, post_loop, pre_loop
from ralph_tracker.config.load import config_of
from ralph_tracker.core.metrics import FurtherMetric
from ralph_tracker.errors import ConfigError
from ralph_tracker.formats.registry import by_name, examine
from ralph_tracker.measure.tree_metrics import further_metrics

ENTRIES = """[ralph_tracker.formats]
bad-json = no_such_module:FORMAT
odd-json = odd_format:FORMAT
[ralph_tracker.modes]
odd = odd_format:choose
lost = odd_format:lost
bad = no_such_module:choose
[ralph_tracker.metrics]
luck = odd_format:LUCK
good = odd_format:GOOD
bad_metric = no_such_module:METRIC
"""
ODD = """from ralph_tracker.formats.registry import Format
FORMAT = Format("odd-json", "lint", "json", module=__name__)
def sniff(content): return "odd" in content.text
def diagnostics(content): raise RuntimeError("no luck")
def choose(iterations, thresholds): raise RuntimeError("no luck")
def lost(iterations, thresholds): return 7
from ralph_tracker.measure.tree_metrics import PluginMetric
LUCK = PluginMetric(choose.__get__(1))
GOOD = PluginMetric(lambda facts: 0.5, "ms", "down")
"""
UNKNOWN = b'{"odd": 1}'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return the folder of installed packages, with a distribution whose formats fail."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    brought(tmp_path / "site")
    plugins._installed.cache_clear()
    yield tmp_path / "site"
    plugins._installed.cache_clear()


def brought(folder: Path) -> None:
    info = folder / "odd-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (folder / "odd_format.py").write_text(ODD)


def test_what_is_installed_beside_us_is_found_with_its_distribution(site):
    assert plugins.names("formats") == ("bad-json", "odd-json")
    assert plugins.distribution("formats", "odd-json") == "odd 2.0"
    assert plugins.names("hosts") == ()


def test_a_folder_that_only_the_environment_names_adds_nothing(site, tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "elsewhere"))
    plugins._installed.cache_clear()
    assert plugins.names("formats") == ()


def test_one_that_does_not_load_is_named_where_it_is_asked_for_and_tried_nowhere_else(site):
    assert by_name("bad-json") is None
    why = examine(b"{}", format="bad-json").result.why
    assert why.startswith("bad-json: a plug-in of odd 2.0 that does not load (ModuleNotFoundError: ")
    assert examine(b'{"even": 1}').result.why == "JSON, but no known report"


def test_one_that_fails_on_a_report_costs_that_report(site):
    read = examine(UNKNOWN)
    assert read.format is not None
    assert (read.format.name, read.result.why) == ("odd-json", "the plug-in odd-json failed (RuntimeError: no luck)")


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("odd", r"^odd, a plug-in of odd 2.0, failed \(RuntimeError: no luck\); select with --mode walk$"),
        ("lost", r"^lost, a plug-in of odd 2.0, chose 7, no iteration of 0 to 0; select with --mode walk$"),
        ("bad", r"^bad: a plug-in of odd 2.0 that does not load \(ModuleNotFoundError: .*; select with --mode walk$"),
        ("walks", r"^no selection mode 'walks'; did you mean walk\?$"),
    ],
)
def test_a_mode_that_fails_selects_nothing_and_says_so_in_a_line(site, tmp_path, mode, why):
    metrics = {"testing": {"test_count": 1, "tests_passed": 1, "tests_failed": 0}}
    pre_loop(root=tmp_path, loop_id="mine", metrics=metrics)
    with pytest.raises(ConfigError, match=why):
        post_loop(root=tmp_path, loop_id="mine", mode=mode)
    assert post_loop(root=tmp_path, loop_id="mine", mode="walk").iteration == 0


def test_a_configuration_names_modes_that_are_installed(site):
    assert config_of({"selection": {"mode": "odd"}}, "it").thresholds.selection.mode == "odd"
    with pytest.raises(ConfigError, match=r"^it: selection.mode: no mode 'od' is installed; did you mean odd\?$"):
        config_of({"selection": {"mode": "od"}}, "it")


def test_a_metric_that_fails_is_a_note_and_the_others_are_measured(site):
    found, problems = further_metrics(("good", "luck", "bad_metric", "gone"), None)
    assert found == (FurtherMetric("good", 0.5, "ms", "down"),)
    failed, lost, gone = problems
    assert failed == "metric luck, a plug-in of odd 2.0, failed (RuntimeError: no luck)"
    assert lost.startswith("metric bad_metric: a plug-in of odd 2.0 that does not load (ModuleNotFoundError: ")
    assert gone == "metric gone: no plug-in of that name is installed; it was not measured"


def test_a_configuration_names_metrics_that_are_installed(site):
    assert [*config_of({"metrics": {"good": {}}}, "it").document["metrics"]] == ["good"]
    with pytest.raises(ConfigError, match=r"^it: metrics.god: no plug-in of that name is installed; did you mean good"):
        config_of({"metrics": {"god": {}}}, "it")


def test_an_unknown_name_is_nobodys(site):
    with pytest.raises(KeyError):
        plugins.load("hosts", "odd")
    assert by_name("no-json") is None
