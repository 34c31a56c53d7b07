"""Real pytest runs that go wrong, through the command line: one alert in words, and the next iteration works."""

import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

GOOD = "def test_one():\n    assert True\n\n\ndef test_two():\n    assert True\n"
RUN = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={reports}/junit.xml"]
BYTES = """
import sys


def test_one():
    sys.stdout.buffer.write(b'\\xff\\xfe\\x80')
    assert 0, '\\udcff \\x00 \\x1b[31m'
"""


@pytest.fixture
def shop(workshop):
    """Return a project whose check is pytest; two of its tests pass."""
    shop = workshop.configure({"tests": {"run": RUN, "reports": ["{reports}/junit.xml"], "timeout": 20}})
    shop.write("test_app.py", GOOD)
    return shop


@pytest.fixture
def ralph(shop, capsys):
    """Run a command that has to exit with 0 and complain of nothing, and return what it prints."""

    def call(*words: str) -> str:
        code = run([*words, "--root", str(shop.root)])
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        return said.out

    return call


@pytest.mark.parametrize(
    ("content", "alerts", "word"),
    [
        pytest.param(None, ["CRITICAL it1-test_deletion"], "Test count decreased from 2 to 0", id="no tests"),
        pytest.param(
            "x = 1\n", ["CRITICAL it1-test_deletion"], "Test count decreased from 2 to 0", id="none collected"
        ),
        pytest.param("import nowhere\n", ["CRITICAL it1-"], "", id="collection error"),
        pytest.param("def f(:\n", ["CRITICAL it1-"], "", id="syntax error"),
        pytest.param(
            "import os\n\n\ndef test_one():\n    os.kill(os.getpid(), 9)\n",
            ["HIGH it1-metric_missing"],
            "killed by SIGKILL",
            id="killed by a signal",
        ),
        pytest.param(
            "import os\n\n\ndef test_one():\n    os._exit(0)\n",
            ["HIGH it1-metric_missing"],
            "did not write {reports}/junit.xml",
            id="report absent",
        ),
        pytest.param(BYTES, ["CRITICAL it1-"], "", id="no UTF-8"),
    ],
)
def test_a_run_that_goes_wrong_is_alerts_in_words_and_the_next_iteration_works(shop, ralph, content, alerts, word):
    ralph("hook", "pre-loop")
    if content is None:
        (shop.root / "test_app.py").unlink()
    else:
        shop.write("test_app.py", content)
    broken = ralph("hook", "post-iteration")
    for alert in alerts:
        assert f"  {alert}" in broken
    assert word in " ".join(broken.split())  # lines of the screen
    shop.write("test_app.py", GOOD)
    fixed = ralph("hook", "post-iteration")
    assert "CRITICAL it2-" not in fixed
    assert "HIGH it2-" not in fixed
    assert "still open" not in fixed
    ralph("verify")


def test_a_test_that_writes_into_the_tree_is_named(shop, ralph):
    shop.write("test_app.py", GOOD + "    open('app.py', 'a').write('# more\\n')\n")
    assert "tree_changed_by_checks: app.py" in ralph("hook", "pre-loop", "--json")
    assert "tree_changed_by_checks: app.py" in ralph("hook", "post-iteration", "--json")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process")
def test_200_mb_of_output_are_cut_in_bounded_memory_and_the_report_beside_them_counts(workshop):
    """Standard output is named as a report too: that one is missing, in one line; the other is read."""
    line = 'yes 0123456789 | head -c 200M; cp results.xml "$1/junit.xml"'
    shop = workshop.write("measure.sh", line) and workshop.configure(
        {
            "lint": {"run": ["/bin/sh", "measure.sh", "{reports}"], "reports": ["-"]},
            "tests": {"run": ["true"], "reports": ["{reports}/junit.xml"]},
        }
    )
    program = (
        "import sys\nfrom pathlib import Path\nfrom ralph_tracker.cli.app import run\n"
        f"code = run(['hook', 'pre-loop', '--root', {str(shop.root)!r}])\n"
        "peak = Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0]\n"
        "print('peak', peak, file=sys.stderr)\nsys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stdout.count("metric_missing") == 1
    assert "cut off: standard output was longer than what is stored of it" in " ".join(done.stdout.split())
    name, peak = done.stderr.split()
    assert name == "peak"
    assert int(peak) * 1024 < 150_000_000, peak
    assert sum(path.stat().st_size for path in shop.paths.folder.rglob("*") if path.is_file()) < 3_000_000
    assert shop.turn().metrics.test_count == 4
