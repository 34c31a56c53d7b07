"""How a project's own scripts call a tool."""

from ralph_tracker.measure.ecosystems.package_json import Usage, usage_of, without
from tests.tables import table


@table(
    ("script", "expected"),
    [
        ("mocha", Usage()),
        ("mocha -r ts-node/register 'test/**/*.ts'", Usage(("-r", "ts-node/register", "test/**/*.ts"))),
        ("./node_modules/.bin/mocha test", Usage(("test",))),
        ("npx mocha test", Usage(("test",))),
        ("npx --no-install mocha test", Usage(("test",))),
        ("pnpm exec mocha test", Usage(("test",))),
        ("yarn mocha test", Usage(("test",))),
        ("NODE_ENV=test mocha", Usage(env={"NODE_ENV": "test"})),
        ("cross-env NODE_ENV=test TZ=UTC mocha", Usage(env={"NODE_ENV": "test", "TZ": "UTC"})),
        ("NODE_OPTIONS=$OTHER mocha", Usage()),
        ("mocha $FILES", Usage()),
        ("nyc mocha test", Usage(("test",), wrapper=("nyc",))),
        ("c8 --all npx mocha", Usage(wrapper=("c8", "--all"))),
        (
            "node --expose-gc node_modules/mocha/bin/mocha.js test",
            Usage(("test",), program=("node", "--expose-gc", "node_modules/mocha/bin/mocha.js")),
        ),
        ("node node_modules/mocha/bin/_mocha", Usage(program=("node", "node_modules/mocha/bin/_mocha"))),
        ("tsc -p test && mocha dist", Usage(("dist",), before=("tsc -p test",))),
        ("mocha test || true", Usage(("test",))),
        ("mocha test > log 2>&1", Usage(("test",))),
        ("npm run lint && npm run unit", Usage(("unit",), before=("npm run lint",))),
        ("npm run -s chain", Usage(("unit",), before=("echo first",))),
        ("yarn unit", Usage(("unit",))),
        ("npm run round", None),
        ("npm run absent", None),
        ("echo mocha", None),
        ("mocha 'not closed", None),
        ("npm", None),
        ("CI=1", None),
        ("", None),
    ],
)
def test_a_call_is_found_with_what_belongs_to_it(script, expected):
    scripts = {
        "test": script,
        "unit": "mocha unit",
        "chain": "echo first; npm run unit",
        "round": "npm run round",
        "lint": "eslint .",
    }
    assert usage_of("mocha", scripts, ["test"]) == expected


def test_the_first_script_that_calls_the_tool_counts():
    scripts = {"a": "echo", "b": "jest b", "c": "jest c"}
    assert usage_of("jest", scripts, ["a", "x", "b", "c"]) == Usage(("b",))


@table(
    ("words", "kept"),
    [
        (["--watch", "src"], ["src"]),
        (["--watch=true", "src"], ["src"]),
        (["--reporter", "dot", "src"], ["src"]),
        (["--reporter=dot", "src"], ["src"]),
        (["src", "--reporter"], ["src"]),
        (["--watcher"], ["--watcher"]),
    ],
)
def test_what_we_say_ourselves_is_left_out(words, kept):
    assert list(without(words, frozenset({"--watch"}), frozenset({"--reporter"}))) == kept
