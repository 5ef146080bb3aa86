"""A table of a simulator's runs: the points of a design and the times there, as a CSV file.

    runs = read_runs("runs.csv", box)
    runs.failed  # a sentence for each run without times
    surrogate = runs.surrogate()

The first line names the columns: each parameter by its name or as ``name (unit)``, and each test by
whatever it is called, with its times in seconds. A column ``run`` is ignored. ``failed`` stands
where a run failed; the other runs are kept.

``SimulatorRuns.save`` writes a data package of such tables: ``runs.csv``, ``holdout.csv`` where
there are hold-out points, ``failures.csv`` where runs failed, and ``plan.yaml``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray
from workbench.datapackage import (
    Column,
    PackagedResult,
    PackageFiles,
    read_text,
    resource,
    table_resource,
)
from workbench.errors import ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.reading import as_utf8
from workbench.result import Drawing
from workbench.suggestions import did_you_mean
from workbench.text_table import CUT, without_cut_row
from workbench.uq.design_plan import DesignPlan, column_names
from workbench.uq.parameters import ParameterBox
from workbench.uq.problem import CalibrationProblem
from workbench.uq.replicas import Replicas
from workbench.uq.surrogate import (
    DEFAULT_DEGREES,
    DEFAULT_HYPERBOLIC,
    HoldoutError,
    Surrogate,
    Transform,
    fit_surrogate,
)

if TYPE_CHECKING:
    import pandas as pd

FAILED = ("failed", "nan", "error", "timeout")
"""What may stand for the time of a run that failed."""

RUN = "run"

_OUTSIDE = 1e-9  # of a bound, that rounding may add
_PLAN = "plan.yaml"
_REPAIR = "restore the folder, or evaluate the plan again"
_TABLES = {
    "runs": "one row a run of the design: values of the parameters, times of the tests",
    "holdout": "the same at further points, to judge surrogates by; none is fitted to them",
}
_FAILURES: dict[str, Column] = {
    "table": ("string", "", "runs or holdout"),
    "message": ("string", "", "number of the run in its design, and why it has no times"),
}
SIZES = ("bytes", "block_bytes", "size_bytes")
"""Columns of replicas that may hold a test's bytes."""

_MOST_LISTED = 4  # chosen: names of tests that fit on a line with the rest


@dataclass(frozen=True, eq=False, repr=False)
class SimulatorRuns(PackagedResult):
    """The runs of a simulator that have all their times.

    Attributes:
        box: the parameters.
        tests: label of each column of times.
        points: float64[n, parameters], in the units of the box.
        times: float64[n, tests], seconds.
        failed: a sentence for each run that was left out.
        numbers: int64[n], number of each run in its design; 0, 1, ... unless they are given.
        holdout: runs at points by which surrogates are judged; None where there are none.
        plan: by which the runs were made; None where they were read from a table.
        provenance: of the times.
        pending: number of runs of the design and its hold-out that were not evaluated yet.

    Raises:
        ParameterError: the arrays do not fit one another.
    """

    box: ParameterBox
    tests: tuple[str, ...]
    points: FloatArray
    times: FloatArray
    failed: tuple[str, ...] = ()
    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    holdout: SimulatorRuns | None = None
    plan: DesignPlan | None = None
    provenance: Provenance = field(default_factory=lambda: Provenance("simulated", "runs"))
    pending: int = 0

    plot = Drawing("plot_simulator_runs")

    def __post_init__(self) -> None:
        if not len(self.numbers):
            object.__setattr__(self, "numbers", np.arange(len(self.points)))
        n = len(self.numbers)
        for name, columns in (("points", len(self.box)), ("times", len(self.tests))):
            if getattr(self, name).shape != (n, columns):
                raise ParameterError(
                    f"{name} must have the shape {(n, columns)}; got {getattr(self, name).shape}",
                    key=name,
                )

    @property
    def all_failed(self) -> tuple[str, ...]:
        """A sentence for each run without times, those of the hold-out last."""
        return self.failed + (() if self.holdout is None else self.holdout.failed)

    def surrogate(
        self,
        *,
        degrees: Sequence[int] = DEFAULT_DEGREES,
        hyperbolic: Sequence[float] = DEFAULT_HYPERBOLIC,
        transform: Transform = "auto",
    ) -> Surrogate:
        """Return the surrogate that ``fit_surrogate`` fits to the runs.

        Args:
            degrees: as in ``fit_surrogate``.
            hyperbolic: as in ``fit_surrogate``.
            transform: as in ``fit_surrogate``.

        Raises:
            ParameterError: there are too few runs.
        """
        return fit_surrogate(
            self.box,
            self.points,
            self.times,
            degrees=degrees,
            hyperbolic=hyperbolic,
            transform=transform,
        )

    def holdout_error(self, surrogate: Surrogate) -> HoldoutError:
        """Return a surrogate's errors at the hold-out points.

        Args:
            surrogate: of these tests, over this box.

        Raises:
            ParameterError: there are no hold-out points.
        """
        if self.holdout is None:
            raise ParameterError(
                "a design must have hold-out points to judge a surrogate by; this one has none: "
                "evaluate it with holdout=100",
                key="holdout",
            )
        return surrogate.holdout_error(self.holdout.points, self.holdout.times)

    def surrogate_error(self, surrogate: Surrogate) -> FloatArray:
        """Return the largest errors at the hold-out points, or the leave-one-out errors if none.

        Args:
            surrogate: of these tests, over this box.

        Returns:
            float64[tests], relative.
        """
        known = self.holdout is not None
        return self.holdout_error(surrogate).maximum if known else surrogate.loo_error

    def only(self, tests: Sequence[str]) -> SimulatorRuns:
        """Return the runs with some of the tests, in the order that is wanted.

        Args:
            tests: their labels.

        Raises:
            ParameterError: a test was not run.
        """
        if unknown := [test for test in tests if test not in self.tests]:
            raise ParameterError(
                f"tests of the replicas must be among those that were run; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], self.tests)}",
                key="replicas",
            )
        places = [self.tests.index(test) for test in tests]
        return replace(
            self,
            tests=tuple(tests),
            times=self.times[:, places],
            holdout=self.holdout
            and replace(self.holdout, tests=tuple(tests), times=self.holdout.times[:, places]),
        )

    def problem(
        self,
        replicas: Replicas,
        *,
        title: str = "",
        series: Sequence[str] | None = None,
        sizes: ArrayLike | None = None,
        provenance: Provenance | None = None,
    ) -> CalibrationProblem:
        """Return the problem of calibrating the simulator to measured times of its tests.

        The nominal times are those of the run that is nearest to the replicas' medians, by the sum
        of the squared logarithms of their ratios; the surrogate's error is that at the hold-out
        points, or the leave-one-out error where there are none.

        Args:
            replicas: of the same tests, by the same labels in any order.
            title: of what was measured; that of its provenance by default.
            series: of each test of the replicas, the line that it belongs to; by default its nodes.
            sizes: of each test of the replicas, bytes; by default its column ``bytes``,
                ``block_bytes`` or ``size_bytes``.
            provenance: of the measurement.

        Raises:
            ParameterError: a test has no runs or no size, or there are too few runs.
        """
        chosen, columns = self.only(replicas.tests), replicas.columns
        if sizes is None:
            sizes = next((columns[name] for name in SIZES if name in columns), None)
        if sizes is None or np.shape(sizes) != (len(replicas),):
            raise ParameterError(
                f"sizes must hold one number of bytes a test; the replicas have no column "
                f"{', '.join(SIZES)}: pass sizes=[...] for {len(replicas)} tests",
                key="sizes",
            )
        if series is None:
            nodes = columns.get("nodes", np.full(len(replicas), np.nan))
            series = ["" if np.isnan(each) else f"{each:.0f} nodes" for each in nodes]
        surrogate = chosen.surrogate()
        error = chosen.surrogate_error(surrogate)
        medians = np.array([np.median(row) for row in replicas.rows])
        nearest = int((np.log(chosen.times / medians) ** 2).sum(axis=1).argmin())
        return CalibrationProblem(
            title or (provenance.title if provenance is not None else "measured tests"),
            self.provenance.title,
            provenance,
            replicas,
            tuple(map(str, series)),
            np.asarray(sizes, np.int64),
            chosen.times[nearest],
            surrogate,
            error,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a run, hold-out last: ``set``, ``run``, parameters, times in seconds."""
        import pandas as pd

        parts = []
        for name, runs in self.sets().items():
            frame = pd.DataFrame(
                np.hstack([runs.points, runs.times]),
                columns=[*column_names(self.box), *self.tests],
            )
            frame.insert(0, "set", "design" if name == "runs" else "holdout")
            frame.insert(1, RUN, runs.numbers)
            parts.append(frame)
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        tests = ", ".join(self.tests)
        if len(self.tests) > _MOST_LISTED:
            tests = f"{len(self.tests)} tests"
        lost = f", {len(self.all_failed)} runs failed" if self.all_failed else ""
        held = f", {len(self.holdout.points)} to judge by" if self.holdout is not None else ""
        left = f", {self.pending} not evaluated yet" if self.pending else ""
        return f"SimulatorRuns({len(self.points)} runs of {tests}{held}{lost}{left})"

    def sets(self) -> dict[str, SimulatorRuns]:
        """Return the runs of the design as ``runs``, and ``holdout`` where there is one."""
        return {"runs": self} | ({"holdout": self.holdout} if self.holdout is not None else {})

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        files: PackageFiles = []
        if self.plan is not None:
            plan = self.plan.to_yaml().encode()
            files.append((resource(_PLAN, plan), plan))
        for name, runs in self.sets().items():
            data = _csv_of(runs).encode()
            files.append((table_resource(name, data, _columns(runs), _TABLES[name]), data))
        failures = [(name, each) for name, runs in self.sets().items() for each in runs.failed]
        if failures:
            data = _csv(_FAILURES, failures).encode()
            about = "one row a run without times"
            files.append((table_resource("failures", data, _FAILURES, about), data))
        return _described(self), files

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        names = {entry["path"] for entry in descriptor["resources"]}
        texts = {name: read_text(folder, descriptor, name, _REPAIR) for name in sorted(names)}
        box = ParameterBox.from_dict(descriptor)
        plan = DesignPlan.from_yaml(texts[_PLAN].encode()) if _PLAN in texts else None
        provenance = Provenance(
            descriptor["origin"],
            str(descriptor["title"]),
            str(descriptor["name"]),
            details={"created by": str(descriptor["created_by"])},
        )
        lost = list(csv.reader(io.StringIO(texts.get("failures.csv", ""))))[1:]
        found: Self | None = None
        for name in ("holdout", "runs"):
            if f"{name}.csv" not in texts:
                continue
            tests, points, times, numbers = _packaged(texts[f"{name}.csv"], f"{name}.csv", box)
            found = cls(
                box,
                tests,
                points,
                times,
                numbers=numbers,
                failed=tuple(message for table, message in lost if table == name),
                holdout=found,
                plan=plan if name == "runs" else None,
                provenance=provenance,
                pending=int(descriptor["pending"]) if name == "runs" else 0,
            )
        if found is None:
            raise ParseError("a saved SimulatorRuns must have runs.csv", source=str(folder))
        return found


def read_runs(
    path: str | Path, box: ParameterBox, tests: Sequence[str] | None = None
) -> SimulatorRuns:
    """Return the runs of a CSV file.

    Args:
        path: the file; the module's docstring describes it.
        box: the parameters; each must have a column, and each value must be within its bounds.
        tests: columns of times; all that are no parameter and not ``run`` by default.

    Raises:
        ParseError: the file is no such table, a value is not within its bounds, a time is missing
            or not above 0, or all runs failed; names the line and the column.
    """
    head, rows, cut = read_table(path)
    places = _places(path, head, box)
    others = [name for at, name in enumerate(head) if at not in places and name != RUN]
    chosen = tuple(others if tests is None else map(str, tests))
    if not chosen or (unknown := [name for name in chosen if name not in others]):
        got = f"; it lacks {', '.join(unknown)}" if chosen else ""
        raise ParseError(
            f"a table of runs must have a column of times for each test{got}; besides the "
            f"parameters it has {', '.join(others) or 'none'}",
            source=str(path),
            line=1,
        )
    points, times, failed = [], [], []
    for line, cells in rows:
        point = _point(path, line, cells, box, places)
        found = [_time(path, line, test, cells[head.index(test)]) for test in chosen]
        if lost := [test for test, time in zip(chosen, found, strict=True) if np.isnan(time)]:
            failed.append(f"line {line}: {', '.join(lost)} failed")
            continue
        points.append(point)
        times.append(found)
    failed += [f"line {line}: {CUT}" for line in cut]
    if not points:
        raise ParseError(
            f"a table of runs must have a run that did not fail; got {len(failed)} that did",
            source=str(path),
        )
    provenance = Provenance("simulated", "runs of a simulator", str(Path(path).name))
    return SimulatorRuns(
        box, chosen, np.array(points), np.array(times), tuple(failed), provenance=provenance
    )


def read_points(path: str | Path, box: ParameterBox) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the points of a design's CSV file, float64[n, parameters], and what was left out."""
    head, rows, cut = read_table(path)
    places = _places(path, head, box)
    found = [_point(path, line, cells, box, places) for line, cells in rows]
    notes = tuple(f"{path}:{line}: {CUT}" for line in cut)
    return np.array(found, np.float64).reshape(-1, len(box)), notes


def read_table(path: str | Path) -> tuple[list[str], list[tuple[int, list[str]]], list[int]]:
    """Return the heads of a CSV file's columns, each row by line, and the line of a cut one."""
    try:
        text = as_utf8(Path(path).read_bytes()).decode("utf-8-sig")
        head = next(csv.reader([next(iter(text.splitlines()), "")]), [])
        text, cut = without_cut_row(text, ",", len(head))
        reader = csv.reader(io.StringIO(text, newline=""))
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ParseError(f"a table must be a CSV file; {error}", source=str(path)) from error
    if len(rows) < 2:
        raise ParseError(
            f"a table must have a line of names and a row or more; got {len(rows)} lines",
            source=str(path),
        )
    head = rows[0][1]
    if twice := next((name for name in head if head.count(name) > 1), None):
        raise ParseError(f"columns must differ; {twice!r} is there twice", source=str(path), line=1)
    for line, cells in rows[1:]:
        if len(cells) != len(head):
            raise ParseError(
                f"a row must have {len(head)} cells, as the first line; got {len(cells)}",
                source=str(path),
                line=line,
            )
    return head, rows[1:], [cut] if cut else []


def _places(path: str | Path, head: Sequence[str], box: ParameterBox) -> list[int]:
    """Return the numbers of the parameters' columns."""
    return [_place(path, head, *pair) for pair in zip(box.names, column_names(box), strict=True)]


def _point(
    path: str | Path, line: int, cells: Sequence[str], box: ParameterBox, places: Sequence[int]
) -> list[float]:
    """Return the parameters' values of a row."""
    return [
        _value(path, line, parameter.key, cells[at], parameter.low, parameter.high)
        for parameter, at in zip(box, places, strict=True)
    ]


def _place(path: str | Path, head: Sequence[str], name: str, with_unit: str) -> int:
    """Return the number of a parameter's column."""
    for known in (with_unit, name):
        if known in head:
            return list(head).index(known)
    raise ParseError(
        f"a table of runs must have a column {with_unit!r}{did_you_mean(with_unit, head)}; it has "
        f"{', '.join(head)}",
        source=str(path),
        line=1,
    )


def _value(path: str | Path, line: int, name: str, cell: str, low: float, high: float) -> float:
    """Return a parameter's value, which must be within its bounds."""
    value = number_of(cell)
    room = _OUTSIDE * max(abs(low), abs(high))
    if not low - room <= value <= high + room:
        raise ParseError(
            f"{name} must be from {low:g} to {high:g}, the bounds of its design; got "
            f"{cell or 'nothing'}; leave the row out, or widen the bounds and run more points",
            source=str(path),
            line=line,
        )
    return min(max(value, low), high)


def _time(path: str | Path, line: int, test: str, cell: str) -> float:
    """Return a time in s, nan where the run failed."""
    if cell.lower() in FAILED:
        return float("nan")
    time = number_of(cell)
    if not 0 < time < float("inf"):
        got = f"got {cell!r}" if cell else "it is missing"
        raise ParseError(
            f"the time of {test} must be above 0 s and finite; {got}; write failed where the run "
            "failed, or leave the row out",
            source=str(path),
            line=line,
        )
    return time


def number_of(cell: str) -> float:
    """Return the number that a cell spells, nan if none."""
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _columns(runs: SimulatorRuns) -> dict[str, Column]:
    """Return the columns of a package's table of runs."""
    found: dict[str, Column] = {RUN: ("integer", "", "number of the run in its design, from 0")}
    for head, parameter in zip(column_names(runs.box), runs.box, strict=True):
        found[head] = ("number", parameter.unit, f"{parameter.key}, which varies")
    return found | {test: ("number", "s", f"simulated time of {test}") for test in runs.tests}


def _csv_of(runs: SimulatorRuns) -> str:
    """Return a table of runs, every number so that it is read back to the last bit."""
    values = np.hstack([runs.points, runs.times]).tolist()
    rows = ([n, *map(repr, row)] for n, row in zip(runs.numbers.tolist(), values, strict=True))
    return _csv(_columns(runs), rows)


def _csv(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([list(columns), *rows])
    return out.getvalue()


def _packaged(
    text: str, source: str, box: ParameterBox
) -> tuple[tuple[str, ...], FloatArray, FloatArray, NDArray[np.int64]]:
    """Return tests, points, times and numbers of a package's table of runs."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    first = [RUN, *column_names(box)]
    if head[: len(first)] != first:
        raise ParseError(
            f"the first columns must be {', '.join(first)}; got {', '.join(head)}",
            source=source,
            line=1,
        )
    tests = tuple(head[len(first) :])
    for line, row in enumerate(rows, 2):
        if len(row) != len(head):
            raise ParseError(f"a row must have {len(head)} cells", source=source, line=line)
    values = np.array(rows, np.float64).reshape(len(rows), len(head))
    parameters = len(box)
    return (
        tests,
        values[:, 1 : 1 + parameters],
        values[:, 1 + parameters :],
        values[:, 0].astype(np.int64),
    )


def _described(runs: SimulatorRuns) -> dict[str, Any]:
    """Return the descriptor of a package of runs."""
    import workbench

    plan = runs.plan
    name = plan.name if plan is not None else "runs"
    how = f", workbench uq evaluate {_PLAN} --save FOLDER" if plan is not None else ""
    again = f" {_PLAN} says what was run; the same plan gives the same times." if plan else ""
    return {
        "name": re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-") or "runs",
        "title": runs.provenance.title,
        "description": f"{runs!r}.{again}",
        "origin": runs.provenance.origin,
        "created_by": f"Interconnect Workbench {workbench.__version__}{how}",
        **runs.box.to_dict(),
        "pending": runs.pending,
    }
