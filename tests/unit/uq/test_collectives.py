"""Calibration to collectives: costs of rounds, files, and predictions with intervals."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.cases import for_each
from tests.unit import commands
from workbench import machines
from workbench.cli import uq
from workbench.cli.signals import StopSignal
from workbench.datasets import data_folder
from workbench.errors import ParameterError, ParseError
from workbench.uq.collectives import (
    CollectiveCalibration,
    CollectiveTest,
    MeasuredCollective,
    calibrate_collective,
    read_measured,
)
from workbench.uq.collectives.beyond import KNOWN, UNKNOWN, BeyondErrors
from workbench.uq.collectives.calibration import best_pilot, without_odd_nodes
from workbench.uq.collectives.models import (
    GrowthModel,
    PowerModel,
    RoundModel,
    known_algorithms,
    models_of,
)
from workbench.uq.collectives.pilot import pilot_fit
from workbench.uq.collectives.round_costs import (
    CollectivePlaces,
    RoundCosts,
    placed_on,
    round_costs,
)

pytestmark = pytest.mark.usefixtures("short_chains")

command = partial(commands.run, uq)
TRUTH = np.array([[2e-6, 3e-7, 5e-6, 8192.0, 6e9, 1.5, 0.5, 0.3, 0.05, 3e9]])
MODEL = RoundModel("gather", "binomial")
HEAD = "system,fabric,benchmark,nodes,ranks_per_node,run,avg_us,algorithm,block_bytes"
SIZES = (64, 1024, 16384, 131072)


def cases(nodes: int) -> list[CollectiveTest]:
    shape = {8: (2, 2, 2), 64: (4, 4, 4), 512: (8, 8, 8)}[nodes]
    return [CollectiveTest(nodes, size, 1, shape) for size in SIZES]


def each_test(
    measured: MeasuredCollective,
) -> Iterator[tuple[CollectiveTest, NDArray[np.float64]]]:
    return zip(measured.tests, measured.replicas, strict=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Times of a model with known parameters, 3 % of model error and 0.5 % of noise."""
    rng = np.random.default_rng(7)
    rows = [HEAD]
    for nodes in (8, 64, 512):
        tests = cases(nodes)
        shape = "x".join(map(str, tests[0].shape or ()))
        for test, time in zip(tests, MODEL.times(TRUTH, tests)[0], strict=True):
            off = time * np.exp(0.03 * rng.standard_normal())
            for run in range(4):
                us = 1e6 * off * np.exp(0.005 * rng.standard_normal())
                rows.append(
                    f"toy,Tofu-D {shape},pico_gather,{nodes},1,{run},{us:.4f},default-binomial,"
                    f"{test.block_bytes}"
                )
    path = tmp_path_factory.mktemp("measured") / "toy.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def costs_of(
    collective: str, algorithm: str, nodes: int, *places: Any, **others: Any
) -> RoundCosts:
    return round_costs(collective, algorithm, CollectivePlaces(nodes, *places, **others))


def test_costs_of_rounds_are_the_known_ones() -> None:
    tree = costs_of("gather", "binomial", 8)
    assert sorted(zip(tree.count, tree.blocks, tree.messages, strict=True)) == [
        (1, 1, 1),
        (1, 2, 1),
        (1, 4, 1),
    ]
    assert tree.link_blocks.max() == 0
    linear = costs_of("gather", "linear", 8)
    assert (linear.count.tolist(), linear.blocks.tolist(), linear.messages.tolist()) == (
        [1],
        [7],
        [7],
    )
    assert linear.largest.tolist() == [1]
    ring = costs_of("allgather", "ring", 8, shape=(8,))
    assert (ring.count.tolist(), ring.link_blocks.tolist()) == ([7], [1])
    # Rank 0 and rank 4 of a ring of eight are four links apart. Where all eight exchanges at
    # distance 4 go up, each link carries four of them; divided between both ways, two.
    doubling = costs_of("allgather", "recursive-doubling", 8, shape=(8,))
    assert (doubling.tied_blocks.max(), doubling.link_blocks.max()) == (4 * 4, 2 * 4)
    # A ring of a whole machine is quick: its rounds share their arrays and are counted.
    for collective, rounds in (("allreduce", 2 * 65535), ("reduce_scatter", 65535)):
        great = costs_of(collective, "ring", 65536)
        assert (great.count.tolist(), great.blocks.tolist()) == ([rounds], [1])
    with pytest.raises(ParameterError, match="each of 8 nodes; torus:2x2 has 4; give a larger"):
        costs_of("gather", "binomial", 8, shape=(2, 2))
    with pytest.raises(ParameterError, match="each of 32 nodes; fat-tree:4 has 16"):
        costs_of("gather", "binomial", 32, topology="fat-tree:4")
    with pytest.raises(ParameterError, match="a torus' shape or a topology; got both"):
        costs_of("gather", "binomial", 8, shape=(8,), topology="fat-tree:4")


@for_each("edge, ties_up", [(2, 3), (4, 9), (8, 21)])
def test_links_of_a_torus_are_shared_as_fugaku_shows(edge: int, ties_up: int) -> None:
    """A bcast of 512 MiB by a tree takes 3.0, 9.0 and 19.1 times its bytes over the bandwidth.

    One of 64 MiB takes 3.0, 9.0 and 21.1 times. At distance d along a ring d messages go over the
    same link. An allgather by recursive doubling takes 64 and 965 times its blocks of 1 MiB and
    16 KiB on 64 and 512 nodes; 63 and 949 where ties are divided.
    """
    shape = (edge, edge, edge)
    tree = costs_of("bcast", "binomial-doubling", edge**3, shape=shape)
    assert tree.tied_blocks @ tree.count == ties_up
    doubling = costs_of("allgather", "recursive-doubling", edge**3, shape=shape)
    assert doubling.link_blocks @ doubling.count == {2: 7, 4: 63, 8: 949}[edge]


def test_fewer_nodes_than_a_torus_has_are_its_first() -> None:
    # Nodes 0 to 3 of a ring of eight: node 3 is three links from the root, which takes all bytes
    # of node 1 to 3 from one side.
    found = costs_of("gather", "linear", 4, shape=(8,))
    assert found.link_blocks.tolist() == [3]
    # Of all eight, nodes 1 to 3 come from one side, 5 to 7 from the other, node 4 from either.
    found = costs_of("gather", "linear", 8, shape=(8,))
    assert (found.link_blocks.tolist(), found.tied_blocks.tolist()) == ([3.5], [4])


def test_ranks_of_a_node_share_its_links() -> None:
    # Four ranks on each of two nodes: the exchange at distance 4 has four messages between nodes.
    found = costs_of("allreduce", "recursive-doubling", 2, 4, shape=(2,))
    assert found.count.tolist() == [2, 1]
    assert (found.link_blocks.tolist(), found.messages.tolist()) == ([0, 4], [1, 4])
    assert found.blocks.tolist() == [1, 4]


def test_messages_are_divided_among_the_routes_of_other_topologies() -> None:
    # Hosts 0 and 1 of a fat tree of four-port switches share a switch; the others reach it by two
    # links from above: seven of eight ranks send to rank 0, six of them over these.
    found = costs_of("gather", "linear", 8, topology="fat-tree:4")
    assert (found.blocks.tolist(), found.link_blocks.tolist()) == ([7], [3])
    assert placed_on("torus:4x4") == ((4, 4), "")
    assert placed_on("fat-tree:4") == (None, "fat-tree:4")
    assert placed_on("torus:4x4,hosts=2") == (None, "torus:4x4,hosts=2")
    assert CollectiveTest(8, 64, topology="fat-tree:4").label == "8 nodes (fat-tree:4), 64 B"
    with pytest.raises(ParameterError, match="a topology must be one of"):
        CollectiveTest(8, 64, topology="spiral:4")


def test_an_engine_has_one_message_at_a_time() -> None:
    test = CollectiveTest(8, 1_000_000)
    usual = TRUTH[0] * np.array([0, 0, 0, 1, 1, 1, 1, 1, 0, 1])
    values = np.repeat(usual[None], 3, axis=0)
    values[:, 5] = 1, 2, 4
    linear = RoundModel("gather", "linear").times(values, [test])[:, 0]
    assert_allclose(linear, 7e6 / TRUTH[0, 4] / values[:, 5])
    tree = RoundModel("gather", "binomial").times(values, [test])[:, 0]
    assert_allclose(tree, 7e6 / TRUTH[0, 4])


def test_a_gather_at_the_root_takes_its_bytes_over_the_bandwidth() -> None:
    values = np.array([[1e-7, 1e-9, 1e-9, 64.0, 1.8708e9, 1.0, 1e-2, 1.0, 0.0, 1e11]])
    for size in (8, 16, 24, 32):
        test = CollectiveTest(65536, 1024 * size)
        time = RoundModel("gather", "binomial").times(values, [test])[0, 0]
        assert_allclose(time, 65535 * 1024 * size / 1.8708e9, rtol=2e-5)


def test_a_power_is_shared_by_the_links_of_a_node() -> None:
    values = np.array([[1e-6, 0.5, 0.0, 64.0, 1e-9, 1.0, 0.0, 1e9]])
    tests = [CollectiveTest(64, 1000, shape=shape) for shape in (None, (8, 8), (2, 4, 8))]
    start, byte = 8e-6, 63 * 1e-6
    assert_allclose(PowerModel("gather").times(values, tests), [[start + byte] * 3])
    shared = [start + byte / links for links in (6, 4, 5)]
    assert_allclose(PowerModel("gather", links=True).times(values, tests), [shared])


def test_large_buffers_take_longer_a_byte() -> None:
    # Half of a slowdown of 2 where the buffer has the size; that of a gather is of all ranks.
    values = np.array([[1e-9, 0.5, 0.0, 64.0, 1e-9, 1.0, 2.0, 64e6]])
    tests = [CollectiveTest(64, 1_000_000)]
    assert_allclose(PowerModel("gather").times(values, tests), [[63e-3 * 2.0]], rtol=1e-4)
    vector = 63e-3 * (1 + 2.0 / 65)
    assert_allclose(PowerModel("bcast").times(values, tests), [[vector]], rtol=1e-4)


def test_labels_of_benchmarks_name_algorithms() -> None:
    assert known_algorithms("gather", "default-binomial") == ("binomial",)
    assert known_algorithms("bcast", "default-binomial") == ("binomial", "binomial-doubling")
    assert known_algorithms("allreduce", "recursive_doubling_ompi") == ("recursive-doubling",)
    assert known_algorithms("gather", "default-simple") == ("linear",)
    assert known_algorithms("bcast", "default-chain") == ("chain", "chains:3", "chains:4")
    assert known_algorithms("allreduce", "default-trix3") == ()
    assert [one.name for one in models_of("gather", "")] == [
        "rounds:binomial",
        "rounds:linear",
        "growth",
        "power",
    ]
    assert models_of("gather", "", on_torus=True)[-1].name == "power-of-links"


def test_a_pilot_finds_the_parameters_that_made_the_times() -> None:
    tests = [*cases(8), *cases(64), *cases(512)]
    found = pilot_fit(MODEL, tests, MODEL.times(TRUTH, tests)[0])
    assert found.error < 1e-4
    assert_allclose(found.values[[0, 4]], TRUTH[0, [0, 4]], rtol=1e-2)
    box = found.box()
    assert_allclose([box.low[4], box.high[4]], [6e9 / 4, 6e9 * 4], rtol=0.02)
    # No rank of the tree takes two messages at once: the gap can be anything.
    assert_allclose([box.low[1], box.high[1]], [1e-9, 1e-4])


def test_growth_has_terms_that_grow_as_they_say() -> None:
    values = np.array([[1e-6, 2e-9, 0.0, 64.0, 1e-9, 2e-10, 3e-12]])
    tests = [CollectiveTest(16, 1000, ranks_per_node=4)]
    expected = 6e-6 + 63 * 2e-9 + 1000 * (1e-9 + 6 * 2e-10 + 63 * 3e-12)
    assert_allclose(GrowthModel().times(values, tests), [[expected]])


def test_a_number_of_nodes_that_is_odd_is_left_out(file: Path) -> None:
    measured = read_measured(file, "gather", "default-binomial")
    assert without_odd_nodes(measured) == (measured, ())
    few = (9.0 * times if test.nodes == 8 else times for test, times in each_test(measured))
    odd = replace(measured, replicas=tuple(few))
    kept, left_out = without_odd_nodes(odd)
    assert (left_out, {test.nodes for test in kept.tests}) == ((8,), {64, 512})
    # Two numbers of nodes do not tell which of them is odd.
    assert without_odd_nodes(odd.on([8, 64]))[1] == ()


@for_each(
    "table, label, nodes, expected",
    [
        # A fit to 8 and 64 nodes cannot tell what shared links cost on 512: growth predicts better.
        ("fugaku", "default-recursive_doubling", [8, 64, 512], "rounds:recursive-doubling"),
        # Small messages took nearly thrice as long in jobs of 128 and 200 nodes as of 512.
        ("leonardo", "ring_ompi", [128, 200, 512], "power"),
    ],
)
def test_a_known_algorithm_is_left_for_a_much_closer_fit_alone(
    table: str, label: str, nodes: list[int], expected: str
) -> None:
    file = data_folder() / "whole-machine" / table / "times.csv"
    measured = read_measured(file, "allreduce", label).on(nodes)
    assert best_pilot(measured).model.name == expected


@for_each("model, errors", [("rounds:binomial", KNOWN), ("growth", UNKNOWN), ("power", UNKNOWN)])
def test_an_error_is_added_beyond_the_calibrated_nodes(
    file: Path, model: str, errors: BeyondErrors
) -> None:
    measured = read_measured(file, "gather", "default-binomial").on([8, 64])
    short: dict[str, Any] = {"model": model, "chains": 2, "draws": 50, "burn_in": 50}
    asked = [CollectiveTest(nodes, 64) for nodes in (2, 8, 20, 64, 128, 1024)]
    calibrated = calibrate_collective(measured, **short, noise="relative")
    found = calibrated.beyond(asked)
    assert found is not None
    job, doubling = errors.another_job**2, errors.per_doubling**2
    expected = [job + 2 * doubling, 0, job, 0, job + doubling, job + 4 * doubling]
    assert_allclose(found**2, np.multiply(calibrated.beyond_scale**2, expected))
    assert calibrate_collective(measured, **short, noise="constant").beyond(asked) is None


def test_a_file_is_read(file: Path) -> None:
    found = read_measured(file, "gather", "default-binomial")
    assert (found.system, len(found.tests), len(found.replicas[0])) == ("toy", 12, 4)
    assert found.tests[0] == CollectiveTest(8, 64, 1, (2, 2, 2))
    assert {test.nodes for test in found.on([8]).tests} == {8}
    with pytest.raises(ParameterError, match="among the measured 8, 64, 512; got 7"):
        found.on([7])
    with pytest.raises(ParameterError, match="it has gather"):
        read_measured(file, "scatter")
    with pytest.raises(ParameterError, match="gather has default-binomial"):
        read_measured(file, "gather", "default-linear")
    with pytest.raises(ParameterError, match="ranks_per_node must be one of 1; got 2"):
        read_measured(file, "gather", "default-binomial", ranks_per_node=2)


@for_each(
    "text, line",
    [
        ("a,b\n1,2\n", 1),
        (f"{HEAD}\ntoy,,osu_gather,8,1,0,fast,,64\n", 2),
        (f"{HEAD}\ntoy,,osu_gather,8,1,0,5,,64\ntoy,,osu_gather,-8,1,0,5,,64\n", 3),
        (f"{HEAD}\ntoy,,osu_gather,8,1,0,5,,64\ntoy,,osu_gather,8,1,1,,,128\n", 3),
        (f"{HEAD}\ntoy,,osu_gather,8,1,0,5,,64\ntoy,,osu_gather,1,1,0,5,,64\n", 3),
        ('\0\0\n"', 1),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ParseError) as caught:
        read_measured(path, "gather")
    assert caught.value.line == line


def test_a_row_without_a_time_says_which_test_has_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    head = f"{HEAD},median_us"
    path.write_text(f"{head}\ntoy,,osu_gather,8,1,0,5,,64,\ntoy,,osu_gather,8,1,1,,,128,\n")
    with pytest.raises(ParseError, match="8 nodes and 128 B has neither median_us nor avg_us"):
        read_measured(path, "gather")
    path.write_text(f"{head}\ntoy,,osu_gather,8,1,0,5,,64,slow\n")
    with pytest.raises(ParseError, match="median_us must be a positive number; got 'slow'"):
        read_measured(path, "gather")


def test_rows_of_several_networks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    rows = (f"toy,{fabric},osu_gather,8,1,0,5.0,,64" for fabric in ("RoCE", "Tofu-D 2x2x2"))
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    with pytest.raises(ParameterError, match="one system and network; got toy RoCE; toy Tofu-D;"):
        read_measured(path, "gather")


def test_impossible_tests_are_refused() -> None:
    with pytest.raises(ParameterError, match="two ranks or more; got 1 node with 1 rank"):
        CollectiveTest(1, 64)
    with pytest.raises(ParameterError, match="nodes must be at most 131072; got 100000000"):
        CollectiveTest(10**8, 64)
    # A test on another torus is another test.
    assert CollectiveTest(8, 64, 1, (8,)).label != CollectiveTest(8, 64, 1, (2, 4)).label


def test_a_stop_before_the_first_draw_leaves_the_store(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @contextlib.contextmanager
    def stopped() -> Iterator[StopSignal]:
        stop = StopSignal()
        stop.number = 2
        stop.event.set()
        yield stop

    monkeypatch.setattr(uq, "stoppable", stopped)
    store = tmp_path / "store.json"
    store.write_text("an earlier one")
    words = ("--collective", "gather", "--algorithm", "default-binomial", "--model", "growth")
    assert command("calibrate", file, *words, "--store", store) == 130
    assert store.read_text() == "an earlier one"
    assert "stopped before the first draw" in capsys.readouterr().err


def test_intervals_hold_what_was_kept_aside(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = read_measured(file, "gather", "default-binomial")
    found = calibrate_collective(measured.on([8, 64]), chains=2, draws=1000, burn_in=1000, seed=1)
    assert found.model == "rounds:binomial"
    assert found.surrogate_error.max() < 0.1
    kept = measured.on([512])
    predicted = found.predict(kept.tests)
    inside = (predicted.low[1] <= kept.medians) & (kept.medians <= predicted.high[1])
    assert inside.mean() >= 0.75
    assert (predicted.high[1] / predicted.low[1]).max() < 2
    read = CollectiveCalibration.load(found.save(tmp_path / "found.json"))
    assert_allclose(read.predict(kept.tests).median, predicted.median)
    with pytest.raises(ParameterError, match="must not be empty"):
        found.predict([])
    with pytest.raises(ParameterError, match="1 ranks a node"):
        found.predict([CollectiveTest(8, 64, 2)])
    words = ("--nodes", 512, "--topology", "torus:8x8x8", "--bytes", "16384,131072", "--json")
    assert command("predict", tmp_path / "found.json", *words) == 0
    rows = json.loads(capsys.readouterr().out)["predictions"]
    assert [row["block_bytes"] for row in rows] == [16384, 131072]
    for row in rows:
        (low50, high50), (low90, high90) = row["intervals_us"]["50"], row["intervals_us"]["90"]
        assert low90 < low50 < row["median_us"] < high50 < high90
        assert set(row["parts_us"]) == {"parameter", "discrepancy", "noise"}
    mine = tmp_path / "mine.json"
    machines.load("azure-hb96v3-hdr").with_parts(topology="torus:8x8x8").save(mine)
    of_machine = (*words[:2], "--machine", mine, *words[4:])
    assert command("predict", tmp_path / "found.json", *of_machine) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["predictions"] == rows
    assert "note: topology torus:8x8x8 of azure-hb96v3-hdr" in shown.err
    assert command("predict", tmp_path / "found.json", *words[:-1]) == 0
    assert "median (µs)" in capsys.readouterr().out


def test_the_command_calibrates(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store.json"
    case = ("--collective", "gather", "--algorithm", "default-binomial", "--nodes", "8,64")
    options = ("--model", "growth", "--noise", "relative", "--draws", 200, "--seed", 3)
    assert command("calibrate", file, *case, *options, "--store", store, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["model"], shown["noise"], shown["tests"]) == ("growth", "relative", 8)
    assert store.is_file()
    with pytest.raises(ParameterError, match="power-of-links or rounds:ALGORITHM"):
        command("calibrate", file, *case, "--model", "magic", "--store", store)
    with pytest.raises(SystemExit):
        command("predict", store, "--nodes", "8,many")
    for wrong, words in (("ring:8", "a topology must be one of"), ("torus:2x2", "has 4")):
        with pytest.raises(ParameterError, match=words):
            command("predict", store, "--nodes", 8, "--topology", wrong)


def test_a_check_predicts_the_largest_number_of_nodes(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--collective", "gather", "--algorithm", "default-binomial", "--draws", 300)
    assert command("check", file, *words, "--model", "rounds:binomial", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["nodes"], shown["tests"], len(shown["rows"])) == (512, 4, 4)
    assert shown["within_90"] >= 0.75 > shown["median_error"]
    assert command("check", file, *words, "--noise", "hierarchical") == 0
    assert "90 % intervals" in capsys.readouterr().out
    with pytest.raises(ParameterError, match="two numbers of nodes or more"):
        command("check", file, *words, "--nodes", "8")
