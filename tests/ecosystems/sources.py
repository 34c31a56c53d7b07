"""The projects: each has tests that pass, fail and are skipped, and something for its linter to find."""

import json
from collections.abc import Mapping
from pathlib import Path

# What Debian packages of Maven's plugins and of JUnit, where the central repository cannot be reached.
_MAVEN_OFFLINE = Path("/etc/maven/settings-debian.xml")
_JARS = ("/usr/share/java/junit4.jar", "/usr/share/java/hamcrest-core.jar")
# What Maven and Gradle print where neither is there.
UNREACHED = ("PluginResolutionException", "DependencyResolutionException", "Could not resolve")

IGNORED = "node_modules/\ntarget/\nbuild/\n.gradle/\n.aiwg/\nCargo.lock\n"


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
