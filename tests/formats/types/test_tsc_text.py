"""What TypeScript's compiler prints, plain and pretty."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TypeReport, Unreadable
from tests.tables import table

PLAIN = "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
PRETTY = "src/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n1 const n = 1;\n        ~\n"
COLOURED = (
    "\x1b[96msrc/a.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mType\n"
)


def read(text: str, **more) -> TypeReport | Unreadable:
    result = registry.read(text.encode(), **more)
    assert isinstance(result, TypeReport | Unreadable)
    return result


def test_plain_diagnostics_are_counted():
    more = "c:\\b c\\b.ts(30,1): warning TS1: w\nb.ts(3,1): message TS6: m\n  The file is in the program because:\n"
    assert read(PLAIN + more) == TypeReport(errors=1, warnings=1, notes=1, skipped_lines=1)


@table("row", [PRETTY, COLOURED])
@table(
    "end",
    [
        "\nFound 2 errors in 2 files.\n",
        "Found 2 errors in the same file, starting at: a.ts:1\n",
        "Found 2 errors.\n",
        "Found 1 error in a.ts:1\n\nFound 1 error in b.ts:1\n",
        "Found 2 errors. Watching for file changes.",
    ],
)
def test_pretty_diagnostics_are_counted_and_declared(row, end):
    report = read(row * 2 + end)
    assert (report.errors, report.declared_errors, report.contradiction) == (2, 2, None)


def test_the_greater_of_listed_and_declared_counts():
    report = read(PRETTY + "Found 3 errors in 2 files.\n")
    assert (report.errors, report.contradiction) == (3, "declared errors: 3, listed: 1")
    assert read(PRETTY * 2 + "Found 1 error in a.ts:1\n").errors == 2


@table(
    ("line", "stopped"),
    [
        ("a.ts(1,10): error TS1110: Type expected.", True),
        ("a.ts(1,10): error TS1005: ';' expected.", True),
        ("a.js(1,10): error TS8010: Type annotations can only be used in TypeScript files.", True),
        ("error TS5023: Unknown compiler option '--nonsense'.", True),
        ("error TS6053: File 'nofile.ts' not found.", True),
        ("a.ts(1,10): error TS2304: Cannot find name 'missing'.", False),
        ("a.ts(1,10): error TS1259: Module can only be default-imported", False),
    ],
)
def test_an_error_of_syntax_or_of_the_options_stops_the_compiler(line, stopped):
    report = read(f"{line}\n")
    assert (report.errors, report.stopped) == (1, stopped)


@table("text", [PRETTY, PRETTY * 2, PLAIN[:-1], PLAIN + PLAIN[:60]])
def test_text_without_its_end_is_cut_short(text):
    assert read(text) == Unreadable("cut short: the number of errors, with which tsc ends, is missing")


@table("text", ["Found 0 errors. Watching.\n", "a.c:1:2: error: x\n", "a.ts: error TS: x\n", "x error TS1: y\n"])
def test_the_output_of_others_is_not_taken_for_it(text):
    assert read(text) == Unreadable("not a report of a known format")


def test_its_last_line_alone_is_read_where_the_format_is_named():
    assert read("Found 0 errors. Watching.\n", format="tsc-text") == TypeReport(declared_errors=0)
    assert read("hello\n", format="tsc-text") == Unreadable("no line is a diagnostic of tsc")
