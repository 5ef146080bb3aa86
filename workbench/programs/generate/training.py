"""Data-parallel training: gradients are added up over all ranks, bucket by bucket."""

from __future__ import annotations

import numpy as np

from workbench.checks import whole
from workbench.programs.builder import ProgramBuilder
from workbench.programs.generate.grids import even_parts
from workbench.programs.generate.tiling import jittered, repeat
from workbench.programs.program import Collective, Program


def training(
    ranks: int = 16,
    *,
    gradient_bytes: int = 100 * 2**20,
    bucket_bytes: int = 25 * 2**20,
    forward_ns: int = 10_000_000,
    backward_ns: int = 20_000_000,
    update_ns: int = 1_000_000,
    iterations: int = 2,
    overlap: bool = True,
    jitter: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return training steps: forward pass, backward pass in buckets, an allreduce of each, update.

    With overlap a bucket's allreduce begins as soon as the backward pass has filled it, and all
    are waited for before the update (Li et al.: PyTorch Distributed, VLDB 2020, section 3.2).
    The usual algorithm is a ring: ``training().graph(allreduce="ring")``.

    Args:
        ranks: how many.
        gradient_bytes: size of all gradients in bytes.
        bucket_bytes: most bytes of a bucket; buckets are as equal as this allows.
        forward_ns: time of the forward pass in ns.
        backward_ns: time of the backward pass in ns, spread over the buckets by their size.
        update_ns: time of the update in ns.
        iterations: how many steps.
        overlap: whether the allreduce of one bucket and the rest of the backward pass overlap.
        jitter: each computation takes its time multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is too small, or the jitter is not 0 to 1.
    """
    whole(gradient_bytes, "gradient_bytes", 1)
    whole(bucket_bytes, "bucket_bytes", 1)
    buckets = even_parts(gradient_bytes, -(-gradient_bytes // bucket_bytes))
    ends = np.cumsum([0, *buckets]) / gradient_bytes
    work = np.diff(np.rint(ends * backward_ns).astype(np.int64)).tolist()
    builder = ProgramBuilder(ranks, source=f"training {ranks}")
    sums = [builder.new_collective(Collective("allreduce", size=bucket)) for bucket in buckets]
    for rank in range(ranks):
        builder.compute(rank, forward_ns)
        pending = []
        for number, ns in zip(sums, work, strict=True):
            builder.compute(rank, ns)
            if overlap:
                pending.append(builder.begin_collective(rank, number))
            else:
                builder.join_collective(rank, number)
        if overlap:
            builder.wait(rank, pending)
        builder.compute(rank, update_ns)
    return jittered(repeat(builder.build(), iterations), jitter, rng)
