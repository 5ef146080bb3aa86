"""Markov chains of a posterior: their target, their state, and the steps of one chain."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernels.uq import likelihood, metropolis
from workbench.arrays import FloatArray
from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.uq.noise import NoiseModel
    from workbench.uq.parameters import ParameterBox
    from workbench.uq.replicas import Statistics
    from workbench.uq.surrogate import Surrogate


PRIOR_NODES = 2049
"""Where each log prior is tabulated, of its range."""
STARTING_POINTS = 16
"""Draws from the prior, of which a chain starts at the best."""

_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class ChainState:
    """Where each chain of a calibration is, as ``kernels.uq.metropolis.Chain``, chain by chain."""

    point: NDArray[np.float64] = field(metadata={"axes": 2})
    real: NDArray[np.float64] = field(metadata={"axes": 2})
    whole: NDArray[np.int64] = field(metadata={"axes": 2})
    mean: NDArray[np.float64] = field(metadata={"axes": 2})
    moments: NDArray[np.float64] = field(metadata={"axes": 3})
    factor: NDArray[np.float64] = field(metadata={"axes": 3})
    times: NDArray[np.float64] = field(metadata={"axes": 2})

    @classmethod
    def empty(cls, chains: int, dimensions: int, tests: int) -> ChainState:
        """Return room for the state of so many chains."""
        return cls(
            np.zeros((chains, dimensions)),
            np.zeros((chains, metropolis.N_REAL)),
            np.zeros((chains, metropolis.N_WHOLE), np.int64),
            np.zeros((chains, dimensions)),
            np.zeros((chains, dimensions, dimensions)),
            np.zeros((chains, dimensions, dimensions)),
            np.zeros((chains, tests)),
        )

    def chain(self, number: int) -> metropolis.Chain:
        """Return one chain's part, which the kernel changes."""
        return metropolis.Chain(*(getattr(self, f.name)[number] for f in fields(self)))

    def copy(self) -> ChainState:
        """Return a copy of all arrays."""
        return ChainState(*(getattr(self, f.name).copy() for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Streams:
    """The random numbers of a chain: the same ones in blocks of any length."""

    start: np.random.Generator
    normals: np.random.Generator
    uniforms: np.random.Generator

    @classmethod
    def of(cls, seed: int, *key: int) -> Streams:
        """Return the streams of the chain that the key names."""
        children = np.random.SeedSequence(seed, spawn_key=key).spawn(3)
        return cls(*map(np.random.default_rng, children))

    def take(self, steps: int, dimensions: int) -> tuple[FloatArray, FloatArray]:
        """Return standard normal [steps, dimensions] and logarithms of uniform [steps] variates."""
        # 1 - u is above 0, u need not be.
        uniform = 1.0 - self.uniforms.random(steps)
        return self.normals.standard_normal((steps, dimensions)), np.log(uniform)


def log_prior_tables(box: ParameterBox) -> FloatArray:
    """Return float64[parameters, nodes], each parameter's log prior from coordinate -1 to 1."""
    nodes = np.linspace(-1.0, 1.0, PRIOR_NODES)
    middle = np.zeros((1, len(box)))
    tables = np.empty((len(box), len(nodes)))
    for i in range(len(box)):
        points = np.repeat(middle, len(nodes), axis=0)
        points[:, i] = nodes
        tables[i] = box.log_prior_unit(points) - box.log_prior_unit(middle)
    return tables


def likelihood_data(
    statistics: Statistics,
    starts: NDArray[np.int64],
    distances: FloatArray | None,  # squared, between tests; for the Gaussian process
) -> likelihood.Data:
    """Return measured times as the kernels of likelihoods take them."""
    s = statistics
    return likelihood.Data(
        s.count,
        s.mean,
        s.squares,
        s.log_mean,
        s.log_squares,
        s.log_values,
        starts,
        np.zeros((0, 0)) if distances is None else distances,
    )


def make_target(
    surrogate: Surrogate,
    noise: NoiseModel,
    statistics: Statistics,
    starts: NDArray[np.int64],
    distances: FloatArray | None,  # squared, between tests; for the Gaussian process
    tables: FloatArray,
    tests: NDArray[np.int64] | slice = _ALL,  # those of the surrogate that were measured
) -> metropolis.Target:
    """Return the posterior density as the kernel takes it."""
    data = likelihood_data(statistics, starts, distances)
    priors = noise.log_priors()
    parameters = len(surrogate.box)
    inferred = [i for i, h in enumerate(noise.hyper) if h.fixed is None]
    return metropolis.Target(
        np.ascontiguousarray(surrogate.indices, np.int64),
        np.ascontiguousarray(surrogate.coefficients[:, tests], np.float64),
        np.ascontiguousarray(surrogate.logarithmic[tests], np.bool_),
        noise.code,
        data,
        np.array([*range(parameters), *(parameters + i for i in inferred)], np.int64),
        np.concatenate([np.zeros(parameters), priors[:, metropolis.CENTRE]]),
        tables,
        priors,
    )


def make_scratch(target: metropolis.Target) -> metropolis.Scratch:
    """Return the arrays that one thread computes densities in."""
    parameters, tests = target.indices.shape[1], target.coefficients.shape[1]
    rows = tests if target.model == likelihood.GAUSSIAN_PROCESS else 0
    return metropolis.Scratch(
        np.empty(parameters),
        np.empty(len(target.hyper_priors)),
        np.empty((parameters, int(target.indices.max(initial=0)) + 1)),
        np.empty(tests),
        np.empty((rows, rows + 1 if rows else 0)),
    )


def candidates_of(
    target: metropolis.Target, box: ParameterBox, noise: NoiseModel, rng: np.random.Generator
) -> FloatArray:
    """Return draws from the prior, at the best of which a chain begins."""
    points = np.concatenate(
        [
            np.clip(box.to_unit(box.sample(STARTING_POINTS, int(rng.integers(2**62)))), -1.0, 1.0),
            np.log(noise.sample(STARTING_POINTS, rng)),
        ],
        axis=1,
    )
    return np.ascontiguousarray(points[:, target.free])


def advance(
    target: metropolis.Target,
    chain: metropolis.Chain,
    candidates: FloatArray,
    burn_in: int,  # steps
    variates: tuple[FloatArray, FloatArray],  # of Streams.take
    out: tuple[FloatArray, FloatArray, FloatArray],  # points, log densities and times of draws
    scratch: metropolis.Scratch,
) -> None:
    """Take steps of one chain and record the draws."""
    if not metropolis.advance(target, chain, candidates, burn_in, *variates, *out, scratch):
        raise ParameterError(
            f"the surrogate must predict times above 0 s somewhere in the box; none of "
            f"{STARTING_POINTS} draws from the prior had a likelihood above 0: fit the surrogate "
            "to the logarithms of the times, or narrow the box",
            key="surrogate",
        )


def values_of(
    points: FloatArray, target: metropolis.Target, box: ParameterBox
) -> tuple[FloatArray, FloatArray]:
    """Return parameters and hyper-parameters, each [..., number], of points of a chain."""
    whole = np.empty((*points.shape[:-1], len(target.fixed)))
    whole[:] = target.fixed
    whole[..., target.free] = points
    d = len(box)
    flat = whole[..., :d].reshape(-1, d)
    return box.from_unit(flat).reshape(whole[..., :d].shape), np.exp(whole[..., d:])
