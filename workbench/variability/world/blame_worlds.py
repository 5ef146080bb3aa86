"""Methods of blame scored on worlds of this package, whose causes are known, and on null worlds.

scores = score_worlds(20, runs=200, seed=101)
scores.to_frame()
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from workbench.atomic_write import replace_file
from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted
from workbench.jsonfile import read_json
from workbench.tasks import Progress, Task, task_of
from workbench.variability.blame import Blame, blame
from workbench.variability.blame_scores import BlameScores, score_blame
from workbench.variability.world.application import world_application
from workbench.variability.world.machine import world_preset
from workbench.variability.world.pieces import RunPiece, do_runs, remove_pieces
from workbench.variability.world.scene import WorldSettings
from workbench.variability.world.world import runs_and_jobs, truth_of

_NULL = 1_000_000
"""Between the seeds of worlds and those of null worlds."""


def score_worlds(
    worlds: int = 20,
    *,
    null: int | None = None,
    preset: str = "small",
    application: str = "amg-128",
    runs: int = 200,
    seed: int = 101,
    steps: int = 4,
    permutations: int = 1000,
    workers: int | None = None,
    store: str | Path | None = None,
    task: Task | None = None,
) -> BlameScores:
    """Return how well methods of blame find who slows runs down in generated worlds (synthetic).

    A user is to blame where the runs beside their jobs take 2 % longer than the same runs without
    what the user sends, in the mean over these runs.

    Args:
        worlds: number of worlds, whose seeds count up from ``seed``.
        null: number of worlds without interference, for the p-values; None takes as many.
        preset: as for ``generate``.
        application: as for ``generate``.
        runs: runs of each world.
        seed: seed of the first world.
        steps: of each run that are simulated again without each user; 0 takes all.
        permutations: as for ``blame``.
        workers: as for ``generate``.
        store: folder where finished worlds are kept, so that the same call goes on after a stop or
            a kill; None keeps none.
        task: gets the progress after each run of a world; once it is stopped, the worlds so far
            are scored.

    Raises:
        ParameterError: an argument is not accepted.
        SimulationHalted: the task was stopped before the first world was done.
        StudyError: runs in ``store`` are of another world, or of a release with other digits.
    """
    world_preset(preset)
    world_application(application)
    count, nulls = whole(worlds, "worlds", 1, 1000), worlds if null is None else null
    nulls = whole(nulls, "null", 0, 1000)
    seed, runs = whole(seed, "seed", 0, 2**61), whole(runs, "runs", 10, 10_000)
    steps, permutations = whole(steps, "steps", 0), whole(permutations, "permutations", 100)
    seeds = [*range(seed, seed + count), *range(seed + _NULL, seed + _NULL + nulls)]
    made = [WorldSettings(preset, application, runs, each, each < seed + _NULL) for each in seeds]
    with _folder(store) as folder:
        work = _Work(folder, steps, permutations, workers, task_of(task), len(made))
        scored = list(work.each(made))
    found = [(blamed, truth) for blamed, truth in scored if truth]
    if not found:
        raise SimulationHalted("stopped before the first world was done; start it again")
    return score_blame(found, null=[blamed for blamed, truth in scored if not truth])


@dataclass(frozen=True)
class _Work:
    """What is done with each world."""

    folder: Path
    steps: int
    permutations: int
    workers: int | None
    task: Task
    total: int  # of worlds

    def each(self, made: list[WorldSettings]) -> Iterator[tuple[Blame, dict[str, float]]]:
        """Yield what is blamed in each world and each user's effect, no effects in null worlds."""
        with contextlib.suppress(SimulationHalted):
            for done, settings in enumerate(made):
                yield self._world(settings, done)

    def _world(self, settings: WorldSettings, done: int) -> tuple[Blame, dict[str, float]]:
        """Return the same of one world."""
        kind = "world" if settings.interference else "null"
        here = self.folder / f"{kind}-{settings.seed}"
        blamed, ended = here / "blame.json", here / "effects.json"
        made = {**asdict(settings), "steps": self.steps, "permutations": self.permutations}
        if not ended.is_file():
            times = self._pieces(settings, "times", {}, here, done)
            truth = {}
            if settings.interference:
                truth = self._pieces(settings, "leave-one-out", {"steps": self.steps}, here, done)
            step_s = {run: one.first[:, 0] for run, one in times.items()}
            blame(*runs_and_jobs(settings, step_s), permutations=self.permutations).save(blamed)
            written = {**made, "effects": truth_of(settings, truth).by_user() if truth else {}}
            replace_file(ended, (json.dumps(written, indent=1) + "\n").encode())
            remove_pieces(here)
        found = read_json(ended, "effects of users")
        for key, value in made.items():
            if found.get(key) != value:
                raise ParameterError(
                    f"{here} holds a world whose {key} is {found.get(key)!r}; got {value!r}: take "
                    "the same, or another folder",
                    key=key,
                )
        return Blame.load(blamed), found["effects"]

    def _pieces(
        self,
        settings: WorldSettings,
        computation: str,
        options: dict[str, int],
        here: Path,
        done: int,
    ) -> dict[int, RunPiece]:
        """Return the result of a computation for each run; a stop raises SimulationHalted."""

        def report(now: Progress) -> None:
            message = f"{done} of {self.total} worlds scored; {now.message}"
            self.task.report(done, self.total, message)

        runs, each = range(settings.runs), self.task.part(report)
        found = do_runs(settings, computation, options, runs, here, self.workers, each)
        if each.stopping:
            raise SimulationHalted("stopped before all runs of the world were done")
        return found


@contextlib.contextmanager
def _folder(store: str | Path | None) -> Iterator[Path]:
    """Open the folder where worlds are kept, or one that is removed at the end."""
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory(prefix="workbench-worlds-") as made:
        yield Path(made)
