"""Projects kept without git; the fixtures are those of both stores."""

import pytest

from ..snapshots.conftest import bare_project, home  # noqa: TID252  # one folder of tests for each store
from ..snapshots.projects import Project  # noqa: TID252  # one folder of tests for each store

__all__ = ["bare_project", "home"]


@pytest.fixture(autouse=True)
def contents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try the store that needs no git."""
    monkeypatch.setattr(Project, "kind", "contents")
