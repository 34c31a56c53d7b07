"""Path patterns: what each of them means, as a table."""

import pytest

from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.find_reports import has_wildcard, matcher, matching_files
from tests.tables import table

PATHS = ["a.py", "b.js", ".hidden.py", "src/a.py", "src/lib/a.py", "src/lib/deep/b.py", "srcs/a.py", "x/src/a.py"]
ALL = " ".join(PATHS)


@table(
    ("pattern", "expected"),
    [
        ("**", ALL),
        (".", ALL),
        ("./", ALL),
        ("", ALL),
        ("**/*", ALL),
        ("**/**", ALL),
        ("*", "a.py b.js .hidden.py"),
        ("*.py", "a.py .hidden.py"),
        ("?.py", "a.py"),
        ("[ab].*", "a.py b.js"),
        ("[!a].*", "b.js"),
        ("[a-c].[^j]*", "b.js"),
        ("**/a.py", "a.py src/a.py src/lib/a.py srcs/a.py x/src/a.py"),
        ("src", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("src/", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("src/**", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("./src/**", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("/src/**", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("src/*", "src/a.py"),
        ("src/*/*", "src/lib/a.py"),
        ("src/**/*.py", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("src/**/lib/**", "src/lib/a.py src/lib/deep/b.py"),
        ("**/src/*", "src/a.py x/src/a.py"),
        ("**/lib/", "src/lib/a.py src/lib/deep/b.py"),
        ("src**/a.py", "src/a.py srcs/a.py"),
        ("s[!x]c*/a.py", "src/a.py srcs/a.py"),
        ("src[!x]a.py", ""),
        ("src?a.py", ""),
        ("src/a.py", "src/a.py"),
        ("a", ""),
        ("A.py", ""),
        ("lib", ""),
        ("a[.py", ""),
    ],
)
def test_matches(pattern, expected):
    """A pattern stands for the whole path."""
    matches = matcher([pattern])

    assert [path for path in PATHS if matches(path)] == expected.split()


@table(
    ("pattern", "path"),
    [
        ("[[]x]", "[x]"),
        ("[]]", "]"),
        ("[!]]", "x"),
        ("[\\]", "\\"),
        ("[.-]", "-"),
        ("a.b", "a.b"),
        ("*", "a\nb"),
        ("[", "["),
    ],
)
def test_characters_mean_themselves(pattern, path):
    """Only the wildcards are special, and a class takes anything."""
    assert matcher([pattern])(path)


def test_several():
    """One match is enough; without patterns there is none."""
    assert [path for path in PATHS if matcher(["a.py", "b.*"])(path)] == ["a.py", "b.js"]
    assert not any(map(matcher([]), PATHS))


def test_class_that_cannot_be():
    """A range from back to front is an error that names the pattern."""
    with pytest.raises(ConfigError, match=r"the pattern 'src/\[z-a\]' cannot be used: bad character range"):
        matcher(["src/[z-a]"])


@table(("pattern", "expected"), [("a*", True), ("a?", True), ("[a]", True), ("a{b}(c)+.py", False)])
def test_has_wildcard(pattern, expected):
    """Three characters make a pattern of a path."""
    assert has_wildcard(pattern) is expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ".hidden.py a.py"),
        ("src/**", "src/a.py src/lib/a.py src/lib/deep/b.py"),
        ("src/l*/a.py", "src/lib/a.py"),
        ("./src/*.py", "src/a.py"),
        ("x/../src/*.py", "x/../src/a.py"),
        ("no/such/*", ""),
    ],
)
def test_matching_files(tmp_path, pattern, expected):
    """Files are found below a folder and written as the pattern is."""
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()

    assert matching_files(tmp_path, pattern) == expected.split()
