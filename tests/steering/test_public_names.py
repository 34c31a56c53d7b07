"""What `ralph_tracker.steering` promises by name, and that importing it costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker import steering
from tests.tables import table


@table("name", steering.__all__)
def test_a_public_name_is_there(name):
    assert getattr(steering, name) is getattr(steering, name)


def test_names_stand_in_their_order_and_once():
    assert steering.__all__ == sorted(set(steering.__all__))


def test_a_type_checker_sees_every_public_name_where_it_is_imported_from():
    tree = ast.parse(Path(steering.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {name.asname: node.module for node in imports for name in node.names if name.asname}
    assert seen == {name: f"ralph_tracker.steering.{module}" for name, module in steering._WHERE.items()}


def test_no_name_is_that_of_a_module_which_would_take_its_place():
    assert {path.stem for path in Path(steering.__file__).parent.iterdir()}.isdisjoint(steering.__all__)


def test_another_name_is_no_attribute():
    with pytest.raises(AttributeError, match=r"module 'ralph_tracker\.steering' has no attribute 'Evnt'"):
        steering.Evnt  # noqa: B018  # asking for it is the test


def test_importing_it_imports_nothing_of_it():
    script = "import ralph_tracker.steering, sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    modules = set(done.stdout.split())
    assert {name for name in modules if name.startswith("ralph_tracker.steering")} == {"ralph_tracker.steering"}
    assert modules.isdisjoint({"asyncio", "logging", "pydantic", "yaml", "ralph_tracker.core"})
