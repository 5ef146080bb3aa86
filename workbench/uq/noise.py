"""Noise models: how measured times differ from those that a model predicts.

Each is a likelihood of T[n, r], the time of replica r of test n, given the model's M[n]:

- ``constant``: T = M + error, normal with one sigma in seconds for all tests; equation (2) of the
  paper. Where the spread grows with the time, long tests get intervals that are too narrow.
- ``relative``: log T = log M + error, normal with one s: a lognormal time, whose spread is
  proportional to it.
- ``hierarchical``: log T = log M + discrepancy[n] + error. The discrepancy is the model's own
  error, normal with spread tau; all replicas of a test share it, and it is integrated out.
- ``gaussian-process``: the same, with discrepancies that are alike where tests are, by the
  covariance tau^2 exp(-d^2 / 2 length^2); a share of the variance is each test's own.
- ``student-t``: as ``relative`` with Student-t errors of 4 degrees of freedom, for outliers. It
  has no discrepancy, which could not be integrated out of it.

All have one spread of replicas for all tests. If it differs strongly from test to test, intervals
are too wide for some and too narrow for others. Remove outliers, or use ``student-t``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from kernels.uq import likelihood
from workbench.arrays import FloatArray
from workbench.checks import above_zero
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.uq.replicas import Replicas

NoiseName = Literal["constant", "relative", "hierarchical", "gaussian-process", "student-t"]
NOISE_MODELS: tuple[NoiseName, ...] = get_args(NoiseName)

CONSTANT_SHARE = 0.05
"""Centre of the prior of the constant sigma, as a share of the median time."""

_SLOWER = {"nodes": 0.35}
"""By column, distance of tests that span the range of the calibration tests; 1 for others."""

_CODES = {
    "constant": likelihood.CONSTANT,
    "relative": likelihood.RELATIVE,
    "hierarchical": likelihood.HIERARCHICAL,
    "gaussian-process": likelihood.GAUSSIAN_PROCESS,
    "student-t": likelihood.STUDENT_T,
}


@dataclass(frozen=True)
class HyperParameter:
    """A parameter of a noise model; its logarithm has a normal prior within bounds.

    Attributes:
        name: such as ``tau``.
        unit: ``s``, or empty for a ratio.
        meaning: one phrase.
        centre: median of the prior before it is cut off at the bounds.
        spread: standard deviation of the logarithm; 1 is a factor of 2.7.
        low: the least value.
        high: the greatest value.
        fixed: the value, where it is known and not inferred.
    """

    name: str
    unit: str
    meaning: str
    centre: float
    spread: float
    low: float
    high: float
    fixed: float | None = None


@dataclass(frozen=True)
class NoiseModel:
    """A noise model with the priors of its hyper-parameters.

    Attributes:
        name: one of ``NOISE_MODELS``.
        hyper: its hyper-parameters.
    """

    name: NoiseName
    hyper: tuple[HyperParameter, ...]

    @property
    def code(self) -> int:
        """Number of the model in ``kernels.uq.likelihood``."""
        return _CODES[self.name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hyper-parameters."""
        return tuple(h.name for h in self.hyper)

    @property
    def of_logarithm(self) -> bool:
        """Whether errors are of the logarithm of the time, so that times must be above 0."""
        return self.name != "constant"

    @property
    def has_discrepancy(self) -> bool:
        """Whether a test's replicas share an error of the model."""
        return self.name in ("hierarchical", "gaussian-process")

    def fix(self, **values: float) -> NoiseModel:
        """Return the model with hyper-parameters that are known.

        Args:
            values: by name, above 0; sigma in seconds.

        Raises:
            ParameterError: the model has no such hyper-parameter, or a value is not above 0.
        """
        for name, value in values.items():
            if name not in self.names:
                raise ParameterError(
                    f"{name} must be a hyper-parameter of {self.name}: {', '.join(self.names)}",
                    key=name,
                )
            above_zero(value, name)
        return replace(
            self,
            hyper=tuple(
                replace(h, fixed=float(values[h.name])) if h.name in values else h
                for h in self.hyper
            ),
        )

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> FloatArray:
        """Return hyper-parameters drawn from their priors, float64[n, hyper-parameters].

        Args:
            n: number of draws.
            rng: generator or seed.
        """
        from scipy.stats import truncnorm

        generator = np.random.default_rng(rng)
        drawn = np.empty((n, len(self.hyper)))
        for i, (centre, spread, low, high) in enumerate(self.log_priors()):
            bounds = (low - centre) / spread, (high - centre) / spread
            logs = truncnorm.ppf(generator.uniform(size=n), *bounds, loc=centre, scale=spread)
            fixed = self.hyper[i].fixed
            drawn[:, i] = np.exp(logs) if fixed is None else fixed
        return drawn

    def log_priors(self) -> FloatArray:
        """Return float64[hyper-parameters, 4]: centre, spread, low and high of the logarithms."""
        rows = [
            (np.log(h.centre), h.spread, np.log(h.low), np.log(h.high))
            if h.fixed is None
            else (np.log(h.fixed), 1.0, -np.inf, np.inf)
            for h in self.hyper
        ]
        return np.array(rows, np.float64)


def noise_model(name: str, replicas: Replicas) -> NoiseModel:
    """Return a noise model with its usual priors.

    Args:
        name: one of ``NOISE_MODELS``.
        replicas: whose median time sets the prior of the constant sigma.

    Raises:
        ParameterError: there is no such model.
    """
    s = HyperParameter("s", "", "spread of a test's replicas, relative", 0.05, 1.0, 1e-5, 1.0)
    tau = HyperParameter("tau", "", "spread of the model's own error, relative", 0.03, 1.0, 1e-5, 1)
    length = HyperParameter(
        "length", "", "distance at which errors differ, of the tests' range", 0.5, 0.7, 0.05, 5.0
    )
    # Chosen wide, from nearly all shared to nothing shared; other centres were not compared.
    share = HyperParameter(
        "share", "", "part of tau's variance that no other test shares", 0.3, 1.0, 0.01, 1.0
    )
    if name == "constant":
        median = float(np.median(replicas.values))
        sigma = HyperParameter(
            "sigma",
            "s",
            "spread of all times",
            CONSTANT_SHARE * median,
            2.0,
            1e-6 * median,
            1e2 * median,
        )
        return NoiseModel("constant", (sigma,))
    if name == "relative":
        return NoiseModel("relative", (s,))
    if name == "hierarchical":
        return NoiseModel("hierarchical", (tau, s))
    if name == "gaussian-process":
        return NoiseModel("gaussian-process", (tau, s, length, share))
    if name == "student-t":
        return NoiseModel(
            "student-t", (replace(s, meaning="scale of a test's replicas, relative"),)
        )
    raise ParameterError(
        f"noise must be one of {', '.join(NOISE_MODELS)}; got {name!r}"
        f"{did_you_mean(str(name), NOISE_MODELS)}",
        key="noise",
    )


def as_noise_model(noise: str | NoiseModel, replicas: Replicas) -> NoiseModel:
    """Return a noise model given itself or by name."""
    return noise if isinstance(noise, NoiseModel) else noise_model(noise, replicas)


def coordinate_names(replicas: Replicas, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that place the tests, all by default; each must be above 0."""
    chosen = tuple(replicas.columns) if names is None else tuple(names)
    for name in chosen:
        column = replicas.columns.get(name)
        if column is None or not (column > 0).all():
            known = ", ".join(replicas.columns) or "none"
            raise ParameterError(
                f"coordinates must name columns with numbers above 0 (there are: {known}); got "
                f"{name!r}",
                key="coordinates",
            )
    if not chosen:
        raise ParameterError(
            "gaussian-process needs columns that place the tests, such as nodes and bytes; got "
            "none: give columns to Replicas.of, or use noise='hierarchical'",
            key="coordinates",
        )
    return chosen


def places(columns: dict[str, FloatArray], replicas: Replicas) -> FloatArray:
    """Return the place of each test, float64[tests, columns].

    It is log2 of the columns, with the range of the calibration tests from 0 to 1; of the number of
    nodes a third of that, for errors of a model change more slowly with it than with bytes.
    """
    found = []
    for name, column in columns.items():
        calibrated = np.log2(replicas.columns[name])
        low, width = calibrated.min(), np.ptp(calibrated)
        found.append(_SLOWER.get(name, 1.0) * (np.log2(column) - low) / (width or 1.0))
    return np.stack(found, axis=-1)


def squared_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return float64[a, b], squared distances between places."""
    return np.asarray(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1))
