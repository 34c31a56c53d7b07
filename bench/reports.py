"""Write reports of any size for measuring the readers, in the form of real tools.

They are written in pieces: child processes of a large parent would appear large too.
"""

import json
from pathlib import Path

LINES = 120
RULES = 200
TRACEBACK = "&gt;       assert total == expected\nE       assert 41 == 42\n\ntests/test_totals.py:31: AssertionError\n"


def write_junit(path: Path, cases: int) -> None:
    """Write a JUnit report."""
    with path.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" ')
        out.write(f'errors="0" failures="{cases // 10}" skipped="0" tests="{cases}" time="99.5">\n')
        for number in range(cases):
            module, case = divmod(number, 50)
            out.write(f'<testcase classname="tests.unit.package_{module % 40:02}.test_module_{module:04}.TestThing" ')
            out.write(f'name="test_it_does_what_it_should_in_case_number[{case:02}-left-right-{number}]" ')
            out.write(f'file="tests/unit/package_{module % 40:02}/test_module_{module:04}.py" line="{number % 997}" ')
            out.write(f'time="{number % 500 / 1000:.3f}"')
            if number % 10:
                out.write(" />\n")
            else:
                out.write(f'><failure message="assert 41 == 42">{TRACEBACK}</failure></testcase>\n')
        out.write("</testsuite></testsuites>\n")


def hits_of(file: int, line: int) -> int:
    """Return how often a line ran: one in five never did."""
    return (file * 7 + line * 3) % 10 // 2


def write_cobertura(path: Path, files: int) -> None:
    """Write a report in the form of coverage.py's."""
    with path.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" ?>\n<coverage version="7.17.3" line-rate="0.8" branch-rate="0" complexity="0">')
        out.write('<sources><source>/build</source></sources><packages><package name="app" line-rate="0.8"><classes>\n')
        for file in range(files):
            out.write(f'<class name="module_{file}.py" filename="app/part_{file % 40:02}/module_{file}.py" ')
            out.write('complexity="0" line-rate="0.8" branch-rate="0">\n\t<methods/>\n\t<lines>\n')
            for line in range(LINES):
                out.write(f'\t\t<line number="{line * 3 + 1}" hits="{hits_of(file, line)}"/>\n')
            out.write("\t</lines>\n</class>\n")
        out.write("</classes></package></packages></coverage>\n")


def write_lcov(path: Path, files: int) -> None:
    """Write a tracefile in the form of coverage.py's."""
    with path.open("w", encoding="utf-8") as out:
        for file in range(files):
            out.write(f"SF:app/part_{file % 40:02}/module_{file}.py\n")
            out.writelines(f"DA:{line * 3 + 1},{hits_of(file, line)}\n" for line in range(LINES))
            covered = sum(hits_of(file, line) > 0 for line in range(LINES))
            out.write(f"LF:{LINES}\nLH:{covered}\nend_of_record\n")


def rule(number: int) -> dict[str, object]:
    level = ("error", "warning", "note")[number % 3]
    return {
        "id": f"RULE{number:04}",
        "name": f"SomethingThatShouldNotBeDone{number}",
        "shortDescription": {"text": "Do not do what this rule forbids."},
        "defaultConfiguration": {"level": level} if number % 2 else {"enabled": True},
        "help": {"text": "Do something else. " * 20},
    }


def place(number: int) -> dict[str, object]:
    line = number % 997 + 1
    region = {"startLine": line, "startColumn": 5, "endLine": line, "endColumn": 42}
    artifact = {"uri": f"src/package/module_{number % 400}.py"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def result(number: int) -> dict[str, object]:
    found = {
        "ruleId": f"RULE{number % RULES:04}",
        "ruleIndex": number % RULES,
        "message": {"text": f"The value of 'something_{number}' may be None here, which what is called does not take."},
        "locations": [place(number)],
        "relatedLocations": [place(number + 1)],
        "codeFlows": [{"threadFlows": [{"locations": [{"location": place(number + 2)}]}]}],
        "partialFingerprints": {"primaryLocationLineHash": f"{number:032x}", "stableIdentity": f"{number * 7:032x}"},
    }
    if number % 2:
        found["level"] = ("error", "warning", "note")[number % 3]
    if number % 10 == 0:
        found["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": "It is meant so."}]
    return found


def write_sarif(path: Path, results: int) -> None:
    """Write a SARIF report."""
    driver = json.dumps({"name": "analyser", "version": "1.0", "rules": [rule(number) for number in range(RULES)]})
    with path.open("w", encoding="utf-8") as out:
        out.write('{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [')
        out.write(f'{{"tool": {{"driver": {driver}}}, "results": [\n')
        for number in range(results):
            out.write(json.dumps(result(number)) + (",\n" if number + 1 < results else "\n"))
        out.write("]}]}\n")
