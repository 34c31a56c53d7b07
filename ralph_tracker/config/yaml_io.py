"""YAML in and out, with limits: what people write by hand may also be what an attacker wrote."""

import re
from functools import lru_cache
from typing import Any, Final, cast

import yaml

from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import MAX_INPUT

MAX_DEPTH: Final = 60
MAX_NODES: Final = 5_000_000
PYTHONS_ADVICE: Final = "; use sys.set_int_max_str_digits() to increase the limit"
_PLAIN_WORDS: Final = {"but found another document": "a second document begins; keep one in a file"}

_TEXT: Final = "tag:yaml.org,2002:str"
_RESOLVER: Final[Any] = yaml.resolver.Resolver()

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SafeDumper: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_SafeDumper):  # type: ignore[misc]  # the C dumper where libyaml is there
    """Write equal values out again: anchors are not for people."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401  # PyYAML's signature
        """Never write an alias."""
        del data
        return True

    def represent_data(self, data: Any) -> yaml.Node:  # noqa: ANN401  # as above
        """Make the nodes of what a record consists of at once: PyYAML looks for an alias of each value first."""
        kind = type(data)
        if kind is str:
            return yaml.ScalarNode(_TEXT, data)
        if kind is dict:
            represent = self.represent_data
            pairs = [(represent(key), represent(value)) for key, value in data.items()]
            return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=False)
        return cast("yaml.Node", super().represent_data(data))

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: tuple[bool, bool]) -> str:  # noqa: ANN401  # as above
        """Say what a reader would take a value for; a record has the same keys and words in many alerts."""
        if kind is yaml.ScalarNode:
            return _tag_of(value) if implicit[0] else _TEXT
        return cast("str", super().resolve(kind, value, implicit))


@lru_cache(maxsize=1024)
def _tag_of(value: str) -> str:
    return cast("str", _RESOLVER.resolve(yaml.ScalarNode, value, (True, False)))


class _UniqueKeyLoader(_Loader):  # type: ignore[misc]  # the C loader where libyaml is there
    """Refuse a doubled key, whose second value would silently win. Dates and times stay text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  # PyYAML's signature
        """Build a mapping, refusing doubled keys."""
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is not None and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice; keep one", key_node.start_mark
                )
            seen.add(key)
        return cast("dict[Any, Any]", super().construct_mapping(node, deep=deep))


def _whole_number(loader: Any, node: yaml.ScalarNode) -> int:  # noqa: ANN401  # PyYAML's loader
    """Build a whole number; one with a leading zero, which YAML 1.1 reads as octal, is refused."""
    if re.fullmatch(r"[-+]?0[0-9_]+", node.value):
        raise yaml.constructor.ConstructorError(
            None, None, f"{node.value} begins with 0, which some read as octal; leave that out", node.start_mark
        )
    return cast("int", loader.construct_yaml_int(node))


_UniqueKeyLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)
# YAML 1.1 reads 1:30 as 90: what has a colon is text here.
_UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [
        (tag, re.compile(rf"(?![^:]*:){pattern.pattern}", pattern.flags))
        for tag, pattern in resolvers
        if tag != "tag:yaml.org,2002:timestamp"
    ]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def load_yaml(text: str, name: str) -> Any:  # noqa: ANN401  # any YAML document
    """Parse one document; `name` is how an error calls the file.

    Raises InputError, in one line, for bad YAML, a doubled key, more than one document, or a document beyond the
    limits of size, depth and expanded aliases.
    """
    if len(text) > MAX_INPUT:
        raise InputError(f"{name}: larger than {MAX_INPUT >> 20} MiB; hand in less")
    try:
        _check_limits(text, name)
        return yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506  # a safe loader with fewer liberties
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "not readable as YAML"
        raise InputError(f"{name}: {where}: {_PLAIN_WORDS.get(problem, problem)}") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; make it flatter") from None
    except ValueError as error:
        raise InputError(f"{name}: not readable as YAML: {str(error).removesuffix(PYTHONS_ADVICE)}") from None


def _check_limits(text: str, name: str) -> None:
    """Walk the events before anything is built, so that neither depth nor aliases can exhaust the process."""
    open_nodes: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    total = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, total))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, start = open_nodes.pop()
            if anchor:
                sizes[anchor] = total - start + 1
        if len(open_nodes) > MAX_DEPTH or total > MAX_NODES:
            raise InputError(f"{name}: nested deeper than {MAX_DEPTH} levels or expanding beyond {MAX_NODES} values")


def dump_yaml(document: Any) -> str:  # noqa: ANN401  # any plain document
    """Write a plain document as people read it: in its own order, unicode as it is.

    A lone surrogate, which YAML cannot hold, is written by its number.
    """
    try:
        return _dump(document)
    except UnicodeEncodeError:
        return _dump(without_surrogates(document))


def _dump(document: Any) -> str:  # noqa: ANN401  # as dump_yaml
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


def without_surrogates(document: Any) -> Any:  # noqa: ANN401  # as dump_yaml
    """Return a plain document with every lone surrogate written by its number."""
    if isinstance(document, str):
        return document.encode("utf-8", "backslashreplace").decode()
    if isinstance(document, dict):
        return {without_surrogates(key): without_surrogates(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [without_surrogates(value) for value in document]
    return document
