"""How well the largest number of nodes is predicted from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.uq.collectives.calibration import (
    DRAWS,
    NOISE,
    CollectiveCalibration,
    calibrate_collective,
)
from workbench.uq.collectives.measured import MeasuredCollective, nodes_of
from workbench.uq.collectives.unknown_algorithm import AlgorithmMixture, calibrate_unknown

if TYPE_CHECKING:
    import pandas as pd


def held_out(
    measured: MeasuredCollective,
    *,
    model: str | None = None,
    noise: str = NOISE,
    draws: int = DRAWS,
    seed: int = 0,
    levels: Sequence[float] = (0.5, 0.9),
    unknown: bool = False,
) -> pd.DataFrame:
    """Predict the largest number of nodes by a calibration to the others, and compare.

    Args:
        measured: of two numbers of nodes or more.
        model: as for ``calibrate_collective``.
        noise: as for ``calibrate_collective``.
        draws: as for ``calibrate_collective``.
        seed: as for ``calibrate_collective``.
        levels: of the intervals.
        unknown: whether the algorithm is; then all models predict, each by its probability.

    Returns:
        One row a test of the largest number: nodes, block_bytes, measured and predicted median in
        µs, and for each level the ends of its interval and whether it holds the measured median.

    Raises:
        ParameterError: there is one number of nodes, or an argument is not accepted.
    """
    import pandas as pd

    nodes = nodes_of(measured.tests)
    if len(nodes) < 2:
        raise ParameterError(
            f"there must be two numbers of nodes or more, to predict one from others; got {nodes}",
            key="nodes",
        )
    fewer = measured.on(nodes[:-1])
    found: CollectiveCalibration | AlgorithmMixture
    if unknown:
        found = calibrate_unknown(fewer, noise=noise, draws=draws, seed=seed)
    else:
        found = calibrate_collective(fewer, model=model, noise=noise, draws=draws, seed=seed)
    kept = measured.on(nodes[-1:])
    predicted = found.predict(kept.tests, levels=levels, replicas=kept.usual_count)
    columns: dict[str, Any] = {
        "nodes": [test.nodes for test in kept.tests],
        "block_bytes": [test.block_bytes for test in kept.tests],
        "measured (µs)": 1e6 * kept.medians,
        "predicted (µs)": 1e6 * predicted.median,
    }
    for row, level in enumerate(levels):
        low, high = predicted.low[row], predicted.high[row]
        name = f"{100 * level:g} %"
        columns |= {f"low {name} (µs)": 1e6 * low, f"high {name} (µs)": 1e6 * high}
        columns[f"within {name}"] = (low <= kept.medians) & (kept.medians <= high)
    return pd.DataFrame(columns)
