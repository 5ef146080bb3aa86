"""What calls from Python add to the times of the collective benchmark; printed, not judged.

The forms take turns, so that a busy minute of the machine falls on both.
"""

from __future__ import annotations

import statistics

import pytest

from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.tune.benchmark import Loop, benchmark_arguments, parse_benchmark
from workbench.tune.benchmark.forms import FORMS, Benchmark, find_benchmark
from workbench.tune.component.invocation import Invocation
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import RunRequest, run_to_end

SIZES = (16, 256, 4096, 65536, 1048576)
TURNS = 9
LOOP = Loop(budget_ms=100)


def medians_us(launcher: Launcher, benchmark: Benchmark, ranks: int) -> dict[int, float]:
    """Return the median time of an allreduce in µs, by size in bytes."""
    words = (*benchmark.words, *benchmark_arguments("allreduce", SIZES, LOOP))
    invocation = Invocation(tuple(launcher.command(words, ranks, {})))
    runner = Local(environment=launcher.own_environment())
    output = run_to_end(runner, RunRequest({}, invocation, timeout_s=120.0))
    assert output.state == "completed", output.stderr
    return {row.size: row.latencies_us[2] for row in parse_benchmark(output.stdout)}


@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_from_python_and_from_c(ranks: int) -> None:
    try:
        launcher = find_launcher()
        forms = [find_benchmark(launcher, form) for form in FORMS]
    except MPIError as error:
        pytest.skip(f"both forms must run to be compared: {error}")
    tables: dict[str, list[dict[int, float]]] = {form.caller: [] for form in forms}
    for _ in range(TURNS):
        for form in forms:
            tables[form.caller].append(medians_us(launcher, form, ranks))
    print()
    for size in SIZES:
        told = []
        for caller, turns in tables.items():
            low, middle, high = statistics.quantiles([turn[size] for turn in turns], n=4)
            told.append(f"{middle:.1f} µs ({low:.1f} to {high:.1f}) from {caller}")
        print(f"allreduce of {size} B, {ranks} ranks, median: {', '.join(told)}")
