"""R5 by values: thresholds, lists and switches in settings of any format that demand less than before."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.integrity.file_versions import ChangedFile, Text, one_line
from ralph_tracker.integrity.line_rules import CHECKERS, CI, COMMANDS

SettingKind = Literal["floor", "ceiling", "left_out", "looked_at", "strict", "loose", "level"]


class Setting(NamedTuple):
    """The meaning of a settings key: `files` match the path, `sections` the section of the key.

    A floor must not be lowered or removed, a ceiling not raised. `left_out` lists must not grow, `looked_at` lists must
    not shrink. A strict switch must stay on, a loose one off, a level must not be lowered.
    """

    kind: SettingKind
    files: str
    sections: str
    keys: str


_PYTHON: Final = r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.ini|\.?mypy\.ini|\.?ruff\.toml|\.flake8|\.coveragerc|\.pylintrc|pyrightconfig\.json)$"
_SCRIPT: Final = (
    r"(^|/)(package\.json|(jest|vitest|vite|karma)\.config[\w.]*|\.?nycrc[\w.]*|\.c8rc[\w.]*|\.mocharc[\w.]*)$"
)
_BUILD: Final = r"(^|/)(pom\.xml|build\.gradle(\.kts)?)$"
_TYPESCRIPT: Final = r"(^|/)tsconfig[\w.]*\.json$"
_LINTERS: Final = r"ruff|flake8|mypy|pylint|pyright|^lint$|MESSAGES|MASTER|^$"
# fmt: off
SETTINGS: Final = (
    Setting("floor", _PYTHON, r"coverage|^report$|pylint|interrogate|^$", r"fail[_-]under"),
    Setting("floor", _PYTHON + "|" + COMMANDS, "", r"--cov-fail-under|--fail-under"),
    Setting("floor", _SCRIPT, "", r"branches|functions|lines|statements"),
    Setting("floor", _BUILD, "", r"minimum|minimumRatio|mutationThreshold|coverageThreshold"),
    Setting("floor", r"(^|/)\.?codecov\.ya?ml$", "", r"target"),
    Setting("ceiling", _PYTHON + "|" + COMMANDS + r"|(^|/)\.golangci\.\w+$|(^|/)\.?eslintrc[\w.]*$", "", r"max[-_]complexity|--max-warnings|max-branches|max-statements"),
    Setting("left_out", _PYTHON, r"coverage|^(run|report)$|^$", r"omit|exclude_lines|exclude_also|partial_branches"),
    Setting("left_out", _PYTHON, _LINTERS, r"(?:extend[_-])?(?:exclude|ignore)|disable|disable_error_code"),
    Setting("left_out", _SCRIPT, "", r"coveragePathIgnorePatterns|exclude"),
    Setting("left_out", r"(^|/)(\.eslintignore|\.golangci\.\w+|\.?eslintrc[\w.]*|eslint\.config\.\w+)$", "", r"ignorePatterns|ignores|disable|exclude-dirs|skip-dirs"),
    Setting("left_out", _PYTHON, _LINTERS + r"|per[-_]file", r"(?:extend[-_])?per[-_]file[-_]ignores"),
    Setting("looked_at", _PYTHON, r"ruff|flake8|^lint$|^$", r"(?:extend[_-])?select"),
    Setting("looked_at", _PYTHON, r"coverage|^run$|mypy", r"source|source_pkgs|files|packages"),
    Setting("looked_at", _SCRIPT, "", r"collectCoverageFrom"),
    Setting("strict", _PYTHON, "", r"strict|branch|xfail_strict|disallow_\w+|check_untyped_defs|warn_\w+|strict_\w+|no_implicit_\w+|extra_checks"),
    Setting("strict", _TYPESCRIPT, "", r"strict\w*|noImplicit\w+|noUnused\w+|noFallthrough\w+|noUnchecked\w+|exactOptional\w+|alwaysStrict|checkJs"),
    Setting("loose", _PYTHON, "", r"ignore_missing_imports|ignore_errors|follow_imports"),
    Setting("loose", _TYPESCRIPT, "", r"skipLibCheck|allowUnreachableCode|suppressImplicitAnyIndexErrors"),
    Setting("loose", _SCRIPT, "", r"passWithNoTests|dangerouslyIgnoreUnhandledErrors|allowOnly"),
    Setting("level", r"(^|/)(\.?eslintrc[\w.]*|eslint\.config\.\w+|package\.json|biome\.json|\.oxlintrc\.json)$", "", r"@?[\w-]+(?:/[\w-]+)+|[a-z]+(?:-[a-z]+)+|eqeqeq|curly|semi"),
    Setting("level", r"(^|/)Cargo\.toml$", r"lints", r"[\w-]+"),
)
# fmt: on
# Patterns that honest projects exclude as well: code that is not the project's, lines left out of coverage.
_HONESTLY_LEFT_OUT: Final = (
    r"tests?\b|conftest|venv|site-packages|node_modules|\bbuild|dist\b|migrations|docs?\b|examples?\b|benchmarks?\b|\.tox|\.nox|\.git|cache|target|"
    r"vendor|third_party|generated|_pb2|_version|__main__|setup\.py|fixtures|e2e|coverage|TYPE_CHECKING|NotImplementedError|overload|"
    r"abstractmethod|pragma|__name__|__init__|assert_never|__repr__|\.\.\.|Protocol|COM812|ISC001|\bE203|\bW503|\bE501"
)
# A table of paths with the codes that are ignored there, in a key or in a section of its own.
_BY_FILE: Final = re.compile(r"[\"']([^\"'\n]+)[\"']\s*=\s*\[([^\]]*)\]")
_SECTION_BY_FILE: Final = re.compile(r"^\[(.*)\.((?:extend-)?per-file-ignores)\]$\n((?:.+\n?)*)", re.MULTILINE)
_HEADER: Final = r"(?m)^[ \t]*\[+([^\]\n]+)\]+[ \t]*(?:#.*)?$"
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_ITEM: Final = r"\"((?:[^\"\\\n]|\\.)+)\"|'((?:[^'\\\n]|\\.)+)'|`([^`\n]+)`|([^\s,\[\]{}()\"'`;]+)"
_LEVELS: Final = {"off": 0, "allow": 0, "0": 0, "warn": 1, "1": 1, "error": 2, "deny": 2, "2": 2, "forbid": 3}
_ON: Final = frozenset({"true", "1", "yes", "on"})
_OPENING: Final = {"[": "]", "{": "}", "(": ")"}
_WIDE: Final = 20_000  # no settings value is longer

Value = tuple[str, ...]
Place = tuple[str, str]  # section and key
Settings = dict[Place, tuple[Value, int]]  # with the line of the first value


def find_lowered_settings(files: Iterable[ChangedFile]) -> Iterator[Finding]:
    """Yield the settings that demand less now; what is the first of its tool lowers nothing, unless it only allows."""
    files = tuple(files)
    fresh = {file.path for file in files if file.is_new}
    # Only tools of JavaScript, and nox, are set by programs.
    held = r"\.([cm]?[jt]sx?|kts)$|noxfile\.py$"
    files = tuple(file for file in files if not file.is_gone and (not file.is_code or re.search(held, file.path)))
    for setting in SETTINGS:
        looked_at = [file for file in files if re.search(setting.files, file.path)]
        now = {file.path: _settings(setting, file.new) for file in looked_at}
        everywhere = [(key, value) for settings in now.values() for (_, key), (value, _) in settings.items()]
        for file in looked_at:
            old, new = _settings(setting, file.old), now[file.path]
            only_allows = {value[0] for value, _ in new.values()} == {"allow"}
            if setting.kind == "level" and only_allows and not (old or file.is_new):
                # The first levels ask for nothing: they only take away what the compiler says by default.
                old = dict.fromkeys(new, (("warn",), 0))
            for place in sorted(old.keys() | new.keys()):
                (before, _), (after, line) = old.get(place, (None, 0)), new.get(place, (None, 0))
                if before is None and (file.is_new or not _is_known_tool(place[0], file.old)):
                    continue
                said = _is_lower(setting.kind, before, _without_new_files(after, fresh))
                # Not lowered if it was moved to another section or file.
                if said is None or (
                    after is None
                    and any(
                        key == place[1] and _is_lower(setting.kind, before, value) is None for key, value in everywhere
                    )
                ):
                    continue
                yield Finding(
                    "R5",
                    Severity.HIGH,
                    f"{place[1]} {said}; put it back.",
                    file.path,
                    line=line or None,
                    old=None if before is None else one_line(", ".join(before)),
                    new=None if after is None else one_line(", ".join(after)),
                    about=place[1],
                )


def _is_known_tool(section: str, old: Text) -> bool:
    """Return whether the earlier settings had a section of the tool; a file of one tool always has."""
    if not re.search(r"(^|/)(pyproject\.toml|setup\.cfg|tox\.ini|package\.json|Cargo\.toml)$", old.path):
        return True
    return _tool(section) in {_tool(name) for _, name in _sections(old.text, old.path)}


def _tool(section: str) -> str:
    return re.split(r"[.:-]", re.sub(r"^tool[.:]", "", section.strip("\"' ")))[0]


def _without_new_files(value: Value | None, fresh: Collection[str]) -> Value | None:
    """Return the items of a value but those that name a file which is new in the same change."""
    if value is None or not fresh:
        return value
    ends = tuple(f"/{path}" for path in fresh)
    return tuple(
        one for one in value if not any(end.endswith(f"/{re.sub(r'^(?:[.*]+/)+|: .*', '', one)}") for end in ends)
    )


def checks_removed(files: Iterable[ChangedFile]) -> Iterator[Finding]:
    """Yield the check programs that a changed workflow ran and that none runs now."""
    workflows = [file for file in files if re.search(CI, file.path)]
    now = "\n".join(line for file in workflows for line in _without_installation(file.new))
    reported = set()
    for file in workflows:
        for line in _without_installation(file.old):
            for program in re.findall(rf"\b{CHECKERS}", line):
                if program not in reported and not re.search(rf"\b{re.escape(program)}\b", now):
                    reported.add(program)
                    message = f"CI does not run `{program}` any more; put the step back."
                    yield Finding("R5", Severity.HIGH, message, file.path, old=one_line(line), about=program)


def _without_installation(workflow: Text) -> list[str]:
    return [line for line in workflow.code.split("\n") if "install" not in line]


def _is_lower(kind: SettingKind, old: Value | None, new: Value | None) -> str | None:
    """Return how a setting was weakened, None if it was not; a value of None is an absent key."""
    if kind in {"floor", "ceiling"}:
        return _is_number_eased(old, new, up=kind == "ceiling")
    if kind in {"left_out", "looked_at"}:
        return _is_list_eased(old or (), new or (), leaves_out=kind == "left_out")
    before, after = (old or ("",))[0].lower(), (new or ("",))[0].lower()
    if kind == "strict":
        return "was switched off" if before in _ON and after not in _ON else None
    if kind == "loose":
        return "was switched on" if after in {*_ON, "skip", "silent"} and before != after else None
    if before in _LEVELS and _LEVELS.get(after, 0 if new is not None else 3) < _LEVELS[before]:
        return f"was lowered from {before} to {after}"
    return None


def _is_number_eased(old: Value | None, new: Value | None, *, up: bool) -> str | None:
    number = re.match(_NUMBER, old[0]) if old else None
    if number is None:
        return None
    then = re.match(_NUMBER, new[0]) if new else None
    if then is None:
        return f"was removed (it was {number[0]})"
    if (float(then[0]) > float(number[0])) if up else (float(then[0]) < float(number[0])):
        return f"was {'raised' if up else 'lowered'} from {number[0]} to {then[0]}"
    return None


def _is_list_eased(old: Value, new: Value, *, leaves_out: bool) -> str | None:
    if leaves_out:
        more = [each for each in new if each not in old and not re.search(_HONESTLY_LEFT_OUT, each)]
        # With the same number of items, one pattern replaced another.
        return f"leaves out more ({', '.join(more[:3])})" if more and len(new) > len(old) else None
    fewer = [each for each in old if each not in new]
    if new and fewer and len(new) < len(old) and "ALL" not in new:
        return f"looks at less (without {', '.join(fewer[:3])})"
    return None


def _settings(setting: Setting, side: Text) -> Settings:
    """Return the values of a setting's keys in TOML, INI, JSON, YAML, XML, JavaScript or a command."""
    text = side.code if side.path.endswith(".json") or re.search(r"\.[cm]?[jt]s$", side.path) else side.text
    sections = _sections(text, side.path)
    pattern = (
        rf"(?m)(?:^[ \t]*(?:-[ \t]+)?|[{{,\s<])[\"']?(?P<key>{setting.keys})[\"']?(?:[ \t]*[:=>(][ \t]*|[ \t]+(?=\d))"
    )
    found: Settings = {}
    if "per[-_]file" in setting.keys:
        text = _SECTION_BY_FILE.sub(r"[\1]\n\2 = {\n\3}\n", text)
    for match in re.finditer(pattern, text):
        section = next((name for start, name in reversed(sections) if start < match.start("key")), "")
        start = text.rfind("\n", 0, match.start("key")) + 1
        if text[start : match.start("key")].lstrip().startswith(("#", ";")) or not re.search(setting.sections, section):
            continue
        value = _value(text, match.end(), match.start("key") - start)
        if value:
            place = (section, match["key"].replace("_", "-").lower())
            line = text.count("\n", 0, match.start("key")) + 1
            earlier = found.get(place)
            found[place] = (value, line) if earlier is None else (earlier[0] + value, earlier[1])
    return found


def _sections(text: str, path: str) -> list[tuple[int, str]]:
    """Return where each section starts, and its name; of package.json, the keys of its object."""
    if not path.endswith("package.json"):
        return [(each.start(), each[1].strip()) for each in re.finditer(_HEADER, text)]
    found, depth = [], 0
    for each in re.finditer(r"\"((?:[^\"\\\n]|\\.)*)\"[ \t]*:|\"(?:[^\"\\\n]|\\.)*\"|[\[{]|[\]}]", text):
        depth += (each[0] in "[{") - (each[0] in "]}")
        if each[1] and depth == 1:
            found.append((each.start(), each[1]))
    return found


def _value(text: str, start: int, indent: int) -> Value:
    """Return the items of a value: inside its brackets, or on the rest of its line and in more indented lines below."""
    closing = _OPENING.get(text[start : start + 1])
    if closing is not None:
        depth = 0
        for at in range(start, min(len(text), start + _WIDE)):
            depth += (text[at] in _OPENING) - (text[at] in "]})")
            if depth == 0:
                inside = text[start + 1 : at]
                return tuple(": ".join(each) for each in _BY_FILE.findall(inside)) or _items(inside)
        return ()
    line, _, rest = text[start : start + _WIDE].partition("\n")
    line = re.split(r"\s#|</|,\s*$", line)[0]
    below = ""
    for each in rest.split("\n"):
        if each.strip() and len(each) - len(each.lstrip()) < indent + (not each.lstrip().startswith("-")):
            break
        below += each + "\n"
    return _items(f"{line}\n{below}")


def _items(text: str) -> Value:
    text = re.sub(r"(^|\s)[#;][^\n]*", "", text)
    found = (next(filter(None, each)) for each in re.findall(_ITEM, text))
    return tuple(item for item in found if item not in {"-", "=", ":"})
