"""What SST/macro v11.1 printed: 19 recorded sets, and random configurations."""

import json
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SETS = sorted((HERE / "sstmacro").glob("*.json"))
RANDOM = [
    recorded
    for name in ("hybrid", "logp", "options", "pisces", "snappr")
    for recorded in json.loads((HERE / "sstmacro-random" / f"{name}.json").read_text())
]

RELATIVE = 1e-8  # nine digits after the point are printed, and most figures are above 0.1
LAST_DIGIT_US = 0.6e-9  # what rounding to nine digits leaves of latencies far below
# PISCES delivers packets of one and two bytes by letting the clock wrap round in double precision,
# in steps of 2048 ticks: where 0.0 is printed, what is left depends on the time of day.
ONE_PICOSECOND_US = 1e-6


def ini(recorded: dict[str, Any]) -> Path:
    """Return the file that the set's overrides stand on."""
    return HERE / "sstmacro" / recorded["ini"]


def check(recorded: dict[str, Any], sizes, latencies_us, bandwidths_MBps) -> None:
    """Compare figures of these sizes with the recorded ones."""
    for size, latency, bandwidth in zip(sizes, latencies_us, bandwidths_MBps, strict=True):
        latency_us = recorded["latency_us"][str(size)]
        rest = LAST_DIGIT_US if latency_us else ONE_PICOSECOND_US
        assert latency == pytest.approx(latency_us, rel=RELATIVE, abs=rest), size
        bandwidth_MBps = recorded["bandwidth_MBps"][str(size)]
        assert bandwidth == pytest.approx(bandwidth_MBps, rel=RELATIVE, abs=0.0), size
