"""Operators of T1 to T3: tests that go, that are skipped, and that are no longer asked for."""

import ast
import re
from random import Random
from typing import Final

from changes import Change, Edit, Operator, Target, imported, shuffled, tampering
from trees import Tree, is_collected

_SETTINGS: Final = (
    ("pytest.ini", "[pytest]"),
    ("pyproject.toml", "[tool.pytest.ini_options]"),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)


def removable(change: Change, rng: Random, count: int) -> tuple[str, list[Target]] | None:
    """Return tests of one file that can go while others stay in their bodies."""
    for first in shuffled(rng, change.targets):
        same = [each for each in change.targets if each.path == first.path and each.classes == first.classes]
        body = body_of(first)
        if len(same) >= count and len(body) > count:
            return first.path, same[:count]
    return None


def body_of(target: Target) -> list[ast.stmt]:
    body: list[ast.stmt] = target.module.body
    for name in target.classes:
        body = next(each.body for each in body if isinstance(each, ast.ClassDef) and each.name == name)
    return body


def _without(targets: list[Target], instead: str = "") -> bytes:
    text = targets[0].text
    edits = [(text.whole(each.function), "") for each in targets]
    end = len(text.data)
    return text.spliced(*edits, *([((end, end), instead)] if instead else []))


def _deleting(count: int) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        found = removable(change, rng, count)
        return None if found is None else Edit(new={found[0]: _without(found[1])})

    return apply


tampering("T1", name="delete_test")(_deleting(1))
tampering("T1", name="delete_several")(_deleting(3))


@tampering("T1")
def delete_class(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets):
        classes = [each for each in target.module.body if isinstance(each, ast.ClassDef)]
        if target.classes and len(target.module.body) > len(classes) + 1:
            (node,) = [each for each in classes if each.name == target.classes[0]][:1] or [None]
            if node is not None:
                return Edit(new={target.path: target.text.spliced((target.text.whole(node), ""))})
    return None


@tampering("T1")
def delete_file(change: Change, rng: Random) -> Edit | None:
    files = sorted({each.path for each in change.targets})
    return Edit(new={rng.choice(files): None}) if len(files) > 1 else None


def _renaming(prefix: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            start = target.text.line(target.function.lineno)
            line = target.text.data[start:].partition(b"\n")[0].decode()
            renamed = line.replace(f"def {target.function.name}", f"def {prefix}{target.function.name}", 1)
            if renamed != line:
                return Edit(new={target.path: target.text.spliced(((start, start + len(line.encode())), renamed))})
        return None

    return apply


tampering("T1", name="rename_out_of_collection")(_renaming("_"))
tampering("T1", name="rename_to_check")(_renaming("check_"))


@tampering("T1")
def swap_for_trivial(change: Change, rng: Random) -> Edit | None:
    found = removable(change, rng, 1)
    instead = "\n\ndef test_module_can_be_used():\n    result = sum([1, 1])\n    assert result == 2\n"
    return None if found is None else Edit(new={found[0]: _without(found[1], instead)})


@tampering("T1")
def swap_two_for_three(change: Change, rng: Random) -> Edit | None:
    found = removable(change, rng, 2)
    instead = "".join(
        f"\n\ndef test_arithmetic_{word}():\n    assert {number} + {number} == {2 * number}\n"
        for number, word in ((2, "two"), (3, "three"), (4, "four"))
    )
    return None if found is None else Edit(new={found[0]: _without(found[1], instead)})


def _skipping(decorator: str, need: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            return Edit(new={target.path: imported(target.decorated(decorator), need)}, skipped=target.ids)
        return None

    return apply


tampering("T2", name="mark_skip")(_skipping("@pytest.mark.skip(reason='flaky')", "import pytest"))
tampering("T2", name="unittest_skip")(_skipping("@unittest.skip('flaky')", "import unittest"))
tampering("T2", name="mark_xfail")(_skipping("@pytest.mark.xfail", "import pytest"))
tampering("T2", name="skipif_true")(_skipping("@pytest.mark.skipif(True, reason='ci')", "import pytest"))


def _skip_inside(line: str, *, method: bool) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if not method:
                return Edit(new={target.path: imported(target.headed(line), "import pytest")}, skipped=target.ids)
            if b"TestCase" in target.text.data and target.classes:
                return Edit(new={target.path: target.headed(line)}, skipped=target.ids)
        return None

    return apply


tampering("T2", name="skip_call")(_skip_inside("pytest.skip('not now')", method=False))
tampering("T2", name="skip_test_call")(_skip_inside("self.skipTest('not now')", method=True))


@tampering("T2")
def skip_module(change: Change, rng: Random) -> Edit | None:
    for target in shuffled(rng, change.targets)[:1]:
        data = imported(target.text.data, "import pytest\n\npytestmark = pytest.mark.skip('slow')")
        ids = tuple(each for other in change.targets if other.path == target.path for each in other.ids)
        return Edit(new={target.path: data}, skipped=ids)
    return None


def set_pytest(tree: Tree, key: str, value: str, *, listed: bool) -> tuple[str, bytes] | None:
    """Return the settings of pytest with a key added, or a word more under `addopts`; None where it is hard to say."""
    for path, header in _SETTINGS:
        text = tree.get(path, b"").decode("utf-8", "replace")
        if header in text and "\r" not in text:
            edited = _set_key(text, header, key, value, toml=path.endswith("toml"), listed=listed)
            return None if edited is None else (path, edited.encode())
    return ("pytest.ini", f"[pytest]\n{key} = {value}\n".encode())


def _set_key(text: str, header: str, key: str, value: str, *, toml: bool, listed: bool) -> str | None:
    head, _, rest = text.partition(f"{header}\n")
    section = re.split(r"(?m)^\[", rest, maxsplit=1)[0]
    shown = f"{key} = {_toml(value, listed=listed)}\n" if toml else f"{key} = {value}\n"
    found = re.search(rf"(?m)^{key}\s*=\s*(.*)\n", section)
    if found is None:
        return f"{head}{header}\n{shown}{rest}"
    if key != "addopts":
        whole = found[1].strip()
        simple = (whole.endswith(("]", '"')) if toml else bool(whole)) and not section[found.end() :].startswith(" ")
        return text.replace(found[0], shown, 1) if simple else None
    if not toml:
        return text.replace(found[0], f"{found[0].rstrip()} {value}\n", 1) if found[1].strip() else None
    if found[1].startswith("["):
        words = ", ".join(f"'{word}'" for word in _words(value))
        return text.replace(found[0], found[0].replace("[", f"[{words}, ", 1), 1)
    if re.fullmatch(r'"[^"]*"', found[1]):
        return text.replace(found[0], f'{found[0].rstrip()[:-1]} {value}"\n', 1)
    return None


def _words(value: str) -> list[str]:
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", value)]


def _toml(value: str, *, listed: bool) -> str:
    return "[" + ", ".join(f'"{word}"' for word in value.split()) + "]" if listed else f'"{value}"'


def _options(value: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            name = target.function.name
            node = "::".join((target.path, *target.classes, name))
            words = value.format(name=name, node=node, path=target.path)
            edited = set_pytest(change.new, "addopts", words, listed=False)
            gone = (
                {each for other in change.targets if other.path == target.path for each in other.ids}
                if "path" in value
                else set(target.ids)
            )
            return None if edited is None else Edit(new={edited[0]: edited[1]}, unreported=tuple(gone))
        return None

    return apply


tampering("T3", name="addopts_k")(_options("-k 'not {name}'"))
tampering("T3", name="addopts_deselect")(_options("--deselect={node}"))
tampering("T3", name="addopts_ignore")(_options("--ignore={path}"))


def _narrowed(key: str, value: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        files = sorted({each.path for each in change.targets})
        if len(files) < 2:
            return None
        kept, dropped = rng.sample(files, 2)
        words = value.format(kept=kept, name=kept.rpartition("/")[2], folder=dropped.rpartition("/")[0] or "tests")
        edited = set_pytest(change.new, key, words, listed=True)
        gone = tuple(each for other in change.targets if other.path == dropped for each in other.ids)
        return None if edited is None else Edit(new={edited[0]: edited[1]}, unreported=gone)

    return apply


tampering("T3", name="python_files_narrowed")(_narrowed("python_files", "{name}"))
tampering("T3", name="testpaths_narrowed")(_narrowed("testpaths", "{kept}"))
tampering("T3", name="norecursedirs")(_narrowed("norecursedirs", "{folder}"))


def _conftest(source: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            folder, _, name = target.path.rpartition("/")
            path = f"{folder}/conftest.py" if folder else "conftest.py"
            data = change.new.get(path, b"")
            if b"collect_ignore" in data or not is_collected(target.path):
                continue
            added = source.format(name=name, function=target.function.name)
            ids = [each for other in change.targets if other.path == target.path for each in other.ids]
            gone = target.ids if "{function}" in source else ids
            return Edit(new={path: data + added.encode()}, unreported=tuple(gone))
        return None

    return apply


tampering("T3", name="collect_ignore")(_conftest("\n\ncollect_ignore = ['{name}']\n"))
tampering("T3", name="collect_ignore_glob")(_conftest("\n\ncollect_ignore_glob = ['{name}']\n"))
tampering("T3", name="modifyitems", also=("T9",))(
    _conftest(
        "\n\ndef pytest_collection_modifyitems(config, items):\n"
        "    items[:] = [item for item in items if '{function}' not in item.nodeid]\n"
    )
)
