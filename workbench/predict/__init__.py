"""From two nodes to the whole machine: collectives predicted from point-to-point measurements.

machine = machine_of(read_point_to_point("p2p.csv", "fugaku"), topology="torus:8x8x8")
machine.to_frame()                                  # each part: measured, published, assumed
predict_collective(machine, "gather", 512, (16384, 131072), algorithm="binomial")
"""

from __future__ import annotations

from workbench.predict.collective import (
    COLLECTIVES,
    CollectivePrediction,
    compare_algorithms,
    predict_collective,
    replay_collective,
)
from workbench.predict.machine import MachineProfile, Part, machine_of
from workbench.predict.message_curve import MessageCurve
from workbench.predict.point_to_point import (
    LevelCurves,
    PointToPoint,
    point_to_point_of_curve,
    point_to_point_of_osu,
    read_point_to_point,
)

__all__ = [
    "COLLECTIVES",
    "CollectivePrediction",
    "LevelCurves",
    "MachineProfile",
    "MessageCurve",
    "Part",
    "PointToPoint",
    "compare_algorithms",
    "machine_of",
    "point_to_point_of_curve",
    "point_to_point_of_osu",
    "predict_collective",
    "read_point_to_point",
    "replay_collective",
]
