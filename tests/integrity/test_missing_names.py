"""Which names a failure reports as missing, in the runners' words, and whether the source lost them."""

from ralph_tracker.integrity.missing_names import gone_from_source, is_import_failure, missing_names
from tests.tables import table


@table(
    ("failure", "name"),
    [
        ("'box.lid' is gone from the source", "lid"),
        ("ImportError: cannot import name 'lid' from 'box'", "lid"),
        ("ModuleNotFoundError: No module named 'box.lid'", "lid"),
        ("AttributeError: module 'box' has no attribute 'lid'", "lid"),
        ("AttributeError: 'Box' object has no attribute 'lid'", "lid"),
        ("NameError: name 'lid' is not defined", "lid"),
        ("fixture 'lid' not found", "lid"),
        ("Error: Cannot find module '../src/mul.js' imported from '/p/tests/mul.test.js'", "mul"),
        ("Failed to load url ../src/mul.js (resolved id: ../src/mul.js) in /p/tests/mul.test.js.", "mul"),
        ("Cannot find module '../../src/analyzers/error-pattern' from '/p/a.test.ts'", "error-pattern"),
        ("Cannot find module '@/lib/user.service' from 'x.ts'", "user.service"),
        ('error: Cannot find module "./gone" from "/p/src/mul.ts"', "gone"),
        ('Could not resolve: "../src/mul"', "mul"),
        ("SyntaxError: The requested module './box.js' does not provide an export named 'lid'", "lid"),
        ("SyntaxError: Export named 'lid' not found in module '/p/box.ts'.", "lid"),
        ("TypeError: box.lid is not a function", "lid"),
        ("TypeError: (0 , lid) is not a function", "lid"),
        ("./a_test.go:3:2: undefined: box.Lid", "Lid"),
        ("a_test.go:3:2: b.Lid undefined (type *Box has no field or method Lid)", "Lid"),
        ("no required module provides package example.com/m/lid; to add it:", "lid"),
        ("error[E0425]: cannot find function `lid` in this scope", "lid"),
        ("error[E0432]: unresolved import `crate::acme::lid`", "lid"),
        ("error[E0583]: file not found for module `lid`", "lid"),
        ("error[E0432]: unresolved import `m::mul`: no `mul` in the root", "mul"),
        ("error[E0599]: no method named `lid` found for struct `Box`", "lid"),
        ("BoxTest.java:[3,5] cannot find symbol\n  symbol:   class Lid", "Lid"),
        ("BoxTest.java:[3,5] package com.acme.lid does not exist", "lid"),
        ("e: BoxTest.kt:3:5 Unresolved reference: lid", "lid"),
        ('Error: Class "App\\Lid" not found', "Lid"),
        ("Error: Call to undefined function App\\lid()", "lid"),
        ("NameError: uninitialized constant Acme::Lid", "Lid"),
        ("NoMethodError: undefined method `lid' for nil", "lid"),
        ("cannot load such file -- acme/lid", "lid"),
    ],
)
def test_which_name_a_failure_misses(failure, name):
    assert missing_names(failure)[0] == name


def test_an_ordinary_failure_misses_none():
    assert missing_names("AssertionError: assert 1 == 2") == ()


@table(
    ("failure", "told"),
    [
        ("No module named 'box'", True),
        ("'box.lid' is gone from the source", True),
        ("Cannot find module './lid'", True),
        ("does not provide an export named 'lid'", True),
        ("'Box' object has no attribute 'lid'", False),
        ("lid is not a function", False),
    ],
)
def test_an_import_that_fails_is_told_from_other_failures(failure, told):
    assert is_import_failure(failure) is told


@table(
    ("before", "after", "expected"),
    [
        ({"box.py": "def lid(): ..."}, {"box.py": ""}, True),
        ({"lid.py": ""}, {}, True),
        ({"src/lid.ts": ""}, {}, True),
        ({"lid.rs": ""}, {}, True),
        ({"box.py": "def lid(): ..."}, {"crate.py": "def lid(): ..."}, False),
        ({"box.py": "def lids(): ..."}, {}, False),
        ({"lid.py": ""}, {"fix_plan.md": "- [x] remove lid"}, True),
        ({"box.py": "def lid(): ..."}, {"box.py": "# lid is gone\n"}, True),
        ({"lid.py": ""}, {"box.py": "def close(lid):\n    box = lid\n"}, True),
        ({"lid.py": "def lid(): ..."}, {"box.py": "def lid(): ..."}, False),
        ({"lid.go": "func Lid() {}"}, {"box.go": "func (b *Box) lid() {}"}, False),
        ({"lid.py": ""}, {"box/lid.py": ""}, False),
        ({"lid/__init__.py": ""}, {"box.py": "box.lid = 1"}, True),
        ({"lid.js": "export const lid = 1;"}, {"lid.js": "export const cover = 1;"}, True),
        ({"box.py": "self.lid()"}, {"box.py": "print(lid)"}, False),
        ({"box.py": "self.lid()"}, {"box.py": "pass"}, True),
        ({"notes.md": "lid"}, {}, False),
    ],
)
def test_whether_the_source_lost_a_name(before, after, expected):
    assert gone_from_source("lid", before, after) is expected
