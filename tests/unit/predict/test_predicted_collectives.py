"""Predictions: which algorithm runs, what is assumed, the machine's parts, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from tests.cases import for_each
from tests.unit.predict.machines import STRAIGHT, straight_machine, written
from workbench.cli import main
from workbench.errors import ParameterError
from workbench.predict import (
    COLLECTIVES,
    CollectivePrediction,
    MachineProfile,
    Surplus,
    compare_algorithms,
    learn_algorithms,
    learn_surplus,
    machine_of,
    named_algorithm,
    predict_collective,
    read_point_to_point,
)
from workbench.predict.library_rules import (
    algorithms_of_label,
    candidates_of,
    chosen_by,
    predicted_name,
    run_instead,
)
from workbench.programs.collectives import ALGORITHMS, find_algorithm

MACHINE = straight_machine()


def test_every_collective_is_predicted_by_every_library() -> None:
    for library in ("open-mpi", "mpich", "unknown"):
        machine = replace(MACHINE, library=library)
        for collective in COLLECTIVES:
            found = predict_collective(machine, collective, 8, [8, 1 << 20])
            assert (np.diff(found.times) > 0).all() or collective == "barrier"
            assert set(found.algorithms) <= set(ALGORITHMS[collective])


def test_rules_of_libraries_change_with_size_and_ranks() -> None:
    assert [chosen_by("open-mpi", "allreduce", 8, size) for size in (9_999, 10_000)] == [
        "recursive-doubling",
        "ring",
    ]
    assert [chosen_by("open-mpi", "allgather", ranks, 100) for ranks in (8, 9, 1001, 1024)] == [
        "recursive-doubling",
        "bruck",
        "ring",
        "neighbour-exchange",
    ]
    assert [chosen_by("mpich", "alltoall", 8, size) for size in (256, 257, 32_769)] == [
        "bruck",
        "linear",
        "pairwise",
    ]
    assert [chosen_by("mpich", "bcast", ranks, 2**18) for ranks in (4, 8, 9)] == [
        "binomial",
        "scatter-doubling",
        "scatter-allgather",
    ]
    assert chosen_by("unknown", "allreduce", 8, 8) is None
    assert chosen_by("open-mpi", "bcast", 8, 8) is None


def test_without_a_rule_the_fastest_of_all_candidates_is_taken() -> None:
    for size in (8, 1 << 20):
        found = predict_collective(MACHINE, "allreduce", 16, [size])
        each = compare_algorithms(MACHINE, "allreduce", 16, [size])
        best = min(candidates_of("allreduce"), key=lambda name: each[name].times[0])
        assert (found.algorithm, found.chosen_by) == (best, ("least time",))
        assert found.times[0] == each[best].times[0]


def test_an_algorithm_that_has_too_few_elements_is_replaced_as_libraries_do() -> None:
    found = predict_collective(MACHINE, "allreduce", 64, [4, 255, 256], algorithm="ring")
    assert found.algorithms == ("recursive-doubling", "recursive-doubling", "ring")
    assert any("recursive-doubling runs instead" in sentence for sentence in found.assumed)
    assert found.algorithm == "recursive-doubling from 4 B, ring from 256 B"
    assert run_instead("gather", "binomial", 64, 4) == "binomial"


def test_labels_of_open_mpi_have_its_meaning() -> None:
    assert algorithms_of_label("bcast", "default-binomial")[0] == "binomial-doubling"
    assert algorithms_of_label("bcast", "binomial_mpich")[0] == "binomial"
    assert algorithms_of_label("allreduce", "ring_segmented_ompi")[0] == "ring"
    assert algorithms_of_label("reduce", "default-pipeline")[0] == "chain"
    assert algorithms_of_label("allreduce", "default-trix6") == ()
    assert algorithms_of_label("bcast", "default-basic-linear") == ()
    # Fujitsu's end with a bcast of Tofu-D's own; Open MPI's in-order tree is not the binary one.
    for collective, label in (
        ("allgather", "default-linear"),
        ("allreduce", "default-nonoverlapping"),
        ("reduce", "default-in-order-binary"),
    ):
        assert algorithms_of_label(collective, label) == ()
    assert algorithms_of_label("bcast", "scatter_allgather_ompi") == ("scatter-doubling",)
    assert algorithms_of_label("bcast", "scatter_allgather_ring_ompi") == ("scatter-allgather",)
    find_algorithm("bcast", algorithms_of_label("bcast", "chain_ompi")[0])
    for collective, label, meant in (
        ("gather", "default-simple", "meet-linear"),
        ("gather", "linear_sync_ompi", "linear-sync"),
        ("allgather", "linear", "gather-bcast"),
        ("allreduce", "nonoverlapping", "nonoverlapping"),
        ("alltoall", "default-modified-bruck", "bruck"),
    ):
        assert algorithms_of_label(collective, label) == (meant,)
        assert predicted_name(collective, meant) == meant


def test_names_mean_what_the_library_means() -> None:
    for library, name, meant in (
        ("open-mpi", "binomial", "binomial-doubling"),
        ("fujitsu-mpi", "default-binomial", "binomial-doubling"),
        ("mpich", "binomial", "binomial"),
        ("unknown", "chain", "chain"),
        ("open-mpi", "chain", "chains:4"),
        ("open-mpi", "pipeline:4096", "pipeline:4096"),
        ("unknown", "Binary_Tree", "binary"),
    ):
        assert named_algorithm(library, "bcast", name) == meant  # type: ignore[arg-type]
    assert named_algorithm("unknown", "gather", "basic_linear") == "sequential"
    with pytest.raises(ParameterError, match="algorithm of gather must be one of"):
        named_algorithm("open-mpi", "gather", "binomal")
    with pytest.raises(ParameterError, match="operation must be one of"):
        named_algorithm("unknown", "gahter", "binomial")


def test_what_is_assumed_is_said_and_what_is_given_is_not(tmp_path: Path) -> None:
    measured = read_point_to_point(written(tmp_path), "a")
    machine = machine_of(measured, ranks_per_node=4)
    assert "0.5 us" in machine.to_frame().set_index("part").loc["messages within a node", "value"]
    sources = dict(zip(machine.to_frame()["part"], machine.to_frame()["source"], strict=True))
    assert sources["node rate"] == sources["both ways"] == sources["message interval"] == "measured"
    assert sources["memory of a node"] == "assumed"
    assert sources["engines"] == sources["core"] == sources["topology"] == "assumed"
    given = machine_of(
        measured, topology="torus:2x2", engines=2, core_Bps=1e10, hop_s=0.0, library="mpich"
    )
    assert {part.source for part in given.parts} == {"measured", "published", "assumed"}
    assert [sentence.partition(":")[0] for sentence in given.assumed] == ["pairs of nodes"]
    named = predict_collective(MACHINE, "gather", 4, [8], algorithm="linear").assumed
    assert not any(sentence.startswith("library") for sentence in named)
    assert any("slowest rank" in sentence for sentence in named)
    fugaku = machine_of(replace(measured, system="fugaku_x"))
    assert (fugaku.engines, fugaku.library, fugaku.memory_Bps) == (6, "fujitsu-mpi", 1.024e12)


def test_the_time_of_combining_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[2] / "data" / "reports" / "20_p2p.csv"
    words = f"--p2p {path} --collective allreduce --nodes 64 --bytes 8,16MiB".split()
    assert main(["predict", "rank", *words]) == 0
    said = capsys.readouterr().err
    assert "30 GB/s, combining moves 3 B for each byte" in said
    assert "--core-bandwidth sets" in said
    assert "1,652 of 2,336 us of rabenseifner with 16 MiB" in said
    assert main(["predict", "rank", *words, "--json", "--core-bandwidth", "60GB/s"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["combining_us"]["16777216"]["rabenseifner"] == pytest.approx(1651.5072 / 2)
    assert any("both ways: full duplex" in sentence for sentence in found["assumed"])
    assert main(["predict", "collective", *words, "--json", "--buffers", "device"]) == 0
    found = json.loads(capsys.readouterr().out)
    # A rank combines 63/64 of the vector; 3 B move for each byte, at 1.5 TB/s.
    moved = 3 * 2**24 * 63 / 64
    assert found["combining_us"]["16777216"] == pytest.approx(1e6 * moved / 1.5e12)
    assert any("memory of a rank's accelerator" in sentence for sentence in found["assumed"])


def test_a_ring_of_eight_combines_most_of_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[2] / "data" / "reports" / "20_p2p.csv"
    words = f"--p2p {path} --collective allreduce --nodes 8 --bytes 100MiB".split()
    ring = ["predict", "collective", *words, "--algorithm", "ring"]
    assert main(ring) == 0
    said = capsys.readouterr().err
    assert "assumed: core: 30 GB/s" in said
    assert "9,175 of 12,873 us of ring with 100 MiB" in said
    assert main([*ring, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("9,175 of 12,873 us of ring" in sentence for sentence in found["assumed"])
    # 7/8 of the vector, 3 B for each byte at 30 GB/s; and twice that at 50 GB/s, in 14 rounds.
    moved = 100 * 2**20 * 7 / 8
    assert found["combining_us"]["104857600"] == pytest.approx(1e6 * 3 * moved / 30e9)
    both = 1e6 * (2 * moved / 50e9 + 3 * moved / 30e9)
    assert found["times_us"]["104857600"] == pytest.approx(both + 14 * 2.0, rel=1e-4)
    assert main(["predict", "rank", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["times_us"]["104857600"]["ring"] == pytest.approx(12873, abs=0.5)
    assert found["combining_us"]["104857600"]["ring"] == pytest.approx(9175, abs=0.5)


def test_loggps_of_straight_curves_are_its_parameters() -> None:
    p = MACHINE.loggps()
    assert (p.o * 2, p.g) == pytest.approx((STRAIGHT.g, STRAIGHT.g))
    assert p.L + 2 * p.o == pytest.approx(STRAIGHT.L + 2 * STRAIGHT.o)
    assert pytest.approx(STRAIGHT.G, rel=1e-6) == p.G
    assert MACHINE.loggps("within").L > 0


def test_results_are_saved_and_read_back(tmp_path: Path) -> None:
    machine = MachineProfile.load(MACHINE.save(tmp_path / "machine.json"))
    assert machine.to_frame().equals(MACHINE.to_frame())
    found = predict_collective(machine, "allreduce", 8, [8, 4096])
    again = CollectivePrediction.load(found.save(tmp_path / "times.json"))
    assert again.to_frame().equals(found.to_frame())
    assert again.times.tolist() == found.times.tolist()
    with pytest.raises(ParameterError, match="chosen_by must have"):
        replace(found, chosen_by=("name",))._check()


def test_figures_have_a_line_for_each_curve_and_prediction() -> None:
    lines = [line for line in MACHINE.plot().renderers if len(line.data_source.data["size"]) > 1]
    assert {line.data_source.data["name"][0] for line in lines} == {
        "one way, between nodes",
        "one after another",
        "one way, within a node",
    }
    found = predict_collective(MACHINE, "allreduce", 8, [0, 8, 4096], algorithm="ring")
    layout = found.plot()
    (drawn, *_) = layout.select_one({"type": figure}).renderers
    assert drawn.data_source.data["size"] == [8, 4096]
    assert drawn.data_source.data["time"] == pytest.approx(1e6 * found.times[1:])
    band = layout.select_one({"type": ColumnDataSource, "name": "interval"}).data
    low, high = found.interval
    assert band["low"] == pytest.approx(1e6 * low[1:])
    assert band["high"] == pytest.approx(1e6 * high[1:])
    assert f"{100 * found.spread.held:.0f} % of" in layout.children[-1].text
    assert "interval of 90 %" in repr(found)
    with pytest.raises(ParameterError, match="at most 4 predictions"):
        found.plot(*[found] * 4)


def test_a_surplus_is_that_of_most_sizes() -> None:
    predicted, rounds = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 4.0])
    learn = partial(learn_surplus, [4, 4, 4], [8, 16, 32])
    surplus = learn(predicted + 0.5 * rounds, predicted, rounds)
    assert surplus == Surplus(0.5, (4,))
    assert surplus.added(predicted, rounds, 64).tolist() == [2.0, 3.0, 6.0]
    # No time becomes less than a fifth of what was predicted.
    assert Surplus(-9.0, (4,)).added(predicted, rounds, 4).tolist() == [0.2, 0.4, 0.8]
    assert learn([1.0, 2.0, 100.0], predicted, rounds).seconds == 0.0
    with pytest.raises(ParameterError, match="must be of the same tests"):
        learn([1.0], predicted, rounds)
    added = predict_collective(
        MACHINE, "gather", 8, [8], algorithm="binomial", surplus=Surplus(1e-3, (4,))
    )
    assert added.times[0] == pytest.approx(3e-3, rel=0.01)
    assert added.variant == "surplus"
    assert "surplus: 1e+03 us a round, learnt on 4 nodes" in added.assumed


def test_a_surplus_grows_where_it_is_larger_on_more_nodes_for_most_sizes() -> None:
    """Recursive doubling of log2(n) rounds, predicted at 30 us each, on 4 and 8 nodes."""
    nodes, sizes = np.repeat([4, 8, 64], 8), np.tile(2 ** np.arange(8), 3)
    rounds = np.log2(nodes)
    predicted = 30.0 * rounds
    alike, growing = (predicted + rounds * each for each in (5.0, 5.0 * nodes / 4))
    assert learn_surplus(nodes, sizes, alike, predicted, rounds) == Surplus(5.0, (4, 8))
    found = learn_surplus(nodes, sizes, growing, predicted, rounds)
    assert found.grows
    assert found.seconds == pytest.approx(5.0)
    assert found.added(predicted[-1], rounds[-1], 64) == pytest.approx(growing[-1])
    assert "in proportion to the nodes" in repr(found)
    assert not learn_surplus(nodes, sizes, growing, predicted, rounds, may_grow=False).grows
    # Four sizes rise by chance in one of sixteen cases: too few; and times that fall never grow.
    few = sizes < 16
    assert not learn_surplus(
        *(one[few] for one in (nodes, sizes, growing, predicted, rounds))
    ).grows
    falling = predicted + rounds * 5.0 * 4 / nodes
    assert not learn_surplus(nodes, sizes, falling, predicted, rounds).grows


def test_noise_that_does_not_grow_is_rarely_taken_for_growth() -> None:
    """Of 200 worlds with a constant surplus and noise of 5 % at most one in twenty grows."""
    rng = np.random.default_rng(46)
    nodes, sizes = np.repeat([4, 8], 12), np.tile(2 ** np.arange(12), 2)
    rounds, grown = np.log2(nodes), 0
    for _ in range(200):
        measured = 35.0 * rounds * np.exp(rng.normal(0.0, 0.05, len(nodes)))
        grown += learn_surplus(nodes, sizes, measured, 30.0 * rounds, rounds).grows
    assert grown <= 18  # 10 expected at most, 3 of scatter; more than 18 once in 200


def test_the_algorithm_is_learnt_that_takes_the_measured_time() -> None:
    for name in ("ring", "recursive-doubling"):
        times = predict_collective(MACHINE, "allreduce", 8, [1 << 20], algorithm=name).times
        assert learn_algorithms(MACHINE, "allreduce", 8, [1 << 20], times) == {1 << 20: name}


@for_each(
    "change, message",
    [
        ({"collective": "gahter"}, "collective must be one of .*; did you mean gather"),
        ({"nodes": 0}, "nodes must be a whole number of at least 1"),
        ({"block_bytes": [-1]}, "block_bytes must be whole numbers of at least 0"),
        ({"block_bytes": []}, "block_bytes must hold a size"),
        ({"algorithm": "binomal"}, "algorithm of gather must be one of"),
        ({"surplus": Surplus(float("nan"), (4,))}, "surplus.seconds must be a number"),
    ],
)
def test_what_is_not_accepted_is_refused_in_words(change: dict[str, object], message: str) -> None:
    good = {"collective": "gather", "nodes": 4, "block_bytes": [8], "algorithm": "binomial"}
    with pytest.raises(ParameterError, match=message):
        predict_collective(MACHINE, **(good | change))  # type: ignore[arg-type]


def test_a_topology_with_too_few_hosts_and_an_unknown_library_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must have a host for each of 9 nodes"):
        predict_collective(MACHINE.on("torus:2x2x2"), "gather", 9, [8], algorithm="binomial")
    measured = read_point_to_point(written(tmp_path), "a")
    with pytest.raises(ParameterError, match="library must be one of open-mpi"):
        machine_of(measured, library="lam")  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        machine_of(measured, topology="tours:2x2")
