"""A worker measures a commit from a git bundle alone, with the tools of the order, or says why not."""

import hashlib
import re
import shutil
from contextlib import contextmanager
from threading import Event

import pytest

from ralph_tracker import __version__
from ralph_tracker.config.load import load_config
from ralph_tracker.measure.installed_tools import portable_tools
from ralph_tracker.measure.run_checks import configured_checks
from ralph_tracker.replay.commit_environments import Environments
from ralph_tracker.replay.commits import Checkouts, Choice, History
from ralph_tracker.replay.dask_cluster import MeasureRequest, bundle_of, measure_request
from ralph_tracker.replay.measure_commits import CommitMeasurer, ResultsCache, unpack


class Away:
    """Workers that measure with `ask`, for a measurer that asks them."""

    def __init__(self, ask):
        self.ask, self.asked = ask, 0

    @contextmanager
    def here(self):
        yield

    def measure(self, commit, home, key):
        self.asked += 1
        return self.ask(commit, home, key)


@pytest.fixture
def order(branch, tmp_path):
    """Return the order for the second commit and its bundle; the repository is gone after `alone`."""
    history = History.around(branch.root)
    commits = history.commits("v0..HEAD", Choice())
    bundle = bundle_of(history, commits, tmp_path / "bundle.git")
    config = load_config(branch.root)
    checks = configured_checks(config.document)
    return MeasureRequest(
        version=__version__,
        commit=commits[1]._replace(sha=commits[1].tree),
        bundle=hashlib.sha256(bundle).hexdigest(),
        object_format="sha1",
        top="project",
        prefix="",
        config=config.document,
        setup=None,
        variables={},
        settings={},
        tools=portable_tools(branch.root, checks, {"PATH": "/usr/bin:/bin"}),
        key="0" * 64,
    ), bundle


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Make this process another machine: its own cache and programs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-cache"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def test_it_needs_the_bundle_once_and_nothing_of_the_repository(branch, order, machine, tmp_path):
    wanted, bundle = order
    shutil.rmtree(branch.root)
    assert measure_request(wanted, None).lacks_bundle
    answer = measure_request(wanted, bundle)
    assert (answer.failed, answer.refused) == (None, None)
    assert measure_request(wanted, None).packed
    (tmp_path / "here").mkdir()
    results = unpack(answer.packed, tmp_path / "here", configured_checks(wanted.config))
    assert results.totals.metrics.tests_passed == 6
    assert (results.folder / "reports" / "junit.xml").is_file()


def test_other_versions_and_other_tools_are_refused_by_name(order, machine):
    wanted, bundle = order
    assert "not 0.0.1" in measure_request(wanted._replace(version="0.0.1"), bundle).refused
    tools = {**wanted.tools, "package pytest": "8.3.5", "program pytest": "0" * 64}
    said = measure_request(wanted._replace(tools=tools), bundle).refused
    assert said == "other tools: pytest missing, not 8.3.5, pytest is missing"
    many = {**wanted.tools, **{f"package {name}": "1" for name in "abcde"}}
    said = measure_request(wanted._replace(tools=many), bundle).refused
    assert said == "other tools: a missing, not 1, b missing, not 1, c missing, not 1 and 2 more"


def test_a_set_up_that_fails_there_is_a_failure_of_this_commit_only(order, machine):
    wanted, bundle = order
    answer = measure_request(wanted._replace(setup="echo 'no network' >&2; exit 3"), bundle)
    assert (answer.refused, answer.packed) == (None, None)
    assert "no network" in answer.failed


def test_what_it_could_not_measure_is_not_kept_there_either(branch, order, machine, tmp_path):
    wanted, bundle = order
    document = {
        **wanted.config,
        "checks": {"tests": {"run": f"echo . >> {tmp_path}/ran; exit 3", "reports": ["x.xml"]}},
    }
    tools = portable_tools(branch.root, configured_checks(document), {"PATH": "/usr/bin:/bin"})
    wanted = wanted._replace(config=document, tools=tools)
    for asked in (1, 2):
        answer = measure_request(wanted, bundle)
        (tmp_path / str(asked)).mkdir()
        found = unpack(answer.packed, tmp_path / str(asked), configured_checks(document))
        assert "did not write x.xml" in found.totals.missing["tests"]
        assert (tmp_path / "ran").read_text() == ".\n" * asked


def without_times(totals):
    return re.sub(r"after \d+\.\d s", "after a while", repr(totals))


def measurer_of(branch, tmp_path, away):
    history = History.around(branch.root)
    stop = Event()
    environments = Environments(history, tmp_path / "environments", {"PATH": "/usr/bin:/bin"}, None, stop)
    cache = ResultsCache(tmp_path / "commits")
    environment = {"PATH": "/usr/bin:/bin"}
    config, checkouts = load_config(branch.root), Checkouts(history, tmp_path / "scratch")
    found = CommitMeasurer(history, config, environments, cache, environment, checkouts, stop, away)
    return found, history.commits("v0..HEAD", Choice())


@pytest.mark.slow
def test_results_from_elsewhere_are_those_of_here_and_damaged_ones_are_measured_here(branch, order, machine, tmp_path):
    wanted, bundle = order

    def ask(commit, home, key):
        return measure_request(wanted._replace(commit=commit._replace(sha=commit.tree), key=key), bundle).packed

    here, commits = measurer_of(branch, tmp_path / "a", None)
    for number, answer in enumerate((ask, lambda *_: None, lambda *words: ask(*words)[:-40], lambda *_: b"no archive")):
        away = Away(answer)
        measurer, _ = measurer_of(branch, tmp_path / str(number), away)
        for commit in commits:
            one, other = here.measure(commit).results, measurer.measure(commit).results
            assert without_times(one.totals) == without_times(other.totals)
        assert away.asked == len(commits)


def test_tools_are_told_apart_by_content_and_packages_not_by_place(tmp_path):
    for name, version in (("one", "1.0"), ("two", "1.0"), ("three", "2.0")):
        site = tmp_path / name / "lib" / "python3.11" / "site-packages"
        (site / f"pytest-{version}.dist-info").mkdir(parents=True)
        program = tmp_path / name / "bin" / "pytest"
        program.parent.mkdir()
        program.write_text(f"#!{program.parent}/python\nrun()\n")
        program.chmod(0o755)
    tools = {}
    for name in ("one", "two", "three"):
        checks = configured_checks({"checks": {"tests": {"run": ["pytest", "-q"]}, "lint": {"run": "pytest x | none"}}})
        tools[name] = portable_tools(tmp_path, checks, {"PATH": str(tmp_path / name / "bin")})
    assert tools["one"] == tools["two"] != tools["three"]
    assert tools["three"]["package pytest"] == "2.0"
    missing = portable_tools(tmp_path, configured_checks({"checks": {"tests": {"run": ["nothing"]}}}), {"PATH": ""})
    assert missing["program nothing"] is None
