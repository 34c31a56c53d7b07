import pytest

from ralph_tracker.integrity.source_tests import tests_of as read


def _names(text, path="a.test.ts"):
    return [(test.name, test.skipped) for test in read(path, text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("it('adds', () => {})", [("adds", False)], id="one"),
        pytest.param(
            "describe('a', () => { describe(`b`, () => { it(\"c\", f) }); test('d', f) }); it('e', f)",
            [("a::b::c", False), ("a::d", False), ("e", False)],
            id="nested",
        ),
        pytest.param("it('it\\'s \\x41\\u0042\\u{43}\\n', f)", [("it's ABC\n", False)], id="escapes"),
        pytest.param("it('\\u{110000}', f)", [("\\u{110000}", False)], id="no such character"),
        pytest.param("it(Foo.name, () => {})", [("Foo.name", False)], id="a name that is an expression"),
        pytest.param("it.each([[1, 2]])('adds %i', f)", [("adds %i", False)], id="each"),
        pytest.param("it.each`a\n${1}`('adds $a', f)", [("adds $a", False)], id="each of a table"),
        pytest.param("describe.each([1])('s', () => { it.only('a', f) })", [("s::a", False)], id="each suite"),
        pytest.param("it.skip('a', f); it.todo('b'); xit('c', f); it('d')", [(n, True) for n in "abcd"], id="skipped"),
        pytest.param("it.failing('a', f); it.fails('b', f)", [("a", True), ("b", True)], id="expected to fail"),
        pytest.param("xdescribe('a', () => { it('b', f) })", [("a::b", True)], id="skipped suite"),
        pytest.param("it.skipIf(slow)('a', f); it.runIf(slow)('b', f)", [("a", False), ("b", False)], id="conditions"),
        pytest.param(
            "test('a', {skip: true}, f); test('b', {timeout: 1}, f)", [("a", True), ("b", False)], id="options"
        ),
        pytest.param("it('a', function () { this.skip(); })", [("a", True)], id="leaves at once"),
        pytest.param(
            "test('a', ({x}) => { test.skip(x === 1, 'later'); })", [("a", False)], id="leaves on a condition"
        ),
        pytest.param("it('a', () => { if (x) { this.skip(); } })", [("a", False)], id="leaves in a branch"),
        pytest.param("it('a', f).timeout(5)", [("a", False)], id="mocha's own limit"),
        pytest.param("test.describe('a', () => { test('b', f) })", [("a::b", False)], id="Playwright"),
        pytest.param(
            "Deno.test('a', f); QUnit.module('m'); QUnit.test('b', f)", [("a", False), ("b", False)], id="owners"
        ),
        pytest.param(
            "test('a', async (t) => { await t.test('b', () => {}) })", [("a", False), ("a::b", False)], id="subtest"
        ),
        pytest.param("test.each([1]); test.other('a', f); (() => {})(); it``", [], id="no tests either"),
        pytest.param("/x/.test('a', 1); x.test('a'); test.step('s', f); test.use({})", [], id="no tests"),
        pytest.param("test(() => {}); it(); test('a', f)", [("a", False)], id="no names"),
        pytest.param("test('a', () => { x.test('b'); y().test('c', 1) })", [("a", False)], id="no subtests"),
    ],
)
def test_tests_are_named_by_the_suites_around_them(text, names):
    assert _names(text) == names


@pytest.mark.parametrize("path", ["a.test.js", "a.spec.mjs", "a.test.ts", "a.test.tsx", "a.test.jsx"])
def test_every_dialect_has_its_tests(path):
    assert _names("it('a', () => { expect(a).toBe(3) })", path) == [("a", False)]


def test_markup_and_types_are_understood():
    assert _names("it('a', () => { render(<A b={1} />) })", "a.test.tsx") == [("a", False)]
    assert _names("it('a', () => { const x = <T,>(y: T): y is T => true })", "a.test.ts") == [("a", False)]


def test_a_test_stands_where_it_stands():
    [test] = read("a.test.js", "\n\nit('a',\n  () => {\n    expect(a).toBe(3);\n  });\n")
    assert (test.line, test.end, test.text) == (3, 6, "it('a',\n  () => {\n    expect(a).toBe(3);\n  });")
    assert [each.line for each in test.assertions] == [5]


def _assertions(body, *, before=""):
    [test] = read("a.test.ts", f"{before}\nit('a', async () => {{ {body} }});")
    return list(test.assertions)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(body, why, id=body)
        for why, bodies in {
            "it is a constant": (
                "expect(true).toBe(true)",
                "expect(1).toBeTruthy()",
                "expect(false).not.toBe(true)",
                "expect(null).toBeNull()",
                "expect('a').toBeDefined()",
                "expect(true).to.be.true",
                "expect(1).to.equal(1)",
                "expect(x || true).toBe(true)",
                "expect((x as any) || true).toBeTruthy()",
                "expect(!x && false).toBeFalsy()",
                "expect(typeof x).toBeTruthy()",
                "expect(-1).toBe(-1)",
                "assert(true)",
                "assert.ok(1 === 1)",
                "assert.equal('a', \"a\")",
                "assert(x || true, 'm')",
                "assert(true && 1)",
                "assert(!(false || ''))",
                "expect.soft(true).toBe(true)",
                "t.true(true)",
            ),
            "it compares a thing with itself": ("expect(x.y).toBe(x.y)", "assert.equal(x, x)", "assert(x === x)"),
            "a length is never negative": (
                "expect(x.length).toBeGreaterThanOrEqual(0)",
                "assert(x.length >= 0)",
                "expect(x.size).to.be.at.least(0)",
            ),
            "it holds either way": ("assert(x || !x)",),
            "everything is one": ("expect([]).toBeDefined()", "expect(() => 1).not.toBeNull()"),
            "it is under a condition that never holds": ("if (false) { expect(x).toBe(1) }",),
            None: (
                "expect(x).toBe(true)",
                "expect(true).toBe(false)",
                "expect(x).toBe(y)",
                "expect(f()).toBe(f())",
                "expect(await f()).toBe(await f())",
                "expect(1).not.toBe(1)",
                "expect('1').toBe(1)",
                "expect(x || y).toBe(true)",
                "expect(x && true).toBe(true)",
                "expect(x.length).toBeGreaterThan(0)",
                "expect(x.length).toBeGreaterThanOrEqual(1)",
                "assert(f(x) === f(x))",
                "assert(x === 'true')",
                "assert(a + b)",
                "assert(x ?? true)",
                f"assert({'!' * 60}true)",
                "assert(-x)",
                "assert(x instanceof Y)",
                "sinon.assert.calledOnce(x)",
                "t.throws(f)",
                "assert('a' < x)",
                "assert('a' < 'b')",
                "assert(null > 1)",
                "if (x) { expect(x).toBe(1) } else { expect(x).toBe(2) }",
                "expect(fn).toThrow()",
            ),
        }.items()
        for body in bodies
    ],
)
def test_what_nothing_can_fail_says_why(body, why):
    assert {each.vacuous for each in _assertions(body)} == {why}


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        pytest.param("expect(\n  x,\n)\n  .not\n  .toBe(\n    3,\n  )", ["expect(x).not.toBe(3)"], id="formatting"),
        pytest.param("expect([a, ...b]).toEqual({ ...c })", ["expect([a, ...b]).toEqual({ ...c })"], id="spread"),
        pytest.param("await expect(p).rejects.toThrow('no')", ["expect(p).rejects.toThrow('no')"], id="promise"),
        pytest.param("expect.soft(x).toBe(1)", ["expect.soft(x).toBe(1)"], id="soft"),
        pytest.param("expect(x).toEqual(expect.any(F))", ["expect(x).toEqual(expect.any(F))"], id="asymmetric"),
        pytest.param("expect.assertions(2); expect(x); assert.x; sinon.stub(a)", [], id="no demands"),
        pytest.param("x.should.equal(3)", ["x.should.equal(3)"], id="should"),
        pytest.param("x.should.not.be.ok", ["x.should.not.be.ok"], id="should not"),
        pytest.param("request(a).get('/').expect(200)", ["request(a).get('/').expect(200)"], id="request"),
        pytest.param("sinon.assert.calledOnce(x)", ["sinon.assert.calledOnce(x)"], id="sinon"),
        pytest.param(
            "t.is(a, 3); t.plan(1); t.context.assert.ok(x)", ["t.is(a, 3)", "t.context.assert.ok(x)"], id="AVA"
        ),
        pytest.param("fail('no'); assert.fail()", ["fail('no')", "assert.fail()"], id="fail"),
        pytest.param("checkBox(a); other(a)", ["checkBox(a)"], id="a helper from elsewhere"),
        pytest.param("expect(checkBox(a)).toBe(1)", ["expect(checkBox(a)).toBe(1)"], id="a helper's value"),
    ],
)
def test_each_demand_is_read_once(body, texts):
    assert [each.text for each in _assertions(body)] == texts


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("expect(x).toStrictEqual(3)", "expect(x).toEqual(3)"),
        ("expect(x).toBe(3)", "expect(x).toBeCloseTo(3)"),
        ("expect(x).toEqual(3)", "expect(x).toMatchObject(y)"),
        ("expect(x).toContain(3)", "expect(x).toBeInstanceOf(Y)"),
        ("expect(x).toBeInstanceOf(Y)", "expect(x).toBeDefined()"),
        ("expect(x).toBe(3)", "expect(x).toBe(true)"),
        ("expect(x).toBe(3)", "expect(x).not.toBe(3)"),
        ("expect(x).toBeNull()", "expect(x).not.toBeNull()"),
        ("expect(x).toThrow('no')", "expect(x).toThrow()"),
        ("assert.equal(x, 3)", "assert.ok(x)"),
        ("assert(x === 3)", "assert(x !== 3)"),
        ("assert(x > 3)", "assert(x != null)"),
        ("assert(!x)", "assert(x)"),
        ("expect(x).to.equal(3)", "expect(x).to.exist"),
    ],
)
def test_what_lets_more_pass_is_weaker_of_the_same_subject(stronger, weaker):
    [one], [other] = _assertions(stronger), _assertions(weaker)
    assert one.subject == other.subject == "x"
    assert one.strength > other.strength


@pytest.mark.parametrize(
    "helper",
    [
        "function same(a) { expect(a).toBe(3); expect(a).toBeDefined(); }",
        "const same = (a) => { expect(a).toBe(3); expect(a).toBeDefined(); };",
        "function same(a) { inner(a); }\nfunction inner(a) { expect(a).toBe(3); expect(a).toBeDefined(); }",
    ],
)
def test_what_a_helper_of_the_file_demands_the_test_demands(helper):
    found = _assertions("same(x); this.same(x); y.z.same(x)", before=helper)
    assert [each.text for each in found] == ["expect(a).toBe(3)", "expect(a).toBeDefined()"] * 2


def test_helpers_that_call_each_other_come_to_an_end():
    assert _assertions("a()", before="function a() { b(); }\nfunction b() { a(); expect(x).toBe(1); }") != []
