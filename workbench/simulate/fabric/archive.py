"""Results of traffic on disk: a JSON file, and beside it an npz file with the arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.provenance import Provenance
from workbench.result_files import Arrays, array_of, load_result, save_result
from workbench.simulate.fabric.fabric_archive import fabric_arrays, fabric_from, fabric_values
from workbench.simulate.fabric.result import ChannelStatistics, FabricResult, QueueSeries

FORMAT = "workbench-fabric-traffic"
VERSION = 1

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
    """Write a result as JSON, its arrays beside it as ``.npz``; ``load`` returns an equal one."""
    arrays = fabric_arrays(result.fabric)
    arrays |= {f"channel.{name}": getattr(result.channel, name) for name in _CHANNEL}
    arrays |= {f"series.{name}": getattr(result.series, name) for name in _SERIES}
    arrays |= {name: getattr(result, name) for name in ("latencies_s", "hops", "received")}
    numbers = {name: getattr(result, name) for name in _NUMBERS}
    values = {
        "pattern": result.pattern,
        **{name: None if value != value else value for name, value in numbers.items()},
        "provenance": result.provenance.to_dict(),
        "fabric": fabric_values(result.fabric),
    }
    return save_result(path, form=FORMAT, version=VERSION, values=values, arrays=arrays)


def load(path: Path) -> FabricResult:
    """Return the result that ``save`` wrote."""
    return load_result(path, "a result of traffic", _result, form=FORMAT, version=VERSION)


def _result(values: dict[str, Any], arrays: Arrays) -> FabricResult:
    fabric = fabric_from(values["fabric"], arrays)
    topology = fabric.topology
    channels = 2 * topology.num_links + 2 * topology.num_hosts
    samples = len(arrays["series.time_s"])
    return FabricResult(
        fabric=fabric,
        pattern=str(values["pattern"]),
        **{
            name: kind("nan") if values[name] is None else kind(values[name])
            for name, kind in _NUMBERS.items()
        },
        latencies_s=array_of(arrays, "latencies_s", np.float64),
        hops=array_of(arrays, "hops", np.int64),
        received=array_of(arrays, "received", np.int64, topology.num_hosts),
        channel=ChannelStatistics(
            **{
                name: array_of(arrays, f"channel.{name}", dtype, channels)
                for name, dtype in _CHANNEL.items()
            }
        ),
        series=QueueSeries(
            **{
                name: array_of(arrays, f"series.{name}", dtype, samples)
                for name, dtype in _SERIES.items()
            }
        ),
        provenance=Provenance.from_dict(values["provenance"]),
    )
