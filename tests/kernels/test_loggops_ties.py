"""The order of operations that become free together, stable and as GNU's library leaves it."""

import numpy as np
from hypothesis import given, strategies as st

from kernels.loggops.ties import sort_like_libstdcxx, sort_stably


def test_ties_as_gnus_library_leaves_them():
    # Printed by a C++ program that sorts (number, kind) by kind with std::sort, g++ 12.
    few = [2, 2, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 2, 1, 2, 2, 1]
    assert sorted_like_gnu(few) == [8, 16, 13, 11, 10, 9, 7, 4, 3, 2, 6, 0, 5, 12, 14, 15, 1]
    alike = sorted_like_gnu([1] * 63)
    assert alike == [47, *range(32, 47), 31, *range(48, 63), 16, *range(1, 16), 0, *range(17, 31)]
    # Medians of three that make quicksort quadratic: it goes over to heap sort.
    half = 32
    worst = [0] * (2 * half)
    for i in range(1, half + 1):
        worst[i - 1] = i if i % 2 else half + i - 1
        worst[half + i - 1] = 2 * i
    assert sorted_like_gnu(worst) == sorted(range(64), key=lambda i: worst[i])


def sorted_like_gnu(kinds):
    ops = np.arange(len(kinds), dtype=np.int32)
    parts = np.empty((128, 3), np.int64)
    sort_like_libstdcxx(ops, len(ops), np.array(kinds, np.uint8), parts)
    return ops.tolist()


@given(st.lists(st.integers(1, 3), min_size=1, max_size=80))
def test_both_orders_of_ties_are_sorted(kinds):
    kind = np.array(kinds, np.uint8)
    ops, room = np.arange(len(kinds), dtype=np.int32), np.empty(len(kinds), np.int32)
    stable = sorted(range(len(kinds)), key=lambda i: kinds[i])
    assert (room if sort_stably(ops, len(ops), kind, room) else ops).tolist() == stable
    gnu = sorted_like_gnu(kinds)
    assert sorted(gnu) == list(range(len(kinds)))
    assert [kinds[op] for op in gnu] == sorted(kinds)
    if len(kinds) <= 16:
        assert gnu == stable
