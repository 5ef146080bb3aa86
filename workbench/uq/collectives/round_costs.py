"""What the rounds of a collective's algorithm demand of nodes and links, without any time.

    costs = round_costs("gather", "binomial", nodes=64, shape=(4, 4, 4))

The algorithms are those of ``workbench.programs.collectives``, one rank a node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from kernels.uq.torus_loads import add_messages
from workbench.errors import ParameterError
from workbench.programs.collectives.registry import find_algorithm
from workbench.programs.collectives.rounds import CollectiveCase, Round

_MOST_MESSAGES = 2**22  # of one round


@dataclass(frozen=True, eq=False)
class RoundCosts:
    """The demands of an algorithm's rounds; alike rounds are counted, not repeated."""

    count: NDArray[np.float64]  # [kinds] rounds of a kind
    messages: NDArray[np.float64]  # [kinds] sent or received by the busiest rank
    blocks: NDArray[np.float64]  # [kinds] blocks sent or received by the busiest rank
    link_blocks: NDArray[np.float64]  # [kinds] blocks over the busiest link; 0 without a shape
    split: int  # blocks that the vector of an allreduce, bcast or reduce is cut into


@lru_cache(maxsize=512)
def round_costs(
    collective: str, algorithm: str, nodes: int, shape: tuple[int, ...] | None = None
) -> RoundCosts:
    """Return the demands of a collective among ``nodes`` ranks; rank r is node r of the shape.

    The shape is that of a torus with dimension-order routes, its last dimension the fastest.
    """
    if shape is not None and prod(shape) != nodes:
        raise ParameterError(
            f"the torus {'x'.join(map(str, shape))} must have one node per rank, {nodes}; it has "
            f"{prod(shape)}; give another shape or number of nodes",
            key="topology",
        )
    chosen, case = find_algorithm(collective, algorithm), CollectiveCase(nodes)
    kinds: Counter[tuple[int, int, float]] = Counter()
    known: dict[bytes, tuple[int, int, float]] = {}
    before: Round | None = None
    kind: tuple[int, int, float] = (0, 0, 0.0)
    for one in chosen.rounds(case):
        if not len(one.source):
            continue
        # Rounds of a ring share their arrays, which need not be compared: 18x on 4096 ranks.
        if before is not None and _same_arrays(one, before):
            kinds[kind] += 1
            continue
        if len(one.source) > _MOST_MESSAGES:
            raise ParameterError(
                f"a round may have {_MOST_MESSAGES} messages; {collective} {chosen.name} among "
                f"{nodes} nodes has {len(one.source)}; take fewer nodes or another algorithm",
                key="nodes",
            )
        key = b"".join(part.tobytes() for part in (one.source, one.target, one.counts))
        if key not in known:
            known[key] = _demand(one, nodes, shape)
        before, kind = one, known[key]
        kinds[kind] += 1
    rows = np.array([(count, *kind) for kind, count in kinds.items()], np.float64).reshape(-1, 4)
    count, messages, blocks, link_blocks = rows.T
    return RoundCosts(count, messages, blocks, link_blocks, chosen.split(case))


def _same_arrays(one: Round, other: Round) -> bool:
    """Return whether two rounds hold the very same arrays of ranks and counts."""
    return one.source is other.source and one.target is other.target and one.counts is other.counts


def _demand(one: Round, nodes: int, shape: tuple[int, ...] | None) -> tuple[int, int, float]:
    """Return messages and blocks of the busiest rank, and blocks over the busiest link."""
    ends = one.source, one.target
    messages = max(int(np.bincount(end).max()) for end in ends)
    blocks = max(int(np.bincount(end, one.counts).max()) for end in ends)
    if shape is None:
        return messages, blocks, 0.0
    load = np.zeros((nodes, len(shape), 2))
    weights = one.counts.astype(np.float64)
    add_messages(np.array(shape), one.source, one.target, weights, load)
    return messages, blocks, float(load.max())
