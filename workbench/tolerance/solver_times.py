"""Wall times of three ways to one run time: the linear program, a sweep, and a simulator's replay.

Shen et al., LLAMP, Fig. 7 and Table I, compare their solver with LogGOPSim.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from workbench import machines
from workbench.arrays import FloatArray, IntArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.sweep import Sweep
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs import ExecutionGraph


WAYS = {"lp": "linear program (HiGHS)", "sweep": "sweep", "replay": "replay"}
"""The ways that are timed, with their names in the figure."""

_PROGRAMS = ("halo-8", "transpose-8", "cg-8", "training-64", "ring-pipeline-64", "halo2d-64")
_MACHINE = "azure-hb96v3-hdr"

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, eq=False, repr=False)
class SolverTimes(StoredResult):
    """Wall times of the same programs, solved in three ways on one machine.

    The linear program and the sweep find T without contention, as LLAMP does, to the same
    picosecond; the replay has LogGOPSim's semantics, with CPUs and NICs occupied. What each needs
    once for a program is apart: rows of the linear program, or the packed graph.

    Attributes:
        programs: their names.
        ranks: int64[programs].
        events: int64[programs], operations of the graphs.
        lp_s: float64[programs, repeats], wall time of one solve, s.
        sweep_s: float64[programs, repeats], of one sweep.
        replay_s: float64[programs, repeats], of one replay.
        build_s: float64[programs], of making the rows, once.
        pack_s: float64[programs], of packing the graph, once.
        T_s: float64[programs], run time by the sweep, s.
        T_lp_s: float64[programs], by the linear program, s.
        model: the parameters.
        provenance: the machine that it was timed on.
    """

    programs: tuple[str, ...]
    ranks: IntArray
    events: IntArray
    lp_s: FloatArray = field(metadata={"axes": 2})
    sweep_s: FloatArray = field(metadata={"axes": 2})
    replay_s: FloatArray = field(metadata={"axes": 2})
    build_s: FloatArray
    pack_s: FloatArray
    T_s: FloatArray
    T_lp_s: FloatArray
    model: LogGPS
    provenance: Provenance

    plot = Drawing("plot_solver_times", package="workbench.tolerance")

    def seconds(self, way: str) -> FloatArray:
        """Return the wall times of a way, float64[programs, repeats], s.

        Args:
            way: ``lp``, ``sweep`` or ``replay``.

        Raises:
            ParameterError: there is no such way.
        """
        if way not in WAYS:
            raise ParameterError(f"way must be one of {', '.join(WAYS)}; got {way!r}", key="way")
        found: FloatArray = getattr(self, f"{way}_s")
        return found

    def median(self, way: str) -> FloatArray:
        """Return the median of a way's repeats, float64[programs], s.

        Args:
            way: as for ``seconds``.

        Raises:
            ParameterError: there is no such way.
        """
        return np.asarray(np.median(self.seconds(way), axis=1), np.float64)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a program.

        Returns:
            ``program``, ``ranks``, ``events``, ``T (s)``; the median seconds of each way with its
            standard deviation, as Table I has it; ``build (s)`` and ``pack (s)``, needed once;
            ``LP / sweep``, ``replay / sweep`` and ``replay / LP``, the last as in Table I; and
            ``T differs by (ps)``, that of the linear program from that of the sweep.
        """
        import pandas as pd

        lp, sweep, replay = map(self.median, WAYS)
        return pd.DataFrame(
            {
                "program": self.programs,
                "ranks": self.ranks,
                "events": self.events,
                "T (s)": self.T_s,
                "LP (s)": lp,
                "LP ± (s)": self.lp_s.std(axis=1),
                "sweep (s)": sweep,
                "sweep ± (s)": self.sweep_s.std(axis=1),
                "replay (s)": replay,
                "replay ± (s)": self.replay_s.std(axis=1),
                "build (s)": self.build_s,
                "pack (s)": self.pack_s,
                "LP / sweep": lp / sweep,
                "replay / sweep": replay / sweep,
                "replay / LP": replay / lp,
                "T differs by (ps)": np.abs(self.T_lp_s - self.T_s) * PS_PER_S,
            }
        )

    def __repr__(self) -> str:
        lp, sweep, replay = map(self.median, WAYS)
        return (
            f"SolverTimes({len(self.programs)} programs of {self.events.min():,} to "
            f"{self.events.max():,} events; a sweep takes at most "
            f"{format_quantity(float(sweep.max()), 'time')}, the linear program "
            f"{_span(lp / sweep)} and a replay {_span(replay / sweep)} times as long as a sweep)"
        )

    def _check(self) -> None:
        names = ("ranks", "events", "lp_s", "sweep_s", "replay_s", "build_s", "pack_s", "T_s")
        self._check_lengths(dict.fromkeys((*names, "T_lp_s"), len(self.programs)))


def time_solvers(
    programs: Mapping[str, ProgramLike] | Iterable[str] = _PROGRAMS,
    model: LogGPS | None = None,
    *,
    repeats: int = 3,
) -> SolverTimes:
    """Return the wall times of the linear program, a sweep and a replay of the same programs.

    Each is run once before it is timed. Other work on the machine counts, which the repeats show.

    Args:
        programs: by name; or names of shipped programs, some small ones if left out.
        model: the parameters; None takes the profile of a shipped machine.
        repeats: timed runs of each way.

    Raises:
        ProgramError: a program cannot run to its end.
        ParameterError: there is no program, or ``repeats`` is less than 1.
    """
    whole(repeats, "repeats", 1)
    chosen = dict(programs) if isinstance(programs, Mapping) else {name: name for name in programs}
    if not chosen:
        raise ParameterError("at least one program must be given; got none", key="programs")
    network = machines.load(_MACHINE).loggps if model is None else model
    rows = [_timed(graph_of(program), network, repeats) for program in chosen.values()]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return SolverTimes(
        programs=tuple(chosen),
        **columns,
        model=network,
        provenance=Provenance(
            "measured", f"wall times on a machine of {os.cpu_count()} cores, {network}"
        ),
    )


def _timed(graph: ExecutionGraph, model: LogGPS, repeats: int) -> dict[str, Any]:
    """Return what is known of one program, by the names of `SolverTimes`."""
    from workbench.simulate.replay import replay
    from workbench.tolerance.lp import LatencyLP

    lp, build_s = timed(LatencyLP, graph, model)
    sweep, pack_s = timed(Sweep, graph, model)
    replay(graph, model)  # the first run is not timed
    return {
        "ranks": graph.num_ranks,
        "events": graph.num_ops,
        "T_s": sweep.makespan(),
        "T_lp_s": lp.solve().T,
        "lp_s": [timed(lp.solve)[1] for _ in range(repeats)],
        "sweep_s": [timed(sweep.makespan_ps)[1] for _ in range(repeats)],
        "replay_s": [timed(replay, graph, model)[1] for _ in range(repeats)],
        "build_s": build_s,
        "pack_s": pack_s,
    }


def timed(call: Callable[_P, _R], *arguments: _P.args, **named: _P.kwargs) -> tuple[_R, float]:
    """Return the result of a call, and its wall time in s."""
    began = time.perf_counter()
    result = call(*arguments, **named)
    return result, time.perf_counter() - began


def _span(ratios: FloatArray) -> str:
    ends = (float(ratios.min()), float(ratios.max()))
    low, high = (f"{end:,.0f}" if end >= 10 else f"{end:.2g}" for end in ends)
    return low if low == high else f"{low} to {high}"
