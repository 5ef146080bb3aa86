"""What simulated visitors of a server measured: waiting times and memory, by their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd

FILE = "visitors/table.json"


@dataclass(frozen=True)
class Visits:
    """What one number of visitors at once measured.

    Attributes:
        visitors: at once.
        picture_s: median time in s from the request of a page to its first picture; all came at
            the same moment.
        last_picture_s: the same of the last visitor.
        median_s: of the times in s from a move of a slider to the new curves.
        p95_s: the time in s within which 95 of 100 moves were answered.
        memory_bytes: mean share of memory (PSS) of a visitor's kernel.
        kernels_left: kernels that were there after all had left, besides warm ones.
    """

    visitors: int
    picture_s: float
    last_picture_s: float
    median_s: float
    p95_s: float
    memory_bytes: int
    kernels_left: int


@dataclass(frozen=True)
class VisitorTable(StoredResult):
    """What simulated visitors measured on a machine.

    Attributes:
        machine: its processor, as it names itself.
        cores: processors that the server and the visitors had together.
        notebook: that all opened.
        moves: of a slider by each visitor.
        fork: whether kernels were to be copies of one process, where that is possible.
        load_average: of the machine over the minute before: what else it did.
        visits: by the number of visitors, ascending.
    """

    machine: str
    cores: int
    notebook: str
    moves: int
    fork: bool
    load_average: float
    visits: tuple[Visits, ...]

    ONE_FILE: ClassVar[bool] = True

    def _check(self) -> None:
        if not self.visits or self.cores < 1:
            raise ParameterError("there must be visits, and cores", key="visits")

    def p95_s(self, for_each_core: float) -> float:
        """Return the 95th percentile of answers in s, interpolated; beyond the last one, in line.

        Args:
            for_each_core: visitors for each processor.
        """
        loads = np.array([visit.visitors / self.cores for visit in self.visits])
        times = np.array([visit.p95_s for visit in self.visits])
        beyond = max(1.0, for_each_core / loads[-1])
        return float(np.interp(for_each_core, loads, times) * beyond)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each number of visitors."""
        import pandas as pd

        return pd.DataFrame(
            {
                "visitors": [visit.visitors for visit in self.visits],
                "first picture (s)": [visit.picture_s for visit in self.visits],
                "the last one's (s)": [visit.last_picture_s for visit in self.visits],
                "slider (ms)": [1e3 * visit.median_s for visit in self.visits],
                "p95 (ms)": [1e3 * visit.p95_s for visit in self.visits],
                "kernel (MB)": [visit.memory_bytes / 1e6 for visit in self.visits],
                "kernels left": [visit.kernels_left for visit in self.visits],
            }
        )


def visits(
    pictures_s: Sequence[float],
    answers_s: Sequence[float],
    memory_bytes: Sequence[int],
    kernels_left: int,
) -> Visits:
    """Return the figures of visitors: first pictures, answers, and the memory of kernels."""
    return Visits(
        visitors=len(pictures_s),
        picture_s=float(np.median(pictures_s)),
        last_picture_s=float(np.max(pictures_s)),
        median_s=float(np.median(answers_s)),
        p95_s=float(np.percentile(answers_s, 95)),
        memory_bytes=round(float(np.mean(memory_bytes))),
        kernels_left=kernels_left,
    )


def shipped_visitors() -> VisitorTable | None:
    """Return the table that ships with the workbench, None where there is none."""
    path = data_folder() / FILE
    return VisitorTable.load(path) if path.is_file() else None
