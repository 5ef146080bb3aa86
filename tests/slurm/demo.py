"""An experiment through a Slurm of one node, from start to end: ``python -m tests.slurm.demo``.

Starts Slurm on loopback, tunes the block size of a copy as batch jobs, with pruning, then a sort
as job steps of one allocation, shows what ``sacct`` has of the jobs, and ends Slurm again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.slurm.machine import NoSlurm, one_node
from workbench.tasks import Task
from workbench.tune.experiment import tune
from workbench.tune.result import TuningResult
from workbench.tune.runners import Slurm, SlurmSteps
from workbench.tune.store.run_record import RunRecord


def main() -> int:
    """Run the demonstration and return an exit status."""
    with tempfile.TemporaryDirectory(prefix="slurm-demo-") as name:
        folder = Path(name)
        try:
            with one_node(folder) as variables:
                os.environ.update(variables)
                _say(["sinfo"])
                _show(folder)
        except NoSlurm as error:
            print(f"left out: {error}", file=sys.stderr)
    return 0


def _show(folder: Path) -> None:
    print("\nA copy of 256 MiB as batch jobs; what takes twice as long as the default is ended:")
    began = time.monotonic()
    copy = tune(
        "dd-copy",
        Slurm(folder / "runs", poll_s=0.1),
        axes={"bs": [16, 64, 512, 4096, 32768, 262144, 2097152]},
        heuristic="exhaustive",
        initial=1,
        pruning=("default", {"factor": 2.0}),
        store=folder / "tuning.db",
        name="copy",
        task=Task(_line),
    )
    _sum_up(copy, time.monotonic() - began)
    print("\nA sort as job steps of one allocation:")
    began = time.monotonic()
    with SlurmSteps(folder / "runs", ["--time=10"]) as steps:
        sort = tune(
            "sort",
            steps,
            heuristic="surrogate-forest",
            initial=5,
            budget=16,
            seed=1,
            name="sort",
            task=Task(_line),
        )
    _sum_up(sort, time.monotonic() - began)
    print()
    _say(["sacct", "--completion", "--format=jobid,jobname%14,state,nodelist,end"])


def _line(record: RunRecord) -> None:
    run = record.run
    print(
        f"  job {record.job_id:>5} on {record.node_list}: {run.status:<8} "
        f"{run.seconds:6.3f} s after {record.queue_seconds:6.3f} s  {run.value:9.4g}  "
        f"{dict(run.configuration)}"
    )


def _sum_up(result: TuningResult, elapsed_s: float) -> None:
    waited = sum(record.queue_seconds for record in result.records)
    print(f"  {result}\n  {elapsed_s:.1f} s in all: {result.seconds:.1f} s of runs, which the")
    print(f"  search is charged, and {waited:.1f} s of waiting and starting, which it is not")


def _say(words: list[str]) -> None:
    print(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    sys.exit(main())
