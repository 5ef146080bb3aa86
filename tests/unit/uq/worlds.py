"""Synthetic collectives with known truth: what a calibration sees, and larger runs kept aside."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.uq.collectives import CollectiveTest, MeasuredCollective
from workbench.uq.collectives.models import RoundModel

FloatArray = NDArray[np.float64]

NAMES = (
    ("gather", "binomial"),
    ("allgather", "ring"),
    ("allreduce", "recursive-doubling"),
    ("scatter", "binomial"),
    ("allgather", "bruck"),
    ("bcast", "binomial"),
    ("alltoall", "pairwise"),
    ("reduce", "binomial"),
)
"""Collectives and algorithms, one a world."""

NODES, LARGER = (8, 16, 32, 64), 256
SIZES = (64, 512, 4096, 16384, 65536, 262144, 1048576)
CENTRE = np.array([2e-6, 3e-7, 4e-6, 8192.0, 6e9, 1.5, 0.3, 0.3, 0.1, 2e8])
"""Of the parameters of ``RoundModel``, in its order."""
OWN, SMOOTH, NOISE, REPLICAS = (0.02, 0.06), (0.01, 0.04), (0.02, 0.04), 5
"""Ranges of errors of a test's own and smooth over sizes and nodes, and of a replica; relative."""
SHAPES = {8: (2, 2, 2), 16: (4, 2, 2), 32: (4, 4, 2), 64: (4, 4, 4), 256: (16, 4, 4)}
"""Of the tori of congested worlds: the long side of the largest shares links as none before."""


@dataclass(frozen=True)
class World:
    """Measured tests on few nodes, and tests on more with their true medians."""

    measured: MeasuredCollective
    kept: tuple[CollectiveTest, ...]
    medians: FloatArray  # s, of as many replicas of each test kept aside
    truth: FloatArray  # s, without the noise of replicas
    algorithm: str


def world(seed: int, *, known: bool, congested: bool = False, hidden: bool = False) -> World:
    """Return the world of a seed.

    ``known`` labels its algorithm; ``congested`` has a torus, whose links the largest run shares as
    no smaller one does; ``hidden`` does not tell of it.
    """
    rng = np.random.default_rng([2004, seed])
    collective, algorithm = NAMES[seed % len(NAMES)]
    values = CENTRE * np.exp(0.5 * rng.standard_normal(len(CENTRE)))
    values[5] = rng.uniform(1.0, 3.0)
    values[6:8] = rng.uniform(0.5, 1.2), rng.uniform(0.1, 0.9)
    own, together, noise = (rng.uniform(*ends) for ends in (OWN, SMOOTH, NOISE))
    tests = tuple(
        CollectiveTest(nodes, size, shape=SHAPES[nodes] if congested or hidden else None)
        for nodes in (*NODES, LARGER)
        for size in SIZES
    )
    times = RoundModel(collective, algorithm).times(values[None], tests)[0]
    place = np.log2([[test.nodes / 8.0, test.block_bytes / 64.0] for test in tests]) / [9.0, 14.0]
    square = ((place[:, None] - place[None]) ** 2).sum(axis=-1)
    smooth = np.linalg.cholesky(np.exp(-0.5 * square / 0.5**2) + 1e-9 * np.eye(len(tests)))
    errors = together * smooth @ rng.standard_normal(len(tests))
    errors += own * rng.standard_normal(len(tests))
    true = times * np.exp(errors)
    if hidden:
        tests = tuple(replace(test, shape=None) for test in tests)
    calibrated = [at for at, test in enumerate(tests) if test.nodes != LARGER]
    kept = [at for at, test in enumerate(tests) if test.nodes == LARGER]
    replicas = tuple(true[at] * np.exp(noise * rng.standard_normal(REPLICAS)) for at in calibrated)
    measured = MeasuredCollective(
        f"world {seed}",
        collective,
        algorithm if known else "",
        tuple(tests[at] for at in calibrated),
        replicas,
    )
    runs = true[kept] * np.exp(noise * rng.standard_normal((REPLICAS, len(kept))))
    medians = np.median(runs, axis=0)
    return World(measured, tuple(tests[at] for at in kept), medians, true[kept], algorithm)
