"""Into the settings and out again: the same bytes, the same rights, nothing left behind."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from ralph_tracker.agents.hosts.claude_code import HOST
from ralph_tracker.agents.hosts.host import HOSTS, load_object
from ralph_tracker.agents.hosts.installation import NOTE, Installation, PluginFolder
from ralph_tracker.agents.hosts.settings_text import absolute, portable_command, user_file
from ralph_tracker.errors import InputError
from tests.store import conftest as of_the_store
from tests.tables import table

cut_short = of_the_store.cut_short

RALPH = Path("/opt/with space/bin/ralph-tracker")
PROGRAM = absolute(RALPH, HOST.name)
MINE = '{\n    "model": "opus"\n}'


@pytest.fixture
def place(tmp_path):
    return Installation.of(HOST, "project", tmp_path / "project", {"HOME": str(tmp_path / "home")})


def existing(place, text=MINE):
    place.file.parent.mkdir(parents=True)
    place.file.write_text(text)
    return place


def test_where_nothing_was_nothing_is_left(place, tmp_path):
    (tmp_path / "project").mkdir()
    assert place.install(PROGRAM) == f"{place.file}: hooks added, status line added"
    assert place.uninstall() == f"{place.file}: taken out"
    assert list((tmp_path / "project").iterdir()) == []


def test_a_folder_that_holds_something_else_by_then_stays(place):
    place.install(PROGRAM)
    (place.file.parent / "mine").touch()
    place.uninstall()
    assert [path.name for path in place.file.parent.iterdir()] == ["mine"]


def test_settings_that_were_there_are_the_same_to_the_byte(place):
    existing(place).install(PROGRAM)
    assert place.file.read_text() != MINE
    place.uninstall()
    assert place.file.read_text() == MINE
    assert [path.name for path in place.file.parent.iterdir()] == ["settings.json"]


def test_an_edit_in_between_stays(place):
    existing(place).install(PROGRAM)
    place.file.write_text(place.file.read_text().replace("opus", "sonnet"))
    place.uninstall()
    assert place.file.read_text() == MINE.replace("opus", "sonnet")


def test_a_new_file_that_was_edited_in_between_stays_without_ours(place):
    place.install(PROGRAM)
    place.file.write_text(json.dumps(json.loads(place.file.read_text()) | {"model": "opus"}))
    place.uninstall()
    assert json.loads(place.file.read_text()) == {"model": "opus"}


@pytest.mark.parametrize("note", [None, "{", "[]", "{}"], ids=["gone", "damaged", "a list", "empty"])
def test_without_the_note_only_ours_goes(place, note):
    existing(place).install(PROGRAM)
    if note is None:
        (place.file.parent / f"{NOTE}.json").unlink()
    else:
        (place.file.parent / f"{NOTE}.json").write_text(note)
    place.uninstall()
    assert json.loads(place.file.read_text()) == {"model": "opus"}
    assert not (place.file.parent / f"{NOTE}.json").exists()


def test_the_command_is_an_absolute_path_that_a_shell_takes_as_one_word(place):
    place.install(PROGRAM)
    settings = json.loads(place.file.read_text())
    command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command == "'/opt/with space/bin/ralph-tracker' agent hook claude-code"
    assert settings["statusLine"]["command"] == "'/opt/with space/bin/ralph-tracker' agent status-line claude-code"


def test_installing_twice_changes_nothing(place):
    existing(place).install(PROGRAM)
    before = place.file.read_bytes()
    assert place.install(PROGRAM) == f"{place.file}: installed already, nothing was changed"
    assert place.file.read_bytes() == before


def test_an_entry_that_is_missing_is_put_back(place):
    existing(place).install(PROGRAM)
    settings = json.loads(place.file.read_text())
    del settings["hooks"]["StopFailure"]
    place.file.write_text(json.dumps(settings))
    assert place.install(PROGRAM) == f"{place.file}: hooks added, status line added"
    assert "StopFailure" in json.loads(place.file.read_text())["hooks"]


def test_another_ralph_tracker_takes_the_place_of_the_first(place):
    existing(place).install(absolute(Path("/old/ralph-tracker"), HOST.name))
    place.install(PROGRAM)
    assert "/old/" not in place.file.read_text()
    place.uninstall()
    assert place.file.read_text() == MINE


@pytest.mark.parametrize("text", [None, MINE], ids=["no settings", "settings"])
@pytest.mark.parametrize("again", [True, False], ids=["installed again", "taken out at once"])
def test_a_killed_installation_leaves_no_trace_once_it_is_taken_out(text, again, place, monkeypatch):
    place.top.mkdir()
    if text is not None:
        existing(place, text)

    def die(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(Installation, "_write", die)
        with pytest.raises(KeyboardInterrupt):
            place.install(PROGRAM)
    assert place.note.exists()
    (place.file.parent / ".tmp-0123456789abcdef").touch()
    (place.file.parent / ".tmp-mine").touch()
    if again:
        assert place.install(PROGRAM).startswith(f"{place.file}: hooks added")
    (place.file.parent / ".tmp-mine").unlink()
    place.uninstall()
    assert list(place.top.iterdir()) == ([] if text is None else [place.file.parent])
    assert text is None or (place.file.read_text() == text and list(place.file.parent.iterdir()) == [place.file])


def test_taking_out_what_is_not_there_changes_nothing(place):
    assert place.uninstall() == f"{place.file}: nothing of ralph-tracker is installed there"
    assert existing(place).uninstall() == f"{place.file}: nothing of ralph-tracker is installed there"
    assert place.file.read_text() == MINE


def test_empty_settings_stay_a_file(place):
    existing(place, "").install(PROGRAM)
    place.uninstall()
    assert place.file.read_text() == ""
    assert place.uninstall() == f"{place.file}: nothing of ralph-tracker is installed there"


@pytest.mark.parametrize("other", [0, 1], ids=["local", "user"])
def test_a_status_line_of_the_user_elsewhere_is_not_hidden(place, other):
    place.others[other].parent.mkdir(parents=True)
    place.others[other].write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    assert place.install(PROGRAM) == f"{place.file}: hooks added"
    assert "statusLine" not in json.loads(place.file.read_text())


def test_rights_stay_and_a_link_of_the_user_stays_one(tmp_path):
    place = Installation.of(HOST, "user", tmp_path, {"HOME": str(tmp_path / "home")})
    real = tmp_path / "dotfiles.json"
    real.write_text(MINE)
    real.chmod(0o600)
    place.file.parent.mkdir(parents=True)
    place.file.symlink_to(real)
    place.install(PROGRAM)
    assert place.file.is_symlink()
    assert "hooks" in json.loads(real.read_text())
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    place.uninstall()
    assert real.read_text() == MINE


@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "to nowhere"])
@pytest.mark.parametrize("linked", ["folder", "file"])
@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_link_that_leads_out_of_a_project_is_not_followed(scope, linked, exists, tmp_path):
    own = tmp_path / "home/.claude"
    own.mkdir(parents=True)
    place = Installation.of(HOST, scope, tmp_path / "project", {"HOME": str(tmp_path / "home")})
    target = own / place.file.name
    if exists:
        target.write_text(MINE)
    place.top.mkdir()
    if linked == "folder":
        place.file.parent.symlink_to(own)
    else:
        place.file.parent.mkdir()
        place.file.symlink_to(target)
    for act in (lambda: place.install(PROGRAM), place.uninstall):
        with pytest.raises(InputError, match=rf"a link leads to {target}, out of the project; use --user"):
            act()
    assert [path.name for path in own.iterdir()] == ([target.name] if exists else [])
    assert not exists or target.read_text() == MINE


def test_a_link_within_the_project_is_followed_and_the_real_file_named(place):
    place.file.parent.mkdir(parents=True)
    real = place.top / "settings/claude.json"
    real.parent.mkdir()
    real.write_text(MINE)
    place.file.symlink_to(real)
    assert place.install(PROGRAM).startswith(f"{real}: hooks added")
    place.uninstall()
    assert real.read_text() == MINE


def test_bytes_that_are_no_text_are_refused(place):
    existing(place).file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match="not UTF-8"):
        place.install(PROGRAM)


@table(
    ("environment", "folder"),
    [({"HOME": "/home/a"}, "/home/a/.claude"), ({"HOME": "/home/a", "CLAUDE_CONFIG_DIR": "/conf"}, "/conf")],
)
def test_the_users_settings_lie_where_the_client_has_them(environment, folder):
    assert user_file(HOST.settings, environment) == Path(folder) / "settings.json"
    assert Installation.of(HOST, "user", Path(), environment).file == Path(folder) / "settings.json"


def plugin_at(folder):
    return PluginFolder(HOST, folder, HOST.settings.plugin)


def test_a_plugin_is_written_and_taken_away(tmp_path):
    folder = tmp_path / "plugin"
    assert plugin_at(folder).install() == f"{folder}: plugin written"
    assert json.loads((folder / ".claude-plugin" / "plugin.json").read_text())["name"] == "ralph-tracker"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == portable_command(
        "claude-code", "export RALPH_TRACKER_PLUGGED=1; "
    )
    assert plugin_at(folder).uninstall() == f"{folder}: taken out"
    assert not folder.exists()


def test_a_plugin_can_be_brought_up_to_date(tmp_path):
    plugin = plugin_at(tmp_path / "plugin")
    plugin.install()
    (plugin.folder / plugin.plugin.hooks).write_text("{}")
    plugin.install()
    assert {name: (plugin.folder / name).read_bytes() for name in plugin.files()} == plugin.files()


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode", "copilot"])
def test_a_plugin_calls_what_the_settings_of_a_project_call_and_goes_without_a_trace(tmp_path, name):
    host = load_object(HOSTS[name])
    plugin = PluginFolder(host, tmp_path / "a plugin", host.settings.plugin)
    plugin.install()
    place = Installation.of(host, "project", tmp_path, {"HOME": str(tmp_path)})
    place.install(portable_command(name))
    plugged = (plugin.folder / plugin.plugin.hooks).read_text().replace("export RALPH_TRACKER_PLUGGED=1; ", "")
    installed = place.file.read_text()
    if host.settings.text is None:
        installed, plugged = json.loads(installed)["hooks"], json.loads(plugged)["hooks"]
    assert installed == plugged
    assert all(f"{plugin.folder}'" in step for step in plugin.steps[:1]), "a folder is one word of a shell"
    plugin.uninstall()
    assert not plugin.folder.exists()


def test_what_else_is_in_a_plugin_folder_stays(tmp_path):
    plugin_at(tmp_path).install()
    (tmp_path / "hooks" / "mine").touch()
    plugin_at(tmp_path).uninstall()
    assert [path.name for path in tmp_path.rglob("*")] == ["hooks", "mine"]


def test_a_plugin_folder_that_is_something_else_is_refused(tmp_path):
    (tmp_path / "mine").touch()
    for act in (lambda: plugin_at(tmp_path).install(), lambda: plugin_at(tmp_path).uninstall()):
        with pytest.raises(InputError, match="something else than our plugin"):
            act()
    with pytest.raises(InputError, match="no folder"):
        plugin_at(tmp_path / "mine").install()


def test_an_empty_folder_has_nothing_of_ours(tmp_path):
    assert plugin_at(tmp_path).uninstall() == f"{tmp_path}: nothing of ralph-tracker is installed there"
    assert (
        plugin_at(tmp_path / "none").uninstall() == f"{tmp_path / 'none'}: nothing of ralph-tracker is installed there"
    )


@pytest.mark.faults
@pytest.mark.sampled
@pytest.mark.parametrize("scope", ["project", "local", "user"])
@pytest.mark.parametrize("name", ["claude-code", "codex", "opencode"])
def test_an_installation_that_is_killed_anywhere_and_repeated_leaves_no_trace(name, scope, tmp_path, cut_short):
    host, command = load_object(HOSTS[name]), f"ralph-tracker agent hook {name}"
    at, was_killed = 0, True
    while was_killed:
        at += 1
        base = tmp_path.resolve() / str(at)
        root = base / "project"
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        place = Installation.of(host, scope, root, {"HOME": str(base / "home")})
        (base / "home").mkdir()
        before = {path: path.read_bytes() for path in base.rglob("*") if path.is_file()}
        folders = {path for path in base.rglob("*") if path.is_dir()}
        was_killed = cut_short(base, lambda place=place: place.install(command), at).killed
        place.install(command)
        place.uninstall()
        assert {path: path.read_bytes() for path in base.rglob("*") if path.is_file()} == before, at
        assert {path for path in base.rglob("*") if path.is_dir()} == folders, at
    assert at > 5
