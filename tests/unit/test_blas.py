"""The limit of one thread for linear algebra, from whichever thread it is set."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from workbench.blas import one_thread


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Two threads before each test, where the tests' own setting is one."""
    assert np.linalg.det(np.eye(2)) == 1  # by which the library is loaded
    with threadpool_limits(2, "blas"):
        assert threads() == {2}
        yield


def threads() -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def threads_within() -> set[int]:
    with one_thread():
        return threads()


def test_it_lasts_until_the_last_block_has_ended() -> None:
    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == before


def test_it_holds_in_every_thread() -> None:
    before = threads()
    assert threads_within() == {1}
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(threads_within).result() == {1}
    assert threads() == before


def test_another_thread_may_end_the_last_block() -> None:
    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        pool.submit(second.__exit__, None, None, None).result()
    assert threads() == before
