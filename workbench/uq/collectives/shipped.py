"""The measured collectives that ship with the workbench, checked against their checksums.

measured = load_measured("fugaku", "gather")
"""

from __future__ import annotations

from dataclasses import replace

from workbench.catalogue import Catalogue
from workbench.datapackage import DESCRIPTOR, read_text
from workbench.datasets import Dataset, data_folder, described
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.uq.collectives.measured import MeasuredCollective, algorithms_of, read_measured

_FOLDER = "collectives"
_TABLE = "times.csv"


def shipped_collectives() -> Catalogue[Dataset]:
    """Return the shipped tables of measured collectives, by name.

    Raises:
        DatasetError: a descriptor is not as it must be.
    """
    folders = sorted((data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}"))
    found = [described(path.parent) for path in folders]
    return Catalogue(
        "table of collectives",
        found,
        ("name", "system", "interconnect", "MPI", "statistic", "licence"),
        [
            (d.name, d.system, d.interconnect, d.mpi, d.statistic, d.provenance.licence)
            for d in found
        ],
    )


def shipped_algorithms(name: str) -> dict[str, tuple[str, ...]]:
    """Return the collectives of a shipped table, each with the labels of its algorithms.

    Args:
        name: of a table that ``shipped_collectives`` lists.

    Raises:
        DatasetError: there is no such table, or it is not the one whose checksum is recorded.
    """
    table = shipped_collectives()[name]
    _text(table)
    return algorithms_of(table.folder / _TABLE)


def load_measured(
    name: str, collective: str, algorithm: str | None = None, *, least_bytes: int = 1
) -> MeasuredCollective:
    """Return the replicas of a collective that ship with the workbench, with their provenance.

    Args:
        name: of a table that ``shipped_collectives`` lists.
        collective: such as ``gather``.
        algorithm: its label in the table; None takes the first one of the collective.
        least_bytes: smaller blocks are left out.

    Raises:
        DatasetError: there is no such table, or it is not the one whose checksum is recorded.
        ParameterError: the table has no such collective or algorithm.
    """
    table, known = shipped_collectives()[name], shipped_algorithms(name)
    if collective not in known:
        raise ParameterError(
            f"{name} must hold the collective; got {collective!r}"
            f"{did_you_mean(collective, known)}; it has {', '.join(known)}",
            key="collective",
        )
    label = known[collective][0] if algorithm is None else algorithm
    path = table.folder / _TABLE
    found = read_measured(path, collective, label, least_bytes=least_bytes)
    return replace(found, provenance=table.provenance)


def machine_of(table: Dataset) -> str:
    """Return the machine and network that a shipped table's title names: ``Fugaku, Tofu-D``."""
    return table.title.partition(" on ")[2]


def _text(table: Dataset) -> str:
    """Return a table's text, once its checksum is the recorded one."""
    repair = f"restore datasets/{_FOLDER}/{table.name} or reinstall the package"
    return read_text(table.folder, table.descriptor, _TABLE, repair)
