"""Changes of files as text, and what is found in them: what the tests of all rules are written with."""

from collections.abc import Iterable, Mapping

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile, FileChange, opened
from ralph_tracker.integrity.evidence import Evidence, Outcomes
from ralph_tracker.integrity.examine import Examined, examine
from ralph_tracker.integrity.table import RULES, Find, Rule

Texts = tuple[str | None, str | None]


def change(path: str, old: str | None, new: str | None) -> FileChange:
    """Make the change of a file from its texts, None where it is absent."""
    return FileChange(path, *(None if text is None else text.encode() for text in (old, new)))


def changed(path: str, old: str | None, new: str | None) -> ChangedFile:
    """Make a changed file that can be looked into. Raises ValueError with the reason why it cannot."""
    file = opened(change(path, old, new))
    if isinstance(file, str):
        raise ValueError(file)  # noqa: TRY004  it is about the text
    return file


def evidence(
    files: Mapping[str, Texts], *, before: Mapping[str, str] | None = None, after: Mapping[str, str] | None = None
) -> Evidence:
    """Make the evidence of files as `{path: (old, new)}` and of outcomes as `{id: passed, failed or skipped}`."""
    return Evidence([changed(path, *texts) for path, texts in files.items()], Outcomes(before or {}, after or {}))


def examined(
    files: Mapping[str, Texts],
    *,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
    rules: Iterable[Rule] = RULES,
) -> Examined:
    """Examine files by the rules of the table, or by those given."""
    changes = [change(path, *texts) for path, texts in files.items()]
    return examine(changes, Outcomes(before or {}, after or {}), rules)


def found(
    find: Find,
    files: Mapping[str, Texts],
    *,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Return what one rule finds in files, in their order."""
    looked_at = evidence(files, before=before, after=after)
    return [each for file in looked_at.files for each in find(file, looked_at)]
