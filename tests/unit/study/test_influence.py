from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, qmc, spearmanr

from tests.cases import for_each
from workbench import tasks
from workbench.errors import ParameterError
from workbench.fit import SearchSpace
from workbench.models import SNAPPR, LogP
from workbench.simulate import simulate_osu
from workbench.study.influence import Influence, influence
from workbench.tasks import Progress, Task

SIZES = (1, 512, 8192, 1 << 22)


@pytest.fixture(scope="module")
def logp() -> Influence:
    return influence("logp", SIZES, 64)


def only(key: str, model: LogP | SNAPPR) -> SearchSpace:
    space = SearchSpace.for_model(model)
    for other in space.keys:
        space = space.fix(other) if other != key else space
    return space


def test_one_parameter_alone_is_followed_by_rank_wherever_it_costs_time() -> None:
    # The only thing that varies, and every byte and message pays for it: ranks are exactly its own.
    slow = influence("logp", SIZES, 16, space=only("switch.hop_latency", LogP()))
    assert slow.spearman[0, 0] == pytest.approx(1.0, abs=1e-12)  # sums of 16 products
    fast = influence("logp", SIZES, 16, space=only("node.nic.injection.bandwidth", LogP()))
    assert fast.spearman[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_the_coefficients_are_those_of_the_positions_and_the_logarithms() -> None:
    space = SearchSpace.for_model(LogP())
    found = influence("logp", (1, 1 << 20), 16, space=space, seed=3)
    seen: dict[str, list[float]] = {"position": [], "latency": [], "bandwidth": []}
    key = "node.nic.injection.latency"
    for point in qmc.Sobol(len(space), rng=3).random_base2(4):
        values = {d.key: d.at(x) for d, x in zip(space.dimensions, point, strict=True)}
        curve = simulate_osu(LogP().with_values(values), (1, 1 << 20))
        seen["position"].append(space[key].position(values[key]))
        seen["latency"].append(float(np.log(curve.latency_s[1])))
        seen["bandwidth"].append(float(np.log(curve.bandwidth_Bps[1])))
    row = found.keys.index(key)
    for at, benchmark in enumerate(("latency", "bandwidth")):
        pearson = pearsonr(seen["position"], seen[benchmark]).statistic
        spearman = spearmanr(seen["position"], seen[benchmark]).statistic
        # 16 terms; a position is a logarithm of an exponential of itself
        assert found.pearson[row, at, 1] == pytest.approx(pearson, abs=1e-9)
        assert found.spearman[row, at, 1] == pytest.approx(spearman, abs=1e-9)


def test_latencies_decide_small_messages_and_bandwidths_large_ones(logp: Influence) -> None:
    assert logp.strongest(1)[0].endswith("latency")
    assert logp.strongest(1 << 22, "bandwidth")[0] == "node.nic.injection.bandwidth"
    assert abs(logp.spearman[logp.keys.index("switch.bandwidth"), 0, 0]) < logp.chance
    waning = np.abs(logp.spearman[logp.keys.index("switch.out_in_latency"), 0])
    assert waning[-1] < waning[0]


def test_the_numbers_do_not_depend_on_the_threads(logp: Influence) -> None:
    alone = influence("logp", SIZES, 64, workers=1)
    many = influence("logp", SIZES, 64, workers=7)
    for name in ("pearson", "spearman", "design"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(logp, name))
        np.testing.assert_array_equal(getattr(many, name), getattr(logp, name))
    other = influence("logp", SIZES, 64, seed=1)
    assert not np.array_equal(other.pearson, logp.pearson)


def test_what_would_deadlock_is_left_out_counted_and_reported_to_correlate_parameters() -> None:
    # No message of 64 B fills a packet, so credits always hold one.
    small = influence("snappr", (1, 64), 128)
    assert (small.used, small.refused) == (128, 0)
    assert small.tied == ()
    large = influence("snappr", (1, 1 << 18), 128)
    assert large.used + large.refused == 128
    assert large.refused > 20
    assert any("node.nic.mtu" in pair for pair in large.tied)
    assert all(abs(value) > max(0.2, large.chance) for *_, value in large.tied)


def test_a_parameter_without_effect_has_no_correlation() -> None:
    space = only("switch.credits", SNAPPR()).with_bounds("switch.credits", 10**6, 10**7)
    found = influence("snappr", (1,), 8, space=space)
    assert np.isnan(found.pearson).all()
    assert np.isnan(found.spearman).all()
    with pytest.raises(ParameterError, match="no correlation is known at 1 B"):
        found.strongest(1)


def test_a_stop_keeps_what_is_done() -> None:
    def report(now: Progress) -> None:
        if now.done >= 5:
            task.stop()

    task = Task(report)
    found = influence("logp", SIZES, 256, workers=1, task=task)
    assert 5 <= found.used < 20
    assert found.configurations == 256
    assert (task.progress.done, task.progress.total) == (found.used, 256)


def test_a_job_shows_how_far_it_is_and_ends_with_the_same() -> None:
    job = tasks.submit(influence, "logp", SIZES, 64, workers=2)
    result = job.result(timeout=60)
    assert job.progress.done == job.progress.total == 64
    assert job.partial is result
    np.testing.assert_array_equal(result.pearson, influence("logp", SIZES, 64).pearson)


def test_a_job_that_is_looked_at_before_anything_is_done_has_no_numbers_yet() -> None:
    task = Task()
    task.stop()
    nothing = influence("logp", SIZES, 64, task=task)
    assert (nothing.used, nothing.refused) == (0, 0)
    assert np.isnan(nothing.spearman).all()
    assert nothing.tied == ()
    assert "0 configurations" in repr(nothing)


def test_the_frame_has_a_row_for_each_parameter_benchmark_and_size(logp: Influence) -> None:
    frame = logp.to_frame()
    assert len(frame) == len(logp.keys) * 2 * len(SIZES)
    one = frame[
        (frame.parameter == "switch.bandwidth")
        & (frame.benchmark == "bandwidth")
        & (frame.size_bytes == 8192)
    ]
    expected = logp.spearman[logp.keys.index("switch.bandwidth"), 1, 2]
    assert one.spearman.item() == expected
    assert "LogP, 5 parameters, 4 sizes, 64 configurations, 0 refused" in repr(logp)
    assert "switch.hop_latency" in logp._repr_html_()


@for_each(
    "arguments, words",
    [
        ({"configurations": 2}, "configurations must be a whole number of at least 3"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"model": "tcp"}, "model must be one of"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        influence(**{"model": "logp", "sizes": SIZES, **arguments})  # type: ignore[arg-type]


def test_unknown_sizes_benchmarks_and_methods_name_the_known_ones(logp: Influence) -> None:
    with pytest.raises(ParameterError, match="one of the 4 simulated, 1 to 4194304 B; got 3"):
        logp.strongest(3)
    with pytest.raises(ParameterError, match="latency, bandwidth"):
        logp.strongest(1, "jitter")
    with pytest.raises(ParameterError, match="pearson, spearman"):
        logp.correlations("kendall")
