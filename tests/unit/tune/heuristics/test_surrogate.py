from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.heuristics import surrogate
from workbench.tune.heuristics.gaussian_process import GaussianProcess
from workbench.tune.heuristics.surrogate import ForestSurrogate, GaussianProcessSurrogate
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.space import TuningSpace

LINE = TuningSpace({"x": Grid(tuple(range(41)))})


def valley(x: float) -> float:
    return 1.0 + (x - 27.0) ** 2 / 50.0


def history_of(places: list[int], **options: bool) -> History:
    history = History(LINE, **options)
    for x in places:
        history.append({"x": x}, valley(x), seconds=valley(x), initial=True)
    return history


@for_each("acquisition", ["ei", "pi"])
def test_it_goes_to_where_the_model_sees_the_valley(acquisition: str) -> None:
    history = history_of([0, 10, 20, 30, 40])
    gp = GaussianProcessSurrogate(LINE, acquisition=acquisition)
    proposal = gp.ask(history)
    assert proposal is not None and 20 < proposal["x"] < 35  # type: ignore[operator]


def test_logarithms_are_taken_where_all_losses_are_positive() -> None:
    table = history_of([0, 20, 40]).aggregated()
    for transform, log in (("auto", True), ("log", True), ("none", False)):
        sample = GaussianProcessSurrogate(LINE, transform=transform).sample(table)
        assert sample.log is log
        back = [sample.loss(float(each)) for each in sample.losses]
        assert back == pytest.approx([valley(x) for x in (0, 20, 40)])
    history = history_of([0, 20])
    history.append({"x": 30}, -1.0)
    assert GaussianProcessSurrogate(LINE).sample(history.aggregated()).log is False
    for gp in (GaussianProcessSurrogate, ForestSurrogate):
        with pytest.raises(ParameterError, match="needs losses above 0; got -1 "):
            gp(LINE, transform="log").ask(history)


def test_a_pruned_run_enters_above_its_bound_and_keeps_others_away() -> None:
    known = [0, 10, 20, 35, 40]
    history = history_of(known)
    history.append({"x": 27}, 8.0, status="pruned")  # no valley here after all
    gp = GaussianProcessSurrogate(LINE, transform="none")
    sample = gp.sample(history.aggregated())
    model = gp._model_of(history, sample)
    row = np.flatnonzero(sample.censored)
    mean, _ = model.predict(sample.codes[row])
    without = GaussianProcess(
        sample.codes[~sample.censored],
        sample.losses[~sample.censored],
        sample.variances[~sample.censored],
        np.array([0]),
    ).predict(sample.codes[row])[0]
    assert mean[0] > without[0] + 1.0
    proposal = gp.ask(history)
    assert proposal is not None and abs(proposal["x"] - 27) >= 2  # type: ignore[operator]


def test_imputed_values_are_those_of_schmee_and_hahn() -> None:
    # One known level, so that the model's mean is 0 and its spread known: E[y | y > b].
    history = history_of([0, 10, 20, 30, 40])
    history.append({"x": 25}, 3.0, status="pruned")
    gp = GaussianProcessSurrogate(LINE, transform="none")
    sample = gp.sample(history.aggregated())
    seen: list[np.ndarray] = []
    fit = gp._fit

    def recording(history, sample, losses, rows):  # type: ignore[no-untyped-def]
        seen.append(losses.copy())
        return fit(history, sample, losses, rows)

    gp._fit = recording  # type: ignore[method-assign]
    gp._model_of(history, sample)
    assert len(seen) >= 2
    first = fit(history, sample, sample.losses, ~sample.censored)
    mean, std = first.predict(sample.codes[sample.censored])
    expected = surrogate.mean_above(mean, std, sample.losses[sample.censored])
    assert seen[1][-1] == pytest.approx(expected[0])
    assert all(losses[-1] >= sample.losses[-1] for losses in seen)
    assert np.array_equal(seen[-1][:-1], sample.losses[:-1])


def test_a_failed_configuration_counts_as_the_worst_known() -> None:
    history = history_of([0, 10, 20])
    history.append({"x": 30}, math.nan, status="failed")
    sample = GaussianProcessSurrogate(LINE, transform="none").sample(history.aggregated())
    assert sample.losses[3] == sample.losses.max() == sample.losses[0]
    assert not sample.censored.any()


def test_what_is_being_run_is_not_sought_again() -> None:
    history = history_of([0, 10, 20, 30, 40])
    gp = GaussianProcessSurrogate(LINE)
    first = gp.ask(history)
    assert first is not None
    history.pending = (first,)
    assert gp.ask(history) != first


def test_repeats_lower_the_noise_of_a_configuration() -> None:
    history = history_of([0, 10, 20])
    for _ in range(3):
        history.append({"x": 20}, valley(20), resampled=True)
    sample = GaussianProcessSurrogate(LINE).sample(history.aggregated())
    assert sample.variances.tolist() == [1.0, 1.0, 0.25]


def test_hyperparameters_are_sought_at_every_fifth_proposal_after_twenty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gp = GaussianProcessSurrogate(LINE)
    sought: list[int] = []
    real = gp._sought

    def counted(history, last):  # type: ignore[no-untyped-def]
        sought.append(len(history))
        return real(history, last)

    monkeypatch.setattr(gp, "_sought", counted)
    history = history_of([0, 20])
    for number in range(30):
        gp.ask(history)
        history.append({"x": number}, valley(number))
    assert sought == [*range(2, 21), 25, 30] or sought == [*range(2, 22), 25, 30]


def test_a_continuous_space_is_searched_by_draws_and_neighbours() -> None:
    space = TuningSpace({"x": Range(0.0, 1.0), "c": Choices(("p", "q"))})
    history = History(space)
    gp = GaussianProcessSurrogate(space, 1)
    rng = np.random.default_rng(0)
    for number in range(22):
        proposal = space.sample(rng) if number < 6 else gp.ask(history)
        assert proposal is not None
        off = (float(proposal["x"]) - 0.62) ** 2  # type: ignore[arg-type]
        history.append(proposal, 0.01 + off + (proposal["c"] == "q"), initial=number < 6)
    best = history.best()
    assert best is not None and best[1] < 0.011


def test_mutants_keep_to_rules_and_differ_little() -> None:
    space = TuningSpace(
        {"a": Grid(tuple(range(9))), "b": Grid(tuple(range(9))), "c": Grid(tuple(range(9)))},
        constraints=("a + b <= 12",),
        conditions={"c": "a > 4"},
    )
    rng = np.random.default_rng(0)
    found = ForestSurrogate(space)._mutants({"a": 5, "b": 5, "c": 5}, rng)
    assert len(found) > 20 and all(space.contains(each) for each in found)
    changed = [sum(each[n] != 5 for n in "ab") for each in found]
    assert np.mean(changed) < 1.5


def test_a_forest_proposes_new_configurations_until_there_are_none() -> None:
    space = TuningSpace({"x": Grid(tuple(range(9)))})
    forest = ForestSurrogate(space, trees=8)
    history = History(space)
    for x in (0, 8):
        history.append({"x": x}, float(x), initial=True)
    for _ in range(7):
        proposal = forest.ask(history)
        assert proposal is not None and not history.seen(proposal)
        history.append(proposal, float(proposal["x"]))  # type: ignore[arg-type]
    assert forest.ask(history) is None


def test_the_expected_value_is_smoother_than_the_least_one() -> None:
    rng = np.random.default_rng(2)
    history = History(LINE)
    for x in range(41):
        history.append({"x": x}, valley(x) * math.exp(0.2 * rng.normal()))
    row, loss = GaussianProcessSurrogate(LINE).expected(history)
    assert abs(row - 27) <= 3 and loss == pytest.approx(1.0, abs=0.3)
