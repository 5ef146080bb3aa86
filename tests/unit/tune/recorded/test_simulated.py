"""Spaces from the simulator: what is in them, and that the shipped ones are what is simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune import Function, SimulatedCollective, tune
from workbench.tune.recorded.files import read_recording, shipped_recording
from workbench.tune.recorded.simulated import SimulatedMachine, record_simulated, simulated_space


def test_a_parameter_applies_where_its_algorithm_takes_it() -> None:
    space = simulated_space("bcast")
    for configuration in space.all():
        takes = {"knomial": "fanout", "pipeline": "segment_bytes"}.get(
            str(configuration["algorithm"])
        )
        for name in ("fanout", "segment_bytes"):
            assert (configuration[name] is not None) == (name == takes)
    assert space.default is not None and space.contains(space.default)


def test_a_broadcast_of_four_bytes_takes_its_rounds() -> None:
    # Three rounds one after another: two overheads and a way through the network each.
    machine = SimulatedMachine.of()
    chosen = {"algorithm": "binomial", "segment_bytes": None, "fanout": None}
    took = machine.time_s("bcast", chosen, 8, 4)
    way = 2 * machine.host.o + machine.host.L
    assert 3 * way < took < 3 * (way + 6 * 200e-9 + 4 * (machine.host.G + 2 * machine.host.O))


def test_ranks_of_one_host_share_its_link() -> None:
    machine = SimulatedMachine.of()
    chosen = {"algorithm": "linear"}
    spread, shared = (machine.time_s("gather", chosen, ranks, 2**20) for ranks in (12, 24))
    # The root's link takes in 11 blocks, then 22 of them, as one rank shares its host.
    block_s = 2**20 * machine.host.G
    assert spread > 11 * block_s
    assert shared > max(22 * block_s, spread)


@for_each("name", ["simulated-12-ranks"])
def test_shipped_times_are_those_of_the_simulator(name: str) -> None:
    recording = shipped_recording(name)
    machine = SimulatedMachine.of()
    for collective in ("allreduce", "bcast", "gather", "reduce"):
        space = recording[f"{collective}/16384"]
        for configuration in space.configurations[::7]:
            took = machine.time_s(collective, configuration, 12, 16384)
            # Files hold seven digits.
            assert space.median(configuration) == pytest.approx(1e6 * took, rel=1e-6)


def test_a_recording_of_its_own(tmp_path: Path) -> None:
    count = record_simulated(tmp_path / "own", ranks=3, collectives=("gather",), sizes=(64, 128))
    assert count == 4
    recording = read_recording(tmp_path / "own")
    assert list(recording) == ["gather/64", "gather/128"]
    assert recording.provenance.origin == "synthetic"


def test_segments_longer_than_what_they_cut_take_the_same_time() -> None:
    space = shipped_recording("simulated-12-ranks")["bcast/4096"]
    long = {
        space.median(each)
        for each in space.configurations
        if each["algorithm"] == "pipeline" and int(each["segment_bytes"] or 0) >= 4096
    }
    chosen = {"algorithm": "pipeline", "segment_bytes": 65536, "fanout": None}
    assert len(long) == 1
    took = SimulatedMachine.of().time_s("bcast", chosen, 12, 4096)
    assert long.pop() == pytest.approx(1e6 * took, rel=1e-6)


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="ranks must be a whole number of at least 2"):
        record_simulated(tmp_path, ranks=1)
    with pytest.raises(ParameterError, match="at least 1 B"):
        record_simulated(tmp_path, sizes=(0,))
    with pytest.raises(ParameterError, match="collectives must each be given once"):
        record_simulated(tmp_path, collectives=("gather", "gather"))
    with pytest.raises(ParameterError, match="sizes must each be given once"):
        record_simulated(tmp_path, sizes=(64, 64))
    with pytest.raises(ParameterError, match="allreduce, bcast"):
        simulated_space("scan")


def test_a_collective_that_is_tuned_as_it_is_takes_the_recorded_times() -> None:
    recorded = shipped_recording("simulated-12-ranks")["reduce/1048576"]
    one = SimulatedCollective("reduce", 2**20, calls=300)
    for configuration in (one.default, recorded.optimum):
        assert one.call_us(configuration) == pytest.approx(recorded.median(configuration), rel=1e-6)
    seconds = recorded.seconds[recorded.row(one.default)][0]
    assert one.run_s(one.default) == pytest.approx(seconds, rel=1e-6)


def test_a_run_has_noise_and_a_search_ends_with_its_time() -> None:
    one = SimulatedCollective("bcast", 2**20, calls=2000, noise=0.1)
    rng = np.random.default_rng(1)
    values, seconds = np.array([one.run(one.default, rng) for _ in range(400)]).T
    # The standard errors of 400 runs: 0.5 % of the mean, 0.35 % of the time for the spread.
    assert np.log(values).std() == pytest.approx(0.1, abs=0.0175)
    assert values.mean() == pytest.approx(one.call_us(one.default), rel=0.025)
    assert seconds / values == pytest.approx(one.run_s(one.default) / one.call_us(one.default))
    rules = {"stopping": ("time", {"seconds": 20}), "heuristic": "genetic", "seed": 3}
    found, again = (tune(one.space, Function(one.run), **rules) for _ in range(2))
    spent = [record.run.seconds for record in found.records]
    assert sum(spent) >= 20 > sum(spent[:-1])
    assert found.best == again.best


@for_each(
    "changed, message",
    [({"collective": "brodcast"}, "did you mean"), ({"size": 0}, "size"), ({"noise": -1}, "noise")],
)
def test_a_collective_that_cannot_be_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        SimulatedCollective(**{"collective": "bcast", "size": 8, **changed})  # type: ignore[arg-type]
