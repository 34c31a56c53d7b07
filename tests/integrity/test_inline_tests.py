"""Tests inside of source files are parted from them by block, and put back."""

import pytest

from ralph_tracker.integrity.inline_tests import differ, parted, with_tests

SOURCE = "pub fn open() -> char {\n    '{'\n}\n"
TESTS = '#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn opens() { open("}{") } // {\n}'
VITEST = "if (import.meta.vitest) {\n  const {it} = import.meta.vitest;\n  it('opens', () => {});\n}"


def test_source_and_tests_are_parted_at_the_closing_brace():
    assert parted("src/lib.rs", f"{SOURCE}\n{TESTS}\nfn more() {{}}\n") == (f"{SOURCE}\n\nfn more() {{}}\n", TESTS)
    assert parted("src/a.ts", f"export const a = 1;\n{VITEST}\n") == ("export const a = 1;\n\n", VITEST)


@pytest.mark.parametrize(("path", "text"), [("src/lib.rs", SOURCE), ("box.py", TESTS)])
def test_without_tests_or_in_another_language_all_is_source(path, text):
    assert parted(path, text) == (text, "")


def test_a_block_that_never_closes_goes_to_the_end():
    assert parted("a.rs", f"{SOURCE}{TESTS[:-1]}") == (SOURCE, TESTS[:-1])


def test_tests_of_one_form_go_with_the_source_of_another():
    other = TESTS.replace("opens", "closes")
    assert with_tests("a.rs", f"{SOURCE}{TESTS}", f"fn old() {{}}\n{other}") == f"{SOURCE.rstrip()}\n\n{other}\n"


@pytest.mark.parametrize(
    ("earlier", "now", "expected"),
    [
        (f"{SOURCE}{TESTS}", f"fn new() {{}}\n{TESTS}", False),
        (f"{SOURCE}{TESTS}", f"{SOURCE}{TESTS.replace('    ', '  ')}", False),
        (f"{SOURCE}{TESTS}", SOURCE, True),
        (f"{SOURCE}{TESTS}", f"{SOURCE}{TESTS.replace('opens', 'closes')}", True),
        (SOURCE, f"{SOURCE}{TESTS}", False),
    ],
    ids=["source alone", "spaces alone", "gone", "edited", "new"],
)
def test_whether_tests_inside_differ(earlier, now, expected):
    assert differ("src/lib.rs", earlier, now) is expected
