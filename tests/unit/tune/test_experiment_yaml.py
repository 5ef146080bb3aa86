"""SHAMan's configurations of experiments, in this project's names; nothing in them is imported."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.tune import (
    Choices,
    ExperimentSettings,
    Grid,
    TuningSpace,
    read_components,
    read_experiment,
    shaman_names,
)
from workbench.tune.aggregation import AGGREGATIONS
from workbench.tune.experiment_yaml import MethodSettings
from workbench.tune.heuristics import HEURISTICS, make_heuristic
from workbench.tune.initial_points import STARTS
from workbench.tune.pruning import make_pruning
from workbench.tune.resampling import RESAMPLINGS, SCHEDULES, make_resampling
from workbench.tune.rules_by_name import options_of
from workbench.tune.stopping import STOPPINGS, make_stopping

# Made up, with the keys that configurations for SHAMan have.
SURROGATE = """\
experiment:
  default_first: True
bbo:
  heuristic: surrogate_model
  regression_model: sklearn.gaussian_process.GaussianProcessRegressor
  next_parameter_strategy: STRATEGIES.expected_improvement
  initial_sample_size: 10
  max_iteration: 150
  reevaluate: false
  max_retry: 3
  stop_criterion: improvement_criterion
  stop_window: 15
  improvement_estimator: numpy.min
  improvement_threshold: 0.01
noise_reduction:
  resampling_policy: dynamic_resampling
  percentage: 0.1
  resampling_schedule: exponential_99
  fitness_aggregation: simple_fitness_aggregation
  estimator: numpy.median
pruning:
  max_step_duration: numpy.median
components:
  tool:
    n:
      min: 1
      max: 20
      step: 5
    size:
      min: 2
      max: 16
      step: 2
      step_type: multiplicative
    mode:
      - slow
      - fast
"""
SURROGATE = SURROGATE.replace(
    "STRATEGIES", "bbo.heuristics.surrogate_models.next_parameter_strategies"
)
TOOL = """\
components:
  tool:
    parameters:
      n: {type: int, default: 0, cmd_var: true}
      size: {type: int, default: 2, cmd_var: true}
      mode: {type: str, default: slow, env_var: true}
  other:
    parameters:
      n: {type: int, default: 0, cmd_var: true}
"""
ANNEALING = """\
bbo:
  heuristic: simulated_annealing
  initial_temperature: 1000
  neighbor_function: bbo.heuristics.simulated_annealing.neighbor_functions.hop_to_next_value
  cooldown_function: bbo.heuristics.simulated_annealing.cooldown_functions.multiplicative_schedule
  cooling_factor: "2"
  restart: bbo.heuristics.simulated_annealing.restart_functions.random_restart
  bernouilli_parameter: 0.05
  initial_draw_method: uniform_random
  time_out: 60
"""
GENETIC = """\
experiment: {default_first: false}
bbo:
  heuristic: genetic_algorithm
  selection_method: bbo.heuristics.genetic_algorithm.selections.tournament_pick
  crossover_method: bbo.heuristics.genetic_algorithm.crossover.double_point_crossover
  mutation_method: bbo.heuristics.genetic_algorithm.mutations.mutate_chromosome_to_neighbor
  mutation_rate: 0.4
  pool_size: 5
  elitism: False
  stop_criterion: count_movement
  nbr_parametrizations: 2
  stop_window: 8
noise_reduction: {resampling_policy: simple_resampling, nbr_resamples: 3}
pruning: {max_step_duration: 5}
components: {a: {n: [1, 2]}, b: {n: [3]}}
"""


def plain(method: MethodSettings | None) -> tuple[str, dict[str, Any]] | None:
    """A method as plain values."""
    return None if method is None else (method.name, dict(method.options))


def test_a_surrogate_model_with_everything() -> None:
    found = read_experiment(SURROGATE)
    assert found.default_first
    assert plain(found.heuristic) == ("surrogate-gp", {"acquisition": "ei"})
    assert (found.initial, found.start, found.budget) == (10, "hybrid", 150)
    assert (found.reevaluate, found.max_retry) == (False, 3)
    assert plain(found.resampling) == (
        "improved",
        {
            "share": 0.1,
            "most": 100,
            "schedule": "exponential-99",
            "promising": None,
            "median": False,
        },
    )
    assert found.aggregation == "median"
    assert plain(found.stopping) == (
        "improvement",
        {"threshold": 0.01, "estimator": "min", "window": 15},
    )
    assert plain(found.pruning) == ("estimator", {"estimator": "median"})
    assert found.notes == ()


def test_its_grid_on_a_component() -> None:
    components = read_components(TOOL)
    space = read_experiment(SURROGATE).space(components["tool"])
    assert dict(space.axes) == {
        "n": Grid((1, 6, 11, 16)),
        "size": Grid((2, 4, 8, 16)),
        "mode": Choices(("slow", "fast")),
    }
    # The default run need not be on the grid, and 0 is a value.
    assert space.default == {"n": 0, "size": 2, "mode": "slow"}
    with pytest.raises(ParameterError, match="must give values to try of other; it names tool"):
        read_experiment(SURROGATE).space(components["other"])


def test_simulated_annealing() -> None:
    found = read_experiment(ANNEALING)
    assert plain(found.heuristic) == (
        "annealing",
        {
            "cooling": "multiplicative",
            "cooling_factor": 2,
            "restart": "random",
            "restart_probability": 0.05,
        },
    )
    assert (found.start, found.time_s, found.budget) == ("uniform", 60.0, None)
    assert found.resampling is found.stopping is found.pruning is None
    assert found.aggregation is None
    assert found.notes == (
        "initial_temperature is left to its default; it is in the target's own unit there, in "
        "standard deviations here",
    )
    without = ANNEALING.replace(
        "bbo.heuristics.simulated_annealing.restart_functions.random_restart", "False"
    )
    method = read_experiment(without).heuristic
    assert method is not None
    assert method.options["restart"] == "none"


def test_a_genetic_algorithm() -> None:
    found = read_experiment(GENETIC)
    assert not found.default_first
    assert plain(found.heuristic) == (
        "genetic",
        {
            "selection": "tournament",
            "crossover": "double-point",
            "mutation": "neighbour",
            "mutation_rate": 0.4,
            "tournament_size": 5,
            "elitism": False,
        },
    )
    assert plain(found.resampling) == ("static", {"runs": 3})
    assert plain(found.stopping) == ("count-movement", {"most": 2, "window": 8})
    assert plain(found.pruning) == ("fixed", {"seconds": 5.0})
    assert {name: list(axes) for name, axes in found.axes.items()} == {"a": ["n"], "b": ["n"]}


def test_resampling() -> None:
    without = SURROGATE.replace("  resampling_schedule: exponential_99\n", "")
    # SHAMan's own default where a file does not say how often at most.
    said = {"share": 0.1, "most": 100}
    assert plain(read_experiment(without).resampling) == ("standard-error", said)
    median = without.replace("dynamic_resampling", "dynamic_resampling_non_parametric")
    assert plain(read_experiment(median).resampling) == ("nonparametric", said)
    promising = median.replace("  percentage: 0.1", "  percentage: 0.1\n  max_resamples: 20")
    promising = promising.replace(
        "  max_resamples", "  allow_resampling_schedule: exponential_9\n  max_resamples"
    )
    assert plain(read_experiment(promising).resampling) == (
        "improved",
        {
            "share": 0.1,
            "most": 20,
            "schedule": "constant",
            "promising": "exponential-9",
            "median": True,
        },
    )


@for_each("text", [SURROGATE, ANNEALING, GENETIC])
def test_what_is_read_makes_the_methods(text: str) -> None:
    found = read_experiment(text)
    space = TuningSpace({"a": Grid.of([1, 2])})
    assert found.heuristic is not None
    make_heuristic(
        found.heuristic.name,
        space,
        1,
        most_runs=None if found.reevaluate else 1,
        max_retries=found.max_retry,
        **found.heuristic.options,
    )
    assert found.start in STARTS
    assert found.aggregation is None or found.aggregation in AGGREGATIONS
    for method, make in (
        (found.resampling, make_resampling),
        (found.stopping, make_stopping),
        (found.pruning, make_pruning),
    ):
        if method is not None:
            make(method.name, **method.options)


def test_every_name_is_one_of_ours() -> None:
    makers: dict[str, Any] = {**HEURISTICS, **RESAMPLINGS, **STOPPINGS}
    assert {*shaman_names.HEURISTICS.values(), *shaman_names.MODELS.values()} <= HEURISTICS.keys()
    assert {*shaman_names.RESAMPLING.values(), "improved"} <= RESAMPLINGS.keys()
    assert {*shaman_names.STOPPING.values()} <= STOPPINGS.keys()
    assert {*shaman_names.STARTS.values()} <= STARTS.keys()
    assert {*shaman_names.SCHEDULES.values()} <= SCHEDULES.keys()
    for name, options in shaman_names.OPTIONS.items():
        assert {*filter(None, options.values())} <= options_of(makers[name]).keys()


def test_an_empty_template_is_read() -> None:
    found = read_experiment(
        "experiment:\n  default_first: True\nbbo:\n  reevaluate: False\npruning:\ncomponents:\n"
    )
    assert found == ExperimentSettings(
        axes={}, reevaluate=False, source="text", notes=("the file names no heuristic",)
    )


def test_what_has_no_meaning_is_noted() -> None:
    text = SURROGATE.replace(
        "  max_retry: 3", "  max_retry: 3\n  pool_size: 4\n  async_optim: True"
    )
    text += "api: {host: localhost, port: 5000}\n"
    assert read_experiment(text).notes == (
        "api is not used; there is no server",
        "pool_size is not used by the methods that are chosen",
        "async_optim has no meaning here",
    )
    mean = SURROGATE.replace("strategies.expected_improvement", "strategies.cma_optimizer")
    found = read_experiment(mean)
    assert "never explores" in found.notes[0]
    assert plain(found.heuristic) == ("surrogate-gp", {"acquisition": "ei"})


@for_each(
    "model, name",
    [
        ("sklearn.ensemble.RandomForestRegressor", "surrogate-forest"),
        ("sklearn.tree.DecisionTreeRegressor", "surrogate-forest"),
        (
            "bbo.heuristics.surrogate_models.regression_models.CensoredGaussianProcesses",
            "surrogate-gp",
        ),
    ],
)
def test_models(model: str, name: str) -> None:
    text = SURROGATE.replace("sklearn.gaussian_process.GaussianProcessRegressor", model)
    method = read_experiment(text).heuristic
    assert method is not None
    assert method.name == name


def test_nothing_is_imported_or_evaluated(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sklearn_trap.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for value in ("sklearn_trap.x", "sklearn.os.system", "numpy.os", "bbo.x", "__import__('os')"):
        text = SURROGATE.replace("numpy.min", value)
        with pytest.raises(
            ParseError, match=r"13: bbo.improvement_estimator: must be one of numpy"
        ):
            read_experiment(text)
    assert "sklearn_trap" not in sys.modules


@for_each(
    "old, new, message",
    [
        (
            "surrogate_model\n",
            "bayes\n",
            "4: bbo.heuristic: must be one of surrogate_model, .* got",
        ),
        ("numpy.median\npruning", "numpy.std\npruning", "20: noise_reduction.estimator: must be"),
        ("  estimator: numpy.median\n", "", "19: .*fitness_aggregation: needs an estimator"),
        ("exponential_99", "linear", "18: .*resampling_schedule: must be one of constant"),
        ("percentage: 0.1", "percentage: much", "17: .*percentage: must be a number"),
        ("percentage: 0.1", "percentage: .inf", "17: .*percentage: must be a finite number"),
        ("percentage: 0.1", "percentages: 1", "17: .* is not a key .* did you mean percentage"),
        ("max_iteration: 150", "max_iteration: 0", "8: .*must be a whole number from 1; got 0"),
        ("max_iteration: 150", "time_out: 0", "8: bbo.time_out: must be seconds above 0; got 0"),
        ("initial_sample_size: 10", "initial_sample_size: 1.5", "7: .*whole number from 0"),
        ("reevaluate: false", "reevaluate: 3", "9: bbo.reevaluate: must be true or false; got 3"),
        ("duration: numpy.median", "duration: fast", "22: pruning.max_step_duration: must be sec"),
        ("duration: numpy.median", "duration: 0", "22: pruning.max_step_duration: must be sec"),
        ("duration: numpy.median", "duration: [1]", "22: pruning.max_step_duration: must be sec"),
        ("max_step_duration", "max_step", "22: pruning.max_step: is not a key .* did you mean"),
        ("default_first: True", "default: True", "2: experiment.default: is not a key"),
        ("      max: 20\n", "      max: 0\n", "26: components.tool.n.min: min of a grid .* max 0"),
        ("      step: 5\n", "", "25: components.tool.n: must have step beside min, max; add it"),
        ("step: 5", "stride: 5", "28: components.tool.n.stride: is not a key of a parameter's"),
        ("multiplicative", "log", "must be additive or multiplicative; got 'log'"),
        ("      - slow\n      - fast\n", "", "34: components.tool.mode: must give its values"),
        ("components:", "component:", "23: component: is not a key .* did you mean components"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line_and_key(old: str, new: str, message: str) -> None:
    assert old in SURROGATE
    with pytest.raises(ParseError, match=f"^text:.*{message}"):
        read_experiment(SURROGATE.replace(old, new, 1))


def test_pruning_by_the_default_run_needs_one() -> None:
    text = SURROGATE.replace("duration: numpy.median", "duration: default")
    assert plain(read_experiment(text).pruning) == ("default", {})
    with pytest.raises(ParseError, match="needs the default run; set default_first: true"):
        read_experiment(text.replace("default_first: True", "default_first: False"))


@given(st.sampled_from([SURROGATE, ANNEALING, GENETIC]), st.integers(0, 900), st.binary(max_size=4))
def test_damaged_files_end_in_settings_or_in_a_message(text: str, at: int, junk: bytes) -> None:
    try:
        found = read_experiment(text.encode()[:at] + junk + text.encode()[at + 3 :] + b"\n")
    except WorkbenchError:
        return
    assert isinstance(found, ExperimentSettings)
