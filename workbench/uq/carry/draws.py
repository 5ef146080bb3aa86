"""What every way to carry a posterior on needs: models drawn from it, and a call for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, TypedDict, TypeVar

from workbench import tasks
from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.models.protocol import ProtocolRegime
from workbench.programs.find_program import ProgramLike
from workbench.programs.graph import ExecutionGraph
from workbench.tasks import JobError, Task
from workbench.uq.carried_on import CarriedOn

_M = TypeVar("_M")
_T = TypeVar("_T")


class DrawOptions(TypedDict, total=False):
    """Options of every way to carry a posterior on."""

    draws: int
    seed: int
    task: Task | None


class MachineOptions(DrawOptions, total=False):
    """The same, where a fit of ``protocol`` becomes LogGPS parameters."""

    regime: ProtocolRegime


# A hundred draws are a good compromise where each is a run (Wilke et al., section 6).
DRAWS: Final[Mapping[str, Any]] = MappingProxyType({"draws": 100, "seed": 0})
MACHINES: Final[Mapping[str, Any]] = MappingProxyType({**DRAWS, "regime": "eager"})
"""Defaults of the options."""


def machines_of(posterior: CarriedOn, options: MachineOptions) -> tuple[LogGPS, tuple[LogGPS, ...]]:
    """Return the LogGPS parameters of the fitted model and of draws from the posterior."""
    if not isinstance(posterior, CarriedOn):
        raise ParameterError(
            "posterior must be that of a fit to OSU curves, result.posterior(), or a "
            f"LogGPSPosterior; got {type(posterior).__name__}: a calibrated collective is carried "
            "on with compare_collective and crossover_of_calibrations",
            key="posterior",
        )
    regime = options.get("regime", MACHINES["regime"])
    return posterior.machine(regime), posterior.machines(*count_and_seed(options), regime)


def count_and_seed(options: DrawOptions) -> tuple[int, int]:
    """Return the number of draws and the seed."""
    draws, seed = options.get("draws", DRAWS["draws"]), options.get("seed", DRAWS["seed"])
    return whole(draws, "draws", 1), whole(seed, "seed", 0)


def each_draw(
    function: Callable[[_M], _T], fitted: _M, models: Sequence[_M], task: Task
) -> tuple[_T, list[_T]]:
    """Call a function for the fitted model and for each draw; return the results in this order.

    Calls run in threads. After a stop only the results before the first missing one are returned;
    JobError if no draw is among them.
    """

    def one(model: _M) -> list[_T]:
        if task.stopping:
            return []
        try:
            return [function(model)]
        except SimulationHalted:
            return []

    found: list[_T] = []
    pool = ThreadPoolExecutor(tasks.cores())
    try:
        for done, result in enumerate(pool.map(one, (fitted, *models))):
            if not result:
                break
            found += result
            task.report(done, len(models), "draws")
    finally:
        pool.shutdown(cancel_futures=True)
    if len(found) < 2:
        raise _too_soon()
    return found[0], found[1:]


@contextmanager
def preparing() -> Iterator[None]:
    """Word a stop that comes before any draw as each_draw does."""
    try:
        yield
    except SimulationHalted as error:
        raise _too_soon() from error


def _too_soon() -> JobError:
    return JobError("it was stopped before the first draw; run it again")


def written(call: str, arguments: str, options: Mapping[str, Any]) -> str:
    """Return the line of Python that gives a result again: a call of a function or method."""
    named = "".join(
        f", {name}={value!r}"
        for name, value in options.items()
        if name != "task" and value != MACHINES.get(name)
    )
    return f"{call}({arguments}{named})"


def program_text(program: ProgramLike) -> str:
    """Return a program as Python code has it: its name, or ``program``."""
    return repr(program) if isinstance(program, str) else "program"


def program_name(program: ProgramLike, graph: ExecutionGraph) -> str:
    """Return the name of a program for a title."""
    return program if isinstance(program, str) else graph.source
