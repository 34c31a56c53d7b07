"""T9: what runs or judges the tests is made to say something else than what happened."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.fresh import fresh
from ralph_tracker.integrity.languages import is_test_path
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.facts import Fact, told

_RULE: Final = "T9"
_STARTS: Final = Pattern(r"(^|/)(sitecustomize|usercustomize)\.py$")
_LOADED: Final = Pattern(r"(^|/)(conftest|__init__)\.py$")
_SHADOWS: Final = Pattern(r"^(src/)?(_?pytest|unittest|pluggy)(\.py|/(__init__|__main__)\.py)$")
_IN_PLACE: Final = Pattern(r"(^|/)bin/(py\.?test|python3?)$")
_EXITING: Final = Pattern(
    r"_exit\b|\babort\(|\b(exit|quit)\(|SystemExit|\bexec[lv]\w*\(|\bexit\.Exception|\bsys\.exit\b",
    words=("exit", "abort(", "quit(", "Exit", "exec"),
)
_ASSIGNING: Final = Pattern(
    r"\.(raises|warns|fail\w*|approx|main|skip|xfail|deprecated_call|_?exit|quit|AssertionError|all|any|len|isinstance|abs"
    r"|sum|round|sorted|bool|repr|\w*Exception|run|debug|__call__|assert\w+|TestCase|TestReport|CallInfo|Function|Item)"
    r"\s*=[^=]"
)
_ASSIGNING_TO: Final = Pattern(
    r"\b(Function|Item|TestReport|CallInfo|\w*TestCase|\w*Result)\.\w+\s*=[^=]",
    words=("Function.", "Item.", "TestReport.", "CallInfo.", "TestCase.", "Result."),
)
_REPLACING: Final = Pattern(
    r"modules\[[^]]*\]\s*=[^=]|(?<![.\w])setattr\(|\b_pytest\b|\bpluggy\b"
    r"|\b(setattr|patch|object)\(\s*['\"]?[\w.]*(pytest|unittest|TestCase|TestReport|TestResult|CallInfo)\b",
    words=("modules[", "setattr(", "_pytest", "pluggy", "patch"),
)
_JUDGING: Final = Pattern(r"pytest|unittest|builtins|_exit|sys\.exit|pluggy|TestCase")
_HOLLOW: Final = Pattern(
    r"load_tests|def (run|__call__)\(|(?<![.\w])setattr\(|globals\(\)\[",
    words=("load_tests", "def run(", "def __call__(", "setattr(", "globals()["),
)
_TELLING: Final = Pattern(r"pytest|unittest|exit|builtins|AssertionError|sys\.modules|addaudithook|settrace")
_DEFINES_HOOK: Final = Pattern(
    r"\bdef\s+pytest_\w+|\bspecname\s*=|\bpytest_\w+\s*=[^=]|\bautouse\s*=|\batexit\.",
    words=("pytest_", "specname", "autouse", "atexit"),
)
_SETS_OUTCOME: Final = Pattern(
    r"\.outcome\s*=\s*['\"]passed|\b_outcome\.\w+(\.clear\(\)|\s*=[^=])|\b_outcome\s*=[^=]"
    r"|\.(failures|errors)(\.clear\(\)|\s*=\s*\[\])",
    words=("outcome", "failures", "errors"),
)
# Each alternative begins with a letter of its own: what begins with `\b` is tried at every sign of a text.
_MAY_JUDGE: Final = Pattern(
    r"def(?<=\bdef) (assert|fail\(|_baseAssert|_getAssert|_callTest|__getattr)|assert(?<=\bassert)\w+\s*=[^=]"
    r"|failureException\s*=|addTypeEqualityFunc",
    words=("def ", "assert", "failureException"),
)
_HANDS_ON: Final = Pattern(
    r"(exit\(|SystemExit\(|=|return)\s*(int\()?(pytest\.|unittest\.|nose\.)?main\(", words=("main(",)
)
_RUNS_TESTS: Final = Pattern(r"^[ \t]*pytest\.main\(.*", re.MULTILINE, words=("pytest.main(",))
_MEASURING: Final = Pattern(r"^(import coverage(; coverage\.process_startup\(\))?|coverage\.process_startup\(\)|)$")


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield hooks, exits and replacements that forge how tests end. Raises Unparsable."""
    if file.new is None:
        return
    if file.old is None and _shadows(file, file.new, evidence):
        yield told(_RULE, Fact("a module of the runner's name is found first", 1, file.path), file.path, certain=True)
    if file.path.endswith(".pth"):
        seen = fresh(file, evidence, _startup_lines)
    elif _IN_PLACE.search(file.path) and file.old is None:
        yield told(_RULE, Fact("a program of the runner's name is found first", 1, file.path), file.path, certain=True)
        return
    elif file.language == "python":
        seen = fresh(file, evidence, _facts)
        if file.old is not None and not file.is_test and _HANDS_ON.search(file.old.text):
            yield from _result_dropped(file.new, evidence)
    else:
        return
    for each in seen:
        yield told(_RULE, each, file.path, certain=each.certain or evidence.any_began_to_pass)


def _shadows(file: ChangedFile, new: Side, evidence: Evidence) -> bool:
    """Tell whether a file is found in place of the runner's; the runner's own project had such files before."""
    if not _SHADOWS.search(file.path) or not (new.text.strip() or "unittest" not in file.path):
        return False
    return not any(each.old is not None and _SHADOWS.search(each.path) for each in evidence.files)


def _facts(side: Side) -> Iterator[Fact]:
    text, path = side.text, side.path
    starts = _STARTS.search(path) is not None
    judged = is_test_path(path) or _LOADED.search(path) is not None or starts
    # Most texts raise none of these questions, and what answers them is not imported.
    if _DEFINES_HOOK.search(text):
        from ralph_tracker.integrity.python.hooks import forging_hooks  # noqa: PLC0415

        yield from forging_hooks(text)
    if _EXITING.search(text):
        from ralph_tracker.integrity.python.exits import early_exits  # noqa: PLC0415

        yield from (each if judged else _unless_imported(each) for each in early_exits(text) if _matters(path, each))
    if _JUDGING.search(text) and any(each.search(text) for each in (_ASSIGNING, _ASSIGNING_TO, _REPLACING)):
        from ralph_tracker.integrity.python.exits import replaced_judges  # noqa: PLC0415

        yield from replaced_judges(text)
    if judged and _HOLLOW.search(text):
        from ralph_tracker.integrity.python.exits import hollowed_suites  # noqa: PLC0415

        yield from hollowed_suites(text)
    if judged and _MAY_JUDGE.search(text):
        from ralph_tracker.integrity.python.own_judges import hollow_judges  # noqa: PLC0415

        yield from hollow_judges(text)
    if judged and _SETS_OUTCOME.search(text):
        from ralph_tracker.integrity.python.mended_outcomes import outcomes_mended  # noqa: PLC0415

        yield from outcomes_mended(text)
    if starts:
        yield from _startup_lines(side)


def _result_dropped(new: Side, evidence: Evidence) -> Iterator[Finding]:
    """Find a run of the tests whose exit status the file's program no longer ends with."""
    run = _RUNS_TESTS.search(new.text)
    if run is not None and not _HANDS_ON.search(new.text):
        line = new.text.count("\n", 0, run.start()) + 1
        seen = Fact("the result of the tests is not handed on", line, run.group().strip())
        yield told(_RULE, seen, new.path, certain=evidence.any_began_to_pass)


def _matters(path: str, each: Fact) -> bool:
    """Leave out programs that end with success as programs do."""
    return is_test_path(path) or not path.endswith("__main__.py") or "_exit" in each.text


def _unless_imported(each: Fact) -> Fact:
    """Lower what stands in a source file, which may be a program: `os._exit` runs no handler and has no place there."""
    return each if "_exit" in each.text else Fact(each.what, each.line, each.text, certain=False)


def _startup_lines(side: Side) -> Iterator[Fact]:
    """Yield code that the interpreter runs before anything else."""
    for number, line in enumerate(side.lines, 1):
        bare = line.strip()
        runs = bare.startswith(("import ", "import\t")) or not side.path.endswith(".pth")
        if runs and not bare.startswith("#") and not _MEASURING.match(bare):
            yield Fact("code runs when the interpreter starts", number, bare, _TELLING.search(bare) is not None)
