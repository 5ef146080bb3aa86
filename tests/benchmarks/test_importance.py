"""How far importances from few configurations are to be believed: ``FEWEST_CONFIGURATIONS``.

The truth is the share over all recorded configurations of a space; samples are drawn from these.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from workbench.storage.importance import FEWEST_CONFIGURATIONS
from workbench.tune.recorded.files import shipped_recording
from workbench.tune.result import _importance

SPACES = (
    ("open-mpi-4-ranks", "bcast/4096"),
    ("open-mpi-4-ranks", "reduce/4096"),
    ("simulated-12-ranks", "bcast/4096"),
    ("simulated-12-ranks", "reduce/4096"),
)
SAMPLES, RESAMPLES = 10, 40


@pytest.mark.filterwarnings("ignore:Target and region quantiles")
def test_shares_from_few_configurations_and_their_intervals() -> None:
    spread: dict[int, list[float]] = {}
    held: dict[int, list[bool]] = {}
    rng = np.random.default_rng(0)
    for recording, name in SPACES:
        recorded = shipped_recording(recording)[name]
        rows = list(recorded.configurations)
        losses = np.array([recorded.median(row) for row in rows])
        truth = _importance(recorded.space, rows, losses.tolist())
        top = max(truth, key=lambda one: truth[one])
        for count in (10, 14, 20, 30):
            shares = []
            for _ in range(SAMPLES):
                sample = rng.choice(len(rows), count, replace=False)
                shares.append(_share(recorded, rows, losses, sample, top))
                again = [
                    _share(recorded, rows, losses, rng.choice(sample, count), top)
                    for _ in range(RESAMPLES)
                ]
                low, high = np.quantile(again, (0.05, 0.95))
                held.setdefault(count, []).append(bool(low <= truth[top] <= high))
            spread.setdefault(count, []).append(float(np.ptp(shares)))
    for count, inside in held.items():
        print(
            f"{count} configurations: the largest share varies by {np.mean(spread[count]):.2f} "
            f"between samples; the interval holds the true one in {sum(inside)} of {len(inside)}"
        )
    assert np.mean(spread[30]) < np.mean(spread[10])
    assert np.mean(held[FEWEST_CONFIGURATIONS]) > np.mean(held[10])


def _share(recorded, rows, losses, at, top):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _importance(recorded.space, [rows[i] for i in at], losses[at].tolist())
    return found.get(top, 0.0)
