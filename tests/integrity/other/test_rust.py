import pytest

from ralph_tracker.integrity.source_tests import tests_of as read


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("#[test]\nfn a() {}", [("a", False)], id="one"),
        pytest.param(
            "mod tests { mod inner { #[test] fn a() {} } #[test] fn b() {} }",
            [("tests::inner::a", False), ("tests::b", False)],
            id="modules",
        ),
        pytest.param(
            "#[tokio::test]\nasync fn a() {}\n#[rstest]\n#[case(1)]\nfn b(#[case] x: u8) {}",
            [("a", False), ("b", False)],
            id="other attributes",
        ),
        pytest.param('#[test]\n#[ignore = "slow"]\nfn a() {}', [("a", True)], id="ignored"),
        pytest.param("#[test]\n#[cfg_attr(windows, ignore)]\nfn a() {}", [("a", False)], id="ignored on a condition"),
        pytest.param("#[cfg(test)]\nmod tests;\nfn a() {}\n#[derive(Debug)]\nfn b() {}", [], id="none"),
    ],
)
def test_tests_are_named_by_their_modules(text, names):
    assert [(test.name, test.skipped) for test in read("src/a.rs", text)] == names


def test_a_test_begins_with_its_attributes():
    [test] = read("src/a.rs", "\n#[test]\n#[should_panic]\nfn a() {\n}\n")
    assert (test.line, test.end) == (2, 5)
    assert [each.text for each in test.assertions] == ["#[should_panic]"]


def _assertions(body, *, before=""):
    [test] = read("src/a.rs", f"{before}\n#[test]\nfn a() {{ {body} }}")
    return list(test.assertions)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(body, why, id=body)
        for why, bodies in {
            "it is a constant": (
                "assert!(true);",
                'assert!(true, "no {}", x);',
                "assert_eq!(1, 1);",
                "assert!(x || true);",
                "assert_ne!(1u8, 2u8);",
                "assert!(1 < 2);",
            ),
            "it compares a thing with itself": (
                "assert_eq!(x, x);",
                "assert!(x == x);",
                "assert_eq!(v.len(), v.len());",
            ),
            "a length is never negative": ("assert!(v.len() >= 0);",),
            "it holds either way": ("assert!(x || !x);",),
            "it is under a condition that never holds": ('if false { panic!("no") }',),
            None: (
                "assert!(x);",
                "assert_eq!(add(1, 2), 3);",
                "assert_eq!(f(x), f(x));",
                "assert_ne!(x, x);",
                "assert!(matches!(a, Some(_)));",
                'if x != 3 { panic!("no") }',
                'panic!("no");',
                "assert_snapshot!(x);",
                "assert!();",
                "assert!(x;;);",
                "assert_eq!(0x1, 0x1u8 as i32);",
            ),
        }.items()
        for body in bodies
    ],
)
def test_what_nothing_can_fail_says_why(body, why):
    assert [each.vacuous for each in _assertions(body)] == [why]


def test_what_unwraps_demands_nothing():
    assert _assertions('let a = b()?; c.unwrap(); d.expect("e"); println!("x");') == []


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("assert_eq!(x, 3);", "assert_ne!(x, 4);"),
        ("assert!(x == 3);", "assert!(x > 3);"),
        ("assert!(matches!(x, Some(_)));", "assert!(x);"),
        ("if x != 3 { panic!() }", "if x == 3 { panic!() }"),
    ],
)
def test_what_lets_more_pass_is_weaker_of_the_same_subject(stronger, weaker):
    [one], [other] = _assertions(stronger), _assertions(weaker)
    assert one.subject == other.subject == "x"
    assert one.strength > other.strength


def test_what_a_helper_of_the_file_demands_the_test_demands():
    found = _assertions("same(x); check_all(y);", before="fn same(a: i32) { assert_eq!(a, 3); }")
    assert [each.text for each in found] == ["assert_eq!(a, 3)", "check_all(y)"]
