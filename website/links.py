"""Every link of the built site leads to a page, file or heading in it, and nothing is fetched from elsewhere.

``python -m website.links build/site`` prints what does not, and ends with exit status 1 then. Links that a reader
follows to other sites are not looked up.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""Elements and attributes that a browser follows by itself."""

RELATIONS = {"stylesheet", "icon", "preload", "preconnect", "prefetch"}
"""Of an element ``link``, the relations that a browser follows by itself."""


class Page(HTMLParser):
    """A page: its anchors, and its links as (address, whether a browser follows it by itself)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what an element says."""
        known = {name: value or "" for name, value in attrs}
        self.anchors |= {known[name] for name in ("id", "name") if name in known}
        for name in ("href", "src"):
            if name in known:
                relations = set(known.get("rel", "stylesheet").split()) if tag == "link" else RELATIONS
                self.links.append((known[name], (tag, name) in FETCHED and bool(relations & RELATIONS)))


def faults(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere, or has something fetched from elsewhere."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for address, is_fetched in page.links:
            if fault := _fault(site, file, address, is_fetched, pages):
                yield f"{file.relative_to(site)}: {address}: {fault}"


def _fault(site: Path, file: Path, address: str, is_fetched: bool, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return "fetched from elsewhere" if is_fetched and parts.scheme != "data" else None
    path = unquote(parts.path)
    target = file if not path else (site / path[1:] if path.startswith("/") else file.parent / path).resolve()
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such heading" if parts.fragment != "__skip" else None
    return None


def main() -> int:
    """Print what is wrong with the site that is named."""
    site = Path(sys.argv[1]).resolve()
    found = list(faults(site))
    print("\n".join(found) or f"{site}: every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
