"""A made-up machine whose curves are LogGPS's straight lines, and a table of its benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from workbench.models import LogGPS
from workbench.predict import LevelCurves, MachineProfile, MessageCurve, PointToPoint, machine_of

# Whole nanoseconds, and no time of the host for a byte: as a replay computes without rounding.
STRAIGHT = LogGPS(L=2e-6, o=4e-7, g=4e-7, G=1e-9, O=0.0, S=2**31 - 1)
SIZES = np.array([1.0, 64.0, 2.0**12, 2.0**18, 2.0**20, 2.0**22])
ROWS = """\
system,benchmark,run,nodes,size_bytes,value,unit
a,osu_latency,1,2,0,2,us
a,osu_latency,1,2,1024,3,us
a,osu_latency,2,2,0,4,us
a,osu_latency,2,2,1024,5,us
a,osu_bw,1,2,1,2,MB/s
a,osu_bw,1,2,1024,2048,MB/s
a,osu_bibw,1,2,1,2,MB/s
a,osu_bibw,1,2,1024,2048,MB/s
a,osu_mbw_mr_ppn4,1,2,1024,4096,MB/s
a,osu_mbw_mr_ppn4,1,2,1024,4000000,Messages/s
a,osu_multi_lat_ppn2,1,2,1024,7,us
a,osu_multi_lat_ppn4,1,2,0,6,us
a,osu_multi_lat_ppn4,1,2,1024,10,us
a,osu_latency,1,1,8,0.5,us
a,osu_barrier,1,2,0,9,us
b,imb_pingpong,1,2,8,1.5,us
b,imb_pingping,1,2,8,2.5,us
"""


def straight_machine() -> MachineProfile:
    """Return a machine on which a replay and the sum of rounds must agree."""
    p = STRAIGHT
    wire = (SIZES - 1) * p.G
    between = LevelCurves(
        MessageCurve(SIZES, 2 * p.o + p.L + wire), MessageCurve(SIZES, p.g + wire)
    )
    # So fast a core combines and copies in no time.
    return machine_of(PointToPoint("straight", between), core_Bps=1e30, hop_s=0.0)


def written(folder: Path, text: str = ROWS) -> Path:
    """Write a table of benchmarks, and return its path."""
    path = folder / "p2p.csv"
    path.write_text(text, encoding="utf-8")
    return path
