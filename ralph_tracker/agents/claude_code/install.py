"""Install the tracker in Claude Code's settings or a plugin folder, and uninstall exactly that."""

import json
import re
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.errors import InputError
from ralph_tracker.store.files import as_store_error, digest, write_whole
from ralph_tracker.store.reading import read_bytes, read_json
from ralph_tracker.version import __version__

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_INDENT: Final = "  "
HOOK: Final = " agent hook claude-code"
STATUS_LINE: Final = " agent status-line claude-code"
# In seconds. The end of a turn, and the start of a session that wants a loop, run the project's checks.
TIMEOUTS: Final[Mapping[str, int]] = {
    "SessionStart": 1800,
    "UserPromptSubmit": 30,
    "PostToolUse": 30,
    "PostToolUseFailure": 30,
    "PostToolBatch": 30,
    "Stop": 1800,
    "StopFailure": 30,
}
_HOOKS: Final = "hooks"
_BOM: Final = "\ufeff"
FOLDER: Final = ".claude"
SETTINGS: Final = "settings.json"
NOTE: Final = ".ralph-tracker-installed.json"
PLUGIN: Final = "ralph-tracker"
_SCHEMA: Final = 1
_OWNERS: Final = 0o644


@dataclass(frozen=True, slots=True)
class Child:
    """A value within another: its key (None in an array), where it begins (including the key), and the value."""

    key: str | None
    start: int
    value: "Value"


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value and its position in the text, `end` exclusive."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> "Value | None":
        """Return the value of a key, the last one if it is repeated, as JSON readers do."""
        return next((each.value for each in reversed(self.children) if each.key == key), None)

    def plain(self, text: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return the parsed value."""
        return json.loads(text[self.start : self.end])


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of a text: its line ends, one level of indentation, and whether it has line breaks."""

    newline: str
    indent: str
    lines: bool


def places(text: str) -> Value:
    """Return the value in a JSON text. Raises ValueError, with the line, for invalid JSON."""
    json.loads(text, parse_constant=_no_constant)
    return _value(text, _skip(text, 0))


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int) -> Value:
    if text[at] in "{[":
        return _container(text, at)
    found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
    return Value("scalar", at, at if found is None else found.end())


def _container(text: str, start: int) -> Value:
    kind: Literal["object", "array"] = "object" if text[start] == "{" else "array"
    children = []
    at = _skip(text, start + 1)
    while text[at] not in "]}":
        key, begins = None, at
        if kind == "object":
            name = _STRING.match(text, at)
            end = at if name is None else name.end()
            key = json.loads(text[at:end])
            at = _skip(text, _skip(text, end) + 1)
        value = _value(text, at)
        children.append(Child(key, begins, value))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Value(kind, start, at + 1, tuple(children))


def style_of(text: str, root: Value) -> Style:
    """Return the layout of a text; for an empty document, a layout with line breaks."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.children:
        return Style(newline, _INDENT, lines=True)
    before = text[root.start + 1 : root.children[0].start]
    if "\n" not in before:
        return Style(newline, _INDENT, lines=False)
    own = before.rpartition("\n")[2]
    return Style(newline, own or _INDENT, lines=True)


def insertion(text: str, container: Value, key: str | None, value: Any, style: Style) -> tuple[int, str]:  # noqa: ANN401
    """Return where to insert which text to append a value to a container."""
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if container.children:
        first, last = container.children[0], container.children[-1]
        before = text[container.start + 1 : first.start]
        if "\n" not in before:
            return last.value.end, f", {name}{json.dumps(value, ensure_ascii=False)}"
        indent = before.rpartition("\n")[2]
        return last.value.end, f",{style.newline}{indent}{name}{_laid_out(value, indent, style)}"
    if not style.lines:
        return container.start + 1, f"{name}{json.dumps(value, ensure_ascii=False)}"
    outer = _indentation(text, container.start)
    indent = outer + style.indent
    closing = "" if "\n" in text[container.start : container.end] else style.newline + outer
    return container.start + 1, f"{style.newline}{indent}{name}{_laid_out(value, indent, style)}{closing}"


def removal(container: Value, child: Child) -> tuple[int, int]:
    """Return the range of the text to cut to remove a value from a container."""
    index = container.children.index(child)
    if len(container.children) == 1:
        return container.start + 1, container.end - 1
    if index:
        return container.children[index - 1].value.end, child.value.end
    return child.start, container.children[1].start


def _laid_out(value: Any, indent: str, style: Style) -> str:  # noqa: ANN401  # any JSON value
    text = json.dumps(value, ensure_ascii=False, indent=style.indent)
    return text.replace("\n", style.newline + indent)


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


class EditedText(NamedTuple):
    """A text, with the insertions that led to it, in order: positions and lengths."""

    text: str
    inserted: tuple[tuple[int, int], ...] = ()

    def put(self, container: Value, key: str | None, value: Any, style: Style) -> "EditedText":  # noqa: ANN401
        """Return it with a value appended to a container."""
        at, more = insertion(self.text, container, key, value, style)
        return EditedText(self.text[:at] + more + self.text[at:], (*self.inserted, (at, len(more))))


def hooks_of(program: str) -> dict[str, list[dict[str, Any]]]:
    """Return our hooks by event; `program` is quoted for the shell."""
    return {
        event: [{"hooks": [{"type": "command", "command": program + HOOK, "timeout": timeout}]}]
        for event, timeout in TIMEOUTS.items()
    }


def merged(text: str, program: str, name: str, *, status_line: bool) -> EditedText:
    """Append our entries to a settings file; `status_line` is whether to add one, if the user has none.

    `name` is the file's name for errors. Raises InputError for an invalid settings file.
    """
    edited = EditedText(text.removeprefix(_BOM))
    if not edited.text.strip():
        whole = _new(program, status_line=status_line)
        return EditedText(text + whole, ((len(text), len(whole)),))
    style = style_of(edited.text, _root(edited.text, name))
    ours = hooks_of(program)
    if _root(edited.text, name).child(_HOOKS) is None:
        edited = edited.put(_root(edited.text, name), _HOOKS, ours, style)
    else:
        for event, groups in ours.items():
            hooks = _hooks(edited.text, name)
            known = hooks.child(event)
            if known is None:
                edited = edited.put(hooks, event, groups, style)
            else:
                _refuse_other(known, "array", f"hooks.{event}", name)
                edited = edited.put(known, None, groups[0], style)
    if status_line and _root(edited.text, name).child("statusLine") is None:
        edited = edited.put(_root(edited.text, name), "statusLine", _status_line(program), style)
    moved = len(text) - len(text.removeprefix(_BOM))
    return EditedText(text[:moved] + edited.text, tuple((at + moved, size) for at, size in edited.inserted))


def _new(program: str, *, status_line: bool) -> str:
    document: dict[str, Any] = {_HOOKS: hooks_of(program)}
    if status_line:
        document["statusLine"] = _status_line(program)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _status_line(program: str) -> dict[str, Any]:
    return {"type": "command", "command": program + STATUS_LINE, "padding": 0}


def unmerged(edited: EditedText) -> str:
    """Return the text before the insertions, byte for byte."""
    text = edited.text
    for at, size in reversed(edited.inserted):
        text = text[:at] + text[at + size :]
    return text


def without_ours(text: str, name: str, kept: Collection[str] = ()) -> str:
    """Remove our entries from a text that was edited since, and what is empty without them.

    `kept` are containers, as returned by `containers`, that stay even if empty. Raises InputError.
    """
    start = len(text) - len(text.removeprefix(_BOM))
    bom, text = text[:start], text[start:]
    while True:
        found = next(_ours(text, _root(text, name), kept), None)
        if found is None:
            return bom + text
        begin, end = removal(*found)
        text = text[:begin] + text[end:]


def containers(text: str) -> list[str]:
    """Return the containers for hooks in a settings file: "hooks" and its events."""
    try:
        hooks = json.loads(text.removeprefix(_BOM)).get("hooks")
    except (ValueError, AttributeError, RecursionError):
        return []
    return [_HOOKS, *(event for event in TIMEOUTS if event in hooks)] if isinstance(hooks, dict) else []


def hooks_of_ours(text: str, name: str) -> set[tuple[str, str]]:
    """Return our hooks in a settings file as (event, command). Raises InputError for an invalid settings file."""
    text = text.removeprefix(_BOM)
    hooks = _root(text, name).child(_HOOKS)
    plain = None if hooks is None else hooks.plain(text)
    events = plain.items() if isinstance(plain, dict) else ()
    return {(event, command) for event, groups in events for command in _commands(groups)}


def is_whole(found: set[tuple[str, str]], program: str) -> bool:
    """Return whether these are our hooks for all events, and all call `program` (quoted for the shell)."""
    return found == {(event, program + HOOK) for event in TIMEOUTS}


def has_status_line(text: str) -> bool:
    """Return whether a settings file has a status line; False if it cannot be read."""
    try:
        return "statusLine" in json.loads(text.removeprefix(_BOM))
    except (ValueError, TypeError, RecursionError):
        return False


def _root(text: str, name: str) -> Value:
    try:
        root = places(text)
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; nothing was changed") from None
    except ValueError as error:
        raise InputError(f"{name}: not JSON ({error}); fix it, comments are none; nothing was changed") from None
    _refuse_other(root, "object", "the document", name)
    return root


def _hooks(text: str, name: str) -> Value:
    hooks = _root(text, name).child(_HOOKS)
    assert hooks is not None  # noqa: S101  # it was there, and nothing is removed here
    _refuse_other(hooks, "object", "hooks", name)
    return hooks


def _refuse_other(value: Value, kind: str, key: str, name: str) -> None:
    if value.kind != kind:
        raise InputError(f"{name}: {key} is no JSON {kind}; fix it; nothing was changed")


def _ours(text: str, root: Value, kept: Collection[str]) -> Iterator[tuple[Value, Child]]:
    """Yield what can be removed in one cut, with the largest parts that contain only ours."""
    for child in root.children:
        if child.key == "statusLine" and _is_ours(child.value.plain(text)):
            yield root, child
        if child.key == _HOOKS:
            yield from _ours_within(text, root, child, kept)


def _ours_within(text: str, container: Value, child: Child, kept: Collection[str]) -> Iterator[tuple[Value, Child]]:
    """Yield a part that contains only our hooks, or else such parts within it."""
    whole = child.value.plain(text)
    if child.key not in kept and (_is_ours(whole) or _all_ours(whole)):
        yield container, child
        return
    for each in child.value.children:
        if each.value.kind != "scalar":
            yield from _ours_within(text, child.value, each, kept)


def _all_ours(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Return whether a part of the hooks (list, group, event or all) contains only ours."""
    if isinstance(value, list):
        return bool(value) and all(_is_ours(each) or _all_ours(each) for each in value)
    if isinstance(value, dict):
        if "hooks" in value:
            return _all_ours(value["hooks"])
        return bool(value) and all(isinstance(each, list) and _all_ours(each) for each in value.values())
    return False


def _commands(value: Any) -> Iterator[str]:  # noqa: ANN401  # any JSON value
    if _is_ours(value):
        yield str(value["command"])
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _commands(each)


def _is_ours(handler: Any) -> bool:  # noqa: ANN401  # any JSON value
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and "ralph-tracker" in command and command.endswith((HOOK, STATUS_LINE))


class Installation(NamedTuple):
    """The settings file to edit, and other files whose status line one in it would hide."""

    settings: Path
    others: tuple[Path, ...] = ()

    @classmethod
    def of_project(cls, root: Path, environment: Mapping[str, str]) -> "Installation":
        """Return the installation for a project."""
        folder = root / FOLDER
        return cls(folder / SETTINGS, (folder / "settings.local.json", user_folder(environment) / SETTINGS))

    @classmethod
    def of_user(cls, environment: Mapping[str, str]) -> "Installation":
        """Return the installation for a user: it applies to every project, and does nothing in those without a loop."""
        return cls(user_folder(environment) / SETTINGS)

    @property
    def note(self) -> Path:
        """Return the file that records what was inserted where."""
        return self.settings.parent / NOTE

    def install(self, program: Path) -> str:
        """Merge our entries into the settings, and return what was done, in words.

        Raises InputError for an invalid settings file, StoreError if the disk refuses.
        """
        word, name = shlex.quote(str(program)), str(self.settings)
        text = self._text()
        known = set() if text is None or not text.strip() else hooks_of_ours(text, name)
        if is_whole(known, word):
            return f"{name}: installed already, nothing was changed"
        if known:  # of another ralph-tracker, or incomplete: replace them
            self.uninstall()
            text = self._text()
        status_line = not any(has_status_line(self._read(other) or "") for other in self.others)
        edited = merged(text or "", word, name, status_line=status_line)
        new_folder = not self.settings.parent.is_dir()
        self._write(edited.text)
        note = {
            "schema_version": _SCHEMA,
            "settings": digest(edited.text.encode()),
            "inserted": [list(each) for each in edited.inserted],
            "kept": containers(text or ""),
            "new_file": text is None,
            "new_folder": new_folder,
        }
        with as_store_error(self.note):
            write_whole(self.note, json.dumps(note).encode() + b"\n")
        return f"{name}: hooks added" + (", status line added" if _adds_line(text or "", edited) else "")

    def uninstall(self) -> str:
        """Remove our entries, and return what was done, in words. Raises as `install` does."""
        text, name = self._text(), str(self.settings)
        note = self._note()
        if text is None or not (note or text.strip()):
            self.note.unlink(missing_ok=True)
            return f"{name}: nothing of ours is there"
        if note is not None and note["settings"] == digest(text.encode()):
            before = unmerged(EditedText(text, tuple((at, size) for at, size in note["inserted"])))
        else:
            before = without_ours(text, name, note["kept"] if note else ()) if text.strip() else text
        gone = note is not None and note["new_file"] and before.strip() in {"", "{}"}
        with as_store_error(self.settings):
            if gone:
                self.settings.unlink()
            elif before != text:
                self._write(before)
            self.note.unlink(missing_ok=True)
            if gone and note is not None and note["new_folder"]:
                with suppress(OSError):  # not empty
                    self.settings.parent.rmdir()
        return f"{name}: taken out" if before != text else f"{name}: nothing of ours is there"

    def _text(self) -> str | None:
        return self._read(self.settings)

    @staticmethod
    def _read(path: Path) -> str | None:
        data = read_bytes(path)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8; save it as UTF-8; nothing was changed") from None

    def _write(self, text: str) -> None:
        """Write the settings in place, keeping permissions and following a link."""
        with as_store_error(self.settings):
            target = self.settings.resolve()
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _OWNERS
            write_whole(target, text.encode(), mode=mode)

    def _note(self) -> dict[str, Any] | None:
        note = read_json(self.note)
        keys = {"settings", "inserted", "kept", "new_file", "new_folder"}
        return note if isinstance(note, dict) and note.keys() >= keys else None


def _adds_line(before: str, edited: EditedText) -> bool:
    return has_status_line(edited.text) and not has_status_line(before)


def user_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the client's user settings."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path(environment.get("HOME", "~")).expanduser() / FOLDER


def plugin_files(program: Path) -> dict[str, str]:
    """Return the files of a plugin that calls this program."""
    about = "Measures every turn of a refine-until-done loop, and tells the agent what fails"
    manifest = {"name": PLUGIN, "version": __version__, "description": about}
    hooks = {"description": about, "hooks": hooks_of(shlex.quote(str(program)))}
    documents = {".claude-plugin/plugin.json": manifest, "hooks/hooks.json": hooks}
    return {name: json.dumps(document, indent=2) + "\n" for name, document in documents.items()}


def install_plugin(folder: Path, program: Path) -> str:
    """Write a plugin folder, or update ours. Raises InputError if the folder is something else."""
    _refuse_foreign(folder)
    for name, text in plugin_files(program).items():
        with as_store_error(folder / name):
            write_whole(folder / name, text.encode())
    return f"{folder}: plugin written"


def uninstall_plugin(folder: Path) -> str:
    """Remove our plugin and then empty folders. Raises as `install_plugin` does."""
    _refuse_foreign(folder)
    if not (folder / ".claude-plugin" / "plugin.json").exists():
        return f"{folder}: nothing of ours is there"
    with as_store_error(folder):
        for name in plugin_files(Path(PLUGIN)):
            (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                (folder / name).parent.rmdir()
        with suppress(OSError):
            folder.rmdir()
    return f"{folder}: taken out"


def _refuse_foreign(folder: Path) -> None:
    """Raise InputError if a folder contains anything but our plugin."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: no folder; name another one")
    manifest = read_json(folder / ".claude-plugin" / "plugin.json")
    ours = isinstance(manifest, dict) and manifest.get("name") == PLUGIN
    if not ours and any(folder.iterdir()):
        raise InputError(f"{folder}: holds something else than our plugin; name another folder, or an empty one")
