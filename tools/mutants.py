"""Try small errors in the code, sampled by a printed seed, and list those that the tests let live.

Usage: python tools/mutants.py [--seed N] [--each N] [PACKAGE...]

Each mutant changes one operator, number, condition or return value of a package, in a copy of the checkout, and is
tested with that package's own tests. A surviving mutant is printed with its line; a reader has to recognize equivalent
ones. Always exits with 0: it is no gate.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("core", "formats", "integrity", "store")
TIMEOUT_S: Final = 600
_COMPARISONS: Final = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC: Final = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Mod: "*", ast.FloorDiv: "*"}


class Mutant(NamedTuple):
    """A change of a file: the text from `begin` to `end`, in characters, becomes `new`."""

    path: Path
    line: int
    begin: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """Return the file's text with the change."""
        return text[: self.begin] + self.new + text[self.end :]


def mutants_of(path: Path) -> Iterator[Mutant]:  # one branch for each kind of mutant
    """Yield every mutant of a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def replaced(node: ast.expr, new: str) -> Mutant:
        end = at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Mutant(path, node.lineno, at(node.lineno, node.col_offset), end, new)

    for node in _runnable(ast.parse(text)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield replaced(node, f"({left} {_COMPARISONS[type(node.ops[0])]} {right})")
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield replaced(node, f"({word.join(f'({ast.unparse(each)})' for each in node.values)})")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield replaced(node, f"bool({ast.unparse(node.operand)})")
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            new = _ARITHMETIC[type(node.op)]
            yield replaced(node, f"(({ast.unparse(node.left)}) {new} ({ast.unparse(node.right)}))")
        elif isinstance(node, ast.IfExp):
            yield replaced(node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield replaced(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield replaced(node, str(node.value + 1))
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield replaced(node.value, "None")


def _runnable(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run, without annotations and the text of f-strings."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.JoinedStr):
            continue
        yield child
        if isinstance(child, ast.AnnAssign):
            yield from _runnable(ast.Module([ast.Expr(child.value)] if child.value else [], []))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _runnable(ast.Module(child.body, []))
        else:
            yield from _runnable(child)


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy what the tests need to a folder and return that."""
    ignored = shutil.ignore_patterns("__pycache__", ".venv", ".git", ".aiwg", "node_modules", "mutants", ".*_cache")
    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    return folder


def lives(mutant: Mutant, checkout: Path, package: str) -> bool:
    """Return whether the tests of the package pass with the mutant."""
    target = checkout / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        f"tests/{package}",
    ]
    try:
        target.write_text(mutant.applied(original), encoding="utf-8")
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        target.write_text(original, encoding="utf-8")
    return done.returncode == 0


def main() -> int:
    """Test the sample and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=f"below ralph_tracker/: {' '.join(PACKAGES)}")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))  # noqa: S311  # a sample
    parser.add_argument("--each", type=int, default=20, help="mutants of each package (default: 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    chosen = random.Random(options.seed)  # noqa: S311  # a sample
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        checkouts: Queue[Path] = Queue()
        for number in range(options.jobs):
            checkouts.put(copy_of_the_checkout(Path(scratch, str(number))))

        def survivor(tried: tuple[str, Mutant]) -> Mutant | None:
            package, mutant = tried
            checkout = checkouts.get()
            try:
                return mutant if lives(mutant, checkout, package) else None
            finally:
                checkouts.put(checkout)

        for package in options.packages:
            files = sorted((ROOT / "ralph_tracker" / package).rglob("*.py"))
            known = [mutant for path in files for mutant in mutants_of(path)]
            sample = chosen.sample(known, min(options.each, len(known)))
            with ThreadPoolExecutor(options.jobs) as pool:
                found = [each for each in pool.map(survivor, [(package, mutant) for mutant in sample]) if each]
            print(f"{package}: {len(sample) - len(found)} of {len(sample)} mutants found, of {len(known)}")
            for mutant in found:
                was = mutant.path.read_text(encoding="utf-8")[mutant.begin : mutant.end]
                print(f"  {mutant.path.relative_to(ROOT)}:{mutant.line}: {was} -> {mutant.new}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
