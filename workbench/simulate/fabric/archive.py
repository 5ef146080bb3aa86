"""Results of traffic on disk: a JSON file, and beside it an npz file with the arrays."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.jsonfile import read_json
from workbench.models import PISCES, SNAPPR, read_ini
from workbench.provenance import Provenance
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.result import ChannelStatistics, FabricResult, QueueSeries
from workbench.topology import Topology
from workbench.topology.routing import ROUTINGS, route

FORMAT = "workbench-fabric-traffic"
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
    OverflowError,
)
_TOPOLOGY = ("links", "link_class", "host_router", "group", "coordinates")
_CHANNEL = {
    "busy_s": np.float64,
    "stalled_s": np.float64,
    "n_bytes": np.int64,
    "packets": np.int64,
    "mean_queue": np.float64,
    "most_queued": np.int64,
}
_SERIES = {
    "time_s": np.float64,
    "between_routers": np.float64,
    "to_hosts": np.float64,
    "at_hosts": np.float64,
    "under_way": np.int64,
}
_NUMBERS = {
    "nominal_load": float,
    "generated": int,
    "delivered": int,
    "accepted": float,
    "offered": float,
    "mean_latency_s": float,
    "std_latency_s": float,
    "window_s": float,
    "message_bytes": int,
    "packet_hops": int,
    "seconds": float,
    "lanes": int,
    "seed": int,
    "complete": bool,
}


def save(result: FabricResult, path: Path) -> Path:
    """Write a result; ``load`` returns an equal one.

    Args:
        result: what to write.
        path: the JSON file; the arrays get its name with ``.npz``. Each is replaced in one step.
    """
    fabric, topology = result.fabric, result.fabric.topology
    arrays: dict[str, NDArray[Any]] = {
        f"topology.{name}": getattr(topology, name) for name in _TOPOLOGY
    }
    arrays |= {f"channel.{name}": getattr(result.channel, name) for name in _CHANNEL}
    arrays |= {f"series.{name}": getattr(result.series, name) for name in _SERIES}
    arrays |= {name: getattr(result, name) for name in ("latencies_s", "hops", "received")}
    numbers = {name: getattr(result, name) for name in _NUMBERS}
    values = {
        "format": FORMAT,
        "version": VERSION,
        "pattern": result.pattern,
        **{name: None if value != value else value for name, value in numbers.items()},
        "provenance": result.provenance.to_dict(),
        "fabric": {
            "routing": fabric.routing_name,
            "choice": fabric.routes.choice,
            "congestion": fabric.congestion,
            "seed": fabric.seed,
            "model": fabric.ports.to_ini(),
            "variant": fabric.ports.variant,
        },
        "topology": {
            "name": topology.name,
            "num_routers": topology.num_routers,
            "classes": list(topology.classes),
            "parameters": dict(topology.parameters),
            "family": topology.family,
        },
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


def load(path: Path) -> FabricResult:
    """Return the result that ``save`` wrote.

    Args:
        path: the JSON file; the arrays are beside it.

    Raises:
        ParseError: the files are not a saved result, or not a whole one.
    """
    values = read_json(path, "a result of traffic", form=FORMAT, version=VERSION)
    beside = _arrays_path(path)
    try:
        with beside.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _result(values, arrays)
    except _NOT_OURS as error:
        raise ParseError(
            f"a result's arrays must lie beside it in {beside.name}, as they were saved: {error}",
            source=path.name,
        ) from error


def _result(values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FabricResult:
    topology = _topology(values["topology"], arrays)
    channels = 2 * topology.num_links + 2 * topology.num_hosts
    samples = len(arrays["series.time_s"])
    return FabricResult(
        fabric=_fabric(values["fabric"], topology),
        pattern=str(values["pattern"]),
        **{
            name: kind("nan") if values[name] is None else kind(values[name])
            for name, kind in _NUMBERS.items()
        },
        latencies_s=_array(arrays, "latencies_s", np.float64),
        hops=_array(arrays, "hops", np.int64),
        received=_array(arrays, "received", np.int64, topology.num_hosts),
        channel=ChannelStatistics(
            **{
                name: _array(arrays, f"channel.{name}", dtype, channels)
                for name, dtype in _CHANNEL.items()
            }
        ),
        series=QueueSeries(
            **{
                name: _array(arrays, f"series.{name}", dtype, samples)
                for name, dtype in _SERIES.items()
            }
        ),
        provenance=Provenance.from_dict(values["provenance"]),
    )


def _topology(values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Topology:
    return Topology(
        name=str(values["name"]),
        num_routers=int(values["num_routers"]),
        classes=tuple(map(str, values["classes"])),
        parameters=dict(values["parameters"]),
        family=str(values["family"]),
        **{name: arrays[f"topology.{name}"] for name in _TOPOLOGY},
    )


def _fabric(values: dict[str, Any], topology: Topology) -> Fabric:
    model = read_ini(str(values["model"])).replace(variant=str(values["variant"]))
    if not isinstance(model, (SNAPPR, PISCES)):
        raise ParameterError(f"the model must be SNAPPR or PISCES; got {type(model).__name__}")
    name, seed = str(values["routing"]), int(values["seed"])
    usual = ROUTINGS[name].choice == values["choice"]
    routing = name if usual else route(topology, name, choice=values["choice"], seed=seed)
    return Fabric(topology, model, routing, values["congestion"], seed)


def _array(
    arrays: dict[str, NDArray[Any]], name: str, dtype: type, length: int | None = None
) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1 or length not in (None, len(array)):
        raise ParameterError(f"{name} must be {np.dtype(dtype).name}[{length or 'n'}]", key=name)
    return array


def _arrays_path(path: Path) -> Path:
    return path.with_suffix(".npz")
