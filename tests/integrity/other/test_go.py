import pytest

from ralph_tracker.integrity.source_tests import tests_of as read

_HEAD = 'package x\n\nimport "testing"\n\n'


def _tests(text):
    return read("x_test.go", _HEAD + text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("func TestX(t *testing.T) {}", [("TestX", False)], id="one"),
        pytest.param(
            "func Test(t *testing.T) {}\nfunc FuzzX(f *testing.F) {}", [("Test", False), ("FuzzX", False)], id="names"
        ),
        pytest.param("func Testify(t *testing.T) {}\nfunc TestX(a int) {}\nfunc TestMain() {}", [], id="no tests"),
        pytest.param(
            'func TestX(t *testing.T) { t.Run("a b", func(t *testing.T) { t.Run(`c`, func(t *testing.T) {}) }) }',
            [("TestX", False), ("TestX/a_b", False), ("TestX/a_b/c", False)],
            id="subtests",
        ),
        pytest.param(
            "func TestX(t *testing.T) { t.Run(c.name, func(t *testing.T) {}) }", [("TestX", False)], id="table"
        ),
        pytest.param('func TestX(t *testing.T) { x := 1; t.Skip("no") }', [("TestX", True)], id="skipped"),
        pytest.param("func TestX(t *testing.T) { if a { t.Skip() } }", [("TestX", False)], id="skipped on a condition"),
        pytest.param(
            'func TestX(t *testing.T) { t.Run("a", func(t *testing.T) { t.SkipNow() }) }',
            [("TestX", False), ("TestX/a", True)],
            id="subtest skipped",
        ),
        pytest.param(
            "func TestS(t *testing.T) { suite.Run(t, new(S)) }\nfunc (s *S) TestA() {}\nfunc (s *S) Other() {}\n"
            "func (u *U) TestB() {}",
            [("TestS", False), ("TestS/TestA", False)],
            id="suite",
        ),
        pytest.param("func ExampleX() {\n\t// Output: 1\n}\nfunc ExampleY() {}", [("ExampleX", False)], id="example"),
        pytest.param("func TestX(t *testing.T)", [], id="no body"),
    ],
)
def test_tests_are_named_as_go_does(text, names):
    assert [(test.name, test.skipped) for test in _tests(text)] == names


def test_a_file_that_is_no_test_file_has_none():
    assert read("x.go", _HEAD + "func TestX(t *testing.T) {}") == ()


def _assertions(body, *, before=""):
    first, *_ = [each for each in _tests(f"{before}\nfunc TestX(t *testing.T) {{\n{body}\n}}") if each.name == "TestX"]
    return list(first.assertions)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(body, why, id=body)
        for why, bodies in {
            "it is a constant": (
                "assert.True(t, true)",
                "assert.Equal(t, 1, 1)",
                "require.Nil(t, nil)",
                "assert.False(t, false)",
                "assert.True(t, x || true)",
                "assert.NotNil(t, 1)",
                'assert.NotEqual(t, "a", "b")',
            ),
            "it compares a thing with itself": (
                "assert.Equal(t, x.y, x.y)",
                "assert.Equal(t, len(x), len(x))",
                'if diff := cmp.Diff(x, x); diff != "" { t.Error(diff) }',
            ),
            "a length is never negative": ("assert.GreaterOrEqual(t, len(x), 0)",),
            "everything is one": ("assert.NotNil(t, &X{})", "assert.NotNil(t, X{})"),
            "it is under a condition that never holds": (
                'if false { t.Fatal("x") }',
                'if x != x { t.Error("x") }',
                'if true { f() } else { t.Error("x") }',
            ),
            None: (
                'if got != want { t.Errorf("got %v", got) }',
                "assert.Equal(t, 1, x)",
                "assert.Equal(t, f(x), f(x))",
                "assert.NoError(t, err)",
                'if diff := cmp.Diff(x, y); diff != "" { t.Error(diff) }',
                "if x := f(); x == nil { t.Fail() }",
                't.Fatal("unreachable")',
                "switch x { case 1: t.Fatal(x) }",
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
        pytest.param('if a != 3 {\n t.Fatalf("no")\n}', ['if a != 3: t.Fatalf("no")'], id="fatal"),
        pytest.param("is := is.New(t)\nis.Equal(a, 3)", ["is.Equal(a, 3)"], id="bound"),
        pytest.param("a := assert.New(t)\na.Equal(1, x)\nb.Equal(1, x)", ["a.Equal(1, x)"], id="bound by a name"),
        pytest.param("assert.New(t).Equal(1, x)", ["assert.New(t).Equal(1, x)"], id="at once"),
        pytest.param("s.Require().NoError(err)", ["s.Require().NoError(err)"], id="suite"),
        pytest.param(
            "Expect(x).To(Equal(3)); g.Expect(y).To(BeNil())",
            ["Expect(x).To(Equal(3))", "g.Expect(y).To(BeNil())"],
            id="gomega",
        ),
        pytest.param("qt.Assert(t, x, qt.Equals, 3)", ["qt.Assert(t, x, qt.Equals, 3)"], id="quicktest"),
        pytest.param("log.Fatal(x); t.Log(x); x.Error(); f(); Expect(x)", [], id="none"),
        pytest.param(
            "checkBox(t, 1); x.verifyAll(t)", ["checkBox(t, 1)", "x.verifyAll(t)"], id="helpers from elsewhere"
        ),
        pytest.param("func() { t.Error() }()", ["t.Error()"], id="a function at once"),
    ],
)
def test_each_demand_is_read_once(body, texts):
    assert [each.text for each in _assertions(body)] == texts


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("assert.Equal(t, 3, x)", "assert.NotNil(t, x)"),
        ("assert.Equal(t, 3, x)", "assert.Contains(t, x, 3)"),
        ("assert.Equal(t, 3, x)", "assert.Equal(t, true, x)"),
        ("if x != 3 { t.Error() }", "if x == nil { t.Error() }"),
        ("assert.False(t, x)", "assert.True(t, x)"),
        ("assert.True(t, x > 3)", "assert.True(t, x != nil)"),
    ],
)
def test_what_lets_more_pass_is_weaker_of_the_same_subject(stronger, weaker):
    [one], [other] = _assertions(stronger), _assertions(weaker)
    assert one.subject == other.subject == "x"
    assert one.strength > other.strength


def test_what_subtests_and_helpers_demand_the_test_demands():
    helper = 'func same(t *testing.T, a int) { t.Helper(); if a != 3 { t.Fatal("no") } }'
    assert (
        len(_assertions('same(t, x); t.Run("a", func(t *testing.T) { same(t, y); assert.Nil(t, x) })', before=helper))
        == 3
    )


def test_an_example_demands_its_output():
    [test] = _tests("func ExampleX() {\n\tf()\n\t// Output:\n\t// 1\n}")
    assert [each.text for each in test.assertions] == ["// Output: // 1"]
