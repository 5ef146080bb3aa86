"""Calibrated collectives carried on: on other shapes of a network, and one algorithm or another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.named_options import named_options
from workbench.provenance import Provenance
from workbench.tasks import task_of
from workbench.uq.carry.crossover import Crossing, checked_sizes, crossing_of, gathered
from workbench.uq.carry.draws import DRAWS, DrawOptions, count_and_seed, each_draw, written
from workbench.uq.collectives.calibration import CollectiveCalibration, check_ranks
from workbench.uq.collectives.measured import columns_of
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.prediction import discrepancies
from workbench.uq.pushed import PosteriorOrigin, PushedComparison, PushedCrossover


@named_options(DrawOptions, DRAWS)
def compare_collective(
    calibration: CollectiveCalibration, *tests: CollectiveTest, **options: Unpack[DrawOptions]
) -> PushedComparison:
    """Return a calibrated collective's times on several networks, and which is how probably faster.

    All tests get the same draws of the parameters, by the model itself; its own error, which they
    share, is left out. What is called fitted is the most probable draw.

    Args:
        calibration: of a measured collective.
        tests: two or more, such as the same nodes and bytes on tori of two shapes.
        options: ``draws`` of the posterior and its ``seed``; a ``task``, which gets the number of
            draws: once it is stopped, the draws so far are returned.

    Raises:
        ParameterError: there are fewer than two tests, or one cannot be had.
        JobError: it was stopped before the first draw.
    """
    check_ranks(tests, calibration.tests)
    if len(tests) < 2:
        raise ParameterError(f"there must be two tests to compare; got {len(tests)}", key="tests")
    model = calibration.simulator(tests)
    best, drawn = _draws(calibration, options)
    values = calibration.posterior.parameters.reshape(-1, len(calibration.posterior.names))

    def times(at: int) -> FloatArray:
        return np.asarray(model(values[at][None]), np.float64).ravel()

    plain, found = each_draw(times, best, drawn, task_of(options.get("task")))
    return PushedComparison(
        tuple(test.label for test in tests),
        np.stack(found),
        "s",
        plain,
        _origin(
            (calibration,),
            f"{calibration.collective} on {len(tests)} networks",
            written("compare_collective", f"calibration, {', '.join(map(repr, tests))}", options),
        ),
    )


@named_options(DrawOptions, DRAWS)
def crossover_of_calibrations(
    first: CollectiveCalibration,
    second: CollectiveCalibration,
    *,
    nodes: int,
    sizes: Sequence[int] = (),
    shape: tuple[int, ...] | None = None,
    **options: Unpack[DrawOptions],
) -> PushedCrossover:
    """Return the block size from which on one measured algorithm beats another, with an interval.

    Each is calibrated by itself; draw n of one is compared with draw n of the other. Times are the
    model's with its own error as it was seen in the tests nearby; what is left of that error is
    taken as alike at all sizes. What is called fitted is the most probable draw of each.

    Args:
        first: of one algorithm of a collective.
        second: of another one, on the same system.
        nodes: number of nodes; their ranks are those of the calibrations.
        sizes: bytes of a block, ascending; by default powers of two within the measured ones.
        shape: of the torus that the nodes are, None where they are none.
        options: as for ``compare_collective``.

    Raises:
        ParameterError: the calibrations are of different collectives, systems or ranks a node, the
            sizes do not ascend, or a test cannot be had.
        JobError: it was stopped before the first draw.
    """
    for what in ("system", "collective"):
        pair = [getattr(one, what) for one in (first, second)]
        if pair[0] != pair[1]:
            raise ParameterError(
                f"both calibrations must be of one {what}; got {pair[0]} and {pair[1]}",
                key="second",
            )
    both = (first, second)
    places = checked_sizes(sizes or _measured_sizes(both))
    per_node = first.tests[0].ranks_per_node
    check_ranks([CollectiveTest(nodes, places[0], per_node, shape)], second.tests)

    def tests(block_bytes: Sequence[int]) -> list[CollectiveTest]:
        return [CollectiveTest(nodes, one, per_node, shape) for one in block_bytes]

    task = task_of(options.get("task"))
    # The model's own error at the sizes of the grid, between which it is interpolated.
    rng = np.random.default_rng(count_and_seed(options)[1])
    chosen = [_draws(one, options) for one in both]
    errors = [
        _own_error(one, [best, *drawn], tests(places), rng)
        for one, (best, drawn) in zip(both, chosen, strict=True)
    ]
    models = [one.simulator for one in both]
    values = [one.posterior.parameters.reshape(-1, len(one.posterior.names)) for one in both]
    rows = [[best, *drawn] for best, drawn in chosen]

    def of_draw(number: int) -> Crossing:
        def times(size: int) -> tuple[float, float]:
            found = []
            for model, value, row, error in zip(models, values, rows, errors, strict=True):
                time = np.asarray(model(tests([size]))(value[row[number]][None]), np.float64)[0, 0]
                off = np.interp(np.log(size), np.log(places), error[number])
                found.append(float(time * np.exp(off)))
            return found[0], found[1]

        return crossing_of(times, places)

    plain, found = each_draw(of_draw, 0, range(1, len(rows[0])), task)
    names = tuple(one.label or one.model for one in both)
    if names[0] == names[1]:
        names = f"{names[0]} ({first.model})", f"{names[1]} ({second.model})"
    on = f"{nodes} nodes" + (f" ({'x'.join(map(str, shape))})" if shape else "")
    origin = _origin(
        both,
        f"{names[0]} and {names[1]}, {first.collective} on {on}",
        written(
            "crossover_of_calibrations",
            f"first, second, nodes={nodes}{f', sizes={places}' if sizes else ''}, shape={shape}",
            options,
        ),
    )
    return gathered((names[0], names[1]), places, plain, found, origin)


def _draws(calibration: CollectiveCalibration, options: DrawOptions) -> tuple[int, list[int]]:
    """Return the number of the most probable draw, over all chains, and of those to take."""
    posterior = calibration.posterior
    drawn = posterior.pick(*count_and_seed(options)).tolist()
    return int(posterior.log_posterior.argmax()), drawn


def _own_error(
    calibration: CollectiveCalibration,
    at: Sequence[int],
    tests: Sequence[CollectiveTest],
    rng: np.random.Generator,
) -> FloatArray:
    """Return the model's own error of the logarithm of each time, float64[draws, tests].

    The first draw has the mean of it.
    """
    labels = [test.label for test in tests]
    draws: NDArray[np.int64] = np.asarray(at, np.int64)
    mean, variance = discrepancies(calibration.posterior, draws, labels, columns_of(tests))
    alike = rng.standard_normal((len(draws), 1))
    alike[0] = 0.0
    return np.asarray(mean + np.sqrt(variance) * alike)


def _measured_sizes(both: Sequence[CollectiveCalibration]) -> list[int]:
    """Return the powers of two within the sizes that both were measured at."""
    least = max(min(test.block_bytes for test in one.tests) for one in both)
    most = min(max(test.block_bytes for test in one.tests) for one in both)
    return [2**k for k in range(0, 63) if least <= 2**k <= most]


def _origin(
    calibrations: Sequence[CollectiveCalibration], title: str, python: str
) -> PosteriorOrigin:
    """Return the title, verdicts and provenance that a result of these calibrations shows."""
    said = list(
        dict.fromkeys(
            text
            for one in calibrations
            for text in (*one.warnings, one.posterior.verdict)
            if not (one.warnings and text.startswith("converged"))
        )
    )
    names = ", ".join(one.label or one.model for one in calibrations)
    return PosteriorOrigin(
        title,
        "; ".join(said),
        all(one.posterior.converged for one in calibrations),
        Provenance(
            "simulated",
            f"{calibrations[0].collective}, {names} calibrated to {calibrations[0].system}",
        ),
        python,
    )
