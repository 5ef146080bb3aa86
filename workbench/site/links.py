"""The check of a built site: each link and anchor is there, and nothing is asked elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose address a browser asks for by itself.
_ASKED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
_LEFT_OUT = {"canonical", "search", "next", "prev", "index"}


@dataclass
class PageLinks(HTMLParser):
    """The anchors and links of a page."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element is called and what it points to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if given.get("rel") in _LEFT_OUT:
            return
        for name in ("href", "src"):
            if name in given:
                (self.asked if (tag, name) in _ASKED else self.links).add(given[name])


def broken_links(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and each address on another machine."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    complaints = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for address in sorted(page.asked):
            if urlsplit(address).scheme not in ("", "data") or address.startswith("//"):
                complaints.append(f"{name}: asks another machine: {address}")
        for address in sorted(page.links | page.asked):
            if reason := _wrong(path, address, pages):
                complaints.append(f"{name}: {address}: {reason}")
    return complaints


def _read(path: Path) -> PageLinks:
    page = PageLinks()
    page.feed(path.read_text("utf-8"))
    return page


def _wrong(page: Path, address: str, pages: dict[Path, PageLinks]) -> str:
    """Return why a link of a page leads nowhere; empty if it leads somewhere."""
    parts = urlsplit(address)
    if parts.scheme or address.startswith("//"):
        return ""
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return ""
