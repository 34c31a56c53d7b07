"""What a replay has on record of a public project's releases is what its tools print at each of them by hand.

The projects are cachetools and humanize from the package index and qs, in JavaScript, from npm: their sources hold
their tests. By hand means in a plain folder, without us, by the fixtures of this folder.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.projects.test_projects import same

HISTORIES = {
    "cachetools": (
        *("4.2.0", "4.2.1", "4.2.2", "4.2.3", "4.2.4", "5.0.0", "5.1.0", "5.2.0", "5.2.1"),
        *("5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0", "5.5.1", "5.5.2"),
    ),
    "humanize": (
        *("4.0.0", "4.1.0", "4.2.0", "4.2.1", "4.2.2", "4.2.3", "4.3.0", "4.4.0", "4.5.0"),
        *("4.6.0", "4.7.0", "4.8.0", "4.9.0", "4.10.0", "4.11.0", "4.12.0"),
    ),
}
# The release that is installed, in editable form, for all: cachetools has its package in src since 4.2.2 only.
INSTALLED = {"cachetools": "5.5.2", "humanize": "4.0.0"}
NEEDS = {"humanize": ("freezegun",)}
# Types and re-runs would take most of the time; test_projects.py and cachetools have them.
LEFT_OUT = {"humanize": ("mypy", "integrity: {rerun: never}\n")}
QS = (
    *("6.11.0", "6.11.1", "6.11.2", "6.12.0", "6.12.1", "6.12.2", "6.12.3"),
    *("6.13.0", "6.13.1", "6.14.0", "6.14.1", "6.14.2", "6.15.0", "6.15.1", "6.16.0", "6.17.1"),
)
# What the tests of qs import, of all its releases, and the tools.
QS_NEEDS = (
    *("tape@5", "c8@10", "eslint@8.57", "iconv-lite@0.5", "safer-buffer", "qs-iconv", "object-inspect", "for-each"),
    *("has-symbols", "has-proto", "has-bigints", "has-override-mistake", "has-property-descriptors"),
    *("mock-property", "es-value-fixtures", "side-channel"),
)
TAPE = "node_modules/.bin/tape 'test/**/*.js'"
C8 = "node_modules/.bin/c8 --reports-dir={0} --temp-directory={0}/tmp --reporter="
ESLINT = (
    "node_modules/.bin/eslint --no-eslintrc --env es6,node --parser-options=ecmaVersion:2022 "
    "--rule 'no-unused-vars: 2' --rule 'no-magic-numbers: 1' lib test"
)
QS_CONFIG = f"""
integrity: {{rerun: never}}
checks:
  tests: {{run: "{C8.format("{reports}")}lcovonly {TAPE}", reports: ["-"], format: tap}}
  coverage: {{run: "true", reports: ["{{reports}}/lcov.info"], needs: [tests]}}
  lint: {{run: "{ESLINT} --format=json", reports: ["-"], env: {{ESLINT_USE_FLAT_CONFIG: "false"}}}}
"""
IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
STAYS = {".venv", ".git", ".gitignore", "node_modules", "ralph-tracker.yaml"}
TRACKER = str(Path(sys.executable).with_name("ralph-tracker"))
LIMIT_S = 900


def take(unpacked: Path, root: Path) -> None:
    """Make a folder the sources of a release; environment and git stay.

    Without its own .gitignore, and without its uv.lock, from which a replay would build an environment of its own.
    """
    for path in root.iterdir():
        if path.name not in STAYS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(unpacked, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("uv.lock", ".gitignore"))


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, env={**os.environ, **IDENTITY}, capture_output=True, text=True, check=True
    )
    return done.stdout


def replayed(root: Path, releases: tuple[str, ...], run: Callable[..., Any]) -> list[dict[str, Any]]:
    """Replay the last commits as a user does, and return their records."""
    done = run(TRACKER, "replay", f"HEAD~{len(releases) - 1}..HEAD", "--jobs", "2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [each["subject"] for each in document["commits"]] == list(releases)
    assert git(root, "status", "--porcelain") == ""
    records: list[dict[str, Any]] = json.loads(
        run(TRACKER, "history", "--json", "--loop-id", document["loop_id"]).stdout
    )
    return records


def unequal(releases: tuple[str, ...], ours: list[Any], theirs: list[Any]) -> Iterator[tuple[Any, ...]]:
    for release, numbers, by_hand in zip(releases, ours, theirs, strict=True):
        for name, value in numbers.items():
            if name in by_hand and not same(value, by_hand[name]):
                yield release, name, value, by_hand[name]


def compare(name: str, releases: tuple[str, ...], ours: list[Any], theirs: list[Any], told: Any) -> None:
    """Put each release into the table at the end of the run, and fail where a number is not that printed by hand."""
    found = list(unequal(releases, ours, theirs))
    for release, numbers in zip(releases, ours, strict=True):
        reasons = [f"{what} {value}, by hand {by_hand}" for at, what, value, by_hand in found if at == release]
        told(f"{name} {release}", "a replayed release", numbers, "; ".join(reasons) or "yes")
    assert found == []


@pytest.mark.parametrize("name", HISTORIES)
def test_each_release_measures_what_its_tools_print(
    name: str, developed: Any, index: Any, recorded: Any, told: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    releases = HISTORIES[name]
    project = developed(f"{name}=={INSTALLED[name]}", *NEEDS.get(name, ()), addopts="")
    root = project.root
    git(root, "init", "-q", "-b", "main")
    (root / ".gitignore").write_text(".venv/\n.aiwg/\n__pycache__/\n*.egg-info/\nralph-tracker.yaml\n")
    if name in LEFT_OUT:
        tool, settings = LEFT_OUT[name]
        project.tool("pip", "uninstall", "--quiet", "--yes", tool)
        (root / "ralph-tracker.yaml").write_text(settings)
    theirs = []
    with ThreadPoolExecutor(4) as pool:  # pip waits most of its time
        places = list(pool.map(lambda each: index(f"{name}=={each}", tmp_path / "releases" / each), releases))
    for release, place in zip(releases, places, strict=True):
        take(place, root)
        theirs.append(project.measured_by_hand(tmp_path, plugin=False, types=None))
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", release)
    ours = [recorded(record) for record in replayed(root, releases, project.run)]
    compare(name, releases, ours, theirs, told)
    assert min(numbers["tests"] for numbers in ours) > 100


def npm(*words: str, cwd: Path) -> None:
    done = subprocess.run(["npm", *words], cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        pytest.skip(f"npm's registry cannot be reached: {done.stderr[-300:]}")


def printed_by_hand(root: Path, scratch: Path) -> dict[str, float]:
    """Return what tape, c8 and eslint print of themselves; tape counts a point that is skipped as passed."""
    shutil.rmtree(scratch, ignore_errors=True)
    environment = {**os.environ, "ESLINT_USE_FLAT_CONFIG": "false"}

    def said(command: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    tests = said(f"{C8.format(scratch)}text-summary {TAPE}")
    counts = {word: int(number) for word, number in re.findall(r"^# (tests|pass|fail) +(\d+)$", tests, re.MULTILINE)}
    skipped = len(re.findall(r"^ok \d+ .*# (?:SKIP|TODO)\b", tests, re.MULTILINE))
    covered, total = map(int, re.findall(r"^Lines .*\( (\d+)/(\d+) \)", tests, re.MULTILINE)[0])
    problems = re.search(r"✖ (\d+) problem", said(ESLINT))
    return {
        "tests": counts["tests"],
        "passed": counts["pass"] - skipped,
        "failed": counts.get("fail", 0),
        "skipped": skipped,
        "coverage": 100 * covered / total,
        "lint": int(problems[1]) if problems else 0,
    }


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_each_release_of_a_project_in_javascript_measures_what_its_tools_print(
    recorded: Any, told: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RALPH_TRACKER_TRUST", "1")
    root = tmp_path / "qs"
    root.mkdir()
    (root / "package.json").write_text('{"private": true}')
    npm("install", "--silent", "--no-audit", "--no-fund", *QS_NEEDS, cwd=root)
    (root / ".gitignore").write_text("node_modules/\n.aiwg/\nralph-tracker.yaml\n")
    (root / "ralph-tracker.yaml").write_text(QS_CONFIG)
    git(root, "init", "-q", "-b", "main")
    theirs = []
    for release in QS:
        place = tmp_path / "releases" / release
        place.mkdir(parents=True)
        npm("pack", "--silent", f"qs@{release}", cwd=place)
        with tarfile.open(next(place.glob("*.tgz"))) as archive:
            archive.extractall(place, filter="data")
        take(place / "package", root)
        theirs.append(printed_by_hand(root, tmp_path / "by-hand"))
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", release)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    ours = [recorded(record) for record in replayed(root, QS, run)]
    compare("qs", QS, ours, theirs, told)
    assert min(numbers["tests"] for numbers in ours) > 400
    assert len({numbers["coverage"] for numbers in ours}) > 3
