"""The machines there are: shipped ones, those of the folder ``machines``, and files."""

from __future__ import annotations

from pathlib import Path

from workbench.datasets import data_folder
from workbench.errors import DatasetError
from workbench.machines.machine import Machine
from workbench.machines.rules import loggps_of
from workbench.models import read_ini
from workbench.provenance import Provenance
from workbench.suggestions import did_you_mean

OWN = Path("machines")
"""Folder, in the one where a notebook or a shell runs, whose machines are known by their names."""


def load(machine: str | Path) -> Machine:
    """Return a machine by its name, or from a file.

    Args:
        machine: one of ``names()``, the path of a file that ``Machine.save`` wrote (``.json``), or
            of an .ini, whose model is then the machine's, without measurements.

    Raises:
        DatasetError: there is no such machine, and no such file.
        ParseError: the file is damaged, or no machine.
    """
    text = str(machine)
    if Path(text).suffix.lower() == ".ini":
        return _of_ini(Path(text))
    if Path(text).suffix.lower() == ".json":
        return Machine.load(text)
    if text in own():
        return Machine.load(OWN / f"{text}.json")
    if text in shipped():
        return Machine.load(_shipped_folder() / f"{text}.json")
    raise DatasetError(
        f"no machine is named {text!r}{did_you_mean(text, names())}; known: {', '.join(names())}; "
        "a file's name ends in .json (workbench fit --save) or .ini"
    )


def names() -> tuple[str, ...]:
    """Return the names of the machines that ``load`` knows: one's own, then the shipped ones."""
    mine = own()
    return (*mine, *(name for name in shipped() if name not in mine))


def own() -> tuple[str, ...]:
    """Return the names of the machines in the folder ``machines``."""
    return tuple(sorted(path.stem for path in OWN.glob("*.json")))


def shipped() -> tuple[str, ...]:
    """Return the names of the machines that ship with the workbench."""
    return tuple(sorted(path.stem for path in _shipped_folder().glob("*.json")))


def keep(machine: Machine) -> Path:
    """Write a machine into the folder ``machines``, where panels offer it; return the file.

    Args:
        machine: of any name; a machine of the same name there is replaced.
    """
    OWN.mkdir(exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in machine.name).strip(".-")
    return machine.save(OWN / f"{name or 'machine'}.json")


def _of_ini(path: Path) -> Machine:
    """Return the machine of an .ini: a model without measurements."""
    model = read_ini(path)
    return Machine(
        name=path.stem,
        model=model,
        loggps=loggps_of(model),
        rmspe={},
        provenance=Provenance("simulated", f"{model.name} of {path.name}", path.name),
    )


def _shipped_folder() -> Path:
    return data_folder() / "machines"
