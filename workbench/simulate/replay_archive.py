"""Replays on disk: a JSON file, and beside it an npz file with the program and the times."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.jsonfile import read_json
from workbench.models import LogGPS
from workbench.programs.graph import Dependents, ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate.replay_result import ReplayResult, ReplayTimes

FORMAT = "workbench-replay"
VERSION = 1

# What numpy's reader and a result made of other things than ours may end in.
_NOT_OURS = (
    OSError,
    EOFError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
)
_GRAPH_ARRAYS = {
    "rank_start": np.int64,
    "kind": np.uint8,
    "size": np.int64,
    "peer": np.int32,
    "tag": np.uint32,
    "cpu": np.uint8,
    "nic": np.uint8,
}
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
    """Write a replay; ``load`` returns an equal one.

    Args:
        result: what to write.
        path: the JSON file; the arrays get its name with ``.npz``. Each is replaced in one step.
    """
    graph = result.graph
    arrays: dict[str, NDArray[Any]] = {
        f"graph.{name}": getattr(graph, name) for name in _GRAPH_ARRAYS
    }
    for name in ("requires", "irequires"):
        dependents = getattr(graph, name)
        arrays[f"graph.{name}.start"], arrays[f"graph.{name}.ops"] = (
            dependents.start,
            dependents.ops,
        )
    if graph.line is not None:
        arrays["graph.line"] = graph.line
    if result.times is not None:
        for field in fields(result.times):
            array = getattr(result.times, field.name)
            if array is not None:
                arrays[f"times.{field.name}"] = array
    arrays["finish_ps"] = result.finish_ps
    if result.noise_ps is not None:
        arrays["noise_ps"] = result.noise_ps
    values = {
        "format": FORMAT,
        "version": VERSION,
        "semantics": result.semantics,
        "compatible": result.compatible,
        "model": result.model.to_dict(),
        "events": result.events,
        "seconds": result.seconds,
        "makespan_ns": result.makespan_ns,
        "provenance": result.provenance.to_dict(),
        "notes": list(result.notes),
        "graph": {"source": graph.source, "notes": list(graph.notes)},
    }
    beside = _arrays_path(path)
    part = beside.with_name(f".{beside.name}.part")
    with part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    part.replace(beside)
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(values, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    part.replace(path)
    return path


def load(path: Path) -> ReplayResult:
    """Return the replay that ``save`` wrote.

    Args:
        path: the JSON file; the arrays are beside it.

    Raises:
        ParseError: the files are not a saved replay, or not a whole one.
    """
    values = read_json(path, "a replay", form=FORMAT, version=VERSION)
    beside = _arrays_path(path)
    try:
        # Opened here, since numpy leaves a file open that is none of its own.
        with beside.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _result(values, arrays)
    except _NOT_OURS as error:
        raise ParseError(
            f"a replay's arrays must lie beside it in {beside.name}, as they were saved: {error}",
            source=path.name,
        ) from error


def _result(values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ReplayResult:
    graph = ExecutionGraph(
        **{name: _array(arrays, f"graph.{name}", dtype) for name, dtype in _GRAPH_ARRAYS.items()},
        requires=_dependents(arrays, "graph.requires"),
        irequires=_dependents(arrays, "graph.irequires"),
        source=str(values["graph"]["source"]),
        line=_array(arrays, "graph.line", np.int32) if "graph.line" in arrays else None,
        notes=tuple(map(str, values["graph"]["notes"])),
    )
    times = None
    if "times.start_ps" in arrays:
        times = ReplayTimes(
            **{
                name: _array(arrays, f"times.{name}", dtype, graph.num_ops)
                for name, dtype in _TIMES_ARRAYS.items()
                if f"times.{name}" in arrays
            }
        )
    if values["semantics"] not in ("loggopsim", "llamp"):
        raise ParameterError(f"semantics must be loggopsim or llamp; got {values['semantics']!r}")
    ranks = graph.num_ranks
    return ReplayResult(
        graph=graph,
        model=LogGPS.from_dict(values["model"]),
        semantics=values["semantics"],
        compatible=bool(values["compatible"]),
        finish_ps=_array(arrays, "finish_ps", np.int64, ranks),
        events=int(values["events"]),
        seconds=float(values["seconds"]),
        times=times,
        provenance=Provenance.from_dict(values["provenance"]),
        noise_ps=_array(arrays, "noise_ps", np.int64, ranks) if "noise_ps" in arrays else None,
        notes=tuple(map(str, values["notes"])),
    )


def _dependents(arrays: dict[str, NDArray[Any]], name: str) -> Dependents:
    return Dependents(
        _array(arrays, f"{name}.start", np.int32), _array(arrays, f"{name}.ops", np.int32)
    )


def _array(
    arrays: dict[str, NDArray[Any]], name: str, dtype: type, length: int | None = None
) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1 or length not in (None, len(array)):
        raise ParameterError(f"{name} must be {np.dtype(dtype).name}[{length or 'n'}]", key=name)
    return array


def _arrays_path(path: Path) -> Path:
    return path.with_suffix(".npz")
