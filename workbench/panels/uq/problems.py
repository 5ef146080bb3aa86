"""What the panel can calibrate: measured collectives, and fits of machines."""

from __future__ import annotations

import contextlib
import csv
import json
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from workbench import datasets, machines
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit import FitResult, fit
from workbench.panels.machine_choice import is_file
from workbench.provenance import Provenance
from workbench.tasks import Task
from workbench.uq import (
    CalibratedRuns,
    CalibrationProblem,
    FitPosterior,
    Prediction,
    Replicas,
    SimulatorRuns,
    calibrate_runs,
    fit_problem,
    posterior_of_fit,
    predict_calibrated,
    read_replicas,
    runs_for,
)
from workbench.uq.collectives import (
    CollectiveCalibration,
    CollectiveTest,
    MeasuredCollective,
    algorithms_of,
    calibrate_collective,
    collective_problem,
    load_measured,
    read_measured,
    shipped_algorithms,
    shipped_collectives,
)
from workbench.uq.collectives.calibration import DRAWS
from workbench.uq.collectives.shipped import machine_of
from workbench.uq.runs import RUN, SIZES

_UNKNOWN = "the library chose the algorithm, and the model that predicts best stands for it"

Found = CollectiveCalibration | FitPosterior | CalibratedRuns

MODEL, TRIALS = "protocol", 500
"""Of the fits to shipped machines."""
_REPLICAS = {"test", "time_s"}  # columns of a table of replicas
SIDES = (8, 16, 32)
"""Of the tori of nodes that a collective may be predicted on, three dimensions each."""


class Problem(ABC):
    """Measured tests with a model of them, prepared once and calibrated as often as asked."""

    held_out: tuple[int, ...] = ()  # numbers of nodes, any one of which can be left out
    sides: tuple[int, ...] = ()  # of the tori that can be predicted
    draws: int  # of each chain, for a start
    coordinates: tuple[str, ...] | None = None  # for ``gaussian-process``; None: all columns

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @property
    def prepared(self) -> CalibrationProblem:
        """What a calibration begins with; made by the first that asks, who waits for it."""
        with self._lock:
            return self._prepared

    @cached_property
    @abstractmethod
    def _prepared(self) -> CalibrationProblem:
        """Make it."""

    @property
    @abstractmethod
    def caption(self) -> str:
        """Where the measurement comes from."""

    @abstractmethod
    def calibrate(
        self,
        noise: str,
        held_out: int,
        draws: int,
        seed: int,
        resume: Found | None,
        task: Task,  # gets the draws of each chain; has what there is so far
    ) -> Found:
        """Run the chains, or go on with those of an earlier result."""

    @abstractmethod
    def predict(self, found: Found, held_out: int, side: int) -> tuple[Prediction, Replicas | None]:
        """Predict the nodes that were held out, a torus, or the calibrated tests; and the measured.

        A side of 0 means the held-out nodes, or the calibrated tests where there are none.
        """

    @abstractmethod
    def python(self, noise: str, held_out: int, side: int, draws: int, seed: int) -> str:
        """Return Python code that gives ``problem``, ``found`` and ``prediction``."""


class CollectiveProblem(Problem):
    """A measured collective; ``expression`` is the Python that reads it."""

    draws = DRAWS
    coordinates = ("nodes", "block_bytes")

    def __init__(self, measured: MeasuredCollective, expression: str) -> None:
        super().__init__()
        self._measured, self._expression = measured, expression
        self._models: dict[tuple[int, int], str] = {}
        nodes = sorted({test.nodes for test in self._measured.tests}, reverse=True)
        self._nodes = tuple(nodes)
        self.held_out = self._nodes if len(nodes) > 1 else ()
        if any(test.shape for test in self._measured.tests):
            self.sides = SIDES

    @cached_property
    def _prepared(self) -> CalibrationProblem:
        return collective_problem(self._measured)

    @property
    def caption(self) -> str:
        """Where the measurement comes from."""
        provenance = self._measured.provenance
        told = ["" if provenance is None else provenance.caption()]
        each = self._measured.tests[0].ranks_per_node
        told += [f"{each} ranks on each node"] if each > 1 else []
        told += (
            [*self._measured.notes]
            if self._measured.algorithms
            else [_UNKNOWN, *self._measured.notes]
        )
        return "; ".join(told)

    def calibrate(
        self,
        noise: str,
        held_out: int,
        draws: int,
        seed: int,
        resume: Found | None,
        task: Task,  # gets the draws of each chain; has what there is so far
    ) -> Found:
        """Run the chains on the tests that are not held out."""
        if not isinstance(resume, CollectiveCalibration | None):
            raise TypeError(type(resume).__name__)
        kept = self._kept(held_out)
        # The choice of the model does not depend on the noise.
        model = self._models.get((held_out, seed))
        found = calibrate_collective(
            kept,
            model=model,
            noise=noise,
            draws=draws,
            seed=seed,
            resume=resume,
            task=task,
        )
        self._models[held_out, seed] = found.model
        return found

    def predict(self, found: Found, held_out: int, side: int) -> tuple[Prediction, Replicas | None]:
        """Predict by the model itself."""
        if not isinstance(found, CollectiveCalibration):
            raise TypeError(type(found).__name__)
        nodes = [held_out] if held_out else self._nodes
        same = self._measured.on(nodes) if not side or side**3 in nodes else None
        if same is not None and side:
            same = same.on([side**3])
        if same is None:
            return found.predict(self._torus(side)), None
        # The panel counts how many measured medians the intervals hold.
        return found.predict(same.tests, replicas=same.usual_count), same.to_replicas()

    def python(self, noise: str, held_out: int, side: int, draws: int, seed: int) -> str:
        """Return Python code that gives ``problem``, ``found`` and ``prediction``."""
        kept = sorted(set(self._nodes) - {held_out})
        some = f".on({kept})" if held_out else ""
        aim = [held_out] if held_out else sorted(self._nodes)
        if side and side**3 not in aim:
            sizes = self._sizes
            aimed = (
                f"tests = [CollectiveTest({side**3}, size, shape=({side}, {side}, {side}))\n"
                f"         for size in {sizes}]\n"
                "prediction = found.predict(tests)\n"
                "prediction.plot()"
            )
        else:
            aimed = (
                f"aim = measured.on({[side**3] if side else aim})\n"
                "prediction = found.predict(aim.tests, replicas=aim.usual_count)\n"
                "prediction.plot(aim.to_replicas())"
            )
        return (
            "from workbench.uq import sobol_indices\n"
            "from workbench.uq.collectives import (\n"
            "    CollectiveTest, calibrate_collective, collective_problem, "
            f"{self._expression.partition('(')[0]}\n"
            ")\n\n"
            f"measured = {self._expression}\n"
            "problem = collective_problem(measured)\n"
            "indices = sobol_indices(problem.surrogate)\n"
            f'found = calibrate_collective(measured{some}, noise="{noise}", draws={draws}, '
            f"seed={seed})\n"
            "print(found.posterior.verdict)\n"
            f"{aimed}"
        )

    def _kept(self, held_out: int) -> MeasuredCollective:
        return self._measured.on(set(self._nodes) - {held_out})

    def _torus(self, side: int) -> list[CollectiveTest]:
        return [CollectiveTest(side**3, size, shape=(side, side, side)) for size in self._sizes]

    @property
    def _sizes(self) -> list[int]:
        """Bytes of the blocks that were measured on the most nodes."""
        return sorted(test.block_bytes for test in self._measured.on([max(self._nodes)]).tests)


class MachineProblem(Problem):
    """A fit to the OSU curves of a machine."""

    draws = 1000  # the model is simulated for each round

    def __init__(self, machine: str) -> None:
        super().__init__()
        self._machine = machine

    @cached_property
    def _result(self) -> FitResult:
        return fit(self._machine, MODEL, trials=TRIALS)

    @cached_property
    def _prepared(self) -> CalibrationProblem:
        return fit_problem(self._result)

    @property
    def caption(self) -> str:
        """Where the measurement comes from."""
        return machines.load(self._machine).curve.provenance.caption()

    def calibrate(
        self,
        noise: str,
        held_out: int,
        draws: int,
        seed: int,
        resume: Found | None,
        task: Task,  # gets the draws of each chain; has what there is so far
    ) -> Found:
        """Run the chains on all points of the curves."""
        if not isinstance(resume, FitPosterior | None):
            raise TypeError(type(resume).__name__)
        with self._lock:
            result = self._result
        return posterior_of_fit(
            result,
            noise=noise,
            chain_draws=draws,
            seed=seed,
            resume=resume,
            task=task,
        )

    def predict(self, found: Found, held_out: int, side: int) -> tuple[Prediction, Replicas | None]:
        """Predict one more measurement of each point, by the surrogate."""
        posterior = found.posterior
        return predict_calibrated(posterior), posterior.replicas

    def python(self, noise: str, held_out: int, side: int, draws: int, seed: int) -> str:
        """Return Python code that gives ``problem``, ``found`` and ``prediction``."""
        return (
            "from workbench.fit import fit\n"
            "from workbench.uq import fit_problem, predict_calibrated, sobol_indices\n\n"
            f'result = fit("{self._machine}", "{MODEL}", trials={TRIALS})\n'
            "problem = fit_problem(result)\n"
            "indices = sobol_indices(problem.surrogate)\n"
            f'found = result.posterior(noise="{noise}", chain_draws={draws}, seed={seed})\n'
            "print(found.posterior.verdict)\n"
            "prediction = predict_calibrated(found.posterior)\n"
            "prediction.plot(found.posterior.replicas)"
        )


class RunsProblem(Problem):
    """Runs of a simulator of the user's own, and measured times of the same tests."""

    draws = 5000

    def __init__(self, runs: SimulatorRuns, replicas: Replicas, files: tuple[str, str]) -> None:
        super().__init__()
        self._runs, self._replicas, self._files = runs, replicas, files

    @cached_property
    def _prepared(self) -> CalibrationProblem:
        known = self._replicas.columns.keys() & set(SIZES)
        return self._runs.problem(
            self._replicas,
            title=self._files[1],
            # Tests without bytes stand side by side in the figure.
            sizes=None if known else np.arange(1, len(self._replicas) + 1),
            provenance=Provenance("measured", self._files[1]),
        )

    @property
    def caption(self) -> str:
        """Where the measurement comes from."""
        lost = len(self._runs.all_failed)
        left = f"; {lost} runs failed and are left out" if lost else ""
        return f"measured: {self._files[1]}; simulated: {self._files[0]}{left}"

    def calibrate(
        self,
        noise: str,
        held_out: int,
        draws: int,
        seed: int,
        resume: Found | None,
        task: Task,  # gets the draws of each chain; has what there is so far
    ) -> Found:
        """Run the chains on all tests."""
        if not isinstance(resume, CalibratedRuns | None):
            raise TypeError(type(resume).__name__)
        if noise == "gaussian-process" and not self._replicas.columns:
            raise ParameterError(
                "gaussian-process noise needs columns that place the tests, such as nodes and "
                f"bytes; {self._files[1]} has none: choose hierarchical",
                key="noise",
            )
        return calibrate_runs(
            self._runs,
            self._replicas,
            noise=noise,
            draws=draws,
            seed=seed,
            resume=resume,
            task=task,
        )

    def predict(self, found: Found, held_out: int, side: int) -> tuple[Prediction, Replicas | None]:
        """Predict one more measurement of each test, by the surrogate."""
        return predict_calibrated(found.posterior), found.posterior.replicas

    def python(self, noise: str, held_out: int, side: int, draws: int, seed: int) -> str:
        """Return Python code that gives ``problem``, ``found`` and ``prediction``."""
        runs, replicas = map(json.dumps, self._files)
        return (
            "from workbench.uq import (\n"
            "    calibrate_runs, predict_calibrated, read_replicas, runs_for, sobol_indices\n"
            ")\n\n"
            f"replicas = read_replicas({replicas})\n"
            f"runs = runs_for({runs}, replicas)\n"
            "problem = runs.only(replicas.tests)\n"
            "indices = sobol_indices(problem.surrogate())\n"
            f'found = calibrate_runs(runs, replicas, noise="{noise}", draws={draws}, '
            f"seed={seed})\n"
            "print(found.posterior.verdict)\n"
            "prediction = predict_calibrated(found.posterior)\n"
            "prediction.plot(replicas)\n"
            'found.to_run(100).to_csv("draws.csv", index=False)  # where to run larger tests\n'
            '# found.predict("draws-with-times.csv").plot()'
        )


def problem_names() -> list[tuple[str, str]]:
    """Return a label and a name of each problem that ships."""
    tables, known = shipped_collectives(), datasets.list()
    found = [
        (
            f"{tables[name].provenance.origin}: {collective} on {machine_of(tables[name])}",
            f"{name}/{collective}",
        )
        for name in tables
        for collective in shipped_algorithms(name)
    ]
    fits = [
        (f"{known[name].provenance.origin}: fit of {known[name].title}", name) for name in known
    ]
    return [*found, *fits]


def find_problem(name: str) -> Problem:
    """Return the problem of a name that ``problem_names`` lists, or of a machine."""
    table, slash, collective = name.partition("/")
    if not slash or is_file(name):
        return MachineProblem(name)
    measured = load_measured(table, collective)
    return CollectiveProblem(measured, f'load_measured("{table}", "{collective}")')


def is_of_simulator(data: bytes) -> bool:
    """Return whether a file is a table of a simulator's runs or of replicas, not of collectives."""
    head = {cell.strip() for cell in _head(data)}
    return len(head) > 1 and "benchmark" not in head and (RUN in head or _REPLICAS <= head)


def simulator_problem(own: Mapping[str, bytes]) -> dict[str, Problem]:
    """Return the problem of the last tables of runs and of replicas among the user's files.

    None where one of the two is missing.
    """
    replicas = [name for name, data in own.items() if _REPLICAS <= set(_head(data))]
    runs = [name for name, data in own.items() if is_of_simulator(data) and name not in replicas]
    if not (runs and replicas):
        return {}
    files = runs[-1], replicas[-1]
    with _on_disk({name: own[name] for name in files}) as folder:
        measured = read_replicas(folder / files[1])
        made = runs_for(folder / files[0], measured)
    return {"/".join(files): RunsProblem(made, measured, files)}


def _head(data: bytes) -> list[str]:
    """Return the names of the columns of a CSV file."""
    line = data[:65_536].decode("utf-8-sig", "replace").splitlines()[:1]
    return next(csv.reader(line), [])


def own_problems(name: str, data: bytes) -> dict[str, Problem]:
    """Return a problem for each collective and algorithm in a CSV file of the user's own."""
    found: dict[str, Problem] = {}
    with _on_disk({Path(name).name: data}) as folder:
        path = folder / Path(name).name
        for collective, labels in algorithms_of(path).items():
            for label in labels:
                words = [path.name, collective, *([label] if label else [])]
                measured = read_measured(path, collective, label)
                measured = replace(
                    measured,
                    provenance=Provenance("measured", path.name),
                    notes=tuple(note.replace(f"{folder}/", "") for note in measured.notes),
                )
                given = ", ".join(json.dumps(word) for word in words)
                found["/".join(words)] = CollectiveProblem(measured, f"read_measured({given})")
    return found


@contextlib.contextmanager
def _on_disk(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Write files into a folder for the time of reading; errors name them without the folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        try:
            yield Path(folder)
        except WorkbenchError as error:
            raise ParameterError(str(error).replace(f"{folder}/", ""), key="problem") from None
