"""The programs whose runs a world watches, like those of the paper (Bhatele et al. 2020, III)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class WorldApplication:
    """A program: how long its steps take alone, what it sends, and how stalls slow it down.

    A step of shape x takes ``step_s`` · x · (1 - c + c · (1 + a·S + b·H)) with the share c of
    communication, the mean stall S on the job's flows and the stall H of its hottest links.

    Attributes:
        name: program and nodes.
        title: in words.
        nodes: of a run.
        step_s: time of a step of shape 1 on an idle machine, s.
        shape: float64[steps], time of each step over ``step_s``.
        communication: share of the time in MPI on an idle machine.
        mean_weight: a.
        hot_weight: b.
        patterns: share of its bytes by pattern of traffic.
        node_rate: B/s that a node sends, on average over a step.
        requests: share of the bytes that are requests; the rest are responses.
        packet_flits: mean flits of a packet.
        routines: MPI's routines that take the most time, with their shares of it on average.
        waiting: routines that take what stalls add.
    """

    name: str
    title: str
    nodes: int
    step_s: float
    shape: FloatArray
    communication: float
    mean_weight: float
    hot_weight: float
    patterns: Mapping[str, float]
    node_rate: float
    requests: float
    packet_flits: float
    routines: Mapping[str, float]
    waiting: tuple[str, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """What a run's time goes to: computation, and MPI's routines."""
        return "computation", *self.routines

    @property
    def steps(self) -> int:
        """Number of steps of a run."""
        return len(self.shape)


def _amg(steps: int = 20) -> FloatArray:
    """Time steps that take longer and longer as the solver needs more iterations, in waves."""
    at = np.arange(steps)
    shape: FloatArray = 0.85 + 0.3 * (1 - np.exp(-at / 6)) + 0.08 * np.sin(at * 1.7)
    return shape


def milc_shape(steps: int) -> FloatArray:
    """Return MILC's steps: twenty of warm-up, much faster, then longer ones, each fifth longest."""
    at = np.arange(steps)
    shape: FloatArray = np.where(at < 20, 0.33, 1.0) * (1 + 0.04 * (at % 5 == 4))
    return shape


def _milc(nodes: int, mean_weight: float, hot_weight: float) -> WorldApplication:
    return WorldApplication(
        name=f"milc-{nodes}",
        title=f"MILC-like on {nodes} nodes",
        nodes=nodes,
        step_s=6.5,
        shape=milc_shape(80),
        communication=0.85,
        mean_weight=mean_weight,
        hot_weight=hot_weight,
        patterns={"stencil-4d": 0.97, "all-to-all": 0.03},
        node_rate=0.9e9,
        requests=0.8,
        packet_flits=4.6,
        routines={"Allreduce": 0.35, "Wait": 0.35, "Isend": 0.15, "Irecv": 0.1, "other": 0.05},
        waiting=("Allreduce", "Wait"),
    )


def _amg_like(
    nodes: int, step_s: float, communication: float, mean_weight: float, hot_weight: float
) -> WorldApplication:
    return WorldApplication(
        name=f"amg-{nodes}",
        title=f"AMG-like on {nodes} nodes",
        nodes=nodes,
        step_s=step_s,
        shape=_amg(),
        communication=communication,
        mean_weight=mean_weight,
        hot_weight=hot_weight,
        patterns={"stencil-3d": 0.6, "all-to-all": 0.4},
        node_rate=0.35e9,
        requests=0.6,
        packet_flits=2.2,
        routines={
            "Iprobe": 0.28,
            "Test": 0.2,
            "Testall": 0.12,
            "Waitall": 0.2,
            "Allreduce": 0.17,
            "other": 0.03,
        },
        waiting=("Iprobe", "Test", "Waitall", "Allreduce"),
    )


APPLICATIONS: Mapping[str, WorldApplication] = MappingProxyType(
    {
        one.name: one
        for one in (
            _amg_like(128, 16.0, 0.70, 3.0, 1.0),
            _amg_like(512, 20.0, 0.76, 3.0, 1.0),
            _milc(128, 6.0, 0.5),
            _milc(512, 6.0, 0.5),
            WorldApplication(
                name="minivite-128",
                title="miniVite-like on 128 nodes",
                nodes=128,
                step_s=55.0,
                shape=np.array([1.02, 1.0, 0.99, 1.0, 0.99, 1.0]),
                communication=0.975,
                mean_weight=6.0,
                hot_weight=0.5,
                patterns={"all-to-all": 0.85, "shift": 0.15},
                node_rate=0.6e9,
                requests=0.5,
                packet_flits=3.2,
                routines={"Waitall": 0.93, "Allreduce": 0.05, "other": 0.02},
                waiting=("Waitall",),
            ),
            WorldApplication(
                name="umt-128",
                title="UMT-like on 128 nodes",
                nodes=128,
                step_s=55.0,
                shape=np.array([0.8, 0.95, 1.02, 1.06, 1.06, 1.06, 1.05]),
                communication=0.10,
                mean_weight=6.0,
                hot_weight=5.0,
                patterns={"stencil-3d": 0.8, "all-to-all": 0.2},
                node_rate=0.25e9,
                requests=0.9,
                packet_flits=4.0,
                routines={"Allreduce": 0.4, "Barrier": 0.3, "Wait": 0.25, "other": 0.05},
                waiting=("Allreduce", "Barrier", "Wait"),
            ),
        )
    }
)
"""The programs by name: those of the paper's table I."""


def world_application(name: str) -> WorldApplication:
    """Return a program by its name; ParameterError if there is none."""
    if name not in APPLICATIONS:
        raise ParameterError(
            f"application must be one of {', '.join(APPLICATIONS)}; got {name!r}"
            f"{did_you_mean(name, APPLICATIONS)}",
            key="application",
        )
    return APPLICATIONS[name]


def applications_table() -> pd.DataFrame:
    """Return a row a program, in the place of the paper's table I."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "program": one.title,
                "name": one.name,
                "nodes": one.nodes,
                "steps": one.steps,
                "idle run (s)": one.step_s * one.shape.sum(),
                "MPI when idle (%)": 100 * one.communication,
                "traffic": ", ".join(
                    f"{100 * of:.0f} % {name}" for name, of in one.patterns.items()
                ),
                "a node sends (MB/s)": one.node_rate / 1e6,
            }
            for one in APPLICATIONS.values()
        ]
    )
