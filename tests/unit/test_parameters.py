"""One parameter for models, searches, priors and sliders, and the forms in which it is saved."""

from __future__ import annotations

import pytest

from workbench.errors import ParameterError
from workbench.fit import SearchSpace
from workbench.models import SNAPPR
from workbench.models.loggps import LOGGPS
from workbench.parameters import Parameter

OVERHEAD = Parameter("overhead", "s", 0.0, 4e-6, mean=1e-6, sd=2e-6, value=1e-6, description="o")


def test_other_bounds_leave_all_else() -> None:
    narrow = OVERHEAD.within(1e-6, 2e-6)
    assert (narrow.low, narrow.high) == (1e-6, 2e-6)
    assert narrow.within(OVERHEAD.low, OVERHEAD.high) == OVERHEAD
    assert (narrow.mean, narrow.sd, narrow.value, narrow.description) == (1e-6, 2e-6, 1e-6, "o")
    with pytest.raises(ParameterError, match="low of overhead must be below high; got low=2e-06 s"):
        OVERHEAD.within(2e-6, 1e-6)
    with pytest.raises(ParameterError, match="low of L must be above 0 on a logarithmic scale"):
        LOGGPS["L"].within(0.0, 1e-6)


def test_the_default_and_the_sentence_do_not_tell_two_apart() -> None:
    assert OVERHEAD == Parameter("overhead", "s", 0.0, 4e-6, mean=1e-6, sd=2e-6)
    assert OVERHEAD != Parameter("overhead", "s", 0.0, 4e-6)


def test_values_are_written_with_their_unit() -> None:
    assert OVERHEAD.heading == "overhead (s)"
    assert OVERHEAD.text(1.5e-6) == "1.5e-06 s"
    share = Parameter("share", "", 0.0, 1.0)
    assert (share.heading, share.text(0.25)) == ("share", "0.25")


def test_positions_are_even_on_the_scale() -> None:
    latency = Parameter("latency", "s", 1e-9, 1e-3, log=True)
    assert latency.position(1e-6) == pytest.approx(0.5, abs=1e-12)
    assert latency.at(0.5) == pytest.approx(1e-6, rel=1e-12)
    assert (latency.position(0.0), latency.at(2.0), latency.at(-1.0)) == (0.0, 1e-3, 1e-9)
    assert OVERHEAD.at(OVERHEAD.position(3e-6)) == pytest.approx(3e-6, rel=1e-15)


def test_a_prior_is_saved_under_its_name() -> None:
    assert OVERHEAD.to_dict() == {
        "name": "overhead",
        "unit": "s",
        "low": 0.0,
        "high": 4e-6,
        "prior": "normal",
        "mean": 1e-6,
        "sd": 2e-6,
    }
    assert LOGGPS["G"].to_dict()["prior"] == "log-uniform"


def test_a_search_space_is_saved_as_keys_kinds_and_bounds() -> None:
    space = SearchSpace.for_model(SNAPPR())
    saved = space.to_dict()
    mtu = {"key": "node.nic.mtu", "kind": "bytes", "low": 128.0, "high": 16e6, "log": True}
    assert saved["dimensions"][0] == mtu
    assert isinstance(saved["dimensions"][0]["low"], float)  # studies compare the text of this
    alone = SearchSpace.from_dict(saved)  # the trials of a study, without its model
    assert alone.to_dict() == saved
    assert alone["node.nic.mtu"].text(4096) == "4 KiB"
    assert alone.described_by(SNAPPR()) == space
