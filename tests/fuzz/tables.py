"""Good tables of runs, jobs, steps and what else variability is read from, and their readers."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from workbench import variability
from workbench.variability.known_files import reading_of

Files = dict[str, bytes]


def _csv(text: str) -> bytes:
    return "\n".join(line.strip() for line in text.strip().splitlines()).encode() + b"\n"


def _steps() -> pd.DataFrame:
    """Return steps of three runs with a counter that never falls and one that wraps."""
    rng = np.random.default_rng(0)
    run, step = np.repeat(np.arange(3), 12), np.tile(np.arange(12), 3)
    return pd.DataFrame(
        {
            "run": [f"r{at}" for at in run],
            "step": step,
            "time_s": rng.uniform(1, 2, len(run)).round(4),
            "RT_RB_STL": rng.integers(0, 10**9, len(run)).cumsum() % 2**32,
            "NUM_GROUPS": run + 1,
        }
    )


def _parquet() -> bytes:
    buffer = io.BytesIO()
    _steps().to_parquet(buffer)
    return buffer.getvalue()


RUNS = _csv(
    """run,start,end,time_s
    a,2019-01-31T08:15:00,2019-01-31T08:25:00,598.5
    b,2019-02-01T08:15:00+01:00,2019-02-01T08:25:01Z,601
    c,1549000000,1549000700,699"""
)
SACCT = _csv(
    """JobID|User|NNodes|Start|End|State
    17|u1|256|2019-01-31T08:00:00|2019-01-31T09:00:00|COMPLETED
    17.batch||1|2019-01-31T08:00:00|2019-01-31T09:00:00|COMPLETED
    18|u2|12|2019-01-31T08:00:00|Unknown|RUNNING"""
)
JOBS = _csv(
    """job,user,nodes,start,end
    1,u1,128,0,100
    2,u2,64,50.5,1e3"""
)
SAMPLES = _csv(
    """#Time,Time_usec,ProducerName,component_id,RT_FLIT_TOT
    1549000000.0,0,nid00001,1,100
    1549000001.0,0,nid00001,1,164
    1549000002.0,0,nid00001,1,3"""
)
SACCT_NAMES = _csv(
    """JobID|JobName|User|NNodes|Start|End|Comment|
    17|run | tee log|u1|1.50K|2019-01-31T08:00:00|2019-01-31T09:00:00|a|
    8_1|\u00e9|u2|0|None|2019-01-31T09:00:00||
    18+0|x|u2|12|2019-01-31T08:00:00|Unknown||b||"""
)
SACCT_WIDE = (
    b"       JobID      User   NNodes               Start                 End\n"
    b"------------ --------- -------- ------------------- -------------------\n"
    b"7                  ann      256 2019-01-31T08:00:00 2019-01-31T09:00:00\n"
    b"7.ext+                      256 2019-01-31T08:00:00 2019-01-31T09:00:00\n"
)
LDMS = _csv(
    """1558387831.001731,1731,s0,1,0,197797,0,1.5
    1558387832.001731,1731,s0,1,77,197897,100,2
    1558387833.001731,1731,s1,1,77,197950,53.25,1"""
)
NAMES = "#Time,Time_usec,ProducerName,component_id,job_id,A#sda,A.rate#sda,B.rate"
PLACEMENT = _csv(
    """run,node,router,group
    a,1,0,0
    a,2,0,0
    b,500,120,1"""
)
ROUTINES = _csv(
    """run,routine,time_s
    a,computation,10
    a,Waitall,5.5
    b,computation,11"""
)
TIMES = _csv(
    """system,application,nodes,date,time_s
    Frontier,MILC,64,2025-01-02,300.5
    Frontier,MILC,64,2025-02-02,310"""
)

_READERS: dict[str, Callable[[Path], object]] = {
    "runs.csv": variability.read_runs,
    "sacct.txt": variability.read_jobs,
    "sacct-names.txt": variability.read_jobs,
    "sacct-wide.txt": variability.read_jobs,
    "jobs.csv": variability.read_jobs,
    "steps.csv": variability.read_steps,
    "steps.parquet": variability.read_steps,
    "samples.csv": variability.read_samples,
    "ldms.1558387831": lambda path: variability.read_samples(path, header=NAMES.split(",")),
    "placement.csv": variability.read_placement,
    "routines.csv": variability.read_routines,
    "times.csv": variability.read_run_times,
}

TABLES: list[Files] = [
    {"runs.csv": RUNS},
    {"sacct.txt": SACCT},
    {"sacct-names.txt": SACCT_NAMES},
    {"sacct-wide.txt": SACCT_WIDE},
    {"jobs.csv": JOBS},
    {"steps.csv": _steps().to_csv(index=False).encode()},
    {"steps.parquet": _parquet()},
    {"samples.csv": SAMPLES},
    {"ldms.1558387831": LDMS},
    {"placement.csv": PLACEMENT},
    {"routines.csv": ROUTINES},
    {"times.csv": TIMES},
]


def read_any_table(files: Files) -> object:
    """Read a table by its name, and tabulate what was read."""
    ((name, content),) = files.items()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        reading_of(content, name, path)
        found = _READERS[name](path)
    repr(found)
    return found
