from __future__ import annotations

from collections.abc import Iterator

import pytest
from jupyter_client import AsyncKernelManager

from tests.notebooks.running import shared_kernel


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    """The kernel that a file's notebooks share: loading workbench takes as long as most of them."""
    with shared_kernel() as manager:
        yield manager


@pytest.fixture
def own_kernel() -> Iterator[AsyncKernelManager]:
    """A kernel for one notebook alone, as people run it."""
    with shared_kernel() as manager:
        yield manager
