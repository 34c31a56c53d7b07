"""A YAML text as plain values: built from the parser's events, so that neither depth nor aliases cost anything."""

from typing import Any, Final

from ralph_tracker.integrity.source_tests import Unparsable

MAX_DEPTH: Final = 60
MAX_CHARACTERS: Final = 500_000
_MERGE: Final = "<<"
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None, "": None}


def yaml_values(text: str) -> Any:  # noqa: ANN401  # any YAML document
    """Return the first document; every scalar but true, false and null is text. Raises Unparsable."""
    import yaml  # noqa: PLC0415  # where a YAML file changed only

    if len(text) > MAX_CHARACTERS:
        raise Unparsable(f"larger than {MAX_CHARACTERS // 1000} kB of YAML")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.ScalarEvent):
                plain = event.implicit[0] and not event.style
                builder.put(_WORDS.get(event.value.lower(), event.value) if plain else event.value, event.anchor)
            elif isinstance(event, yaml.AliasEvent):
                builder.put(builder.anchors.get(event.anchor))
            elif isinstance(event, yaml.CollectionStartEvent):
                builder.open({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor)
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise Unparsable(f"line {mark.line + 1}: not readable as YAML" if mark else "not readable as YAML") from None
    return builder.root


class _Builder:
    """Put values where the open collections want them; an alias is the very value that its anchor named."""

    def __init__(self) -> None:
        self.root: Any = None
        self.anchors: dict[str | None, Any] = {}
        self._open: list[Any] = []
        self._keys: list[Any] = []

    def put(self, value: Any, anchor: str | None = None) -> None:  # noqa: ANN401  # any YAML value
        if anchor is not None:
            self.anchors[anchor] = value
        if not self._open:
            self.root = value
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif self._keys[-1] is None:
            self._keys[-1] = (value if isinstance(value, str) else str(value).lower(),)
        else:
            key, self._keys[-1] = self._keys[-1][0], None
            _add(self._open[-1], key, value)

    def open(self, collection: Any, anchor: str | None) -> None:  # noqa: ANN401  # a mapping or a list
        if len(self._open) >= MAX_DEPTH:
            raise Unparsable(f"nested deeper than {MAX_DEPTH} levels")
        if anchor is not None:
            self.anchors[anchor] = collection
        self._open.append(collection)
        self._keys.append(None)

    def close(self) -> None:
        done = self._open.pop()
        self._keys.pop()
        self.put("(a collection)" if self._keys and self._is_key() else done)

    def _is_key(self) -> bool:
        return isinstance(self._open[-1], dict) and self._keys[-1] is None


def _add(mapping: dict[str, Any], key: str, value: Any) -> None:  # noqa: ANN401  # any YAML value
    if key != _MERGE:
        mapping[key] = value
        return
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            for name in each:
                mapping.setdefault(name, each[name])
