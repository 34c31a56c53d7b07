"""Text that an attacker chose: shown as it is by terminals and by Markdown, acted on by neither, kept as records."""

import json
import re
import unicodedata
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import yaml
from markdown_it import MarkdownIt

from tests.tables import table

# id: a name of a test, and what of it a person sees
NAMES = {
    "colours": ("a\x1b[31mred\x1b[0m", r"a\u001b[31mred\u001b[0m"),
    "title of the window": ("a\x1b]0;owned\x07b", r"a\u001b]0;owned\u0007b"),
    "C1 control": ("a\x9b2Jb", r"a\u009b2Jb"),
    "newline": ("a\nralph-tracker: all is well", r"a\u000aralph-tracker: all is well"),
    "carriage return": ("FAILED\rPASSED", r"FAILED\u000dPASSED"),
    "backspace and tab": ("a\b\tb", r"a\u0008\u0009b"),
    "NUL and DEL": ("a\x00b\x7fc", r"a\u0000b\u007fc"),
    "bidirectional override": ("a\u202egnp.exe", r"a\u202egnp.exe"),
    "isolates and marks": ("a\u2066b\u2069\u200f", r"a\u2066b\u2069\u200f"),
    "nothing to see": ("a\u200b\ufeff\u2060b", r"a\u200b\ufeff\u2060b"),
    "line separators": ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\u0085d"),
    "lone surrogate": ("a\ud800b\udfffc", r"a\ud800b\udfffc"),
    "tag characters": ("a\U000e0041b", r"a\U000e0041b"),
    "pipes": ("a | b || c |", "a | b || c |"),
    "HTML": ("<script>alert(1)</script><img src=x onerror=y>", "<script>alert(1)</script><img src=x onerror=y>"),
    "comment": ("a <!-- b", "a <!-- b"),
    "entities": ("&lt;b&gt; &#27; &amp;", "&lt;b&gt; &#27; &amp;"),
    "links": ("[ok](http://evil.example) <http://evil.example> ![x](y) [a]: /b", None),
    "bare addresses": ("http://evil.example www.evil.example", None),
    "emphasis": ("*a* __b__ _c_ **d** ~~e~~ `f` a_b_c", None),
    "escapes": (r"a\*b\\ \| \<b>", None),
    "headings and lists": ("# a ## b - c 1. d > e", None),
    "not Latin": ("prüfung_ünïcode[日本-😀]", None),
}

# What CI servers obey: `##[` and `##vso[` anywhere, `::` at the start of a line, where long text is wrapped too.
COMMANDS = [
    "!x ##[stop-commands]tok",
    "!z ##vso[task.complete result=Succeeded]",
    "::error file=a.py,line=1::pwned",
    *(f"{'w' * width} ::warning::wrapped{width}" for width in range(40, 72, 2)),
]
CHART = re.compile(r'[\w\s(),;:%"\[\].▲>-]*')  # nothing of a name is in a picture


load = partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
NUMBER = {key: number for number, key in enumerate(NAMES, 1)}


def seen_of(key):
    name, seen = NAMES[key]
    return seen or name


def outcomes(broken_so_far):
    ids = [name for name, _ in NAMES.values()]
    failed = set(ids[:broken_so_far])
    return {"tests": [{"id": name, "outcome": "failed" if name in failed else "passed"} for name in [*ids, "steady"]]}


@pytest.fixture(scope="module")
def breaking(project_at, tmp_path_factory):
    """Return a loop in which each iteration breaks the next test, with what was said of it; nothing changes it."""
    project = project_at(tmp_path_factory.mktemp("breaking") / "project")
    project.must("pre-loop", outcomes(0))
    said = {key: project.hook("post-iteration", outcomes(number)).out for key, number in NUMBER.items()}
    everything = " ".join(seen_of(key) for key in NAMES)
    assert project.ralph("accept", "it1-working_tests_failing", "--reason", everything).code == 0
    project.must("post-loop", None, "--iteration", "1", "--reason", everything)
    return project, said


@pytest.fixture(scope="module")
def blocked(project_at, metrics_of, tmp_path_factory):
    """Return a loop in which each iteration waits for a person, for the next hostile reason."""
    project = project_at(tmp_path_factory.mktemp("blocked") / "project")
    (project.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: null}")
    project.started()
    for number, (name, _) in enumerate(NAMES.values(), 11):
        why = name.replace("\0", "").encode("utf-8", "surrogateescape" if "\udfff" not in name else "replace")
        metrics = metrics_of(test_count=number, tests_passed=number)
        answer = project.hook("post-iteration", metrics, "--blocked", why.decode("utf-8", "surrogateescape"))
        assert answer.code == 0, answer.err
        is_harmless(answer.out + project.hook("loop-decision").out + project.ralph("status").out)
    return project


def is_harmless(text):
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert [c for c in text if c != "\n" and unicodedata.category(c) in hidden] == []


def report_of(project, name):
    return (project.root / ".aiwg/ralph/ralph-001/reports" / name).read_text(encoding="utf-8")


def shown_in(markdown, links=()):
    """Return the text that a reader of the Markdown sees, line by line; there is no markup in it but our own."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    blocks = parser.parse(markdown)
    tokens = [*blocks, *(inner for block in blocks for inner in block.children or ())]
    markup = {"html_block", "html_inline", "em_open", "s_open", "code_inline", "image", "blockquote_open"}
    own = {"code_inline": "ralph-tracker "}  # the next step
    assert not [t for t in tokens if t.type in markup and not t.content.startswith(own.get(t.type, "\0"))]
    charts = [token for token in tokens if token.type == "fence"]
    assert all(token.info == "mermaid" and CHART.fullmatch(token.content) for token in charts)
    assert [token.attrs["href"] for token in tokens if token.type == "link_open"] == [*links]
    assert "http://" not in markdown
    assert "www." not in markdown
    lines = [token.children for token in tokens if token.type == "inline"]
    shown = ["".join(part.content for part in line if part.type in {"text", "text_special"}) for line in lines]
    return [line.replace("\u200b", "") for line in shown]  # it stands in what would name a person or an issue


@table("key", NAMES)
def test_a_hostile_name_is_shown_as_it_is_and_moves_nothing(breaking, key):
    project, said = breaking
    message = f"Previously passing tests now failing: {seen_of(key)}"
    shown = project.ralph("show", NUMBER[key]).out
    for told in (said[key], shown, project.ralph("diff", NUMBER[key] - 1, NUMBER[key]).out):
        is_harmless(told)
    assert f"lost: {seen_of(key)}" in " ".join(said[key].split())
    assert message in " ".join(shown.split())
    assert f"  broken: {seen_of(key)}\n" in shown
    is_harmless(project.ralph("report", NUMBER[key]).out)
    assert project.ralph("show", NUMBER[key], "--json").out.isascii()


@table("key", NAMES)
def test_a_hostile_name_is_text_in_the_report(breaking, key):
    markdown = report_of(breaking[0], f"iteration-{NUMBER[key]:03d}-report.md")
    is_harmless(markdown)
    message = f"Previously passing tests now failing: {seen_of(key)}"
    assert [line for line in shown_in(markdown) if line == f"CRITICAL working_tests_failing: {message}"]


def test_all_hostile_names_are_text_in_the_reports_of_the_loop(breaking):
    everything = " ".join(seen_of(key) for key in NAMES)
    for name, links in (("loop-report.md", ["output-selection.md"]), ("output-selection.md", [])):
        markdown = report_of(breaking[0], name)
        is_harmless(markdown)
        shown = shown_in(markdown, links)
        if links:
            assert f"Accepted it1-working_tests_failing: {everything}" in shown
        else:
            assert f"Selected by a person: {everything}" in shown


def test_all_hostile_names_are_text_in_the_comment(breaking):
    project, _ = breaking
    markdown = project.ralph("report", "--md", "--for", "pr").out
    is_harmless(markdown)
    mark, _, rest = markdown.partition("\n")
    assert mark == "<!-- ralph-tracker -->"
    shown = " ".join(shown_in(rest))
    assert f"failing: {seen_of('bidirectional override')}" in shown
    assert len(markdown.splitlines()) <= 60


class Page(HTMLParser):
    """What a browser makes of a page: its tags with their attributes, and the text that is shown."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.shown, self._silent = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in {"script", "style"}

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        self.shown += [] if self._silent else [data]


def test_all_hostile_names_are_text_in_the_page(breaking):
    project, _ = breaking
    file = project.root.parent / "page.html"
    answer = project.ralph("report", "--html", file)
    assert (answer.code, answer.err) == (0, "")
    text = file.read_text(encoding="utf-8")
    is_harmless(text)
    page = Page(text)
    shown = "".join(page.shown)
    for key in NAMES:
        assert f"Previously passing tests now failing: {seen_of(key)}" in shown
    assert [tag for tag, _ in page.tags if tag in {"script", "style", "img", "iframe", "link", "object", "base"}] == [
        "style",
        "script",
    ]
    attributes = [(name, value or "") for _, attrs in page.tags for name, value in attrs.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in {"src", "style", "action"}]
    assert all(value.startswith("#i") for name, value in attributes if name == "href")
    policy = next(attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_no_verb_prints_a_command_to_a_ci_server(project_at, tmp_path):
    project = project_at(tmp_path / "project")

    def counted(outcome):
        return {"tests": [{"id": name, "outcome": outcome} for name in [*COMMANDS, "steady"]]}

    project.must("pre-loop", counted("passed"))
    said = [project.hook("post-iteration", counted("failed"), "--blocked", "::error::a").out]
    said.append(project.hook("loop-decision").out)
    assert project.ralph("accept", "it1-working_tests_failing", "--reason", COMMANDS[2]).code == 0
    failing = project.file("failing.json", counted("failed"))
    verbs = ["status", "status --json", "show", "show --json", "diff 0 1", "diff 0 1 --json", "report", "report --md"]
    verbs += [
        "report --md --for pr",
        "history",
        "history --json",
        "feedback",
        "flaky",
        "flaky --json",
        "export --to csv",
        "compare",
    ]
    verbs += [
        f"gate --metrics {failing}",
        f"gate --json --metrics {failing}",
        "select-best --reason ##[group]x",
        "verify",
    ]
    said += [project.ralph(*verb.split()).out for verb in verbs]
    lines = [line for text in said for line in text.splitlines()]
    assert sum("stop-commands" in line for line in lines) > 10
    assert [line for line in lines if re.search(r"^\s*::|##\w*\[", line)] == []
    shown = project.ralph("show", "1", "--json").json
    assert COMMANDS[0] in shown["iteration_metrics"]["alerts"][0]["tests"]


@table("key", NAMES)
def test_a_hostile_reason_to_wait_is_text_in_the_report(blocked, key):
    markdown = report_of(blocked, f"iteration-{NUMBER[key]:03d}-report.md")
    is_harmless(markdown)
    assert any("Reason: Escalate to human - blocked: " in line for line in shown_in(markdown))


def test_hostile_text_breaks_no_table(breaking, blocked):
    for project in (breaking[0], blocked):
        for path in (project.root / ".aiwg/ralph/ralph-001/reports").iterdir():
            rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
            widths = {row.count("|") for row, below in pairwise(rows) if set(below) <= set("|- ")}
            assert bool(widths) is (path.name != "output-selection.md")
            assert {row.replace(r"\|", "").count("|") for row in rows} == widths


def test_hostile_text_is_kept_in_records_that_still_load(breaking, blocked):
    for project in (breaking[0], blocked):
        loop = project.root / ".aiwg/ralph/ralph-001"
        for number in NUMBER.values():
            record = load((loop / f"progress/iteration-{number:03d}-metrics.yaml").read_bytes())
            assert record["iteration_metrics"]["iteration"] == number
        for path in loop.rglob("*.yaml"):
            assert load(path.read_bytes())["schema_version"] == 1
        for path in (*loop.rglob("*.jsonl"), *loop.rglob("*.json")):
            assert [json.loads(line) for line in path.read_bytes().splitlines() if line]
        assert len(project.ralph("history", "--json").json) == len(NAMES) + 1


def test_a_hostile_name_is_the_same_in_every_record(breaking):
    project, _ = breaking
    for key, number in NUMBER.items():
        record = project.ralph("show", number, "--json").json
        (alert,) = record["iteration_metrics"]["alerts"]
        name = NAMES[key][0].encode("utf-8", "backslashreplace").decode()
        assert alert["tests"] == [name]
        readable = project.root / f".aiwg/ralph/ralph-001/progress/iteration-{number:03d}-metrics.yaml"
        assert load(readable.read_bytes())["iteration_metrics"]["alerts"][0]["tests"] == [name]
