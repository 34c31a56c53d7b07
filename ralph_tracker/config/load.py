"""Find the configuration, validate it once, freeze it, and tell later what changed."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.codec import decode
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import ConfigError, InputError, short_text
from ralph_tracker.safe_files import read_regular
from ralph_tracker.version import __version__

CONFIG_FILE: Final = "ralph-tracker.yaml"
PYPROJECT: Final = "pyproject.toml"
# `init` writes it, so that editors need no network; it is not committed.
SCHEMA_FILE: Final = ".aiwg/ralph/config.schema.json"
# The first line of a file that `init` wrote.
FOR_EDITORS: Final = f"# yaml-language-server: $schema={SCHEMA_FILE}\n"
NO_DIGEST: Final = ""


class Config(NamedTuple):
    """A validated configuration.

    `document` is every key with its value, as it is frozen in loop.yaml. `source` is the file it came from, None
    where the defaults stand alone. `digest` is that file's sha256, empty without one. `detected` says that the checks
    were found in the project, because no file names any. `limits` are the keys of `loop` that were given with the
    command and not in the file, `given` the names of such checks.
    """

    document: Mapping[str, Any]
    thresholds: Thresholds
    source: str | None
    digest: str
    detected: bool = False
    limits: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


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
        raise ConfigError(f"{name}: expected keys and values at the top, found {short_text(raw)}")
    from ralph_tracker.config.schema import validate_config  # noqa: PLC0415  pydantic costs more than all a hook does

    document = validate_config(raw, name)
    return Config(document, thresholds_of(document), source, digest)


def with_limits(config: Config, limits: Mapping[str, Any]) -> Config:
    """Put the limits that a command was given over those of the file. Raises ConfigError for what cannot be used."""
    if not limits:
        return config
    document = {**config.document, "loop": {**config.document["loop"], **limits}}
    return config_of(document, config.source, config.digest)._replace(limits=tuple(limits))


def with_checks(config: Config, checks: Mapping[str, Any]) -> Config:
    """Add checks that a command was given to those of the file. Raises ConfigError for what cannot be used."""
    if not checks:
        return config
    document = {**config.document, "checks": {**config.document["checks"], **checks}}
    added = config_of(document, config.source, config.digest)
    return added._replace(detected=config.detected, limits=config.limits, given=tuple(checks))


def frozen_config(document: Any, source: str, digest: str, mark: object) -> Config:  # noqa: ANN401  # as parsed
    """Take a configuration as it was frozen, or validate it where `mark` is not that of the file.

    Raises ConfigError.
    """
    if mark != validity_mark(document):
        return config_of(document, source, digest)
    return Config(document, thresholds_of(document), source, digest)


def validity_mark(document: Any) -> str:  # noqa: ANN401  # as parsed
    """Return the digest that marks a document as validated by this version."""
    return hashlib.sha256(f"{__version__}\n{document!r}".encode("utf-8", "surrogatepass")).hexdigest()


def thresholds_of(document: Mapping[str, Any]) -> Thresholds:
    """Return the thresholds of a validated configuration as the core takes them."""
    return decode(Thresholds, {name: document[name] for name in Thresholds._fields})


def config_digest(root: Path) -> str:
    """Return the sha256 of the configuration file as it is now, empty where there is none."""
    found = _find(root)
    return NO_DIGEST if found is None else hashlib.sha256(found[1]).hexdigest()


def changed_keys(root: Path, config: Config) -> tuple[str, ...]:
    """Name the keys in which the configuration now differs from the frozen one, `config`.

    A file that can no longer be used is a change too, and says so in place of a key. A file without checks leaves
    those alone that were `detected`; limits and checks that were given with the command are not the file's.
    """
    frozen = config.document
    try:
        if config_digest(root) == config.digest:
            return ()
        now = load_config(root).document
        if config.detected and not now["checks"]:
            now = {**now, "checks": frozen["checks"]}
        now = {**now, "loop": {**now["loop"], **{key: frozen["loop"][key] for key in config.limits}}}
        now = {**now, "checks": {**now["checks"], **{name: frozen["checks"][name] for name in config.given}}}
        return tuple(_differences(frozen, now))
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
            data = read_regular(path, inside=root, name=name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except InputError as error:
            raise ConfigError(str(error)) from None
        except OSError as error:
            raise ConfigError(f"{name}: cannot be read ({error.strerror}); fix or remove it") from None
        if name == CONFIG_FILE or b"ralph-tracker" in data:
            return path, data
    return None


def _parse(path: Path, data: bytes) -> Any:  # noqa: ANN401  # as parsed
    try:
        text = data.decode("utf-8-sig")
        return _section(text) if path.name == PYPROJECT else load_yaml(text, path.name)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{path.name}: nested too deeply; make it flatter") from None
    except InputError as error:
        raise ConfigError(str(error)) from None


def _section(text: str) -> Any:  # noqa: ANN401  # as parsed
    """Return our part of a pyproject.toml, {} where it has none. Raises ConfigError."""
    import tomllib  # noqa: PLC0415  # most projects have a file of ours

    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{PYPROJECT}: {error}") from None
    return tools.get("ralph-tracker", {}) if isinstance(tools, Mapping) else {}
