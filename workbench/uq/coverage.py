"""What predicted intervals hold of what was measured."""

from __future__ import annotations

import numpy as np

from workbench.errors import ParameterError
from workbench.uq.prediction import Prediction
from workbench.uq.replicas import Replicas


def held_share(prediction: Prediction, measured: Replicas) -> dict[float, float]:
    """Return by level the share of the tests whose interval holds the measured median.

    Args:
        prediction: of tests that were measured.
        measured: tests with the same labels.

    Raises:
        ParameterError: a predicted test was not measured.
    """
    medians = {
        test: float(np.median(row)) for test, row in zip(measured.tests, measured.rows, strict=True)
    }
    if missing := [test for test in prediction.tests if test not in medians]:
        raise ParameterError(
            f"measured must hold the predicted tests; got none of {', '.join(missing)}",
            key="measured",
        )
    times = np.array([medians[test] for test in prediction.tests])
    held = (prediction.low <= times) & (times <= prediction.high)
    return {
        level: float(share)
        for level, share in zip(prediction.levels, held.mean(axis=1), strict=True)
    }


def describe_held(prediction: Prediction, measured: Replicas, kind: str = "measured") -> str:
    """Return a sentence on the share of measured medians that the intervals hold.

    Args:
        prediction: of tests that were measured.
        measured: tests with the same labels.
        kind: of the tests, such as ``held-out``.

    Raises:
        ParameterError: a predicted test was not measured.
    """
    parts = [
        f"{100 * level:g} % intervals hold {100 * share:.0f} %"
        for level, share in held_share(prediction, measured).items()
    ]
    return f"Of the {len(prediction.tests)} {kind} medians the {', the '.join(parts)}."
