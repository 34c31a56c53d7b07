"""What is made to hurt is refused in a line that names the limit, in little memory."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.damage import DEFAULT_LIMITS, Limits
from ralph_tracker.formats.report import TestReport, Unreadable
from tests.tables import table

TAG = DEFAULT_LIMITS.max_tag
BOMB = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><testsuite name="&b;"/>'
# id: bytes, why it is refused, line, column
HOSTILE = {
    "an attribute of 11 MB": (
        b'<testsuite>\n <testcase name="' + b"a" * 11_000_000 + b'"/></testsuite>',
        f"a tag is longer than the limit of {TAG} bytes",
        2,
        2,
    ),
    "a tag without an end": (b"<testsuite " + b"a" * 11_000_000, "a tag is longer than the limit of", 1, 1),
    "an entity bomb": (BOMB, "the document declares an entity (a)", 1, 25),
    "elements 200,000 deep": (b"<testsuite>" * 200_000, "elements are nested deeper than 256", 1, 2828),
    "arrays 200,000 deep": (b"[" * 200_000, "malformed JSON: nested too deep", None, None),
    "objects 200,000 deep": (b'{"a":' * 200_000, "malformed JSON: nested too deep", None, None),
}


@table(("data", "why", "line", "column"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_is_refused_with_the_place(data, why, line, column):
    result = registry.read(data)
    assert isinstance(result, Unreadable)
    assert result.why.startswith(why)
    assert (result.line, result.column) == (line, column)


def test_a_report_of_more_bytes_than_the_limit_is_not_looked_at():
    limits = Limits(max_bytes=100)
    assert registry.read(b" " * 101, limits=limits) == Unreadable("101 bytes are more than the limit of 100")
    assert DEFAULT_LIMITS.max_bytes < 200_000_000


# id: what may be long, as it is between tags
LONG = {
    "text": b"a" * TAG * 2,
    "a CDATA section": b"<![CDATA[" + b"a" * TAG * 2 + b"]]>",
    "a comment": b"<!--" + b"a" * TAG * 2 + b"-->",
    "text with many tags after it": b"a" * TAG * 2 + b"<property name='x'/>" * 3,
}


@table("content", LONG.values(), ids=LONG)
def test_what_is_long_and_no_tag_is_read(content):
    report = registry.read(b"<testsuite><testcase name='x'/><system-out>" + content + b"</system-out></testsuite>")
    assert isinstance(report, TestReport)
    assert report.tests == 1
