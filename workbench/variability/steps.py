"""Step times and counters of many runs of one program.

table = read_steps("steps.csv")          # run,step,time_s,<counter>,...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.text_table import numbers_of, read_text_table

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

Feature = Literal["app", "placement", "io", "sys"]
"""Where a counter was read (Bhatele et al. 2020, V-C): the job's own routers, where its nodes are,
routers of I/O nodes, all other routers."""
FEATURES: tuple[Feature, ...] = get_args(Feature)

_WHAT = "a table of steps"
_NEEDED = ("run", "step", "time_s")
_PLACEMENT = ("NUM_ROUTERS", "NUM_GROUPS")


@dataclass(frozen=True, eq=False, repr=False)
class StepTable(StoredResult):
    """Time of each step of each run, and what counters rose by during it.

    Attributes:
        run: name of each run.
        start: float64[runs], s, when each run started; nan where that is not known.
        time_s: float64[runs, steps]; nan where a step is missing.
        counters: names; those of ``IO_`` and ``SYS_`` were read at I/O nodes' routers and at
            routers without nodes of the job, ``NUM_ROUTERS`` and ``NUM_GROUPS`` are placement.
        values: float64[runs, steps, counters]; nan where a reading is missing.
        provenance: where the numbers come from.
        notes: what was left out or taken for granted, each a sentence.
    """

    run: tuple[str, ...]
    start: FloatArray
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    counters: tuple[str, ...]
    values: NDArray[np.float64] = field(metadata={"axes": 3})
    provenance: Provenance
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.run)

    @property
    def steps(self) -> int:
        """Return the number of steps of a run."""
        return int(self.time_s.shape[1])

    @property
    def features(self) -> tuple[Feature, ...]:
        """Return where each counter was read."""
        return tuple(feature_of(name) for name in self.counters)

    def only(self, features: Iterable[str]) -> StepTable:
        """Return the table with the counters of some features.

        Args:
            features: some of ``app``, ``placement``, ``io`` and ``sys``.

        Raises:
            ParameterError: a feature is unknown.
        """
        wanted = set(features)
        if unknown := wanted - {*FEATURES}:
            raise ParameterError(
                f"features must be some of {', '.join(FEATURES)}; got {', '.join(sorted(unknown))}",
                key="features",
            )
        kept = [at for at, feature in enumerate(self.features) if feature in wanted]
        names = tuple(self.counters[at] for at in kept)
        return replace(self, counters=names, values=self.values[:, :, kept])

    def rows(self, runs: NDArray[np.intp] | list[int]) -> StepTable:
        """Return the table with some runs.

        Args:
            runs: their positions.
        """
        return replace(
            self,
            run=tuple(self.run[at] for at in runs),
            start=self.start[runs],
            time_s=self.time_s[runs],
            values=self.values[runs],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a step that was measured: ``run``, ``step``, ``time (s)``, the counters."""
        import pandas as pd

        run, step = np.nonzero(np.isfinite(self.time_s))
        columns = {
            "run": np.array(self.run, object)[run],
            "step": step,
            "time (s)": self.time_s[run, step],
        }
        values = self.values[run, step]
        return pd.DataFrame(
            columns | {name: values[:, at] for at, name in enumerate(self.counters)}
        )

    def __repr__(self) -> str:
        least, most = np.nansum(self.time_s, axis=1).min(), np.nansum(self.time_s, axis=1).max()
        return (
            f"StepTable({len(self)} runs of {self.steps} steps, {len(self.counters)} counters, "
            f"{self.provenance.origin}; runs of {least:.4g} to {most:.4g} s)"
        )


def feature_of(counter: str) -> Feature:
    """Return where a counter was read, from its name."""
    if counter in _PLACEMENT:
        return "placement"
    if counter.startswith("IO_"):
        return "io"
    return "sys" if counter.startswith("SYS_") else "app"


def read_steps(path: str | Path, *, provenance: Provenance | None = None) -> StepTable:
    """Return the steps in a table ``run,step,time_s`` with a column for each counter.

    Args:
        path: the file.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table; names the line.
    """
    source = str(path)
    table = read_text_table(path, _WHAT, _NEEDED)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    names = tuple(name for name in table.columns if name not in _NEEDED)
    runs = list(dict.fromkeys(table["run"]))
    step = numbers_of(table, "step", source)
    steps = sorted(set(step))
    row = np.array([runs.index(name) for name in table["run"]])
    column = np.searchsorted(steps, step)
    time = np.full((len(runs), len(steps)), np.nan)
    values = np.full((len(runs), len(steps), len(names)), np.nan)
    time[row, column] = numbers_of(table, "time_s", source, least=1e-12, must="a time above 0 s")
    for at, name in enumerate(names):
        values[row, column, at] = numbers_of(table, name, source)
    return StepTable(
        tuple(runs),
        np.full(len(runs), np.nan),
        time,
        names,
        values,
        provenance or Provenance("measured", Path(path).name),
    )
