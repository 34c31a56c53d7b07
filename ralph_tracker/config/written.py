"""Write a configuration file, and add checks to one that a person has edited since."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from ralph_tracker.config.yaml_io import dump_yaml, load_yaml
from ralph_tracker.errors import ConfigError

# `init` writes it, so that editors need no network; it is not committed.
SCHEMA_FILE: Final = ".aiwg/ralph/config.schema.json"
_FOR_EDITORS: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}\n"
_INDENT: Final = "  "


def config_text(checks: Mapping[str, Any], templates: Sequence[str] = ()) -> str:
    """Return a new configuration of these checks; templates follow as comments, ready to be put in place."""
    return _FOR_EDITORS + dump_yaml({"version": 1, "checks": dict(checks)}) + "".join(map(_commented, templates))


def _commented(template: str) -> str:
    lines = (line if line.startswith("#") else f"#   {line}" for line in template.splitlines())
    return "\n" + "".join(f"{line}\n" for line in lines)


def with_added_checks(text: str, checks: Mapping[str, Any], name: str) -> str:
    """Return the text of a configuration with more checks, everything else as it was written.

    Raises ConfigError where they cannot be put in without rewriting the file.
    """
    if not checks:
        return text
    at, indent, opening = _place(text, name)
    block = "".join(f"{indent}{line}" for line in dump_yaml(dict(checks)).splitlines(keepends=True))
    before = text[:at] if text[:at].endswith("\n") or not text[:at] else f"{text[:at]}\n"
    result = f"{before}{opening}{block}{text[at:]}"
    had = load_yaml(text, name) or {}
    wanted = {**had, "checks": {**(had.get("checks") or {}), **checks}}
    if load_yaml(result, name) != wanted:
        raise _cannot(name)
    return result


def _place(text: str, name: str) -> tuple[int, str, str]:
    """Return where checks are added, how far they are indented, and the line that goes before them."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise _cannot(name)
    found = next((value for key, value in pairs if key.value == "checks"), None)
    if found is None:
        return len(text), _INDENT, "checks:\n"
    if not isinstance(found, yaml.MappingNode) or found.flow_style or not found.value:
        raise _cannot(name)
    last = found.value[-1][1]
    end = text.find("\n", _content_end(last) - 1)
    return (len(text) if end < 0 else end + 1), " " * found.value[0][0].start_mark.column, ""


def _content_end(node: yaml.Node) -> int:
    """Return where a value ends; a block's own mark is after the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _content_end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _cannot(name: str) -> ConfigError:
    return ConfigError(f"{name}: checks cannot be added without rewriting the file; add them by hand, or use --force")
