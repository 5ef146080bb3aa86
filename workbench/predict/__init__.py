"""From two nodes to the whole machine: collectives predicted from point-to-point measurements.

machine = machine_of(read_point_to_point("p2p.csv", "fugaku"), topology="torus:8x8x8")
machine.to_frame()                                  # each part: measured, published, assumed
predict_collective(machine, "gather", 512, (16384, 131072), algorithm="binomial")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.measure.message_curve import MessageCurve as MessageCurve
    from workbench.predict.collective import (
        COLLECTIVES as COLLECTIVES,
        CollectivePrediction as CollectivePrediction,
        compare_algorithms as compare_algorithms,
        predict_collective as predict_collective,
        replay_collective as replay_collective,
    )
    from workbench.predict.evaluation import evaluate_predictions as evaluate_predictions
    from workbench.predict.learning import (
        learn_algorithms as learn_algorithms,
        surplus_of as surplus_of,
    )
    from workbench.predict.library_rules import named_algorithm as named_algorithm
    from workbench.predict.machine import (
        MachinePart as MachinePart,
        MachineProfile as MachineProfile,
        machine_of as machine_of,
    )
    from workbench.predict.node_groups import (
        NodeGroups as NodeGroups,
        read_node_groups as read_node_groups,
    )
    from workbench.predict.point_to_point import (
        LevelCurves as LevelCurves,
        PointToPoint as PointToPoint,
        point_to_point_of_curve as point_to_point_of_curve,
        point_to_point_of_osu as point_to_point_of_osu,
        read_point_to_point as read_point_to_point,
    )
    from workbench.predict.prediction_errors import (
        PredictionErrors as PredictionErrors,
        shipped_evaluation as shipped_evaluation,
    )
    from workbench.predict.published_spread import (
        kept_aside as kept_aside,
        spread_coverage as spread_coverage,
    )
    from workbench.predict.shipped import (
        measured_machine as measured_machine,
        shipped_systems as shipped_systems,
    )
    from workbench.predict.summary import prediction_findings as prediction_findings
    from workbench.predict.surplus import Surplus as Surplus, learn_surplus as learn_surplus
else:
    __getattr__, __dir__ = lazy_exports(__name__)
