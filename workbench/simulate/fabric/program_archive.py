"""Runs of programs on disk: a JSON file, and beside it an npz file with program and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result_files import Arrays, array_of, load_result, save_result
from workbench.simulate.fabric.fabric_archive import (
    fabric_arrays,
    fabric_from,
    fabric_values,
)
from workbench.simulate.fabric.program_result import FabricReplay
from workbench.simulate.graph_archive import graph_arrays, graph_from, graph_values

FORMAT = "workbench-fabric-replay"
VERSION = 1

_TIMES = ("start_ticks", "end_ticks", "arrived_ticks")


def save(result: FabricReplay, path: Path) -> Path:
    """Write a run as JSON, its arrays beside it as ``.npz``; ``load`` returns an equal one."""
    arrays = graph_arrays(result.graph) | fabric_arrays(result.fabric)
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
        "graph": graph_values(result.graph),
    }
    return save_result(path, form=FORMAT, version=VERSION, values=values, arrays=arrays)


def load(path: Path) -> FabricReplay:
    """Return the run that ``save`` wrote."""
    return load_result(path, "a program's run on a fabric", _result, form=FORMAT, version=VERSION)


def _result(values: dict[str, Any], arrays: Arrays) -> FabricReplay:
    graph = graph_from(values["graph"], arrays)
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
