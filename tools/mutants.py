"""Try small errors in the code, sampled by a printed seed, and list those that the tests let live.

Usage: python tools/mutants.py [--seed N] [--each N] [PACKAGE or MODULE...]

Each mutant changes one operator, number, condition or return value of a package, in a copy of the checkout, and is
tested with that package's own tests, those of its own module first, up to the first that fails. Those that survive are
printed with their lines; a reader has to recognize equivalent ones. Exits with 1 only where the tests fail without a
mutant: it is no gate.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("core", "records", "formats", "integrity", "store")
# In the order of the files: what is near the mutant comes first.
OPTIONS: Final = ("-p", "no:cacheprovider", "-p", "no:randomly")
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

    def __str__(self) -> str:
        was = self.path.read_text(encoding="utf-8")[self.begin : self.end]
        return f"{self.path.relative_to(ROOT)}:{self.line}: {' '.join(was.split())} -> {self.new}"


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
    """Yield the nodes that run, without annotations, the text of f-strings and numbers that are chosen freely.

    Those are sizes (`64 << 10`) and what a dataclass is decorated with.
    """
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.JoinedStr) or (isinstance(child, ast.BinOp) and isinstance(child.op, ast.LShift)):
            continue
        yield child
        if isinstance(child, ast.AnnAssign):
            yield from _runnable(ast.Module([ast.Expr(child.value)] if child.value else [], []))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _runnable(ast.Module(child.body, []))
        else:
            yield from _runnable(child)


def copy_of_the_checkout(folder: Path) -> Path:
    """Copy what the tests need to a folder and return that."""
    ignored = shutil.ignore_patterns("__pycache__", ".venv", ".git", ".aiwg", "node_modules", "mutants", ".*_cache")
    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    return folder


def ordered_tests(package: str, module: Path) -> list[str]:
    """Return the package's test files: those named after the module, then those that mention it, then the others."""

    def distance(path: Path) -> tuple[int, str]:
        if path.stem == f"test_{module.stem}" or path.stem.startswith(f"test_{module.stem}_"):
            return 0, str(path)
        return 1 if module.stem in path.read_text(encoding="utf-8") else 2, str(path)

    files = sorted((ROOT / "tests" / package).rglob("test_*.py"), key=distance)
    return [str(path.relative_to(ROOT)) for path in files]


def tests_pass(checkout: Path, tests: list[str], timeout_s: float | None) -> bool:
    """Return whether tests pass, one file after the other, up to the first that fails; too long is a failure."""
    # Bytecode is kept, which halves the time: a mutant is seconds younger than the one before it.
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow and not faults", *OPTIONS, *tests]
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def lives(mutant: Mutant, checkout: Path, package: str, timeout_s: float) -> bool:
    """Return whether the tests of the package pass with the mutant."""
    target = checkout / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    try:
        target.write_text(mutant.applied(original), encoding="utf-8")
        return tests_pass(checkout, ordered_tests(package, mutant.path), timeout_s)
    finally:
        target.write_text(original, encoding="utf-8")


def survivors(package: str, sample: list[Mutant], checkouts: list[Path]) -> list[Mutant]:
    """Test mutants of a package, as many at once as there are checkouts, and return those that live.

    Raises SystemExit where the tests of the package fail without a mutant: they would find every one.
    """
    begun = time.monotonic()
    if not tests_pass(checkouts[0], [f"tests/{package}"], None):
        sys.exit(f"tests/{package} fails without a mutant; run make test ARGS=tests/{package}")
    clean_s = time.monotonic() - begun
    print(f"{package}: {clean_s:.0f} s without a mutant", file=sys.stderr)
    free: Queue[Path] = Queue()
    for checkout in checkouts:
        free.put(checkout)

    def tested(mutant: Mutant) -> bool:
        checkout = free.get()
        begun = time.monotonic()
        try:
            lived = lives(mutant, checkout, package, 30 + 3 * clean_s)
        finally:
            free.put(checkout)
        seconds = time.monotonic() - begun
        print(f"  {seconds:4.0f} s {'lives' if lived else 'found'} {mutant}", file=sys.stderr, flush=True)
        return lived

    with ThreadPoolExecutor(len(checkouts)) as pool:
        return [mutant for mutant, lived in zip(sample, pool.map(tested, sample), strict=True) if lived]


def main() -> int:
    """Test the sample and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known_as = f"below ralph_tracker/, or a module such as store/lock.py (default: {' '.join(PACKAGES)})"
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=known_as)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))  # noqa: S311  # a sample
    parser.add_argument("--each", type=int, default=20, help="mutants of each package (default: 20)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        checkouts = [copy_of_the_checkout(Path(scratch, str(number))) for number in range(options.jobs)]
        for name in options.packages:
            package, named = name.partition("/")[0], ROOT / "ralph_tracker" / name
            files = [named] if named.is_file() else sorted(named.rglob("*.py"))
            known = [mutant for path in files for mutant in mutants_of(path)]
            chosen = random.Random(f"{options.seed} {name}")  # noqa: S311  # the same, whatever else is named
            sample = chosen.sample(known, min(options.each, len(known)))
            begun = time.monotonic()
            living = survivors(package, sample, checkouts)
            seconds = (time.monotonic() - begun) / max(1, len(sample))
            print(
                f"{name}: {len(sample) - len(living)} of {len(sample)} mutants found, of {len(known)}; "
                f"{seconds:.0f} s each; these survive tests/{package}:"
            )
            for mutant in living:
                print(f"  {mutant}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
