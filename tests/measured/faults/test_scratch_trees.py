"""Faults in the copy in which earlier tests run: it is gone after the next call, which has them run again."""

import json
import tempfile

import pytest

from tests.sweep import chosen

from .promised import RERUN, tree_of

SAMPLE = 3
# Nothing is lost where the copy is taken away already, or a folder is made that is there.
SPARED = {"unlink", "unlinkat", "rmdir", "chmod", "fchmodat", "fchmod", "mkdir", "mkdirat"}

pytestmark = pytest.mark.faults


@pytest.fixture
def struck(arena, bench, points, hit, tmp_path, monkeypatch, record_property, request):
    """Return what strikes a re-run at points in its copy, yields those that were hit, and looks for what is left."""

    def strike(fault):
        copied, judging = arena(RERUN)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(scratch))
        shop = copied()
        seen = bench(shop.root, tmp_path / "bench").seen(*RERUN.words)
        assert seen.code == 0, seen.err
        every = points(seen, scratch)
        assert every
        assert not list(scratch.iterdir())
        hits, points_struck = 0, chosen(every, SAMPLE, request.node)
        for point in points_struck:
            shop = copied()
            running = bench(shop.root, tmp_path / "bench")
            before = tree_of(shop)
            ended = running.struck(point, fault, *RERUN.words)
            if hit(ended, point, scratch):
                hits += 1
                assert tree_of(shop) == before, point
                yield point, shop, running, ended, judging
                assert not list(scratch.iterdir()), point
        assert hits
        record_property(
            "sweep", ("strace", "re-run", fault.partition("=")[2], len(every), hits, len(points_struck) - hits, 0)
        )

    return strike


def test_an_iteration_killed_in_the_copy_is_recorded_whole_when_it_is_repeated(struck):
    for point, shop, running, ended, judging in struck("signal=SIGKILL"):
        assert judging.violations(shop, ended, running, killed=True) == [], point


def test_an_iteration_whose_copy_does_not_fit_is_recorded_says_so_and_is_asked_again(struck):
    for point, _, running, ended, _ in struck("error=ENOSPC"):
        assert ended.code == 0, (point, ended.err)
        now = integrity(running.plain("show", "3", "--json"))
        problems = [rerun["problem"] for rerun in now["reruns"]]
        if point.call not in SPARED:
            assert now["verdict"] == "UNPROVEN", point
            assert any(problem is not None and "could not be run" in problem for problem in problems), point
        for rerun in now["reruns"]:
            assert (rerun["problem"] is None) == (rerun["tests"] == 7), point
        after = integrity(running.plain("hook", "post-iteration", "--iteration", "4", "--json"))
        assert after["verdict"] == "PASS"
        run_again = [(None, 7)] if now["verdict"] == "UNPROVEN" else []
        assert [(each["problem"], each["tests"]) for each in after["reruns"]] == run_again


def integrity(ended):
    return json.loads(ended.out)["iteration_metrics"]["integrity"]
