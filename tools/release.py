"""Create the files of a release in dist/: wheel, sdist and the release notes, ready to be tagged.

The checkout must be committed, and CHANGELOG.md must have a dated section for the version and nothing unreleased.
"""

import re
import shutil
import sys
from pathlib import Path

from building import CHECKOUT, built, run

from ralph_tracker.version import __version__

DIST = CHECKOUT / "dist"
HEADING = re.compile(r"^## (?P<name>\S+)(?: - (?P<date>\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def notes_of(changelog: str, version: str) -> str:
    """Return the changelog's section for a version. Raises ValueError with what to do."""
    parts = {}
    found = list(HEADING.finditer(changelog))
    for this, following in zip(found, [*found[1:], None], strict=True):
        parts[this["name"]] = this["date"], changelog[this.end() : following.start() if following else None].strip()
    if parts.get("Unreleased", (None, ""))[1]:
        msg = f"CHANGELOG.md: move what stands under Unreleased to a section `## {version} - YYYY-MM-DD`"
        raise ValueError(msg)
    date, notes = parts.get(version, (None, ""))
    if date is None or not notes:
        msg = f"CHANGELOG.md: no section `## {version} - YYYY-MM-DD`; write it, or set another __version__"
        raise ValueError(msg)
    return notes + "\n"


def main() -> None:
    """Exit with a message if something is missing."""
    try:
        notes = notes_of((CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    except ValueError as error:
        sys.exit(str(error))
    changed = run("git", "status", "--porcelain", cwd=CHECKOUT)
    if changed:
        sys.exit(f"not committed: {changed.splitlines()[0].strip()}; commit, then make the release again")
    shutil.rmtree(DIST, ignore_errors=True)
    for path in built(DIST):
        print(path.relative_to(CHECKOUT))
    Path(DIST / "notes.md").write_text(notes, encoding="utf-8")
    print(f"dist/notes.md: {len(notes.splitlines())} lines")
    print(f"next: git tag -a v{__version__} -F dist/notes.md && git push origin v{__version__}")


if __name__ == "__main__":
    main()
