"""Reports on the programs of the paper and on the recordings: made here, or shipped."""

from __future__ import annotations

from pathlib import Path

from workbench.datapackage import read_descriptor
from workbench.datasets import data_folder
from workbench.errors import DatasetError
from workbench.suggestions import did_you_mean
from workbench.tasks import Task
from workbench.variability.recorded_link import RecordedLink, shipped
from workbench.variability.report import VariabilityReport, report
from workbench.variability.world.world import World

WINDOWS = {"amg": ((3, 8), (5, 10)), "milc": ((10, 20), (20, 40))}
"""Steps that forecasts see, and steps forecast, by program (Bhatele et al. 2020, V-C)."""

AMG_FEATURES = (("app",), ("app", "placement"))
"""Counters of AMG's forecasts; the paper leaves those of I/O and of the system out (V-C)."""

_TRUTH_STEPS, _LINK_STEPS = 6, 4  # of each run
_LONG_RUNS = 12  # the paper has one; of fewer than 10 an interval over runs is too narrow
_LINK_WINDOWS = ((8, 15), (15, 30))  # of 60 steps, in the paper's proportions


def report_world(world: World, *, seed: int = 0, task: Task | None = None) -> VariabilityReport:
    """Return all analyses of the runs of a world, with the paper's windows and features.

    Args:
        world: of ``generate``.
        seed: of all analyses.
        task: as for ``report``.

    Raises:
        ParameterError: there are too few runs.
        SimulationHalted: the task was stopped.
    """
    name = world.settings.application
    program = name.partition("-")[0]
    m, k = WINDOWS.get(program, ((), ()))
    links = world.link_truth(steps=_LINK_STEPS, task=task)
    return report(
        name,
        runs=world.runs,
        jobs=world.jobs,
        steps=world.steps,
        routines=world.routines,
        slowed=(world.known or world.truth(steps=_TRUTH_STEPS, task=task)).by_user(),
        saved=links.by_class(),
        m=m,
        k=k,
        features=AMG_FEATURES if program == "amg" else None,
        long_runs=world.long_runs(_LONG_RUNS, task=task) if name == "milc-128" else None,
        seed=seed,
        task=task,
    )


def report_link(
    recorded: RecordedLink, *, seed: int = 0, task: Task | None = None
) -> VariabilityReport:
    """Return all analyses of the recording of a shared link.

    Args:
        recorded: of ``shipped``, or of ``workbench variability record``.
        seed: of all analyses.
        task: as for ``report``.

    Raises:
        ParameterError: there are too few runs.
        SimulationHalted: the task was stopped.
    """
    m, k = _LINK_WINDOWS
    return report(
        recorded.name,
        runs=recorded.runs,
        jobs=recorded.jobs,
        steps=recorded.steps,
        routines=recorded.routines,
        m=m,
        k=k,
        seed=seed,
        task=task,
    )


def report_on(data: str | Path, *, seed: int = 0, task: Task | None = None) -> VariabilityReport:
    """Return all analyses of a saved world or recording.

    Args:
        data: a folder that a world or a recording was saved in, or the name of a shipped recording.
        seed: of all analyses.
        task: as for ``report``.

    Raises:
        DatasetError: there is no such folder or recording, or it is not as it was saved.
        ParseError: a table of it cannot be read.
        ParameterError: there are too few runs.
        SimulationHalted: the task was stopped.
    """
    folder = Path(data)
    if not folder.is_dir():
        recorded = shipped(str(data))
    elif "world" in read_descriptor(folder, "a world or a recording"):
        return report_world(World.load(folder), seed=seed, task=task)
    else:
        recorded = RecordedLink.load(folder)
    return report_link(recorded, seed=seed, task=task)


def shipped_reports() -> tuple[str, ...]:
    """Return the names of the reports that ship, recordings last."""
    names = [path.stem for path in (data_folder() / "variability" / "reports").glob("*.json")]
    return tuple(sorted(names, key=lambda name: (name.startswith("emulated"), name)))


def shipped_report(name: str) -> VariabilityReport:
    """Return a report that ships.

    Args:
        name: such as ``milc-128`` or ``emulated-link``.

    Raises:
        DatasetError: there is no such report.
    """
    known = shipped_reports()
    if name not in known:
        raise DatasetError(
            f"no report is named {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
        )
    path = data_folder() / "variability" / "reports" / f"{name}.json"
    return VariabilityReport.load(path)
