"""From two nodes to the whole machine: collectives predicted from point-to-point measurements.

machine = machine_of(read_point_to_point("p2p.csv", "fugaku"), topology="torus:8x8x8")
machine.to_frame()                                  # each part: measured, published, assumed
predict_collective(machine, "gather", 512, (16384, 131072), algorithm="binomial")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.measure.message_curve import MessageCurve
    from workbench.predict.collective import (
        COLLECTIVES,
        CollectivePrediction,
        compare_algorithms,
        predict_collective,
        replay_collective,
    )
    from workbench.predict.evaluation import evaluate_predictions
    from workbench.predict.learning import learn_algorithms, learn_surplus
    from workbench.predict.library_rules import named_algorithm
    from workbench.predict.machine import MachinePart, MachineProfile, machine_of
    from workbench.predict.node_groups import NodeGroups, read_node_groups
    from workbench.predict.point_to_point import (
        LevelCurves,
        PointToPoint,
        point_to_point_of_curve,
        point_to_point_of_osu,
        read_point_to_point,
    )
    from workbench.predict.prediction_errors import PredictionErrors, shipped_evaluation
    from workbench.predict.shipped import measured_machine, shipped_systems
    from workbench.predict.summary import prediction_findings
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "COLLECTIVES",
    "CollectivePrediction",
    "LevelCurves",
    "MachinePart",
    "MachineProfile",
    "MessageCurve",
    "NodeGroups",
    "PointToPoint",
    "PredictionErrors",
    "compare_algorithms",
    "evaluate_predictions",
    "learn_algorithms",
    "learn_surplus",
    "machine_of",
    "measured_machine",
    "named_algorithm",
    "point_to_point_of_curve",
    "point_to_point_of_osu",
    "predict_collective",
    "prediction_findings",
    "read_node_groups",
    "read_point_to_point",
    "replay_collective",
    "shipped_evaluation",
    "shipped_systems",
]
