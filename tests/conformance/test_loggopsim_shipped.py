"""The shipped programs, a million operations among them, as LogGOPSim itself replayed them.

Its finish times by rank where it prints them, up to 16 ranks, and the last one elsewhere. Each
program was lowered with its default algorithms and handed over as binary GOAL, so a change of those
algorithms or of a program makes the figures stale: the count of operations tells.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench import programs
from workbench.models import LogGPS
from workbench.simulate import replay

pytestmark = pytest.mark.conformance

RECORDED = json.loads((Path(__file__).parent / "loggopsim" / "shipped.json").read_text())
PARAMETERS = {name: value * 1e-9 for name, value in RECORDED["parameters"].items()}


@lru_cache(maxsize=1)
def lowered(name: str) -> programs.ExecutionGraph:
    return programs.load(name).graph()


def test_every_shipped_program_was_replayed() -> None:
    assert {run["program"] for run in RECORDED["runs"]} == set(programs.list())


@for_each(
    "run",
    sorted(RECORDED["runs"], key=lambda run: run["program"]),
)
def test_a_shipped_program_ends_when_loggopsim_says(run: dict[str, Any]) -> None:
    graph = lowered(run["program"])
    assert graph.num_ops == run["operations"]
    result = replay(graph, LogGPS(**PARAMETERS, S=run["S"]), ties="libstdc++")
    assert result.events == run["events"]
    assert result.makespan_ns == run["makespan_ns"]
    if run["finish_ns"] is not None:
        assert result.finish_ns == run["finish_ns"]
