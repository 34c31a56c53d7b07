"""Loops that go right, with files and real pytest, through the hooks: nothing holds them up, the last one is taken."""

import sys
from typing import Any, NamedTuple

import pytest

from ralph_tracker import IterationRecord, loop_decision, post_iteration, post_loop, pre_loop
from ralph_tracker.core.decision import Decision
from ralph_tracker.records.output_selection import Selection

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

CHECK = {
    "run": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"],
    "reports": ["{reports}/junit.xml"],
    "env": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    "timeout": 60,
}


class Story(NamedTuple):
    """A loop that was driven: its project, each iteration with the decision after it, and what was selected."""

    shop: Any
    turns: list[tuple[IterationRecord, Decision]]
    selection: Selection

    def record(self, number: int) -> IterationRecord:
        return self.turns[number - 1][0]

    @property
    def actions(self) -> list[str]:
        return [decision.action for _, decision in self.turns]


@pytest.fixture(scope="module")
def story(workshop_at, tmp_path_factory):
    """Return what drives a loop: `story(start, step, …)`, each a mapping of paths to texts, None for a file that goes.

    Nobody accepts anything, and no rollback is carried out.
    """

    def drive(start, *steps):
        root = (tmp_path_factory.mktemp("honest") / "project").resolve()
        root.mkdir()
        shop = workshop_at(root).configure({"tests": CHECK})
        shop.write(".gitignore", ".aiwg/\n__pycache__/\n")
        shop.write("conftest.py", "")
        lay(shop, start)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("RALPH_LOOP_ID", raising=False)
            pre_loop(root=root)
            turns = []
            for step in steps:
                lay(shop, step)
                turns.append((post_iteration(root=root), loop_decision(root=root)))
            return Story(shop, turns, post_loop(root=root))

    return drive


def lay(shop, files):
    for path, text in files.items():
        if text is None:
            (shop.root / path).unlink()
        else:
            shop.write(path, text)


TESTS = """from shop.{name} import {name}


def test_{name}():
    assert {name}(2) == 4


def test_{name}_of_none():
    assert {name}(0) == 0
"""


def grown(name):
    """Return the source of one more function, and two tests that pass on it."""
    return {
        f"shop/{name}.py": f"def {name}(number):\n    return 2 * number\n",
        f"tests/test_{name}.py": TESTS.format(name=name),
    }


def taken(story):
    """Return the files of the source that are new in the output of the loop, as it was laid out."""
    return sorted(path.name for path in (story.shop.root / ".aiwg/output/shop").iterdir())


def kinds(alerts):
    return {alert.type for alert in alerts}


TSCONFIG = '{\n  "compilerOptions": {\n    "strict": true,\n    "skipLibCheck": %s\n  }\n}\n'
SETTINGS = "tsconfig.json"
# Where settings ask for less, a person is asked at most, and once: the loop that grows on is not held up.
GROWTH = [grown(name) for name in ("tax", "cart", "order", "invoice")]


@pytest.fixture(scope="module")
def new(story):
    """Return a loop whose first iteration adds the settings, and does nothing else."""
    return story(grown("price"), {SETTINGS: TSCONFIG % "true"}, *GROWTH)


@pytest.fixture(scope="module")
def loosened(story):
    """Return a loop whose first iteration loosens settings that are there: that is found, and told."""
    start = {**grown("price"), SETTINGS: TSCONFIG % "false"}
    return story(start, {SETTINGS: TSCONFIG % "true"}, *GROWTH)


@pytest.fixture(params=["new", "loosened"])
def allowed(request):
    return request.getfixturevalue(request.param)


def test_new_settings_lower_nothing(new):
    assert new.record(1).integrity.verdict == "PASS"
    assert not [alert for alert in new.record(1).alerts if alert.findings]


def test_settings_that_are_loosened_are_a_question_to_a_person(loosened):
    first = loosened.record(1)
    (alert,) = [alert for alert in first.alerts if alert.findings]
    (finding,) = alert.findings
    assert (first.integrity.verdict, finding.rule, finding.file) == ("SUSPECT", "R5", SETTINGS)


def test_no_later_iteration_is_judged_by_them(allowed):
    for number in range(2, 6):
        record = allowed.record(number)
        assert (record.integrity.verdict, record.verified) == ("PASS", True)
        assert record.alerts == ()
        assert {alert.type for alert in record.open_alerts} <= {"gate_lowered"}


def test_a_loop_with_such_settings_is_told_to_go_on_each_time(allowed):
    assert allowed.actions == ["continue"] * 5


def test_each_iteration_with_more_tests_is_the_best(allowed):
    assert [record.best.iteration for record, _ in allowed.turns][1:] == [2, 3, 4, 5]


def test_the_last_iteration_with_such_settings_is_selected_and_applied(allowed):
    assert allowed.selection.selected.iteration == 5
    assert allowed.selection.override_reason is None
    assert taken(allowed) == ["cart.py", "invoice.py", "order.py", "tax.py"]


# As in the real loop of agtrace: the old way goes once the new one is there, with its tests; one of these stands in a
# file that stays, and that file took the old module in at its head. The name of the module is a word of others, too.
OLD = "def walk(steps):\n    return [step for step in steps if step]\n"
TESTS_OF_OLD = """from shop.graph import walk


def test_walk():
    assert walk(["a", "", "b"]) == ["a", "b"]


def test_walk_of_nothing():
    assert walk([]) == []


def test_walk_keeps_the_order():
    assert walk(["b", "a"]) == ["b", "a"]
"""
STEPS = "def named(steps):\n    return sorted(steps)\n"
TESTS_OF_STEPS = """from shop.steps import named


def test_named():
    assert named(["b", "a"]) == ["a", "b"]
"""
WITH_OLD = "from shop.graph import walk\n" + TESTS_OF_STEPS
WITH_OLD += '\n\ndef test_named_after_a_walk():\n    assert named(walk(["b", ""])) == ["b"]\n'
# It names the module before and after, as real plans do.
PLAN = "# Plan\n\n- [x] tax, cart, total\n- [{}] remove shop/graph.py with its tests\n- [ ] order, invoice\n"
START = {
    **grown("price"),
    "shop/graph.py": OLD,
    "tests/test_graph.py": TESTS_OF_OLD,
    "shop/steps.py": STEPS,
    "tests/test_steps.py": WITH_OLD,
}
REMOVAL = {
    "shop/graph.py": None,
    "tests/test_graph.py": None,
    "shop/steps.py": "# Before, the graph was walked.\n" + STEPS.replace("steps", "graph"),
    "tests/test_steps.py": TESTS_OF_STEPS,
}
NAMES = ["tax", "cart", "total", "order", "invoice", "receipt"]


@pytest.fixture(scope="module", params=["with a plan", "without a plan"])
def removed(story, request):
    growth = [grown(name) for name in NAMES]
    start, removal = START, REMOVAL
    if request.param == "with a plan":
        start, removal = {**START, "fix_plan.md": PLAN.format(" ")}, {**REMOVAL, "fix_plan.md": PLAN.format("x")}
    return story(start, *growth[:3], removal, *growth[3:])


def test_a_loop_that_removes_a_module_is_never_told_to_go_back(removed):
    assert removed.actions == ["continue"] * 7


def test_none_of_its_iterations_is_a_regression(removed):
    assert "regression" not in {record.classification for record, _ in removed.turns}


def test_the_tests_of_what_is_removed_are_retired_and_nothing_is_asked(removed):
    record = removed.record(4)
    assert (record.integrity.verdict, record.verified) == ("PASS", True)
    assert kinds(record.alerts) == {"file_deletion"}
    assert sorted(record.integrity.found.earlier.retired) == [
        "tests.test_graph::test_walk",
        "tests.test_graph::test_walk_keeps_the_order",
        "tests.test_graph::test_walk_of_nothing",
        "tests.test_steps::test_named_after_a_walk",
    ]


def test_what_comes_after_the_removal_costs_no_run(removed):
    for number in range(5, 8):
        record = removed.record(number)
        assert (record.integrity.verdict, record.alerts, record.open_alerts) == ("PASS", (), ())
        assert record.integrity.found.reruns == ()


def test_the_last_iteration_is_selected_and_nobody_accepted_anything(removed):
    assert removed.selection.selected.iteration == 7
    assert removed.selection.override_reason is None
    assert all(record.accepted == () for record, _ in removed.turns)
    assert taken(removed) == sorted(f"{name}.py" for name in ("steps", *NAMES))
