"""Many runs of a step program over a link that users with known schedules share.

record_link("recording", runs=40, steps=60)
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.namespaces import NamespaceError, congestion_control
from workbench.result import StoredResult
from workbench.tasks import Task, task_of
from workbench.variability.recording.counters import (
    GAUGES,
    MachineLoad,
    NetworkCounters,
    machine_load,
)
from workbench.variability.recording.network import HOSTS, LinkNetwork, LinkRecordingError
from workbench.variability.recording.schedule import EmulatedUser, LinkSchedule, emulated_users
from workbench.variability.recording.step_program import StepProgram, run_steps
from workbench.variability.recording.users import RunningUsers

if TYPE_CHECKING:
    import pandas as pd

RECORDING = "recording.json"
"""File of a recording's folder that holds all of it."""

_TRIES = 3  # chosen: a run fails by chance on a busy machine; one that always does ends soon
_START_S = 4.0  # of a slot, for the program's start and end


@dataclass(frozen=True)
class LinkSettings:
    """What a recording holds constant.

    Attributes:
        steps: steps of a run.
        rate_Mbps: rate of the link in each direction, Mbit/s.
        queue_kB: of the queue before the link, in each direction.
        ranks_per_side: number of the program's ranks on each side.
        exchange_bytes: what a rank sends to its partner in a step.
        compute_s: what a rank sleeps in a step, in the place of computation.
        seed: seed of the users and of their schedules.
    """

    steps: int = 60
    rate_Mbps: float = 100.0
    queue_kB: int = 512
    ranks_per_side: int = 2
    exchange_bytes: int = 524_288
    compute_s: float = 0.08
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("steps", 1, 100_000),
            ("queue_kB", 64, 100_000),
            ("ranks_per_side", 1, 64),
            ("exchange_bytes", 1, 8_388_608),
            ("seed", 0, 2**62),
        ):
            object.__setattr__(self, name, whole(getattr(self, name), name, least, most))
        for name in ("rate_Mbps", "compute_s"):
            object.__setattr__(self, name, above_zero(getattr(self, name), name))

    @property
    def slot_s(self) -> float:
        """Length of a run's slot in the users' schedule, about what a run takes."""
        sent = self.ranks_per_side * self.exchange_bytes * 8 / (1e6 * self.rate_Mbps)
        return _START_S + self.steps * (self.compute_s + 2 * sent)


@dataclass(frozen=True)
class LinkRun:
    """A recorded run.

    Attributes:
        number: of the run, from 0.
        slot_start: s since 1970, when its users were told their jobs.
        slot_end: s since 1970, when the last step had ended.
        start: s since 1970 at the start of each step.
        end: s since 1970 at the end of each step.
        time_s: of each step.
        routine_s: s in the program's routines, mean over the ranks.
        counters: names.
        values: rises of the counters in each step, of gauges the value at its end.
        sent: bytes that the network took from each user, in each step.
        load: average number of runnable processes in the last minute, at the end of each step.
        busy: share of the cores' time that was not idle in each step.
    """

    number: int
    slot_start: float
    slot_end: float
    start: tuple[float, ...]
    end: tuple[float, ...]
    time_s: tuple[float, ...]
    routine_s: tuple[float, ...]
    counters: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    sent: tuple[tuple[int, ...], ...]
    load: tuple[float, ...]
    busy: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LinkRecording(StoredResult):
    """A recording as far as it has come.

    Attributes:
        settings: what was held constant.
        users: who shares the link.
        runs: finished runs, by number.
        shaper: the queueing discipline that limits the rate.
        congestion_control: of TCP.
        mpi: the MPI's words about itself.
    """

    ONE_FILE: ClassVar[bool] = True

    settings: LinkSettings
    users: tuple[EmulatedUser, ...]
    runs: tuple[LinkRun, ...]
    shaper: str
    congestion_control: str
    mpi: str

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run: ``run``, ``time (s)``, ``load`` and the jobs beside it."""
        import pandas as pd

        schedule = self.schedule
        return pd.DataFrame(
            {
                "run": [run.number for run in self.runs],
                "time (s)": [sum(run.time_s) for run in self.runs],
                "load": [sum(run.load) / len(run.load) for run in self.runs],
                "jobs beside": [len(schedule.during(run.number)) for run in self.runs],
            }
        )

    @property
    def schedule(self) -> LinkSchedule:
        """The users' schedule, as long as the runs."""
        count = 1 + max((run.number for run in self.runs), default=0)
        settings = self.settings
        return LinkSchedule.drawn(
            self.users, runs=count, slot_s=settings.slot_s, seed=settings.seed
        )

    def __repr__(self) -> str:
        times = [sum(run.time_s) for run in self.runs]
        spread = f" of {min(times):.4g} to {max(times):.4g} s" if times else ""
        return (
            f"LinkRecording({len(times)} runs{spread}, {self.settings.steps} steps each, "
            f"{len(self.users)} users)"
        )


def record_link(
    folder: str | Path,
    *,
    runs: int = 40,
    settings: LinkSettings | None = None,
    mpirun: str | Path | None = None,
    task: Task | None = None,
) -> LinkRecording:
    """Record runs of a step program over an emulated link that users with known schedules share.

    All traffic stays in network namespaces that this process makes and holds; they are gone when
    it ends. The recording is saved after each run, and goes on where it was.

    Args:
        folder: of the recording; made where there is none.
        runs: number of runs in all.
        settings: what is held constant; None takes those of the folder's recording, or the
            defaults.
        mpirun: launcher of Open MPI; None takes the path's ``mpirun``.
        task: gets the progress after each run; once it is stopped, the recording ends with the
            finished runs.

    Raises:
        ParameterError: the folder holds a recording with other settings, or a number is refused.
        NamespaceError: network namespaces are not to be had here.
        LinkRecordingError: there is no Open MPI, or a run failed three times.
        ParseError: the folder's recording is damaged.
    """
    task = task_of(task)
    runs, path = whole(runs, "runs", 1, 100_000), Path(folder) / RECORDING
    before = LinkRecording.load(path) if path.exists() else None
    if before is not None and settings not in (None, before.settings):
        raise ParameterError(
            f"{path} must have the settings to go on with, {settings}; it has {before.settings}: "
            "name another folder",
            key="settings",
        )
    settings = before.settings if before is not None else settings or LinkSettings()
    users = emulated_users(settings.seed)
    finished = () if before is None else before.runs
    missing = sorted(set(range(runs)) - {run.number for run in finished})
    if before is not None and not missing:
        return before
    path.parent.mkdir(parents=True, exist_ok=True)
    program = StepProgram.found(mpirun)
    network = LinkNetwork(rate_Mbps=settings.rate_Mbps, queue_kB=settings.queue_kB)
    schedule = LinkSchedule.drawn(users, runs=runs, slot_s=settings.slot_s, seed=settings.seed)
    with (
        network,
        NetworkCounters(network) as counters,
        RunningUsers(users, network, rate_Mbps=settings.rate_Mbps) as running,
    ):
        control, mpi = congestion_control(network, HOSTS[0]), program.launcher.version
        recording = LinkRecording(settings, users, finished, network.shaper, control, mpi)
        recorder = _Recorder(program, network, counters, running, settings, task)
        for number in missing:
            run = recorder.run(number, schedule)
            if run is None:
                break
            done = sorted((*recording.runs, run), key=lambda one: one.number)
            recording = replace(recording, runs=tuple(done))
            recording.save(path)
            task.report(len(done), runs, f"{len(done)} of {runs} runs")
    return recording


@dataclass
class _Recorder:
    """What a run needs."""

    program: StepProgram
    network: LinkNetwork
    counters: NetworkCounters
    users: RunningUsers
    settings: LinkSettings
    task: Task

    def run(self, number: int, schedule: LinkSchedule) -> LinkRun | None:
        """Return a recorded run, None where it was stopped; a failed one is tried again."""
        for left in reversed(range(_TRIES)):
            if self.task.stopping:
                break
            try:
                return self._once(number, schedule)
            except (LinkRecordingError, NamespaceError) as error:
                if not left:
                    raise LinkRecordingError(
                        f"run {number} failed {_TRIES} times: {error}"
                    ) from error
        return None

    def _once(self, number: int, schedule: LinkSchedule) -> LinkRun:
        readings: list[dict[str, int]] = []
        sent: list[list[int]] = []
        machine = []

        def read() -> None:
            readings.append(self.counters.read())
            sent.append(self.users.sent())
            machine.append(machine_load())

        slot_start = self.users.begin(schedule.during(number))
        done = run_steps(
            self.program,
            self.network,
            steps=self.settings.steps,
            ranks_per_side=self.settings.ranks_per_side,
            exchange_bytes=self.settings.exchange_bytes,
            compute_s=self.settings.compute_s,
            on_boundary=read,
            task=self.task,
        )
        names = tuple(readings[0])
        pairs = list(itertools.pairwise(readings))
        loads = list(itertools.pairwise(machine))
        return LinkRun(
            number=number,
            slot_start=slot_start,
            slot_end=done.end[-1],
            start=done.start,
            end=done.end,
            time_s=done.time_s,
            routine_s=done.routine_s,
            counters=names,
            values=tuple(
                tuple(
                    after[name] if name in GAUGES else after[name] - before[name] for name in names
                )
                for before, after in pairs
            ),
            sent=tuple(
                tuple(after - before for before, after in zip(one, other, strict=True))
                for one, other in itertools.pairwise(sent)
            ),
            load=tuple(after.load for _, after in loads),
            busy=tuple(_busy(before, after) for before, after in loads),
        )


def _busy(before: MachineLoad, after: MachineLoad) -> float:
    """Return the share of the cores' time that was not idle."""
    busy, idle = after.busy_s - before.busy_s, after.idle_s - before.idle_s
    return round(busy / (busy + idle), 3) if busy + idle > 0 else 0.0
