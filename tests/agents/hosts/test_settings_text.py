"""Our entries go into settings of any layout, and come out again to the byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.agents.hosts import settings_text
from ralph_tracker.agents.hosts.claude_code import HOST
from ralph_tracker.agents.hosts.settings_text import absolute, has_keys, places, without_insertions
from ralph_tracker.errors import InputError
from tests.tables import table

COMMAND = absolute(Path("/opt/x/bin/ralph-tracker"), HOST.name)
TIMEOUTS = HOST.settings.timeouts
FOREIGN = '{"hooks": [{"type": "command", "command": "true"}]}'
TEXTS = {
    "nothing": "",
    "white space": " \n",
    "an empty document": "{}",
    "an empty document with a line": "{\n}\n",
    "one line": '{"model": "opus"}',
    "two spaces": '{\n  "model": "opus"\n}\n',
    "four spaces": '{\n    "model": "opus",\n    "env": {}\n}',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "no indentation": '{\n"model": "opus"\n}\n',
    "line ends of DOS": '{\r\n  "model": "opus"\r\n}\r\n',
    "a byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "other letters": '{\n  "model": "über \\u00e9 😀 \\"{[,"\n}\n',
    "empty hooks": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "hooks with room": '{\n  "hooks": {\n  }\n}\n',
    "other events": f'{{\n  "hooks": {{\n    "PreToolUse": [\n      {FOREIGN}\n    ]\n  }}\n}}\n',
    "the same event": f'{{\n  "hooks": {{\n    "Stop": [\n      {FOREIGN}\n    ]\n  }}\n}}\n',
    "the same event in a line": f'{{"hooks": {{"Stop": [{FOREIGN}], "PostToolUse": []}}}}',
    "an empty event": '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
    "a status line": '{\n  "statusLine": {"type": "command", "command": "mine"}\n}\n',
    "a key twice": '{\n  "hooks": {"Stop": 1},\n  "hooks": {}\n}\n',
}
texts = table("text", TEXTS.values())


def merge(text, *, status_line=True):
    return settings_text.merge_entries(HOST, text, COMMAND, "settings.json", extras=status_line)


def load(text):
    return json.loads(text.removeprefix("\ufeff"))


@texts
def test_what_is_there_stays_and_ours_stands_behind_it(text):
    before = load(text) if text.strip() else {}
    after = load(merge(text).text)
    assert {key: after[key] for key in before if key != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    for event, groups in settings_text.hooks_of(HOST, COMMAND).items():
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), *groups]
    assert set(before.get("hooks", {})) <= set(after["hooks"])
    assert after["statusLine"] == before.get("statusLine", after["statusLine"])


@texts
def test_taken_back_it_is_the_same_to_the_byte(text):
    assert without_insertions(merge(text)) == text


@texts
def test_line_ends_and_indentation_are_those_of_the_file(text):
    after = merge(text).text
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")
    if "\t" in text:
        assert "\n  " not in after
    if text.strip() and "\n" not in text and text != "{}":
        assert "\n" not in after


@texts
def test_taken_out_after_an_edit_only_ours_is_gone(text):
    edited = merge(text).text.replace('"opus"', '"sonnet"')
    left = settings_text.without_own_hooks(HOST, edited, "settings.json", settings_text.containers(HOST, text))
    wanted = load(text.replace('"opus"', '"sonnet"')) if text.strip() else {}
    assert load(left) == wanted
    assert settings_text.hooks_of_ours(HOST, left, "settings.json") == set()


def test_without_a_word_on_what_was_there_empty_hooks_are_taken_for_ours():
    assert load(settings_text.without_own_hooks(HOST, merge('{"hooks": {}, "a": 1}').text, "settings.json")) == {"a": 1}


def test_a_hook_that_a_person_put_beside_ours_stays():
    whole = load(merge("{}").text)
    mine = {"type": "command", "command": "mine"}
    whole["hooks"]["Stop"][0]["hooks"].insert(0, mine)
    whole["hooks"]["PostToolUse"].append({"matcher": "Bash", "hooks": [mine]})
    left = load(settings_text.without_own_hooks(HOST, json.dumps(whole, indent=1), "settings.json"))
    assert left == {"hooks": {"Stop": [{"hooks": [mine]}], "PostToolUse": [{"matcher": "Bash", "hooks": [mine]}]}}


def test_nothing_of_ours_leaves_a_text_as_it_is():
    text = TEXTS["the same event"]
    assert settings_text.without_own_hooks(HOST, text, "settings.json") == text


def test_a_status_line_is_added_only_where_it_is_asked_for():
    assert "statusLine" not in load(merge('{"a": 1}', status_line=False).text)
    assert "statusLine" not in load(merge("", status_line=False).text)


@table(
    ("text", "said"),
    [
        ("{,}", "settings.json: not JSON ("),
        ('{\n  // a word\n  "a": 1\n}', "line 2 column 3"),
        ('{"a": NaN}', "NaN is no JSON"),
        ("[]", "settings.json: the document is no JSON object; fix it; nothing was changed"),
        ('{"hooks": []}', "settings.json: hooks is no JSON object; fix it; nothing was changed"),
        ('{"hooks": {"Stop": {}}}', "settings.json: hooks.Stop is no JSON array; fix it; nothing was changed"),
        ("[" * 100_000, "settings.json: nested too deeply; nothing was changed"),
    ],
    ids=["damage", "comments", "no number", "a list", "hooks as a list", "an event as an object", "depth"],
)
def test_what_are_no_settings_is_refused_in_one_line(text, said):
    with pytest.raises(InputError) as refused:
        merge(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@table(("text", "known"), [("{}", False), ('{"statusLine": {}}', True), ("{", False), ("1", False), ("[]", False)])
def test_a_status_line_is_seen_where_a_file_can_be_read(text, known):
    assert has_keys(text, ["statusLine"]) is known


def test_hooks_that_are_no_object_are_none_of_ours():
    assert settings_text.hooks_of_ours(HOST, '{"hooks": [1]}', "settings.json") == set()


@table("text", ["{", "[]", "{}", '{"hooks": []}'])
def test_where_no_hooks_can_be_told_none_are_kept(text):
    assert settings_text.containers(HOST, text) == []


def test_the_end_of_a_turn_may_take_as_long_as_checks_do():
    assert TIMEOUTS["Stop"] == 1800
    assert max(seconds for event, seconds in TIMEOUTS.items() if event not in {"Stop", "SessionStart"}) == 30


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
groups = st.lists(st.just({"hooks": [{"type": "command", "command": "x"}]}), max_size=2)
documents = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "StopFailure"]), groups, max_size=3),
        "other": trees,
        "statusLine": st.just({"type": "command", "command": "mine"}),
    },
)


@given(
    document=documents,
    indent=st.sampled_from([None, 0, 1, 4, "\t"]),
    dos=st.booleans(),
    end=st.sampled_from(["", "\n"]),
)
def test_whatever_settings_hold_they_come_back(document, indent, dos, end):
    text = json.dumps(document, indent=indent) + end
    text = text.replace("\n", "\r\n") if dos else text
    edited = merge(text)
    assert without_insertions(edited) == text
    ours = settings_text.hooks_of_ours(HOST, edited.text, "settings.json")
    assert ours == {(event, COMMAND) for event in HOST.settings.timeouts}
    assert (
        load(settings_text.without_own_hooks(HOST, edited.text, "settings.json", settings_text.containers(HOST, text)))
        == document
    )


@given(tree=trees, indent=st.sampled_from([None, 2]))
def test_places_are_where_values_stand(tree, indent):
    text = json.dumps(tree, indent=indent)

    def looked_at(value, plain):
        assert value.plain(text) == plain
        if isinstance(plain, dict):
            for key, each in plain.items():
                looked_at(value.child(key), each)
        if isinstance(plain, list):
            assert [child.key for child in value.children] == [None] * len(plain)
            for child, each in zip(value.children, plain, strict=True):
                looked_at(child.value, each)

    looked_at(places(text), tree)
