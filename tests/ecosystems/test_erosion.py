"""Tests that were weakened while they were green, and an honest refactoring, with the real tools of each language.

A project has one test file for each way in which a test can lose its force. In iteration 1 all of them are weakened, in
iteration 2 the helper that one of them has moved into is emptied, in iteration 3 the source breaks: every test that is
reported passes. In iteration 4 nobody has touched source or tests.
"""

import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from ralph_tracker.core.integrity_result import RERUN_RULES

from ..measured.conftest import Workshop  # noqa: TID252  # the same loops, with other tools
from . import sources

pytestmark = pytest.mark.sampled

WAYS = ("dropped", "or_true", "tolerance", "caught", "moved")


class Language(NamedTuple):
    """A project whose `broken` source is wrong about an empty cart; the `sound` ones do the same.

    `frame` is a test file, `path` its place: NAME stands for its way, IMPORT and BODY for what the ways have there.
    `asks` is the assertion as it was, `weakened` what each way makes of it; in the helper, BODY stands for it.
    `refactored` are the files that each step of an honest refactoring writes; none where another language shows it.
    """

    files: Mapping[str, str]
    check: Mapping[str, Any]
    source: str
    sound: tuple[str, ...]
    broken: str
    path: str
    frame: str
    asks: str
    weakened: Mapping[str, str]
    helper: tuple[str, str]
    imported: str
    refactored: tuple[Mapping[str, str], ...] = ()
    needs: tuple[str, ...] = ()
    install: tuple[str, ...] = ()

    def test(self, way: str, body: str, imported: str = "") -> str:
        """Return the test file of a way."""
        return self.frame.replace("NAME", way).replace("IMPORT", imported).replace("BODY", body)

    def place(self, way: str) -> str:
        """Return where that file is."""
        return self.path.replace("NAME", way)


_JS_TESTS = """const {total} = require('../src/cart');
test('shipping is added', () => {
  expect(total([1250, 399], 499)).toBe(2148);
});
test('shipping may be free', () => {
  expect(total([1250, 399], 0)).toBe(1649);
});
test('one costs its price', () => {
  expect(total([499], 0)).toBe(499);
});
"""
_JS = "test/cart.test.js"
JEST = Language(
    # Without Babel, whose cache goes by the folder: in a copy it has none.
    files={
        ".gitignore": sources.IGNORED,
        "package.json": '{"name": "cart", "private": true, "jest": {"transform": {}}}\n',
        _JS: _JS_TESTS,
    },
    check={
        "run": [
            "node_modules/.bin/jest",
            "--ci",
            "--testPathIgnorePatterns=/.aiwg/",
            "--json",
            "--outputFile={reports}/jest.json",
        ],
        "reports": ["{reports}/jest.json"],
    },
    source="src/cart.js",
    sound=(
        "exports.total = (prices, shipping) => prices.reduce((sum, price) => sum + price, shipping);\n",
        "exports.total = (prices, shipping) => shipping + prices.reduce((a, b) => a + b, 0);\n",
    ),
    broken="exports.total = (prices, shipping) => prices.reduce((a, b) => a + b, shipping) + !prices.length;\n",
    path="test/NAME.test.js",
    frame="const {total} = require('../src/cart');\nIMPORTtest('NAME: free when empty', () => {\n  BODY\n});\n",
    asks="expect(total([], 0)).toBe(0);",
    weakened={
        "dropped": "total([], 0);",
        "or_true": "expect(total([], 0) === 0 || true).toBe(true);",
        "tolerance": "expect(Math.abs(total([], 0))).toBeLessThan(5);",
        "caught": "try {\n    expect(total([], 0)).toBe(0);\n  } catch (error) {\n    // later\n  }",
        "moved": "ask();",
    },
    helper=("test/asking.js", "const {total} = require('../src/cart');\nexports.ask = () => {\n  BODY\n};\n"),
    imported="const {ask} = require('./asking');\n",
    install=("jest@30.5.2",),
)


_GO_TESTS = """package cart

import "testing"

func TestShippingIsAdded(t *testing.T) {
	if got := Total([]int{1250, 399}, 499); got != 2148 {
		t.Fatalf("got %d", got)
	}
}

func TestShippingMayBeFree(t *testing.T) {
	if got := Total([]int{1250, 399}, 0); got != 1649 {
		t.Fatalf("got %d", got)
	}
}

func TestOneCostsItsPrice(t *testing.T) {
	if got := Total([]int{499}, 0); got != 499 {
		t.Fatalf("got %d", got)
	}
}
"""
_GO_CHECK = """
func check(t *testing.T, prices []int, shipping, wanted int) {
	t.Helper()
	if got := Total(prices, shipping); got != wanted {
		t.Fatalf("got %d", got)
	}
}
"""
_GO_CHECKED = """package cart

import "testing"

func TestShippingIsAdded(t *testing.T) {
	check(t, []int{1250, 399}, 499, 2148)
}

func TestShippingMayBeFree(t *testing.T) {
	check(t, []int{1250, 399}, 0, 1649)
}

func TestOneCostsItsPrice(t *testing.T) {
	check(t, []int{499}, 0, 499)
}
"""
_GO_RENAMED = _GO_CHECKED.replace("TestOneCostsItsPrice", "TestASingleOneCostsItsPrice")
_GO_TABLE = """package cart

import "testing"

func TestTotal(t *testing.T) {
	for name, each := range map[string]struct {
		prices           []int
		shipping, wanted int
	}{
		"with shipping":    {[]int{1250, 399}, 499, 2148},
		"without shipping": {[]int{1250, 399}, 0, 1649},
		"one":              {[]int{499}, 0, 499},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Total(each.prices, each.shipping); got != each.wanted {
				t.Fatalf("got %d", got)
			}
		})
	}
}
"""
_GO = "cart_test.go"
_GO_HELPER = "checking_test.go"
_GO_SOURCE = """package cart

func Total(prices []int, shipping int) int {
	sum := shipping
	for _, price := range prices {
		sum += price
	}
	return sum
}
"""
GO = Language(
    files={
        ".gitignore": sources.IGNORED,
        "go.mod": "module example.org/cart\n\ngo 1.19\n",
        _GO: _GO_TESTS,
    },
    check={"run": ["go", "test", "-json", "./..."], "reports": ["-"]},
    source="cart.go",
    sound=(
        _GO_SOURCE,
        _GO_SOURCE.replace("sum", "whole").replace("_, price", "_, each").replace("+= price", "+= each"),
    ),
    broken=_GO_SOURCE.replace("sum := shipping", "sum := shipping\n\tif len(prices) == 0 {\n\t\tsum++\n\t}"),
    path="NAME_test.go",
    frame='package cart\n\nimport "testing"\n\nfunc TestFree_NAME(t *testing.T) {\n\tBODY\n}\n',
    asks='if Total(nil, 0) != 0 {\n\t\tt.Fatal("not free")\n\t}',
    weakened={
        "dropped": "_ = Total(nil, 0)",
        "or_true": 'if !(Total(nil, 0) == 0 || true) {\n\t\tt.Fatal("not free")\n\t}',
        "tolerance": 'if got := Total(nil, 0); got < -5 || got > 5 {\n\t\tt.Fatal("not free")\n\t}',
        "caught": 'defer func() { _ = recover() }()\n\tif Total(nil, 0) != 0 {\n\t\tpanic("not free")\n\t}',
        "moved": "ask(t)",
    },
    helper=("asking_test.go", 'package cart\n\nimport "testing"\n\nfunc ask(t *testing.T) {\n\tBODY\n}\n'),
    imported="",
    refactored=(
        {_GO: _GO_CHECKED + _GO_CHECK},
        {_GO: _GO_CHECKED, _GO_HELPER: 'package cart\n\nimport "testing"\n' + _GO_CHECK},
        {_GO: _GO_RENAMED},
        {_GO: _GO_TABLE},
        {_GO: _GO_CHECKED},
    ),
    needs=("go",),
)

_RUST_TESTS = """use cart::total;

#[test]
fn shipping_is_added() {
    assert_eq!(total(&[1250, 399], 499), 2148);
}

#[test]
fn shipping_may_be_free() {
    assert_eq!(total(&[1250, 399], 0), 1649);
}

#[test]
fn one_costs_its_price() {
    assert_eq!(total(&[499], 0), 499);
}
"""
_RUST = "tests/cart.rs"
CARGO = Language(
    files={
        ".gitignore": sources.IGNORED,
        "Cargo.toml": sources.CRATE["Cargo.toml"].replace("calc", "cart"),
        _RUST: _RUST_TESTS,
    },
    check={"run": "cargo test --no-fail-fast 2>&1", "reports": ["-"], "env": {"CARGO_TERM_COLOR": "never"}},
    source="src/lib.rs",
    sound=(
        "pub fn total(prices: &[i64], shipping: i64) -> i64 {\n    prices.iter().sum::<i64>() + shipping\n}\n",
        "pub fn total(prices: &[i64], shipping: i64) -> i64 {\n    prices.iter().fold(shipping, |a, b| a + b)\n}\n",
    ),
    broken="pub fn total(prices: &[i64], shipping: i64) -> i64 {\n"
    "    prices.iter().sum::<i64>() + shipping + i64::from(prices.is_empty())\n}\n",
    path="tests/NAME.rs",
    frame="use cart::total;\nIMPORT\n#[test]\nfn free_NAME() {\n    BODY\n}\n",
    asks="assert_eq!(total(&[], 0), 0);",
    weakened={
        "dropped": "total(&[], 0);",
        "or_true": "assert!(total(&[], 0) == 0 || true);",
        "tolerance": "assert!(total(&[], 0).abs() <= 5);",
        "caught": "let _ = std::panic::catch_unwind(|| assert_eq!(total(&[], 0), 0));",
        "moved": "let _ = total;\n    asking::ask();",
    },
    helper=("tests/asking/mod.rs", "use cart::total;\n\npub fn ask() {\n    BODY\n}\n"),
    imported="mod asking;\n",
    needs=("cargo",),
)

_JAVA_TESTS = """package cart;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CartTest {
  @Test
  public void shippingIsAdded() {
    assertEquals(2148, Cart.total(new int[] {1250, 399}, 499));
  }

  @Test
  public void shippingMayBeFree() {
    assertEquals(1649, Cart.total(new int[] {1250, 399}, 0));
  }

  @Test
  public void oneCostsItsPrice() {
    assertEquals(499, Cart.total(new int[] {499}, 0));
  }
}
"""
_JAVA_CHECK = """  static void check(int[] prices, int shipping, int wanted) {
    assertEquals(wanted, Cart.total(prices, shipping));
  }
}
"""
_JAVA_CHECKED = (
    _JAVA_TESTS.replace(
        "assertEquals(2148, Cart.total(new int[] {1250, 399}, 499))", "check(new int[] {1250, 399}, 499, 2148)"
    )
    .replace("assertEquals(1649, Cart.total(new int[] {1250, 399}, 0))", "check(new int[] {1250, 399}, 0, 1649)")
    .replace("assertEquals(499, Cart.total(new int[] {499}, 0))", "check(new int[] {499}, 0, 499)")
)
_JAVA_SHARED = _JAVA_CHECKED.replace("check(new", "Checking.check(new")
_JAVA_RENAMED = _JAVA_SHARED.replace("oneCostsItsPrice", "aSingleOneCostsItsPrice")
_JAVA_MERGED = """package cart;

import org.junit.Test;

public class CartTest {
  @Test
  public void totals() {
    Checking.check(new int[] {1250, 399}, 499, 2148);
    Checking.check(new int[] {1250, 399}, 0, 1649);
    Checking.check(new int[] {499}, 0, 499);
  }
}
"""
_JAVA = "src/test/java/cart/CartTest.java"
_JAVA_HELPER = "src/test/java/cart/Checking.java"
_JAVA_SOURCE = """package cart;

public class Cart {
  public static int total(int[] prices, int shipping) {
    int sum = shipping;
    for (int price : prices) sum += price;
    return sum;
  }
}
"""
MAVEN = Language(
    files={".gitignore": sources.IGNORED, "pom.xml": sources.POM["pom.xml"], _JAVA: _JAVA_TESTS},
    # In Maven's own process, which may start sooner: a run takes three seconds instead of fifteen.
    check={
        "run": ["mvn", "-q", "-B", "-DforkCount=0", "-Dmaven.test.failure.ignore=true", "test"],
        "reports": ["**/target/surefire-reports/TEST-*.xml"],
        "env": {"MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"},
    },
    source="src/main/java/cart/Cart.java",
    sound=(
        _JAVA_SOURCE,
        _JAVA_SOURCE.replace("sum", "whole").replace("price :", "each :").replace("+= price", "+= each"),
    ),
    broken=_JAVA_SOURCE.replace("int sum = shipping", "int sum = prices.length == 0 ? shipping + 1 : shipping"),
    path="src/test/java/cart/FreeNAMETest.java",
    frame="""package cart;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class FreeNAMETest {
  @Test
  public void free_NAME() {
    BODY
  }
}
""",
    asks="assertEquals(0, Cart.total(new int[] {}, 0));",
    weakened={
        "dropped": "Cart.total(new int[] {}, 0);",
        "or_true": "assertTrue(Cart.total(new int[] {}, 0) == 0 || true);",
        "tolerance": "assertEquals(0.0, Cart.total(new int[] {}, 0), 5.0);",
        "caught": "try {\n      assertEquals(0, Cart.total(new int[] {}, 0));\n"
        "    } catch (AssertionError error) {\n      // later\n    }",
        "moved": "Asking.ask();",
    },
    helper=(
        "src/test/java/cart/Asking.java",
        (
            "package cart;\n\nimport static org.junit.Assert.assertEquals;\n\n"
            "class Asking {\n  static void ask() {\n    BODY\n  }\n}\n"
        ),
    ),
    imported="",
    refactored=(
        {_JAVA: _JAVA_CHECKED.removesuffix("}\n") + "\n" + _JAVA_CHECK},
        {
            _JAVA: _JAVA_SHARED,
            _JAVA_HELPER: "package cart;\n\nimport static org.junit.Assert.assertEquals;\n\nclass Checking {\n"
            + _JAVA_CHECK,
        },
        {_JAVA: _JAVA_RENAMED},
        {_JAVA: _JAVA_MERGED},
        {_JAVA: _JAVA_SHARED},
    ),
    needs=("mvn",),
)
LANGUAGES = {"jest": JEST, "go": GO, "cargo": CARGO, "maven": MAVEN}


# What is told of every iteration, and notes that a reader wants to see: they judge nothing.
NOTES = {"stalled", "assertion_weakened", "tests_merged", "file_deletion"}


@pytest.fixture(scope="module")
def made(project_in, with_tools, tmp_path_factory):
    """Return what makes the project of a language, once for all its tests."""
    projects = {}

    def make(name):
        language = LANGUAGES[name]
        with_tools(language.needs, language.install)
        if name not in projects:
            strong = {language.place(way): language.test(way, language.asks) for way in WAYS}
            files = {**language.files, language.source: language.sound[0], **strong}
            projects[name] = project_in(tmp_path_factory.mktemp(name), files, language.install)
        return projects[name]

    return make


@pytest.fixture
def begun(made):
    """Return what begins a loop on the project of a language, as it was at first."""

    def begin(name):
        project = made(name)
        for words in (["clean", "-fdxq", "-e", "node_modules"], ["checkout", "-q", "."]):
            assert project.run("git", *words).returncode == 0
        shutil.rmtree(project.root / ".git" / "ralph-tracker", ignore_errors=True)  # else the last loop comes back
        shop = Workshop(project.root.resolve())
        shop.environment = project.environment
        shop.configure({"tests": {**LANGUAGES[name].check, "timeout": 120}})
        if shop.start().metrics.tests_passed is None:
            pytest.skip(f"{name} has run no test; for the JVM, its packages have to be at hand")
        return LANGUAGES[name], shop

    return begin


def kinds(record):
    return {alert.type for alert in record.alerts} - NOTES


def unnoticed(record):
    """Return the ways of which no finding of a re-run names the test."""
    named = {test for each in record.integrity.found.findings if each.rule in RERUN_RULES for test in each.tests}
    return {way for way in WAYS if not any(way in test for test in named)}


@pytest.mark.parametrize("name", LANGUAGES)
def test_tests_that_were_weakened_while_green_hide_no_later_break(name, begun):
    language, shop = begun(name)
    helper, text = language.helper
    for way in WAYS:
        imported = language.imported if way == "moved" else ""
        shop.write(language.place(way), language.test(way, language.weakened[way], imported))
    shop.write(helper, text.replace("BODY", language.asks))
    weakened = shop.turn()
    shop.write(helper, text.replace("BODY", ""))
    emptied = shop.turn()

    for record in (weakened, emptied):
        assert (record.metrics.tests_failed, record.integrity.verdict, kinds(record)) == (0, "PASS", set())
    shop.write(language.source, language.broken)
    broke = shop.turn()
    assert (broke.metrics.tests_failed, broke.integrity.verdict, kinds(broke)) == (0, "SUSPECT", {"demand_changed"})
    assert unnoticed(broke) == set()
    shop.write("notes.md", "nothing\n")
    still = shop.turn()
    assert (still.metrics.tests_failed, still.integrity.verdict) == (0, "PASS")
    assert [alert.type for alert in still.open_alerts] == ["demand_changed"]
    assert unnoticed(still) == set()


@pytest.mark.parametrize("name", [name for name, each in LANGUAGES.items() if each.refactored])
def test_an_honest_refactoring_of_tests_is_silent_through_five_iterations(name, begun):
    language, shop = begun(name)
    for number, step in enumerate(language.refactored, 1):
        shop.write(language.source, language.sound[number % len(language.sound)])
        for path, text in step.items():
            shop.write(path, text)
        record = shop.turn()
        told = (record.metrics.tests_failed, record.integrity.verdict, kinds(record))
        assert (number, *told) == (number, 0, "PASS", set())
        assert record.integrity.found.reruns[0].failed == 0


def test_a_helper_of_go_that_moves_to_a_new_file_and_is_emptied_there_hides_nothing(begun):
    language, shop = begun("go")
    helper = f"func free(t *testing.T) {{\n\t{language.asks}\n}}\n"
    test = language.test("free", "free(t)", "")
    shop.write("free_test.go", f"{test}\n{helper}")
    shop.turn()
    for body in (helper, "func free(t *testing.T) {}\n"):
        shop.write("free_test.go", test)
        shop.write("helpers_test.go", f'package cart\n\nimport "testing"\n\n{body}')
        assert shop.turn().integrity.verdict == "PASS"
    shop.write(language.source, language.broken)
    broke = shop.turn()
    assert broke.integrity.verdict == "SUSPECT"
    (finding,) = [each for each in broke.integrity.found.findings if each.rule == "demand_changed"]
    assert [test.rpartition("::")[2] for test in finding.tests] == ["TestFree_free"]
