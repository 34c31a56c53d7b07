"""Find the configuration, validate it once, freeze it, and tell later what changed."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ralph_tracker.config.problems import first_problem, shortened
from ralph_tracker.config.schema import ConfigDocument
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.rules import Rules
from ralph_tracker.errors import ConfigError, InputError

CONFIG_FILE: Final = "ralph-tracker.yaml"
PYPROJECT: Final = "pyproject.toml"
NO_DIGEST: Final = ""


@dataclass(frozen=True, slots=True)
class Config:
    """Hold a validated configuration.

    `document` is every key with its value, as it is frozen in loop.yaml. `source` is the file it came from, None
    where the defaults stand alone. `digest` is that file's sha256, empty without one.
    """

    document: Mapping[str, Any]
    rules: Rules
    source: str | None
    digest: str


def load_config(root: Path) -> Config:
    """Read the project's configuration, or the defaults where there is none.

    Raises ConfigError, in one line, for what cannot be used.
    """
    found = _find(root)
    if found is None:
        return config_of({}, None)
    path, data = found
    return config_of(_parse(path, data), path.name, hashlib.sha256(data).hexdigest())


def config_of(raw: Any, source: str | None, digest: str = NO_DIGEST) -> Config:  # noqa: ANN401  # as parsed
    """Validate a parsed configuration. Raises ConfigError."""
    name = source or "configuration"
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{name}: expected keys and values at the top, found {shortened(raw)}")
    try:
        parsed = ConfigDocument.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{name}: {first_problem(error, ConfigDocument)}") from None
    return Config(parsed.model_dump(mode="json"), parsed.rules(), source, digest)


def config_digest(root: Path) -> str:
    """Return the sha256 of the configuration file as it is now, empty where there is none."""
    found = _find(root)
    return NO_DIGEST if found is None else hashlib.sha256(found[1]).hexdigest()


def changed_keys(root: Path, frozen: Mapping[str, Any], digest: str) -> tuple[str, ...]:
    """Name the keys in which the configuration now differs from the frozen one.

    A file that can no longer be used is a change too, and says so in place of a key.
    """
    try:
        if config_digest(root) == digest:
            return ()
        return tuple(_differences(frozen, load_config(root).document))
    except ConfigError as error:
        return (f"unusable now ({error})",)


def _differences(one: Any, other: Any, path: str = "") -> list[str]:  # noqa: ANN401  # plain documents
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = [*one, *(key for key in other if key not in one)]
        prefix = f"{path}." if path else ""
        return [d for key in keys for d in _differences(one.get(key), other.get(key), f"{prefix}{key}")]
    return [] if one == other else [path]


def _find(root: Path) -> tuple[Path, bytes] | None:
    for name in (CONFIG_FILE, PYPROJECT):
        path = root / name
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ConfigError(f"{name}: cannot be read ({error.strerror}); mend or remove it") from None
        if name == CONFIG_FILE or b"ralph-tracker" in data:
            return path, data
    return None


def _parse(path: Path, data: bytes) -> Any:  # noqa: ANN401  # as parsed
    try:
        text = data.decode("utf-8-sig")
        return _section(text) if path.name == PYPROJECT else load_yaml(text, path.name)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path.name}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path.name}: nested too deeply; make it flatter") from None
    except InputError as error:
        raise ConfigError(str(error)) from None


def _section(text: str) -> Any:  # noqa: ANN401  # as parsed
    """Return our part of a pyproject.toml, {} where it has none."""
    tools = tomllib.loads(text).get("tool", {})
    return tools.get("ralph-tracker", {}) if isinstance(tools, Mapping) else {}
