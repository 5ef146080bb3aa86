"""An SST/macro configuration of a collective benchmark on many switches, from its ``.ini``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from workbench.errors import ParameterError, ParseError
from workbench.ini_grammar import OVERRIDE, IniDocument, IniEntry, override, read_document
from workbench.models import PISCES, SNAPPR
from workbench.models.ini import inspect_document
from workbench.simulate.fabric import sst_wiring
from workbench.simulate.fabric.sst_wiring import SSTNetwork
from workbench.units import parse_quantity

MODES: Mapping[str, tuple[str, ...]] = {
    "allgather": ("bruck", "ring"),
    "alltoall": ("bruck",),
    "allreduce": ("wilke",),
}
"""Collectives that can be run, each with its algorithms, SST/macro's default first."""

ROUTERS = {"torus": "torus_minimal", "fat_tree": "fat_tree", "dragonfly": "dragonfly_minimal"}
"""Topologies, each with the router it is run with."""

_FAT_TREE = (
    "num_agg_subtrees",
    "leaf_switches_per_subtree",
    "agg_switches_per_subtree",
    "num_core_switches",
    "up_ports_per_leaf_switch",
    "down_ports_per_agg_switch",
    "up_ports_per_agg_switch",
    "down_ports_per_core_switch",
)
_SHAPES = {
    "torus": ("geometry",),
    "fat_tree": _FAT_TREE,
    "dragonfly": ("geometry", "h", "inter_group"),
}
_IGNORED = ("seed", "dump_file", "output_graph", "outputXYZ")
_BENCHMARK = ("mode", "min_size", "max_size", "coll_iters", "launch_cmd")
_LARGEST_SIZE = 2**31  # the first power of two that MPI's counts, C ints, do not reach
_MOST_ITERATIONS = 10**6  # chosen: 100 times the most of the OSU benchmarks (OSU_COUNTS)


@dataclass(frozen=True, eq=False)
class SSTConfiguration:
    """A machine and a collective benchmark on it, one rank a node, from node 0 on."""

    model: SNAPPR | PISCES
    network: SSTNetwork
    machine: str  # a short description
    ranks: int
    mode: str  # the collective, one of MODES
    algorithm: str
    sizes: tuple[int, ...]  # bytes of a rank's block, or bytes reduced; ascending
    iterations: int  # of each size
    eager_cutoff: int  # bytes from which collectives announce their messages
    notes: tuple[str, ...]  # for the author of the file


def read_configuration(
    source: str | Path | bytes, overrides: Mapping[str, str] | None = None
) -> SSTConfiguration:
    """Return the machine and the benchmark that an .ini (a path, or its text) describes."""
    document = read_document(source)
    try:
        override(document, overrides or {})
    except ParseError as error:
        raise ParameterError(str(error)) from None
    taken = _Taken(document)
    topology = taken.one_of("topology.name", tuple(ROUTERS))
    taken.one_of("switch.router.name", (ROUTERS[topology],))
    network, machine = _network(taken, topology)
    mode = taken.one_of("node.app1.mode", tuple(MODES))
    algorithm = MODES[mode][0]
    for collective, known in MODES.items():
        entry = taken.entry(f"node.app1.mpi.{collective}")
        if entry is not None and collective == mode:
            if entry.text not in known:
                _refuse(entry, f"must be one of {', '.join(known)}")
            algorithm = entry.text
    sizes = _sizes(taken)
    iterations = taken.whole("node.app1.coll_iters", 1, _MOST_ITERATIONS, absent=1)
    ranks = _ranks(taken, network.wiring.num_hosts)
    cutoff = taken.size("node.app1.mpi.eager_cutoff", absent=512)
    taken.none_left()
    reading = inspect_document(taken.rest())
    model = reading.model
    if not isinstance(model, SNAPPR | PISCES):
        raise ParseError(
            f"a network of many switches needs switch.name = snappr or pisces; got {model.name}",
            source=document.source,
        )
    return SSTConfiguration(
        model=model,
        network=network,
        machine=machine,
        ranks=ranks,
        mode=mode,
        algorithm=algorithm,
        sizes=sizes,
        iterations=iterations,
        eager_cutoff=cutoff,
        notes=reading.notes,
    )


class _Taken:
    """Assignments that this file reads itself; the others are the model's."""

    def __init__(self, document: IniDocument) -> None:
        self._document = document
        self._entries = document.entries
        self._taken: set[str] = set()

    def entry(self, key: str) -> IniEntry | None:
        """Return the assignment to a key, or None."""
        self._taken.add(key)
        return self._entries.get(key)

    def needed(self, key: str) -> IniEntry:
        """Return the assignment to a key that must be there."""
        entry = self.entry(key)
        if entry is None:
            raise ParseError(f"{key} is missing", source=self._document.source)
        return entry

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """Return a word, or refuse it."""
        entry = self.needed(key)
        if entry.text not in known:
            _refuse(entry, f"must be {' or '.join(known)} here; others are not modelled")
        return entry.text

    def whole(self, key: str, least: int, most: int, *, absent: int | None = None) -> int:
        """Return a whole number within bounds, or refuse it."""
        entry = self.needed(key) if absent is None else self.entry(key)
        if entry is None:
            return absent if absent is not None else least
        text = entry.text.strip("[] ")
        if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
            _refuse(entry, f"must be a whole number from {least} to {most}")
        return int(text)

    def size(self, key: str, *, absent: int | None = None) -> int:
        """Return a number of bytes, or refuse it."""
        entry = self.needed(key) if absent is None else self.entry(key)
        if entry is None:
            return absent if absent is not None else 0
        try:
            value = int(parse_quantity(entry.text, "bytes"))
        except ParameterError as error:
            _refuse(entry, str(error))
        if not 0 <= value <= _LARGEST_SIZE:
            _refuse(entry, f"must be 0 to {_LARGEST_SIZE} bytes")
        return value

    def numbers(self, key: str, least: int, most: int) -> tuple[int, ...]:
        """Return a list of whole numbers of at least 1, or refuse it."""
        entry = self.needed(key)
        words = entry.text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
        if not least <= len(words) <= most or not all(
            re.fullmatch(r"[0-9]{1,9}", word) and int(word) > 0 for word in words
        ):
            _refuse(entry, f"must be {least} to {most} whole numbers in brackets, at least 1")
        return tuple(int(word) for word in words)

    def none_left(self) -> None:
        """Refuse keys of the topology that nothing has asked for."""
        for key, entry in self._entries.items():
            if key in ("topology.redundant", "topology.injection_redundant", "topology.auto"):
                continue
            if key.startswith("topology.") and key not in self._taken:
                if key.removeprefix("topology.") in _IGNORED:
                    continue
                known = ", ".join(k for k in sorted(self._taken) if k.startswith("topology."))
                _refuse(entry, f"is not a key of this topology, which has {known}")

    def rest(self) -> IniDocument:
        """Return the assignments that are left for the model."""
        entries = {key: e for key, e in self._entries.items() if key not in self._taken}
        return IniDocument(self._document.source, entries, list(self._document.notes))


def _network(taken: _Taken, topology: str) -> tuple[SSTNetwork, str]:
    """Return the machine's switches, and their description."""
    each = taken.whole("topology.concentration", 1, 4096, absent=1)
    if topology == "torus":
        sizes = taken.numbers("topology.geometry", 1, 8)
        return sst_wiring.torus(sizes, each), f"{'x'.join(map(str, sizes))} torus"
    if topology == "fat_tree":
        shape = {key: taken.whole(f"topology.{key}", 1, 4096) for key in _FAT_TREE}
        network = sst_wiring.fat_tree({**shape, "concentration": each})
        return network, f"fat tree of {network.wiring.num_hosts} nodes"
    per_group, groups = taken.numbers("topology.geometry", 2, 2)
    h = taken.whole("topology.h", 1, 4096)
    taken.one_of("topology.inter_group", ("circulant",))
    entry = taken.entry("switch.router.static")
    if entry is not None and entry.text not in ("true", "false", "1", "0"):
        _refuse(entry, "must be true or false")
    static = entry is not None and entry.text in ("true", "1")
    network = sst_wiring.dragonfly(per_group, groups, h, each, static=static)
    return network, f"dragonfly of {groups} groups of {per_group} switches"


def _sizes(taken: _Taken) -> tuple[int, ...]:
    """Return the sizes of the benchmark: by factors of four from the least to the largest."""
    size, last = taken.size("node.app1.min_size"), taken.size("node.app1.max_size")
    if not 1 <= size <= last:
        _refuse(
            taken.needed("node.app1.max_size"),
            f"must be at least node.app1.min_size = {size}, and that at least 1",
        )
    sizes = []
    while size <= last:
        sizes.append(size)
        size *= 4
    return tuple(sizes)


def _ranks(taken: _Taken, nodes: int) -> int:
    """Return the number of ranks that are launched, one a node."""
    entry = taken.needed("node.app1.launch_cmd")
    ranks = re.search(r"-np?\s*([0-9]{1,9})\b", entry.text)
    each = re.search(r"-N\s*([0-9]{1,9})\b", entry.text)
    if ranks is None or (each is not None and int(each[1]) != 1):
        _refuse(entry, "must be aprun -n N -N 1: N ranks, one a node")
    if not 1 <= int(ranks[1]) <= nodes:
        _refuse(entry, f"must launch 1 to {nodes} ranks, as many as the machine has nodes")
    return int(ranks[1])


def _refuse(entry: IniEntry, message: str) -> NoReturn:
    """Raise the error that suits where an assignment stands: an override has no line."""
    text = f"{entry.key} = {entry.text[:60]}: {message}"
    if entry.source == OVERRIDE:
        raise ParameterError(text, key=entry.key)
    raise ParseError(text, source=entry.source, line=entry.line)
