"""The engines of a root: what its rate and the bandwidth of a message allow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import LayoutDOM
from numpy.testing import assert_allclose

from workbench.errors import ParameterError
from workbench.plotting import describe_root_engines
from workbench.uq.collectives import (
    CollectiveTest,
    MeasuredCollective,
    RootEngines,
    load_measured,
    root_engines,
)

BANDWIDTH = 6e9


def measured(label: str, engines: float, seed: int = 0) -> MeasuredCollective:
    """Synthetic: a root that takes blocks by so many engines, with 1 % of model error."""
    rng = np.random.default_rng(seed)
    tests = tuple(
        CollectiveTest(nodes, size, shape=(nodes,))
        for nodes in (8, 64)
        for size in (4096, 16384, 131072, 1048576, 8388608)
    )
    times = [
        (2e-6 + (test.nodes - 1) * test.block_bytes / BANDWIDTH / engines)
        * np.exp(0.01 * rng.standard_normal() + 0.003 * rng.standard_normal(4))
        for test in tests
    ]
    return MeasuredCollective("toy", "gather", label, tests, tuple(times))


def test_the_engines_are_found_that_made_the_times(tmp_path: Path) -> None:
    cases = [measured("default-binomial", 1.0), measured("default-simple", 2.5, seed=1)]
    found = root_engines(cases, bandwidth=(0.95 * BANDWIDTH, 1.05 * BANDWIDTH), seed=1)
    assert found.algorithms == ("default-binomial",) * 2 + ("default-simple",) * 2
    low, high = found.interval(0.98).T
    assert (low[2:] < 2.5).all()
    assert (high[2:] > 2.5).all()
    assert (high < 1.25 * low).all()
    assert_allclose(found.probabilities[:2, 0], 1.0)
    assert_allclose(found.probabilities.sum(axis=1), 1.0)
    # All cases share the bandwidth of each draw.
    bandwidths = np.median(found.rates, axis=1) / np.median(found.engines, axis=1)
    assert_allclose(bandwidths, BANDWIDTH, rtol=0.08)
    # Of a ring of eight, seven blocks come to the root from two sides, four by one of them if all
    # that may go either way go there, 3.5 if they are divided.
    assert_allclose(found.ways, [1, 1, 2, 2])
    frame = found.to_frame()
    assert list(frame["nodes"]) == [8, 64, 8, 64]
    read = RootEngines.load(found.save(tmp_path / "engines.json"))
    assert repr(read) == repr(found)
    assert isinstance(found.plot(), LayoutDOM)
    assert "default-binomial uses 1 engine (" in describe_root_engines(found)


def test_what_cannot_be_is_refused() -> None:
    one = measured("default-binomial", 1.0)
    with pytest.raises(ParameterError, match="must give each root 1 to 6 engines"):
        root_engines([one], bandwidth=(2 * BANDWIDTH, 3 * BANDWIDTH))
    with pytest.raises(ParameterError, match="three sizes of 16384 B or more"):
        root_engines([one.pick(range(3))])
    with pytest.raises(ParameterError, match="of one system, and gather or scatter; got nothing"):
        root_engines([])


def test_fugaku_uses_one_engine_by_a_tree_and_more_without() -> None:
    labels = "default-binomial", "default-simple"
    found = root_engines([load_measured("fugaku", "gather", label) for label in labels])
    likely = found.probabilities.argmax(axis=1) + 1
    assert likely.tolist() == [1, 1, 1, 2, 2, 3]
    assert found.provenance is not None
