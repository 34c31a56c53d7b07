"""Reports of mutation tools: errors with their places, what became of each, and nothing from half a report."""

import json
from pathlib import Path

import pytest

from ralph_tracker.formats.mutation_reports import Mutant, read
from ralph_tracker.formats.report_content import DamageError

CASES = Path(__file__).parents[2] / "fixtures" / "mutation"


def stryker(status: str, **more: object) -> bytes:
    location = {"start": {"line": 2, "column": 5}, "end": {"line": 2, "column": 8}}
    mutant = {"id": "0", "mutatorName": "Name", "status": status, "location": location, **more}
    return json.dumps({"files": {"a.js": {"source": "x\nif (a) b\n", "mutants": [mutant]}}}).encode()


def cosmic_ray(outcome: str | None, diff: str | None = None) -> bytes:
    job = {"mutations": [{"module_path": "a.py", "operator_name": "core/Not", "start_pos": [3, 4]}]}
    return json.dumps([job, {"test_outcome": outcome, "diff": diff}]).encode()


def test_strykers_report():
    found = read((CASES / "stryker.json").read_bytes())
    assert [each.fate for each in found].count("noticed") == 5
    assert [each.fate for each in found].count("missed") == 7
    assert Mutant("price.js", 2, "n > 10", "true", "noticed") in found
    assert Mutant("price.js", 3, "n * each - 5", "n * each + 5", "missed") in found


def test_what_cosmic_ray_dumps_without_what_it_did_not_try():
    data = (CASES / "cosmic-ray.jsonl").read_bytes()
    found = read(data)
    assert 0 < len(found) < len(data.splitlines())
    assert Mutant("prices.py", 8, "return n + 1", "return n - 1", "missed") in found


def infection(**mutants: int) -> bytes:
    diff = "--- Original\n+++ New\n@@ @@\n a\n-return $n * 2;\n+return $n / 2;\n"
    at = {"mutatorName": "Mul", "originalFilePath": "/app/src/A.php", "originalStartLine": 7}
    of_word = {word: [{"mutator": at, "diff": diff, "processOutput": ""}] * count for word, count in mutants.items()}
    return json.dumps({"stats": {"totalMutantsCount": 1}, "escaped": [], **of_word}).encode()


def pit(status: str) -> bytes:
    facts = "<sourceFile>A.java</sourceFile><mutatedClass>p.q.A$B</mutatedClass><lineNumber>7</lineNumber>"
    said = "<description>negated conditional</description>"
    return f"<mutations><mutation detected='x' status='{status}'>{facts}{said}</mutation></mutations>".encode()


def cargo(summary: str) -> bytes:
    name = "src/a.rs:7:5: replace add -> i32 with 0"
    span = {"start": {"line": 7, "column": 5}, "end": {"line": 7, "column": 9}}
    mutant = {"name": name, "file": "src/a.rs", "span": span, "replacement": "0", "genre": "FnValue"}
    baseline = {"scenario": "Baseline", "summary": "Success"}
    return json.dumps({"outcomes": [baseline, {"scenario": {"Mutant": mutant}, "summary": summary}]}).encode()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (infection(killed=1), Mutant("/app/src/A.php", 7, "return $n * 2;", "return $n / 2;", "noticed")),
        (infection(timeouted=1), Mutant("/app/src/A.php", 7, "return $n * 2;", "return $n / 2;", "noticed")),
        (infection(escaped=1), Mutant("/app/src/A.php", 7, "return $n * 2;", "return $n / 2;", "missed")),
        (infection(uncovered=1), Mutant("/app/src/A.php", 7, "return $n * 2;", "return $n / 2;", "unreached")),
        (infection(syntaxErrors=1, ignored=1), None),
        (pit("KILLED"), Mutant("**/p/q/A.java", 7, "", "negated conditional", "noticed")),
        (pit("TIMED_OUT"), Mutant("**/p/q/A.java", 7, "", "negated conditional", "noticed")),
        (pit("SURVIVED"), Mutant("**/p/q/A.java", 7, "", "negated conditional", "missed")),
        (pit("NO_COVERAGE"), Mutant("**/p/q/A.java", 7, "", "negated conditional", "unreached")),
        (pit("NON_VIABLE"), None),
        (cargo("CaughtMutant"), Mutant("src/a.rs", 7, "", "replace add -> i32 with 0", "noticed")),
        (cargo("Timeout"), Mutant("src/a.rs", 7, "", "replace add -> i32 with 0", "noticed")),
        (cargo("MissedMutant"), Mutant("src/a.rs", 7, "", "replace add -> i32 with 0", "missed")),
        (cargo("Unviable"), None),
    ],
)
def test_what_became_of_an_error_is_the_tools_word(data, found):
    assert read(data) == (() if found is None else (found,))


def test_what_mutmut_shows_of_each_error():
    found = read((CASES / "mutmut.txt").read_bytes())
    assert [each.fate for each in found] == ["missed"] * 5 + ["noticed"] + ["unreached"] * 2
    assert found[2] == Mutant("prices.py", 3, "return n * each - 5", "return n * each + 5", "missed", "price")
    assert found[7] == Mutant("prices.py", 2, "return n + 1", "return n + 2", "unreached", "unused")


def test_a_method_that_mutmut_shows_is_within_its_class():
    shown = "# a.b.xǁShopǁsell__mutmut_1: killed\n--- a/b.py\n+++ a/b.py\n@@ -5,3 +5,3 @@\n a\n-b\n+c\n".encode()
    assert read(shown) == (Mutant("a/b.py", 6, "b", "c", "noticed", "Shop.sell"),)


def test_what_mutmut_2_prints_as_junit():
    found = read((CASES / "mutmut2.xml").read_bytes())
    assert [each.fate for each in found].count("missed") == 7
    assert found[0] == Mutant("prices.py", 2, "if n > 10:", "if n >= 10:", "missed")
    assert found[5] == Mutant("prices.py", 4, "", "", "noticed")


def test_what_mutmut_2_skipped_is_left_out():
    assert read(b'<testsuites><testcase name="m" file="a.py" line="1"><skipped/></testcase></testsuites>') == ()


@pytest.mark.parametrize(
    ("status", "fates"),
    [
        ("Killed", ["noticed"]),
        ("Timeout", ["noticed"]),
        ("Survived", ["missed"]),
        ("NoCoverage", ["unreached"]),
        ("CompileError", []),
        ("Ignored", []),
        ("Pending", []),
    ],
)
def test_what_became_of_an_error_is_strykers_word(status, fates):
    assert [each.fate for each in read(stryker(status))] == fates


def test_an_error_without_its_text_has_the_name_of_its_kind():
    assert read(stryker("Survived")) == (Mutant("a.js", 2, "a)", "Name", "missed"),)
    assert read(cosmic_ray("survived")) == (Mutant("a.py", 3, "", "core/Not", "missed"),)


@pytest.mark.parametrize(("outcome", "fates"), [("killed", ["noticed"]), ("incompetent", ["noticed"]), (None, [])])
def test_what_became_of_an_error_is_cosmic_rays_word(outcome, fates):
    assert [each.fate for each in read(cosmic_ray(outcome))] == fates


def test_an_error_over_several_lines_has_its_first():
    end = {"start": {"line": 1, "column": 1}, "end": {"line": 2, "column": 3}}
    assert read(stryker("Survived", location=end, replacement="{\n}"))[0][2:4] == ("x", "{ }")


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"{}",
            b"[]",
            b"\xff",
            b"[" * 100_000,
            b"{" * 100_000,
            b"<mutations>",
            b"<mutations><mutation/></mutations>",
        ),
        *(stryker("Eaten"), cosmic_ray("eaten"), pit("EATEN"), cargo("Eaten"), infection(eaten=1)),
        *(b"# x__mutmut_1: killed\n", b"# x__mutmut_1: killed\n--- a\n", b'{"escaped": 7}', b'{"outcomes": [7]}'),
        b"<testsuites><testcase/></testsuites>",
        b"<testsuites><testcase file='a.py' line='x'/></testsuites>",
        b"<mutations><mutation status='KILLED'/></mutations>",
    ],
)
def test_what_is_no_report_is_refused(data):
    with pytest.raises(DamageError):
        read(data)


@pytest.mark.parametrize("name", ["stryker.json", "cosmic-ray.jsonl", "mutmut2.xml"])
def test_half_a_report_is_refused(name):
    with pytest.raises(DamageError):
        read((CASES / name).read_bytes()[:-50])
