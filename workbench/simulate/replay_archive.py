"""Replays on disk: a JSON file, and beside it an npz file with the program and the times."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result_files import Arrays, array_of, load_result, save_result
from workbench.simulate.graph_archive import graph_arrays, graph_from, graph_values
from workbench.simulate.replay_result import TIE_ORDERS, ReplayResult, ReplayTimes

FORMAT = "workbench-replay"
VERSION = 1

_TIMES_ARRAYS = {
    "start_ps": np.int64,
    "begin_ps": np.int64,
    "end_ps": np.int64,
    "match": np.int32,
    "cause": np.int32,
    "cause_kind": np.uint8,
    "post_cause": np.int32,
    "post_cause_kind": np.uint8,
}


def save(result: ReplayResult, path: Path) -> Path:
    """Write a replay as JSON, its arrays beside it as ``.npz``; ``load`` returns an equal one."""
    arrays = graph_arrays(result.graph)
    if result.times is not None:
        for field in fields(result.times):
            array = getattr(result.times, field.name)
            if array is not None:
                arrays[f"times.{field.name}"] = array
    arrays["finish_ps"] = result.finish_ps
    if result.noise_ps is not None:
        arrays["noise_ps"] = result.noise_ps
    values = {
        "semantics": result.semantics,
        "compatible": result.compatible,
        "ties": result.ties,
        "model": result.model.to_dict(),
        "events": result.events,
        "seconds": result.seconds,
        "makespan_ns": result.makespan_ns,
        "provenance": result.provenance.to_dict(),
        "notes": list(result.notes),
        "graph": graph_values(result.graph),
    }
    return save_result(path, form=FORMAT, version=VERSION, values=values, arrays=arrays)


def load(path: Path) -> ReplayResult:
    """Return the replay that ``save`` wrote."""
    return load_result(path, "a replay", _result, form=FORMAT, version=VERSION)


def _result(values: dict[str, Any], arrays: Arrays) -> ReplayResult:
    graph = graph_from(values["graph"], arrays)
    times = None
    if "times.start_ps" in arrays:
        times = ReplayTimes(
            **{
                name: array_of(arrays, f"times.{name}", dtype, graph.num_ops)
                for name, dtype in _TIMES_ARRAYS.items()
                if f"times.{name}" in arrays
            }
        )
    if values["semantics"] not in ("loggopsim", "llamp"):
        raise ParameterError(f"semantics must be loggopsim or llamp; got {values['semantics']!r}")
    ties = values.get("ties", "stable")  # files from before it was kept have no other
    if ties not in TIE_ORDERS:
        raise ParameterError(f"ties must be one of {', '.join(TIE_ORDERS)}; got {ties!r}")
    ranks = graph.num_ranks
    return ReplayResult(
        graph=graph,
        model=LogGPS.from_dict(values["model"]),
        semantics=values["semantics"],
        compatible=bool(values["compatible"]),
        finish_ps=array_of(arrays, "finish_ps", np.int64, ranks),
        events=int(values["events"]),
        seconds=float(values["seconds"]),
        times=times,
        provenance=Provenance.from_dict(values["provenance"]),
        noise_ps=array_of(arrays, "noise_ps", np.int64, ranks) if "noise_ps" in arrays else None,
        notes=tuple(map(str, values["notes"])),
        ties=ties,
    )
