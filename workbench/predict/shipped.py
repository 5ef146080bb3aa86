"""The published systems that ship: their collectives, and the messages a prediction starts from.

machine, times = measured_machine("lassen")
"""

from __future__ import annotations

import csv
from dataclasses import replace
from types import MappingProxyType

from workbench import datasets
from workbench.catalogue import Catalogue
from workbench.datapackage import DESCRIPTOR, read_text
from workbench.datasets import Dataset, data_folder, described
from workbench.predict.machine import MachineProfile, machine_of
from workbench.predict.node_groups import NodeGroups, read_node_groups
from workbench.predict.point_to_point import point_to_point_of_curve, read_point_to_point
from workbench.uq.collectives import MeasuredCollective, read_measured
from workbench.uq.collectives.measured import collective_of

_FOLDER = "whole-machine"
_TIMES, _MESSAGES, _GROUPS = "times.csv", "messages.csv", "groups.csv"
_ROUTERS = MappingProxyType({"leonardo": (3, 4), "lumi-g": (2, 3)})
"""Routers on a minimal way within a group and between two: Dragonfly+, and Dragonfly."""

ASSUMED_MESSAGES = MappingProxyType(
    {"leonardo": "azure-hb96v3-hdr", "lumi-g": "alps-gh200-slingshot11"}
)
"""Shipped curves of other machines with alike networks, for systems that publish no messages."""


def shipped_systems() -> Catalogue[Dataset]:
    """Return the published systems whose collectives are predicted, by name.

    Raises:
        DatasetError: a descriptor is not as it must be.
    """
    found = [
        described(path.parent) for path in sorted((data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}"))
    ]
    return Catalogue(
        "system",
        found,
        ("name", "system", "interconnect", "MPI", "messages", "licence"),
        [
            (
                one.name,
                one.system,
                one.interconnect,
                one.mpi,
                "published" if _MESSAGES in one.files else f"of {ASSUMED_MESSAGES[one.name]}",
                one.provenance.licence,
            )
            for one in found
        ],
    )


def measured_machine(name: str) -> tuple[MachineProfile, tuple[MeasuredCollective, ...]]:
    """Return a published system as its point-to-point data describe it, and its collectives.

    Where no messages are published they are those of another machine with an alike network, and
    the machine says that this is assumed. A torus is that of each test, not of the machine.

    Args:
        name: one that ``shipped_systems`` lists.

    Raises:
        DatasetError: there is no such system, or a file is not the one whose checksum is recorded.
    """
    system = shipped_systems()[name]
    text = _checked(system, _TIMES)
    labels: dict[tuple[str, str], int] = {}
    for row in csv.DictReader(text.splitlines()):
        labels[collective_of(row["benchmark"]), row["algorithm"]] = int(row["ranks_per_node"])
    path = system.folder / _TIMES
    times = tuple(
        replace(read_measured(path, collective, label), provenance=system.provenance)
        for collective, label in sorted(labels)
    )
    return _machine(system, min(labels.values())), times


def shipped_groups(name: str) -> dict[int, NodeGroups]:
    """Return where the nodes of a system's jobs were, by their number; empty if unpublished.

    Args:
        name: one that ``shipped_systems`` lists.

    Raises:
        DatasetError: there is no such system, or a file is not the one whose checksum is recorded.
    """
    system = shipped_systems()[name]
    if _GROUPS not in system.files:
        return {}
    jobs = {row["job"] for row in csv.DictReader(_checked(system, _GROUPS).splitlines())}
    passed = _ROUTERS[name]
    found = (
        read_node_groups(
            system.folder / _GROUPS, job=int(job), in_group=passed[0], between_groups=passed[1]
        )
        for job in sorted(jobs, key=int)
    )
    return {len(one.switches): one for one in found}


def _machine(system: Dataset, ranks_per_node: int) -> MachineProfile:
    if _MESSAGES in system.files:
        _checked(system, _MESSAGES)
        measured = read_point_to_point(system.folder / _MESSAGES)
        return machine_of(replace(measured, source=_MESSAGES), ranks_per_node=ranks_per_node)
    other = ASSUMED_MESSAGES[system.name]
    curve = replace(point_to_point_of_curve(datasets.load(other)), system=system.name)
    made = machine_of(curve, ranks_per_node=ranks_per_node)
    parts = tuple(
        replace(part, source="assumed", note=f"those of {other}, whose network is alike")
        if part.source == "measured"
        else part
        for part in made.parts
    )
    return replace(made, parts=parts)


def _checked(system: Dataset, file: str) -> str:
    """Return a table's text, once its checksum is the recorded one."""
    repair = f"restore datasets/{_FOLDER}/{system.name} or reinstall the package"
    return read_text(system.folder, system.descriptor, file, repair)
