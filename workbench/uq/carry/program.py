"""A program's run time and its tolerance of latency, for all models that a posterior allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.named_options import named_options
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.simulate import replay
from workbench.tasks import task_of
from workbench.tolerance.analysis import usual_interval
from workbench.tolerance.curve import PERCENT
from workbench.tolerance.sweep import Sweep
from workbench.uq.carried_on import CarriedOn
from workbench.uq.carry.draws import (
    MACHINES,
    MachineOptions,
    each_draw,
    machines_of,
    preparing,
    program_name,
    program_text,
    written,
)
from workbench.uq.pushed import LEVELS, PushedCurves, PushedForward, middle_and_ends

_LLAMP = "LLAMP's semantics, no contention"


@named_options(MachineOptions, MACHINES)
def makespan(
    posterior: CarriedOn, program: ProgramLike, **options: Unpack[MachineOptions]
) -> PushedForward:
    """Return when a program ends on the machines that a posterior allows, with intervals.

    By ``workbench.simulate.replay``: LogGOPSim's semantics, with contention for cores and NICs.

    Args:
        posterior: of a fit of ``protocol``, or a ``LogGPSPosterior``.
        program: what the ranks do.
        options: ``draws`` of the posterior and its ``seed``; the ``regime`` of the LogGPS
            parameters; and a ``task``, which gets the number of draws: once it is stopped, the
            draws so far are returned.

    Raises:
        ParameterError: the fit is of another model, or an option is not accepted.
        ProgramError: the program cannot run to its end.
        JobError: it was stopped before the first draw.
    """
    graph = graph_of(program)
    fitted, machines = machines_of(posterior, options)
    task = task_of(options.get("task"))

    def run_time(machine: LogGPS) -> float:
        return replay(graph, machine, task=task.part()).makespan_s

    plain, times = each_draw(run_time, fitted, machines, task)
    name = program_name(program, graph)
    return PushedForward(
        ("run time",),
        np.array(times)[:, None],
        "s",
        np.array([plain]),
        posterior.origin(
            f"Run time of {name}",
            f"{name}, LogGOPSim's semantics",
            written("posterior.makespan", program_text(program), options),
        ),
    )


@named_options(MachineOptions, MACHINES)
def tolerance(
    posterior: CarriedOn,
    program: ProgramLike,
    percent: Sequence[float] = PERCENT,
    **options: Unpack[MachineOptions],
) -> PushedForward:
    """Return the largest latency L with which a program is at most p percent slower.

    Each draw is compared with its own run time at its own latency, as by
    ``workbench.tolerance.analyse``; that latency, ``base L``, is the first quantity.

    Args:
        posterior: of a fit of ``protocol``, or a ``LogGPSPosterior``.
        program: what the ranks do.
        percent: how much slower than at the base latency is tolerated.
        options: as for ``makespan``.

    Raises:
        ParameterError: the fit is of another model, or an argument is not accepted.
        ProgramError: the program cannot run to its end.
        JobError: it was stopped before the first draw.
    """
    fitted, machines = machines_of(posterior, options)
    task = task_of(options.get("task"))
    with preparing():
        sweep = Sweep(program, fitted, task=task)

    def latencies(machine: LogGPS) -> list[float]:
        return [machine.L, *sweep.replace(machine).tolerance(percent).values()]

    plain, found = each_draw(latencies, fitted, machines, task)
    name = program_name(program, sweep.graph)
    return PushedForward(
        ("base L", *(f"{p:g} % slower" for p in dict.fromkeys(percent))),
        np.array(found),
        "s",
        np.array(plain),
        posterior.origin(
            f"Largest latency L that {name} tolerates",
            f"{name}, {_LLAMP}",
            written("posterior.tolerance", f"{program_text(program)}, {tuple(percent)}", options),
        ),
    )


@named_options(MachineOptions, MACHINES)
def latency_curve(
    posterior: CarriedOn,
    program: ProgramLike,
    interval: tuple[float, float] | None = None,
    points: int = 41,
    **options: Unpack[MachineOptions],
) -> PushedCurves:
    """Return T(L) and λ_L of a program as bands: the run time over latency, and its slope.

    At each latency the overheads and rates are those of the draws; the latency itself is the axis.

    Args:
        posterior: of a fit of ``protocol``, or a ``LogGPSPosterior``.
        program: what the ranks do.
        interval: first and last latency, s; None begins at the least latency that the posterior
            allows and ends a fifth beyond the fitted model's largest tolerance.
        points: number of latencies.
        options: as for ``makespan``.

    Raises:
        ParameterError: the fit is of another model, or an argument is not accepted.
        ProgramError: the program cannot run to its end.
        JobError: it was stopped before the first draw.
    """
    fitted, machines = machines_of(posterior, options)
    task = task_of(options.get("task"))
    with preparing():
        sweep = Sweep(program, fitted, task=task)
        low, high = interval or _reach(sweep, fitted, machines)
    if not 0 <= low < high < np.inf:
        raise ParameterError(
            f"the interval must ascend from at least 0 s; got {low} to {high} s", key="interval"
        )
    latencies = np.linspace(low, high, whole(points, "points", 2))

    def curves(machine: LogGPS) -> FloatArray:
        found = sweep.replace(machine).curve(latencies)
        return np.stack([found.T, found.lambda_right.astype(np.float64)])

    plain, bands = each_draw(curves, fitted, machines, task)
    name = program_name(program, sweep.graph)
    ends = "" if interval is None else f", interval={interval!r}"
    return PushedCurves(
        ("T", "λ_L"),
        ("s", ""),
        "latency L",
        "s",
        latencies,
        np.stack(bands),
        plain,
        posterior.origin(
            f"Run time of {name} over latency",
            f"{name}, {_LLAMP}",
            written(
                "posterior.latency_curve",
                f"{program_text(program)}{ends}, points={points}",
                options,
            ),
        ),
    )


def _reach(sweep: Sweep, fitted: LogGPS, machines: Sequence[LogGPS]) -> tuple[float, float]:
    """Return the latencies that a curve holds by default, s."""
    low, high = usual_interval(fitted.L, sweep.tolerance(PERCENT))
    _, least, most = middle_and_ends(np.array([one.L for one in machines]), LEVELS[-1])
    return min(low, float(least)), max(high, float(most))
