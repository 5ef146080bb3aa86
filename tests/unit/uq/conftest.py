"""Calibrations of collectives that take a fifth of the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def short_chains() -> Iterator[None]:
    """Keep every fifth step of a chain, begin a pilot at three places, and halve a design."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.uq.collectives.calibration._DESIGN", 512)
        patch.setattr("workbench.uq.collectives.calibration._STEPS", 5)
        patch.setattr("workbench.uq.collectives.pilot._STARTS", 3)
        yield
