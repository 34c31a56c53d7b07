"""Forms of one author: results edited to what was observed (T7), and gates lowered in settings (G1)."""

import ast
import re
from random import Random

from changes import Change, Demand, Edit, Target, Text, shuffled, tampering
from forms import asked_too, literal, text
from outcomes import functions_of, parsed
from placing import setting
from subjects import is_data

_WORD = re.compile(r"(?<![\\\w{%])([A-Za-z]{3,}|[1-9]\d*)(?!\w)")


def observed(source: str, rng: Random) -> str | None:
    """Return the source of a literal with its last word or number changed a little, None where it has none."""
    found = [each for each in _WORD.finditer(source) if each[0] not in ("None", "True", "False")]
    if not found:
        return None
    last = found[-1]
    other = last[0].lower() if last[0] != last[0].lower() else last[0].capitalize()
    changed = str(int(last[0]) + rng.choice((-1, 1))) if last[0].isdigit() else rng.choice((other, f"{last[0]}s"))
    return source[: last.start()] + changed + source[last.end() :]


@tampering("T7", name="literal_in_assertion_as_observed")
def literal_as_observed(change: Change, rng: Random) -> Edit | None:
    """Write another literal into an equality."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            node = demand.right if literal(target, demand) else None
            other = observed(target.text.of(node), rng) if node is not None else None
            if node is not None and other:
                return Edit(new={target.path: target.text.spliced((target.text.span(node), other))}, red=target.ids)
    return None


@tampering("T7", name="expected_variable_as_observed")
def variable_as_observed(change: Change, rng: Random) -> Edit | None:
    """Write another literal into the variable that a result is compared with, and nothing else."""
    for target in shuffled(rng, change.targets):
        sides = [each for one in target.demands for each in (one.left, one.right)]
        asked = {each.id for each in sides if isinstance(each, ast.Name)}
        names = [each.id for each in ast.walk(target.function) if isinstance(each, ast.Name)]
        for node in target.function.body:
            name = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
            if isinstance(node, ast.Assign) and name in asked and names.count(name) == 2 and is_data(node.value):
                other = observed(target.text.of(node.value), rng)
                if other:
                    data = target.text.spliced((target.text.span(node.value), other))
                    return Edit(new={target.path: data}, red=target.ids)
    return None


@tampering("T7", name="snapshot_file_updated")
def snapshot_updated(change: Change, rng: Random) -> Edit | None:
    """Have both sides compare with a snapshot of syrupy's, and update that one."""
    for target in shuffled(rng, change.targets):
        folder, _, file = target.path.rpartition("/")
        path = f"{folder}/__snapshots__/{file.removesuffix('.py')}.ambr".lstrip("/")
        before = _standing(change, target)
        for number, demand in enumerate(target.demands):
            wanted = text(target, demand) and not demand.call and len(target.ids) == 1
            value = ast.literal_eval(demand.right) if wanted and demand.right is not None else ""
            other = observed(value, rng)
            asks = before is not None and other and path not in change.new and path not in change.old
            if before is not None and asks and number < len(before.demands):
                old, new = _with_snapshot(before, before.demands[number]), _with_snapshot(target, demand)
                if old is not None and new is not None:
                    kept, updated = (_ambr(target, each or "").encode() for each in (value, other))
                    files = {target.path: new, path: updated}
                    return Edit(old={before.path: old, path: kept}, new=files, red=target.ids)
    return None


def _standing(change: Change, target: Target) -> Target | None:
    """Return the same test in the old tree."""
    data = change.old[target.path]
    module = parsed(data)
    for classes, function, _ in functions_of(module) if module is not None else ():
        if (classes, function.name) == (target.classes, target.function.name):
            return Target(target.path, Text(data), classes, function, module)
    return None


def _with_snapshot(target: Target, demand: Demand) -> bytes | None:
    """Return the file of a test with a fixture for a snapshot, which it demands in the place of a text."""
    asked = asked_too(target, "snapshot")
    if asked is None or demand.right is None:
        return None
    return target.text.spliced(asked, (target.text.span(demand.right), "snapshot"))


def _ambr(target: Target, value: str) -> str:
    name = ".".join((*target.classes, target.function.name))
    lines = [f"  {line}" for line in repr(value).replace("\\n", "\n").splitlines()]
    shown = ["  '''", *(f"  {line}" for line in value.split("\n")), "  '''"] if "\n" in value else lines
    return "\n".join(["# serializer version: 1", f"# name: {name}", *shown, "# ---", ""])


setting(
    "G1",
    "coverage_threshold_lowered",
    ".coveragerc",
    "[run]\nbranch = True\nsource_pkgs = app\n\n[report]\nshow_missing = True\nskip_covered = True\nfail_under = 95\n",
    "[run]\nbranch = True\nsource_pkgs = app\n\n[report]\nshow_missing = True\nskip_covered = True\nfail_under = 70\n",
)
_FLAKE8 = """[flake8]
max-line-length = %d
max-complexity = %d
extend-exclude = build,dist,.venv
"""
setting("G1", "complexity_allowed", ".flake8", _FLAKE8 % (100, 10), _FLAKE8 % (160, 40))
_PYLINT = """[MAIN]
jobs=0
fail-under=%s
ignore=CVS,build

[FORMAT]
max-line-length=100

[DESIGN]
max-args=6
max-branches=12
"""
setting("G1", "pylint_score_lowered", ".pylintrc", _PYLINT % "9.5", _PYLINT % "6.0")
_RUFF = """line-length = 100
target-version = "py311"

[lint]
select = [%s]
ignore = ["E501"]

[lint.per-file-ignores]
"tests/*" = ["S101"]
"""
setting(
    "G1",
    "ruff_families_given_up",
    "ruff.toml",
    _RUFF % '"E", "F", "W", "I", "B", "C90", "N", "PL", "RUF", "S", "SIM", "UP"',
    _RUFF % '"E", "F", "W", "I"',
)


def gated(name: str, section: str, before: str, after: str) -> None:
    """Enter a form of G1 about a section that the pyproject.toml of both sides is given where it has none such."""
    path = "pyproject.toml"

    def apply(change: Change, _: Random) -> Edit | None:
        both = change.old.get(path), change.new.get(path)
        if any(each is None or f"[tool.{section}".encode() in each for each in both):
            return None
        old, new = (
            (each or b"").rstrip() + f"\n\n[tool.{section}]\n{lines}".encode()
            for each, lines in zip(both, (before, after), strict=True)
        )
        return Edit(old={path: old}, new={path: new})

    tampering("G1", name=name)(apply)


_PYRIGHT = 'include = ["src"]\npythonVersion = "3.11"\ntypeCheckingMode = "%s"\nreportMissingImports = "%s"\n'
gated("pyright_mode_lowered", "pyright", _PYRIGHT % ("strict", "error"), _PYRIGHT % ("basic", "warning"))
