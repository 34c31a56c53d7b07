"""What a project with a package.json is measured with: what is installed for it and how its own scripts call that."""

import json
import shutil
import subprocess

import pytest

from ralph_tracker.measure.ecosystems.node import detect

NODE = "echo v22.1.0"


def package(*declared, **scripts):
    return {"package.json": json.dumps({"devDependencies": dict.fromkeys(declared, "1"), "scripts": scripts})}


def installed(*names, **versions):
    """Give programs and packages as a package manager lays them, below node_modules."""
    programs = {f"node_modules/.bin/{name}": "" for name in names}
    packages = {
        f"node_modules/{name}/package.json": json.dumps({"version": version}) for name, version in versions.items()
    }
    return programs | packages


@pytest.fixture
def found(tree, on_path):
    """Detect in a project of the files given."""

    def look(*files):
        root = tree({name: text for each in files for name, text in each.items()})
        return detect(root, on_path(node=NODE))

    return look


@pytest.mark.parametrize(
    ("tool", "before", "after", "format_"),
    [
        ("jest", [], ["--json", "--outputFile={reports}/jest.json"], "jest-json"),
        (
            "vitest",
            ["run"],
            ["--exclude=.aiwg/**", "--reporter=json", "--reporter=default", "--outputFile={reports}/vitest.json"],
            "jest-json",
        ),
        (
            "mocha",
            [],
            ["--ignore=.aiwg/**", "--reporter", "json", "--reporter-option", "output={reports}/mocha.json"],
            "mocha-json",
        ),
    ],
)
def test_a_runner_is_run_as_its_own_script_runs_it(found, tool, before, after, format_):
    tests = found(package(tool, test=f"TZ=UTC {tool} --bail --watch --silent spec"), installed(tool)).checks["tests"]
    run = tests["run"]
    assert run[: 3 + len(before)] == [f"node_modules/.bin/{tool}", *before, "--silent", "spec"]
    assert run[-len(after) :] == after
    assert (tests["format"], tests["env"]) == (format_, {"TZ": "UTC"})
    assert any(".aiwg" in word for word in run)


@pytest.mark.parametrize("words", ["--bail", "--bail=2", "--bail 2", "-b"])
def test_no_run_ends_at_its_first_failing_test(found, words):
    run = found(package("jest", test=f"jest {words} spec"), installed("jest")).checks["tests"]["run"]
    assert run[1:3] == ["spec", "--ci"]


@pytest.mark.parametrize(
    ("files", "runner"),
    [
        (package("mocha", "jest", "vitest", test="mocha"), "mocha"),
        (package("mocha", "jest", **{"test:unit": "jest"}), "jest"),
        (package("mocha", "jest"), "jest"),
        (package(test="jest"), "jest"),
    ],
    ids=["the test script", "another test script", "declared", "of a workspace"],
)
def test_one_runner_is_chosen(found, files, runner):
    seen = found(files, installed("mocha", "jest", "vitest"))
    assert [name for name in seen.tools if name != "tsc"] == [runner]
    others = {note.partition(" is here too")[0] for note in seen.notes if "is here too" in note}
    declared = set(json.loads(files["package.json"])["devDependencies"])
    assert others == declared - {runner}


@pytest.mark.parametrize(
    ("files", "step"),
    [
        ({"package-lock.json": "{}"}, "npm ci"),
        ({"pnpm-lock.yaml": ""}, "pnpm install"),
        ({"yarn.lock": ""}, "yarn install"),
        ({"bun.lock": ""}, "bun install"),
        ({}, "npm install"),
    ],
    ids=lambda value: next(iter(value), "no lock") if isinstance(value, dict) else value,
)
def test_what_is_declared_and_not_installed_is_named_with_the_managers_own_command(found, files, step):
    seen = found(package("jest", "eslint", "typescript"), {"tsconfig.json": "{}", **files})
    assert seen.checks == {}
    assert seen.notes == tuple(f"{name} not found: {step}" for name in ("jest", "eslint", "typescript"))


def test_tools_of_a_workspace_are_those_of_its_root(tree, on_path):
    root = tree({**installed("jest"), "pnpm-lock.yaml": "", **{f"packages/a/{k}": v for k, v in package().items()}})
    (root / "packages/a/package.json").write_text('{"scripts": {"test": "jest", "lint": "eslint"}}')
    seen = detect(root / "packages/a", on_path(node=NODE))
    assert seen.tools == {"jest": ("../../node_modules/.bin/jest",)}
    assert "eslint not found: pnpm add -D eslint" in seen.notes


def test_packages_that_are_unpacked_nowhere_are_run_by_their_manager(found):
    seen = found(package("jest"), {".pnp.cjs": "", "yarn.lock": ""})
    assert seen.checks["tests"]["run"][:3] == ["yarn", "run", "jest"]


def test_so_are_those_of_the_members_of_a_workspace(found):
    member = {f"packages/a/{name}": text for name, text in package("jest", test="jest").items()}
    whole = {
        **package(),
        "package.json": '{"workspaces": ["packages/*"]}',
        ".pnp.cjs": "",
        "yarn.lock": "",
        ".git/x": "",
    }
    (check,) = (check for name, check in found(whole, member).checks.items() if name == "tests")
    assert (check["run"][:3], check["cwd"]) == (["yarn", "run", "jest"], "packages/a")


def test_a_runner_that_node_is_called_with_is_called_so(found):
    how = "node --experimental-vm-modules node_modules/jest/bin/jest.js"
    assert found(package("jest", test=how), installed("jest")).checks["tests"]["run"][:3] == how.split()


def test_what_the_script_does_first_is_told(found):
    seen = found(package("mocha", "c8", pretest="make", test="depcheck && mocha dist"), installed("mocha", "c8"))
    assert seen.notes == (
        "the test script also runs `make`, `depcheck` first; put that in front of the check if the tests depend on it",
    )


@pytest.mark.parametrize(
    ("scripts", "first"),
    [
        ({"test": "tsc -p 'a b' && mocha dist"}, "node_modules/.bin/tsc -p 'a b'"),
        ({"test": "rollup -c && mocha dist"}, "rollup -c"),
        ({"test": "npm run build && mocha dist", "build": "node make.js"}, "npm run build"),
        ({"test": "npm run prepare && mocha dist", "prepare": "husky && tshy"}, "npm run prepare"),
        ({"pretest": "npm run clean && tsc", "test": "mocha dist", "clean": "rimraf dist"}, "npm run pretest"),
        ({"test": "npm run build && npm run unit", "build": "vite build", "unit": "mocha dist"}, "npm run build"),
        ({"test": "tsc --noEmit && mocha dist"}, None),
        ({"test": "tsc -p checked && mocha dist"}, None),
        ({"test": "npm run prepare && mocha dist", "prepare": "husky"}, None),
        ({"test": "npm run build:docs && mocha dist", "build:docs": "typedoc"}, None),
        ({"test": "npm run build && mocha dist", "build": "prettier --write . && tsc"}, None),
        ({"test": "mocha dist && tsc"}, None),
    ],
)
def test_what_the_tests_load_is_built_first(found, scripts, first):
    files = {"checked/tsconfig.json": '{"compilerOptions": {"noEmit": true}}'}
    run = found(package(**scripts), installed("mocha", "tsc"), files).checks["tests"]["run"]
    built, _, tests = run.rpartition(" && ") if isinstance(run, str) else (None, "", run[0])
    assert (built, tests.startswith("node_modules/.bin/mocha")) == (first, True)


def test_the_name_of_a_runner_among_the_words_of_a_program_is_the_installed_one(found):
    run = found(package("mocha", test="node bin/ssl.js mocha test"), installed("mocha")).checks["tests"]["run"]
    assert run[:4] == ["node", "bin/ssl.js", "node_modules/.bin/mocha", "test"]


@pytest.mark.parametrize(
    ("files", "check"),
    [({}, "test-command"), ({".mocharc.yml": ""}, "tests")],
    ids=["by the script", "by its settings"],
)
def test_a_runner_that_another_program_calls_is_run_by_its_own_settings(found, files, check):
    assert list(found(package("mocha", test="gulp test"), installed("mocha"), files).checks) == [check]


@pytest.mark.parametrize(("file", "check"), [("src/deep/a.test.ts", "tests"), ("src/a.ts", "test-command")])
def test_vitest_needs_no_settings_where_its_tests_have_the_usual_names(found, file, check):
    files = (package("vitest", test="ts-scripts test"), installed("vitest"), {file: ""})
    assert list(found(*files).checks) == [check]


def test_a_script_that_bun_runs_is_no_test_of_bun(found):
    seen = found(package(test="bun run --filter frontend test"), {"bun.lock": ""})
    assert list(seen.checks) == ["test-command"]
    assert found(package(test="bun test"), {"bun.lock": ""}).notes == (
        "bun not found: install Bun, and have bun on PATH",
    )


@pytest.mark.parametrize(
    ("providers", "words"),
    [
        ({"@vitest/coverage-v8": "3.0.0"}, ["--coverage.reportOnFailure"]),
        ({"@vitest/coverage-istanbul": "3.0.0"}, ["--coverage.reportOnFailure", "--coverage.provider=istanbul"]),
    ],
    ids=["v8", "istanbul"],
)
def test_vitest_measures_coverage_with_the_provider_that_is_there(found, providers, words):
    seen = found(package("vitest"), installed("vitest", **providers))
    assert seen.checks["tests"]["run"][-len(words) :] == words
    assert seen.checks["coverage"]["needs"] == ["tests"]
    assert [note for note in seen.notes if "coverage" in note] == []


def test_vitest_without_a_provider_measures_no_coverage(found):
    seen = found(package("vitest"), installed("vitest"))
    assert list(seen.checks) == ["tests"]
    assert "coverage not found: npm install -D @vitest/coverage-v8" in seen.notes


def test_an_old_mocha_writes_what_it_can(found):
    tests = found(package("mocha"), installed("mocha", mocha="8.4.0")).checks["tests"]
    assert (tests["reports"], tests["format"]) == (["{reports}/mocha.xml"], "junit")
    assert "xunit" in tests["run"]


@pytest.mark.parametrize(
    ("files", "start"),
    [
        (package("mocha", "nyc", test="nyc --reporter=text --include=src mocha"), ["nyc", "--include=src"]),
        (package("mocha", "c8", test="mocha"), ["c8"]),
    ],
    ids=["as the script has it", "declared"],
)
def test_mocha_is_measured_by_what_measures_any_program(found, files, start):
    run = found(files, installed("mocha", "nyc", "c8")).checks["tests"]["run"]
    assert run[: len(start)] == [f"node_modules/.bin/{start[0]}", *start[1:]]
    assert run.index("node_modules/.bin/mocha") > len(start)
    assert sum(word.startswith("--reporter=") for word in run) == 1


@pytest.mark.parametrize(
    ("files", "note"),
    [
        (package("mocha"), "coverage not found: npm install -D c8"),
        (package("mocha", "nyc"), "nyc not found: npm install"),
    ],
    ids=["none", "not installed"],
)
def test_mocha_alone_measures_no_coverage(found, files, note):
    seen = found(files, installed("mocha"))
    assert (list(seen.checks), seen.notes) == (["tests"], (note,))


@pytest.mark.parametrize(
    ("runner", "setting"),
    [("jest", "<rootDir>/.aiwg/ in modulePathIgnorePatterns"), ("vitest", ".aiwg/** in test.exclude")],
)
def test_a_runner_that_finds_our_copies_by_hand_is_named_until_its_settings_ignore_them(found, runner, setting):
    note = f"{runner} run by hand also finds the copies of tests in .aiwg; name {setting}"
    assert note in found(package(runner), installed(runner)).notes
    ignored = {f"{runner}.config.js": f"export default {{ignored: '{setting.split()[0]}'}}\n"}
    assert note not in found(package(runner), installed(runner), ignored).notes


@pytest.mark.parametrize(
    ("says", "patterns"),
    [
        ('echo \'{"configs": [{"modulePathIgnorePatterns": ["/old/"]}]}\'', ["<rootDir>/.aiwg/", "/old/"]),
        ("exit 1", ["<rootDir>/.aiwg/"]),
        ("echo none", ["<rootDir>/.aiwg/"]),
    ],
    ids=["told", "failing", "no JSON"],
)
def test_patterns_that_jest_ignores_already_are_kept(found, says, patterns):
    own = {"jest.config.js": 'module.exports = {modulePathIgnorePatterns: ["/old/"]}\n'}
    jest = {"node_modules/.bin/jest": f"#!/bin/sh\n{says}\n"}
    run = found(package("jest"), own, jest).checks["tests"]["run"]
    assert [word.partition("=")[2] for word in run if word.startswith("--modulePathIgnore")] == patterns


@pytest.mark.parametrize(
    ("script", "file", "words"),
    [
        ("eslint --fix --cache --max-warnings 0 src test", "eslint.config.mjs", ["src", "test"]),
        ("eslint . --ext .ts", ".eslintrc.json", [".", "--ext", ".ts"]),
        ("echo", ".eslintrc", ["."]),
        ("echo", "eslint.config.ts", ["."]),
    ],
)
def test_eslint_looks_at_what_its_own_script_looks_at(found, script, file, words):
    check = found(package("eslint", lint=script), installed("eslint"), {file: ""}).checks["lint"]
    ours = ["--ignore-pattern", ".aiwg/**", "-f", "json", "-o", "{reports}/eslint.json"]
    assert check["run"] == ["node_modules/.bin/eslint", *words, *ours]
    assert check["reports"] == ["{reports}/eslint.json"]


def test_eslint_keeps_the_environment_of_its_script(found):
    files = package("eslint", lint="ESLINT_USE_FLAT_CONFIG=false eslint .")
    assert found(files, installed("eslint"), {".eslintrc": ""}).checks["lint"]["env"] == {
        "ESLINT_USE_FLAT_CONFIG": "false"
    }


def test_eslint_without_a_configuration_is_not_run(found):
    seen = found(package("eslint"), installed("eslint"))
    assert seen.checks == {}
    assert "eslint has no configuration: npm init @eslint/config" in seen.notes


@pytest.mark.parametrize(
    ("text", "projects"),
    [
        ("{}", [None]),
        ('{"references": [{"path": "./core"}]}', [None]),
        ('{"files": [], "references": []}', [None]),
        (
            '{"files": [], "references": [{"path": "./app.json"}, {"path": "./node.json"}]}',
            ["./app.json", "./node.json"],
        ),
        (
            '{\n  // why\n  "files": [],\n  "references": [{"path": "./app.json"},\n  /* { "path": "./x" }, */],\n}',
            ["./app.json"],
        ),
        ('{"compilerOptions": {"paths": {"@/*": ["./src/*"]}},}', [None]),
    ],
    ids=["a program", "with references", "empty", "a solution", "with comments", "not quite JSON"],
)
def test_each_program_of_a_solution_is_checked(found, text, projects):
    seen = found(package("typescript"), installed("tsc"), {"tsconfig.json": text})
    checks = [check for name, check in seen.checks.items() if name.startswith("types")]
    runs = [check["run"] for check in checks]
    assert [run[run.index("-p") + 1] if "-p" in run else None for run in runs] == projects
    assert [check.get("kind") for check in checks] == [None, *["types"] * (len(projects) - 1)]
    assert len({run[-1] for run in runs}) == len(runs)


@pytest.mark.parametrize(
    ("files", "programs", "why"),
    [
        ({"package.json": "{"}, {"node": NODE}, "is empty or cannot be read; fix it"),
        ({"package.json": "[]"}, {"node": NODE}, "is empty or cannot be read; fix it"),
        (package("jest"), {}, "install it, and have node on PATH"),
        (package("jest"), {"node": "exit 1"}, "install it, and have node on PATH"),
        (package(), {"node": NODE}, "no test runner found: npm install -D vitest, or jest, or mocha"),
        ({"package.json": '{"scripts": [], "devDependencies": 1}'}, {"node": NODE}, "no test runner found: "),
    ],
    ids=["broken", "no object", "no node", "broken node", "nothing declared", "of another shape"],
)
def test_what_cannot_be_measured_is_told(tree, on_path, files, programs, why):
    seen = detect(tree(files), on_path(**programs))
    assert seen.checks == {}
    assert why in seen.notes[0]


def test_a_folder_without_a_package_is_none(tree, on_path):
    assert detect(tree({"index.js": ""}), on_path(node=NODE)) is None


@pytest.mark.parametrize(
    ("script", "programs", "run", "format_"),
    [
        ("ava --watch test", ["ava"], ["node_modules/.bin/ava", "test", "--tap"], "tap"),
        ("tape 'test/*.js'", ["tape"], ["node_modules/.bin/tape", "test/*.js"], "tap"),
        ("tap --reporter=spec", ["tap"], ["node_modules/.bin/tap", "--reporter=tap"], "tap"),
        ("bun test src", ["bun"], ["node_modules/.bin/bun", "test", "src", "--reporter=junit"], "junit"),
        ("c8 node --test", [], ["node", "--test-reporter=junit"], "junit"),
    ],
)
def test_runners_that_print_tap_or_junit_are_told_to(found, script, programs, run, format_):
    tests = found(package(test=script), installed(*programs)).checks["tests"]
    assert (tests["run"][: len(run)], tests["format"]) == (run, format_)


@pytest.mark.parametrize(
    ("version", "settings", "ignored"),
    [
        ("12.7.0", {}, []),
        ("16.3.10", {}, ["--test-ignore=^[.]aiwg/"]),
        ("14.0.0", {"test-ignore": "fixtures"}, ["--test-ignore=fixtures|^[.]aiwg/"]),
        ("18.0.0", {}, []),
    ],
)
def test_kept_copies_are_no_tests_of_a_tap_that_looks_everywhere(found, version, settings, ignored):
    manifest = {"scripts": {"test": "tap"}, "devDependencies": {"tap": "*"}, "tap": settings}
    files = {"package.json": json.dumps(manifest), "node_modules/tap/package.json": json.dumps({"version": version})}
    run = found(files, installed("tap")).checks["tests"]["run"]
    assert run == ["node_modules/.bin/tap", "--reporter=tap", *ignored]


@pytest.mark.skipif(shutil.which("find") is None, reason="find is not installed")
@pytest.mark.parametrize("words", ["", " .", " --test-name-pattern=x"])
def test_an_older_node_is_told_the_files_since_it_looks_into_hidden_folders_too(tree, on_path, words):
    ran = ["./a.test.js", "./b_test.mjs", "./lib/test/deep/c.cjs", "./test-d.js", "./test.js"]
    others = [".aiwg/e.test.js", "lib/.old/f.test.js", "node_modules/g.test.js", "h.js", "latest.js", "test/i.ts"]
    root = tree({**package(test=f"node --test{words}"), **dict.fromkeys([*ran, *others], "")})
    run = detect(root, on_path(node="echo v20.1.0")).checks["tests"]["run"]
    line = f"echo {run[run.index('$(') :]}"
    listed = subprocess.run(["/bin/sh", "-c", line], cwd=root, capture_output=True, check=True)
    assert sorted(listed.stdout.decode().split()) == ran
    assert isinstance(detect(root, on_path(node="echo v22.1.0")).checks["tests"]["run"], list)


def test_an_older_node_runs_the_files_that_the_script_names(tree, on_path):
    root = tree({**package(test="node --test spec"), "spec/a.js": ""})
    assert detect(root, on_path(node="echo v20.1.0")).checks["tests"]["run"][-2:] == ["--test", "spec"]


def test_an_older_node_leaves_patterns_to_the_shell(tree, on_path):
    root = tree(package(test="node --test test/*.js"))
    newer = detect(root, on_path(node="echo v22.1.0")).checks
    assert newer["tests"]["run"][-2:] == ["--test", "test/*.js"]
    older = detect(root, on_path(node="echo v20.1.0")).checks
    assert older["tests"]["run"].startswith("node --test-reporter=junit")
    assert older["tests"]["run"].endswith(" --test test/*.js")
    assert (list(newer), list(older)) == (["tests", "coverage"], ["tests"])  # the older one cannot write LCOV


@pytest.mark.parametrize(
    ("files", "command", "said"),
    [
        (
            [package("uvu", test="uvu tests"), installed("uvu")],
            ["npm", "test"],
            "uvu is here and has no report that can be read",
        ),
        ([package(test="node x.js"), {"pnpm-lock.yaml": ""}], ["pnpm", "test"], "counts by its exit status only"),
        ([package(test="jasmine"), {"bun.lock": ""}], ["bun", "run", "test"], "jasmine is here"),
    ],
)
def test_a_script_without_a_report_counts_by_its_exit_status(found, files, command, said):
    seen = found(*files)
    assert seen.checks["test-command"] == {"run": command, "kind": "build", "timeout": "30m"}
    assert said in "\n".join(seen.notes)
    assert command[0] in seen.templates[0]


def test_a_script_whose_packages_are_not_installed_is_left_out_until_they_are(found):
    seen = found(package("grunt", test="grunt test"), {"package-lock.json": ""})
    assert seen.checks == {}
    assert seen.notes == ("the test script is left out until its packages are installed: npm ci",)


def test_the_script_that_npm_init_writes_is_none(found):
    assert found(package(test='echo "Error: no test specified" && exit 1')).checks == {}


@pytest.mark.parametrize(
    ("script", "version", "run"),
    [
        ("biome lint --write src", "2.6.8", ["lint", "src"]),
        ("biome check", "2.6.8", ["check", "."]),
        ("biome ci .", "2.4.0", ["ci", "."]),
        ("biome format .", "2.6.8", ["lint", "."]),
        ("biome lint .", "1.9.4", None),
    ],
)
def test_biome_reports_all_that_its_script_looks_for(found, script, version, run):
    seen = found(package("@biomejs/biome", lint=script), installed("biome", **{"@biomejs/biome": version}))
    check = seen.checks.get("lint")
    told = ["--max-diagnostics=none", "--reporter=checkstyle"]
    assert (check and check["run"]) == (run and ["node_modules/.bin/biome", *run, *told])
    assert any("biome has no report that can be read" in note for note in seen.notes) == (run is None)


def test_a_linter_that_cannot_be_read_is_named(found):
    assert "standard is here and cannot be read" in "\n".join(found(package("standard", lint="standard")).notes)


@pytest.mark.parametrize(
    "root",
    [
        {"package.json": '{"workspaces": ["packages/*", "!packages/left"], "scripts": {"test": "npm test -ws"}}'},
        {"package.json": '{"workspaces": {"packages": ["packages/one", "./packages/two/"]}}'},
        {"package.json": '{"workspaces": ["packages/one", "packages/two"], "devDependencies": {"jest": "30"}}'},
        {
            "package.json": '{"private": true}',
            "pnpm-workspace.yaml": "packages: ['packages/*', '!packages/left', '../out']\n",
        },
    ],
    ids=["npm", "yarn", "declared at the root", "pnpm"],
)
def test_each_package_of_a_workspace_is_measured_in_its_folder(found, root):
    packages = {
        f"packages/{name}/package.json": package(test="jest")["package.json"] for name in ("one", "two", "left")
    }
    checks = found(root, packages, installed("jest")).checks
    assert {name: (check["cwd"], check.get("kind"), check.get("needs")) for name, check in checks.items()} == {
        "tests": ("packages/one", None, None),
        "coverage": ("packages/one", None, ["tests"]),
        "tests-packages-two": ("packages/two", "tests", None),
        "coverage-packages-two": ("packages/two", "coverage", ["tests-packages-two"]),
    }
    reports = [report for check in checks.values() for report in check["reports"]]
    assert len(set(reports)) == 4
    assert all(report.startswith("{reports}/packages-") for report in reports)
    assert checks["tests"]["run"][0] == "../../node_modules/.bin/jest"


def test_a_root_with_a_runner_of_its_own_measures_its_packages_by_that(found):
    packages = {"packages/one/package.json": package(test="jest")["package.json"]}
    root = {"package.json": '{"workspaces": ["packages/*"], "scripts": {"test": "jest"}}'}
    assert "cwd" not in found(root, packages, installed("jest")).checks["tests"]


@pytest.mark.parametrize(
    ("scripts", "run"),
    [
        ({"test": "npm run format && node --test", "format": "node fmt.mjs"}, ["node", "--test"]),
        ({"test": "prettier --write . && check-it"}, ["npm", "exec", "-c", "check-it"]),
        (
            {"test": "npm run lint:fix && check-it && also", "lint:fix": "eslint --fix ."},
            ["npm", "exec", "-c", "check-it && also"],
        ),
        ({"pretest": "npm run fmt", "test": "check-it", "fmt": "dprint fmt"}, ["npm", "exec", "-c", "check-it"]),
        ({"test": "check-it --watch=false"}, ["npm", "test"]),
        ({"test": "prettier --check . && check-it"}, ["npm", "test"]),
        ({"test": "npm run format:check && check-it", "format:check": "prettier -c ."}, ["npm", "test"]),
        ({"test": "prettier --write . ; check-it"}, None),
        ({"test": "eslint --fix ."}, None),
    ],
)
def test_nothing_that_formats_is_run(found, scripts, run):
    here = found(package(**scripts))
    check = here.checks.get("tests") or here.checks.get("test-command")
    if run is None:
        assert check is None
        assert any("rewrites the source" in note for note in here.notes)
    else:
        words = [word for word in check["run"] if word in run]
        assert words == run
    assert not any("format" in note for note in here.notes if note.startswith("the test script also runs"))


@pytest.mark.parametrize(
    ("script", "words"), [("xo --fix && ava", []), ("xo --space=2 --reporter=stylish src", ["--space=2", "src"])]
)
def test_xo_lints_what_the_script_has_it_lint(found, script, words):
    check = found(package("xo", lint=script), installed("xo")).checks["lint"]
    assert check["run"] == ["node_modules/.bin/xo", *words, "--ignore=.aiwg/**", "--reporter=json"]
    assert check["format"] == "eslint-json"
