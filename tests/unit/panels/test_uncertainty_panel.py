from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench import machines
from workbench.errors import ParameterError
from workbench.panels import UncertaintyPanel
from workbench.panels.uq.problems import own_problems
from workbench.panels.uq.view import RESUME
from workbench.uq import Prediction
from workbench.uq.posterior import LEAST_DRAWS

RAN = ("gaussian-process", "relative")
HELD_OUT = 512  # of 8, 64 and 512 nodes


@contextlib.contextmanager
def short_chains() -> Iterator[pytest.MonkeyPatch]:
    """Keep every fifth step of the chains of measured collectives, not every 24th."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.uq.collectives.calibration._STEPS", 5)
        yield patch


@pytest.fixture(scope="module")
def ran() -> UncertaintyPanel:
    """A panel whose chains, short ones, have run for every choice of two by two."""
    panel = UncertaintyPanel("fugaku/gather")
    panel.draws = 100
    with short_chains() as patch:
        patch.setattr("workbench.panels.uq.panel.NOISE_MODELS", RAN)
        patch.setattr(panel._problem, "held_out", (HELD_OUT,))
        panel.run()
        assert panel.wait(120) is not None
    return panel


@pytest.fixture
def panel(ran: UncertaintyPanel) -> Iterator[UncertaintyPanel]:
    """The same, as it was after the run."""
    with short_chains():
        yield ran
        ran.draws, ran.view, ran.noise, ran.held_out, ran.side = (
            100,
            "data",
            "gaussian-process",
            0,
            0,
        )
        ran.wait(60)


def test_it_opens_on_the_data_and_asks_for_chains() -> None:
    panel = UncertaintyPanel()
    assert panel.wait(60) is None
    assert panel.figures[0] == "Measured, and the model as fitted"
    assert "no posterior yet" in panel.text
    assert "published: Collectives on Fugaku" in panel.text
    assert panel.error == ""
    drawn = panel.drawn("measured")
    np.testing.assert_allclose(drawn["value"], 1e6 * panel.begun.replicas.values)
    panel.view = "posterior"
    assert "No chains have run for this choice" in panel.text


def test_every_choice_is_stored_and_shown_with_its_verdict(panel: UncertaintyPanel) -> None:
    panel.view = "posterior"
    for noise in RAN:
        for held_out in (0, HELD_OUT):
            panel.noise, panel.held_out = noise, held_out
            posterior = panel.posterior
            assert posterior is not None and posterior.noise.name == noise
            nodes = {int(one) for one in posterior.replicas.columns["nodes"]}
            assert nodes == {8, 64, 512} - {held_out}
            assert posterior.verdict.partition(";")[0] in panel.text


def test_a_stored_choice_is_drawn(panel: UncertaintyPanel) -> None:
    panel.view = "prediction"
    for noise in RAN:
        panel.noise = noise
        panel.wait(60)
        assert panel.figures[0] == "Intervals of the median of 5 replicas"
        assert f"{noise} noise" in panel.text.lower()


def test_held_out_nodes_are_predicted_and_counted(panel: UncertaintyPanel) -> None:
    panel.noise, panel.held_out = "relative", HELD_OUT
    prediction = panel.prediction
    assert prediction is not None
    assert all(test.startswith("512 nodes (8x8x8)") for test in prediction.tests)
    begun = panel.begun
    medians = dict(zip(begun.replicas.tests, begun.medians, strict=True))
    times = np.array([medians[test] for test in prediction.tests])
    held = (prediction.low[1] <= times) & (times <= prediction.high[1])
    assert f"90 % intervals hold {100 * held.mean():.0f} %" in panel.text
    assert "held-out medians" in panel.text


def test_more_nodes_than_were_measured_are_predicted(panel: UncertaintyPanel) -> None:
    panel.view, panel.side = "prediction", 16
    panel.wait(60)
    prediction = panel.prediction
    assert prediction is not None
    assert prediction.tests[0].startswith("4096 nodes (16x16x16)")
    assert panel.figures[1] == "Half-widths at 90 %"


@pytest.mark.parametrize(
    ("view", "title"),
    [
        ("sobol", "First-order Sobol' indices"),
        ("chains", "latency of a round"),
        ("fit", "Intervals of one more replica, and what was measured"),
    ],
)
def test_each_step_has_its_figure(panel: UncertaintyPanel, view: str, title: str) -> None:
    panel.view = view
    panel.wait(60)
    assert panel.figures[0].startswith(title)
    assert panel.error == ""


def test_the_check_has_a_verdict(panel: UncertaintyPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.uq.simulation_based.BURN_IN_STEPS", 300)
    panel.noise, panel.datasets, panel.made_by = "relative", 10, "hierarchical"
    panel.view = "check"
    panel.wait(120)
    check = panel.check
    assert check is not None
    assert (check.noise, check.fitted, check.datasets) == ("hierarchical", "relative", 10)


def test_the_code_makes_what_is_shown(panel: UncertaintyPanel) -> None:
    panel.noise, panel.held_out = "relative", HELD_OUT
    scope: dict[str, object] = {}
    calibrating = panel.python.partition("print(found")[0]
    exec(calibrating, scope)
    for side in (0, 16):
        panel.side = side
        first, _, prediction_code = panel.python.partition("print(found")
        assert first == calibrating, "the chains do not depend on what is predicted"
        exec("print(found" + prediction_code, scope)
        prediction = panel.prediction
        assert prediction is not None
        found = scope["prediction"]
        assert isinstance(found, Prediction)
        assert found.tests == prediction.tests
        np.testing.assert_array_equal(found.median, prediction.median)


def test_its_files_hold_tests_verdict_and_origin(panel: UncertaintyPanel, tmp_path: Path) -> None:
    table = pd.read_csv(panel.save(tmp_path / "tests.csv"))
    assert list(table["test"]) == list(panel.begun.replicas.tests)
    assert (table["low 90 % (s)"] < table["high 90 % (s)"]).all()
    content = json.loads(panel.save(tmp_path / "found.json").read_text("utf-8"))
    posterior = panel.posterior
    assert posterior is not None
    assert content["posterior"]["verdict"] == posterior.verdict
    assert content["data"].startswith("published: ")


@pytest.mark.parametrize(
    ("problem", "draws", "trace"),
    [
        pytest.param("fugaku/gather", 20_000, "latency of a round", marks=pytest.mark.deep),
        ("llnl-dane-omnipath", 600, "1 / node.nic.injection.bandwidth"),  # as many draws are burnt
    ],
)
def test_chains_are_seen_while_they_run_and_go_on_after_a_stop(
    problem: str, draws: int, trace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.panels.uq.work._LIVE_S", 0.2)
    # So many looks at the stop that a slow process does not end before one.
    monkeypatch.setattr("workbench.uq.posterior.BLOCK", 20)
    # Of the models the one with the fewest parameters, and runs.
    monkeypatch.setattr("workbench.panels.uq.problems.MODEL", "logp")
    monkeypatch.setattr("workbench.panels.uq.problems.TRIALS", 50)
    # A surrogate of few runs, and few of the model's own for the draws that are shown.
    monkeypatch.setattr("workbench.uq.fit_runs._POINTS", (40, 40))
    monkeypatch.setattr("workbench.uq.osu._CHECKS", 10)
    monkeypatch.setattr("workbench.uq.osu._SO_FAR", 10)
    panel = UncertaintyPanel(problem)
    panel.noise, panel.draws, panel.view = "relative", draws, "chains"
    assert not panel.buttons[RESUME]
    with pytest.raises(ParameterError, match="there are none for relative noise, nothing held"):
        panel.resume()
    panel.run(every=False)
    while panel.posterior is None:
        time.sleep(0.01)
        panel.refresh()
    assert "the chains run; so far" in panel.text
    panel.stop()
    panel.wait(60)
    assert panel.figures[0].startswith(trace)
    posterior = panel.posterior
    assert posterior is not None
    assert LEAST_DRAWS <= posterior.draws < posterior.requested == draws
    assert f"Stopped after {posterior.draws} of {draws} draws" in panel.text
    assert "resume=" not in panel.text.replace(panel.python, "")
    panel.press(RESUME)
    while panel.posterior is None or panel.posterior.draws == posterior.draws:
        time.sleep(0.01)
        panel.refresh()
    panel.stop()
    panel.wait(60)
    longer = panel.posterior
    assert longer is not None
    assert longer.draws > posterior.draws
    same = longer.parameters[:, : posterior.draws]
    np.testing.assert_array_equal(same, posterior.parameters)


def test_chains_that_have_not_converged_go_on_to_more_draws(panel: UncertaintyPanel) -> None:
    panel.noise, panel.held_out, panel.view = "relative", HELD_OUT, "posterior"
    short = panel.posterior
    assert short is not None
    assert not short.converged
    assert f"press {RESUME} to go on to 1000 draws of each chain" in panel.text
    panel.press(RESUME)
    panel.wait(60)
    longer = panel.posterior
    assert longer is not None
    assert (panel.draws, longer.draws) == (1000, 1000)
    np.testing.assert_array_equal(longer.parameters[:, :100], short.parameters)


def test_a_machine_of_ones_own_is_a_problem_by_its_file(tmp_path: Path) -> None:
    shipped = machines.load("azure-hb96v3-hdr")
    mine = replace(shipped, name="mine", measured=shipped.curve)
    path = tmp_path / "mine.json"
    mine.save(path)
    panel = UncertaintyPanel(str(path))
    assert panel.problem == str(path)
    assert f'fit("{path}", ' in panel.python
    panel.stop()
    panel.problem = "fugaku/gather"
    assert ("mine.json", str(path)) in panel.controls["problem"].options


def test_an_unknown_problem_names_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r"fugaku/gather.*did you mean"):
        UncertaintyPanel("fugaku/gatter")


REPORTS = Path(__file__).parents[2] / "data" / "reports"
OWN = "benchmark,nodes,block_bytes,avg_us,algorithm\n" + "".join(
    f"osu_{name},{nodes},{size},{10 + nodes + size / 100 + run},{label}\n"
    for name, label in (("allreduce", ""), ("gather", "binomial"))
    for nodes in (4, 8)
    for size in (64, 4096)
    for run in range(3)
)


def test_ranks_and_what_was_left_out_of_ones_own_file_are_said() -> None:
    text = (REPORTS / "03_osu_allreduce.txt").read_bytes()
    ((_, found),) = own_problems("osu.txt", text).items()
    assert "measured: osu.txt; 16 ranks on each node; the library chose" in found.caption
    cut = OWN.replace("\n", "\r\n") + "osu_gather,4,64"
    captions = [one.caption for one in own_problems("times.csv", cut.encode()).values()]
    note = "times.csv:26: the text ends in the middle of this row; left out"
    assert all(caption.endswith(f"; {note}") for caption in captions), captions


def test_a_csv_of_ones_own_is_a_problem_and_travels_with_a_session(tmp_path: Path) -> None:
    panel = UncertaintyPanel()
    panel.take("times.csv", OWN.encode())
    assert panel.problem == "times.csv/allreduce"
    assert "times.csv/gather/binomial" in [value for _, value in panel.controls["problem"].options]
    panel.problem = "times.csv/gather/binomial"
    assert 'read_measured("times.csv", "gather", "binomial")' in panel.python
    assert panel.controls["held_out"].options[1:] == (("8 nodes", 8), ("4 nodes", 4))
    assert "measured: times.csv" in panel._reading.value
    saved = panel.save_session(tmp_path / "one.workbench.json")
    other = UncertaintyPanel()
    other.load_session(saved)
    assert other.problem == "times.csv/gather/binomial"
    with pytest.raises(ParameterError, match=r"times.csv:1: .*block_bytes"):
        panel.take("times.csv", b"benchmark,nodes,avg_us\nosu_gather,4,1\n")
    assert panel.problem == "times.csv/gather/binomial"
