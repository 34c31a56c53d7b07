"""What other distributions add by entry points: formats, agent hosts and exporters.

They are looked up when something is asked for that is not ours, never at start-up, and only among what is installed
beside ralph-tracker itself: the folder of a project, or one that an environment variable names, adds nothing.
"""

import sysconfig
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["formats", "hosts", "exporters"]


class PluginError(Exception):
    """A plug-in that does not load; its text is a line for the user."""


GROUPS: Final[tuple[Group, ...]] = ("formats", "hosts", "exporters")


def names(group: Group) -> tuple[str, ...]:
    """Return the names that plug-ins add to a group."""
    return tuple(_installed(group))


def load(group: Group, name: str) -> Any:  # noqa: ANN401  # what the group asks for
    """Return the object of a plug-in. Raises KeyError for an unknown one, PluginError for one that does not load."""
    entry, owner = _installed(group)[name]
    try:
        return entry.load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise PluginError(f"{name}: a plug-in of {owner} that does not load ({why}); fix or uninstall it") from error


def distribution(group: Group, name: str) -> str:
    """Return the name and version of the distribution that brings a plug-in. Raises KeyError for an unknown one."""
    return _installed(group)[name][1]


@cache
def _installed(group: Group) -> "dict[str, tuple[EntryPoint, str]]":
    from importlib.metadata import distributions  # noqa: PLC0415  # only where something is asked for that is not ours

    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    found = {}
    for each in distributions(path=sorted(places)):
        for entry in each.entry_points.select(group=f"ralph_tracker.{group}"):
            found[entry.name] = (entry, f"{each.metadata['Name']} {each.version}")
    return dict(sorted(found.items()))
