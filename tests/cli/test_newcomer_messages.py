"""What a newcomer reads in each state of a loop, as golden files in fixtures/messages; `--bless` rewrites them."""

import os
import re
import subprocess
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from tests.cli.conftest import PROGRAM

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "messages"
TESTS = '{run: [cp, results.xml, "{reports}/junit.xml"], reports: ["{reports}/junit.xml"]}'
CONFIG = f"checks:\n  tests: {TESTS}\n"
UNSTABLE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"undo-[0-9a-f]{12}"), "undo-ID"),
    (re.compile(r"\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"\d+ min \d\d s\b"), "0 min 00 s"),
    (re.compile(r"(?<=git: )[\d.]+"), "VERSION"),
    (re.compile(r"(?<=: )(?:/usr)?/bin/(?=cp\b)"), "/bin/"),
)
GOOD = {"words": None, "count": None, "longest": None, "average_of_nothing": "ZeroDivisionError: division by zero"}
FIXED = dict.fromkeys(GOOD)
BROKEN = FIXED | {"words": "AssertionError: assert 1 == 2", "count": "AssertionError: assert 0 == 1"}
BREAK = "it2-working_tests_failing"
FEWER = dict.fromkeys(["words", "count", "longest"])
MORE = FIXED | {"shortest": None}


class Newcomer:
    """Drive a loop in a repository whose tests report what the test says, and collect what is printed."""

    def __init__(self, project):
        self.project, self.turn = project, 0
        self.printed: list[str] = []
        (project.root / "ralph-tracker.yaml").write_text(CONFIG)
        (project.root / ".gitignore").write_text(".aiwg/\nresults.xml\n")
        self.report(GOOD)

    def report(self, tests):
        """Let the tests have these outcomes: None passes, words are the message of a failure."""
        cases = "".join(
            f'<testcase classname="test_text" name="test_{name}">'
            + (f"<failure message={quoteattr(why)}>text.py:7: Error</failure>" if why else "")
            + "</testcase>"
            for name, why in tests.items()
        )
        (self.project.root / "results.xml").write_text(
            f'<testsuite name="pytest" tests="{len(tests)}">{cases}</testsuite>'
        )

    def work(self, tests=None):
        """Edit the source and set what the tests report."""
        self.turn += 1
        (self.project.root / "text.py").write_text(f"TURN = {self.turn}\n")
        if tests is not None:
            self.report(tests)

    def quietly(self, *words):
        return self.project.ralph(*words)

    def configure(self, **checks):
        """Replace the configured checks by commands that write no report, as builds or with a kind of their own."""
        lines = [f"  {name}: {run}\n" for name, run in checks.items()]
        (self.project.root / "ralph-tracker.yaml").write_text(f"checks:\n{''.join(lines)}")

    def __call__(self, *words, head=None):
        answer = self.project.ralph(*words)
        out = answer.out if head is None else "".join(answer.out.splitlines(keepends=True)[:head]) + "…\n"
        self.printed.append(f"$ ralph-tracker {' '.join(words)}\n{out}{answer.err}[exit {answer.code}]\n")

    def outside(self, *words):
        """Run a command in a process of its own, which a signal may reach; both streams are one, as at a terminal."""
        done = subprocess.run(
            [PROGRAM, *words], cwd=self.project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "RALPH_TRACKER_TRUST": "1"}, check=False, timeout=120,
        )  # fmt: skip
        self.printed.append(f"$ ralph-tracker {' '.join(words)}\n{done.stdout}[exit {done.returncode}]\n")


def no_loop(newcomer):
    newcomer("status")
    newcomer("hook", "post-iteration")


def baseline(newcomer):
    newcomer("hook", "pre-loop", "--trust")
    newcomer("status")


def baseline_over_work(newcomer):
    root = newcomer.project.root
    newcomer.work()
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    (root / "text.py").write_text("AGENT = 'was here'\n")
    newcomer("hook", "pre-loop", "--trust")


def baseline_without_tests(newcomer):
    (newcomer.project.root / "results.xml").unlink()
    newcomer("hook", "pre-loop", "--trust")


def iteration(*turns, then=()):
    """Return a state: a loop with these outcomes, of which the last is told, and commands after it."""

    def state(newcomer):
        newcomer.quietly("hook", "pre-loop", "--trust")
        for tests in turns[:-1]:
            newcomer.work(tests)
            newcomer.quietly("hook", "post-iteration")
        if turns[-1] is not None:
            newcomer.work(turns[-1])
        newcomer("hook", "post-iteration")
        for words in then:
            newcomer(*words.split())

    return state


def not_measured(newcomer):
    newcomer.quietly("hook", "pre-loop", "--trust")
    newcomer.work()
    (newcomer.project.root / "results.xml").write_text("<testsuite")
    newcomer("hook", "post-iteration")
    newcomer("hook", "loop-decision")
    newcomer("integrity")


def nothing_recognised(newcomer):
    (newcomer.project.root / "ralph-tracker.yaml").unlink()
    newcomer("init", "--yes")
    newcomer("hook", "pre-loop")


def tool_not_installed(newcomer):
    newcomer.configure(tests=TESTS, lint="{run: [no-such-linter, .], kind: lint, reports: ['-']}")
    newcomer("hook", "pre-loop", "--trust")
    newcomer("doctor")
    newcomer("hook", "pre-loop", "--trust", "--allow-missing")


def baseline_does_not_build(newcomer):
    (newcomer.project.root / "results.xml").write_text(
        '<testsuite name="pytest" errors="1" tests="1"><testcase classname="" name="test_text">'
        '<error message="collection failure">test_text.py:1: in &lt;module&gt;\n    import text\n'
        'E     File "text.py", line 3\nE   SyntaxError: invalid syntax</error></testcase></testsuite>'
    )
    newcomer("hook", "pre-loop", "--trust")
    newcomer("hook", "pre-loop", "--trust", "--allow-missing")
    newcomer("status")


def command_fails(newcomer):
    newcomer.configure(**{"test-command": "{run: 'echo 2 of 9 tests fail; exit 1', kind: build}"})
    newcomer("hook", "pre-loop", "--trust")
    newcomer("status")
    newcomer.configure(**{"test-command": "{run: 'true', kind: build}"})
    newcomer("hook", "pre-loop", "--trust", "--new")


def interrupted_run(newcomer):
    """In iteration 2 the agent sends what Ctrl-C sends; the run ends after that iteration, and is continued."""
    root = newcomer.project.root
    newcomer.report(GOOD)
    (root / "agent.sh").write_text(
        'echo "TURN = $RALPH_ITERATION" > text.py\n[ "$RALPH_ITERATION" = 1 ] && cp fixed.xml results.xml\n'
        '[ "$RALPH_ITERATION" = 2 ] && kill -INT "$PPID"\necho done\n'
    )
    newcomer.report(FIXED)
    (root / "results.xml").rename(root / "fixed.xml")
    newcomer.report(GOOD)
    (root / "PROMPT.md").write_text("Make all tests pass.\n")
    newcomer.outside(*["run", "--prompt-file", "PROMPT.md", "--max-iterations", "3", "--", "sh", "agent.sh"])
    newcomer("status")
    newcomer.outside("run", "--resume")


def doctor(newcomer):
    newcomer.quietly("hook", "pre-loop", "--trust")
    newcomer.configure(tests=TESTS, lint="{run: [rufff, check], kind: lint, reports: ['-']}")
    newcomer("doctor")


def reported(newcomer):
    newcomer.quietly("hook", "pre-loop", "--trust")
    newcomer.work(BROKEN)
    newcomer.quietly("hook", "post-iteration")
    newcomer("report", head=42)


STATES = {
    "no-loop": no_loop,
    "baseline": baseline,
    "baseline-over-work": baseline_over_work,
    "baseline-without-tests": baseline_without_tests,
    "nothing-changed": iteration(None),
    "gain": iteration(FIXED, then=["hook loop-decision", "status"]),
    "new-test": iteration(FIXED, MORE),
    "loss": iteration(FIXED, BROKEN, then=["hook loop-decision", "status"]),
    "rollback": iteration(FIXED, BROKEN, then=["hook loop-decision --apply", "hook loop-decision --apply", "status"]),
    "deleted-failing-test": iteration(FEWER, then=["hook loop-decision"]),
    "deleted-passing-test": iteration(FIXED, FEWER | {"longest": "x"}, FEWER),
    "overtaken": iteration(FIXED, BROKEN, MORE, then=["hook loop-decision", "status"]),
    "not-measured": not_measured,
    "blocked": iteration(FIXED, then=["hook post-iteration --blocked key", "hook loop-decision", "status"]),
    "stalled": iteration(FIXED, FIXED, FIXED, FIXED, then=["hook loop-decision"]),
    "gate": iteration(FIXED, then=["gate"]),
    "history": iteration(FIXED, BROKEN, MORE, then=["history"]),
    "select-best": iteration(FIXED, BROKEN, then=["select-best", "select-best --apply worktree", "status"]),
    "finished": iteration(FIXED, then=["hook post-loop", "status", "hook post-iteration", "run --resume"]),
    "restore": iteration(FIXED, then=["restore 0", "status", "restore --list"]),
    "accept": iteration(FIXED, BROKEN, then=["accept nope --reason x", f"accept {BREAK} --reason obsolete"]),
    "verify": iteration(FIXED, then=["verify", "diff 0 1 --stat"]),
    "show": iteration(FIXED, BROKEN, then=["show"]),
    "report": reported,
    "doctor": doctor,
    "nothing-recognised": nothing_recognised,
    "tool-not-installed": tool_not_installed,
    "baseline-does-not-build": baseline_does_not_build,
    "test-command-fails": command_fails,
    "interrupted-run": interrupted_run,
}


@pytest.mark.parametrize(
    "state", [pytest.param(state, marks=[pytest.mark.slow] * (state == "interrupted-run")) for state in STATES]
)
def test_what_a_newcomer_reads(project, state, bless):
    newcomer = Newcomer(project)
    STATES[state](newcomer)
    text = "\n".join(newcomer.printed).replace(str(project.root), "PROJECT")
    for pattern, name in UNSTABLE:
        text = pattern.sub(name, text)
    file = GOLDEN / f"{state}.txt"
    if bless:
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text
    assert state == "report" or not re.search(r"\d\.\d{4}", text), "four decimals are for files"


def test_every_golden_file_is_one_of_a_state():
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(STATES)
