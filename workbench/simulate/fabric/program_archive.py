"""Runs of programs on disk: a JSON file, and beside it an npz file with program and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.models import LogGPS
from workbench.programs.graph import Dependents, ExecutionGraph
from workbench.provenance import Provenance
from workbench.result_files import Arrays, array_of, load_result, save_result
from workbench.simulate.fabric.fabric_archive import (
    fabric_arrays,
    fabric_from,
    fabric_values,
)
from workbench.simulate.fabric.program_result import FabricReplay

FORMAT = "workbench-fabric-replay"
VERSION = 1

_GRAPH = {
    "rank_start": np.int64,
    "kind": np.uint8,
    "size": np.int64,
    "peer": np.int32,
    "tag": np.uint32,
    "cpu": np.uint8,
    "nic": np.uint8,
}
_TIMES = ("start_ticks", "end_ticks", "arrived_ticks")


def save(result: FabricReplay, path: Path) -> Path:
    """Write a run; ``load`` returns an equal one.

    Args:
        result: what to write.
        path: the JSON file; the arrays get its name with ``.npz``. Each is replaced in one step.
    """
    graph = result.graph
    arrays = fabric_arrays(result.fabric)
    arrays |= {f"graph.{name}": getattr(graph, name) for name in _GRAPH}
    for name in ("requires", "irequires"):
        dependents = getattr(graph, name)
        arrays[f"graph.{name}.start"] = dependents.start
        arrays[f"graph.{name}.ops"] = dependents.ops
    for name in ("hosts", "finish_ticks", "channel_bytes", "channel_most"):
        arrays[name] = getattr(result, name)
    for name in _TIMES:
        if getattr(result, name) is not None:
            arrays[name] = getattr(result, name)
    values = {
        "fabric": fabric_values(result.fabric),
        "placement": result.placement,
        "host": None if result.host is None else result.host.to_dict(),
        "makespan_s": result.makespan_s,
        "seconds": result.seconds,
        "provenance": result.provenance.to_dict(),
        "graph": {"source": graph.source, "notes": list(graph.notes)},
    }
    return save_result(path, form=FORMAT, version=VERSION, values=values, arrays=arrays)


def load(path: Path) -> FabricReplay:
    """Return the run that ``save`` wrote.

    Args:
        path: the JSON file; the arrays are beside it.

    Raises:
        ParseError: the files are not a saved run, or not a whole one.
    """
    return load_result(path, "a program's run on a fabric", _result, form=FORMAT, version=VERSION)


def _result(values: dict[str, Any], arrays: Arrays) -> FabricReplay:
    graph = ExecutionGraph(
        **{name: array_of(arrays, f"graph.{name}", dtype) for name, dtype in _GRAPH.items()},
        requires=_dependents(arrays, "graph.requires"),
        irequires=_dependents(arrays, "graph.irequires"),
        source=str(values["graph"]["source"]),
        notes=tuple(map(str, values["graph"]["notes"])),
    )
    fabric = fabric_from(values["fabric"], arrays)
    channels = 2 * (fabric.topology.num_links + fabric.topology.num_hosts)
    host = values["host"]
    times = {
        name: array_of(arrays, name, np.int64, graph.num_ops) for name in _TIMES if name in arrays
    }
    return FabricReplay(
        graph=graph,
        fabric=fabric,
        placement=str(values["placement"]),
        hosts=fabric.topology.checked_hosts(array_of(arrays, "hosts", np.int64, graph.num_ranks)),
        host=None if host is None else LogGPS.from_dict(host),
        finish_ticks=array_of(arrays, "finish_ticks", np.int64, graph.num_ranks),
        channel_bytes=array_of(arrays, "channel_bytes", np.int64, channels),
        channel_most=array_of(arrays, "channel_most", np.int64, channels),
        seconds=float(values["seconds"]),
        provenance=Provenance.from_dict(values["provenance"]),
        **times,
    )


def _dependents(arrays: Arrays, name: str) -> Dependents:
    return Dependents(
        array_of(arrays, f"{name}.start", np.int32), array_of(arrays, f"{name}.ops", np.int32)
    )
