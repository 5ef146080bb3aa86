"""Finite fields against the axioms that define them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.topology.galois import galois_field, prime_power

ORDERS = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 27, 32, 49]


@for_each("q", ORDERS)
def test_sums_and_products_obey_the_axioms_of_a_field(q: int) -> None:
    field = galois_field(q)
    plus, times = field.sum_of.astype(np.int64), field.product_of.astype(np.int64)
    every = np.arange(q)
    for table in (plus, times):
        assert np.array_equal(table, table.T)
        # (a·b)·c and a·(b·c) for all a, b, c
        assert np.array_equal(table[table[:, :, None], every], table[every[:, None, None], table])
    assert np.array_equal(plus[0], every)
    assert np.array_equal(times[1], every)
    assert not times[0].any()
    # a·(b + c) = a·b + a·c
    assert np.array_equal(
        times[every[:, None, None], plus],
        plus[times[:, :, None], times[:, None, :]],
    )
    # Every element has a negative; every one but zero an inverse.
    assert (np.sort(plus, axis=1) == every).all()
    assert (np.sort(times[1:, 1:], axis=1) == every[1:]).all()


@for_each("q", [*ORDERS, 64, 81, 121, 125, 128, 243, 251, 256])
def test_a_fields_powers_negatives_and_characteristic(q: int) -> None:
    field = galois_field(q)
    split = prime_power(q)
    assert split is not None
    assert field.characteristic == split[0]
    assert sorted(field.powers.tolist()) == list(range(1, q))
    assert field.powers[0] == 1
    if q > 2:
        step = field.powers[1]
        assert np.array_equal(field.product_of[field.powers[:-1], step], field.powers[1:])
        assert field.product_of[field.powers[-1], step] == 1
    assert not field.sum_of[np.arange(q), field.negative].any()
    total = 0
    for _ in range(field.characteristic):
        total = int(field.sum_of[total, 1])
    assert total == 0


def test_a_field_of_prime_order_is_the_integers() -> None:
    field = galois_field(11)
    a, b = np.indices((11, 11))
    assert np.array_equal(field.sum_of, (a + b) % 11)
    assert np.array_equal(field.product_of, a * b % 11)


def test_prime_powers_are_distinguished_from_other_numbers() -> None:
    found = [q for q in range(-3, 33) if prime_power(q)]
    assert found == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
    assert prime_power(243) == (3, 5)
    assert prime_power(251) == (251, 1)


@for_each("q", [0, 1, 6, 12, 257, 10**9])
def test_there_is_no_field_of_other_orders(q: int) -> None:
    with pytest.raises(ParameterError, match="prime power"):
        galois_field(q)
