"""Runs of a program on a machine of others, whose slow-downs have causes that are known.

world = generate("small", application="milc-128", runs=200, seed=0)
world.runs, world.jobs, world.steps          # what a site would have
world.truth()                                # what it would not: who slowed which run down
world.without("user-07", run=3)              # step times without a user, at once
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.checks import whole
from workbench.datapackage import PackagedResult, PackageFiles, read_resource, table_resource
from workbench.errors import ParameterError, ParseError, SimulationHalted
from workbench.provenance import Provenance
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.routines import RoutineTimes
from workbench.variability.tables.runs import Runs
from workbench.variability.tables.steps import StepTable
from workbench.variability.world import tables
from workbench.variability.world.application import world_application
from workbench.variability.world.computations import COMPUTATIONS
from workbench.variability.world.counters import COUNTERS
from workbench.variability.world.machine import CLASSES, NODES, ROUTERS, world_preset
from workbench.variability.world.pieces import RunPiece, do_runs
from workbench.variability.world.scene import (
    LONG_RUN,
    WorldSettings,
    long_schedule,
    scene_of,
    step_times,
    usual_pace,
)
from workbench.variability.world.schedule import EPOCH, LONG, OURS, WorldSchedule
from workbench.variability.world.truth import LinkTruth, ShapleyTruth, WorldTruth

if TYPE_CHECKING:
    import pandas as pd


def generate(
    preset: str = "small",
    *,
    application: str = "milc-128",
    runs: int = 200,
    seed: int = 0,
    interference: bool = True,
    workers: int | None = None,
    store: str | Path | None = None,
    task: Task | None = None,
) -> World:
    """Return runs of a program beside other users' jobs, with their causes (synthetic).

    One or two runs a day start when they can. The digits do not depend on ``workers``.

    Args:
        preset: machine: ``small``, ``medium`` or ``cori``, of 5, 12 or 34 groups.
        application: program whose runs are slowed down: ``milc-128``, ``milc-512``, ``amg-128``,
            ``amg-512``, ``minivite-128`` or ``umt-128``.
        runs: number of runs.
        seed: seed of the users, their jobs and all else that is drawn.
        interference: whether the others' traffic slows the runs down; without it they are there,
            and counters count what they send, but times do not know of them.
        workers: processes; None takes one a core.
        store: folder where finished runs are kept, so that the same call goes on after a stop or
            a kill; None keeps none.
        task: gets the progress after each run; once it is stopped, the runs so far are returned.

    Raises:
        ParameterError: an argument is not accepted.
        StudyError: ``store`` is of another world or of a release with other digits, a process
            died, or another process makes some of the runs.
        SimulationHalted: the task was stopped before the first run was done.
    """
    world_preset(preset)
    world_application(application)
    settings = WorldSettings(
        preset,
        application,
        whole(runs, "runs", 1, 10_000),
        whole(seed, "seed", 0, 2**62),
        bool(interference),
    )
    pieces = do_runs(settings, "simulate", {}, range(runs), store, workers, task_of(task))
    return _world(settings, pieces)


@dataclass(frozen=True, eq=False, repr=False)
class World(PackagedResult):
    """Runs, jobs and steps as a site has them, and the machine that they came from (synthetic).

    Attributes:
        settings: what it is made from; the same settings make the same digits.
        number: int64[runs], of each run; fewer than asked for where the work was stopped.
        runs: the watched runs.
        jobs: of all users; the experimenter is ``user-00``.
        steps: times and counters.
        routines: time in computation and in MPI's routines.
        provenance: what was made up.
        known: what slowed the runs down, where it was asked for.
    """

    settings: WorldSettings
    number: IntArray
    runs: Runs
    jobs: JobLog
    steps: StepTable
    routines: RoutineTimes
    provenance: Provenance
    known: WorldTruth | None = None

    @property
    def users(self) -> tuple[str, ...]:
        """Names of the other users."""
        return tuple(user.name for user in self.settings.schedule.users)

    def placement(self) -> pd.DataFrame:
        """Return a row a node of each run: ``run``, ``node``, ``router``, ``group``."""
        import pandas as pd

        schedule = self.settings.schedule
        nodes = [schedule.nodes_of(schedule.job_of(int(run))) for run in self.number]
        node = np.concatenate(nodes)
        return pd.DataFrame(
            {
                "run": np.repeat(np.array(self.runs.run, object), [len(one) for one in nodes]),
                "node": node,
                "router": node // NODES,
                "group": node // (NODES * ROUTERS),
            }
        )

    def without(self, users: str | Sequence[str], run: int) -> FloatArray:
        """Return the step times of a run as if users had sent nothing, s, float64[steps].

        Args:
            users: one, or several.
            run: its place in ``runs``.

        Raises:
            ParameterError: there is no such user or run.
        """
        names = (users,) if isinstance(users, str) else tuple(users)
        known = self.settings.suspects
        for name in names:
            if name not in known:
                raise ParameterError(
                    f"users must be some of {', '.join(known)}; got {name!r}"
                    f"{did_you_mean(name, known)}",
                    key="users",
                )
        scene = scene_of(self.settings, self._number(run))
        kept = ~np.isin(np.array(scene.users), names)
        kept[0] = True
        return step_times(scene, scene.activity * kept[:, None])

    def truth(
        self,
        *,
        steps: int = 0,
        workers: int | None = None,
        store: str | Path | None = None,
        task: Task | None = None,
    ) -> WorldTruth:
        """Return how long steps take without each user: the world simulated again without them.

        Args:
            steps: so many of each run, evenly over it; 0 takes all.
            workers: as for ``generate``.
            store: as for ``generate``; it may be the same folder.
            task: as for ``generate``.

        Raises:
            ParameterError: an argument is not accepted.
            SimulationHalted: the task was stopped before the first run was done.
        """
        options = {"steps": whole(steps, "steps", 0)}
        pieces = self._pieces("leave-one-out", options, store, workers, task)
        return truth_of(self.settings, pieces)

    def shapley(
        self,
        *,
        steps: int = 4,
        permutations: int = 20,
        workers: int | None = None,
        store: str | Path | None = None,
        task: Task | None = None,
    ) -> ShapleyTruth:
        """Return what each user adds to the time of runs, by Shapley values over random orders.

        Args:
            steps: as for ``truth``.
            permutations: orders for each run; every other one is the one before, backwards.
            workers: as for ``generate``.
            store: as for ``generate``; it may be the same folder.
            task: as for ``generate``.

        Raises:
            ParameterError: an argument is not accepted.
            SimulationHalted: the task was stopped before the first run was done.
        """
        permutations = whole(permutations, "permutations", 1, 10_000)
        options = {"steps": whole(steps, "steps", 0), "permutations": permutations}
        pieces = self._pieces("shapley", options, store, workers, task)
        numbers, step, values = _stacked(pieces)
        return ShapleyTruth(
            tuple(map(run_name, numbers)),
            self.settings.suspects,
            step,
            values[-1],
            values[:-1],
            permutations,
            self.provenance,
        )

    def link_truth(
        self,
        *,
        steps: int = 4,
        workers: int | None = None,
        store: str | Path | None = None,
        task: Task | None = None,
    ) -> LinkTruth:
        """Return how long steps take where links of each class could carry everything.

        Args:
            steps: as for ``truth``.
            workers: as for ``generate``.
            store: as for ``generate``; it may be the same folder.
            task: as for ``generate``.

        Raises:
            ParameterError: an argument is not accepted.
            SimulationHalted: the task was stopped before the first run was done.
        """
        options = {"steps": whole(steps, "steps", 0)}
        pieces = self._pieces("classes", options, store, workers, task)
        numbers, step, times = _stacked(pieces)
        return LinkTruth(
            tuple(map(run_name, numbers)), CLASSES, step, times[0], times[1:], self.provenance
        )

    def long_runs(self, count: int = 1, *, task: Task | None = None) -> StepTable:
        """Return runs of 620 steps of the same program, days apart, after all others (synthetic).

        They are made beside the jobs of the same users and are none of ``runs``, as for the paper's
        forecast of a run that no model was trained on (Bhatele et al. 2020, V-C, figure 12). The
        paper has one.

        Args:
            count: their number.
            task: gets the progress after each run; once it is stopped, the work ends.

        Raises:
            ParameterError: the number is less than 1.
            SimulationHalted: the task was stopped.
        """
        count, task = whole(count, "count", 1), task_of(task)
        made, start = [], []
        for at in range(count):
            if task.stopping:
                raise SimulationHalted("stopped before all long runs were made")
            made.append(COMPUTATIONS["simulate"](self.settings, LONG_RUN - at)[0])
            schedule = long_schedule(self.settings, LONG_RUN - at)
            start.append(EPOCH + np.round(schedule.start[schedule.user == LONG][0]))
            task.report(at + 1, count, f"long run {at + 1} of {count}")
        values = np.array(made)
        return StepTable(
            tuple(f"long-run-{at + 1}" for at in range(count)),
            np.array(start),
            values[:, :, 0],
            tuple(COUNTERS),
            values[:, :, 1:],
            self.provenance,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run: the runs, as ``Runs.to_frame``."""
        return self.runs.to_frame()

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        made: PackageFiles = []

        def add(name: str, data: bytes, columns: Mapping[str, Any], about: str) -> None:
            made.append((table_resource(name, data, columns, about), data))

        add("runs", tables.runs_table(self.runs), tables.RUNS, "one row a run")
        add("jobs", tables.jobs_table(self.jobs), tables.JOBS, "one row a job of any user")
        steps = tables.steps_table(self.steps)
        add("steps", steps, tables.steps_columns(self.steps.counters), "one row a step of a run")
        add(
            "placement",
            tables.csv_bytes(dict(self.placement())),
            tables.PLACEMENT,
            "one row a node of a run",
        )
        routines = tables.routines_table(self.routines)
        add("routines", routines, tables.ROUTINES, "one row a run and routine, as mpiP has it")
        if self.known is not None:
            truth = tables.truth_table(self.known)
            add("truth", truth, tables.TRUTH, "what slowed which step of which run down")
        return _described(self), made

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        settings = WorldSettings(**descriptor["world"])
        read = {
            name: read_resource(folder, descriptor, f"{name}.csv")
            for name in ("runs", "jobs", "steps", "routines")
        }
        steps = tables.read_csv_bytes(read["steps"])
        routines = tables.read_csv_bytes(read["routines"])
        routines = routines.pivot(index="run", columns="routine", values="time_s")
        each = settings.program.steps
        values = steps.iloc[:, 2:].to_numpy(np.float64).reshape(-1, each, steps.shape[1] - 2)
        names = steps["run"].iloc[::each]
        routine = routines.loc[names, list(settings.program.parts)].to_numpy(np.float64)
        pieces = {
            int(name.rpartition("-")[2]) - 1: RunPiece(at, values[at], routine[at : at + 1])
            for at, name in enumerate(names)
        }
        made = _world(settings, pieces)
        if tables.jobs_table(made.jobs) != read["jobs"]:
            raise ParseError(
                "must be of a world that this release makes; its jobs are others: generate it "
                "again",
                source=str(folder / "jobs.csv"),
            )
        known = None
        if any(entry["path"] == "truth.csv" for entry in descriptor["resources"]):
            known = _truth_from(made, read_resource(folder, descriptor, "truth.csv"))
        return cls(**{**vars(made), "known": known})

    def _pieces(
        self,
        computation: str,
        options: Mapping[str, Any],
        store: str | Path | None,
        workers: int | None,
        task: Task | None,
    ) -> dict[int, RunPiece]:
        """Return the results of one of ``COMPUTATIONS`` for each run of this world."""
        runs = self.number.tolist()
        return do_runs(self.settings, computation, options, runs, store, workers, task_of(task))

    def _number(self, run: int) -> int:
        """Return the number of the run at a place."""
        return int(self.number[whole(run, "run", 0, len(self.number) - 1)])

    def __repr__(self) -> str:
        least, most = self.runs.time_s.min(), self.runs.time_s.max()
        null = "" if self.settings.interference else " without interference"
        return (
            f"World({self.settings.preset}{null}, {len(self.runs)} runs of "
            f"{self.settings.application} beside {len(self.users)} users, seed "
            f"{self.settings.seed}; {least:.4g} to {most:.4g} s, synthetic)"
        )


def run_name(number: int) -> str:
    """Return the name of a run in all tables."""
    return f"run-{number + 1:03d}"


def _stacked(pieces: dict[int, RunPiece]) -> tuple[list[int], IntArray, FloatArray]:
    """Return numbers of runs, the steps, and the first arrays as [rows, runs, steps]."""
    first = np.array([piece.first for piece in pieces.values()])
    step = next(iter(pieces.values())).second[0].astype(np.int64)
    return list(pieces), step, np.ascontiguousarray(first.transpose(1, 0, 2))


def truth_of(settings: WorldSettings, pieces: dict[int, RunPiece]) -> WorldTruth:
    """Return the truth of what ``leave-one-out`` computes about runs."""
    numbers, step, times = _stacked(pieces)
    users = settings.suspects
    beside = np.zeros((len(users), len(numbers)), bool)
    for at, run in enumerate(numbers):
        here = scene_users(settings, run)
        beside[:, at] = [user in here for user in users]
    names = tuple(map(run_name, numbers))
    return WorldTruth(names, users, beside, step, times[0], times[1:], _provenance(settings))


def scene_users(settings: WorldSettings, run: int) -> set[str]:
    """Return who has jobs beside a run."""
    schedule = settings.schedule
    here = schedule.job_of(run)
    until = schedule.start[here] + float(usual_pace(settings.program).sum())
    beside = np.flatnonzero((schedule.start < until) & (schedule.end > schedule.start[here]))
    return {schedule.name_of(int(job)) for job in beside if job != here}


def runs_and_jobs(
    settings: WorldSettings,
    step_s: Mapping[int, FloatArray],  # time of each step, of runs by number
) -> tuple[Runs, JobLog]:
    """Return the tables that a site has of runs, and of the jobs of all users."""
    schedule = settings.schedule
    jobs = [schedule.job_of(run) for run in step_s]
    names = tuple(map(run_name, step_s))
    start = EPOCH + np.round(schedule.start[jobs])
    total = np.array([one.sum() for one in step_s.values()])
    runs = Runs(names, start, start + total, total)
    return runs, _job_log(schedule, dict(zip(jobs, names, strict=True)), runs.end)


def _world(settings: WorldSettings, pieces: dict[int, RunPiece]) -> World:
    runs, jobs = runs_and_jobs(settings, {run: one.first[:, 0] for run, one in pieces.items()})
    provenance = _provenance(settings)
    return World(
        settings,
        np.array(list(pieces), np.int64),
        runs,
        jobs,
        StepTable(
            runs.run,
            runs.start,
            np.array([piece.first[:, 0] for piece in pieces.values()]),
            tuple(COUNTERS),
            np.array([piece.first[:, 1:] for piece in pieces.values()]),
            provenance,
        ),
        RoutineTimes(
            runs.run,
            settings.program.parts,
            np.array([piece.second[0] for piece in pieces.values()]),
            provenance,
        ),
        provenance,
    )


def _provenance(settings: WorldSettings) -> Provenance:
    null = "" if settings.interference else " without interference"
    return Provenance(
        "synthetic",
        f"{settings.program.title} runs on a {settings.preset} Aries dragonfly{null}",
        "workbench.variability.generate",
        details={"seed": str(settings.seed)},
    )


def _job_log(schedule: WorldSchedule, runs: dict[int, str], ends: FloatArray) -> JobLog:
    """Return the jobs of all users; those of the runs end when these do."""
    # Runs that were not done, and the long one, are in no table.
    kept = [job for job, who in enumerate(schedule.user) if job in runs or who not in (OURS, LONG)]
    end = EPOCH + np.round(schedule.end)
    end[list(runs)] = ends
    sizes = np.diff(schedule.first)
    return JobLog(
        tuple(runs.get(job, str(1_000_000 + job)) for job in kept),
        tuple(schedule.name_of(job) for job in kept),
        sizes[kept],
        EPOCH + np.round(schedule.start[kept]),
        end[kept],
    )


def _described(world: World) -> dict[str, Any]:
    """Return the descriptor of a world's package."""
    import workbench

    settings = world.settings
    return {
        "name": f"{settings.preset}-{settings.application}-seed-{settings.seed}",
        "title": world.provenance.title,
        "description": f"{world!r}. The same settings make the same tables.",
        "origin": world.provenance.origin,
        "created_by": f"Interconnect Workbench {workbench.__version__}, workbench variability "
        "generate",
        "world": asdict(settings),
    }


def _truth_from(world: World, data: bytes) -> WorldTruth:
    """Return the truth of a table."""
    table = tables.read_csv_bytes(data)
    runs = list(dict.fromkeys(table["run"]))
    step = np.unique(table["step"].to_numpy(np.int64))
    run = np.array([runs.index(name) for name in table["run"]], np.int64)
    users = world.settings.suspects
    user = np.array([users.index(name) for name in table["user"]], np.int64)
    place = np.searchsorted(step, table["step"].to_numpy(np.int64))
    time = np.zeros((len(runs), len(step)))
    time[run, place] = table["time_s"].astype(np.float64)
    beside = np.zeros((len(users), len(runs)), bool)
    beside[user, run] = True
    without = np.repeat(time[None], len(users), axis=0)
    without[user, run, place] = table["without_s"].astype(np.float64)
    return WorldTruth(tuple(runs), users, beside, step, time, without, world.provenance)
