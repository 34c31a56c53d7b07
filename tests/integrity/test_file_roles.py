"""Which files decide about tests, and what of shared manifests is the runner's."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.file_roles import (
    declare_the_same,
    files_named_in_commands,
    is_test_path,
    kind_of_file,
    settings_for_rerun,
    settings_part,
    shares_names,
    why_inseparable,
)
from tests.tables import table

KINDS = {
    "test": """
        test_box.py tests/test_helper.py tests/test_box.py pkg/box_test.py app/tests.py src/box.test.ts
        src/box.spec.jsx src/__tests__/box.js cypress/e2e/box.cy.ts box/box_test.go src/box_test.rs tests/outside.rs
        src/test/java/a/BoxTest.java src/test/java/a/BoxIT.java spec/box_spec.rb test/box_test.dart
        features/box.feature tests/data/test_loader.py
    """,
    "support": """
        test/test_helper.rb
        conftest.py tests/conftest.py tests/helpers.py tests/__init__.py tests/common/mod.rs spec/spec_helper.rb
        src/__mocks__/fs.js src/setupTests.ts jest.setup.js vitest-setup.ts test/helper.js box/testdata/bad/bad_test.go
        tests/fixtures/project/test_inner.py src/test/java/a/Boxes.java features/steps/box.py tests/ui/fails.rs
    """,
    "data": """
        tests/data/box.json src/__snapshots__/box.test.js.snap box/testdata/in.txt src/test/resources/box.yml
        tests/golden/report.md fixtures/box.json src/snapshots/box__opens.snap tests/expected.txt
    """,
    "settings": """
        pytest.ini tox.ini setup.cfg pyproject.toml jest.config.js packages/a/vitest.config.ts package.json
        vite.config.ts .mocharc.json Cargo.toml .config/nextest.toml .cargo/config.toml pom.xml build.gradle.kts
        src/test/resources/junit-platform.properties .nycrc playwright.config.ts testng.xml
    """,
    None: """
        box.py src/lib.rs box.go src/main/java/a/Box.java contest.py latest.py src/testing/box.py go.mod go.sum
        tsconfig.json Makefile README.md tests/README.md specs/plan.md spec/openapi.yaml node_modules/a/a.test.js
        package-lock.json protest/box.py attest.go src/spectest.ts Test.java.txt
    """,
}


@table(("path", "kind"), [pytest.param(path, kind, id=path) for kind, paths in KINDS.items() for path in paths.split()])
def test_a_file_is_known_by_its_name(path, kind):
    assert kind_of_file(path) == kind
    assert is_test_path(path) is (kind in {"test", "support", "data"})


@table(
    ("path", "command", "decided"),
    [
        pytest.param("tools/check.py", ["python", "tools/check.py"], True, id="a program"),
        pytest.param("tools/check.sh", "cd . && ./tools/check.sh -v", True, id="in a line of the shell"),
        pytest.param("tools/check.sh", ["sh", "-c", "./tools/check.sh || exit 1"], True, id="a shell's own line"),
        pytest.param("tools/check.py", ["python", "-m", "tools.check"], True, id="a module"),
        pytest.param("Makefile", "make test", True, id="make"),
        pytest.param("Makefile", "pytest", False, id="no make"),
        pytest.param("box.py", "pytest tests", False, id="source"),
        pytest.param("tests/test_box.py", "", True, id="a test"),
        pytest.param("box.py", "echo 'box.py", False, id="a quote that is not closed"),
    ],
)
def test_what_a_check_calls_decides_too(path, command, decided):
    assert (kind_of_file(path) is not None or path in files_named_in_commands([command])) is decided


@table(
    ("path", "text", "reason"),
    [
        pytest.param(
            "src/a.rs", "mod tests {\n#[test]\nfn a() {}\n}", "src/a.rs holds 1 test beside source", id="Rust"
        ),
        pytest.param("src/a.ts", "it('a', f); it('b', f)", "src/a.ts holds 2 tests beside source", id="TypeScript"),
        pytest.param("tests/a.rs", "#[test]\nfn a() {}", None, id="a test file"),
        pytest.param("src/a.rs", "fn a() {}", None, id="no tests"),
        pytest.param("src/a.py", "def test_lid(): pass", None, id="a function of Python"),
        pytest.param("src/a.txt", "#[test]\nfn a() {}", None, id="no language"),
    ],
)
def test_tests_beside_source_cannot_be_parted(path, text, reason):
    found = why_inseparable(path, text)
    assert found is None if reason is None else found.startswith(reason)


PYPROJECT = (
    '[project]\ndependencies = ["{needs}"]\n[tool.pytest.ini_options]\naddopts = "{options}"\n[tool.ruff]\na = 1\n'
)
CARGO = '[dependencies]\n{needs} = "1"\n[[test]]\nname = "{options}"\n'
CFG = "[options]\ninstall_requires = {needs}\n[tool:pytest]\naddopts = {options}\n"


def _package(needs, options):
    return json.dumps(
        {"dependencies": {needs: "1"}, "jest": {"a": options}, "scripts": {"build": needs, "test": options}}
    )


@table(
    ("path", "written"),
    [
        pytest.param("pyproject.toml", lambda a, b: PYPROJECT.format(needs=a, options=b), id="pyproject.toml"),
        pytest.param("crates/a/Cargo.toml", lambda a, b: CARGO.format(needs=a, options=b), id="Cargo.toml"),
        pytest.param("setup.cfg", lambda a, b: CFG.format(needs=a, options=b), id="setup.cfg"),
        pytest.param("package.json", _package, id="package.json"),
    ],
)
def test_of_a_shared_manifest_only_the_part_of_the_runner_is_put_back(path, written):
    earlier, now = written("old", "-q"), written("new", "-k none")
    assert settings_part(path, earlier) == settings_part(path, written("new", "-q")) != settings_part(path, now)
    back = settings_for_rerun(path, earlier, now)
    assert settings_part(path, back) == settings_part(path, earlier)
    assert "new" in back
    assert "old" not in back
    assert settings_for_rerun(path, earlier, written("new", "-q")) == written("new", "-q")


@table(
    ("path", "back"),
    [
        pytest.param("pytest.ini", "old", id="the runner's own"),
        pytest.param("pom.xml", "new", id="a build"),
        pytest.param("vite.config.ts", "new", id="a bundler"),
        pytest.param("package.json", "new", id="no JSON"),
    ],
)
def test_other_settings_are_put_back_whole_or_not_at_all(path, back):
    assert settings_for_rerun(path, "old", "new") == back


@given(st.text(alphabet="[]tool.pyes{}\"':, \n", max_size=60), st.text(alphabet="[]tool.pyes{}\"':, \n", max_size=60))
def test_any_text_can_be_a_settings_file(earlier, now):
    for path in ("pyproject.toml", "package.json", "setup.cfg", "Cargo.toml", "pytest.ini", "pom.xml"):
        assert settings_part(path, settings_for_rerun(path, earlier, now)) in {
            settings_part(path, earlier),
            settings_part(path, now),
        }


@table(
    ("other", "same"),
    [
        pytest.param("func free(t *testing.T) {}\n", True, id="a function"),
        pytest.param("type cart struct{}\n", True, id="a type"),
        pytest.param("func (c cart) free() {}\n", False, id="a method"),
        pytest.param("func paid() {\n\tvar free int\n}\n", False, id="a name within a function"),
        pytest.param("// func free()\n", False, id="a comment"),
    ],
)
def test_files_of_a_package_of_go_share_their_names(other, same):
    assert shares_names("cart/free_test.go")
    assert not shares_names("cart/free.go")
    assert not shares_names("tests/test_free.py")
    assert declare_the_same(["package cart\n", "func free() {}\n\ntype cart int\n"], other) is same
