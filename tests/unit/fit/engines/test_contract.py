"""What every engine owes a fit: bounds, types, repeatability, and going on as if never stopped."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from workbench.errors import ParameterError, StudyError
from workbench.fit import ENGINES, LOSSES, FitResult, FitStudy, SearchSpace, TrialReport, fit
from workbench.fit.engines import DEFAULT_ENGINE, PAPER_ENGINE
from workbench.fit.store import read_study
from workbench.measure import OSUCurve
from workbench.models import SNAPPR
from workbench.tasks import Task

# It is "tpe" with another argument of Optuna's sampler, and without values to begin with.
LEFT_TO_DEEP = "tpe-univariate"

pytestmark = [
    pytest.mark.usefixtures("toy"),
    pytest.mark.parametrize(
        "engine",
        [pytest.param(e, marks=pytest.mark.deep if e == LEFT_TO_DEEP else ()) for e in ENGINES],
    ),
]

MTU = "node.nic.mtu"
SHORT = [("rmsre", "latency"), ("mae", "both")]


@pytest.fixture(scope="module")
def fits() -> dict[str, FitResult]:
    return {}


@pytest.fixture
def whole(machine: OSUCurve, toy: None, engine: str, fits: dict[str, FitResult]) -> FitResult:
    """A fit of 60 trials, which is made once for each engine."""
    if engine not in fits:
        fits[engine] = fit(machine, "snappr", engine=engine, trials=60)
    return fits[engine]


def test_a_fit_finds_a_better_model_than_it_began_with(whole: FitResult, engine: str) -> None:
    assert whole.losses[0] > 2 * whole.best_loss
    assert whole.best_loss == whole.losses.min()
    assert whole.engine == engine


def test_what_is_tried_lies_within_the_bounds_whole_numbers_are_whole_and_fixed_values_stay(
    machine: OSUCurve, engine: str
) -> None:
    fixed = "node.nic.injection.latency"
    model = SNAPPR()
    space = SearchSpace.for_model(model).with_bounds(MTU, 1000, 1010).fix(fixed, 1e-6)
    seen: list[TrialReport] = []
    # Least squares draws other starts only after its first descents.
    trials = 400 if engine == "least-squares" else 60
    result = fit(machine, model, engine=engine, space=space, trials=trials, task=Task(seen.append))
    for report in seen:
        assert set(report.values) == set(space.keys)
        assert fixed not in report.values
        for dimension in space.dimensions:
            value = report.values[dimension.key]
            assert dimension.low <= value <= dimension.high
            assert isinstance(value, int) is dimension.whole
    assert len({report.values[MTU] for report in seen}) > 2
    assert result.model.get(fixed) == 1e-6


def test_the_first_trial_is_the_model_itself_where_it_is_not_random(
    machine: OSUCurve, engine: str
) -> None:
    seen: list[TrialReport] = []
    model = SNAPPR().with_values({"node.nic.injection.latency": 321.123456789e-9})
    fit(machine, model, engine=engine, trials=1, task=Task(seen.append))
    own = {k: model.get(k) for k in SearchSpace.for_model(model).keys}
    assert (seen[0].values == own) is (engine != "tpe-univariate")


def test_the_same_seed_gives_the_same_fit_and_another_another(
    machine: OSUCurve, whole: FitResult, engine: str
) -> None:
    again = fit(machine, "snappr", engine=engine, trials=60)
    assert again.losses.tolist() == whole.losses.tolist()
    assert again.model == whole.model
    # The descents of least squares draw from the seed only after those from the first values.
    trials = 400 if engine == "least-squares" else 25
    one, other = (
        fit(machine, "snappr", engine=engine, trials=trials, seed=seed) for seed in (0, 4)
    )
    assert one.losses.tolist() != other.losses.tolist()


def test_a_stopped_and_resumed_fit_goes_on_as_if_it_had_not_been(
    machine: OSUCurve, whole: FitResult, tmp_path: Path, engine: str
) -> None:
    path = tmp_path / "fits.db"
    for end in (1, 7, 30, 31):
        part = fit(machine, "snappr", engine=engine, trials=end, study=path)
        assert part.losses.tolist() == whole.losses[:end].tolist()
    rest = fit(machine, "snappr", engine=engine, trials=60, study=path)
    assert rest.losses.tolist() == whole.losses.tolist()
    assert rest.model == whole.model


def test_a_fit_goes_on_after_a_stop_without_a_file(
    machine: OSUCurve, whole: FitResult, engine: str
) -> None:
    task = Task(lambda report: task.stop() if report.done == 33 else None)
    running = FitStudy(machine, "snappr", engine=engine)
    running.run(60, task=task)
    assert running.done == 33
    assert running.run(60).losses.tolist() == whole.losses.tolist()


def test_a_study_with_enough_trials_is_read_and_nothing_is_simulated_for_the_engine(
    machine: OSUCurve, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fits.db"
    first = fit(machine, "snappr", engine=engine, trials=12, study=path)
    with FitStudy(machine, "snappr", engine=engine, study=path) as study:
        monkeypatch.setattr(study, "_evaluate", None)
        again = study.run(12)
    assert again.losses.tolist() == first.losses.tolist()


def test_configurations_that_are_refused_are_survived(machine: OSUCurve, engine: str) -> None:
    # credits below the mtu are refused: over these bounds about every second configuration
    space = (
        SearchSpace.for_model(SNAPPR())
        .with_bounds("node.nic.credits", "1KB", "16MB")
        .with_bounds(MTU, "1KB", "16MB")
    )
    model = SNAPPR(mtu=8000, nic_credits=8000)
    result = fit(machine, model, engine=engine, space=space, trials=60)
    assert result.success
    assert 0 < result.invalid < 60
    assert result.best_loss < result.losses[0]


def test_a_fit_in_which_everything_is_refused_is_a_result(machine: OSUCurve, engine: str) -> None:
    space = (
        SearchSpace.for_model(SNAPPR())
        .with_bounds("node.nic.credits", "1KB", "2KB")
        .with_bounds(MTU, "4KB", "8KB")
    )
    result = fit(machine, "snappr", engine=engine, space=space, trials=30)
    assert not result.success
    assert (result.invalid, result.best_loss) == (30, math.inf)


def test_one_parameter_is_enough(machine: OSUCurve, engine: str) -> None:
    space = SearchSpace.for_model(SNAPPR())
    for key in space.keys:
        if key != "node.nic.injection.latency":
            space = space.fix(key)
    result = fit(machine, "snappr", engine=engine, space=space, trials=40)
    assert result.best_loss < result.losses[0]


# An engine is told the number. Least squares alone looks at more: whether the loss is relative, and
# which points the target has.
@pytest.mark.parametrize(
    ("loss", "target"),
    [
        pytest.param(
            loss,
            target,
            marks=() if (loss, target) in SHORT else pytest.mark.deep,
        )
        for loss in LOSSES
        for target in ("both", "latency", "bandwidth")
    ],
)
def test_every_loss_and_target_can_be_searched(
    machine: OSUCurve, engine: str, loss: str, target: str
) -> None:
    result = fit(machine, "snappr", engine=engine, loss=loss, target=target, trials=30)
    assert result.best_loss < result.losses[0]


def test_the_study_is_named_after_the_engine_and_kept_from_others(
    machine: OSUCurve, tmp_path: Path, engine: str
) -> None:
    path = tmp_path / "fits.db"
    name = FitStudy(machine, "snappr", engine=engine).name
    suffix = "" if engine == PAPER_ENGINE else f"-{engine}"
    assert name == f"toy-snappr-rmsre-both-seed0{suffix}"
    fit(machine, "snappr", engine=engine, trials=3, study=path)
    stored = read_study(path, name)
    assert stored is not None
    assert ("engine" in stored.problem) is (engine != PAPER_ENGINE)
    other = next(e for e in ENGINES if e != engine)
    with pytest.raises(StudyError, match="engine was"):
        fit(machine, "snappr", engine=other, trials=3, study=path, name=name)


def test_the_result_says_which_engine_and_is_read_back_equal(
    whole: FitResult, tmp_path: Path, engine: str
) -> None:
    assert (f" by {engine}, " in repr(whole)) is (engine != DEFAULT_ENGINE)
    assert f"60 {engine} trials" in whole.provenance.caption()
    again = FitResult.load(whole.save(tmp_path / "fit.json"))
    assert again == whole
    assert again.engine == engine


def test_names_are_taken_in_either_case(machine: OSUCurve, engine: str) -> None:
    assert FitStudy(machine, "snappr", engine=engine.upper()).engine == engine
    with pytest.raises(
        ParameterError, match="tpe, tpe-univariate, cma-es, least-squares; got 'anneal'"
    ):
        FitStudy(machine, "snappr", engine="anneal")


def test_the_same_values_are_proposed_until_they_are_answered(
    machine: OSUCurve, engine: str
) -> None:
    study = FitStudy(machine, "snappr", engine=engine)
    study.run(20)
    search = study._search
    proposed = search.propose()
    search.propose()["node.nic.mtu"] = -1  # what is handed out is the caller's own
    assert search.propose() == proposed
