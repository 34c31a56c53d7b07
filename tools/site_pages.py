"""A hook of MkDocs: README and CONTRIBUTING become pages, links lead to pages, fences are as MkDocs reads them."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

CHECKOUT = Path(__file__).resolve().parents[1]
ADDED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
_FENCE = re.compile(r"^(```\w+) no-test$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie at the root of the checkout."""
    for name, page in ADDED.items():
        files.append(File.generated(config, page, content=(CHECKOUT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Rewrite the links of a page from where it lies in the checkout to where it is in the site."""
    folder = CHECKOUT if page.file.src_uri in ADDED.values() else CHECKOUT / "docs"
    return _LINK.sub(lambda link: _rewritten(link, folder), _FENCE.sub(r"\1", markdown))


def _rewritten(link: re.Match[str], folder: Path) -> str:
    """Return a link to a page or picture of the site, or the text and path of a file that is none."""
    image, text, target, anchor = link[1], link[2], link[3], link[4] or ""
    path = (folder / target).resolve().relative_to(CHECKOUT)
    if path.parts[0] == "docs":
        return f"{image}[{text}]({path.relative_to('docs')}{anchor})"
    page = ADDED.get(str(path))
    return f"{text} (`{path}`)" if page is None else f"[{text}]({page}{anchor})"
