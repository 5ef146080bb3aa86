"""Runs that are calls of a function, and runs that were recorded."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.tune import Configuration, Grid, Invocation, TuningSpace
from workbench.tune.runners import Function, Replay, Runner, RunOutput, RunRequest


class Table:
    """Three configurations; the first has repeats that differ."""

    name = "table"
    recording = ""
    checksum = ""
    space = TuningSpace({"a": Grid.of([0, 1, 2])})

    def repeats(self, configuration: Configuration) -> tuple[np.ndarray, np.ndarray]:
        if configuration["a"] == 2:
            raise KeyError("a=2")
        if configuration["a"] == 1:
            return np.array([5.0]), np.array([0.5])
        return np.array([1.0, 2.0, 6.0]), np.array([10.0, 20.0, 60.0])


def run(
    runner: Runner, configuration: Configuration, seed: int = 0, limit: float | None = None
) -> RunOutput:
    output = runner.start(RunRequest(configuration, Invocation(()), seed, limit)).poll()
    assert output is not None
    return output


def test_a_function_gives_value_and_seconds() -> None:
    output = run(Function(lambda c: (c["a"] * 2, 0.25)), {"a": 3})
    assert (output.value, output.seconds, output.state) == (6.0, 0.25, "completed")
    assert run(Function(lambda c: c["a"]), {"a": 3}).value == 3.0


def test_a_function_with_noise_repeats_it_with_the_seed() -> None:
    runner = Function(lambda c, rng: rng.random())
    assert run(runner, {}, 1).value == run(runner, {}, 1).value
    assert run(runner, {}, 1).value != run(runner, {}, 2).value


def test_a_function_that_says_its_seconds_is_ended_at_its_limit() -> None:
    output = run(Function(lambda c: (1.0, 5.0)), {}, limit=2.0)
    assert (output.state, output.seconds, output.value) == ("timeout", 2.0, None)


def test_a_function_that_raises_gives_a_failed_run() -> None:
    output = run(Function(lambda c: c["b"], name="f"), {"a": 3})
    assert output.state == "failed"
    assert output.reason == "f must return a number; KeyError: 'b'"
    assert run(Function(lambda c: (1.0, -1.0)), {}).state == "failed"


def test_a_replayed_run_is_one_of_those_recorded() -> None:
    runner = Replay(Table())
    drawn = {
        (run(runner, {"a": 0}, seed).value, run(runner, {"a": 0}, seed).seconds)
        for seed in range(40)
    }
    assert drawn == {(1.0, 10.0), (2.0, 20.0), (6.0, 60.0)}


def test_without_noise_it_is_the_median() -> None:
    output = run(Replay(Table(), noise=False), {"a": 0})
    assert (output.value, output.seconds) == (2.0, 20.0)
    assert run(Replay(Table(), noise=False), {"a": 0}, limit=15.0).state == "timeout"


def test_injected_noise_has_the_spread_it_says() -> None:
    runner = Replay(Table(), "normal", scale=0.2)
    values = np.array([run(runner, {"a": 1}, seed).value for seed in range(2000)])
    # The logarithm's spread; its own error over 2000 draws is 1.6 %.
    assert np.std(np.log(values / 5.0)) == pytest.approx(0.2, rel=0.08)
    heavy = Replay(Table(), "heavy-tails", scale=0.0)
    tail = np.array([run(heavy, {"a": 1}, seed).value for seed in range(2000)]) / 5.0
    assert np.mean(tail > 1.0) == pytest.approx(0.1, abs=0.03)
    # A Pareto distribution of shape 2: one in four stalled runs takes at least twice as long.
    assert np.mean(tail[tail > 1.0] > 2.0) == pytest.approx(0.25, abs=0.1)


def test_what_was_not_recorded_fails() -> None:
    output = run(Replay(Table()), {"a": 2})
    assert output.state == "failed"
    assert "not recorded" in output.reason


def test_unknown_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match="noise must be one of measured, none"):
        Replay(Table(), "loud")
    with pytest.raises(ParameterError, match="scale must be 0 or more"):
        Replay(Table(), "normal", scale=-1.0)
