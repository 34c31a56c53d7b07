"""Plug-ins of other distributions: found beside ralph-tracker alone, and in the way of nothing when they fail."""

import sysconfig
from pathlib import Path

import pytest

from ralph_tracker import plugins
from ralph_tracker.formats.registry import by_name, examine

ENTRIES = "[ralph_tracker.formats]\nbad-json = no_such_module:FORMAT\nodd-json = odd_format:FORMAT\n"
ODD = """from ralph_tracker.formats.registry import Format
FORMAT = Format("odd-json", "lint", "json", module=__name__)
def sniff(content): return "odd" in content.text
def diagnostics(content): raise RuntimeError("no luck")
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


def test_an_unknown_name_is_nobodys(site):
    with pytest.raises(KeyError):
        plugins.load("hosts", "odd")
    assert by_name("no-json") is None
