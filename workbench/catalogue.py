"""A list of what ships, by name: prints itself as a table, and knows what a wrong name may mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from workbench.errors import DatasetError
from workbench.html_table import html_table
from workbench.result import Result

if TYPE_CHECKING:
    import pandas as pd
from workbench.suggestions import did_you_mean


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_T = TypeVar("_T", bound=_Named)


class Catalogue(Result, Generic[_T]):
    """A table of named things: iterates over the names, returns the thing of a name.

    Args:
        kind: of the things, for errors, such as ``dataset``.
        things: the things, in the order of the table.
        columns: headings of the table's columns.
        cells: texts of each thing's row, one for each column.
    """

    def __init__(
        self,
        kind: str,
        things: Sequence[_T],
        columns: Sequence[str],
        cells: Sequence[Sequence[str]],
    ) -> None:
        self._kind = kind
        self._things = tuple(things)
        self._rows = (tuple(columns), *(tuple(row) for row in cells))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the table."""
        return tuple(thing.name for thing in self._things)

    @property
    def things(self) -> tuple[_T, ...]:
        """The listed things, in the order of the table."""
        return self._things

    def to_frame(self) -> pd.DataFrame:
        """Return one row a thing, with the columns of the table."""
        import pandas as pd

        head, *body = self._rows
        return pd.DataFrame(body, columns=list(head))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows of the table, by the names of its columns."""
        return {f"{self._kind}s": self.to_frame().to_dict("records")}

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, name: str) -> _T:
        for thing in self._things:
            if thing.name == name:
                return thing
        raise DatasetError(
            f"no {self._kind} is named {name!r}"
            f"{did_you_mean(name, self.names)}; known: {', '.join(self.names) or 'none'}"
        )

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in self._rows
        )

    def _repr_html_(self) -> str:
        # Words to the left, numbers to the right, as they are read.
        align = "".join(
            "r" if len(cells) > 1 and all(cell.isdigit() for cell in cells[1:]) else "l"
            for cells in zip(*self._rows, strict=True)
        )
        head, *rows = self._rows
        return html_table(rows, head, align=align)
