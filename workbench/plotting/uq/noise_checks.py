"""Coverage of intervals under several noise models, each with the band of chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import BAR_PX, row_figure

if TYPE_CHECKING:
    from workbench.uq.noise_checks import NoiseChecks
    from workbench.uq.simulation_based import CalibrationCheck

_KINDS = {
    "parameter": Series("parameters", palette.BLUE, ""),
    "hyper-parameter": Series("parameters of the noise", palette.PURPLE, ""),
    "next replica": Series("one more replica of each test", palette.GREEN, ""),
    "further test": Series("a test that was held out", palette.VERMILLION, ""),
}
_BAND = Series("explained by chance", palette.WAITING, "solid", BAR_PX)
_STATED = Series("stated level", palette.BLACK, "dashed", 1.5)
_HEIGHT = 0.72  # of a row that points take


def plot_noise_checks(checks: NoiseChecks) -> LayoutDOM:
    """Return the coverage of each quantity, a row for each pair of noise models.

    The band of a row holds all its points together with a probability of 95 %, if the fitted model
    is right.

    Args:
        checks: of ``workbench.uq.check_noise_models``.
    """
    labels = [
        f"{one.noise} data" if one.noise == one.fitted else f"{one.noise} data, {one.fitted} fitted"
        for one in checks.checks
    ]
    least = min(float(100 * one.coverage.min()) for one in checks.checks)
    fig = row_figure(
        labels,
        title="Truths inside the interval, a point for each quantity",
        x_label="coverage (%)",
        file_name="noise checks",
        x_range=(max(0.94 * least, 0.0) - 1, 102),
        row_px=54,  # a point a quantity, spread over 0.72 of it: 39 px
    )
    bands = np.array([one.band for one in checks.checks]) * 100
    band = Marks(fig, {"low": bands[:, 0], "high": bands[:, 1]})
    band.bars("high", _BAND.colour, start="low", thick=0.9, alpha=0.5)
    first = checks.checks[0]
    rule(fig, x=100 * first.level, **_STATED.stroke)
    for kind, style in _KINDS.items():
        parts = [_points(row, one, kind) for row, one in enumerate(checks.checks)]
        table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        Marks(fig, table, name=kind).points(
            "coverage",
            style.colour,
            edge=palette.WHITE,
            width=0.8,
            alpha=0.75,
            marker="marker",
            size="size",
            tips=[("", "@quantity"), ("covered", "@coverage{0.0} %")],
        )
    shown = [style for kind, style in _KINDS.items() if any(kind in c.kinds for c in checks.checks)]
    return stacked(
        heading(
            f"Do {100 * first.level:g} % intervals cover {100 * first.level:g} %?",
            f"{first.datasets} synthetic data sets with known parameters for each row; a diamond "
            "is beyond chance",
        ),
        key([*shown, _BAND, _STATED]),
        fig,
        sentence(describe_noise_checks(checks)),
    )


def describe_noise_checks(checks: NoiseChecks) -> str:
    """Return sentences on which noise models are calibrated and how far off the others are.

    Args:
        checks: of ``workbench.uq.check_noise_models``.
    """
    right = [one.fitted for one in checks.checks if one.calibrated]
    texts = [f"Within chance: {', '.join(right) or 'none'}."]
    for one in checks.checks:
        if not one.calibrated:
            worst = int(np.argmax(np.abs(one.coverage - one.level) * one.outside))
            count = f"{np.count_nonzero(one.outside)} of {len(one.quantities)} quantities"
            texts.append(
                f"{one.noise.capitalize()} data fitted by {one.fitted}: {count} are beyond chance, "
                f"{one.quantities[worst]} ({one.kinds[worst]}) is covered by "
                f"{100 * one.coverage[worst]:.0f} %."
            )
    return " ".join(texts)


def _points(row: int, check: CalibrationCheck, kind: str) -> dict[str, np.ndarray]:
    """Return the points of one kind in a row, spread over its height."""
    at = np.array([n for n, one in enumerate(check.kinds) if one == kind], np.int64)
    lane = list(_KINDS).index(kind)
    step = _HEIGHT / len(_KINDS)
    centre = row - 0.5 * _HEIGHT + (lane + 0.5) * step
    spread = np.linspace(-0.35, 0.35, len(at)) * step if len(at) > 1 else np.zeros(len(at))
    outside = check.outside[at]
    return {
        "coverage": 100 * check.coverage[at],
        "row": centre + spread,
        "quantity": np.array([check.quantities[n] for n in at], object),
        "marker": np.where(outside, "diamond", "circle").astype(object),
        "size": np.where(outside, 10.0, 6.0),
    }
