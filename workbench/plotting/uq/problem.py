"""What a calibration begins with: measured tests, the fitted model, the surrogate's error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import log_range, message_size_axis, new_figure, plain_log_ticks
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import Series, heading, key, line_series, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import beside
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.uq.problem import CalibrationProblem

_MEASURED = Series("measured replicas", palette.MEASURED, "")


def plot_calibration_problem(problem: CalibrationProblem, *, height: int = 290) -> LayoutDOM:
    """Return measured replicas with the fitted model's times, and the error of its surrogate.

    Args:
        problem: of ``workbench.uq``.
        height: of the figures, px.
    """
    names = list(dict.fromkeys(problem.series))
    lines = line_series(names)
    left = new_figure(
        title="Measured, and the model as fitted",
        y_label="time (µs)",
        height=height,
        file_name="calibration problem",
        y_range=log_range(1e6 * np.concatenate([problem.replicas.values, problem.nominal])),
    )
    right = new_figure(
        title="Error of the surrogate, greatest at new configurations",
        y_label="error (%)",
        height=height,
        y_type="linear",
        file_name="surrogate error",
        x_range=left.x_range,
        y_range=(0.0, 1.1 * max(100 * float(problem.surrogate_error.max()), 0.01)),
    )
    for name, style in lines.items():
        tests = np.flatnonzero([one == name for one in problem.series])
        tests = tests[np.argsort(problem.sizes[tests], kind="stable")]
        columns = {
            "size": problem.sizes[tests],
            "bytes": [byte_label(int(size)) for size in problem.sizes[tests]],
            "series": [name] * len(tests),
        }
        nominal = {
            "time": 1e6 * problem.nominal[tests],
            "text": [format_quantity(t, "time") for t in problem.nominal[tests].tolist()],
            "off": 100 * problem.nominal_error[tests],
        }
        tips = [("", "@series, @bytes"), ("fitted", "@text (@off{+0.0} % off the median)")]
        Marks(left, columns | nominal, x="size").line("time", **style.stroke, tips=tips)
        error = {"error": 100 * problem.surrogate_error[tests]}
        tips = [("", "@series, @bytes"), ("surrogate", "@error{0.000} % off")]
        Marks(right, columns | error, x="size").line("error", **style.stroke, tips=tips)
    _draw_replicas(left, problem)
    for fig in (left, right):
        message_size_axis(fig, problem.sizes.tolist())
    plain_log_ticks(left.yaxis)
    return stacked(
        heading(
            f"{problem.title}: {problem.model}",
            f"{len(problem.replicas)} tests, {len(problem.replicas.values)} measured replicas",
        ),
        key([_MEASURED, *lines.values()]),
        beside(left, right, shares=(1, 1)),
        sentence(describe_calibration_problem(problem)),
    )


def describe_calibration_problem(problem: CalibrationProblem) -> str:
    """Return sentences on how far the fitted model is off, and the surrogate from the model.

    Args:
        problem: of ``workbench.uq``.
    """
    off = np.abs(problem.nominal_error)
    worst, least = int(np.argmax(off)), int(np.argmax(problem.surrogate_error))
    signed = f"{100 * problem.nominal_error[worst]:+.0f} %".replace("-", "−")
    tests, parameters = len(problem.replicas.tests), len(problem.surrogate.box)
    few = (
        f" A model of {parameters} parameters fits {tests} tests whether it is right or not: that "
        "it is near them says nothing."
        if tests <= parameters
        else ""
    )
    return (
        f"The fitted model is off the measured median by {plain_percent(100 * float(off.mean()))} "
        f"on average, most in {problem.replicas.tests[worst]} ({signed}).{few} The surrogate, over "
        f"all that the parameters may be, is at most "
        f"{plain_percent(100 * float(problem.surrogate_error[least]))} off the model, in "
        f"{problem.replicas.tests[least]}."
    )


def _draw_replicas(fig: figure, problem: CalibrationProblem) -> None:
    replicas = problem.replicas
    counts = np.diff(replicas.starts)
    table = {
        "size": np.repeat(problem.sizes, counts),
        "value": 1e6 * replicas.values,
        "test": np.repeat(np.array(replicas.tests, object), counts),
        "text": [format_quantity(time, "time") for time in replicas.values.tolist()],
    }
    tips = [("", "@test"), ("measured", "@text")]
    marks = Marks(fig, table, x="size", name="measured")
    marks.points("value", palette.MEASURED, fill=palette.WHITE, size=5, tips=tips)
