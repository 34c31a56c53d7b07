"""Fetch the source archives of the listed releases by name and exact version, with pip's own index client.

`pip download` would run each package's build to learn its name; nothing that is fetched here is ever run. So pip is
asked for the links only, with whatever index and certificates the user's pip is configured for.
"""

import hashlib
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = Path(__file__).with_name("packages.toml")
APART: Final = PACKAGES.with_name("apart.toml")
SUFFIXES: Final = (".tar.gz", ".zip")


def cache_folder() -> Path:
    """Return where fetched things are kept: $RALPH_TRACKER_BENCH_CACHE, else below the user's cache folder."""
    named = os.environ.get("RALPH_TRACKER_BENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(base) / "ralph-tracker-bench"


def listed(path: Path = PACKAGES) -> dict[str, list[str]]:
    """Return the releases of each package, oldest first."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["packages"]


def archive_of(folder: Path, name: str, version: str) -> Path | None:
    """Return a release that has been fetched, None where it has not."""
    found = (folder / f"{name}-{version}{suffix}" for suffix in SUFFIXES)
    return next((path for path in found if path.exists()), None)


def fetch(packages: Mapping[str, Sequence[str]], folder: Path) -> None:
    """Fetch what is missing; a release that cannot be had is named on standard error."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = {
        name: [each for each in versions if archive_of(folder, name, each) is None]
        for name, versions in packages.items()
    }
    if not any(missing.values()):
        return
    from pip._internal.commands import create_command  # noqa: PLC0415  # pip only where something is missing

    command: Any = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", "--quiet", "unused"])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)  # noqa: SLF001  # pip has no public one
        for name, versions in missing.items():
            links = {str(each.version): each.link for each in finder.find_all_candidates(name)} if versions else {}
            for version in versions:
                if version in links:
                    _save(session, links[version], folder, f"{name}-{version}")
                else:
                    print(f"{name} {version}: the index has no source archive of it", file=sys.stderr)


def _save(session: Any, link: Any, folder: Path, stem: str) -> None:
    response = session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"})
    response.raise_for_status()
    if link.hash_name and hashlib.new(link.hash_name, response.content).hexdigest() != link.hash:
        print(f"{stem}: not what the index says it is", file=sys.stderr)
        return
    suffix = next((each for each in SUFFIXES if link.filename.endswith(each)), None)
    if suffix is not None:
        (folder / f"{stem}{suffix}").write_bytes(response.content)
