"""The export tab: a button for each file type and picture, and a description of each."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels.error_line import ErrorLine
from workbench.panels.live_view import Downloads
from workbench.panels.style import push_button, wrapping_row
from workbench.plotting.picture import PNG_SCALE, WIDTH_PX

_MIME = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".ini": "text/plain",
    ".goal": "text/plain",
    ".html": "text/html",
    ".graphml": "application/xml",
    ".rankfile": "text/plain",
    ".hostfile": "text/plain",
}


class ExportTab:
    """Buttons that save files and pictures."""

    def __init__(
        self,
        about: Mapping[str, str],  # content of a file, by suffix
        make: Callable[[str], tuple[str, str]],  # suffix -> (file stem, text)
        pictures: Mapping[str, tuple[Downloads, Callable[[], str]]],  # by label; callable: stem
        caption: Callable[[str], str] = lambda _: "",  # label -> text below the picture
    ) -> None:
        self._pictures, self._caption = pictures, caption
        self._make = make
        self._downloads = next(downloads for downloads, _ in pictures.values())
        self._saved = widgets.HTML()
        self.error = ErrorLine()
        self.buttons: dict[str, Any] = {}
        for suffix, text in about.items():
            button = push_button(suffix[1:].upper(), f"Save {text}")
            self._on_click(button, partial(self._offer, suffix))
            self.buttons[suffix] = button
        for what in pictures:
            for kind in ("PNG", "SVG"):
                text = f"{kind} {what}".strip()
                button = push_button(text, f"Save a picture for a paper, {about_picture(kind)}")
                button.layout.width = "140px" if what else "88px"
                self._on_click(button, partial(self._offer_picture, what, kind.lower()))
                self.buttons[text] = button
        self._about = about
        self._legend = widgets.HTML()
        self.describe()
        self.widget = widgets.VBox(
            [wrapping_row(*self.buttons.values()), self.error, self._saved, self._legend]
        )

    def describe(self, files_of: str = "", notes: Mapping[str, str] | None = None) -> None:
        """List the files: ``files_of`` names what they hold, ``notes`` adds to a suffix's text."""
        more = notes or {}
        files = _list(
            {
                suffix[1:].upper(): "; ".join([text, *([more[suffix]] if suffix in more else [])])
                for suffix, text in self._about.items()
            }
        )
        pictures = _list({kind: f"a picture, {about_picture(kind)}" for kind in ("PNG", "SVG")})
        if files_of:
            files = f"<p>Values of {html.escape(files_of)}:</p><ul>{files}</ul>"
            self._legend.value = f"{files}<p>The figures as drawn above:</p><ul>{pictures}</ul>"
        else:
            self._legend.value = f"<ul>{files}{pictures}</ul>"

    def _offer(self, suffix: str) -> None:
        self.error.say("")
        stem, text = self._make(suffix)
        name = f"{file_stem(stem)}{suffix}"
        self._downloads.offer(name, text, _MIME[suffix])
        self._say(name)

    def _offer_picture(self, what: str, suffix: str) -> None:
        self.error.say("")
        downloads, stem = self._pictures[what]
        name = f"{file_stem(stem())}.{suffix}"
        downloads.offer_picture(name, self._caption(what))
        self._say(name)

    def _on_click(self, button: Any, action: Callable[[], None]) -> None:
        button.on_click(lambda _: self.error.guard(action))

    def _say(self, name: str) -> None:
        self._saved.value = f"{html.escape(name)} was sent to the browser."


def _list(texts: Mapping[str, str]) -> str:
    """Return list items in HTML: each name in bold, and its text."""
    return "".join(f"<li><b>{name}</b>: {html.escape(text)}</li>" for name, text in texts.items())


def about_picture(kind: str) -> str:
    """Return the size of a saved picture, ``PNG`` or ``SVG``, in words."""
    size = f"{PNG_SCALE * WIDTH_PX} pixels" if kind == "PNG" else f"{WIDTH_PX} px, lines and text"
    return f"7 inches ({size}) wide, light, the same on every screen"


def write_file(
    path: str | Path, suffixes: Collection[str], make: Callable[[str], tuple[str, str]]
) -> Path:
    """Write the file that a path's suffix asks for; ``make`` returns (file stem, text)."""
    target = Path(path)
    if target.suffix not in suffixes:
        raise ParameterError(
            f"the file's suffix must be one of {', '.join(suffixes)}; got {target.name!r}",
            key="path",
        )
    target.write_text(make(target.suffix)[1], encoding="utf-8")
    return target


def file_stem(text: str) -> str:
    """Return a text as a file name that every operating system accepts."""
    return "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in text)
