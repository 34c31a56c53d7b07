"""Projects that are not ours: numbers as their tools print, and four edits judged rightly.

A break is a regression that names failing tests; a fix with a new test is none; a deleted test is noticed; a syntax
error in the source is a broken build, and no deletion.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.ecosystems import printed

_LIMIT_S = 600
_MORE_CPU_S = 6  # of init and pre-loop together, beyond the suite
_TO_A_TENTH = 0.051  # the record has one digit after the point
_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
_FOREIGN = re.compile(r"RALPH_TRACKER_.*|NODE_OPTIONS|CI|npm_.*|CARGO_.*|GOFLAGS|GIT_.*|PYTEST_.*|COV.*|VIRTUAL_ENV")
_PHP_LOADER = """<?php
require __DIR__ . '/../src/Template.php';
foreach (glob(__DIR__ . '/../src/exceptions/*.php') as $file) {
    require_once $file;
}
"""
# What no parser of the language takes, at the end of a file.
_SYNTAX = {
    ".py": "\ndef (:\n",
    ".js": "\nfunction (\n",
    ".go": "\nfunc (\n",
    ".rb": "\ndef (\n",
    ".php": "\nfunction (\n",
    ".rs": "\nfn (\n",
    ".c": "\nint (\n",
}
_PHP_TIMER_LOADER = """<?php
foreach ([...glob(__DIR__ . '/../src/exceptions/*.php'), ...glob(__DIR__ . '/../src/*.php')] as $file) {
    require_once $file;
}
"""
_IGNORED = ".aiwg/\nnode_modules/\n.venv/\n.nyc_output/\ntarget/\nvendor/\n__pycache__/\n*.egg-info/\n"


@dataclass(frozen=True)
class Edit:
    """A change of one file: `old` becomes `new`; without `old`, `new` is appended; without both, the file goes."""

    file: str
    old: str = ""
    new: str = ""

    def apply(self, root: Path) -> None:
        path = root / self.file
        if not self.old and not self.new:
            path.unlink()
            return
        text = path.read_text() if path.exists() else ""
        assert not self.old or text.count(self.old) == 1, self.file
        path.write_text(text.replace(self.old, self.new) if self.old else text + self.new)


@dataclass(frozen=True)
class Row:
    """A project: where it comes from, what its tools print, how many tests it has at least, and its edits."""

    source: str  # npm, deb or pypi, then its name and version
    by_hand: str
    numbers: Callable[[str], printed.Numbers]
    tests: int
    breaks: Edit
    adds: Edit
    deletes: Edit
    gone: str  # what the name of a deleted test has in it
    needs: tuple[str, ...] = ()
    installs: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, "Row"] = field(default_factory=dict)  # by folder, where the repository is made of several


def tap(text: str) -> printed.Numbers:
    """Read tape's sums, and the table of nyc."""
    count = {name: int(number) for name, number in re.findall(r"^# (tests|pass|fail|skip) +(\d+)", text, re.MULTILINE)}
    passed, failed = count["pass"], count.get("fail", 0)
    return {"tests": passed + failed, "passed": passed, "failed": failed, "skipped": 0} | printed.covered(text)


def pytest_and_coverage(text: str) -> printed.Numbers:
    """Read pytest's last line and coverage's total."""
    line = re.findall(r"^=+ (.*) in [\d.]+s", text, re.MULTILINE)[-1]
    count = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line)}
    total = re.findall(r"^TOTAL +(\d+) +(\d+)", text, re.MULTILINE)[-1]
    passed, failed = count.get("passed", 0) + count.get("xpassed", 0), count.get("failed", 0) + count.get("error", 0)
    skipped = count.get("skipped", 0) + count.get("xfailed", 0)
    covered = 100 * (int(total[0]) - int(total[1])) / int(total[0])
    numbers: printed.Numbers = {"passed": passed, "failed": failed, "skipped": skipped, "coverage": covered}
    return {"tests": passed + failed + skipped, **numbers}


def unittest_and_coverage(text: str) -> printed.Numbers:
    """Read the last lines of unittest, and coverage's total."""
    ran = int(re.findall(r"^Ran (\d+) tests?", text, re.MULTILINE)[-1])
    count = {word: int(number) for word, number in re.findall(r"(failures|errors|skipped)=(\d+)", text)}
    failed, skipped = count.get("failures", 0) + count.get("errors", 0), count.get("skipped", 0)
    total = re.findall(r"^TOTAL +(\d+) +(\d+)", text, re.MULTILINE)[-1]
    numbers: printed.Numbers = {"passed": ran - failed - skipped, "failed": failed, "skipped": skipped}
    return {"tests": ran, **numbers, "coverage": 100 * (int(total[0]) - int(total[1])) / int(total[0])}


_CMAKE = "CFLAGS=--coverage LDFLAGS=--coverage cmake -S . -B target && cmake --build target"
_TOX_OF_APPCONF = """[testenv]
setenv =
    DJANGO_SETTINGS_MODULE = tests.test_settings
commands =
    {envbindir}/coverage run {envbindir}/django-admin test {posargs:tests}
"""
_TAPE = "node_modules/.bin/nyc node_modules/.bin/tape 'test/**/*.js'; rm -r .nyc_output"
_C8 = "node_modules/.bin/c8 --reporter=text"
_GO = "mkdir -p target; go test -v -coverprofile=target/c ./... ; go tool cover -func=target/c"
_PYTEST = ".venv/bin/python -m coverage run -m pytest; .venv/bin/python -m coverage report; rm -f .coverage"


def _npm(name: str, breaks: Edit, deletes: Edit, tests: int, gone: str) -> Row:
    adds = Edit("test/more.js", new="require('tape')('more', function (t) { t.ok(true, 'is more'); t.end(); });\n")
    return Row(f"npm {name}", _TAPE, tap, tests, breaks, adds, deletes, gone, installs=("tape@5.9.0", "nyc@18.0.0"))


def _pypi(name: str, breaks: Edit, deletes: Edit, tests: int, gone: str, *needs: str, more: str = "tests/") -> Row:
    adds = Edit(f"{more}test_more.py", new="def test_more():\n    assert True\n")
    tools = ("pytest==8.4.2", "coverage==7.17.3", *needs)
    return Row(f"pypi {name}", _PYTEST, pytest_and_coverage, tests, breaks, adds, deletes, gone, installs=tools)


ROWS = (
    _npm(
        "minimist@1.2.8",
        Edit("index.js", "if ((/^0x[0-9a-f]+$/i).test(x))", "if ((/^1x$/).test(x))"),
        Edit("test/num.js"),
        50,
        "num",
    ),
    _npm("shell-quote@1.8.1", Edit("quote.js", "join(' ')", "join('  ')"), Edit("test/set.js"), 50, "set env vars"),
    Row(
        "npm url-join@4.0.1",
        "node_modules/.bin/mocha --require should",
        printed.mocha,
        20,
        Edit("lib/url-join.js", "resultArray.join('/')", "resultArray.join('//')"),
        Edit("test/more.js", new="it('is more', function () {});\n"),
        Edit("test/tests.js", "  it('should remove extra slashes'", "  0 && it('should'"),
        "should remove extra slashes",
        installs=("mocha@10.8.2", "should@13.2.3"),
    ),
    Row(
        "npm rfdc@1.4.1",
        "node_modules/.bin/tap -R min test",
        printed.mocha,
        200,
        Edit("index.js", "if (opts.circles)", "if (opts.circle)"),
        Edit("test/index.js", new="test('more', async ({ is }) => { is(1, 1, 'is more') })\n"),
        Edit("test/index.js", "test('default – shorthand import', async", "void ('default – shorthand import', async"),
        "default – shorthand import",
        installs=("tap@12.7.0",),
    ),
    Row(
        "npm secure-json-parse@4.1.1",
        f"{_C8} --all --include index.js node_modules/.bin/tape 'test/*.test.js'; rm -r coverage",
        tap,
        90,
        Edit("index.js", "options.protoAction) || 'error'", "options.protoAction) || 'ignore'"),
        Edit("test/more.test.js", new="require('tape')('more', t => { t.ok(true, 'is more'); t.end(); });\n"),
        Edit("test/index.test.js", "  t.test('parses null string', t", "  void ('parses null string', t"),
        "parses null string",
        installs=("tape@5.9.0", "c8@10.1.3"),
    ),
    Row(
        "deb golang-github-google-uuid",
        _GO,
        printed.go,
        20,
        Edit("uuid.go", "\tencodeHex(buf[:], uuid)\n\treturn string(buf[:])", '\treturn "x" + string(buf[:])'),
        Edit("json_test.go", new="\nfunc TestMore(t *testing.T) {}\n"),
        Edit("sql_test.go"),
        "google/uuid::Test",
        needs=("go",),
    ),
    Row(
        "deb ruby-dotenv",
        "rspec",
        printed.rspec,
        50,
        Edit("lib/dotenv/parser.rb", """value.strip.sub(/\\A(['"])(.*)\\1\\z/, '\\2')""", "value.strip"),
        Edit("spec/more_spec.rb", new="RSpec.describe('more') { it('is more') { expect(1).to eq 1 } }\n"),
        Edit("spec/dotenv/parser_spec.rb", '  it "parses yaml style options" do', "  proc do"),
        "parses yaml style options",
        needs=("ruby", "rspec", "rubocop"),
        # the first is for Rails, the second for a rubocop of years ago
        files={"spec/dotenv/rails_spec.rb": "", ".rubocop.yml": "AllCops: {DisabledByDefault: true}\n"},
    ),
    Row(
        "deb php-text-template",
        "phpunit --do-not-cache-result --coverage-text",
        printed.phpunit,
        4,
        Edit("src/Template.php", "$this->openDelimiter . $key", "$this->closeDelimiter . $key"),
        Edit(
            "tests/MoreTest.php",
            new="<?php\nfinal class MoreTest extends PHPUnit\\Framework\\TestCase {\n"
            "    /** @coversNothing */\n    public function testMore(): void { $this->assertTrue(true); }\n}\n",
        ),
        Edit("tests/TemplateTest.php", "function testVariablesCanBeMerged", "function merged"),
        "testVariablesCanBeMerged",
        needs=("php", "phpunit"),
        files={"vendor/autoload.php": _PHP_LOADER},
    ),
    Row(
        "deb php-timer",
        "phpunit --do-not-cache-result --coverage-text",
        printed.phpunit,
        8,
        Edit("src/Duration.php", "new self($microseconds * 1000)", "new self($microseconds * 100)"),
        Edit(
            "tests/MoreTest.php",
            new="<?php\nfinal class MoreTest extends PHPUnit\\Framework\\TestCase {\n"
            "    /** @coversNothing */\n    public function testMore(): void { $this->assertTrue(true); }\n}\n",
        ),
        Edit("tests/TimerTest.php", "function testCanBeStartedAndStopped", "function started"),
        "testCanBeStartedAndStopped",
        needs=("php", "phpunit"),
        files={"vendor/autoload.php": _PHP_TIMER_LOADER},
    ),
    Row(
        "deb cjson",
        f"{_CMAKE} && ctest --test-dir target; gcovr -r . -e '.*CompilerId.*' target",
        printed.ctest,
        19,
        Edit("cJSON.c", "return (item->type & 0xff) == cJSON_True;", "return (item->type & 0xff) != cJSON_True;"),
        Edit("tests/CMakeLists.txt", "        readme_examples\n", "        readme_examples\n        more\n"),
        Edit("tests/CMakeLists.txt", "        minify_tests\n", ""),
        "minify_tests",
        needs=("cmake", "ctest", "gcovr", "cc"),
        files={"tests/more.c": "int main(void) { return 0; }\n"},
    ),
    Row(
        "pypi django-appconf==1.0.6",
        ".venv/bin/python -m coverage run -m django test --settings=tests.test_settings tests; "
        ".venv/bin/python -m coverage report; rm -f .coverage",
        unittest_and_coverage,
        25,
        Edit(
            "appconf/base.py",
            """return "%s_%s" % (self.prefix.upper(),""",
            """return "%s-%s" % (self.prefix.upper(),""",
        ),
        Edit(
            "tests/test_more.py", new="import unittest\nclass More(unittest.TestCase):\n    def test_more(self): ...\n"
        ),
        Edit("tests/tests.py", "def test_proxy(", "def proxy("),
        "test_proxy",
        installs=("django==5.1.4", "coverage==7.17.3"),
        files={"tox.ini": _TOX_OF_APPCONF},  # as in its repository
    ),
    _pypi(
        "itsdangerous==2.2.0",
        Edit("src/itsdangerous/encoding.py", 'urlsafe_b64encode(string).rstrip(b"=")', "urlsafe_b64encode(string)"),
        Edit("tests/test_itsdangerous/test_encoding.py"),
        100,
        "test_encoding",
        "freezegun",
    ),
    _pypi(
        "cachetools==5.5.2",
        Edit("src/cachetools/__init__.py", 'raise ValueError("value too large")', "pass"),
        Edit("tests/test_lru.py"),
        100,
        "test_lru",
    ),
    _pypi(
        "inflection==0.5.1",
        Edit("inflection/__init__.py", "return word.replace('_', '-')", "return word"),
        Edit("test_inflection.py", "def test_tableize", "def tableize"),
        400,
        "test_tableize",
        more="",
    ),
    _pypi(
        "h11==0.14.0",
        Edit("h11/_headers.py", 'validate(_content_length_re, value, "bad Content-Length")', "pass"),
        Edit("h11/tests/test_io.py"),
        60,
        "test_io",
        more="h11/tests/",
    ),
    _pypi(
        "w3lib==2.2.1",
        Edit("w3lib/html.py", 'return _REMOVECOMMENTS_RE.sub("", utext)', "return utext"),
        Edit("tests/test_http.py"),
        150,
        "test_http",
    ),
)


def _split(backend: str, frontend: str) -> Row:
    """Return a repository of two projects without one at its root; the edits are those of the first."""
    parts = {folder: _row_of(source) for folder, source in (("backend", backend), ("frontend", frontend))}
    first, second = parts.values()
    moved = {name: replace(each, file=f"backend/{each.file}") for name, each in _edits_of(first).items()}
    by_hand = f"(cd backend; {first.by_hand}) 2>&1; echo {_BETWEEN}; (cd frontend; {second.by_hand}) 2>&1"

    def numbers(text: str) -> printed.Numbers:
        halves = zip(parts.values(), text.split(_BETWEEN), strict=True)
        found = [row.numbers(half) for row, half in halves]
        return {name: sum(each[name] or 0 for each in found) for name in ("tests", "passed", "failed", "skipped")}

    needs = (*first.needs, *second.needs)
    source = f"split {backend} + {frontend}"
    return Row(source, by_hand, numbers, first.tests, **moved, gone=first.gone, needs=needs, parts=parts)


def _row_of(source: str) -> Row:
    return next(row for row in ROWS if row.source == source)


def _edits_of(row: Row) -> dict[str, Edit]:
    return {"breaks": row.breaks, "adds": row.adds, "deletes": row.deletes}


_BETWEEN = "===== the other part"
SPLIT = _split("deb php-text-template", "npm url-join@4.0.1")


@pytest.fixture(scope="session")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], Path]:
    """Unpack a project from the registry that it is named with; skip where that cannot be reached."""
    folder = tmp_path_factory.mktemp("fetched")

    def ran(*command: str) -> bool:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_LIMIT_S, check=False)
        return done.returncode == 0

    def fetch(source: str, root: Path) -> Path:
        kind, name = source.split()
        if kind == "deb":
            if not _SOURCES.is_file() or shutil.which("dpkg-source") is None or not _debian(ran, folder, name):
                pytest.skip("the sources of Debian cannot be had; its projects are measured where they can be")
            assert ran("dpkg-source", "--no-check", "-x", str(next(folder.glob(f"{name}_*.dsc"))), str(root))
            return root
        words = ["npm", "pack", "--silent", name] if kind == "npm" else [sys.executable, "-m", "pip", "download"]
        more = [] if kind == "npm" else ["--quiet", "--no-deps", f"--no-binary={name.partition('==')[0]}", name]
        if not ran(*words, *more):
            pytest.skip(f"the registry of {name} cannot be reached; it is measured where it can be")
        archive = next(folder.glob(f"{re.split('[@=]', name)[0]}-*"))
        with tarfile.open(archive) as files:
            files.extractall(root.with_name("unpacked"), filter="data")
        return next(root.with_name("unpacked").iterdir()).rename(root)

    return fetch


def _debian(ran: Callable[..., bool], folder: Path, name: str) -> bool:
    """Download a source package by the machine's own sources of Debian."""
    sources, lists = folder / "debian.sources", folder / "lists"
    options = [f"Dir::Etc::sourcelist={sources}", "Dir::Etc::sourceparts=-", f"Dir::State::lists={lists}"]
    options.append(f"Dir::Cache={folder / 'cache'}")
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    if not sources.exists():
        (lists / "partial").mkdir(parents=True)
        (folder / "cache" / "archives" / "partial").mkdir(parents=True)
        sources.write_text(re.sub(r"(?m)^Types: .*", "Types: deb-src", _SOURCES.read_text()))
        if not ran(*apt, "update"):
            return False
    return ran(*apt, "source", "--download-only", name)


@dataclass(frozen=True)
class Work:
    """A project being worked on."""

    root: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
        return subprocess.run(
            command, cwd=self.root, env=kept, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )

    def ours(self, *words: str) -> str:
        done = self.run(str(Path(sys.executable).with_name("ralph-tracker")), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def record(self, phase: str) -> dict:
        return json.loads(self.ours("hook", phase, "--json"))["iteration_metrics"]

    def by_hand(self, row: Row) -> tuple[printed.Numbers, float]:
        """Return what the tools print where no iteration is kept, and their CPU time in seconds."""
        kept, aside = self.root / ".aiwg", self.root.with_name("aside")
        if kept.is_dir():
            kept.rename(aside)
        before = _cpu()
        done = self.run("sh", "-c", row.by_hand)
        spent = _cpu() - before
        if aside.is_dir():
            aside.rename(kept)
        return row.numbers(done.stdout + done.stderr), spent


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("row", [*ROWS, SPLIT], ids=lambda row: row.source)
def test_numbers_are_the_tools_own_and_edits_are_judged(row, fetched, tmp_path, judged):
    missing = [name for name in row.needs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not found; measured where it is installed")
    work = Work(tmp_path / "project")
    for folder, part in (row.parts or {".": row}).items():
        (work.root / folder).parent.mkdir(exist_ok=True)
        fetched(part.source, work.root / folder)
    _set_up(work, row)
    theirs, suite = work.by_hand(row)  # it builds, too
    theirs, suite = work.by_hand(row)
    before = _cpu()
    work.ours("init", "--yes")
    ours = _numbers(first := work.record("pre-loop"))
    more = _cpu() - before - suite
    common = theirs.keys() & ours.keys()
    unequal = {name: (ours[name], theirs[name]) for name in common if not _same(ours[name], theirs[name])}
    source = work.root / row.breaks.file
    text = source.read_text()
    verdicts = {"break": _broken(work, row, first)}
    source.write_text(text)
    verdicts |= {"fix and add": _fixed(work, row, first)}
    verdicts |= {"break the build": _not_built(work, source)}
    source.write_text(text)
    verdicts |= {"delete": _deleted(work, row)}
    judged(row.source, ours, unequal, verdicts, more)
    assert unequal == {}
    assert set(verdicts.values()) == {"right"}
    assert ours["tests"] >= row.tests
    if row.source.startswith("pypi"):  # elsewhere the suite is built, by chance with more or less left of the last time
        assert more <= _MORE_CPU_S


def _set_up(work: Work, row: Row) -> None:
    """Install what a project needs, and commit it."""
    (work.root / ".gitignore").write_text(_IGNORED)
    for folder, part in (row.parts or {".": row}).items():
        _install(Work(work.root / folder), part)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    _ran(work, ["git", "init", "-q"], ["git", "add", "-A"], ["git", *author, "commit", "-q", "-m", "first"])


def _install(work: Work, row: Row) -> None:
    for name, text in row.files.items():
        (work.root / name).parent.mkdir(exist_ok=True, parents=True)
        (work.root / name).write_text(text)
    commands: list[list[str]] = []
    if row.source.startswith("npm"):
        words = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--no-save"]
        package = json.loads((work.root / "package.json").read_text())
        wanted = {each.partition("@")[0] for each in row.installs}
        kept = {name: "*" for name in package.pop("devDependencies", {}) if name in wanted}
        (work.root / "package.json").write_text(json.dumps({**package, "devDependencies": kept}, indent=2))
        commands.append(["npm", "install", *words, *row.installs])
    if row.source.startswith("pypi"):
        commands.append([sys.executable, "-m", "venv", ".venv"])
        commands.append([".venv/bin/python", "-m", "pip", "install", "--quiet", "--editable", ".", *row.installs])
    _ran(work, *commands)


def _ran(work: Work, *commands: list[str]) -> None:
    for command in commands:
        done = work.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr


def _numbers(record: Mapping) -> printed.Numbers:
    testing = record["testing"]
    names = {"tests": "test_count", "passed": "tests_passed", "failed": "tests_failed", "skipped": "tests_skipped"}
    return {name: testing.get(key) for name, key in {**names, "coverage": "coverage_percentage"}.items()}


def _same(ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= _TO_A_TENTH


def _broken(work, row, first):
    row.breaks.apply(work.root)
    record = work.record("post-iteration")
    failed = record["testing"].get("tests_failed") or 0
    right = record["classification"] == "regression" and failed > first["testing"]["tests_failed"]
    return "right" if right else f"{record['classification']}, {failed} failed"


def _fixed(work, row, first):
    row.adds.apply(work.root)
    record = work.record("post-iteration")
    gained = record["testing"]["tests_passed"] - first["testing"]["tests_passed"]
    grave = [alert["type"] for alert in record["alerts"] if alert["severity"] in {"HIGH", "CRITICAL"}]
    right = gained >= 1 and record["classification"] != "regression" and not grave and record["verified"]
    return "right" if right else f"{record['classification']}, {gained} gained, {grave}"


def _not_built(work, source):
    text = source.read_text()
    source.write_text(text.removesuffix("?>\n") + _SYNTAX[source.suffix])
    record = work.record("post-iteration")
    raised = [alert["type"] for alert in record["alerts"]]
    wrong = {"test_deletion", "tests_dropped", "functionality_loss"} & {*raised}
    right = "build_broken" in raised and not wrong and record["integrity"]["verdict"] != "TAMPERED"
    return "right" if right else f"{record['classification']}, {raised}"


def _deleted(work, row):
    row.deletes.apply(work.root)
    record = work.record("post-iteration")
    raised = [alert["type"] for alert in record["alerts"]]
    losses = [alert for alert in record["alerts"] if alert["type"] in {"test_deletion", "tests_dropped"}]
    named = [name for alert in losses for name in alert["tests"]]
    right = named and all(row.gone in name for name in named)
    return "right" if right else f"{record['classification']}, {raised}, {named}"
