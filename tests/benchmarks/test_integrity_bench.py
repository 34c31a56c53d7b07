"""The benchmark of integrity on a set of its own: two packages of four releases, made here, nothing is fetched."""

import io
import json
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "benchmarks" / "integrity" / "run.py"
SOURCE = '''"""Prices of things."""


def price(net, rate):
    """Return the gross price."""
    return round(net * (1 + rate), 2)


def label(word, size):
    """Return a word as wide as asked for."""
    wide = word.ljust(size)
    return wide
'''
TESTS = '''"""Tests of prices."""

import pytest

from shop import label, price


class TestPrice:
    def test_adds_tax(self):
        result = price(100, 0.25)
        assert result == 125.0
        assert price(16, 0.5) == 24

    def test_free(self):
        assert price(0, 0.25) == 0


def test_label_is_filled():
    assert label("lid", 5) == "lid  "
    assert label("cover", 5) == "cover"


def test_label_keeps_long_words():
    assert label("casing", 2) == "casing"


def test_needs_numbers():
    with pytest.raises(TypeError):
        price("1", 0.25)


@pytest.mark.parametrize(("net", "gross"), [(20, 30), (40, 60)])
def test_half_more(net, gross):
    assert price(net, 0.5) == gross
'''
MORE = """

def test_label_of_nothing():
    assert label("", 3) == "   "
"""
OTHER = """from shop import price


def test_nothing_costs_nothing():
    assert price(0, 0.5) == 0


def test_half():
    expected = 96
    assert price(64, 0.5) == expected


def test_twice():
    first = price(32, 0.5)
    assert first == price(32, 0.5)
    assert first == 48
"""


VERSIONS = ("1.0", "1.1", "2.0", "3.0")


def releases():
    """Return four releases: a test is added, code goes with its tests, a test of code that stays is dropped."""
    first = {"shop.py": SOURCE, "tests/test_shop.py": TESTS, "tests/test_more.py": OTHER}
    second = first | {"tests/test_shop.py": TESTS + MORE}
    cut = SOURCE[: SOURCE.index("def label")].rstrip() + "\n"
    kept = TESTS[: TESTS.index("def test_label_is_filled")] + TESTS[TESTS.index("def test_needs_numbers") :]
    third = second | {"shop.py": cut, "tests/test_shop.py": kept.replace("import label, price", "import price")}
    fourth = third | {"tests/test_more.py": OTHER[: OTHER.index("def test_twice")].rstrip() + "\n"}
    return dict(zip(VERSIONS, (first, second, third, fourth), strict=True))


def laid(folder, name):
    for version, files in releases().items():
        with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as tar:
            for path, text in files.items():
                info = tarfile.TarInfo(f"{name}-{version}/{path}")
                info.size = len(text.encode())
                tar.addfile(info, io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Lay the releases where fetched ones would be kept."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "sdists").mkdir()
    names = ("alpha", "zeta")
    for name in names:
        laid(folder / "sdists", name)
    for name, listed in zip(names, ("packages.toml", "apart.toml"), strict=True):
        (folder / listed).write_text(f"[packages]\n{name} = {json.dumps(VERSIONS)}\n")
    return folder


def run(cache, *words):
    common = ["--packages", cache / "packages.toml", "--apart", cache / "apart.toml", "--cache", cache, "--jobs", "1"]
    done = subprocess.run([sys.executable, RUN, *common, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def judged(cache):
    """Run the benchmark on the set, and return what it prints and its results."""
    printed = run(cache, "--json", cache / "all.json", "--misses", cache / "misses.md")
    told = (cache / "misses.md").read_text() if (cache / "misses.md").exists() else ""
    return printed, json.loads((cache / "all.json").read_text()), told


def test_honest_changes_can_be_judged_alone(cache):
    run(cache, "--honest", "--small", "1", "--json", cache / "honest.json")
    kinds = Counter((each["kind"], each["project"]) for each in json.loads((cache / "honest.json").read_text()))
    wanted = {(kind, name): size for kind, size in (("release", 3), ("honest", 1)) for name in ("alpha", "zeta")}
    assert kinds == wanted


def test_each_half_has_its_own_packages_and_variants(judged):
    tamperings = [each for each in judged[1] if each["kind"] == "tampered"]
    variants = {
        half: {(each["rule"], each["variant"]) for each in tamperings if each["half"] == half}
        for half in ("tuning", "held-out")
    }
    assert {each["project"] for each in tamperings if each["half"] == "tuning"} == {"alpha"}
    assert variants["tuning"]
    assert variants["held-out"]
    assert not variants["tuning"] & variants["held-out"]


def test_each_row_has_a_tampering_in_each_half(judged):
    rows = Counter((each["rule"], each["half"]) for each in judged[1] if each["kind"] == "tampered")
    wanted = [*(f"T{number}" for number in range(1, 13)), "S1", "S2", "S3", "G1", "G2"]
    assert [row for row in wanted for half in ("tuning", "held-out") if not rows[row, half]] == []


def test_an_honest_removal_is_told_from_a_false_alarm(judged):
    honest = [each for each in judged[1] if each["kind"] == "release"]
    assert [each["removal"] for each in honest if each["name"] == "1.1 to 2.0"] == [True, True]
    assert {each["verdict"] for each in honest if each["name"] == "1.0 to 1.1"} == {"PASS"}


def test_a_release_is_cut_into_small_changes_with_the_same_labels(judged):
    small = {(each["name"], each["removal"]) for each in judged[1] if each["kind"] == "honest"}
    assert small == {
        ("1.0 to 1.1, tests/test_shop.py", False),
        ("1.1 to 2.0, tests/test_shop.py", True),
        ("2.0 to 3.0, tests/test_more.py", False),
    }


def test_a_test_dropped_without_its_code_is_no_honest_change(judged):
    relaxed = [each for each in judged[1] if each["kind"] == "release" and each["name"] == "2.0 to 3.0"]
    assert [(each["relaxed"], each["told"], each["verdict"]) for each in relaxed] == [(["T1"], ["T1"], "TAMPERED")] * 2
    assert "| releases, T1: alarmed | 1.000 (1/1" in judged[0]
    assert "2.0 to 3.0 (release)" not in judged[2]


def test_deleted_and_skipped_tests_are_found(judged):
    found = [each["found"] for each in judged[1] if each["kind"] == "tampered" and each["rule"] in {"T1", "T2"}]
    assert found
    assert all(found)


def test_the_tables_give_shares_with_their_intervals(judged):
    printed = judged[0]
    assert "| T1 | 1.000 (" in printed
    assert "honest, TAMPERED" in printed


def test_nothing_of_the_half_that_is_kept_apart_is_told(judged):
    assert "zeta" not in judged[2]


def test_each_case_has_a_label_of_its_own(judged):
    names = [(each["kind"], each["rule"], each["variant"], each["project"], each["name"]) for each in judged[1]]
    assert len(names) == len(set(names))
