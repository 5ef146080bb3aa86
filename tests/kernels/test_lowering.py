"""Lowering's kernels: equal to the slow ones, also without compilation."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.lowering import group_by_awaited
from tests.reference import lowering as reference
from workbench.programs import Dependents, generate


@pytest.mark.parametrize("seed", range(8))
def test_expansion_equals_the_reference(seed: int) -> None:
    program = generate.random_program(1 + seed % 6, events=30, rng=seed)
    assert program.graph() == reference.lower(program, {})


@pytest.mark.parametrize(("ops", "edges"), [(1, 0), (2, 1), (10, 30), (100, 60)])
def test_grouping_is_a_stable_sort(ops: int, edges: int) -> None:
    pairs = np.random.default_rng(edges).integers(0, ops, (2, edges)).astype(np.int32)
    start, grouped = np.zeros(ops + 1, np.int32), np.empty(edges, np.int32)
    group_by_awaited(pairs, start, grouped)
    assert Dependents(start, grouped) == Dependents.from_pairs(pairs[0], pairs[1], ops)
