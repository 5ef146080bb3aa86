"""Finite fields, which the routers of Slim Fly and PolarFly are elements and points of.

Lidl, Niederreiter: Introduction to Finite Fields and their Applications, chapters 2 and 3: the
field of p^m elements is that of the polynomials over the integers mod p, modulo a polynomial of
degree m in which the powers of x are all elements but zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError

LARGEST_ORDER = 256
"""Most elements of a field whose tables are made."""


@dataclass(frozen=True, eq=False)
class GaloisField:
    """The field of q elements, by its tables.

    Element e stands for the polynomial whose coefficients are the digits of e to base p, lowest
    first; for prime q arithmetic is that of the integers mod p.
    """

    order: int  # q, the number of elements
    characteristic: int  # p, the prime that q is a power of
    sum_of: NDArray[np.int32]  # (q, q)
    product_of: NDArray[np.int32]  # (q, q)
    powers: NDArray[np.int32]  # (q - 1,) of a primitive element, from the zeroth: all but zero

    @property
    def negative(self) -> NDArray[np.int32]:
        """The element that gives zero when it is added to each, int32[q]."""
        where_zero: NDArray[np.int32] = np.argmin(self.sum_of, axis=1).astype(np.int32)
        return where_zero


def prime_power(q: int) -> tuple[int, int] | None:
    """Return p and m with q = p^m for a prime p and m of at least 1, None if there are none."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    m = 0
    while q % p == 0:
        q //= p
        m += 1
    return (p, m) if q == 1 else None


def galois_field(q: int) -> GaloisField:
    """Return the field of q elements, a prime power of at most 256."""
    split = prime_power(q) if q <= LARGEST_ORDER else None
    if split is None:
        raise ParameterError(
            f"a field has a prime power of elements, at most {LARGEST_ORDER}; got {q}", key="q"
        )
    p, m = split
    digits = np.arange(q)[:, None] // p ** np.arange(m) % p
    sum_of = ((digits[:, None] + digits[None, :]) % p @ p ** np.arange(m)).astype(np.int32)
    powers = _powers(p, m)
    logarithm = np.zeros(q, np.int64)
    logarithm[powers] = np.arange(q - 1)
    product_of = powers[(logarithm[:, None] + logarithm[None, :]) % (q - 1)]
    product_of[0, :] = product_of[:, 0] = 0
    return GaloisField(q, p, sum_of, product_of, powers)


def _powers(p: int, m: int) -> NDArray[np.int32]:
    """Return the powers of the first primitive element found, int32[p^m - 1]."""
    q = p**m
    candidates = ((element,) for element in range(1, p)) if m == 1 else product(range(p), repeat=m)
    for lowest in candidates:
        # For m = 1 multiply by the element; else by x, with x^m replaced by the lower terms.
        power, powers = 1, []
        for _ in range(q - 1):
            powers.append(power)
            top, rest = divmod(power, q // p)
            power = (
                power * lowest[0] % p
                if m == 1
                else sum(
                    (digit + top * term) % p * p**place
                    for place, (digit, term) in enumerate(
                        zip(_digits(rest * p, p, m), lowest, strict=True)
                    )
                )
            )
            if power in (0, 1):
                break
        if power == 1 and len(powers) == q - 1:
            return np.array(powers, np.int32)
    raise ArithmeticError(f"no primitive element of order {q}")


def _digits(value: int, p: int, m: int) -> list[int]:
    return [value // p**place % p for place in range(m)]
