"""Rates and latencies of a machine's network from data sheets.

These are statements, not measurements. Where no vendor states a figure, an assumed value is used
that says
so: every quantity is either ``published``, with the place where it was read, or ``assumed``, with
the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from workbench import datasets
from workbench.errors import ParameterError, ParseError
from workbench.html_table import html_table
from workbench.jsonfile import parse_json
from workbench.result import Result
from workbench.suggestions import did_you_mean
from workbench.units import Kind, format_quantity, parse_typed_quantity

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["published", "assumed"]
STATUSES: tuple[str, ...] = get_args(Status)

_FILE = "datasheet.json"
_KINDS: Mapping[str, Kind] = {
    "link_rate": "bandwidth",
    "switch_latency": "time",
    "nic_latency": "time",
}


def datasheet(machine: str) -> DataSheet:
    """Return the data sheet of the network of a shipped machine.

    Args:
        machine: name of a dataset.

    Raises:
        DatasetError: there is no such dataset, or its data sheet is missing or was changed.
        ParseError: the data sheet is not in the form that ``read_datasheet`` reads.
    """
    return read_datasheet(datasets.text(machine, _FILE), source=f"{machine}/{_FILE}")


@dataclass(frozen=True)
class Stated:
    """One figure of a data sheet.

    Attributes:
        value: in SI units.
        kind: its quantity, which decides the unit.
        text: the figure as stated, such as ``200Gb/s``.
        status: ``published`` if the source states it, ``assumed`` if it is a stand-in.
        source: title of the source; empty for an assumption without one.
        url: address of the source; empty if it has none.
        note: remark on the figure; the reason if it is assumed.
    """

    value: float
    kind: Kind
    text: str
    status: Status
    source: str
    url: str
    note: str

    def __repr__(self) -> str:
        return f"{format_quantity(self.value, self.kind)} ({self.status})"


@dataclass(frozen=True)
class DataSheet(Result):
    """Data-sheet figures of a machine's network.

    Attributes:
        machine: name of its dataset.
        link_rate: rate of a node's link to the network, B/s.
        switch_latency: time through one switch, s.
        nic_latency: time through the network card, s.
    """

    machine: str
    link_rate: Stated
    switch_latency: Stated
    nic_latency: Stated

    @property
    def quantities(self) -> dict[str, Stated]:
        """The figures by name."""
        return {name: getattr(self, name) for name in _KINDS}

    @property
    def assumed(self) -> tuple[str, ...]:
        """Names of the figures that are assumed, not published."""
        return tuple(name for name, s in self.quantities.items() if s.status == "assumed")

    def to_frame(self) -> pd.DataFrame:
        """Return one row a figure: value in SI units, text, status, source, address and note."""
        import pandas as pd

        rows = [
            {
                "quantity": name,
                "value": stated.value,
                "stated": stated.text,
                "status": stated.status,
                "source": stated.source,
                "url": stated.url,
                "note": stated.note,
            }
            for name, stated in self.quantities.items()
        ]
        return pd.DataFrame(rows).set_index("quantity")

    def __repr__(self) -> str:
        return (
            f"DataSheet({self.machine}, link {self.link_rate}, switch {self.switch_latency}, "
            f"NIC {self.nic_latency})"
        )

    def _repr_html_(self) -> str:
        rows = (
            (
                name.replace("_", " "),
                format_quantity(stated.value, stated.kind),
                *(stated.status, stated.source, stated.note),
            )
            for name, stated in self.quantities.items()
        )
        head = ("figure", "value", "status", "source", "note")
        return html_table(rows, head, f"{self.machine}: data sheet", align="lrl")


def read_datasheet(text: str, *, source: str = "text") -> DataSheet:
    """Return the data sheet in a JSON text.

    Args:
        text: ``{"machine": …, "link_rate": {"value": "200Gb/s", "status": "published",
            "source": …, "url": …, "note": …}, "switch_latency": …, "nic_latency": …}``.
        source: name of the file, for messages.

    Raises:
        ParseError: the text is not such a data sheet.
    """
    values = parse_json(text, "a data sheet", source=source)
    if not isinstance(values.get("machine"), str):
        raise ParseError("a data sheet must name its machine", source=source)
    extra = sorted(set(values) - {"machine", *_KINDS})
    if extra:
        raise ParseError(
            f"a data sheet holds {', '.join(_KINDS)}; got {', '.join(extra)} too", source=source
        )
    stated = {name: _stated(name, values.get(name), source) for name in _KINDS}
    return DataSheet(values["machine"], **stated)


def _stated(name: str, entry: Any, source: str) -> Stated:
    if not isinstance(entry, dict):
        raise ParseError(f"{name} must be stated, with value and status", source=source)
    stated = {key: entry.get(key, "") for key in ("value", "status", "source", "url", "note")}
    for key, text in stated.items():
        if not isinstance(text, str):
            raise ParseError(f"{name}.{key} must be a text; got {text!r}", source=source)
    if stated["status"] not in STATUSES:
        raise ParseError(
            f"{name}.status must be one of {', '.join(STATUSES)}; got {stated['status']!r}"
            f"{did_you_mean(stated['status'], STATUSES)}",
            source=source,
        )
    needed = "source" if stated["status"] == "published" else "note"
    if not stated[needed]:
        why = "where it is published" if needed == "source" else "why it is assumed"
        raise ParseError(f"{name}.{needed} must say {why}", source=source)
    kind = _KINDS[name]
    try:
        value = float(parse_typed_quantity(stated["value"], kind, name=f"{name}.value"))
    except ParameterError as error:
        raise ParseError(str(error), source=source) from error
    if not value > 0:
        raise ParseError(f"{name}.value must be positive; got {stated['value']!r}", source=source)
    status: Status = "published" if stated["status"] == "published" else "assumed"
    return Stated(
        value, kind, stated["value"], status, stated["source"], stated["url"], stated["note"]
    )
