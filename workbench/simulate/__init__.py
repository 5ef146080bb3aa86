"""Programs on models: what a run takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.simulate.arrivals import (
        by_arrival as by_arrival,
        receives_from_any as receives_from_any,
    )
    from workbench.simulate.critical_path import PathStep as PathStep
    from workbench.simulate.noise import Noise as Noise
    from workbench.simulate.osu import BENCHMARKS as BENCHMARKS, simulate_osu as simulate_osu
    from workbench.simulate.picoseconds import (
        ByteCost as ByteCost,
        PicosecondCosts as PicosecondCosts,
    )
    from workbench.simulate.replay import replay as replay
    from workbench.simulate.replay_result import (
        ReplayResult as ReplayResult,
        ReplayTimes as ReplayTimes,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
