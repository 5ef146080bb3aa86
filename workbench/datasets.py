"""The measurements that ship with the workbench, checked against their checksums on every load.

import workbench.datasets

workbench.datasets.list()
curve = workbench.datasets.load("azure-hb96v3-hdr")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.catalogue import Catalogue
from workbench.datapackage import DESCRIPTOR, read_descriptor, read_text
from workbench.errors import DatasetError
from workbench.provenance import Provenance

if TYPE_CHECKING:
    from workbench.measure.curve import OSUCurve


@dataclass(frozen=True)
class Dataset:
    """A shipped dataset, as its descriptor describes it.

    Attributes:
        name: the name to load it by.
        title: a short title for captions.
        system: machine it was measured on.
        interconnect: network of the machine.
        mpi: MPI library, and whether that was verified.
        statistic: of the runs, such as ``median over 84 runs``.
        provenance: origin, source and licence.
        caveats: what is not known about it.
        folder: of its files.
        files: names of its files.
        descriptor: all entries of its descriptor, checksums among them.
    """

    name: str
    title: str
    system: str
    interconnect: str
    mpi: str
    statistic: str
    provenance: Provenance
    caveats: tuple[str, ...]
    folder: Path
    files: tuple[str, ...]
    descriptor: Mapping[str, Any] = field(repr=False)


def load(name: str) -> OSUCurve:
    """Return the curve of a shipped dataset; its ``notes`` state what is not known about it.

    Args:
        name: one of the names that ``list`` gives.

    Raises:
        DatasetError: there is no such dataset, or a file of it is missing, unreadable or not the
            one whose checksum is recorded.
    """
    # The base layer imports no measurement; a dataset is read by the package of its content.
    from workbench.measure.curve_csv import read_curve_csv

    dataset = list()[name]
    texts = [(file, _text(dataset, file)) for file in dataset.files if file.endswith(".csv")]
    return read_curve_csv(*texts, name=name, provenance=dataset.provenance, notes=dataset.caveats)


def text(name: str, file: str) -> str:
    """Return the text of one file of a shipped dataset.

    Args:
        name: one of the names that ``list`` gives.
        file: name of a file that its descriptor records, such as ``datasheet.json``.

    Raises:
        DatasetError: there is no such dataset or file, or it is not the one whose checksum is
            recorded.
    """
    dataset = list()[name]
    if file not in dataset.files:
        files = ", ".join(dataset.files)
        raise DatasetError(f"{name} must hold the requested file; got {file!r}; it has {files}")
    return _text(dataset, file)


def list() -> Catalogue[Dataset]:
    """Return the shipped datasets, in alphabetical order.

    Raises:
        DatasetError: the datasets are not where the package expects them, or a descriptor is not
            as it must be.
    """
    folder = data_folder()
    descriptors = sorted(folder.glob(f"*/{DESCRIPTOR}"))
    if not descriptors:
        raise DatasetError(
            f"the shipped datasets must be in {folder}; found none; reinstall the package, or "
            "restore the folder datasets/ of the checkout"
        )
    found = [described(path.parent) for path in descriptors]
    return Catalogue(
        "dataset",
        found,
        ("name", "system", "interconnect", "MPI", "statistic", "licence"),
        [
            (d.name, d.system, d.interconnect, d.mpi, d.statistic, d.provenance.licence)
            for d in found
        ],
    )


def data_folder() -> Path:
    """Return the folder of the datasets: inside an installed package, or of the checkout."""
    package = Path(__file__).resolve().parent
    shipped = package / "_shipped_datasets"
    return shipped if shipped.is_dir() else package.parent / "datasets"


def described(folder: Path) -> Dataset:
    """Return the dataset of a folder, as its descriptor describes it.

    Args:
        folder: of the descriptor and the files.

    Raises:
        DatasetError: the descriptor is not as it must be.
    """
    path = folder / DESCRIPTOR
    try:
        package = read_descriptor(folder, "the descriptor of a dataset")
        measurement = package["measurement"]
        source = package["sources"][0]
        return Dataset(
            name=package["name"],
            title=package["title"],
            system=measurement["system"],
            interconnect=measurement["interconnect"],
            mpi=measurement["mpi"],
            statistic=measurement["statistic"],
            provenance=Provenance(
                origin=package["origin"],
                title=package["title"],
                source=f"doi:{source['doi']}" if "doi" in source else source["path"],
                licence=package["licenses"][0]["name"],
                details=_details(measurement, source),
            ),
            caveats=tuple(package["caveats"]),
            folder=folder,
            files=tuple(str(resource["path"]) for resource in package["resources"]),
            descriptor=package,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{path} must describe a dataset as datasets/README.md says; "
            f"{type(error).__name__}: {error}; restore the file"
        ) from error


def _details(measurement: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, str]:
    details = {key: str(value) for key, value in measurement.items()}
    for key in ("path", "commit", "selection"):
        if key in source:
            details[f"source {key}"] = str(source[key])
    if "files" in source:
        details["source files"] = ", ".join(source["files"])
    return details


def _text(dataset: Dataset, file: str) -> str:
    """Return the text of a dataset's file, once its checksum is the recorded one."""
    repair = f"restore it (git checkout -- datasets/{dataset.name}) or reinstall the package"
    return read_text(dataset.folder, dataset.descriptor, file, repair)
