"""SIGKILL to the process group of a shell that calls the verbs: nothing reported is lost, and it goes on."""

import difflib
import json
import os
import random
import shutil
import subprocess
import time
from collections import Counter

import pytest

from tests.sweep import FULL, SEED

from .outsider import copied, is_one_line, kept_of, kill_after, loops_of, restorable, told_by_all, tree_of, unhurried
from .verbs import STEPS, is_covered, odd, verbs_of_the_program

EACH = int(os.environ.get("RALPH_TRACKER_KILLS") or (40 if FULL else 1))
VERBS = [step.name for step in STEPS]
# A sample has half of the verbs by its seed, the other half comes up with another.
CHOSEN = VERBS if FULL else sorted(random.Random(SEED).sample(VERBS, len(VERBS) // 2))
# What a verb says that has been carried out already.
DONE = ("still running; end it with", "nothing to resume")
INTERRUPTED = "interrupted: the run was stopped from outside"
# The shell notes the exit code once the command has ended: from there on it has been reported.
SCRIPT = 'ralph-tracker "$@"; echo $? > ../ended'
STORM = """\
ralph-tracker status > ../before 2>&1 || ralph-tracker hook pre-loop || exit
while n=$(cat ../next) && [ $n -le $1 ]; do
    echo "of turn $n" > made-$n.txt
    cp ../reports/$n results.xml
    rm -rf ../trees/$n && mkdir ../trees/$n && cp -a made-*.txt results.xml ../trees/$n
    ralph-tracker hook post-iteration --iteration $n --json > ../record || exit
    echo $n >> ../told
    echo $((n + 1)) > ../next.new && mv ../next.new ../next
    ralph-tracker hook loop-decision --apply
    ralph-tracker select-best --apply output || exit
done
ralph-tracker hook post-loop || exit
touch ../done
"""

pytestmark = [pytest.mark.faults, pytest.mark.slow]


def test_every_command_of_the_command_line_has_its_step():
    assert [words for words in verbs_of_the_program() if not is_covered(words)] == []
    assert [name for name, count in Counter(step.name for step in STEPS).items() if count > 1] == []


class Judge:
    """Say what is wrong after a command was killed, and after it was called again."""

    def __init__(self, story, moment, own_files):
        self.story, self.moment, self.step, self.own_files = story, moment, moment.step, own_files
        self.before, self.after = tree_of(moment.before), tree_of(moment.after)
        self.git = own_files(moment.before / ".git")
        self.kept = story.kept(moment.before) & story.kept(moment.after)
        self.seen = story.seen_after(moment)

    def violations(self, shell, ended):
        """Look at what was left, call again, and compare."""
        reported = ended is not None
        return [*self._at_once(shell, reported=reported), *self._later(shell, reported=reported)]

    def _at_once(self, shell, *, reported):
        root = shell.root
        wrong = [] if self._is_git_whole(root) else ["the user's git differs"]
        tree = tree_of(root)
        if reported:
            wrong += [] if tree == self.after else ["the tree is not what was reported"]
            wrong += self._told_otherwise(shell, "was reported")
        elif not self.step.writes:
            wrong += [] if tree == self.before else ["the tree differs"]
        elif not self._is_between(tree):
            wrong.append("a file of the tree is neither as before nor as after")
        side = copied(root, self.story.place / "side/project")
        kept = restorable(type(shell)(side, self.story.place / "side/shell"))
        return [*wrong, *self._not_restored(kept)]

    def _not_restored(self, kept):
        wrong = []
        for number in self.kept:
            if number not in kept:
                wrong.append(f"iteration {number} cannot be restored")
            elif kept_of(kept[number]) != self.story.trees[number]:
                wrong.append(f"iteration {number} comes back otherwise")
        return wrong

    def _is_between(self, tree):
        names = tree.keys() | self.before.keys() | self.after.keys()
        return all(
            tree.get(name) in (self.before.get(name), self.after.get(name))
            for name in names
            # On the way a folder may be there that leads to a file, or one that a file was taken from.
            if tree.get(name, ("folder",))[0] != "folder"
        )

    def _is_git_whole(self, root):
        now = self.own_files(root / ".git")
        if not self.step.into_git:
            return now == self.git
        more = now.keys() - self.git.keys()
        return self.git.items() <= now.items() and all(
            name.startswith(("objects/", "refs/heads/", "logs/refs/heads/")) for name in more
        )

    def _told_otherwise(self, shell, when):
        now = {name: self._without_interruption(text) for name, text in told_by_all(shell).items()}
        names = sorted(name for name in now.keys() | self.seen.keys() if now.get(name) != self.seen.get(name))
        pairs = [[each.get(name, "").splitlines() for each in (self.seen, now)] for name in names]
        lines = [line for pair in pairs[:2] for line in difflib.unified_diff(*pair, lineterm="", n=0)]
        return [f"{when}, and this differs: {names[:4]}, {lines[:12]}"] if names else []

    def _without_interruption(self, text):
        """Leave out what a run notes of itself when it goes on after it was killed while its agent worked."""
        if self.moment.words[0] != "run":
            return text
        return "".join(line for line in text.splitlines(keepends=True) if INTERRUPTED not in line)

    def _later(self, shell, *, reported):
        words = self.moment.words
        if reported and words[0] == "run":
            return []  # it would be another one
        again = shell.call(*(self.step.again or words), stdin=self.step.stdin)
        if "nothing to resume" in again.err and _begun(shell.root) == _begun(self.moment.before):
            again = shell.call(*words, stdin=self.step.stdin)  # its baseline was not on record yet
        wrong = []
        if again.code != self.step.code and not (is_one_line(again) and self._is_done(again)):
            wrong.append(f"called again: {again}")
        if tree_of(shell.root) != self.after:
            wrong.append("the tree differs when it was called again")
        if not self._is_git_whole(shell.root):
            wrong.append("the user's git differs when it was called again")
        return [*wrong, *self._told_otherwise(shell, "called again")]

    def _is_done(self, again):
        return any(words in again.err for words in DONE)


def _begun(root):
    return sorted(path.parts[-3] for path in (root / ".aiwg/ralph").glob("*/iterations/iteration-000"))


@pytest.mark.parametrize("name", CHOSEN)
def test_a_verb_killed_at_any_moment_loses_nothing_and_is_called_again(
    name, story, own_files, record_property, request
):
    moment = story.moments[name]
    judge = Judge(story, moment, own_files)
    draw = random.Random(f"{SEED}{name}")
    request.node.add_report_section("call", "campaign", f"RALPH_TRACKER_SEED={SEED}")
    hit, violations = 0, {}
    for _ in range(EACH):
        shell = story.at(moment.before)
        ended = story.root.parent / "ended"
        ended.unlink(missing_ok=True)
        delay = draw.uniform(story.start_s, moment.seconds * 1.1)
        was_there = kill_after(shell.start(SCRIPT, *moment.words, stdin=moment.step.stdin), delay)
        code = int(ended.read_text()) if ended.exists() and ended.read_text() else None
        out = unhurried(shell.printed())
        if code is None and out and out == unhurried(moment.told.out):
            code = moment.told.code  # all of it was read, whether or not the shell has heard of its end
        hit += was_there
        wrong = judge.violations(shell, code)
        if wrong:
            violations[f"{delay:.3f} s"] = wrong
    record_property("sweep", ("moment", name[:19], "killed", EACH, hit, EACH - hit, len(violations)))
    assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())


LAST = 149  # the next iteration packs the records of 26 to 50; those of 1 to 25 are packed
# Iterations of the first pack with each odd name of the tree, of the second, and of the end.
LOOKED_AT = (0, *range(3, 26, 3), 26, 49, 50, 51, LAST)
OF_A_LONG_LOOP = {
    "post-iteration": ("hook", "post-iteration", "--iteration", str(LAST + 1)),
    "restore": ("restore", "8"),
    "repair": ("verify", "--repair"),
    "post-loop": ("hook", "post-loop"),
}


@pytest.fixture(scope="module")
def long_loop(workshop_at, tmp_path_factory):
    """Return a project with a loop of 149 iterations of an odd tree, and what each has to come back as."""
    root = (tmp_path_factory.mktemp("long") / "project").resolve()
    root.mkdir()
    shop, trees, really = workshop_at(root).prepare(), {}, os.fsync
    shop.commit()
    os.fsync = lambda _: None
    try:
        for number in range(LAST + 1):
            odd(shop, number)
            (shop.turn if number else shop.start)()
            trees[number] = kept_of(tree_of(root))
    finally:
        os.fsync = really
    assert [path.name for path in (root / ".aiwg/ralph/ralph-001/packed").iterdir()] == ["iterations-001-025.zip"]
    odd(shop, LAST + 1)
    trees[LAST + 1] = kept_of(tree_of(root))
    return root, trees


def with_links(source, target):
    """Put a fresh copy of a project there in which the files of a loop have their hard links."""
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", source, target], check=True)
    return target


@pytest.mark.parametrize("is_removed", [False, True], ids=["", "and removed"])
@pytest.mark.parametrize("name", sorted(random.Random(SEED).sample(sorted(OF_A_LONG_LOOP), 4 if FULL else 2)))
def test_a_long_loop_of_an_odd_tree_is_whole_wherever_a_verb_is_killed(
    name, is_removed, long_loop, tmp_path, shell, record_property, request
):
    """Its records are packed and linked; where it `is_removed` after the kill, git's folder has it still."""
    (source, trees), words = long_loop, OF_A_LONG_LOOP[name]
    root, side = tmp_path / "live/project", tmp_path / "side/project"
    began = time.monotonic()
    told = shell(with_links(source, root)).call(*words)
    seconds, after = time.monotonic() - began, tree_of(root)
    assert told.code == 0, told
    request.node.add_report_section("call", "campaign", f"RALPH_TRACKER_SEED={SEED}")
    draw, hit, violations = random.Random(f"{SEED}{name}{is_removed}"), 0, {}
    for _ in range(EACH):
        delay, opened = draw.uniform(0.2 * seconds, seconds * 1.1), shell(with_links(source, root))
        hit += kill_after(opened.start(SCRIPT, *words), delay)
        if is_removed:
            shutil.rmtree(root / ".aiwg")
        wrong = _lost(shell(with_links(root, side)), trees)
        again = opened.call(*words)
        if again.code and not (is_one_line(again) and any(each in again.err for each in DONE)):
            wrong.append(f"called again: {again}")
        wrong += [] if tree_of(root) == after else ["the tree differs when it was called again"]
        (verified,) = opened.ask(("verify",))
        wrong += [f"verify: {verified}"] if verified.code else []
        if wrong:
            violations[f"{delay:.3f} s"] = wrong
    record_property("sweep", ("moment", f"long {name}", "killed", EACH, hit, EACH - hit, len(violations)))
    assert not violations, "\n".join(f"{at}: {wrong}" for at, wrong in violations.items())


def _lost(opened, trees):
    """Return which iterations cannot be restored, or come back otherwise."""
    kept = restorable(opened, among=LOOKED_AT)
    return [
        f"iteration {number} is not as it was" for number in LOOKED_AT if kept_of(kept.get(number, {})) != trees[number]
    ]


def test_a_shell_loop_that_is_killed_again_and_again_ends_with_all_that_it_reported(
    workshop, shell, own_files, tmp_path, record_property
):
    turns, kills = (60, 200) if FULL else (8, 10)
    workshop.commit()
    git = own_files(workshop.root / ".git")
    place = workshop.root.parent
    (place / "trees").mkdir()
    (place / "reports").mkdir()
    for number in range(1, turns + 1):
        count = 2 if number % 4 == 3 else 4 + number  # each fourth is a regression, which is rolled back
        workshop.passing(count)
        (workshop.root / "results.xml").replace(place / f"reports/{number}")
    workshop.passing(4)
    (place / "next").write_text("1\n")
    opened, draw, hit = shell(workshop.root), random.Random(f"{SEED}storm"), 0
    for _ in range(kills):
        hit += kill_after(opened.start(STORM, str(turns)), draw.uniform(0.05, 1.2))
    if not (place / "done").exists():
        code = opened.start(STORM, str(turns)).wait(600)
        assert code == 0, SEED
    told = set(map(int, (place / "told").read_text().split()))
    assert told | {turns} == set(range(1, turns + 1)) | told
    history, verified = opened.ask(("history", "--json"), ("verify", "--json"))
    assert verified.code == 0, (verified, SEED)
    listed = [each["iteration_metrics"]["iteration"] for each in json.loads(history.out)]
    assert listed == list(range(turns + 1)), SEED
    assert loops_of(workshop.root) == ["ralph-001"]
    assert own_files(workshop.root / ".git") == git
    wrong = []
    for number, tree in restorable(opened).items():
        if number:
            wanted = {
                name: entry for name, entry in tree_of(place / f"trees/{number}").items() if "folder" not in entry
            }
            here = {name: entry for name, entry in tree.items() if name.startswith("made-") or name == "results.xml"}
            wrong += [] if here == wanted else [number]
    record_property("sweep", ("moment", "a loop in shell", "killed", kills, hit, kills - hit, len(wrong)))
    assert wrong == [], SEED
