"""YAML in and out: what comes in is limited and unambiguous, what goes out comes in again."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ralph_tracker.config.yaml_io import MAX_DEPTH, dump_yaml, load_yaml, without_surrogates
from ralph_tracker.errors import InputError
from ralph_tracker.safe_files import MAX_INPUT
from tests.tables import table


def refusal(text):
    with pytest.raises(InputError) as caught:
        load_yaml(text, "file.yaml")
    return str(caught.value)


def bomb(levels, width):
    """Return lists of lists, each level an alias of the one before: width to the power of levels."""
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_may_be_used_and_may_not_explode():
    assert load_yaml(bomb(3, 3), "file.yaml")["a2"][0][0] == ["x", "x", "x"]
    assert refusal(bomb(9, 9)).startswith("file.yaml: nested deeper than 60 levels or expanding beyond 5000000 values")


def test_an_alias_of_a_whole_document_that_holds_itself_ends():
    assert load_yaml("&a [*a]", "file.yaml")[0][0] is not None


def test_depth_has_a_limit():
    assert load_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH, "file.yaml")
    assert "nested deeper" in refusal("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert "nested deeper" in refusal("a:\n" + "\n".join(" " * n + "b:" for n in range(1, 200)))


def test_size_has_a_limit():
    assert refusal("#" * (MAX_INPUT + 1)) == "file.yaml: larger than 64 MiB; hand in less"


def test_merge_keys_are_merged_and_do_not_count_as_doubled():
    text = "base: &base {a: 1, b: 2}\nuse:\n  <<: *base\n  b: 3\n"
    assert load_yaml(text, "file.yaml")["use"] == {"a": 1, "b": 3}


@table("text", ["a: 1\na: 2", "x: {a: 1, a: 2}", "- {a: 1, 'a': 2}"], ids=["top", "inside", "quoted"])
def test_a_key_that_stands_twice_is_refused_wherever_it_is(text):
    assert "key 'a' is given twice; keep one" in refusal(text)


@table(
    "text",
    ["2026-02-02", "2026-02-02T10:00:00Z", "2026-02-02 10:00:00.5 +01:00"],
)
def test_dates_stay_text(text):
    assert load_yaml(f"at: {text}", "file.yaml") == {"at": text}


@table(
    "text",
    [
        "!!python/object/apply:os.system [ls]",
        "!!python/name:os.system ''",
        "!mine x",
        "? [a, b]\n: 1",
        "a: b: c",
        "@x",
        "%x",
    ],
)
def test_what_is_not_plain_yaml_is_one_line(text):
    said = refusal(text)
    assert said.startswith("file.yaml: ")
    assert "\n" not in said


def test_a_number_of_thousands_of_digits_is_one_line_without_advice_about_python():
    said = refusal("a: " + "9" * 5000)
    assert said.startswith("file.yaml: not readable as YAML: ")
    assert "sys." not in said


@table("text", ["", "# a comment\n", "---\n", "null"])
def test_a_document_without_content_is_nothing(text):
    assert load_yaml(text, "file.yaml") is None


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@given(documents)
@example({"a": "\u202e\x1b[0m\u2028\x85\ufeff\x00"})
@example({"yes": "no", "1": "1.0", "~": "null", "2026-02-02": "2026-02-02T10:00:00Z", "=": "<<"})
@example("line\n\n  line \n")
def test_what_is_written_is_read_again_as_it_was(document):
    text = dump_yaml(document)
    assert load_yaml(text, "file.yaml") == document
    assert text.encode().decode() == text


@given(
    st.dictionaries(st.text(st.characters(), max_size=8), st.lists(st.text(st.characters(), max_size=8), max_size=3))
)
@example({"\ud800": ["\udfff", "plain"]})
def test_lone_surrogates_are_written_by_their_numbers(document):
    text = dump_yaml(document)
    assert load_yaml(text, "file.yaml") == without_surrogates(document)
    assert text.encode().decode() == text


class Plainly(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
    """PyYAML's own way to write, but for anchors."""

    def ignore_aliases(self, data):
        del data
        return True


@given(documents)
@example({"yes": "no", "1": ["1.0", 1.0, "~", None], "": {}, "a: b": ["# c", "- d", (1, True)]})
def test_documents_are_written_as_pyyaml_writes_them(document):
    assert dump_yaml(document) == yaml.dump(document, Dumper=Plainly, sort_keys=False, allow_unicode=True, width=120)


def test_documents_keep_their_order_and_their_letters():
    text = dump_yaml({"b": "prüfung → ok", "a": [1, 2.5, None, True]})
    assert text == "b: prüfung → ok\na:\n- 1\n- 2.5\n- null\n- true\n"
    assert yaml.safe_load(text) == {"b": "prüfung → ok", "a": [1, 2.5, None, True]}
