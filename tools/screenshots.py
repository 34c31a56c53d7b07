"""Take pictures of everything that people look at, in a real Chromium, of loops that are driven for it.

    python tools/screenshots.py [FOLDER | --readme]

The default folder is dist/screenshots. Skips, saying so, where Chromium or Playwright is missing. With --readme
the three of the README are written to docs/images.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

try:
    from playwright.sync_api import sync_playwright
except ModuleNotFoundError:
    sync_playwright = None

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHECKOUT = Path(__file__).resolve().parent.parent
TRACKER = str(Path(sys.executable).parent / "ralph-tracker")
MODULES = Path(os.environ.get("RALPH_TRACKER_BROWSER", "none")) / "node_modules"
CHROMIUM = os.environ.get("RALPH_TRACKER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
COMPARED = "/compare?loop=ralph-001&loop=ralph-002&"
AGENT = """\
case $RALPH_ITERATION in
  1) echo "# The sums of money are in cents." >> tally/money.py; echo "Explained the unit" ;;
  2) printf '\\n\\ndef unused():\\n    import os\\n' >> tally/invoice.py; echo "Added a helper" ;;
  *) echo "Reading tests/test_statement.py"; echo "Editing tally/statement.py: the empty statement"; sleep 600 ;;
esac
"""
GITHUB = """
body { max-width: 50rem; margin: 2rem auto; font: 16px/1.5 -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
table { border-collapse: collapse; display: block; } td, th { border: 1px solid #d0d7de; padding: 6px 13px; }
tr:nth-child(2n) { background: #f6f8fa; } h1, h2 { border-bottom: 1px solid #d0d7de; padding-bottom: .3em; }
code { background: #eff1f3; border-radius: 6px; padding: .2em .4em; font-size: 85%; }
"""


def tracker(root: Path, *words: str, **environment: str) -> str:
    """Return what a verb prints."""
    run = subprocess.run(
        [TRACKER, *words], cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return run.stdout


def of_terminal(text: str, title: str, columns: int) -> str:
    """Return what a terminal of that width shows as SVG."""
    console = Console(record=True, width=columns, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text), soft_wrap=True)
    # Its fonts would be fetched from elsewhere: those of the reader do.
    return re.sub(r"@font-face \{.*?\}", "", console.export_svg(title=title), flags=re.DOTALL)


def other_loop(root: Path) -> None:
    """Record a second loop, with metrics handed in, so that there is something to compare."""
    for number, (passed, coverage) in enumerate(((8, 67), (9, 70), (11, 74), (13, 71), (14, 88), (14, 90))):
        phase = "post-iteration" if number else "pre-loop"
        file = root.parent / "metrics.yaml"
        file.write_text(
            f"testing: {{test_count: 17, tests_passed: {passed}, tests_failed: {17 - passed}, "
            f"coverage_percentage: {coverage}}}\nquality: {{lint_errors: {6 - number}}}\n"
        )
        tracker(root, "hook", phase, "--metrics", str(file))
    tracker(root, "hook", "post-loop")


@contextmanager
def running(root: Path) -> Iterator[None]:
    """Drive a third loop whose agent is at work in its third iteration while the body runs."""
    script = root.parent / "agent.sh"
    script.write_text(AGENT)
    run = subprocess.Popen(
        [TRACKER, "run", "--trust", "--", "sh", str(script)],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for _ in range(240):
            if "the agent works on iteration 3" in tracker(root, "watch", "--once"):
                break
            time.sleep(0.5)
        time.sleep(2)
        yield
    finally:
        os.killpg(run.pid, 9)
        run.wait()


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Yield the address that `serve` prints."""
    server = subprocess.Popen([TRACKER, "serve"], cwd=root, stdout=subprocess.PIPE, text=True)
    try:
        server.stdout.readline()
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


def github(markdown: str) -> str:
    """Return Markdown as a page that looks like GitHub's, with its diagrams to be drawn by mermaid."""
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    fence = r'<pre><code class="language-mermaid">(.*?)</code></pre>'
    html = re.sub(fence, r'<pre class="mermaid">\1</pre>', html, flags=re.DOTALL)
    return f"<style>{GITHUB}</style>{html}"


class Camera:
    """A Chromium that takes pictures of pages into a folder."""

    def __init__(self, chromium: "Browser", folder: Path) -> None:
        self._chromium, self.folder = chromium, folder

    def shoot(self, name: str, address: str, *, mermaid: bool = False, whole: bool = True, **options: object) -> None:
        """Take a picture of a page once it has come to rest, the whole of it or what its first screen shows."""
        context = self._chromium.new_context(
            **{"viewport": {"width": 1000, "height": 400}, "bypass_csp": True} | options
        )
        page = context.new_page()
        page.goto(address)
        if mermaid and (MODULES / "mermaid").is_dir():
            page.add_script_tag(path=MODULES / "mermaid/dist/mermaid.min.js")
            page.evaluate("mermaid.run()")
        # What a page draws once it is scrolled to is in the picture, too.
        page.add_style_tag(content="section { content-visibility: visible !important }")
        page.wait_for_timeout(1500)
        page.screenshot(path=self.folder / f"{name}.png", full_page=whole)
        context.close()

    def terminal(self, name: str, text: str, columns: int = 100) -> None:
        """Take a picture of what a terminal of that width shows."""
        svg = of_terminal(text, f"ralph-tracker {name.partition('-')[0]}", columns)
        (self.folder / f"{name}.svg").write_text(svg)
        width = 12 * columns + 40
        page = self._page(f"<style>svg {{ width: {width}px }}</style>{svg}")
        self.shoot(name, page, viewport={"width": width + 20, "height": 200})

    def markdown(self, name: str, text: str) -> None:
        """Take a picture of Markdown as GitHub shows it."""
        self.shoot(name, self._page(github(text)), mermaid=True)

    def paper(self, name: str, address: str) -> None:
        """Print a page, and take pictures of its sheets where pdftoppm is installed."""
        page = self._chromium.new_page()
        page.goto(address)
        page.pdf(path=self.folder / f"{name}.pdf", format="A4")
        page.close()
        if shutil.which("pdftoppm"):
            subprocess.run(["pdftoppm", "-r", "60", "-png", f"{name}.pdf", name], cwd=self.folder, check=True)

    def _page(self, html: str) -> str:
        file = self.folder / "page.html"
        file.write_text(f"<!doctype html><meta charset=utf-8>{html}")
        return file.as_uri()


def finished(camera: Camera, root: Path) -> None:
    """Take pictures of a finished loop: the terminal, Markdown, the page."""
    reports = root / ".aiwg/ralph/ralph-001/reports"
    camera.terminal("status", tracker(root, "status", COLUMNS="100"))
    camera.terminal("show", tracker(root, "show", "3", COLUMNS="100"))
    for name in ("loop-report", "output-selection", "iteration-003-report"):
        camera.markdown(f"markdown-{name}", (reports / f"{name}.md").read_text())
    camera.markdown("markdown-pull-request", tracker(root, "report", "--md", "--for", "pr"))
    html = root.parent / "loop.html"
    tracker(root, "report", "--html", str(html))
    camera.shoot("page-light", html.as_uri())
    camera.shoot("page-dark", html.as_uri(), color_scheme="dark")
    camera.shoot("page-narrow", html.as_uri(), viewport={"width": 360, "height": 400})
    camera.paper("page-print", html.as_uri())


def live(camera: Camera, root: Path) -> None:
    """Take pictures while an agent is at work: watch and serve."""
    with running(root), served(root) as address:
        start, _, token = address.partition("/?")
        camera.terminal("watch", tracker(root, "watch", "--once", FORCE_COLOR="1", COLUMNS="100"))
        camera.terminal("watch-narrow", tracker(root, "watch", "--once", FORCE_COLOR="1", COLUMNS="44"), 44)
        camera.terminal("watch-no-colour", tracker(root, "watch", "--once", NO_COLOR="1", COLUMNS="80"), 80)
        pages = {
            "dashboard": "/?",
            "compare": COMPARED,
            "live": "/loops/ralph-003?",
            "diff": "/loops/ralph-001/diff?before=4&after=6&",
        }
        for name, path in pages.items():
            camera.shoot(f"serve-{name}", f"{start}{path}{token}")
        camera.shoot("serve-dashboard-dark", f"{start}/?{token}", color_scheme="dark")
        camera.shoot("serve-live-narrow", f"{start}/loops/ralph-003?{token}", viewport={"width": 360, "height": 400})


def for_readme(camera: Camera, root: Path) -> None:
    """Take the three pictures of the README: watch, the page of a loop, loops compared."""
    text = tracker(root, "watch", "--once", "--loop-id", "ralph-001", FORCE_COLOR="1", COLUMNS="84")
    (camera.folder / "watch.svg").write_text(of_terminal(text, "ralph-tracker watch", 84))
    with served(root) as address:
        start, _, token = address.partition("/?")
        for name, path, height in (("loop", "/loops/ralph-001?", 700), ("compare", COMPARED, 470)):
            size = {"width": 900, "height": height}
            camera.shoot(name, f"{start}{path}{token}", whole=False, viewport=size)


def main() -> int:
    """Write the pictures, and say where."""
    if sync_playwright is None or CHROMIUM is None:
        print(f"{'playwright' if sync_playwright is None else 'Chromium'} is not installed; no picture is taken")
        return 0
    readme = "--readme" in sys.argv
    default = CHECKOUT / ("docs/images" if readme else "dist/screenshots")
    folder = Path(sys.argv[1]).resolve() if sys.argv[1:] and not readme else default
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        root = Path(scratch).resolve() / "sample"
        tracker(root.parent, "demo", "--folder", str(root))
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        camera = Camera(chromium, folder)
        if readme:
            other_loop(root)
            for_readme(camera, root)
        else:
            finished(camera, root)
            other_loop(root)
            live(camera, root)
        chromium.close()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
