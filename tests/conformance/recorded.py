"""What SST/macro v11.1 printed: 19 recorded sets, and random configurations.

``logp-barrier`` and ``pisces-tails`` were recorded by a program like osu_latency and osu_bw in one
continuous simulation, with MPI_Barrier before each latency size: pure LogP networks, and PISCES
with message sizes that end in a packet of 1 or 2 bytes. ``clock_runs_back`` marks the networks for
which a figure was printed that is no figure: negative, zero or infinite.
"""

import json
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SETS = sorted((HERE / "sstmacro").glob("*.json"))


def _random(*names: str) -> list[dict[str, Any]]:
    return [
        recorded
        for name in names
        for recorded in json.loads((HERE / "sstmacro-random" / f"{name}.json").read_text())
    ]


RANDOM = [
    recorded
    for recorded in _random(
        "hybrid", "logp", "logp-barrier", "options", "pisces", "pisces-tails", "snappr"
    )
    if not recorded.get("clock_runs_back")
]
RUNNING_BACK = [recorded for recorded in _random("pisces-tails") if recorded["clock_runs_back"]]

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


def check_running_back(recorded: dict[str, Any], sizes, latencies_us) -> None:
    """Compare latencies where the clock runs back; a negative one has become 0.

    Bandwidths cannot be compared: the recording measured them after the latencies in the same
    simulation, and how far the clock falls depends on the time of day.
    """
    for size, latency in zip(sizes, latencies_us, strict=True):
        latency_us = max(recorded["latency_us"][str(size)], 0.0)
        assert latency == pytest.approx(latency_us, rel=RELATIVE, abs=LAST_DIGIT_US), size
