import pytest

from ralph_tracker.integrity.source_tests import tests_of as read


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("class ATest { @Test void a() {} void b() {} }", [("ATest::a", False)], id="one"),
        pytest.param(
            "class ATest { @Nested class B { @ParameterizedTest void a(int x) {} } "
            "@org.junit.Test public void c() {} }",
            [("ATest::B::a", False), ("ATest::c", False)],
            id="nested",
        ),
        pytest.param(
            'class A { @Disabled @Test void a() {} @Ignore("x") @Test void b() {} }',
            [("A::a", True), ("A::b", True)],
            id="off",
        ),
        pytest.param(
            "@Disabled class A { @Test void a() {} class B { @Test void b() {} } }",
            [("A::a", True), ("A::B::b", True)],
            id="class off",
        ),
        pytest.param(
            "class A { @DisabledOnOs(WINDOWS) @Test void a() {} }", [("A::a", False)], id="off on a condition"
        ),
        pytest.param(
            "class A extends TestCase { public void testA() {} public void other() {} "
            "void testB() {} static public void testC() {} }",
            [("A::testA", False)],
            id="JUnit 3",
        ),
        pytest.param(
            "@Test public class A { public void a() {} @BeforeMethod public void b() {} private void c() {} }",
            [("A::a", False)],
            id="TestNG class",
        ),
        pytest.param("class A { @Test(enabled = false) public void a() {} }", [("A::a", True)], id="TestNG off"),
        pytest.param("record A(int x) { @Test void a() {} }", [("A::a", False)], id="record"),
    ],
)
def test_tests_are_named_by_their_classes(text, names):
    assert [(test.name, test.skipped) for test in read("ATest.java", text)] == names


def _assertions(body, *, before=""):
    [test] = read("ATest.java", f"class A {{ {before} @Test void a() {{ {body} }} }}")
    return list(test.assertions)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(body, why, id=body)
        for why, bodies in {
            "it is a constant": (
                "assertTrue(true);",
                'assertTrue("m", x == 3 || true);',
                "Assert.assertEquals(1, 1);",
                "assertFalse(false);",
                "assertNull(null);",
                "assertThat(true).isTrue();",
                "assertThat(1, is(1));",
                "assert true;",
            ),
            "it compares a thing with itself": (
                "assertEquals(x, x);",
                "assertThat(x).isEqualTo(x);",
                "assertThat(x, is(equalTo(x)));",
            ),
            "a length is never negative": (
                "assertTrue(x.size() >= 0);",
                "assertThat(x.size()).isGreaterThanOrEqualTo(0);",
            ),
            "everything is one": ("assertNotNull(new X());",),
            "it is under a condition that never holds": ("if (false) { assertNull(x); }",),
            None: (
                "assertEquals(3, x);",
                'assertEquals("m", 3, x);',
                "assertEquals(f(), f());",
                "assertTrue(x);",
                "assertThat(x, is(y));",
                "assertThat(x, is(f()));",
                'assertThat("m", x, hasSize(3));',
                "assertThat(x, notNullValue());",
                "assertThrows(E.class, () -> f());",
                "fail();",
                "verify(mock).call();",
                "assert x == 3 : y;",
            ),
        }.items()
        for body in bodies
    ],
)
def test_what_nothing_can_fail_says_why(body, why):
    assert [each.vacuous for each in _assertions(body)] == [why]


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        pytest.param(
            'assertThat(x)\n.as("d")\n.isNotNull()\n.hasSize(3);',
            ["assertThat(x).isNotNull()", "assertThat(x).hasSize(3)"],
            id="a chain",
        ),
        pytest.param("x.f(); assertThat(x);", [], id="none"),
        pytest.param(
            "mvc.perform(a).andExpect(b).andExpect(c);",
            [
                "mvc.perform(a).andExpect(b).andExpect(c) … andExpect(b)",
                "mvc.perform(a).andExpect(b).andExpect(c) … andExpect(c)",
            ],
            id="fluent",
        ),
        pytest.param("checkBox(x); other(x);", ["checkBox(x)"], id="a helper from elsewhere"),
    ],
)
def test_each_demand_is_read_once(body, texts):
    assert [each.text for each in _assertions(body)] == texts


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("assertEquals(3, x);", "assertNotNull(x);"),
        ("assertTrue(x == 3);", "assertTrue(x > 3);"),
        ("assertThat(x).isEqualTo(3);", "assertThat(x).isNotNull();"),
        ("assertThat(x, is(3));", "assertThat(x, notNullValue());"),
        ("assertThrowsExactly(E.class, x);", "assertThrows(E.class, x);"),
    ],
)
def test_what_lets_more_pass_is_weaker_of_the_same_subject(stronger, weaker):
    [one], [other] = _assertions(stronger), _assertions(weaker)
    assert one.subject == other.subject == "x"
    assert one.strength > other.strength


def test_an_expected_exception_is_a_demand():
    [test] = read("ATest.java", "class A { @Test(expected = E.class) public void a() { f(); } }")
    assert [each.text for each in test.assertions] == ["@Test(expected = E.class)"]


def test_what_a_helper_of_the_file_demands_the_test_demands():
    found = _assertions("same(x); this.same(y);", before="private void same(int a) { assertEquals(3, a); }")
    assert [each.text for each in found] == ["assertEquals(3, a)"] * 2
