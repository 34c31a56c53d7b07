"""The frozen ignore rules of a store that knows no git: those that the files of a tree and around it hold."""

import os
from pathlib import Path

from ralph_tracker.store.contents.ignoring import IgnoreRules
from ralph_tracker.store.git.ignore import rules_below
from ralph_tracker.store.git.source import (
    Source,
    default_user_rules,
    nearest_source,
    rule_files_around,
    rules_in_force,
    text_of,
)


def frozen_rules(root: Path) -> bytes:
    """Return the ignore rules in force for a tree, as one list of lines.

    Where a repository lies around it, its rules and the user's count too, but for `core.excludesFile`.
    """
    return rules_in_force(source_of(root), default_user_rules(), root)


def source_of(root: Path) -> Source | None:
    """Return the repository that a tree belongs to, None where there is none or that one ignores the whole tree."""
    source = nearest_source(root)
    if source is None or not source.prefix:
        return source
    files = rule_files_around(source, default_user_rules())
    lines = [line for folder, file in files for line in rules_below(text_of(file), folder)]
    rules = IgnoreRules(os.fsencode("".join(f"{line}\n" for line in lines)))
    names = source.prefix.rstrip("/").split("/")
    ways = ("/".join(names[:depth]) for depth in range(1, len(names) + 1))
    return None if any(rules.leave_out(way, is_folder=True) for way in ways) else source
