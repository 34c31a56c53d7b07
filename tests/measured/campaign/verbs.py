"""A loop in which every verb of the command line has its turn, and what is done in the tree between."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import click

from ralph_tracker.cli.verbs import VERBS, cli
from tests.measured.story import READING

# A verb that works in a folder of its own, which it makes anew each time, and one that only reads, until Ctrl-C.
APART = {"demo", "serve"}
PLAN = "tasks:\n- {id: first, title: One, checks: [tests]}\n- {id: second, title: Two, checks: [tests]}\n"
EVENT = {
    "hook_event_name": "PostToolUse",
    "session_id": "s",
    "tool_name": "Read",
    "tool_input": {"file_path": "app.py"},
}
SESSION = '{"event": "turn_ended"}\n'
AGENT = ("--", "/bin/sh", "-c", "echo ready; echo more > later.txt")
TAKE_1 = ("select-best", "--iteration", "1", "--reason", "asked for", "--apply")

# Odd names of a tree, with the rights of a file, or where a link leads.
ODD: dict[str, int | str] = {
    "to nowhere": "nowhere",
    "to a folder": ".",
    "out": "../../outside",
    "metrics.json": "../app.py",
    "line\nbreak": 0o644,
    "-dash": 0o755,
    "key.txt": 0o600,
    os.fsdecode(b"not \xff utf-8"): 0o644,
}


@dataclass(frozen=True)
class Step:
    """A command, the edit before it, its exit code, and where it changes more than our own folder.

    `{undo}` in its words is what the last restore has printed. `again` are the words by which a call that died goes
    on; None: the same. `apart` goes without `--root`.
    """

    words: tuple[str, ...]
    edit: Callable[[Any], object] = lambda shop: None
    code: int = 0
    writes: bool = False
    into_git: bool = False
    again: tuple[str, ...] | None = None
    stdin: str = ""
    apart: bool = False

    @property
    def name(self) -> str:
        """Return the verb with what tells it from others."""
        return " ".join(word for word in self.words if word not in {"--json", *AGENT} and len(word) < 24)


def begin(shop: Any) -> None:
    shop.write("data/old.txt", "from the beginning\n").chmod(0o755)
    (shop.root / "link").symlink_to("data/old.txt")
    shop.write(".gitignore", ".aiwg/\n*.log\n")
    shop.write("tests/data.txt", "as it was\n")
    shop.commit()
    (shop.root / "ralph-tracker.yaml").rename(shop.root.parent / "kept.yaml")


def configured(shop: Any) -> None:
    (shop.root.parent / "kept.yaml").replace(shop.root / "ralph-tracker.yaml")


def gain(shop: Any) -> None:
    shop.passing(6).write("deep/new.txt", "new\n" * 100)
    shop.write("tests/data.txt", "edited\n")
    shop.write("app.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")


def loss(shop: Any) -> None:
    (shop.root / "data/old.txt").unlink()
    shop.write("data/old.txt/noise.log", "left out\n")
    shop.passing(1).write("later.txt", "later\n")


def work(shop: Any) -> None:
    shop.passing(7).write("notes.txt", "more\n")


def many(shop: Any) -> None:
    shop.passing(8)
    for number in range(20):
        shop.write(f"many/{number}.txt", f"{number}\n" * 30)


def odd(shop: Any, number: int) -> None:
    """Change a file, and make or take away the next odd one, as iteration `number` has it."""
    shop.passing(4 + number).write("app.py", f"def one():\n    return {number}\n")
    name, what = list(ODD.items())[number % len(ODD)]
    path = shop.root / "odd" / name
    path.parent.mkdir(exist_ok=True)
    if os.path.lexists(path):
        path.unlink()
    elif isinstance(what, str):
        path.symlink_to(what)
    else:
        path.write_bytes(os.fsencode(f"{name}\n"))
        path.chmod(what)


def planned(shop: Any) -> None:
    shop.write("plan.yaml", PLAN)


def recorded(shop: Any) -> None:
    shop.write("session.jsonl", SESSION)


STEPS = (
    Step(("init", "--yes"), writes=True),
    Step(("doctor",), configured),
    Step(("trust",)),
    Step(("hook", "pre-loop", "--json"), again=("hook", "pre-loop", "--json")),
    Step(("hook", "post-iteration", "--iteration", "1", "--json"), gain),
    Step(("hook", "loop-decision")),
    Step(("hook", "post-iteration", "--iteration", "2", "--json"), loss),
    *map(Step, READING),
    Step(("integrity", "1", "--rerun")),
    Step(("report", "1", "-o", "report.md"), writes=True),
    Step(("export", "--to", "csv", "-o", "rows.csv"), writes=True),
    Step(("read", "results.xml"), apart=True),
    Step(("gate",), code=3),
    Step(("gate", "--junit", "verdict.xml"), code=3, writes=True),
    Step(("hook", "loop-decision", "--apply"), writes=True),
    Step(("accept", "it2-test_deletion", "--reason", "they were doubles")),
    Step(("restore", "0", "--json"), writes=True),
    Step(("restore", "--list")),
    Step(("restore", "--undo", "{undo}"), writes=True),
    Step(("hook", "post-iteration", "--iteration", "3", "--json"), work),
    Step(("hook", "post-iteration", "--iteration", "4", "--json"), many),
    Step(("restore", "2"), writes=True),
    *(Step((*TAKE_1, how)) for how in ("none", "output")),
    Step((*TAKE_1, "branch"), into_git=True),
    Step((*TAKE_1, "worktree"), work, writes=True),
    Step(("select-best", "--verify")),
    Step(("verify",)),
    Step(("verify", "--repair")),
    Step(("gc",)),
    Step(("gc", "--yes", "--keep-last", "1")),
    Step(("hook", "post-loop")),
    Step(("agent", "install", "claude-code"), writes=True),
    Step(("agent", "hook", "claude-code"), stdin=json.dumps(EVENT), apart=True),
    Step(("agent", "status-line", "claude-code"), stdin="{}", apart=True),
    Step(("agent", "uninstall", "claude-code"), writes=True),
    Step(("wrap", *AGENT, "-p", "go on"), writes=True),
    Step(("run", "--max-iterations", "1", *AGENT), writes=True, again=("run", "--resume", *AGENT)),
    Step(("run", "--plan", "plan.yaml", "--max-iterations", "2", *AGENT), planned, writes=True),
    Step(("plan", "show", "plan.yaml"), apart=True),
    Step(("plan", "edit", "plan.yaml", "--yes"), apart=True),
    Step(("mcp",), code=0 if find_spec("mcp") else 1, apart=True),  # an extra; at the end of its input it is done
    Step(("replay", "HEAD..HEAD"), code=1),
    Step(("compare", "nowhere"), code=1),
    Step(("simulate", "session.jsonl"), recorded),
    Step(("schema", "record"), apart=True),
    Step(("completion", "bash"), apart=True),
)


def verbs_of_the_program() -> Iterator[tuple[str, ...]]:
    """Yield every command of the command line, and each place that `select-best` applies to."""
    context = click.Context(cli)
    for verb in VERBS.keys() - APART:
        command = cli.get_command(context, verb)
        if isinstance(command, click.Group):
            yield from ((verb, name) for name in command.commands)
            continue
        yield (verb,)
        for parameter in command.params:
            if verb == "select-best" and parameter.name == "apply":
                yield from ((verb, "--apply", choice) for choice in parameter.type.choices)


def is_covered(words: tuple[str, ...]) -> bool:
    """Tell whether a step calls a command."""
    verb, *rest = words
    return any(step.words[0] == verb and set(rest) <= set(step.words) for step in STEPS)
