"""The projects: each has tests that pass, fail and are skipped, and something for its linter to find."""

import json
from collections.abc import Mapping
from pathlib import Path

# What Debian packages of Maven's plugins and of JUnit, where the central repository cannot be reached.
_MAVEN_OFFLINE = Path("/etc/maven/settings-debian.xml")
_JARS = ("/usr/share/java/junit4.jar", "/usr/share/java/hamcrest-core.jar")
# What Maven and Gradle print where neither is there.
UNREACHED = ("PluginResolutionException", "DependencyResolutionException", "Could not resolve")

IGNORED = "node_modules/\ntarget/\nbuild/\ncoverage/\n.gradle/\n.aiwg/\nCargo.lock\n.phpunit.result.cache\n"


def _package(**scripts: str) -> dict[str, str]:
    return {"package.json": json.dumps({"name": "sample", "private": True, "scripts": scripts}), ".gitignore": IGNORED}


_SUM = "exports.sum = (a, b) => a + b;\nexports.twice = (a) => {\n  return a * 2;\n};\n"
_JEST = """const {sum} = require('../src/sum');
test('adds', () => { expect(sum(1, 2)).toBe(3); });
test('fails', () => { expect(sum(1, 2)).toBe(4); });
test.skip('later', () => {});
test.todo('never');
"""
JEST: Mapping[str, str] = {**_package(test="jest"), "src/sum.js": _SUM, "test/sum.test.js": _JEST}
VITEST: Mapping[str, str] = {
    **_package(test="vitest"),
    "src/sum.js": "export const sum = (a, b) => a + b;\nexport const twice = (a) => {\n  return a * 2;\n};\n",
    "test/sum.test.js": "import {expect, test} from 'vitest';\n"
    + _JEST.replace("const {sum} = require('../src/sum')", "import {sum} from '../src/sum.js'"),
}
MOCHA: Mapping[str, str] = {
    **_package(test="nyc mocha '**/*.spec.js'"),
    "src/sum.js": _SUM,
    "test/sum.spec.js": """const assert = require('assert');
const {sum} = require('../src/sum');
describe('sum', () => {
  it('adds', () => { assert.equal(sum(1, 2), 3); });
  it('fails', () => { assert.equal(sum(1, 2), 4); });
  it.skip('later', () => {});
  it('never');
});
""",
}
ESLINT: Mapping[str, str] = {
    **_package(lint="eslint --fix ."),
    "eslint.config.js": "module.exports = [{rules: {'no-debugger': 'error', eqeqeq: 'warn', 'no-var': 'error'}}];\n",
    "src/a.js": "var a = 1;\nif (a == 2) { debugger; }\n",
}
ESLINT_8: Mapping[str, str] = {
    **_package(lint="eslint ."),
    ".eslintrc.json": '{"root": true, "rules": {"no-debugger": "error", "eqeqeq": "warn"}}\n',
    "src/a.js": "var a = 1;\nif (a == 2) { debugger; }\n",
}
TSC: Mapping[str, str] = {
    **_package(),
    "tsconfig.json": '{"compilerOptions": {"strict": true, "composite": true, "types": []}}\n',
    "src/a.ts": "const a: number = 'x';\nexport const b = (c) => c + a;\n",
}
CRATE: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """/// Add.
///
/// ```
/// assert_eq!(calc::add(1, 2), 3);
/// ```
pub fn add(a: u64, b: u64) -> u64 {
    return a + b;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }

    #[test]
    fn fails() {
        assert_eq!(add(1, 2), 4);
    }

    #[test]
    #[ignore]
    fn later() {}
}
""",
    "tests/whole.rs": "#[test]\nfn whole() {\n    assert_eq!(calc::add(2, 2), 4);\n}\n",
}
MODULE: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "go.mod": "module example.org/calc\n\ngo 1.19\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Twice(a int) int { return a * 2 }\n",
    "inner/inner.go": "package inner\n\nfunc One() int { return 1 }\n",
    "inner/inner_test.go": """package inner

import "testing"

func TestOne(t *testing.T) {
	if One() != 1 {
		t.Fatal("not one")
	}
}
""",
    "calc_test.go": """package calc

import "testing"

func TestAdd(t *testing.T) {
	t.Run("right", func(t *testing.T) {
		if Add(1, 2) != 3 {
			t.Fatal("not three")
		}
	})
	t.Run("wrong", func(t *testing.T) {
		if Add(1, 2) != 4 {
			t.Fatal("not four")
		}
	})
}

func TestLater(t *testing.T) { t.Skip("later") }
""",
}
POM: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "pom.xml": """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>calc</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>JUNIT</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
""",
    "src/main/java/calc/Calc.java": """package calc;

public class Calc {
  public static int add(int a, int b) {
    return a + b;
  }
}
""",
    "src/test/java/calc/CalcTest.java": """package calc;

import org.junit.Assert;
import org.junit.Ignore;
import org.junit.Test;

public class CalcTest {
  @Test
  public void adds() {
    Assert.assertEquals(3, Calc.add(1, 2));
  }

  @Test
  public void fails() {
    Assert.assertEquals(4, Calc.add(1, 2));
  }

  @Test
  @Ignore
  public void later() {}
}
""",
}
GRADLE: Mapping[str, str] = {
    **{name: text for name, text in POM.items() if name != "pom.xml"},
    "build.gradle": """apply plugin: 'java'
repositories { mavenCentral() }
dependencies { testImplementation JUNIT }
""",
}


CRATES: Mapping[str, str] = {
    **CRATE,
    "Cargo.toml": CRATE["Cargo.toml"] + '\n[workspace]\nmembers = ["more"]\n',
    "more/Cargo.toml": '[package]\nname = "more"\nversion = "0.1.0"\nedition = "2021"\n',
    "more/src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n",
}
MODULES: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "go.work": "go 1.19\n\nuse (\n\t./calc\n\t./more\n)\n",
    **{f"calc/{name}": text for name, text in MODULE.items() if name != ".gitignore"},
    "more/go.mod": "module example.org/more\n\ngo 1.19\n",
    "more/more.go": "package more\n\nfunc Two() int { return 2 }\n",
    "more/more_test.go": 'package more\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tt.Log(Two())\n}\n',
}
_NODE_TEST = """const {describe, it, test} = require('node:test');
const assert = require('node:assert');
const {sum} = require('../src/sum');
test('adds', () => assert.equal(sum(1, 2), 3));
test('fails', () => assert.equal(sum(1, 2), 4));
test.skip('later', () => {});
test.todo('never');
describe('sum', () => {
  describe('of more', () => { it('adds', () => {}); });
  it('is not three', () => assert.equal(sum(1, 2), 4));
});
"""
NODE_TEST: Mapping[str, str] = {**_package(test="node --test"), "src/sum.js": _SUM, "test/sum.test.js": _NODE_TEST}
BUN: Mapping[str, str] = {
    **_package(test="bun test"),
    "src/sum.ts": "export const sum = (a: number, b: number) => a + b;\n"
    "export const twice = (a: number) => {\n  return a * 2;\n};\n",
    "src/sum.test.ts": "import {expect, test} from 'bun:test';\n"
    + _JEST.replace("const {sum} = require('../src/sum')", "import {sum} from './sum'"),
}
DENO: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "deno.json": '{"tasks": {"test": "deno test --allow-env"}}\n',
    "sum.ts": "export const sum = (a: number, b: number) => a + b;\n"
    "export const twice = (a: number) => {\n  return a * 2;\n};\n",
    "sum_test.ts": """import { sum } from "./sum.ts";
const three = () => { if (sum(1, 2) !== 3) throw new Error("not three"); };
const four = () => { if (sum(1, 2) !== 4) throw new Error("not four"); };
Deno.test("adds", () => { Deno.env.get("HOME"); three(); });
Deno.test("fails", four);
Deno.test.ignore("later", () => {});
Deno.test("steps", async (t) => {
  await t.step("right", three);
  await t.step("wrong", four);
});
""",
}
BIOME: Mapping[str, str] = {
    **_package(lint="biome lint --write ."),
    "biome.json": '{"linter": {"rules": {"style": {"useConst": "warn"}}}}\n',
    "src/a.js": "let b = 1;\nexport const a = b;\n" + "if (a == 2) { debugger; }\n" * 30,
}
UVU: Mapping[str, str] = {
    **_package(test="uvu tests"),
    "tests/a.js": "const {test} = require('uvu');\nconst assert = require('uvu/assert');\n"
    "test('adds', () => assert.is(1 + 1, 3));\ntest.run();\n",
}
WORKSPACES: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "package.json": '{"private": true, "workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}}',
    **{
        f"packages/{name}/{file}": text.replace("nyc mocha", "mocha").replace('"sample"', f'"{name}"')
        for name in ("one", "two")
        for file, text in MOCHA.items()
        if file != ".gitignore"
    },
}
RSPEC: Mapping[str, str] = {
    ".gitignore": IGNORED,
    ".rspec": "--require ./spec/spec_helper\n",
    ".rubocop.yml": "AllCops:\n  NewCops: disable\n",
    "spec/spec_helper.rb": """require 'simplecov'
SimpleCov.start { add_filter '/spec/' }
require_relative '../lib/calc'
""",
    "lib/calc.rb": "class Calc\n  def add(a, b)\n    a + b\n  end\n\n  def twice(a)\n    a * 2\n  end\nend\n",
    "spec/calc_spec.rb": """RSpec.describe Calc do
  it('adds') { expect(Calc.new.add(1, 2)).to eq 3 }
  it('fails') { expect(Calc.new.add(1, 2)).to eq 4 }
  xit('later') { expect(1).to eq 2 }
end
""",
}
MINITEST: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "Rakefile": "require 'rake/testtask'\nRake::TestTask.new(:test) { |t| t.pattern = 'test/**/*_test.rb' }\n",
    "lib/calc.rb": RSPEC["lib/calc.rb"],
    "test/calc_test.rb": """require 'minitest/autorun'
require_relative '../lib/calc'

class CalcTest < Minitest::Test
  def test_adds
    puts 'adding'
    assert_equal 3, Calc.new.add(1, 2)
  end

  def test_fails
    assert_equal 4, Calc.new.add(1, 2)
  end

  def test_later
    skip 'later'
  end
end

describe Calc do
  it('adds = well') { _(Calc.new.add(1, 2)).must_equal 3 }
  it('raises') { raise 'x' }
end
""",
}
PHP: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "phpunit.xml": """<?xml version="1.0"?>
<phpunit>
  <testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites>
  <coverage><include><directory>src</directory></include></coverage>
</phpunit>
""",
    "src/Calc.php": """<?php
class Calc {
    public function add(int $a, int $b): int { return $a + $b; }
    public function twice(int $a): int
    {
        return $a * 2;
    }
}
""",
    "tests/CalcTest.php": """<?php
require_once __DIR__ . '/../src/Calc.php';
use PHPUnit\\Framework\\TestCase;
final class CalcTest extends TestCase {
    public function testAdds(): void { $this->assertSame(3, (new Calc)->add(1, 2)); }
    public function testFails(): void { $this->assertSame(4, (new Calc)->add(1, 2)); }
    public function testRaises(): void { throw new Exception('x'); }
    public function testLater(): void { $this->markTestSkipped('later'); }
    public function testUnfinished(): void { $this->markTestIncomplete('later'); }
    public function testRisky(): void { }
    /** @dataProvider rows */
    public function testRow(int $a): void { $this->assertTrue($a > 0); }
    public static function rows(): array { return ['one' => [1], 'two' => [2]]; }
}
""",
}
CTEST: Mapping[str, str] = {
    ".gitignore": IGNORED,
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.20)
project(calc CXX)
enable_testing()
find_package(GTest REQUIRED)
add_library(calc src/calc.cpp)
add_executable(calc_test test/calc_test.cpp)
target_link_libraries(calc_test calc GTest::gtest_main)
include(GoogleTest)
gtest_discover_tests(calc_test)
add_test(NAME whole COMMAND calc_test --gtest_filter=Calc.Adds)
""",
    "src/calc.cpp": "int add(int a, int b) { return a + b; }\nint twice(int a) {\n  return a * 2;\n}\n",
    "test/calc_test.cpp": """#include <gtest/gtest.h>
int add(int a, int b);
TEST(Calc, Adds) { EXPECT_EQ(add(1, 2), 3); }
TEST(Calc, Fails) { EXPECT_EQ(add(1, 2), 4); }
TEST(Calc, Later) { GTEST_SKIP(); }
TEST(Calc, DISABLED_Never) { EXPECT_EQ(add(1, 2), 4); }
""",
}
MAKE: Mapping[str, str] = {".gitignore": IGNORED, "Makefile": "test:\n\tgrep -q right answer\n", "answer": "wrong\n"}


def offline(files: Mapping[str, str]) -> Mapping[str, str]:
    """Name what Debian packages in a project of the JVM, where it is there."""
    if "build.gradle" in files:
        jars = ", ".join(f"'{jar}'" for jar in _JARS)
        junit = f"files({jars})" if all(Path(jar).is_file() for jar in _JARS) else "'junit:junit:4.13.2'"
        return {**files, "build.gradle": files["build.gradle"].replace("JUNIT", junit)}
    if "pom.xml" not in files:
        return files
    is_there = _MAVEN_OFFLINE.is_file()
    settings = {".mvn/maven.config": f"-o\n-s\n{_MAVEN_OFFLINE}\n"} if is_there else {}
    return {**files, "pom.xml": files["pom.xml"].replace("JUNIT", "4.x" if is_there else "4.13.2"), **settings}
