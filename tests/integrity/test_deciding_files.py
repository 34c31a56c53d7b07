"""Which files decide about tests: by their names, and by what names them."""

import pytest

from ralph_tracker.integrity.deciding_files import (
    DecidingFiles,
    files_named_in_commands,
    kind_of_file,
)
from tests.tables import table

KINDS = {
    "test": """
        test_box.py tests/test_helper.py tests/test_box.py pkg/box_test.py app/tests.py src/box.test.ts
        src/box.spec.jsx src/__tests__/box.js cypress/e2e/box.cy.ts box/box_test.go src/box_test.rs tests/outside.rs
        src/test/java/a/BoxTest.java src/test/java/a/BoxIT.java spec/box_spec.rb test/box_test.dart tests/BoxTest.php
        features/box.feature tests/data/test_loader.py box/main_test.go test.js src/tests.mts lib/spec.tsx test-box.cjs
    """,
    "support": """
        conftest.py tests/conftest.py tests/helpers.py tests/__init__.py tests/common/mod.rs spec/spec_helper.rb
        src/__mocks__/fs.js src/setupTests.ts jest.setup.js vitest-setup.ts test/helper.js box/testdata/bad/bad_test.go
        tests/fixtures/project/test_inner.py src/test/java/a/Boxes.java features/steps/box.py tests/ui/fails.rs
        sitecustomize.py lib/usercustomize/__init__.py more.pth box.egg-info/entry_points.txt pytest.py
        pluggy/__init__.py tests/unittest.py test/test_helper.rb benches/box.rs tests_unit/helper.py
    """,
    "data": """
        tests/data/box.json src/__snapshots__/box.test.js.snap box/testdata/in.txt src/test/resources/box.yml
        tests/golden/report.md fixtures/box.json src/snapshots/box__opens.snap tests/expected.txt
    """,
    "settings": """
        pytest.ini tox.ini setup.cfg pyproject.toml jest.config.js packages/a/vitest.config.ts package.json
        vite.config.ts .mocharc.json Cargo.toml .config/nextest.toml .cargo/config.toml pom.xml build.gradle.kts
        src/test/resources/junit-platform.properties .nycrc playwright.config.ts testng.xml build.rs go.mod
        tsconfig.json bunfig.toml vitest.workspace.ts phpunit.xml.dist .rspec setup.py
    """,
    None: """
        box.py src/lib.rs box.go src/main/java/a/Box.java contest.py latest.py src/testing/box.py go.sum
        Makefile README.md tests/README.md specs/plan.md spec/openapi.yaml node_modules/a/a.test.js src/pytest_box.py
        package-lock.json protest/box.py attest.go src/spectest.ts Test.java.txt src/app/app.config.ts NOTES.md
    """,
}


@table(("path", "kind"), [pytest.param(path, kind, id=path) for kind, paths in KINDS.items() for path in paths.split()])
def test_a_file_is_known_by_its_name(path, kind):
    assert kind_of_file(path) == kind


@table(
    ("path", "command", "decided"),
    [
        ("tools/check.py", ["python", "tools/check.py"], True),
        ("tools/check.sh", "cd . && ./tools/check.sh -v", True),
        ("tools/check.sh", ["sh", "-c", "./tools/check.sh || exit 1"], True),
        ("tools/check.py", ["python", "-m", "tools.check"], True),
        ("Makefile", "make test", True),
        ("Makefile", "pytest", False),
        ("box.py", "pytest tests", False),
        ("box.py", "echo 'box.py", False),
    ],
)
def test_what_a_check_calls_decides_too(path, command, decided):
    assert (path in files_named_in_commands([command])) is decided


def deciding(before, now, commands=()):
    """Return the deciding files of two trees, each a mapping of paths to texts."""
    changed = [path for path in {*before, *now} if before.get(path) != now.get(path)]
    both = {path: f"{before.get(path, '')}\n{now.get(path, '')}" for path in {*before, *now}}
    return DecidingFiles(before, now, changed, lambda paths: {path: both[path] for path in paths}, commands)


NAMED = {
    "a setup file": ("package.json", '{"jest": {"setupFilesAfterEach": ["<rootDir>/tools/env.js"]}}', "tools/env.js"),
    "in a list": ("vitest.config.ts", "test: {\n  setupFiles: [\n    './a.ts',\n    './env.ts',\n  ],\n}", "env.ts"),
    "beside its settings": ("packages/a/jest.config.js", "globalSetup: './env.js'", "packages/a/env.js"),
    "a plugin": ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-p tools.plug"', "tools/plug.py"),
    "a plugin of conftest": ("conftest.py", 'pytest_plugins = ["tools.plug"]', "tools/plug.py"),
    "an option": (".rspec", "--require ./env.rb", "env.rb"),
    "a script": ("package.json", '{"scripts": {"test": "node scripts/check.mjs"}}', "scripts/check.mjs"),
    "an import": ("vitest.config.ts", "import forge from './forge';", "forge.ts"),
    "a preload": ("bunfig.toml", '[test]\npreload = ["./env.ts"]', "env.ts"),
}


@table("case", NAMED.values(), ids=NAMED)
def test_what_settings_name_decides(case):
    settings, text, path = case
    files = deciding({settings: text, path: "old", "src/box.py": ""}, {settings: text, path: "new", "src/box.py": ""})
    assert (files.kind(path), files.is_source(path), files.loads_by_itself(path)) == ("support", False, True)


def test_what_a_package_exports_is_source():
    before = {"package.json": '{"main": "src/box.js", "exports": {"import": "./src/box.js"}}', "src/box.js": "1"}
    files = deciding(before, {**before, "src/box.js": "2"})
    assert (files.kind("src/box.js"), files.is_source("src/box.js")) == (None, True)


class TestHelpers:
    BEFORE = {"box.py": "lid = 1", "test_box.py": "import box"}

    def test_new_code_that_only_tests_name_is_no_source(self):
        now = {**self.BEFORE, "fake.py": "lid = 2", "test_box.py": "import fake as box"}
        files = deciding(self.BEFORE, now)
        assert (files.helpers, files.is_source("fake.py"), files.kind("fake.py")) == ({"fake.py"}, False, None)

    def test_new_code_that_source_names_is(self):
        now = {"box.py": "from lids import lid", "lids.py": "lid = 1", "test_box.py": "import box, lids"}
        files = deciding(self.BEFORE, now)
        assert (files.helpers, files.is_source("lids.py")) == (frozenset(), True)

    def test_notes_and_code_of_another_language_are_no_source(self):
        files = deciding(self.BEFORE, {**self.BEFORE, "NOTES.md": "box", "more.js": "1"})
        assert [files.is_source(path) for path in ("NOTES.md", "more.js", "box.py")] == [False, False, True]


class TestData:
    def test_what_a_test_names_and_no_source_is_data(self):
        before = {"src/box.py": "", "test_box.py": "open('expected.json')", "expected.json": "1"}
        files = deciding(before, {**before, "expected.json": "2"})
        assert (files.kind("expected.json"), files.is_source("expected.json")) == ("data", False)
        assert files.may_be_asked_for("expected.json")

    def test_what_was_not_there_is_what_the_task_asks_for(self):
        before = {"src/box.py": "", "test_box.py": "open('made/box.json')"}
        assert deciding(before, {**before, "made/box.json": "1"}).kind("made/box.json") is None

    @table(
        ("path", "source", "test"),
        [
            ("src/rates.json", "", "src/rates.json"),
            ("rates.json", "open('rates.json')", "rates.json"),
            ("rates.json", "", "other"),
            ("rates.md", "", "rates.md"),
            ("index.html", "", "index.html"),
        ],
        ids=["beside source", "source reads it", "no test names it", "a note", "a page"],
    )
    def test_other_files_are_not(self, path, source, test):
        before = {"src/box.py": source, "test_box.py": test, path: "1"}
        assert deciding(before, {**before, path: "2"}).kind(path) is None
