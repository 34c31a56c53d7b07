"""Names that the source lost are given back: what imports them loads, what uses them fails and says why."""

import subprocess
import sys

import pytest

from ralph_tracker.integrity.missing_names import with_placeholders
from tests.tables import table

BOX = """import json
from lids import (
    lid,
    cover,
)
SIZE: int = 3
NAMES = ["a", "b"]


class BoxError(Exception):
    pass


class Box:
    def open(self): ...


def check(text):
    return text
"""
WORDS = {"lid", "cover", "SIZE", "NAMES", "BoxError", "Box", "check"}


def test_only_what_is_lost_and_wanted_comes_back():
    text = with_placeholders("box.py", BOX, BOX.partition("\n\nclass Box:")[0], {"check", "lid"})
    assert text.endswith('check = _RalphLost("box.check")\n')
    assert "Box = " not in text


@table(
    ("path", "now", "wanted"),
    [
        ("box.py", BOX, WORDS),
        ("box.py", "SIZE = 1\n", {"other"}),
        ("box.py", "from other import *\n", WORDS),
        ("box.js", "export * from './other';", WORDS),
        ("box.go", None, WORDS),
    ],
    ids=["nothing is lost", "nothing is wanted", "handed on unnamed", "in JavaScript", "a language that compiles"],
)
def test_otherwise_a_file_stays_as_it_is(path, now, wanted):
    assert with_placeholders(path, BOX, now, wanted) is None


TESTS = """import unittest
from box import NAMES, SIZE, Box, BoxError, check, cover


@check
def decorated():
    pass


class Bigger(Box):
    pass


def parametrized(names=[each for each in NAMES]):
    pass


class BoxTest(unittest.TestCase):
    def test_kept(self):
        self.assertEqual(1, 1)

    def test_called(self):
        check("a")

    def test_compared(self):
        self.assertEqual(SIZE, 3)

    def test_caught(self):
        with self.assertRaises(Exception):
            check("a")

    def test_caught_by_name(self):
        with self.assertRaises(BoxError):
            check("a")

    def test_decorated(self):
        decorated()

    def test_taken_apart(self):
        cover.size.more()
"""


@pytest.mark.parametrize("runner", ["unittest", "pytest"])
def test_only_the_tests_that_use_them_fail(tmp_path, runner):
    text = with_placeholders("box.py", BOX, None, WORDS)
    (tmp_path / "box.py").write_text(text)
    (tmp_path / "test_box.py").write_text(TESTS)
    more = ["-p", "no:cacheprovider", "-q", "-rA"] if runner == "pytest" else ["-v"]
    command = [sys.executable, "-m", runner, *more, "test_box.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    said = done.stdout + done.stderr
    assert "1 passed" in said if runner == "pytest" else "test_kept (test_box.BoxTest.test_kept) ... ok" in said
    assert "6 failed" in said if runner == "pytest" else "errors=6" in said
    assert "'box.check' is gone from the source" in said


@table(
    ("path", "earlier", "now", "lines"),
    [
        ("a.js", "export const lid = 1;\nexport function open() {}\n", "export function open() {}\n", ["lid as lid"]),
        ("a.ts", "export async function lid() {}\n", "", ["const _ralphLost_lid: any = undefined;"]),
        ("a.ts", "const a = 1;\nexport { a as lid };\n", "", ["_ralphLost_lid as lid"]),
        ("a.mjs", "export default lid;\n", None, ["export default undefined;"]),
        ("a.cjs", "exports.lid = 1;\n", None, ["module.exports.lid = undefined;"]),
    ],
)
def test_exports_of_javascript_are_undefined(path, earlier, now, lines):
    text = with_placeholders(path, earlier, now, {"lid", "default"})
    assert all(line in text for line in lines)
    assert text.startswith(now or "\n")
