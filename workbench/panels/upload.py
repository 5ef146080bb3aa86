"""Files of one's own: a button for those of the page's machine, a field for a path of the kernel's.

The button sends files in parts, so that their size is not bound by what a Jupyter server takes as
one message (10 MiB, tornado's ``websocket_max_message_size``), whoever has started the server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import traitlets
from anywidget import AnyWidget

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.kernel import on_loop
from workbench.panels.session.page import is_of_voila
from workbench.panels.session.session import Files

MOST_UPLOADED_B = 512_000_000  # chosen: a quarter of what a server of Binder gives a visitor, 2 GB
MOST_READ_B = 1 << 30  # chosen: so that a folder such as ~ is refused before it fills the memory


class Parts:
    """The parts of an upload, in their order, as far as they have come."""

    def __init__(self) -> None:
        self._upload = ""
        self._next = 0
        self._files: dict[str, bytearray] = {}

    def take(self, message: Mapping[str, Any], data: bytes | memoryview) -> Files | None:
        """Keep a part, once, and return the files by name where it was the last."""
        if message["upload"] != self._upload:
            self._upload, self._next, self._files = message["upload"], 0, {}
        if message["part"] != self._next:
            return None
        self._next += 1
        self._files.setdefault(message["name"], bytearray()).extend(data)
        if not message["last"]:
            return None
        files, self._files = self._files, {}
        return {name: bytes(content) for name, content in files.items()}


class _Button(AnyWidget):
    """A button that uploads files; upload.js draws it."""

    _esm = traitlets.Unicode(Path(__file__).with_name("upload.js").read_text(encoding="utf-8")).tag(
        sync=True
    )
    description = traitlets.Unicode().tag(sync=True)
    tooltip = traitlets.Unicode().tag(sync=True)
    accept = traitlets.Unicode().tag(sync=True)
    multiple = traitlets.Bool().tag(sync=True)
    disabled = traitlets.Bool().tag(sync=True)
    most_bytes = traitlets.Int(MOST_UPLOADED_B).tag(sync=True)
    instead = traitlets.Unicode().tag(sync=True)
    """What to do with more than ``most_bytes``."""


class Upload(widgets.Box):  # type: ignore[misc]
    """A button for files of the browser's machine, and a field for a path where the kernel runs.

    On a page of Voilà there is no field: its visitors may not read the server's files.
    """

    disabled = traitlets.Bool(False)

    def __init__(
        self,
        description: str,
        take: Callable[[Files], object],  # called with the files by name
        error: ErrorLine,  # where the errors of both are shown
        *,
        width: str,  # of the button
        tooltip: str,
        accept: str = "",  # suffixes, such as ``.csv,.txt``
        multiple: bool = False,
        archive: str = "",  # suffix of a file that is read with all files of its folder and below
    ) -> None:
        self._take, self._error, self._parts = take, error, Parts()
        self._suffixes = tuple(filter(None, accept.split(",")))
        self._multiple, self._archive = multiple, archive
        pages = is_of_voila()
        most = f"up to {MOST_UPLOADED_B / 1e6:g} MB"
        self.button = _Button(
            description=description,
            tooltip=f"{tooltip}; {most}" + ("" if pages else ", more by a path"),
            accept=accept,
            multiple=multiple,
            instead="" if pages else "Type its path where the kernel runs in the field beside.",
            layout=widgets.Layout(width=width, margin="2px"),
        )
        kind = "file or folder" if multiple else "file"
        self.path: Any = inputs.Text(
            continuous_update=False,
            placeholder="or a path, such as ~/run-1",
            tooltip=f"Path of a {kind} on the machine where the kernel runs; ~ is its home",
            layout=widgets.Layout(width="190px", margin="2px 8px 2px 2px"),
        )
        super().__init__(
            [self.button] if pages else [self.button, self.path],
            layout=widgets.Layout(
                flex_flow="row wrap", align_items="flex-start", overflow="visible"
            ),
        )
        self.button.on_msg(self._heard)
        self.path.observe(self._typed, "value")

    def take(self, files: Files) -> None:
        """Take files as an upload does; what is wrong with them is shown."""
        self._error.say("")
        self._error.guard(lambda: self._take(files))

    def take_path(self, path: str) -> None:
        """Read the file or folder of a path, and take it as an upload."""
        self._take(self._read(Path(path.strip()).expanduser()))

    def _heard(self, _: Any, message: Mapping[str, Any], buffers: list[memoryview]) -> None:
        files = self._parts.take(message, buffers[0])
        self.button.send({"upload": message["upload"], "part": message["part"]})
        if files is not None:
            on_loop(lambda: self._finish(message["upload"], files))

    def _finish(self, upload: str, files: Files) -> None:
        self.take(files)
        self.button.send({"upload": upload, "part": "taken"})

    def _typed(self, change: Any) -> None:
        if not change["new"].strip():
            return
        self._error.say("")
        self._error.guard(lambda: self._take_typed(change["new"]))

    def _take_typed(self, path: str) -> None:
        self.take_path(path)
        self.path.value = ""  # what was refused stays, to be mended

    def _read(self, path: Path) -> Files:
        """Return the files of a path, by name."""
        if self._archive and path.name.endswith(self._archive):
            path = path.parent
        paths = self._files_of(path)
        try:
            size = sum(one.stat().st_size for one in paths)
            if size > MOST_READ_B:
                raise self._refusal(
                    path, f"must hold at most {MOST_READ_B >> 30} GiB, not {size / 2**30:.1f}; "
                    "read it in Python"
                )  # fmt: skip
            return {one.name: one.read_bytes() for one in paths}
        except OSError as error:
            raise self._refusal(path, f"cannot be read: {error.strerror or error}") from error

    def _files_of(self, path: Path) -> list[Path]:
        if path.is_file():
            return [path]
        if not path.exists():
            where = f"; the nearest folder that is there is {_nearest(path)}"
            raise self._refusal(path, f"is not on the machine where the kernel runs{where}")
        if not self._multiple:
            raise self._refusal(path, "must be a file; it is a folder")
        try:
            inside = sorted(path.iterdir())
            if self._archive and any(one.name.endswith(self._archive) for one in inside):
                inside = sorted(path.rglob("*"))
        except OSError as error:
            raise self._refusal(path, f"cannot be read: {error.strerror or error}") from error
        found = [
            one
            for one in inside
            if one.is_file()
            and not one.name.startswith(".")
            and (not self._suffixes or one.suffix.lower() in self._suffixes)
        ]
        if not found:
            kinds = " or ".join(self._suffixes)
            raise self._refusal(path, f"must hold a file{kinds and f' of {kinds}'}; it holds none")
        return found

    def _refusal(self, path: Path, words: str) -> ParameterError:
        return ParameterError(f"{path} {words}", key="upload")

    @traitlets.observe("disabled")
    def _disable(self, change: Any) -> None:
        self.button.disabled = self.path.disabled = change["new"]


def _nearest(path: Path) -> Path:
    """Return the nearest folder above a path that exists."""
    return next(one for one in path.absolute().parents if one.is_dir())
