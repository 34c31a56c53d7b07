"""The first real error line: of what real tools printed, and of lines that are none."""

from pathlib import Path

import pytest

from ralph_tracker.formats.first_error import FirstError, first_error
from tests.tables import table

OUTPUT = Path(__file__).parents[2] / "fixtures" / "output"
JAVA = "/project/src/main/java/Box.java"


@table(
    ("tool", "expected"),
    [
        ("cargo", FirstError("error[E0425]: cannot find value `c` in this scope (src/lib.rs:3)", "src/lib.rs", 3)),
        (
            "pytest-configure",
            FirstError(
                "pytest.PytestDeprecationWarning: "
                'The configuration option "asyncio_default_fixture_loop_scope" is unset.'
            ),
        ),
        (
            "mocha",
            FirstError(
                "Error: Cannot find module '../src/gone' (/project/test/more.spec.js:2)",
                "/project/test/more.spec.js",
                2,
            ),
        ),
        ("bun", FirstError("error: Unexpected = (/project/x.test.ts:1)", "/project/x.test.ts", 1)),
        (
            "cmake",
            FirstError(
                "CMake Error at CMakeLists.txt:3 (find_package): By not providing "
                '"FindNowhere.cmake" in CMAKE_MODULE_PATH this project has',
                "CMakeLists.txt",
                3,
            ),
        ),
        (
            "php",
            FirstError(
                'Parse error:  syntax error, unexpected token "{", expecting variable in /project/a.php on line 1',
                "/project/a.php",
                1,
            ),
        ),
        (
            "phpunit",
            FirstError(
                'Fatal error:  Uncaught ParseError: syntax error, unexpected token "(" in /project/t/ATest.php:3',
                "/project/t/ATest.php",
                3,
            ),
        ),
        ("ruby", FirstError("a.rb:3: syntax error, unexpected `end', expecting ')'", "a.rb", 3)),
        ("ruby-require", FirstError("cannot load such file -- nothing_here (LoadError) (b.rb:1)", "b.rb", 1)),
        (
            "rake",
            FirstError(
                "/project/t.rb:1: syntax error, unexpected end-of-input, expecting ')' (SyntaxError)",
                "/project/t.rb",
                1,
            ),
        ),
        ("gcc", FirstError("a.c:1:21: error: ‘c’ undeclared (first use in this function)", "a.c", 1)),
        (
            "go",
            FirstError(
                "setup/a.go:3:8: no required module provides package example.com/other/x; to add it:", "setup/a.go", 3
            ),
        ),
        ("gradle", FirstError(f"{JAVA}:3: error: cannot find symbol", JAVA, 3)),
        ("jest", FirstError("SyntaxError: /project/src/box.js: Unexpected token (1:38)", "/project/src/box.js", 1)),
        ("linker", FirstError("b.c:(.text+0xa): undefined reference to `lid'")),
        ("make", FirstError("a.c:1:21: error: ‘c’ undeclared (first use in this function)", "a.c", 1)),
        ("maven", FirstError(f"{JAVA}:[3,23] cannot find symbol", JAVA, 3)),
        (
            "node",
            FirstError("SyntaxError: Unexpected token ';' (/project/src/box.js:1)", "/project/src/box.js", 1),
        ),
        (
            "pytest-conftest",
            FirstError("SyntaxError: expected ':' (/project/conftest.py:1)", "/project/conftest.py", 1),
        ),
        (
            "pytest-failed-import",
            FirstError("ModuleNotFoundError: No module named 'no_such_library' (box.py:1)", "box.py", 1),
        ),
        (
            "pytest-syntax-error",
            FirstError("SyntaxError: '(' was never closed (/project/test_box.py:6)", "/project/test_box.py", 6),
        ),
        ("tsc", FirstError("vs/a.ts(1,45): error TS1109: Expression expected.", "vs/a.ts", 1)),
        ("tsc-pretty", FirstError("vs/a.ts:1:45 - error TS1109: Expression expected.", "vs/a.ts", 1)),
        (
            "unittest",
            FirstError("SyntaxError: '(' was never closed (/project/test_box.py:6)", "/project/test_box.py", 6),
        ),
        ("vitest", FirstError("[PARSE_ERROR] Unexpected token (vs/a.ts:1)", "vs/a.ts", 1)),
        (
            "eslint-export",
            FirstError(
                "SyntaxError: The requested module 'node:fs' does not provide an export named 'gone' "
                "(/project/eslint.config.mjs:1)",
                "/project/eslint.config.mjs",
                1,
            ),
        ),
        (
            "eslint-import",
            FirstError(
                "Cannot find module '/project/gone.mjs' imported from /project/eslint.config.mjs",
                "/project/eslint.config.mjs",
            ),
        ),
        ("eslint-noconfig", FirstError("ESLint couldn't find an eslint.config.* file.")),
        (
            "eslint-level",
            FirstError(
                'Configuration for rule "no-var" is invalid. Expected severity of "off", 0, "warn", 1, "error", or 2.'
            ),
        ),
        (
            "mocha-export",
            FirstError(
                "SyntaxError: The requested module 'node:fs' does not provide an export named 'x' "
                "(/project/test/b.mjs:1)",
                "/project/test/b.mjs",
                1,
            ),
        ),
        (
            "mocha-require",
            FirstError(
                "Cannot find package 'gone-mod' imported from /project/node_modules/mocha/lib/nodejs/esm-utils.cjs",
                "/project/node_modules/mocha/lib/nodejs/esm-utils.cjs",
            ),
        ),
        (
            "ava-import",
            FirstError(
                "Cannot find module '/project/test/gone.js' imported from /project/test/a.js", "/project/test/a.js"
            ),
        ),
        ("ava-late", FirstError("Error: late (test/a.js:1)", "test/a.js", 1)),
        (
            "deno",
            FirstError(
                "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'. (/project/a_test.ts:1)",
                "/project/a_test.ts",
                1,
            ),
        ),
        (
            "ts-node",
            FirstError("a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.", "a.ts", 1),
        ),
        ("tsc-settings", FirstError("error TS5083: Cannot read file '/project/gone.json'.")),
        ("vitest-late", FirstError("Error: late boom (test/a.test.js:1)", "test/a.test.js", 1)),
        ("node-custom", FirstError("MyFail: custom (/project/g.js:2)", "/project/g.js", 2)),
        ("node-rejection", FirstError('The promise rejected with the reason "plain reason"')),
        (
            "node-test",
            FirstError("Error: Cannot find module './gone' (/project/k.test.js:1)", "/project/k.test.js", 1),
        ),
        ("biome", FirstError("Found an unknown key `nope`. (/project/biome.json:1)", "/project/biome.json", 1)),
        (
            "phpunit-class",
            FirstError('Error: Class "Gone" not found (/project/ClassTest.php:5)', "/project/ClassTest.php", 5),
        ),
        (
            "phpunit-parent",
            FirstError(
                'Fatal error:  Uncaught Error: Class "Gone\\TestCase" not found in /project/tests/LoadTest.php:2',
                "/project/tests/LoadTest.php",
                2,
            ),
        ),
        (
            "cargo-test",
            FirstError("assertion `left == right` failed: the sum (src/lib.rs:4)", "src/lib.rs", 4),
        ),
        ("make-script", FirstError("box: lid is missing")),
        (
            "pytest-two-files",
            FirstError(
                "import file mismatch: imported module 'test_same' has this __file__ attribute: "
                "/project/x/test_same.py which is not the same as the test file we want to collect: "
                "/project/y/test_same.py"
            ),
        ),
        (
            "rspec-load",
            FirstError("LoadError: cannot load such file -- gone (spec/load_spec.rb:1)", "spec/load_spec.rb", 1),
        ),
        (
            "rspec-syntax",
            FirstError("/project/syn_spec.rb:1: syntax error, unexpected end-of-input", "/project/syn_spec.rb", 1),
        ),
        ("rspec-suite", FirstError("RuntimeError: suite (spec/suite_spec.rb:1)", "spec/suite_spec.rb", 1)),
        (
            "vitest-syntax",
            FirstError(
                "Error: Failed to parse source for import analysis because the content contains invalid JS syntax. "
                "If you are using JSX, make sure to name the file with the .jsx or .tsx extension. "
                "(/project/syn.test.js:1)",
                "/project/syn.test.js",
                1,
            ),
        ),
        (
            "deno-throw",
            FirstError("error: (in promise) Error: top (/project/throw_test.ts:1)", "/project/throw_test.ts", 1),
        ),
        ("mocha-late", FirstError("Error: late (test/late.js:1)", "test/late.js", 1)),
        ("jest-preset", FirstError("Preset gone-preset not found relative to rootDir /project.")),
    ],
    ids=str,
)
def test_the_first_error_of_a_real_tool(tool, expected):
    assert first_error((OUTPUT / f"{tool}.txt").read_text(encoding="utf-8")) == expected


@table(
    ("text", "line"),
    [
        pytest.param("vet: bad/a.go:3:23: undeclared name: c", "bad/a.go:3:23: undeclared name: c", id="go vet"),
        pytest.param(
            "test/b_test.rb:2:in `require_relative': cannot load such file -- lib/gone (LoadError)\n"
            "\tfrom /usr/lib/ruby/gems/3.1.0/gems/rake-13.0.6/lib/rake/rake_test_loader.rb:21:in `block in <main>'",
            "cannot load such file -- lib/gone (LoadError) (test/b_test.rb:2)",
            id="minitest",
        ),
        pytest.param(
            "<internal:/lib/rubygems.rb>:136:in 'Kernel#require': cannot load such file -- gone (LoadError)\n"
            "\tfrom test/b_test.rb:2:in '<top (required)>'",
            "cannot load such file -- gone (LoadError) (test/b_test.rb:2)",
            id="ruby 3.4",
        ),
        pytest.param("# m [m.test]\n./m.go:4: undefined: c", "./m.go:4: undefined: c", id="go test with coverage"),
        pytest.param(
            "2026/11/25 22:57:56 cover: m.go: m.go:4:38: expected operand", "m.go:4:38: expected operand", id="go cover"
        ),
        pytest.param("x.c:1:10: fatal error: y.h: No such file", "x.c:1:10: fatal error: y.h: No such file", id="gcc"),
        pytest.param("/p/a.ts:1:44: ERROR: Unexpected", "/p/a.ts:1:44: ERROR: Unexpected", id="esbuild within vite"),
        pytest.param("✘ [ERROR] Expected\n\n    src/a.ts:1:44:\n", "Expected (src/a.ts:1)", id="esbuild"),
        pytest.param(
            "<anonymous_script>:1\n^\n\n[SyntaxError: bad, {}]\n", "SyntaxError: bad, {}", id="Node, no stack"
        ),
        pytest.param("e: file:///p/A.kt:3:5 Unresolved", "/p/A.kt:3:5 Unresolved", id="Kotlin"),
        pytest.param(
            "Makefile:3: *** missing separator.  Stop.", "Makefile:3: *** missing separator.  Stop.", id="make"
        ),
        pytest.param(
            "[ERROR] Failed to execute goal a:b:1:c (d) on project e: Execution d of goal a:b:1:c failed: "
            "Plugin a:b:1 or one of its dependencies could not be resolved: offline -> [Help 1]",
            "Plugin a:b:1 or one of its dependencies could not be resolved: offline",
            id="Maven without a plugin",
        ),
        pytest.param("[ERROR] Malformed POM pom.xml: x", "Malformed POM pom.xml: x", id="Maven's own file"),
        pytest.param("\x1b[31merror\x1b[0m: no matching package", "error: no matching package", id="colours"),
        pytest.param("Error: " + "x" * 400, "Error: " + "x" * 292 + "…", id="long"),
        pytest.param(
            'An error occurred inside PHPUnit.\n\nMessage:  Class "Gone" not found\nLocation: /p/CTest.php:3\n',
            'An error occurred inside PHPUnit. Message:  Class "Gone" not found (/p/CTest.php:3)',
            id="PHPUnit, a class in a file",
        ),
        pytest.param(
            "thread 'main' panicked at 'boom', src/main.rs:4:5\n", "boom (src/main.rs:4)", id="Rust before 1.73"
        ),
        pytest.param("  Error: late\n\n  › file:///p/c.js:1:56\n", "Error: late (/p/c.js:1)", id="AVA"),
        pytest.param(
            "    Cannot find module './gone' from 'a.test.js'\n\n      at Object.require (a.test.js:1:9)",
            "Cannot find module './gone' from 'a.test.js' (a.test.js:1)",
            id="jest",
        ),
        pytest.param(
            "[error] a.js: SyntaxError: Unexpected token (1:3)",
            "a.js: SyntaxError: Unexpected token (1:3)",
            id="prettier",
        ),
        pytest.param(
            "ERROR in ./src/a.js 3:0-20\nModule not found: Error: Can't resolve './b' in '/p'\n",
            "Module not found: Error: Can't resolve './b' in '/p' (src/a.js:3)",
            id="webpack",
        ),
        pytest.param(
            'Exception in thread "main" java.lang.IllegalStateException: no lid\n\tat box.Box.main(Box.java:3)',
            "java.lang.IllegalStateException: no lid",
            id="Java",
        ),
        pytest.param(
            "Unhandled exception. System.FormatException: bad\n   at Box.Main() in /p/Box.cs:line 3",
            "System.FormatException: bad",
            id=".NET",
        ),
        pytest.param(
            "<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit\n 1: 0xb0 node::Abort() [node]",
            "FATAL ERROR: Reached heap limit",
            id="Node without memory",
        ),
        pytest.param(
            "--- FAIL: TestA (0.00s)\npanic: no lid [recovered]\n\ngoroutine 7 [running]:\n\t/p/a_test.go:7 +0x1d",
            "panic: no lid [recovered]",
            id="Go",
        ),
        pytest.param(
            'Fatal Python error: Aborted\n\nCurrent thread 0x7f:\n  File "/p/t.py", line 3 in a',
            "Fatal Python error: Aborted",
            id="Python that was ended",
        ),
        pytest.param(
            "starting\nLidFailure [E_LID]: shut\nand locked\n    at async f (file:///p/a.mjs?t=1:2:3)",
            "LidFailure [E_LID]: shut (/p/a.mjs:2)",
            id="an error of any name above its stack",
        ),
        pytest.param(
            "(node:1) [DEP1] DeprecationWarning: old\n    at f (/p/a.js:1:2)\nno name\n    at f (/p/b.js:1:2)",
            "no name (/p/b.js:1)",
            id="a warning with a stack is no error",
        ),
        pytest.param("f.py:1: in <module>\nE   KeyError: 'a'\nE   OSError", "KeyError: 'a' (f.py:1)", id="the first"),
    ],
)
def test_the_first_error_of_other_tools(text, line):
    assert first_error(text).line == line


@table(
    "text",
    [
        "",
        "[ERROR] Failed to execute goal x: Compilation failure -> [Help 1]",
        "[ERROR] There are test failures.",
        "make: *** [Makefile:3: all] Error 1",
        "[INFO] Downloading from central: https://repo.example/error.jar",
        "make: *** [Makefile:3: a.o] Error 1",
        "error: could not compile `box` (lib) due to 1 previous error",
        "error: no such command: `nextest`",
        "error: test failed, to rerun pass `--lib`",
        "Compiling box v0.1.0\nwarning: unused variable",
        "    at f (/p/a.js:1:2)",
        "Trace: here\n    at f (/p/a.js:1:2)\n    at async Promise.all (index 0)",
        "  console.log\n    Total: 5\n\n      at Object.log (a.test.js:1:9)",
        "    lid_test.go:7: Lid(1) = 2, want 3",
        "lid.go:7: logged\n/p/lid.go:7: logged with its whole path",
        "pytest: error: unrecognized arguments: --cov",
        "2 failed, 3 passed, 1 error in 0.10s",
        f"a.go:{'9' * 5000}:1: x",
    ],
)
def test_what_is_no_error_of_a_build(text):
    assert first_error(text) is None
