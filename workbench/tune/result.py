"""The result of an experiment, and every run behind it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.storage.importance import FEWEST_CONFIGURATIONS, ped_anova
from workbench.tune.history import History
from workbench.tune.recommendation import recommended
from workbench.tune.result_repr import result_html, result_line
from workbench.tune.space.space import Choices, Configuration, TuningSpace
from workbench.tune.store.run_record import RunRecord

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLES = 60  # 3 s (100 runs, 6 parameters); an end varies by 6 % of the width, 3 % with 120
_FIXED = (
    *("number", "value", "seconds", "status", "initial", "resampled", "repeat", "best_so_far"),
    *("queue_seconds", "state", "returncode", "limit_s", "load", "job_id", "node_list"),
    *("started", "ended", "worker", "reason"),
)


@dataclass(frozen=True, repr=False)
class TuningResult(StoredResult):
    """The runs of an experiment and their evaluation.

    Attributes:
        name: name of the experiment.
        space: what was searched.
        records: the runs in the order they ended.
        minimise: whether less is better.
        label: what the target is called.
        unit: its unit.
        aggregation: the statistic over several runs of a configuration.
        stop_reason: why the experiment ended; empty where it has not.
        settings: what the experiment was made of, for JSON.
        sessions: what each process that took part ran on, in the order they began.
        pending: configurations that were under way when the result was taken.
    """

    ONE_FILE: ClassVar[bool] = True

    name: str
    space: TuningSpace
    records: tuple[RunRecord, ...]
    minimise: bool = True
    label: str = "value"
    unit: str = ""
    aggregation: str = "median"
    stop_reason: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    sessions: tuple[Mapping[str, Any], ...] = ()
    pending: tuple[Configuration, ...] = ()

    plot = Drawing("plot_trajectory")

    @cached_property
    def history(self) -> History:
        """The runs as heuristics and rules see them."""
        history = History(self.space, minimise=self.minimise, aggregation=self.aggregation)
        history.extend(record.run for record in self.records)
        return history

    def __len__(self) -> int:
        return len(self.records)

    @property
    def best(self) -> tuple[Configuration, float] | None:
        """The best configuration and its aggregated value; None where there is none."""
        return self.history.best()

    @property
    def best_configuration(self) -> Configuration:
        """The best configuration; empty where there is none."""
        return self.best[0] if self.best is not None else {}

    @property
    def best_value(self) -> float:
        """Aggregated value of the best configuration; nan where there is none."""
        return self.best[1] if self.best is not None else math.nan

    @property
    def best_spread(self) -> float:
        """Standard deviation of the best configuration's runs; nan where it ran once."""
        row = self.history.aggregated().best()
        return math.nan if row is None else float(self.history.aggregated().spread[row])

    @cached_property
    def recommended(self) -> tuple[Configuration, float] | None:
        """The configuration that a model with noise expects most of, and the value it expects.

        The least of many noisy values is partly luck; see ``workbench.tune.recommendation``.
        """
        return recommended(self.history)

    @property
    def default_value(self) -> float:
        """Aggregated value of the default configuration; nan where it is not known."""
        default = self.space.default
        if default is None:
            return math.nan
        table = self.history.aggregated()
        key = self.space.key(default)
        if key not in table.keys:
            return math.nan
        row = table.keys.index(key)
        return self.history.value(float(table.losses[row])) if table.known[row] else math.nan

    @property
    def improvement(self) -> float:
        """Share by which the best is better than the default; nan where one is not known."""
        default = self.default_value
        if not (math.isfinite(default) and default):
            return math.nan
        gain = default - self.best_value if self.minimise else self.best_value - default
        return gain / abs(default)

    @property
    def explored(self) -> float:
        """Share of the space's configurations that were run; nan where it is continuous."""
        if not self.space.size:
            return math.nan
        ran = {key for key in self.history.keys if self.space.contains(self._by_name(key))}
        return len(ran) / self.space.size

    @property
    def seconds(self) -> float:
        """Time of all runs together in s, without time in a queue."""
        return math.fsum(record.run.seconds for record in self.records)

    @property
    def counts(self) -> dict[str, int]:
        """Number of runs by status."""
        found = {"complete": 0, "pruned": 0, "failed": 0}
        for record in self.records:
            found[record.run.status] += 1
        return found

    def best_so_far(self) -> NDArray[np.float64]:
        """Return the best aggregated value known after each run, float64[runs]."""
        return self.history.best_so_far()

    def importance(self) -> dict[str, float]:
        """Return the importance of each parameter for being among the best; sums to 1.

        Largest first. PED-ANOVA (Watanabe et al. 2023) as Optuna computes it: what sets the best
        tenth apart, which is no share of the spread. Over configurations whose value is known, one
        point each. Empty where fewer than ``FEWEST_CONFIGURATIONS`` are known or none differs.
        """
        rows, losses = self._known()
        return _importance(self.space, rows, losses.tolist()) if rows else {}

    def importance_intervals(
        self, resamples: int = _RESAMPLES, *, rng: np.random.Generator | int | None = 0
    ) -> dict[str, tuple[float, float]]:
        """Return the 5th and 95th percentile of each share where configurations are drawn again.

        A bootstrap: as many configurations as there are, with replacement. Wide intervals say that
        other runs might give another order; one that ends at 0 or 1 may miss the truth there.

        Args:
            resamples: how often.
            rng: of the draws.
        """
        rows, losses = self._known()
        if not rows:
            return {}
        drawn = np.random.default_rng(rng).integers(len(rows), size=(resamples, len(rows)))
        shares: dict[str, list[float]] = {name: [] for name in self.importance()}
        for at in drawn:
            if np.ptp(losses[at]) == 0.0:
                continue
            found = _importance(self.space, [rows[i] for i in at], losses[at].tolist())
            for name, one in shares.items():
                one.append(found.get(name, 0.0))
        return {
            name: (float(np.quantile(one, 0.05)), float(np.quantile(one, 0.95)))
            for name, one in shares.items()
            if one
        }

    def _known(self) -> tuple[list[Configuration], NDArray[np.float64]]:
        """Return the configurations with known values, and their losses; none of too few."""
        table = self.history.aggregated()
        known = np.flatnonzero(table.known)
        losses = table.losses[known]
        if len(known) < FEWEST_CONFIGURATIONS or np.ptp(losses) == 0.0 or len(self.space) < 1:
            return [], losses[:0]
        return [table.configurations[row] for row in known], losses

    def to_frame(self) -> pd.DataFrame:
        """Return one row a run in the order they ended, without what the programs printed.

        A parameter that is named like another column has ``parameter`` and a space before its name.
        """
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=self._columns())

    def write_csv(self, path: str | Path) -> Path:
        """Write ``to_frame`` as CSV and return its path.

        Args:
            path: the file to write.

        Raises:
            OSError: it cannot be written.
        """
        path = Path(path)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self._columns())
            writer.writeheader()
            writer.writerows(self._rows())
        return path

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {
            **self._head(),
            "name": self.name,
            "space": self.space.to_dict(),
            "minimise": self.minimise,
            "label": self.label,
            "unit": self.unit,
            "aggregation": self.aggregation,
            "stop_reason": self.stop_reason,
            "settings": dict(self.settings),
            "sessions": [dict(session) for session in self.sessions],
            "best": {
                "configuration": dict(self.best_configuration),
                "value": _open(self.best_value),
            },
            "recommended": _recommended(self.recommended),
            "default_value": _open(self.default_value),
            "improvement": _open(self.improvement),
            "explored": _open(self.explored),
            "runs": [record.to_dict() for record in self.records],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TuningResult:
        """Return the result that ``to_dict`` wrote.

        Args:
            values: what ``to_dict`` returned.

        Raises:
            ParameterError: it is no such thing.
        """
        try:
            return cls(
                name=str(values["name"]),
                space=TuningSpace.from_dict(values["space"]),
                records=tuple(RunRecord.from_dict(run) for run in values["runs"]),
                minimise=bool(values["minimise"]),
                label=str(values["label"]),
                unit=str(values["unit"]),
                aggregation=str(values["aggregation"]),
                stop_reason=str(values["stop_reason"]),
                settings=dict(values["settings"]),
                sessions=tuple(dict(session) for session in values["sessions"]),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"a tuning result must be as to_dict writes it; {type(error).__name__}: {error}"
            ) from error

    def __repr__(self) -> str:
        return result_line(self)

    def _repr_html_(self) -> str:
        return result_html(self)

    def _by_name(self, key: Sequence[Any]) -> Configuration:
        return dict(zip(self.space.names, key, strict=True))

    def _columns(self) -> list[str]:
        return [*_FIXED[:1], *map(_column, self.space.names), *_FIXED[1:]]

    def _rows(self) -> list[dict[str, Any]]:
        rows = []
        for record, best in zip(self.records, self.best_so_far(), strict=True):
            plain = {**record.to_dict(), "value": record.run.value, "best_so_far": float(best)}
            row = {name: plain[name] for name in _FIXED}
            row |= {_column(name): record.run.configuration[name] for name in self.space.names}
            rows.append(row)
        return rows


def _column(name: str) -> str:
    return f"parameter {name}" if name in _FIXED else name


def _recommended(found: tuple[Configuration, float] | None) -> dict[str, Any] | None:
    return None if found is None else {"configuration": dict(found[0]), "value": found[1]}


def _open(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _importance(
    space: TuningSpace, rows: Sequence[Configuration], losses: Sequence[float]
) -> dict[str, float]:
    places: dict[str, list[float | str]] = {}
    for name, axis in space.axes.items():
        values = [row[name] for row in rows]
        if isinstance(axis, Choices) or None in values:
            places[name] = [repr(value) for value in values]
        else:
            # Numbers by their place on the axis: ranks on a grid, the logarithm on a log range.
            places[name] = [float(axis.encode(value)[0]) for value in values]
    return ped_anova(places, losses)
