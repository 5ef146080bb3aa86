"""A table of the user's own: its file, which of its columns is which, a preview, and refusals."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import ipywidgets as widgets

from workbench.errors import ParameterError, WorkbenchError
from workbench.html_table import bold, html_table
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.style import named, wrapping_row
from workbench.panels.upload import Upload
from workbench.plotting.theme import SMALL
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_T = TypeVar("_T")

_NONE = ""
_ROWS = 4  # of the preview
_MOST_COLUMNS = 9  # of the preview
_LARGEST = 256 << 20  # B: chosen, some million rows of counters; it passes through the page


@dataclass(frozen=True)
class TableColumn:
    """A column that a table needs, or may have.

    ``other_names`` are names that it often has in files.
    """

    name: str
    meaning: str
    other_names: tuple[str, ...] = ()
    optional: bool = False


class OwnTable(Generic[_T]):
    """The upload of one table; ``changed`` is called when it was read, or refused."""

    def __init__(
        self,
        what: str,  # in the texts, such as ``runs``
        columns: Sequence[TableColumn],
        read: Callable[[Path, Mapping[str, str]], _T],  # file, and its names of our columns
        head: Callable[[Path, int], pd.DataFrame],  # file and rows -> its first rows, as texts
        changed: Callable[[], None],
        *,
        accept: str = ".csv,.txt,.tsv,.parquet",
    ) -> None:
        self._what, self._columns = what, {one.name: one for one in columns}
        self._read, self._head, self._changed = read, head, changed
        self._mute = Mute()
        self._data = b""
        self._folder = ""
        self.columns: dict[str, str] = {}  # the file's names of our columns, where they were chosen
        self.file_name = ""
        self.table: _T | None = None
        self.error = ErrorLine()
        self.upload = Upload(
            f"Upload {what}",
            lambda files: self.take(*next(iter(files.items()))),
            self.error,
            width="150px",
            tooltip=f"A table of {what}: {', '.join(self._columns)}; CSV, Parquet",
            accept=accept,
        )
        self.lists: dict[str, Any] = {
            one.name: inputs.Dropdown(
                options=[("", _NONE)],
                value=_NONE,
                tooltip=one.meaning,
                **named(one.name, "210px"),
            )
            for one in columns
        }
        self._about, self._preview = widgets.HTML(), widgets.HTML()
        self._mapping = wrapping_row(*self.lists.values())
        self.widget = widgets.VBox(
            [
                wrapping_row(self.upload, self._about),
                self._mapping,
                self.error,
                self._preview,
            ],
            layout=widgets.Layout(width="100%"),
        )
        for control in self.lists.values():
            control.observe(lambda _: self._mapped(), "value")
        self._show_parts()

    def take(self, name: str, data: bytes) -> None:
        """Read a file's content, and guess which of its columns is which."""
        if len(data) > _LARGEST:
            raise ParameterError(
                f"a file must have at most {_LARGEST >> 20} MiB; got {len(data) >> 20} MiB",
                key="upload",
            )
        self.error.say("")
        self.table = None
        self.file_name = PurePath(name.replace("\\", "/")).name or self._what
        self._data = data
        try:
            head = self._with_file(lambda path: self._head(path, _ROWS))
        except WorkbenchError as error:
            self._preview.value = self._about.value = ""
            self._data = b""
            self._show_parts()
            self._changed()
            raise self._without_folder(error) from error
        self._preview.value = _preview(head, self.file_name)
        theirs = [str(column) for column in head.columns]
        with self._mute:
            for ours, control in self.lists.items():
                guess = _guess(self._columns[ours], theirs)
                control.options = [("– none –", _NONE), *((one, one) for one in theirs)]
                control.value = guess
        self.columns = {}
        try:
            # Under its own names the reader may know more of a file, such as one of sacct.
            self._with_file(lambda path: self._read(path, {}))
        except WorkbenchError:
            self._take_lists()
        self._show_parts()
        self._read_again()

    def choose_columns(self, columns: Mapping[str, str]) -> None:
        """Set the file's names of some of our columns."""
        for ours, theirs in columns.items():
            if ours not in self.lists:
                raise ParameterError(
                    f"a table of {self._what} has no column {ours!r}"
                    f"{did_you_mean(ours, list(self.lists))}; it has {', '.join(self.lists)}",
                    key="columns",
                )
            known = [value for _, value in self.lists[ours].options]
            if theirs not in known:
                raise ParameterError(
                    f"{self.file_name or 'the file'} has no column {theirs!r}"
                    f"{did_you_mean(theirs, known)}",
                    key="columns",
                )
        with self._mute:
            for ours, theirs in columns.items():
                self.lists[ours].value = theirs
        self._mapped()

    def files(self) -> dict[str, dict[str, bytes]]:
        """Return the file under its name, for a session; nothing if there is none."""
        return {self.file_name: {self.file_name: self._data}} if self._data else {}

    def mapping(self) -> dict[str, str]:
        """Return the file's names of all our columns, as the lists have them."""
        return {name: control.value for name, control in self.lists.items()} if self._data else {}

    def read_again(self) -> None:
        """Read the file once more, after a setting of the reading has changed."""
        if self._data:
            self._read_again()

    def _mapped(self) -> None:
        if not self._mute.on:
            self._take_lists()
            self._read_again()

    def _take_lists(self) -> None:
        """Take the columns as the lists have them."""
        chosen = {name: control.value for name, control in self.lists.items() if control.value}
        self.columns = {ours: theirs for ours, theirs in chosen.items() if ours != theirs}

    def _read_again(self) -> None:
        """Read the table with the chosen columns; an error is shown, and there is no table."""
        self.error.say("")
        self.table = None
        self._about.value = ""
        try:
            self._refuse_twice()
            self.table = self._with_file(lambda path: self._read(path, self.columns))
            self._about.value = f"<b>{html.escape(self.file_name)}</b>: {_facts(self.table)}"
        except WorkbenchError as error:
            self.error.say(f"{self._without_folder(error)}{self._missing()}")
        self._changed()

    def _with_file(self, action: Callable[[Path], Any]) -> Any:
        """Call a function with the path of a file that holds the data."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.file_name
            path.write_bytes(self._data)
            self._folder = folder
            return action(path)

    def _without_folder(self, error: WorkbenchError) -> ParameterError:
        """Return an error whose message names the file as the user does."""
        return ParameterError(str(error).replace(f"{self._folder}/", ""), key="upload")

    def _refuse_twice(self) -> None:
        """Raise ParameterError where one column of the file is chosen for two of ours."""
        chosen = [control.value for control in self.lists.values() if control.value]
        twice = sorted({theirs for theirs in chosen if chosen.count(theirs) > 1})
        if twice:
            ours = [name for name, control in self.lists.items() if control.value == twice[0]]
            raise ParameterError(
                f"each column of {self.file_name} can be one of ours; {twice[0]} is chosen for "
                f"{' and '.join(ours)}",
                key="columns",
            )

    def _missing(self) -> str:
        """Return what to choose, where columns that are needed are not chosen."""
        names = [
            name
            for name, column in self._columns.items()
            if not column.optional and not self.lists[name].value
        ]
        return f"; choose above which column is {' and which is '.join(names)}" if names else ""

    def _show_parts(self) -> None:
        shown = "" if self._data else "none"
        self._mapping.layout.display = self._preview.layout.display = shown


def _facts(table: Any) -> str:
    """Return what a table holds, and its notes, as HTML."""
    text = repr(table).partition("(")[2].rpartition(")")[0]
    notes = "".join(f"<br>{html.escape(note)}." for note in getattr(table, "notes", ()))
    return f"{html.escape(text)}<span style='{SMALL}'>{notes}</span>"


def _preview(head: pd.DataFrame, name: str) -> str:
    """Return the first rows of a file as an HTML table."""
    shown = head.iloc[:_ROWS, :_MOST_COLUMNS]
    more = len(head.columns) - len(shown.columns)
    rows = [[str(cell) for cell in row] for row in shown.itertuples(index=False)]
    beyond = f", {more} more columns" if more > 0 else ""
    caption = f"The first rows of {name}{beyond}"
    columns = [str(column) for column in shown.columns]
    return html_table(rows, columns, bold(caption), align="l", cell_style="white-space:nowrap")


def _guess(column: TableColumn, theirs: Sequence[str]) -> str:
    """Return the file's column that has the name of ours, or one that it often has."""
    plain = {_plain(name): name for name in reversed(theirs)}
    names = (column.name, *column.other_names)
    return next((plain[_plain(name)] for name in names if _plain(name) in plain), _NONE)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
