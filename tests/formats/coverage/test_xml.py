"""Reports of coverage in XML: Cobertura, JaCoCo, Clover, OpenCover."""

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, Unreadable
from ralph_tracker.formats.report_content import Content
from tests.tables import table


def read(text: str, **more) -> CoverageReport | Unreadable:
    return registry.read(text.encode(), **more)


def counts(report: CoverageReport | Unreadable) -> tuple[int, int]:
    assert isinstance(report, CoverageReport), report
    return report.lines_covered, report.lines_total


def cobertura(classes: str, attributes: str = "", sources: str = "") -> str:
    packages = f"<packages><package><classes>{classes}</classes></package></packages>"
    return f"<coverage {attributes}>{sources}{packages}</coverage>"


def of_class(rows: str, file: str = "a.py", methods: str = "") -> str:
    lines = "".join(f'<line number="{row.split(":")[0]}" hits="{row.split(":")[1]}"/>' for row in rows.split())
    return f'<class filename="{file}">{methods}<lines>{lines}</lines></class>'


METHOD = '<methods><method name="m"><lines><line number="50" hits="1"/></lines></method></methods>'


@table(
    ("classes", "expected"),
    [
        (of_class("1:1 2:0"), (1, 2)),
        (of_class("1:0 1:2 1:0"), (1, 1)),
        (of_class("1:0 2:0", "a.cs") + of_class("2:1 3:1", "a.cs"), (2, 3)),
        (of_class("1:1", methods=METHOD), (1, 1)),
        (of_class("1:1", "a.py") + of_class("1:1", "b.py"), (2, 2)),
        (of_class("1:-3"), (0, 1)),
        (of_class("1000000000000:1"), (1, 1)),
        ('<class filename=""><lines><line number="1" hits="1"/></lines></class>', (1, 1)),
        ('<class name="A"><line number="1" hits="1"/></class>', (1, 1)),
        (f'<class filename="a.swift">{METHOD}</class>', (0, 0)),
        ("", (0, 0)),
    ],
    ids=[
        "lines",
        "listed-twice",
        "two-classes",
        "methods",
        "two-files",
        "overflow",
        "far",
        "unnamed",
        "name",
        "none",
        "",
    ],
)
def test_cobertura_counts_the_rows_of_its_classes_by_file(classes, expected):
    assert counts(read(cobertura(classes))) == expected


@table(
    ("attributes", "said"),
    [
        ('line-rate="0.6667"', None),
        ('line-rate="0.6666"', None),
        ('line-rate="0.66"', None),
        ('line-rate="0.67"', None),
        ('line-rate="0.6"', "declared: 60.00 % of the lines, listed: 66.67 %"),
        ('line-rate="0.6664"', "declared: 66.64 % of the lines, listed: 66.67 %"),
        ('lines-covered="2" lines-valid="3" line-rate="x"', None),
        ('lines-covered="2" lines-valid="4"', "declared lines: 2 of 4, listed: 2 of 3"),
        ('lines-covered="2.0" lines-valid="-4"', "declared lines: ? of -4, listed: 2 of 3"),
    ],
)
def test_cobertura_keeps_what_it_declares_and_says_where_the_rows_contradict(attributes, said):
    report = read(cobertura(of_class("1:1 2:1 3:0"), attributes))
    assert (report.lines_covered, report.lines_total, report.contradiction) == (2, 3, said)
    assert report.percent == pytest.approx(200 / 3)


def test_cobertura_without_rows_is_what_it_declares():
    report = read(cobertura("", 'lines-covered="1" lines-valid="2" line-rate="0.5"'))
    assert (counts(report), report.percent, report.files) == ((1, 2), 50.0, None)
    assert read(cobertura("", 'line-rate="0.5"')).percent is None
    assert read(cobertura("", 'lines-covered="3" lines-valid="2"')) == Unreadable("3 of 2 lines are covered, it says")


@table(
    ("sources", "path"),
    [
        ("<sources><source>/build/one</source></sources>", "/build/one/a.py"),
        ("<sources><source> C:\\one\\ </source></sources>", "C:\\one/a.py"),
        ("<sources><source>/one</source><source>/two</source></sources>", "a.py"),
        ("<sources><source>.</source></sources>", "a.py"),
        ("<sources><source></source></sources>", "a.py"),
        ("<sources/>", "a.py"),
    ],
)
def test_cobertura_tells_the_files_of_several_packages_apart_by_their_one_source(sources, path):
    assert list(read(cobertura(of_class("1:1"), sources=sources)).files) == [path]


DEEP = "<coverage line-rate='1'>" + "<a>" * 300
JACOCO = '<report name="r"><package name="p"><sourcefile name="A.java">{}</sourcefile></package>{}</report>'
CLOVER = '<coverage clover="4"><project>{}<file name="a.php">{}</file></project></coverage>'
OPENCOVER = (
    '<CoverageSession><Summary {}/><Modules><Module><Files><File uid="1" fullPath="a.cs"/></Files><Classes><Class>'
    "<Methods><Method><FileRef uid='1'/><SequencePoints>{}</SequencePoints></Method></Methods></Class></Classes>"
    "</Module></Modules></CoverageSession>"
)


@table(
    ("text", "why"),
    [
        (cobertura('<class filename="a"><line hits="1"/></class>'), "a line has no attribute 'number'"),
        (cobertura('<class filename="a"><line number="1"/></class>'), "a line has no attribute 'hits'"),
        (cobertura(of_class("x:1")), "'x' is no line number"),
        (cobertura(of_class("1:x")), "'x' is no number of hits"),
        (cobertura("<class/>"), "a class has neither filename nor name"),
        (DEEP, "elements are nested deeper than 256"),
        (JACOCO.format('<line ci="1"/>', ""), "a line has no attribute 'nr'"),
        (JACOCO.format('<line nr="1"/>', ""), "a line has no attribute 'ci'"),
        ('<report><package><line nr="1" ci="1"/></package></report>', "a line is outside of any sourcefile"),
        (CLOVER.format("", '<line num="1"/>'), "a line has no num or no count"),
        (CLOVER.format("", '<line count="1"/>'), "a line has no num or no count"),
        ('<coverage clover="4"><project><line num="1" count="1"/></project></coverage>', "a line is outside of"),
        ('<coverage clover="4"><project><file/></project></coverage>', "a file has neither path nor name"),
        (OPENCOVER.format("", '<SequencePoint sl="1"/>'), "a SequencePoint has no attribute 'vc'"),
        (OPENCOVER.format("", '<SequencePoint sl="1" vc="?"/>'), "'?' is no number of hits"),
    ],
)
def test_a_row_that_is_none_makes_it_unreadable_and_says_where(text, why):
    report = read(text)
    assert isinstance(report, Unreadable)
    assert report.why.startswith(why)
    assert report.line == 1
    assert report.column > 1


def test_a_line_of_cobertura_outside_of_any_class_is_no_report():
    text = "<coverage line-rate='1'><packages><line number='1' hits='1'/></packages></coverage>"
    assert read(text) == Unreadable("a line is outside of any class")


@table("name", ["cobertura", "jacoco", "clover", "opencover"])
def test_another_root_is_refused_by_name(name):
    report = read("<other/>", format=name)
    assert isinstance(report, Unreadable)
    assert report.why.startswith("the root element is <other>, not ")


@table(
    ("text", "name"),
    [
        ('<coverage line-rate="1"/>', "cobertura"),
        ("<coverage><sources/></coverage>", "cobertura"),
        ("<coverage><packages/></coverage>", "cobertura"),
        ('<coverage line-rate="1"><project/></coverage>', "clover"),
        ("<coverage generated='1'><project/></coverage>", "clover"),
        ('<coverage clover="3.2.0"/>', "clover"),
        ('<coverage version="1"><file path="a"/></coverage>', None),
        ("<coverage/>", None),
        ("<report><counter/></report>", "jacoco"),
        ('<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report/>', "jacoco"),
        ("<report><header/></report>", None),
        ("<report/>", None),
        ("<CoverageSession/>", "opencover"),
    ],
)
def test_roots_that_formats_share_are_told_apart_by_what_follows(text, name):
    found = registry.recognise(Content(text.encode()))
    assert (found and found.name) == name


def test_jacoco_counts_lines_of_which_an_instruction_ran():
    rows = '<line nr="1" mi="0" ci="2"/><line nr="2" mi="3" ci="1"/><line nr="3" mi="1" ci="0"/>'
    report = read(JACOCO.format(rows, '<counter type="LINE" missed="1" covered="2"/>'))
    assert (counts(report), report.contradiction) == ((2, 3), None)
    assert report.files == {"p/A.java": {1: True, 2: True, 3: False}}
    other = read(JACOCO.format(rows, '<counter type="LINE" missed="5" covered="2"/>'))
    assert (counts(other), other.contradiction) == ((2, 3), "declared lines: 2 of 7, listed: 2 of 3")


@table(
    ("counters", "expected"),
    [
        ('<counter type="LINE" missed="1" covered="3"/>', (3, 4)),
        ('<counter type="INSTRUCTION" missed="1" covered="3"/>', (0, 0)),
        ('<counter type="LINE" covered="3"/>', (0, 0)),
        ("", (0, 0)),
    ],
)
def test_jacoco_without_rows_is_its_counter_of_lines_or_no_data(counters, expected):
    report = read(JACOCO.format("", counters))
    assert counts(report) == expected
    assert (report.percent is None) is (expected == (0, 0))


def test_jacoco_tells_the_files_of_its_groups_apart():
    group = (
        '<group name="{}"><package name="p"><sourcefile name="A"><line nr="1" ci="1"/></sourcefile></package></group>'
    )
    report = read(f"<report>{group.format('one')}{group.format('two')}</report>")
    assert list(report.files) == ["one/p/A", "two/p/A"]


METRICS = '<metrics statements="{}" coveredstatements="{}"/>'


@table(
    ("metrics", "rows", "expected", "said"),
    [
        (
            METRICS.format(1, 1),
            '<line num="1" count="1" type="method"/><line num="2" count="1" type="stmt"/>',
            (2, 2),
            None,
        ),
        (METRICS.format(1, 0), '<line num="1" count="0" type="cond"/>', (0, 1), None),
        (
            METRICS.format(1, 0),
            '<line num="1" count="0" type="stmt"/><line num="1" truecount="1" falsecount="0" type="cond"/>',
            (1, 1),
            None,
        ),
        (METRICS.format(9, 3), '<line num="1" count="1"/>', (1, 1), "declared lines: 3 of 9, listed: 1 of 1"),
        ("", '<line num="1" count="1"/>', (1, 1), None),
        (METRICS.format(2, 3), "", (0, 0), None),
        (METRICS.format(3, 2), "", (0, 0), None),
    ],
    ids=["method", "condition-is-statement", "condition-besides", "more", "no-metrics", "damaged-metrics", "no-rows"],
)
def test_clover_counts_all_rows_and_holds_the_statements_to_those_of_statements(metrics, rows, expected, said):
    report = read(CLOVER.format(metrics, rows))
    assert (counts(report), report.contradiction) == (expected, said)
    assert (report.percent is None) is (expected == (0, 0))


def test_clover_counts_the_tests_of_the_project_too_and_no_metrics_of_theirs():
    tests = '<testproject><metrics statements="7"/><file name="t"><line num="1" count="0"/></file></testproject>'
    report = read(
        CLOVER.format(METRICS.format(1, 1), '<line num="1" count="1"/>').replace("</coverage>", tests + "</coverage>")
    )
    assert (counts(report), report.declared_total, report.contradiction) == ((1, 2), 1, None)


SUMMARY = 'numSequencePoints="{}" visitedSequencePoints="{}" sequenceCoverage="{}"'


def test_opencover_counts_points_even_where_two_have_one_place():
    points = '<SequencePoint sl="1" vc="1"/><SequencePoint sl="1" vc="0"/><SequencePoint sl="2" vc="0" fileid="1"/>'
    report = read(OPENCOVER.format(SUMMARY.format(3, 1, 33.33), points))
    assert (counts(report), report.contradiction) == ((1, 3), None)
    assert counts(report + report) == (1, 3)


def test_opencover_merges_numbers_that_are_one_file():
    text = OPENCOVER.format(
        SUMMARY.format(2, 1, 50), '<SequencePoint sl="1" vc="1"/><SequencePoint sl="1" vc="0" fileid="2"/>'
    )
    report = read(text.replace("</Files>", '<File uid="2" fullPath="a.cs"/></Files>'))
    assert counts(report) == (1, 1)
    assert list(report.files) == ["a.cs"]
    assert list(read(text).files) == ["a.cs", "?2"]


def test_opencover_without_points_is_its_summary_and_without_summary_nothing():
    report = read(OPENCOVER.format(SUMMARY.format(8, 7, 87.5), "<SequencePoint/>"))
    assert (counts(report), report.percent, report.files) == ((7, 8), 87.5, None)
    why = "the session has no summary of its points"
    assert read("<CoverageSession><Summar/></CoverageSession>") == Unreadable(why)


TWICE = """<coverage lines-valid="4" lines-covered="2" line-rate="0.5"><sources>{}</sources>
<packages><package name=".">
<classes>
<class name="m.py" filename="m.py"><lines><line number="1" hits="1"/><line number="2" hits="1"/></lines></class>
<class name="m.py" filename="m.py"><lines><line number="1" hits="0"/><line number="2" hits="0"/></lines></class>
</classes></package></packages></coverage>"""


@table(
    ("folders", "paths"),
    [
        (["/w/a", "/w/b/"], ["/w/a/m.py", "/w/b/m.py"]),
        (["/w/a", "/w/b", "/w/c"], ["/w/a/m.py", "/w/b/m.py"]),
    ],
)
def test_files_of_one_name_in_several_source_folders_are_several(folders, paths):
    sources = "".join(f"<source>{folder}</source>" for folder in folders)
    report = registry.read(TWICE.format(sources).encode())
    assert (report.lines_covered, report.lines_total, report.contradiction) == (2, 4, None)
    assert sorted(report.files) == paths


def test_more_files_of_one_name_than_source_folders_have_a_number():
    third = TWICE.replace(
        "</classes>", '<class name="m.py" filename="m.py"><lines><line number="1" hits="1"/></lines></class></classes>'
    )
    report = registry.read(third.format("<source>a</source><source>b</source>").encode())
    assert sorted(report.files) == ["a/m.py", "b/m.py", "m.py#3"]


def test_classes_of_one_file_stay_one_file_whatever_the_source_folders():
    java = TWICE.replace('name="m.py"', 'name="M"', 1).format("<source>a</source><source>b</source>")
    assert list(registry.read(java.encode()).files) == ["m.py"]
