"""Make loops of many iterations in one project, with metrics handed in: FOLDER FIRST LAST STEPS."""

import os
import sys
from pathlib import Path

from ralph_tracker import post_iteration, pre_loop
from ralph_tracker.tracker import Tracker

SECRET = "hunter2-is-a-long-secret"  # noqa: S105  # what must not be exported


def metrics(loop: int, number: int) -> dict[str, object]:
    return {
        "testing": {
            "test_count": 80 + loop,
            "tests_passed": 80 + loop - number % 3,
            "tests_failed": number % 3,
            "coverage_percentage": 60 + (number * 7 + loop) % 300 / 10,
        },
        "quality": {"lint_errors": number % 5, "lint_warnings": 3, "type_errors": 0, "build_status": "success"},
        "codebase": {"file_count": 31, "loc_total": 4500 + number, "complexity_score": 3.2},
    }


def main() -> None:
    """Make them; the disk is not waited for."""
    os.fsync = lambda _: None
    root, first, last, steps = Path(sys.argv[1]), *map(int, sys.argv[2:])
    root.mkdir(parents=True, exist_ok=True)
    settings = "loop: {max_iterations: null}\ncodebase: {keep: never}\n"
    check = f"checks: {{tests: {{run: 'deploy --password {SECRET}', env: {{API_TOKEN: '{SECRET}'}}}}}}\n"
    (root / "ralph-tracker.yaml").write_text(settings + check, encoding="utf-8")
    for loop in range(first, last):
        name = f"loop-{loop:02d}"
        pre_loop(root=root, loop_id=name, metrics=metrics(loop, 0))
        for number in range(1, steps + 1):
            usage = {"cost_usd": 0.25, "turns": number}
            post_iteration(root=root, loop_id=name, metrics=metrics(loop, number), usage=usage)
        Tracker(root, name).select_output()


if __name__ == "__main__":
    main()
