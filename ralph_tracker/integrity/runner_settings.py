"""Part the runner's settings from those of the source, for a run that needs the source's new settings.

What earlier tests cannot load with the earlier settings is run once more with the new ones (workspaces, aliases, paths,
dependencies), but without what could decide an outcome: the runner's own sections, plugins and inline code stay as they
were.
"""

import json
import re
from typing import Final

# Files in which the runner's own sections stand beside others that the source needs.
_SECTIONS: Final = {
    "pyproject.toml": re.compile(r"tool\.(pytest|tox|nox|behave)\b"),
    "setup.cfg": re.compile(r"tool:pytest$|tox:|aliases$"),
    "Cargo.toml": re.compile(r"test$|profile\.(test|nextest)\b"),
    "pytest.ini": re.compile(""),
}
# Where pytest finds the source: of the source, too.
_PLACES: Final = re.compile(r"^pythonpath\s*=\s*(?:\[[^\]]*\]|[^\n\[]*(?:\n[ \t]+\S[^\n]*)*)", re.MULTILINE)
_HEADER: Final = re.compile(r"\[{1,2}([\w .:\"'-]+)\]{1,2}[ \t]*(?:#.*)?$")
_PACKAGE_KEYS: Final = frozenset({"jest", "mocha", "vitest", "ava", "nyc", "c8", "tap", "jasmine", "bun"})
_TEST_SCRIPT: Final = re.compile(r"(pre|post)?test\b")
# Settings of the source alone.
_OF_SOURCE: Final = re.compile(
    r"(^|/)(tsconfig[^/]*\.json|(deno|composer)\.json|pnpm-workspace\.yaml|go\.(mod|work)|pom\.xml"
    r"|(build|settings)\.gradle(\.kts)?|gradle\.properties|build\.rs)$"
)
# What makes a configuration more than a list of places.
_ACTING: Final = re.compile(
    r"=>|\bfunction\b|\bplugins\b|setupFiles|globalSetup|transform|environment|[rR]unner|reporters|exclude|include"
    r"|\b(?:process|globalThis|sequence|onConsoleLog|retry|bail|passWithNoTests|allowOnly)\b"
)


def settings_for_retry(path: str, earlier: str | None, now: str | None) -> str | None:
    """Return a settings file with the source's settings of now and the runner's of before; None for no such file.

    `earlier` and `now` are its two forms, None where it is absent.
    """
    name = path.rpartition("/")[2]
    if now is not None and _OF_SOURCE.search(path):
        return now
    if now is not None and name in _SECTIONS:
        own, sections = _SECTIONS[name], _sections(now)
        kept = [body for header, body in sections if not own.match(header)]
        places = {header: found for header, body in sections if own.match(header) and (found := _PLACES.findall(body))}
        before = [(header, _PLACES.sub("", body)) for header, body in _sections(earlier or "") if own.match(header)]
        before += [(header, f"[{header}]") for header in places if header not in dict(before)]
        return "\n".join([*kept, *("\n".join([body, *places.get(header, ())]) for header, body in before)]) or earlier
    if now is not None and name == "package.json":
        return _package_for_retry(earlier, now)
    if now is not None and re.search(r"\.(config|workspace)\.[cm]?[jt]s$", path):
        known = set((earlier or "").splitlines())
        added = "\n".join(line for line in now.splitlines() if line not in known)
        return earlier if _ACTING.search(added) else now
    return earlier


def _sections(text: str) -> list[tuple[str, str]]:
    """Return the sections of a TOML or INI file with their headers, "" for the part above the first one."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        header = _HEADER.match(line)
        if header:
            found.append((header[1].strip(), []))
        found[-1][1].append(line)
    return [(header, "\n".join(lines)) for header, lines in found]


def _package_for_retry(earlier: str | None, now: str) -> str | None:
    try:
        old, new = json.loads(earlier or "{}"), json.loads(now)
        scripts = {name: run for name, run in new.get("scripts", {}).items() if not _TEST_SCRIPT.match(name)}
        scripts |= {name: run for name, run in old.get("scripts", {}).items() if _TEST_SCRIPT.match(name)}
        of_source = {key: value for key, value in new.items() if key not in _PACKAGE_KEYS}
        own = {key: value for key, value in old.items() if key in _PACKAGE_KEYS}
    except (ValueError, AttributeError, RecursionError):  # of other types, too
        return earlier
    return json.dumps(of_source | own | {"scripts": scripts}, indent=2) + "\n"
