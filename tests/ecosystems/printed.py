"""Read the numbers that the tools of each ecosystem print."""

import re
from typing import Any

_ALL_FILES = re.compile(r"^All files +\|(?: +[\d.]+ \|){3} +([\d.]+) ", re.MULTILINE)

Numbers = dict[str, float | None]


def _count(word: str, text: str) -> int:
    return sum(int(number) for number in re.findall(rf"(\d+) {word}\b", text))


def _last(pattern: str, text: str) -> Any:
    return re.findall(pattern, text, re.MULTILINE)[-1]


def _tests(passed: int, failed: int, skipped: int) -> Numbers:
    return {"tests": passed + failed + skipped, "passed": passed, "failed": failed, "skipped": skipped}


def covered(text: str) -> Numbers:
    found = _ALL_FILES.search(text)
    return {"coverage": float(found[1]) if found else None}


def jest(text: str) -> Numbers:
    line = re.findall(r"^ *Tests:? +(.*)$", text, re.MULTILINE)[-1]
    skipped = _count("skipped", line) + _count("todo", line)
    return _tests(_count("passed", line), _count("failed", line), skipped) | covered(text)


def mocha(text: str) -> Numbers:
    return _tests(_count("passing", text), _count("failing", text), _count("pending", text)) | covered(text)


def eslint(text: str) -> Numbers:
    found = re.search(r"\((\d+) errors?, (\d+) warnings?\)", text)
    return {"errors": int(found[1]), "warnings": int(found[2])} if found else {"errors": 0, "warnings": 0}


def tsc(text: str) -> Numbers:
    found = re.search(r"Found (\d+) errors?", text)
    return {"types": int(found[1]) if found else 0}


def cargo(text: str) -> Numbers:
    results = "\n".join(line for line in text.splitlines() if line.startswith("test result: "))
    counts = _tests(_count("passed", results), _count("failed", results), _count("ignored", results))
    return counts | {"errors": 0, "warnings": generated(text)}


def nextest(text: str) -> Numbers:
    """Read nextest's summary and that of the documentation's tests; what is ignored is in no report of nextest's."""
    summary = re.findall(r"^ *Summary .*$", text, re.MULTILINE)[-1]
    doctests = "\n".join(line for line in text.splitlines() if line.startswith("test result: "))
    passed, failed = (_count(word, summary) + _count(word, doctests) for word in ("passed", "failed"))
    return _tests(passed, failed, _count("ignored", doctests)) | {"errors": 0, "warnings": generated(text)}


def generated(text: str) -> int:
    """Read clippy's own sum, which alone is told of the library and not of its tests."""
    return sum(int(number) for number in re.findall(r"\(lib\) generated (\d+) warning", text))


def go(text: str) -> Numbers:
    passed, failed, skipped = (len(re.findall(rf"--- {word}: ", text)) for word in ("PASS", "FAIL", "SKIP"))
    total = re.search(r"^total:\s+\(statements\)\s+([\d.]+)%", text, re.MULTILINE)
    return _tests(passed, failed, skipped) | {"coverage": float(total[1]) if total else None}


def maven(text: str) -> Numbers:
    line = re.findall(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)", text)[-1]
    run, failures, errors, skipped = map(int, line)
    return _tests(run - failures - errors - skipped, failures + errors, skipped)


def gradle(text: str) -> Numbers:
    """Read what Gradle says where a test has failed: else it gives no number."""
    run, failed, skipped = (_count(word, text) for word in ("tests completed", "failed", "skipped"))
    return _tests(run - failed - skipped, failed, skipped)


def rspec(text: str) -> Numbers:
    found = re.findall(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", text, re.MULTILINE)[-1]
    run, failed, pending = (int(number or 0) for number in found)
    covered = re.search(r"(\d+) / (\d+) LOC", text)
    offenses = re.search(r"(\d+) offenses? detected", text)
    return {
        **_tests(run - failed - pending, failed, pending),
        "coverage": 100 * int(covered[1]) / int(covered[2]) if covered else None,
        "errors": 0,
        "warnings": int(offenses[1]) if offenses else 0,
    }


def minitest(text: str) -> Numbers:
    found = re.findall(r"^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips", text, re.MULTILINE)[
        -1
    ]
    run, failures, errors, skips = map(int, found)
    return _tests(run - failures - errors - skips, failures + errors, skips)


def phpunit(text: str) -> Numbers:
    line = _last(r"^(?:Tests: .*|OK \(\d+ tests?, .*)$", text)
    line = re.sub(r"^OK \((\d+) tests?", r"Tests: \1", line)  # where nothing is worth a word
    count = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", line)}
    failed = count.get("Failures", 0) + count.get("Errors", 0)
    skipped = count.get("Skipped", 0) + count.get("Incomplete", 0)
    covered = re.search(r"^ +Lines: +([\d.]+)%", text, re.MULTILINE)
    passed = count["Tests"] - failed - skipped
    return _tests(passed, failed, skipped) | {"coverage": float(covered[1]) if covered else None}


def ctest(text: str) -> Numbers:
    words = {
        word: len(re.findall(rf"(?:\.|\*\*\*) *{word}", text)) for word in ("Passed", "Failed", "Skipped", "Not Run")
    }
    covered = re.search(r"^TOTAL +(\d+) +(\d+)", text, re.MULTILINE)
    return {
        **_tests(words["Passed"], words["Failed"], words["Skipped"] + words["Not Run"]),
        "coverage": 100 * int(covered[2]) / int(covered[1]) if covered else None,
    }


def deno(text: str) -> Numbers:
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    line = _last(r"^(?:FAILED|ok) \| .*$", text)
    counts = {}
    for word in ("passed", "failed", "ignored"):
        found = re.search(rf"(\d+) {word}(?: \((\d+) steps?\))?", line)
        counts[word] = int(found[1]) + int(found[2] or 0) if found else 0
    covered = re.search(r"^\| *All files *\|(?:[^|]*\|){2} *([\d.]+) *\|", text, re.MULTILINE)
    numbers = _tests(counts["passed"], counts["failed"], counts["ignored"])
    return numbers | {"coverage": float(covered[1]) if covered else None}


def bun(text: str) -> Numbers:
    passed, failed, skipped, todo = (_count(word, text) for word in ("pass", "fail", "skip", "todo"))
    covered = re.search(r"^All files *\| *[\d.]+ *\| *([\d.]+)", text, re.MULTILINE)
    return _tests(passed, failed, skipped + todo) | {"coverage": float(covered[1]) if covered else None}


def node(text: str) -> Numbers:
    count = {
        name: int(number)
        for name, number in re.findall(r"^\S (tests|pass|fail|skipped|todo) (\d+)", text, re.MULTILINE)
    }
    covered = re.search(r"^\S all files *\| *([\d.]+)", text, re.MULTILINE)
    numbers = _tests(count["pass"], count["fail"], count["skipped"] + count["todo"])
    return numbers | {"coverage": float(covered[1]) if covered else None}


def biome(text: str) -> Numbers:
    found = {word: re.search(rf"Found (\d+) {word}", text) for word in ("error", "warning")}
    return {f"{word}s": int(said[1]) if said else 0 for word, said in found.items()}
