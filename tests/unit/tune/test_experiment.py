"""Experiments: what they run, in which order, and how they end."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.tune.tuned import SPACE, bowl, noisy
from workbench.errors import ParameterError, StudyError
from workbench.tasks import Task, submit
from workbench.tune import (
    Choices,
    Configuration,
    Grid,
    OSULatency,
    TuningSpace,
    WallTime,
    read_components,
    read_experiment,
)
from workbench.tune.experiment import Experiment, tune
from workbench.tune.result import TuningResult
from workbench.tune.runners import Function, Local, Replay, RunnerError
from workbench.tune.settings import Chosen, SearchSettings


def sequence(result: TuningResult) -> list[tuple[Any, ...]]:
    """Return what follows from the seed alone."""
    return [
        (r.number, dict(r.run.configuration), r.run.status, r.run.initial, r.run.resampled)
        for r in result.records
    ]


def test_a_component_is_tuned_by_running_it() -> None:
    result = tune(bowl(), heuristic="surrogate-forest", budget=24, seed=1)
    assert result.counts == {"complete": 24, "pruned": 0, "failed": 0}
    first = result.records[0]
    assert first.run.configuration == {"A": 9, "B": 5}
    assert first.stdout.startswith("value 6")
    assert first.returncode == 0
    assert first.node_list
    assert result.best_value <= 4.0
    assert result.improvement > 0.8
    assert result.stop_reason == "the budget of 24 runs is spent"
    assert 0.0 < result.explored <= 24 / 60


@for_each("heuristic", ["random", "annealing", "genetic", "tpe", "surrogate-gp"])
def test_the_same_seed_gives_the_same_runs(heuristic: str) -> None:
    options: dict[str, Any] = {"heuristic": heuristic, "resampling": "improved", "budget": 26}
    one = tune(SPACE, Function(noisy), seed=3, **options)
    two = tune(SPACE, Function(noisy), seed=3, **options)
    other = tune(SPACE, Function(noisy), seed=4, **options)
    assert [record.run for record in one.records] == [record.run for record in two.records]
    assert sequence(one) != sequence(other)


def test_a_search_that_knows_the_best_goes_on_elsewhere() -> None:
    space = TuningSpace({"a": Grid.of(range(8)), "b": Grid.of(range(8))})

    def bowl_with_noise(configuration: Configuration, rng: np.random.Generator) -> float:
        a, b = (float(str(configuration[name])) for name in "ab")
        return (1.0 + 0.1 * (a - 3) ** 2 + 0.05 * (b - 5) ** 2) * (1.0 + 0.01 * rng.normal())

    # Without a limit 40 of these 60 runs are of one configuration, too few of which differ.
    result = tune(space, Function(bowl_with_noise), resampling=("static", {"runs": 2}), budget=60)
    assert result.best_configuration == {"a": 3, "b": 5}
    assert max(Counter(result.history.keys).values()) == SearchSettings().most_runs == 5
    assert result.importance().keys() == {"a", "b"}


def test_initial_points_come_first_and_the_default_before_them() -> None:
    result = tune(SPACE, Function(noisy), heuristic="random", initial=7, budget=12)
    assert [record.run.initial for record in result.records] == [True] * 7 + [False] * 5
    assert result.records[0].run.configuration == SPACE.default
    assert len(set(result.history.keys[:7])) == 7
    without = tune(SPACE, Function(noisy), initial=7, default_first=False, budget=7)
    assert SPACE.key(SPACE.defaults) not in without.history.keys


def test_repeats_follow_what_they_repeat_and_count_in_the_budget() -> None:
    result = tune(
        SPACE,
        Function(noisy),
        heuristic="random",
        resampling=("static", {"runs": 3}),
        budget=25,
        most_runs=1,
    )
    later = result.records[10:]
    assert len(later) == 15
    for at in range(0, 15, 3):
        group = later[at : at + 3]
        assert len({result.space.key(r.run.configuration) for r in group}) == 1
        assert [r.run.resampled for r in group] == [False, True, True]


def test_a_run_beyond_its_limit_is_pruned_and_its_time_is_a_bound() -> None:
    result = tune(
        SPACE,
        Function(lambda c: (noisy(c, _still())[1],) * 2),
        target=WallTime(),
        heuristic="random",
        pruning=("estimator", {"estimator": 0.2}),
        budget=40,
    )
    pruned = [r for r in result.records if r.run.status == "pruned"]
    assert pruned
    assert not any(r.run.initial for r in pruned)
    for record in pruned:
        assert record.state == "timeout"
        assert record.run.value == record.limit_s == record.run.seconds
    assert result.history.aggregated().censored.any()


def test_a_pruned_run_of_another_target_says_nothing_of_it() -> None:
    result = tune(
        SPACE, Function(noisy), heuristic="random", pruning=("fixed", {"seconds": 2.0}), budget=40
    )
    pruned = [r for r in result.records if r.run.status == "pruned"]
    assert pruned
    assert all(math.isnan(r.run.value) for r in pruned)


def test_programs_are_pruned_while_they_run() -> None:
    component = read_components(
        "components: {naps: {command: [sh, -c, 'sleep $NAP'], parameters: "
        "{NAP: {type: float, default: 0.1, env_var: true, values: [0.1, 30.0]}}}}\n\n"
    )["naps"]
    result = tune(
        component,
        heuristic="exhaustive",
        initial=1,
        budget=9,
        most_runs=1,
        pruning=("default", {"factor": 3.0}),
    )
    assert [r.run.status for r in result.records] == ["complete", "pruned"]
    assert 0.3 <= result.records[1].run.seconds < 10.0
    assert result.stop_reason == "the heuristic has nothing more to propose"


def test_a_limit_for_all_runs_holds_for_initial_ones_too() -> None:
    result = tune(SPACE, Function(lambda c: (1.0, 9.0)), timeout_s=5.0, budget=20, initial=4)
    assert result.counts["pruned"] == 4
    assert result.stop_reason == "none of the first 4 runs gave a value"


def test_failed_runs_are_reported_and_do_not_end_an_experiment() -> None:
    def brittle(configuration: Configuration) -> float:
        if configuration["c"] == "x":
            raise ValueError("x is broken")
        return noisy(configuration, _still())[0]

    result = tune(SPACE, Function(brittle), heuristic="random", budget=30)
    failed = [r for r in result.records if r.run.status == "failed"]
    assert failed
    assert {r.run.configuration["c"] for r in failed} == {"x"}
    assert "x is broken" in failed[0].reason
    assert result.best_configuration["c"] == "y"


def test_an_output_that_is_not_what_the_target_reads_fails_the_run() -> None:
    result = tune(bowl(), target=OSULatency(size=8), budget=3, initial=3)
    assert result.counts["failed"] == 3
    assert "OSU benchmark" in result.records[0].reason
    assert math.isnan(result.best_value)
    assert math.isnan(result.improvement)


def test_a_status_that_is_not_zero_fails_the_run() -> None:
    component = read_components(
        "components: {bad: {command: [sh, -c, 'echo broken >&2; exit 3'], parameters: "
        "{A: {type: int, default: 1, env_var: true, values: [1, 2]}}}}\n\n"
    )["bad"]
    result = tune(component, budget=2, initial=2)
    assert result.records[0].reason == "it ended with status 3: broken"


def test_stopping_rules_end_it_with_their_reason() -> None:
    result = tune(
        SPACE,
        Function(noisy),
        heuristic="random",
        stopping=(
            "any",
            {"rules": [{"name": "time", "seconds": 100.0}, {"name": "improvement", "window": 500}]},
        ),
        budget=500,
    )
    assert len(result) < 500
    assert result.stop_reason.startswith("the runs took 1")
    assert sum(r.run.seconds for r in result.records[:-1]) < 100.0


def test_more_is_better_where_the_target_says_so() -> None:
    from workbench.tune import Computed

    most = Computed(lambda output: 0.0, minimise=False, unit="B/s", name="rate")
    result = tune(SPACE, Function(lambda c: c["a"]), target=most, heuristic="random", budget=40)
    assert result.best_value == 9.0
    assert result.unit == "B/s"
    assert result.label == "rate"
    assert result.improvement == 0.0


def test_conditional_and_absent_values_reach_the_function_as_none() -> None:
    space = TuningSpace(
        {"kind": Choices(("ring", "tree")), "fan": Grid.of([2, 4]), "opt": Choices((None, "on"))},
        conditions={"fan": "kind == 'tree'"},
    )
    seen: list[Configuration] = []
    tune(space, Function(lambda c: seen.append(c) or 1.0), heuristic="exhaustive", initial=0)
    assert len(seen) == space.size == 6
    assert {c["fan"] for c in seen if c["kind"] == "ring"} == {None}


def test_several_runs_at_once_are_all_taken_down() -> None:
    result = tune(bowl(0.05), heuristic="annealing", budget=22, jobs=3, resampling="static")
    assert sorted(r.number for r in result.records) == list(range(22))
    assert result.counts["complete"] == 22
    # Each of the three sees to the repeats of its own.
    later = [r for r in result.records if not r.run.initial]
    assert sum(r.run.resampled for r in later) >= 5


def test_stop_ends_the_runs_in_flight_and_forgets_them() -> None:
    task = Task(lambda record: task.stop() if record.number == 3 else None)
    component = bowl(0.05)
    with Experiment(component, heuristic="random", budget=50) as experiment:
        result = experiment.run(task=task)
        assert len(result) == 4
        assert result.stop_reason == ""
        assert not experiment.running
        whole = experiment.run(8)
    assert [r.number for r in whole.records] == list(range(8))
    straight = tune(component, heuristic="random", budget=8)
    assert sequence(whole) == sequence(straight)


def test_a_job_tells_how_far_it_is_and_can_be_stopped() -> None:
    with Experiment(bowl(0.02), heuristic="random", budget=500) as experiment:
        job = submit(experiment.run)
        while job.progress.done < 3:
            assert not job.finished
        assert job.progress.total == 500
        value, _, configuration = job.progress.message.partition(": ")
        assert float(value.split()[0]) > 0
        assert configuration.startswith(f"{next(iter(experiment.space.axes))}=")
        assert isinstance(job.partial, TuningResult)
        with pytest.raises(StudyError, match="running already"):
            experiment.run()
        job.stop()
        result = job.result(timeout=60)
    assert 3 <= len(result) < 500
    assert job.state == "stopped"


def test_a_result_speaks() -> None:
    text = repr(tune(SPACE, Function(noisy), heuristic="random", budget=30))
    assert text.startswith("TuningResult(space-random-seed0: 30 runs, best value ")
    assert "better than the default" in text
    assert "of the space explored" in text


def test_settings_of_shaman_become_an_experiment() -> None:
    settings = read_experiment(
        "experiment: {default_first: true}\n"
        "bbo:\n  heuristic: simulated_annealing\n  initial_sample_size: 4\n  max_iteration: 6\n"
        "  initial_temperature: 10\n"
        "  cooldown_function: bbo.heuristics.simulated_annealing.cooldown_functions."
        "multiplicative_schedule\n  cooling_factor: 3\n  time_out: 100\n"
        "components:\n  bowl:\n    A: {min: 0, max: 8, step: 2, step_type: additive}\n"
    )
    with Experiment.from_file(settings, bowl(), seed=2) as experiment:
        assert experiment.settings.initial == 5
        assert experiment.settings.heuristic.name == "annealing"
        assert experiment.settings.stopping.name == "time"
        assert list(experiment.space.axes) == ["A"]
        assert len(experiment.run()) == 11


def test_what_is_not_accepted_is_reported_before_anything_runs() -> None:
    with pytest.raises(ParameterError, match="needs a component"):
        Experiment(SPACE, Local())
    with pytest.raises(ParameterError, match=r"speed is not a setting .*; did you mean seed"):
        tune(SPACE, Function(noisy), speed=3)
    with pytest.raises(ParameterError, match="heuristic must be one of"):
        tune(SPACE, Function(noisy), heuristic="magic")
    with pytest.raises(ParameterError, match="resampling must be a name"):
        tune(SPACE, Function(noisy), resampling=3)
    with pytest.raises(ParameterError, match="jobs must be a whole number of at least 1"):
        Experiment(SPACE, Function(noisy), jobs=0)
    for option in ("most_runs", "seed", "name"):
        with pytest.raises(ParameterError, match=f"{option} is not an option of surrogate-gp"):
            tune(SPACE, Function(noisy), heuristic=("surrogate-gp", {option: 1}))
    with pytest.raises(ParameterError, match="jobs must be at most 1024"):
        Experiment(SPACE, Function(noisy), jobs=10**30)
    with pytest.raises(ParameterError, match="initial must be at most 10000"):
        tune(SPACE, Function(noisy), initial=10**30)
    with pytest.raises(ParameterError, match="default run needs a default"):
        space = TuningSpace({"a": Grid.of([1, 2])})
        tune(space, Function(noisy), pruning="default")
    with pytest.raises(ParameterError, match="name an application"):
        from workbench.tune import components

        settings_only = components()["open-mpi-allreduce"]
        with Experiment(settings_only) as experiment:
            experiment.run()


def test_a_program_that_is_not_there_ends_it_with_an_error() -> None:
    component = read_components(
        "components: {bad: {command: [no-such-program], parameters: "
        "{A: {type: int, default: 1, env_var: true, values: [1, 2]}}}}\n\n"
    )["bad"]
    with pytest.raises(RunnerError, match="no-such-program must be a program"):
        tune(component, budget=2, initial=2)


def test_settings_are_checked_and_go_through_json() -> None:
    settings = SearchSettings(resampling={"name": "static", "runs": 2}, heuristic=("tpe", {}))
    assert settings.resampling == Chosen("static", {"runs": 2})
    assert SearchSettings(**settings.to_dict()) == settings
    assert str(settings.resampling) == "static(runs=2)"
    with pytest.raises(ParameterError, match="a store can hold"):
        SearchSettings(pruning=("fixed", {"seconds": object()}))
    with pytest.raises(ParameterError, match="timeout_s"):
        SearchSettings(timeout_s=math.inf)


def test_replaying_takes_no_time_and_spends_that_which_was_recorded() -> None:
    class Table:
        name = "table"
        recording = ""
        checksum = ""
        space = SPACE

        def repeats(self, configuration: Configuration) -> Any:
            import numpy as np

            value, _ = noisy(configuration, _still())
            return np.array([value]), np.array([1000.0])

    result = tune(SPACE, Replay(Table()), heuristic="random", budget=30)
    assert result.seconds == 30_000.0


def _still() -> Any:
    """A source of randomness that gives the middle."""

    class Still:
        def standard_normal(self) -> float:
            return 0.0

    return Still()


def test_numbers_of_numpy_count_as_python_s() -> None:
    settings = SearchSettings(
        heuristic=("genetic", {"mating_pool": np.int64(4)}),
        budget=np.int64(24),
        seed=np.int64(3),
        timeout_s=np.float64(60),
    )
    assert settings == SearchSettings(
        heuristic=("genetic", {"mating_pool": 4}), budget=24, seed=3, timeout_s=60.0
    )
    assert type(settings.seed) is int
    first = tune(bowl(), budget=12, seed=np.int64(3), jobs=np.int64(1))
    assert sequence(first) == sequence(tune(bowl(), budget=12, seed=3))
    for wrong in (True, np.bool_(True), 3.0, np.float64(3), "3"):
        with pytest.raises(ParameterError, match="seed must be a whole number"):
            SearchSettings(seed=wrong)
