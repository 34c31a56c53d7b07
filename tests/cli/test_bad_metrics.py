"""Metrics and usage that cannot be used: one line that says what, where and what to do, and nothing is recorded."""

from typing import Any

import pytest

KNOWN = "known: codebase, quality, quality_score, testing, tests"
NESTED = "nested deeper than 60 levels or expanding beyond 5000000 values"
BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
OBJECT = "tag:yaml.org,2002:python/object/apply:os.system"
MOST = 1_000_000_000_000

# id: the file, and what is said of it after its name
UNUSABLE: dict[str, tuple[Any, str]] = {
    "unknown group": ("testin: {}", "testin: unknown key; did you mean testing?"),
    "unknown key": ({"testing": {"test_cont": 1}}, "testing.test_cont: unknown key; did you mean test_count?"),
    "key that is like no other": ({"zzz": 1}, f"zzz: unknown key; {KNOWN}"),
    "unknown key of a test": (
        {"tests": [{"id": "a", "outcome": "passed", "time": 1}]},
        "tests.0.time: unknown key; known: duration, id, outcome",
    ),
    "two unknown keys": ({"testin": {}, "qualty": {}}, "testin: unknown key; did you mean testing? (and 1 more)"),
    "key that is no word": ("1: 2", "1: Keys should be strings, found 1"),
    "NaN": ("quality_score: .nan", "quality_score: not a finite number, found nan"),
    "infinity": ("testing: {coverage_percentage: .inf}", "testing.coverage_percentage: not a finite number, found inf"),
    "negative count": (
        {"testing": {"test_count": -1}},
        "testing.test_count: should be greater than or equal to 0, found -1",
    ),
    "negative score": ({"quality_score": -0.1}, "quality_score: should be greater than or equal to 0, found -0.1"),
    "score in percent": ({"quality_score": 88}, "quality_score: should be less than or equal to 1, found 88"),
    "more than is counted": (
        {"testing": {"test_count": MOST + 1}},
        f"testing.test_count: should be less than or equal to {MOST}, found {MOST + 1}",
    ),
    "number of thousands of digits": (
        "testing: {test_count: 0x" + "f" * 5000 + "}",
        f"testing.test_count: should be less than or equal to {MOST}, found a number of thousands of digits",
    ),
    "more than can be reckoned with": (
        "codebase: {complexity_score: 1.0e+308}",
        f"codebase.complexity_score: should be less than or equal to {MOST}, found 1e+308",
    ),
    "count as text": ({"testing": {"test_count": "8"}}, "testing.test_count: should be a valid integer, found '8'"),
    "count as a fraction": (
        {"testing": {"test_count": 8.5}},
        "testing.test_count: should be a valid integer, found 8.5",
    ),
    "count as a truth": (
        {"testing": {"test_count": True}},
        "testing.test_count: should be a valid integer, found True",
    ),
    "percentage as text": (
        {"testing": {"coverage_percentage": "80%"}},
        "testing.coverage_percentage: should be a valid number, found '80%'",
    ),
    "percentage over 100": (
        {"testing": {"coverage_percentage": 100.5}},
        "testing.coverage_percentage: should be less than or equal to 100, found 100.5",
    ),
    "unknown build status": (
        {"quality": {"build_status": "ok"}},
        "quality.build_status: should be 'success' or 'failure', found 'ok'",
    ),
    "unknown outcome": (
        {"tests": [{"id": "a", "outcome": "ok"}]},
        "tests.0.outcome: should be 'passed', 'failed', 'error', 'skipped', 'xfailed' or 'xpassed', found 'ok'",
    ),
    "test without an outcome": ({"tests": [{"id": "a"}]}, "tests.0.outcome: is missing"),
    "counts that do not add up": (
        {"testing": {"test_count": 9, "tests_passed": 5, "tests_failed": 3, "tests_skipped": 0}},
        "testing: passed + failed + skipped is 8, but test_count is 9",
    ),
    "more passed than there are": (
        {"testing": {"test_count": 9, "tests_passed": 12}},
        "testing: passed + failed + skipped is 12, but test_count is 9",
    ),
    "counts that contradict the names": (
        {"testing": {"tests_failed": 0}, "tests": [{"id": "a", "outcome": "failed"}]},
        "testing: tests_failed is 0, but `tests` lists 1 failed",
    ),
    "pass rate that is another": (
        {"testing": {"tests_passed": 7, "tests_failed": 2, "pass_rate": 80}},
        "testing: pass_rate is 80, but 7 of 9 is 77.8",
    ),
    "more lines covered than there are": (
        {"testing": {"coverage_lines_covered": 3, "coverage_lines_total": 2}},
        "testing: coverage_lines_covered 3 > coverage_lines_total 2",
    ),
    "group that is a number": ({"testing": 5}, "testing: should be keys and values, found 5"),
    "empty file": ("", "expected keys and values at the top, found nothing"),
    "comment alone": ("# nothing\n", "expected keys and values at the top, found nothing"),
    "list": ([1, 2], "expected keys and values at the top, found [1, 2]"),
    "text": ("hello", "expected keys and values at the top, found 'hello'"),
    "not UTF-8": (b"quality_score: \xff", "not UTF-8 (byte 15); save it as UTF-8"),
    "NUL": (
        b"quality_score: \0",
        "not readable as YAML: unacceptable character #x0000: control characters are not allowed",
    ),
    "YAML bomb": (BOMB, NESTED),
    "deep YAML": ("a: " + "[" * 100 + "]" * 100, NESTED),
    "deep JSON": ('{"a": ' * 20_000 + "1" + "}" * 20_000, "nested too deeply; make it flatter"),
    "key twice": (
        "quality: {}\nquality: {}\n",
        "line 2, column 1: key 'quality' is given twice; keep one",
    ),
    "several documents": (
        "quality_score: 1\n---\nquality_score: 0\n",
        "line 2, column 1: a second document begins; keep one in a file",
    ),
    "tag that makes an object": (
        "a: !!python/object/apply:os.system [ls]",
        f"line 1, column 4: could not determine a constructor for the tag '{OBJECT}'",
    ),
}

# id: a file called metrics.json, and what is said of it
NOT_JSON = {
    "NaN": ('{"quality_score": NaN}', "not readable as JSON: NaN is no number; leave out what was not measured"),
    "infinity": ('{"a": -Infinity}', "not readable as JSON: -Infinity is no number; leave out what was not measured"),
    "key twice": ('{"a": 1, "a": 2}', "not readable as JSON: key 'a' is given twice; keep one"),
    "two documents": ("{} {}", "not readable as JSON: Extra data: line 1 column 4 (char 3)"),
    "cut short": ('{"a": 1', "not readable as JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"),
    "endless number": (
        '{"a": ' + "9" * 5000 + "}",
        "not readable as JSON: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits",
    ),
}

USAGE = {
    "unknown key": ({"cost": 1}, "cost: unknown key; did you mean cost_usd?"),
    "negative": ({"cost_usd": -0.01}, "cost_usd: should be greater than or equal to 0, found -0.01"),
    "NaN": ("cost_usd: .nan", "cost_usd: not a finite number, found nan"),
    "infinity": ("duration_s: .inf", "duration_s: not a finite number, found inf"),
    "text": ({"turns": "12"}, "turns: should be a valid integer, found '12'"),
    "half a token": ({"input_tokens": 1.5}, "input_tokens: should be a valid integer, found 1.5"),
    "empty": ("", "expected keys and values at the top, found nothing"),
    "metrics": (
        {"quality_score": 1},
        "quality_score: unknown key; known: cost_usd, duration_s, input_tokens, output_tokens, turns",
    ),
}


def refused_by_both_hooks(project: Any, path: Any, said: str) -> None:
    before = dict(project.content())
    answer = project.ralph("hook", "pre-loop", "--new", "--metrics", path)
    assert (answer.code, answer.complaint) == (1, f"{path}: {said}")
    assert project.content() == before
    answer = project.ralph("hook", "post-iteration", "--metrics", path)
    assert (answer.code, answer.complaint) == (1, f"{path}: {said}")
    after = dict(project.content())
    del after[".aiwg/ralph/ralph-001/attempt.json"]
    assert after == before


@pytest.mark.parametrize("name", UNUSABLE)
def test_metrics_that_cannot_be_used_are_refused_and_nothing_is_recorded(running, name):
    content, said = UNUSABLE[name]
    refused_by_both_hooks(running, running.file("metrics", content), said)


@pytest.mark.parametrize("name", NOT_JSON)
def test_a_json_file_that_cannot_be_used_is_refused_as_json(running, name):
    content, said = NOT_JSON[name]
    refused_by_both_hooks(running, running.file("metrics.json", content), said)


@pytest.mark.parametrize("kind", ["folder", "nothing"])
def test_metrics_that_are_no_file_are_refused(running, kind):
    path = running.root.parent / "there"
    if kind == "folder":
        path.mkdir()
    reason = "Is a directory" if kind == "folder" else "No such file or directory"
    refused_by_both_hooks(running, path, f"cannot be read ({reason}); name a YAML or JSON file of metrics")


def test_metrics_without_end_are_refused(running):
    refused_by_both_hooks(running, "/dev/zero", "a pipe or a device, not a file; write it to a file first")


@pytest.mark.parametrize("name", USAGE)
def test_usage_that_cannot_be_used_is_refused_and_the_iteration_is_not_recorded(running, metrics_of, name):
    content, said = USAGE[name]
    usage = running.file("usage.yaml", content)
    answer = running.hook("post-iteration", metrics_of(), "--usage", usage)
    assert (answer.code, answer.complaint) == (1, f"{usage}: {said}")
    answer = running.hook("loop-decision")
    assert (answer.code, answer.complaint) == (
        1,
        "iteration 2 was not recorded; run `ralph-tracker hook post-iteration` again",
    )


def test_an_iteration_that_was_not_recorded_is_said_to_be_until_one_is(running, metrics_of):
    assert running.hook("post-iteration", {"zzz": 1}).code == 1
    for options in ((), ("--json",), ("--apply",)):
        answer = running.hook("loop-decision", None, *options)
        assert (answer.code, answer.complaint.split(";")[0]) == (1, "iteration 2 was not recorded")
    assert running.ralph("history").code == 0
    assert running.must("post-iteration", metrics_of())["iteration_metrics"]["iteration"] == 2
    assert running.hook("loop-decision").code == 0


@pytest.mark.parametrize("metrics", [{}, {"testing": {"test_count": 1}}], ids=["alone", "beside metrics"])
def test_a_given_score_is_refused_in_a_computed_loop(running, metrics):
    answer = running.hook("post-iteration", {**metrics, "quality_score": 0.5})
    said = "metrics: quality_score is given, but this loop's scores are computed, since the baseline's was"
    assert (answer.code, answer.complaint) == (1, said)


def test_a_missing_score_is_refused_in_a_given_loop(project, metrics_of):
    project.must("pre-loop", metrics_of(quality_score=0.5))
    answer = project.hook("post-iteration", metrics_of())
    assert (answer.code, "quality_score" in answer.complaint) == (1, True), answer.complaint


@pytest.mark.parametrize(
    "metrics", ["testing: {}", {"codebase": {"file_count": 3}}, "{}"], ids=["empty", "size", "none"]
)
def test_a_baseline_with_neither_score_nor_component_is_refused(project, metrics):
    answer = project.hook("pre-loop", metrics)
    said = "metrics: the baseline has neither a quality_score nor anything to compute one from"
    assert (answer.code, answer.complaint) == (1, said)
    assert project.content() == {}
