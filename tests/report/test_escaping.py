"""Text made harmless: a terminal acts on none of it, Markdown shows all of it."""

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ralph_tracker.report.escaping import block_for_markdown, for_log, for_markdown, for_terminal, short_names
from tests.tables import table

NO_WIDTH = "\u200b"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
anything = st.text(st.characters(exclude_categories=[]))
marked_up = st.text(st.sampled_from("ab1 _*`~[]()<>!|\\&;#+-=.:/$'\"\n\t"), max_size=30)


def read_as(markdown):
    """Return what a reader sees of one paragraph, and the kinds of token that it is made of."""
    (inline,) = [token for token in PARSER.parse(markdown) if token.type == "inline"]
    return "".join(part.content for part in inline.children), {part.type for part in inline.children}


@given(anything)
def test_a_terminal_gets_nothing_that_it_acts_on(text):
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    shown = for_terminal(text)
    assert not any(unicodedata.category(char) in hidden for char in shown)
    assert shown.encode().decode() == shown


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_a_terminal_gets_plain_text_as_it_is(text):
    assert for_terminal(text) == text


@table(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\u001b[31m"),
        ("\u202e", r"\u202e"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        ("\n", r"\u000a"),
    ],
    ids=["escape", "override", "surrogate", "tag", "newline"],
)
def test_a_hidden_character_is_written_by_its_number(text, shown):
    assert for_terminal(text) == shown


# id: a line that we print → what the log of a CI server holds
LINES = {
    "plain": ("  class regression: test_count 10→9", "  class regression: test_count 10→9"),
    "a command of now": ("  ::add-mask::x", "  : :add-mask::x"),
    "a command of before": ("gone: t##[error]x", "gone: t# #[error]x"),
    "of Azure": ("gone: ##vso[task.complete]x", "gone: # #vso[task.complete]x"),
    "after a space that is none of ASCII": ("\u3000::add-mask::x", "\u3000: :add-mask::x"),
    "after a line break of any form": ("gone: a\r::add-mask::x\x85::b", r"gone: a\u000d::add-mask::x\u0085::b"),
    "source that begins as a command does": ("  ::std::sort(a);", "  ::std::sort(a);"),
    "colons within": ("gone: a::b", "gone: a::b"),
    "a heading": ("## a [b]", "## a [b]"),
}


@table("case", LINES)
def test_a_line_of_the_log_is_no_command(case):
    line, calm = LINES[case]
    assert for_log(line) == calm


_PARTS = st.lists(st.sampled_from([*" \t\r\n\u3000:#[]x", "::error", "::add-mask", "vso"])).map("".join)


@given(st.one_of(_PARTS, anything))
def test_no_text_is_a_command_in_a_log(text):
    assert not re.search(r"^\s*::(?:error|add-mask)\b|##\w*\[", for_log(text))


@given(st.one_of(marked_up, anything))
@example("a_b_c __init__ _private trailing_ _")
@example("[a]: http://x")
@example("1. one")
@example("2) two")
@example("---")
@example("===")
@example("# heading #")
@example("a\\")
@example("&amp; &#x41;")
@example("<!-- --> <a href='x'> <http://x> <?php ?>")
def test_markdown_shows_text_as_it_is_wherever_it_stands(text):
    text = text.strip()
    for before, seen_before in (("", ""), ("- **CRITICAL** a: ", "CRITICAL a: "), ("**Reason**: ", "Reason: ")):
        if text:
            shown, kinds = read_as(before + for_markdown(text))
            assert shown.replace(NO_WIDTH, "") == seen_before + for_terminal(text)
            assert kinds <= {"text", "text_special", "strong_open", "strong_close"}


@given(marked_up)
def test_markdown_keeps_text_inside_its_cell_of_a_table(text):
    table = PARSER.parse(f"| a | b |\n|---|---|\n| {for_markdown(text)} | end |\n")
    cells = [token.children for token in table if token.type == "inline"]
    assert len(cells) == 4
    assert "".join(part.content for part in cells[2]).replace(NO_WIDTH, "") == for_terminal(text).strip()
    assert "".join(part.content for part in cells[3]) == "end"


@table("text", ["test_deletion", "tests/a_b.py::test_c_d", "x.y-z", "Coverage dropped 75%→72% (exceeds -2% threshold)"])
def test_everyday_text_stays_as_it_is(text):
    assert for_markdown(text) == text


REFERENCES = [
    "@octocat",
    "(@org/team)",
    "closes #5",
    "octocat/repo#7",
    "GH-2",
    "gh-2",
    "a!3",
    "https://github.com/o/r/issues/1",
]


@table("text", REFERENCES)
def test_nobody_is_mentioned_and_no_issue_is_linked_by_what_a_renderer_finds_in_the_text(text):
    shown = read_as(for_markdown(text))[0]
    assert not re.search(r"@\w|[#!]\d|gh-\d|://", shown, re.IGNORECASE)
    assert shown.replace(NO_WIDTH, "") == text


@table("text", ["http://evil.example", "https://evil.example", "www.evil.example", "WWW.evil.example"])
def test_an_address_is_not_left_for_a_renderer_to_link(text):
    written = for_markdown(text)
    assert "http://" not in written
    assert "https://" not in written
    assert "www." not in written.lower()
    assert read_as(written)[0].replace(NO_WIDTH, "") == text


def test_names_of_tests_are_shortened_and_their_rest_counted():
    long = "failing: tests/unit/test_a.py::TestA::test_one, tests/b.py::test_two[xy] and 24 more; a::b stays"
    assert short_names(long) == "failing: test_one, test_two[xy], +24; a::b stays"


def test_a_text_of_several_lines_keeps_them_in_a_list():
    text = "E   assert 1\n```\n# two"
    shown = MarkdownIt("commonmark").render(f"- a\n    - failed with:{block_for_markdown(text)}\n    - again")
    assert "<code>E   assert 1\n```\n# two\n</code>" in shown
    assert block_for_markdown("one *line*") == " one \\*line\\*"
