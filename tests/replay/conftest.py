"""A repository with a history, whose check hands on the report that lies in the commit."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.replay.commits import Choice, History
from ralph_tracker.replay.replay import JudgedCommit, Replay, ReplayOptions
from tests.measured.conftest import Workshop, content_of

BROKEN = "app.c:3:5: error: expected ';' before 'return'"


class Branch(Workshop):
    """A workshop whose history is replayed."""

    def step(self, subject: str, files: Mapping[str, str] | None = None, *, passing: int | None = None) -> str:
        """Commit the files, and a report of so many passing tests; return the commit."""
        for name, text in (files or {}).items():
            self.write(name, text)
        if passing is not None:
            self.passing(passing)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def replay(self, revisions: str = "v0..HEAD", *, trust: bool = False, **options: Any) -> Replay:
        history = History.around(self.root)
        commits = history.commits(revisions, Choice())
        return Replay(self.tracker._replace(trust=trust), history, commits, ReplayOptions(**options))

    def replayed(self, revisions: str = "v0..HEAD", **options: Any) -> list[JudgedCommit]:
        return list(self.replay(revisions, **options).turns())

    def running(self, first: str) -> None:
        """Have the check of the working tree run a command first."""
        self.configure({"tests": {"run": f"{first}; sh measure.sh {{reports}}", "reports": ["{reports}/junit.xml"]}})

    def counting(self) -> Path:
        """Have the check of the working tree leave a line in a file outside for each of its runs; return the file."""
        ran = self.root.parent / "ran"
        ran.touch()
        self.running(f'echo . >> "{ran}"')
        return ran

    @property
    def gits_own(self) -> dict[str, bytes]:
        return content_of(self.root / ".git")


def grown(root: Path) -> Branch:
    """Make a project with a base, tagged v0, and four commits: better, worse, broken, whole again."""
    root.mkdir()
    shop = Branch(root.resolve())
    shop.prepare()
    shop.git("init", "-q", "-b", "main")
    shop.step("Begin")
    shop.git("tag", "v0")
    shop.step("Add two", {"app.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n"}, passing=6)
    shop.step("Lose most", {"notes.txt": "gone\n"}, passing=2)
    shop.step("Break", {"measure.sh": f'echo "{BROKEN}" >&2\nexit 1\n'})
    shop.step("Mend", {"measure.sh": 'cp results.xml "$1/junit.xml"\n'}, passing=5)
    return shop


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)


@pytest.fixture(scope="session")
def _grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grown(tmp_path_factory.mktemp("grown") / "project").root


@pytest.fixture
def branch(tmp_path: Path, _grown: Path) -> Branch:
    """Return a copy of such a project."""
    made = Branch(Path(shutil.copytree(_grown, tmp_path / "project", symlinks=True)).resolve())
    made.git("update-index", "-q", "--refresh")  # it holds when each file was changed
    return made


@pytest.fixture
def ralph(branch, capsys):
    """Return what runs a command on the project, and returns its exit code and what it printed."""

    def call(*words):
        code = run([*words, "--root", str(branch.root)])
        out, err = capsys.readouterr()
        return code, out, err

    return call
