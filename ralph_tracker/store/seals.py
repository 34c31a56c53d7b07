"""The seals of a loop: whether each iteration stands as it was written (artifacts.md)."""

from pathlib import Path
from typing import Final

from ralph_tracker.store.files import file_digest
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.reading import read_json

_DOCUMENTS: Final = ("metrics.json", "measurement.json", "tests.json", "state.json")


class Seals:
    """Compare what stands there with what was sealed; nothing is written."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths

    def broken(self, number: int) -> tuple[str, ...]:
        """Return the files of an iteration that differ from its seal or are missing, () where all agree."""
        folder = self.paths.iteration(number)
        seal = read_json(folder / "seal.json")
        if not isinstance(seal, dict) or not isinstance(seal.get("files"), dict):
            return ("seal.json",)
        return tuple(name for name, expected in seal["files"].items() if _digest_of(folder / name) != expected)

    def altered_record(self, number: int) -> tuple[str, ...]:
        """Name the record that people read where it is missing or not what was sealed."""
        seal, path = read_json(self.paths.iteration(number) / "seal.json"), self.paths.record(number)
        expected = seal.get("record") if isinstance(seal, dict) else None
        if expected is None or (path.is_file() and _digest_of(path) == expected):
            return ()
        return (path.relative_to(self.paths.folder).as_posix(),)

    def edited(self, number: int) -> tuple[str, ...]:
        """Name the documents of an iteration that are not as sealed, () where all agree.

        The paths are relative to the loop's folder; files kept beside them are not looked at.
        """
        folder = self.paths.iteration(number)
        seal = read_json(folder / "seal.json")
        sealed = seal["files"] if isinstance(seal, dict) and isinstance(seal.get("files"), dict) else {}
        paths = {folder / name: sealed.get(name) for name in _DOCUMENTS}
        paths[self.paths.record(number)] = seal.get("record") if isinstance(seal, dict) else None
        bad = [path for path, expected in paths.items() if _digest_of(path) != expected]
        return tuple(path.relative_to(self.paths.folder).as_posix() for path in bad)

    def edited_configuration(self) -> tuple[str, ...]:
        """Name the loop's own document where it is not what the baseline was sealed with, () where it is.

        A loop of an earlier version did not seal it.
        """
        seal, path = read_json(self.paths.iteration(0) / "seal.json"), self.paths.loop_file
        frozen = seal.get("loop") if isinstance(seal, dict) else None
        return () if frozen in {None, _digest_of(path)} else (path.relative_to(self.paths.folder).as_posix(),)

    def broken_chain(self, number: int) -> tuple[str, ...]:
        """Name the seal where it is not the one that the next iteration was sealed after."""
        following = read_json(self.paths.iteration(number + 1) / "seal.json")
        expected = following.get("previous_seal") if isinstance(following, dict) else None
        path = self.paths.iteration(number) / "seal.json"
        return ("seal.json",) if expected is not None and path.is_file() and _digest_of(path) != expected else ()


def _digest_of(path: Path) -> str | None:
    try:
        return file_digest(path)
    except OSError:
        return None
