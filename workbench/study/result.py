"""The result of a study: every cell with its errors, its parameters and its convergence."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, cast

from workbench.datapackage import PackagedResult, PackageFiles
from workbench.errors import ParameterError
from workbench.fit.bolted import Bolted
from workbench.html_table import html_table
from workbench.named_options import named_options
from workbench.result import Drawing
from workbench.storage.database import locate
from workbench.study.cell import AXES, STATES, CellFilter, CellResult, HalfFilter
from workbench.study.fit_cell import read_cell
from workbench.study.plan import StudyPlan
from workbench.suggestions import unknown_name
from workbench.units import UNITS, write_quantity

if TYPE_CHECKING:
    import pandas as pd

_VALUES = ("joint", "latency", "bandwidth", "best_loss", "trials", "refused", "seconds")
_OVER_SEEDS = ("median", "min", "max")


@dataclass(frozen=True, eq=False)
class StudyResult(PackagedResult):
    """The cells of a study, whether it has ended or not.

    Two results are equal when their plans and everything their cells hold are.

    Attributes:
        plan: what was to be fitted.
        cells: what came of it, in the plan's order; a selection holds some of them.
    """

    plan: StudyPlan
    cells: tuple[CellResult, ...]

    plot = Drawing("plot_study")

    @classmethod
    def read(cls, plan: StudyPlan, database: str | Path) -> StudyResult:
        """Return the result of a study from its database; a running study is not disturbed.

        Args:
            plan: what was to be fitted.
            database: SQLite file or PostgreSQL address.

        Raises:
            StudyError: the database cannot be read.
        """
        cells = plan.cells()
        place = locate(database)
        held = place.held([cell.name for cell in cells]) if place.exists else set()
        return cls(
            plan,
            tuple(
                read_cell(
                    cell, plan.choice(cell.model), plan.trials, database, held=cell.name in held
                )
                for cell in cells
            ),
        )

    def __iter__(self) -> Iterator[CellResult]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def trials(self) -> int:
        """Trials finished in all cells."""
        return sum(cell.trials for cell in self.cells)

    @property
    def seconds(self) -> float:
        """Time spent on the trials, summed over the cells."""
        return sum(cell.seconds for cell in self.cells)

    @named_options(CellFilter)
    def select(self, **axes: Unpack[CellFilter]) -> StudyResult:
        """Return the cells with these properties, e.g. ``loss="rmsre", target=("both",)``.

        Args:
            axes: a value, or several in a list, for any of machine, model, loss, target, regime,
                engine, seed and status.

        Raises:
            ParameterError: an axis or a value is not there.
        """
        kept = self.cells
        for axis, wanted in cast(dict[str, Any], axes).items():
            known = (*AXES, "status")
            if axis not in known:
                raise ParameterError(unknown_name("axis", axis, known), key=axis)
            values = (wanted,) if isinstance(wanted, str | int) else tuple(wanted)
            there = STATES if axis == "status" else self._along(axis)
            for value in values:
                if value not in there:
                    names = tuple(str(one) for one in there)
                    raise ParameterError(unknown_name(f"{axis} here", str(value), names), key=axis)
            kept = tuple(cell for cell in kept if _property(cell, axis) in values)
        return StudyResult(self.plan, kept)

    @named_options(CellFilter)
    def one(self, **axes: Unpack[CellFilter]) -> CellResult:
        """Return the only cell with these properties.

        Args:
            axes: as in ``select``.

        Raises:
            ParameterError: there is none, or more than one.
        """
        found = self.select(**axes)
        if len(found) != 1:
            differing = [axis for axis in AXES if len(found._along(axis)) > 1]
            hint = f"; select by {', '.join(differing)} as well" if differing else ""
            raise ParameterError(
                f"exactly one cell must be selected; there are {len(found)}{hint}", key="cells"
            )
        return found.cells[0]

    @named_options(HalfFilter)
    def bolted(self, low: str = "logp", high: str = "snappr", **axes: Unpack[HalfFilter]) -> Bolted:
        """Return one model's fit to the small messages and another's to the large, as one curve.

        Where the study has no cells of the two regimes, those of all sizes are bolted together
        at the plan's threshold; ``Bolted.fitted_apart`` says which it was.

        Args:
            low: label of the model up to the threshold.
            high: label of the model above it; it may be the same.
            axes: what tells the two cells from the others, as in ``one``.

        Raises:
            ParameterError: the cells are not there, or there are several.
        """
        apart = {"low", "high"} <= set(self._along("regime"))
        below, above = ("low", "high") if apart else ("all", "all")
        first = self.one(model=low, regime=below, **axes)
        second = self.one(model=high, regime=above, **axes)
        return Bolted(first.fit_result(), second.fit_result(), self.plan.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Return the study's name, its plan and the rows of ``to_frame``."""
        return {
            "study": self.plan.name,
            "plan": self.plan.to_dict(),
            "trials": self.trials,
            "cells": self.to_frame().to_dict("records"),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a cell.

        Returns:
            What was fitted (machine, model, loss, target, regime, engine, seed), its RMSPE in
            percent (joint, latency, bandwidth), best_loss, trials, refused, seconds and status.
        """
        import pandas as pd

        columns = [*AXES, *_VALUES, "status"]
        return pd.DataFrame([cell.row() for cell in self.cells], columns=columns)

    def table(
        self,
        rows: str = "loss",
        columns: str = "machine",
        value: str = "joint",
        over_seeds: Literal["median", "min", "max"] = "median",
    ) -> pd.DataFrame:
        """Return one number a cell, laid out along two axes in the plan's order.

        Args:
            rows: axis that goes down.
            columns: axis that goes across.
            value: ``joint``, ``latency``, ``bandwidth``, ``best_loss``, ``trials``, ``refused``
                or ``seconds``.
            over_seeds: ``median``, ``min`` or ``max`` of cells that differ in their seed alone,
                where the seed is no axis of the table.

        Returns:
            The numbers, nan where there is no cell.

        Raises:
            ParameterError: an axis or value is not there, or several cells fall on one place:
                the message says which axes to select on.
        """
        for axis in (rows, columns):
            if axis not in AXES:
                raise ParameterError(unknown_name("axis", axis, AXES), key=axis)
        if value not in _VALUES:
            raise ParameterError(unknown_name("value", value, _VALUES), key="value")
        if over_seeds not in _OVER_SEEDS:
            raise ParameterError(
                unknown_name("statistic over seeds", over_seeds, _OVER_SEEDS), key="over_seeds"
            )
        others = [
            axis
            for axis in AXES
            if axis not in (rows, columns, "seed") and len(self._along(axis)) > 1
        ]
        if others:
            there = "; ".join(
                f"{axis}: {', '.join(map(str, self._along(axis)))}" for axis in others
            )
            raise ParameterError(
                f"a table of {rows} by {columns} needs one cell in each place; select "
                f"{' and '.join(others)} first ({there})",
                key=others[0],
            )
        frame = self.to_frame().pivot_table(
            index=rows, columns=columns, values=value, aggfunc=over_seeds, dropna=False
        )
        return frame.reindex(index=self._along(rows), columns=self._along(columns))

    def tables(self, value: str = "joint") -> dict[str, pd.DataFrame]:
        """Return ``table`` of loss by machine for each combination of the other axes but the seed.

        Args:
            value: as in ``table``.

        Returns:
            By a caption of the axes that differ, such as ``target both, model snappr``.
        """
        apart = [axis for axis in AXES if axis not in ("loss", "machine", "seed")]
        axes = [axis for axis in apart if len(self._along(axis)) > 1]
        groups: dict[str, dict[str, Any]] = {}
        for cell in self.cells:
            chosen = {axis: _property(cell, axis) for axis in axes}
            groups.setdefault(", ".join(f"{a} {v}" for a, v in chosen.items()), chosen)
        return {
            caption: self.select(**chosen).table(value=value) for caption, chosen in groups.items()
        }

    def parameters_frame(self) -> pd.DataFrame:
        """Return one row a fitted parameter of each cell: SI value, unit, and text with a unit."""
        import pandas as pd

        rows = []
        for cell in self.cells:
            kinds = {d.key: d.kind for d in cell.choice.space().dimensions}
            for key, number in cell.values.items():
                rows.append(
                    {
                        **{axis: _property(cell, axis) for axis in AXES},
                        "parameter": key,
                        "value": number,
                        "unit": UNITS[kinds[key]],
                        "text": write_quantity(number, kinds[key]),
                    }
                )
        return pd.DataFrame(rows, columns=[*AXES, "parameter", "value", "unit", "text"])

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        from workbench.study.archive import package_of

        return package_of(self)

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        from workbench.study.archive import plan_and_cells

        return cls(*plan_and_cells(folder, descriptor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StudyResult):
            return NotImplemented
        return (self.plan, self.cells) == (other.plan, other.cells)

    __hash__ = None  # type: ignore[assignment]  # results are compared by value, which is mutable

    def __repr__(self) -> str:
        done = sum(cell.status == "done" for cell in self.cells)
        failed = sum(cell.status == "failed" for cell in self.cells)
        errors = sorted(c.rmspe["joint"] for c in self.cells if math.isfinite(c.rmspe["joint"]))
        text = f"StudyResult({self.plan.name}, {done} of {len(self)} cells done"
        text += f", {failed} failed" if failed else ""
        text += f", {self.trials} trials"
        if errors:
            text += f", joint RMSPE {errors[0]:.1f} to {errors[-1]:.1f} %"
        return text + ")"

    def _repr_html_(self) -> str:
        tables = "".join(
            f"<p>{html.escape(caption)}</p>{_html_table(table)}"
            for caption, table in self.tables().items()
        )
        return f"<div><p>{html.escape(repr(self))}; joint RMSPE in percent:</p>{tables}</div>"

    def _along(self, axis: str) -> list[Any]:
        """Return the values that the cells have on an axis, in the plan's order."""
        return list(dict.fromkeys(_property(cell, axis) for cell in self.cells))


def _property(cell: CellResult, axis: str) -> Any:
    return cell.status if axis == "status" else getattr(cell.cell, axis)


def _html_table(table: pd.DataFrame) -> str:
    rows = (
        (str(name), *("" if math.isnan(n) else f"{n:.1f}" for n in numbers))
        for name, numbers in zip(table.index, table.to_numpy(float), strict=True)
    )
    return html_table(rows, ("", *map(str, table.columns)))
