"""A program's graph as values for a JSON file and arrays for an npz file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.programs.graph import Dependents, ExecutionGraph
from workbench.programs.recorded_run import RecordedRun
from workbench.result_files import Arrays, array_of

_ARRAYS = {
    "rank_start": np.int64,
    "kind": np.uint8,
    "size": np.int64,
    "peer": np.int32,
    "tag": np.uint32,
    "cpu": np.uint8,
    "nic": np.uint8,
}
_OPTIONAL = {"line": np.int32, "collective": np.bool_}


def graph_values(graph: ExecutionGraph) -> dict[str, Any]:
    """Return the parts of a graph that go into a JSON file."""
    recorded = None if graph.recorded is None else graph.recorded.to_dict()
    return {"source": graph.source, "notes": list(graph.notes), "recorded": recorded}


def graph_arrays(graph: ExecutionGraph) -> dict[str, NDArray[Any]]:
    """Return the parts of a graph that go into an npz file."""
    arrays = {f"graph.{name}": getattr(graph, name) for name in _ARRAYS}
    for name in ("requires", "irequires"):
        dependents = getattr(graph, name)
        arrays[f"graph.{name}.start"] = dependents.start
        arrays[f"graph.{name}.ops"] = dependents.ops
    for name in _OPTIONAL:
        if getattr(graph, name) is not None:
            arrays[f"graph.{name}"] = getattr(graph, name)
    return arrays


def graph_from(values: Mapping[str, Any], arrays: Arrays) -> ExecutionGraph:
    """Return the graph from its ``graph_values`` and ``graph_arrays``."""
    # Results of before recordings' times were kept have none.
    recorded = values.get("recorded")
    return ExecutionGraph(
        **{name: array_of(arrays, f"graph.{name}", dtype) for name, dtype in _ARRAYS.items()},
        requires=_dependents(arrays, "graph.requires"),
        irequires=_dependents(arrays, "graph.irequires"),
        source=str(values["source"]),
        **{
            name: array_of(arrays, f"graph.{name}", dtype)
            for name, dtype in _OPTIONAL.items()
            if f"graph.{name}" in arrays
        },
        notes=tuple(map(str, values["notes"])),
        recorded=None if recorded is None else RecordedRun.from_dict(recorded),
    )


def _dependents(arrays: Arrays, name: str) -> Dependents:
    return Dependents(
        array_of(arrays, f"{name}.start", np.int32), array_of(arrays, f"{name}.ops", np.int32)
    )
