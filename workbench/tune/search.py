"""The loop of an experiment: it begins runs, polls them, and records how they end."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import numpy as np

from workbench.errors import WorkbenchError
from workbench.tasks import Task
from workbench.tune.aggregation import RunStatus
from workbench.tune.environment import load
from workbench.tune.history import History, Run
from workbench.tune.next_run import Chooser, NextRun, SearchEnd
from workbench.tune.runners.bounded_output import bounded
from workbench.tune.runners.runner import RunHandle, Runner, RunOutput, RunRequest
from workbench.tune.settings import SearchSettings
from workbench.tune.space.constraints import Configuration
from workbench.tune.store.memory import PendingRun, Store
from workbench.tune.store.run_record import RunRecord
from workbench.tune.target import Target, TargetError, WallTime

KEPT_CHARACTERS = 20_000
"""Characters of each stream of a run that are stored."""

_SHORTEST_S = 0.001  # of the pauses, which double: a computed value is ready at once
_LONGEST_S = 0.05  # chosen: what a free slot waits for its next run, little beside one of seconds
_WAIT_S = 0.05  # as the longest pause: each look reads the store
_GRACE_S = 15.0  # a file of Slurm's may be this late (LATE_S); a worker of Dask gives up after 10 s
_SEEDS = 0x5EED  # "SEED": no other draws with seed and number follow the same stream


class Conditions(Protocol):
    """The attributes of an experiment that its loop needs."""

    jobs: int
    runner: Runner
    settings: SearchSettings
    target: Target

    def request(
        self, number: int, configuration: Configuration, seed: int, timeout_s: float | None
    ) -> RunRequest:
        """Return the request for a run; ``timeout_s`` None is no limit."""


@dataclass(frozen=True)
class _Flight:
    """A run in flight."""

    slot: int
    key: int
    begun: PendingRun
    request: RunRequest
    handle: RunHandle
    load: float | None


class Search:
    """The loop of an experiment; appends to ``history`` and ``records``, and to the store."""

    def __init__(
        self, history: History, records: list[RunRecord], store: Store, chooser: Chooser
    ) -> None:
        self._history = history
        self._records = records
        self._store = store
        self._chooser = chooser
        self._numbers: set[int] = set()
        self._last: dict[int, Run] = {}
        self._flights: list[_Flight] = []
        self._noted: dict[int, str] = {}

    @property
    def pending(self) -> tuple[Configuration, ...]:
        """Configurations of the pending runs."""
        return tuple(self._history.pending)

    def load_runs(self) -> None:
        """Load the runs of the store."""
        ended, begun = self._store.read()
        self._add_finished(ended)
        lost = {run.key for run in self._store.lost(begun)}
        self._history.pending = [run.configuration for run in begun if run.key not in lost]

    def run(
        self,
        experiment: Conditions,
        budget: int,  # number of runs in total
        task: Task,  # gets each record; its stop ends the runs in flight, which are released
    ) -> str | None:
        """Run until the search ends and return the reason; None after a stop."""
        reason: str | None = None
        pause = _SHORTEST_S
        self._last.clear()
        try:
            while not task.stopping:
                if reason is None:
                    reason = self._begin(experiment, budget)
                if not self._flights:
                    if reason is not None:
                        return reason
                    # Others are running the initial points.
                    task.stop_event.wait(_WAIT_S)
                    continue
                if self._poll_runs(experiment, budget, task):
                    pause = _SHORTEST_S
                else:
                    task.stop_event.wait(pause)
                    pause = min(2.0 * pause, _LONGEST_S)
            return None
        finally:
            self._release_all()

    def _begin(self, experiment: Conditions, budget: int) -> str | None:
        """Begin runs in all free slots; return the reason if the search begins no more."""
        busy = {flight.slot for flight in self._flights}
        free = [slot for slot in range(experiment.jobs) if slot not in busy]
        if not free:
            return None
        reason = None
        chosen: list[tuple[int, PendingRun, RunRequest]] = []
        with self._store.alone():
            ended, begun = self._store.read()
            self._add_finished(ended)
            begun = self._without_lost(experiment.runner, begun)
            try:
                for slot in free:
                    self._history.pending = [run.configuration for run in begun]
                    found = self._choose(slot, begun, budget)
                    if not isinstance(found, NextRun):
                        reason = found.reason if found is not None else None
                        break
                    request = self._request(experiment, found)
                    run = PendingRun(
                        found.number,
                        found.configuration,
                        found.initial,
                        found.resampled,
                        self._store.worker,
                    )
                    run = replace(run, key=self._store.begin(run))
                    begun.append(run)
                    chosen.append((slot, run, request))
            except BaseException:
                # Processes that share the experiment would wait for them while this one lives.
                for _, run, _ in chosen:
                    self._store.release(run.key)
                raise
            self._history.pending = [run.configuration for run in begun]
        self._start(experiment, chosen)
        return reason

    def _without_lost(self, runner: Runner, begun: Sequence[PendingRun]) -> list[PendingRun]:
        """End and release the runs of dead processes; return the others."""
        lost = [*self._store.lost(begun), *self._orphans(begun)]
        for owner in {run.worker for run in lost}:
            # A process that died while it submitted a job has not stored its number; the job has
            # its name.
            noted = {run.job_id for run in lost if run.worker == owner and run.job_id}
            # The present jobs of this process have its name as well.
            mine = owner == self._store.worker and bool(self._flights)
            runner.cancel_orphans("" if mine else owner, noted)
        for run in lost:
            self._store.release(run.key)
        gone = {run.key for run in lost}
        return [run for run in begun if run.key not in gone]

    def _orphans(self, begun: Sequence[PendingRun]) -> list[PendingRun]:
        """Return this process's runs that are not in flight: their release failed."""
        flying = {flight.key for flight in self._flights}
        mine = [run for run in begun if run.worker == self._store.worker]
        return [run for run in mine if run.key not in flying]

    def _choose(
        self, slot: int, begun: Sequence[PendingRun], budget: int
    ) -> NextRun | SearchEnd | None:
        return self._chooser.choose(
            self._history,
            self._numbers | {run.number for run in begun},
            any(run.initial for run in begun),
            self._last.get(slot),
            budget,
        )

    def _request(self, experiment: Conditions, found: NextRun) -> RunRequest:
        limits = (
            self._chooser.limit_s(self._history, initial=found.initial),
            experiment.settings.timeout_s,
        )
        limit = min((each for each in limits if each is not None), default=None)
        numbers = (experiment.settings.seed, found.number, _SEEDS)
        seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
        request = experiment.request(found.number, found.configuration, seed, limit)
        return replace(request, owner=self._store.worker)

    def _start(
        self, experiment: Conditions, chosen: Sequence[tuple[int, PendingRun, RunRequest]]
    ) -> None:
        now = load()
        handles: list[RunHandle] = []
        try:
            requests = [request for _, _, request in chosen]
            if len(requests) == 1:
                handles = [experiment.runner.start(requests[0])]
            elif requests:
                handles = experiment.runner.start_many(requests)
        except BaseException:
            for _, run, _ in chosen:
                self._store.release(run.key)
            raise
        for (slot, run, request), handle in zip(chosen, handles, strict=True):
            self._flights.append(_Flight(slot, run.key, run, request, handle, now))
        for flight in self._flights[-len(chosen) :] if chosen else ():
            self._note_job(flight)

    def _poll_runs(self, experiment: Conditions, budget: int, task: Task) -> bool:
        """Record the finished runs; return whether there were any."""
        ended = False
        for flight in list(self._flights):
            output = flight.handle.poll()
            if output is None:
                self._note_job(flight)
                continue
            ended = True
            record = self._record(flight, output, experiment.target)
            # In the store first: a run that could not be stored is not in the history either.
            self._store.end(flight.key, record)
            record = self._add_stored(record)
            self._flights.remove(flight)
            self._noted.pop(flight.key, None)
            self._history.pending = [f.begun.configuration for f in self._flights]
            self._last[flight.slot] = record.run
            task.report(len(self._records), budget, _line(record, experiment.target), record)
        return ended

    def _note_job(self, flight: _Flight) -> None:
        """Store the job number of a run once it is known, and when it changes."""
        job_id = flight.handle.job_id
        if job_id and self._noted.get(flight.key) != job_id:
            self._store.note_job(flight.key, job_id)
            self._noted[flight.key] = job_id

    def _record(self, flight: _Flight, output: RunOutput, target: Target) -> RunRecord:
        status, value, reason = _read(output, target, flight.request.timeout_s)
        configuration = flight.begun.configuration
        run = Run(
            configuration,
            value,
            seconds=output.seconds if output.seconds >= 0.0 else 0.0,
            status=status,
            initial=flight.begun.initial,
            resampled=flight.begun.resampled,
            repeat=len(self._history.runs_of(configuration)),
        )
        return RunRecord(
            number=flight.begun.number,
            run=run,
            queue_seconds=output.queue_seconds,
            returncode=output.returncode,
            state=output.state,
            job_id=output.job_id or flight.handle.job_id,
            node_list=output.node_list,
            started=output.started,
            ended=datetime.now().astimezone().isoformat(timespec="microseconds"),
            limit_s=flight.request.timeout_s,
            load=flight.load,
            worker=self._store.worker,
            reason=reason,
            stdout=bounded(output.stdout, KEPT_CHARACTERS),
            stderr=bounded(output.stderr, KEPT_CHARACTERS),
        )

    def _add_stored(self, record: RunRecord) -> RunRecord:
        """Add a run that is in the store to the history; return it as it is there."""
        self._history.extend([record.run])
        record = replace(record, run=self._history[-1])
        self._numbers.add(record.number)
        self._records.append(record)
        return record

    def _add_finished(self, ended: Sequence[RunRecord]) -> None:
        """Add the runs that other processes have finished."""
        if len(ended) == len(self._records):
            return
        for record in ended:
            if record.number not in self._numbers:
                self._add_stored(record)

    def _release_all(self) -> None:
        """End and release the runs in flight; a later search begins them again."""
        flights, self._flights = self._flights, []
        self._history.pending = []
        self._noted.clear()
        unasked = {flight.key for flight in flights if not _is_asked_to_end(flight.handle)}
        deadline = time.monotonic() + _GRACE_S
        for flight in flights:
            try:
                while flight.handle.poll() is None and time.monotonic() < deadline:
                    time.sleep(_LONGEST_S)
                if flight.handle.poll() is not None:
                    unasked.discard(flight.key)
            except WorkbenchError:
                pass
            # A run that could not be stopped stays in the store: the next process stops it.
            if flight.key not in unasked or _is_asked_to_end(flight.handle):
                self._store.release(flight.key)


def _is_asked_to_end(handle: RunHandle) -> bool:
    """Ask a run to end; return whether the request succeeded."""
    try:
        handle.cancel()
    except WorkbenchError:
        return False
    return True


def _read(output: RunOutput, target: Target, limit_s: float | None) -> tuple[RunStatus, float, str]:
    """Return status and value of a run, and the reason if it has none."""
    if output.state == "timeout":
        # Its time is known to be longer; another value is unknown.
        bound = limit_s if isinstance(target, WallTime) and limit_s is not None else math.nan
        return "pruned", bound, f"ended after {limit_s:.6g} s" if limit_s is not None else ""
    if output.state != "completed":
        return "failed", math.nan, output.reason or _failure(output)
    try:
        value = target.read(output) if output.value is None else float(output.value)
    except TargetError as error:
        return "failed", math.nan, str(error)
    if not math.isfinite(value):
        return "failed", math.nan, f"the value must be a finite number; got {value}"
    return "complete", value, ""


def _line(record: RunRecord, target: Target) -> str:
    run = record.run
    chosen = ", ".join(f"{name}={value}" for name, value in run.configuration.items())
    value = f"{run.value:.6g} {target.unit}".rstrip() if run.status == "complete" else run.status
    return f"{value}: {chosen}"


def _failure(output: RunOutput) -> str:
    if output.state == "cancelled":
        return "it was cancelled from outside"
    last = (output.stderr.strip() or output.stdout.strip()).splitlines()
    last_line = f": {last[-1][:300]}" if last else ""
    return f"it ended with status {output.returncode}{last_line}"
