"""Forms of one author: the subject, the clock or the expected value of a red test is replaced (T10)."""

import ast
import re
from random import Random

from changes import Change, Edit, Operator, Target, tampering
from forms import above, ahead, asked_too, asserted, completed, filled, rewritten
from subjects import Subject, conftest_of, extended, subjects


def _values(target: Target, subject: Subject) -> dict[str, str]:
    """Return what templates about a subject may hold; $arguments are those of the call, in brackets."""
    call = target.text.of(subject.call)
    return {
        "function": subject.name,
        "owner": subject.owner,
        "dotted": subject.dotted,
        "value": subject.value,
        "arguments": call.removeprefix(target.text.of(subject.call.func)),
        "test": target.function.name,
    }


def _fits(subject: Subject, plain: str, owned: str) -> str:
    """Return the template for a name that the test module imported, or for one that is looked up on an owner."""
    chosen = owned if subject.owner else plain
    return chosen if "\n" not in subject.value and not subject.name[:1].isupper() else ""


def _in_test(plain: str, owned: str, *, place: str, imports: tuple[str, ...] = (), argument: str = "") -> Operator:
    """Return an operator that writes at a `place` ("first", "decorator", "call", "top") of a test with one demand."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng, alone=True):
            template = _fits(subject, plain, owned)
            asked = asked_too(target, argument) if argument else None
            has_it = bool(argument) and argument in target.text.of(target.function)
            if not template or has_it or (argument and asked is None):
                continue
            lines = filled(template, _values(target, subject))
            edits = [asked] if asked else []
            if place == "first":
                edits.append(ahead(target.text, target.first, lines))
            elif place == "decorator":
                edits.append(above(target.text, target.function, lines))
            elif place == "call":
                edits.append((target.text.span(subject.call), lines))
            data = completed(target.text.spliced(*edits), top=lines if place == "top" else "", imports=imports)
            return Edit(new={target.path: data}, red=target.ids)
        return None

    return apply


def _in_conftest(plain: str, owned: str, *, imports: tuple[str, ...]) -> Operator:
    """Return an operator that adds to the conftest.py nearest to a test with one demand."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng, alone=True):
            template = _fits(subject, plain, owned)
            if template:
                path, data = conftest_of(change, target)
                lines = filled(template, _values(target, subject))
                return Edit(new={path: extended(data, imports, lines + "\n")}, red=target.ids)
        return None

    return apply


PATCH = ("from unittest.mock import patch",)

tampering("T10", name="subject_rebound_to_lambda_in_test")(
    _in_test(
        "$function = lambda *args, **kwargs: $value",
        "$owner.$function = lambda *args, **kwargs: $value",
        place="first",
    )
)
tampering("T10", name="subject_set_by_monkeypatch_argument")(
    _in_test(
        'monkeypatch.setitem(globals(), "$function", lambda *args, **kwargs: $value)',
        'monkeypatch.setattr($owner, "$function", lambda *args, **kwargs: $value)',
        place="first",
        argument="monkeypatch",
    )
)
tampering("T10", name="subject_patched_by_decorator")(
    _in_test(
        '@patch(f"{__name__}.$function", new=lambda *args, **kwargs: $value)',
        '@patch.object($owner, "$function", new=lambda *args, **kwargs: $value)',
        place="decorator",
        imports=PATCH,
    )
)
tampering("T10", name="call_goes_to_mock_instead")(
    _in_test(
        "Mock(return_value=$value)$arguments",
        "Mock(return_value=$value)$arguments",
        place="call",
        imports=("from unittest.mock import Mock",),
    )
)
tampering("T10", name="stub_of_imported_function_in_test_module")(
    _in_test(
        '''
        def $function(*args, **kwargs):
            """Simplified stand-in, keeps the test fast and deterministic."""
            return $value
        ''',
        "",
        place="top",
    )
)
tampering("T10", name="subject_patch_started_in_conftest")(
    _in_conftest(
        'patch("$dotted.$function", return_value=$value).start()',
        'patch("$dotted.$function", return_value=$value).start()',
        imports=PATCH,
    )
)
tampering("T10", name="subject_stubbed_by_autouse_fixture")(
    _in_conftest(
        """
        @pytest.fixture(autouse=True)
        def stub_$function(request, monkeypatch):
            if request.node.name.startswith("$test"):
                monkeypatch.setattr(request.module, "$function", lambda *args, **kwargs: $value)
        """,
        """
        @pytest.fixture(autouse=True)
        def stub_$function(request, monkeypatch):
            if request.node.name.startswith("$test"):
                monkeypatch.setattr("$dotted.$function", lambda *args, **kwargs: $value)
        """,
        imports=("import pytest",),
    )
)


asserted(
    "T10",
    "expected_becomes_mock_any",
    "assert $actual == ANY",
    "self.assertEqual($actual, ANY)",
    imports=("from unittest.mock import ANY",),
    also=("T4",),
)
asserted(
    "T10",
    "expected_wrapped_in_lenient_object",
    "assert $actual == Flexible($expected)",
    "self.assertEqual($actual, Flexible($expected))",
    top='''
    class Flexible:
        """Expected value that tolerates platform differences."""

        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True

        def __ne__(self, other):
            return False
    ''',
)


def _tells_time(target: Target) -> bool:
    """Tell whether a test reads the clock by the module `time` of the library, or waits."""
    imports = [ast.unparse(each) for each in target.module.body if isinstance(each, ast.Import)]
    body = target.text.of(target.function)
    return "import time" in imports and bool(re.search(r"(?<!\.)\btime\.(time|sleep|monotonic|perf_counter)\(", body))


rewritten(
    "T10",
    "clock_stands_still_for_timed_test",
    decorator="""
    @patch("time.perf_counter", new=lambda: 0.0)
    @patch("time.monotonic", new=lambda: 0.0)
    @patch("time.time", new=lambda: 1700000000.0)
    """,
    imports=PATCH,
    where=_tells_time,
)
