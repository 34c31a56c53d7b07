"""What other distributions add by entry points: formats, agent hosts, exporters, metrics, selection modes.

They are looked up when something is asked for that is not ours, never at start-up, and only among what is installed
beside ralph-tracker itself: the folder of a project, or one that an environment variable names, adds nothing. Ours are
values of the same types, in a table for each group: to look them up as entry points takes 40 ms, and a hook 60.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["formats", "hosts", "exporters", "metrics", "modes"]


class PluginError(Exception):
    """A plug-in that does not load; its text is a line for the user."""


GROUPS: Final[tuple[Group, ...]] = get_args(Group)


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


def call(group: Group, name: str, *given: Any) -> Any:  # noqa: ANN401  # what the group asks for
    """Return what the function of a plug-in returns. Raises KeyError and PluginError as `load`, also where it fails."""
    function = load(group, name)
    try:
        return function(*given)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise PluginError(f"{name}, a plug-in of {distribution(group, name)}, failed ({why})") from error


def distribution(group: Group, name: str) -> str:
    """Return the name and version of the distribution that brings a plug-in. Raises KeyError for an unknown one."""
    return _installed(group)[name][1]


@cache
def _installed(group: Group) -> "dict[str, tuple[EntryPoint, str]]":
    import sysconfig  # noqa: PLC0415  # only where something is asked for that is not ours
    from importlib.metadata import distributions  # noqa: PLC0415  # as above

    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    found = {}
    for each in distributions(path=sorted(places)):
        for entry in each.entry_points.select(group=f"ralph_tracker.{group}"):
            found[entry.name] = (entry, f"{each.metadata['Name']} {each.version}")
    return dict(sorted(found.items()))
