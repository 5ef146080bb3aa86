"""How far predictions are from what ran, program by program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.datapackage import DESCRIPTOR
from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.validation.prediction import predict_recording
from workbench.validation.recording import ProgramRecording

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = "validation"

RUN_TIME_PERCENT = 2.0
"""Run times within it are as good as those of Shen et al. (LLAMP, III-C)."""

RIGHT_PERCENT = 5.0
"""Within it the time with nothing added is right, and that which latency adds.

Chosen: it is the largest slowdown that zones of a curve show. The shipped recordings lie on two
sides, with nothing added up to 4.0 and from 6.3 %, in the time added up to 3.9 and from
9.6 %: no limit between moves a program.
"""


@dataclass(frozen=True, eq=False, repr=False)
class ValidationReport(StoredResult):
    """Errors of the predicted run times of recorded programs, one row a program (LLAMP, Table II).

    Attributes:
        program: of each row.
        title: what it does.
        ranks: int64[rows].
        origin: of its times.
        added_s: float64[rows], largest added latency, s.
        runs: int64[rows], measured runs.
        rrmse_percent: float64[rows], root mean square error over the mean of the measured medians,
            the added latency being what messages between two hosts showed.
        set_rrmse_percent: float64[rows], the same with the added latency that was set.
        hidden_percent: float64[rows], the error where computation hides the added latency; nan
            where no point lies there.
        transition_percent: float64[rows], where it begins to show.
        proportional_percent: float64[rows], where the time grows with it.
        worst_percent: float64[rows], predicted over measured less 1 at the worst point.
        worst_added_s: float64[rows], where that is, s.
        base_percent: float64[rows], predicted over measured less 1 with nothing added.
        effect_percent: float64[rows], root mean square error of the time that latency adds over its
            measured mean.
        by_arrival: bool[rows], whether arrivals decided whom receives from any source answer; all
            errors but the next are then of these replays.
        traced_rrmse_percent: float64[rows], ``rrmse_percent`` with whom they answer as the trace
            has it, as LLAMP does; the same where ``by_arrival`` is not.
    """

    program: tuple[str, ...]
    title: tuple[str, ...]
    ranks: NDArray[np.int64]
    origin: tuple[str, ...]
    added_s: FloatArray
    runs: NDArray[np.int64]
    rrmse_percent: FloatArray
    set_rrmse_percent: FloatArray
    hidden_percent: FloatArray
    transition_percent: FloatArray
    proportional_percent: FloatArray
    worst_percent: FloatArray
    worst_added_s: FloatArray
    base_percent: FloatArray
    effect_percent: FloatArray
    by_arrival: NDArray[np.bool_]
    traced_rrmse_percent: FloatArray

    plot = Drawing("plot_validation_report", package="workbench.validation")

    @property
    def trust(self) -> tuple[str, ...]:
        """What can be trusted of each program's prediction, by ``trusted``."""
        errors = (self.base_percent, self.effect_percent, self.rrmse_percent)
        return tuple(trusted(*row) for row in zip(*(one.tolist() for one in errors), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each program."""
        import pandas as pd

        return pd.DataFrame(
            {
                "program": self.program,
                "ranks": self.ranks,
                "origin": self.origin,
                "runs": self.runs,
                "largest ΔL (µs)": self.added_s * 1e6,
                "nothing added (%)": self.base_percent,
                "time added (%)": self.effect_percent,
                "RRMSE (%)": self.rrmse_percent,
                "trust": self.trust,
                "answers": np.where(self.by_arrival, "as they arrive", ""),
                "RRMSE, answers as traced (%)": self.traced_rrmse_percent,
                "RRMSE, ΔL as set (%)": self.set_rrmse_percent,
                "hidden (%)": self.hidden_percent,
                "transition (%)": self.transition_percent,
                "proportional (%)": self.proportional_percent,
                "worst (%)": self.worst_percent,
                "worst at ΔL (µs)": self.worst_added_s * 1e6,
            }
        )

    def __repr__(self) -> str:
        within = int((self.rrmse_percent <= RUN_TIME_PERCENT).sum())
        return (
            f"ValidationReport({len(self.program)} programs; RRMSE "
            f"{self.rrmse_percent.min():.2f} to {self.rrmse_percent.max():.2f} %, "
            f"{within} within {RUN_TIME_PERCENT:g} %)"
        )


def trusted(base_percent: float, effect_percent: float, rrmse_percent: float) -> str:
    """Return in words what can be trusted of a predicted program, over the latencies measured.

    The time with nothing added and the time that latency adds are each right within
    ``RIGHT_PERCENT``. With both right their ratio is, the slowdown; with both right and an error
    in all within ``RUN_TIME_PERCENT`` run times are. The error in all alone does not tell: where
    latency makes most of the run time it is small even if the base is far off. Tolerances of a few
    percent may lie where latency adds less than the errors here.

    Args:
        base_percent: error with nothing added.
        effect_percent: error of the time that latency adds.
        rrmse_percent: error in all.
    """
    if not np.isfinite([base_percent, effect_percent]).all():
        return "cannot be told"
    base, effect = abs(base_percent) <= RIGHT_PERCENT, effect_percent <= RIGHT_PERCENT
    if base and effect:
        near = rrmse_percent <= RUN_TIME_PERCENT
        return "run times and slowdown" if near else "slowdown, not run times"
    if effect:
        return "time added, not slowdown"
    return "only with nothing added" if base else "nothing"


def validation_report(
    recordings: Iterable[ProgramRecording] | None = None, *, arrivals: bool = True
) -> ValidationReport:
    """Return how far predictions are from what ran.

    Args:
        recordings: of programs; None takes the shipped ones.
        arrivals: let arrivals decide whom receives from any source answer, where the trace makes it
            plain, instead of the trace.

    Raises:
        ParameterError: there is none.
        ProgramError: a program cannot run to its end.
    """
    chosen = shipped_recordings() if recordings is None else list(recordings)
    if not chosen:
        raise ParameterError("recordings must hold at least one; got none", key="recordings")
    seen = [predict_recording(one, arrivals=arrivals) for one in chosen]
    as_set = [predict_recording(one, latency="set", arrivals=arrivals) for one in chosen]
    traced = [
        predict_recording(one, arrivals=False) if found.by_arrival else found
        for one, found in zip(chosen, seen, strict=True)
    ]
    worst = [int(np.argmax(np.abs(one.error_percent))) for one in seen]
    zones = {
        zone: np.array([float(one.zone_rrmse_percent.get(zone, np.nan)) for one in seen])
        for zone in ("hidden", "transition", "proportional")
    }
    return ValidationReport(
        program=tuple(one.name for one in chosen),
        title=tuple(one.title for one in chosen),
        ranks=np.array([one.ranks for one in chosen], np.int64),
        origin=tuple(one.origin for one in chosen),
        added_s=np.array([float(one.runs.added_s.max()) for one in chosen]),
        runs=np.array([len(one.runs) for one in chosen], np.int64),
        rrmse_percent=np.array([one.rrmse_percent for one in seen]),
        set_rrmse_percent=np.array([one.rrmse_percent for one in as_set]),
        hidden_percent=zones["hidden"],
        transition_percent=zones["transition"],
        proportional_percent=zones["proportional"],
        worst_percent=np.array(
            [one.error_percent[at] for one, at in zip(seen, worst, strict=True)]
        ),
        worst_added_s=np.array([one.added_s[at] for one, at in zip(seen, worst, strict=True)]),
        base_percent=np.array([one.base_percent for one in seen]),
        effect_percent=np.array([one.effect_percent for one in seen]),
        by_arrival=np.array([one.by_arrival for one in seen]),
        traced_rrmse_percent=np.array([one.rrmse_percent for one in traced]),
    )


def shipped_names() -> list[str]:
    """Return the names of the shipped recordings, such as ``cg-4``."""
    return sorted(path.parent.name for path in _folder().glob(f"*/{DESCRIPTOR}"))


def shipped_recordings() -> list[ProgramRecording]:
    """Return the shipped recordings of programs."""
    return [recording_of(name) for name in shipped_names()]


def recording_of(name: str | Path) -> ProgramRecording:
    """Return a recording: a shipped one by its name, or the one in a folder.

    Args:
        name: such as ``cg-4``, or a folder.

    Raises:
        ParameterError: there is no such recording.
        DatasetError: a file of it is missing or damaged.
        ParseError: a file of it is not as it was written.
    """
    if (Path(name) / DESCRIPTOR).exists():
        return ProgramRecording.load(name)
    known = shipped_names()
    if str(name) not in known:
        raise ParameterError(
            f"recording must be one of {', '.join(known)}, or a folder that workbench validate "
            f"measure wrote; got {str(name)!r}{did_you_mean(str(name), known)}",
            key="recording",
        )
    return ProgramRecording.load(_folder() / str(name))


def _folder() -> Path:
    return data_folder() / _FOLDER
