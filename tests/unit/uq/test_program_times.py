"""Programs as what is calibrated: their run times against replays, and a known machine found."""

import numpy as np
import pytest

from tests.cases import for_each
from workbench import programs, uq
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.simulate import replay

MODEL = LogGPS(L="2us", o="0.5us", g="0us", G="0.1ns/B", O=0.0, S="64KiB")


def test_times_are_those_of_replays():
    times = uq.ProgramTimes(["cg-64", "ring-pipeline-64"], MODEL, ("L", "G"))
    points = times.box(2.0).sample(3, seed=1)
    found = times(points)
    assert found.shape == (3, 2)
    for row, (latency, gap) in zip(found, points, strict=True):
        machine = MODEL.replace(L=latency, G=gap)
        for value, name in zip(row, times.tests, strict=True):
            assert value == replay(programs.load(name), machine).makespan_s


def test_semantics_are_those_of_the_replay():
    times = uq.ProgramTimes(["cg-64"], MODEL, ("L",), semantics="llamp")
    (found,) = times([[3e-6]])
    machine = MODEL.replace(L=3e-6)
    assert found[0] == replay("cg-64", machine, semantics="llamp").makespan_s


def test_a_calibration_finds_the_machine_that_ran_the_programs():
    times = uq.ProgramTimes(["cg-64", "ring-pipeline-64"], MODEL, ("L", "G"))
    box = times.box(1.6)
    truth = np.array([[2.4e-6, 0.12e-9]])
    points = uq.design(box, 24, seed=1)
    surrogate = uq.fit_surrogate(box, points, times(points))
    rng = np.random.default_rng(5)
    measured = [t * rng.lognormal(0.0, 0.01, 12) for t in times(truth)[0]]
    replicas = uq.Replicas.of(measured, times.tests)
    posterior = uq.calibrate(surrogate, replicas, noise="relative", draws=2000, seed=1)
    assert posterior.converged
    low, high = np.quantile(posterior.parameters.reshape(-1, 2), (0.005, 0.995), axis=0)
    assert (low < truth[0]).all() and (truth[0] < high).all()
    assert (high / low < 1.2).all()


@for_each(
    "arguments, message",
    [
        (([], MODEL), "programs must hold at least one"),
        ((["cg-64"], MODEL, ("L", "S")), "parameters must be among L, o, g, G, O; got 'S'"),
        ((["cg-64"], MODEL, ()), "parameters must name one or more"),
        ((["cg-64", "cg-64"], MODEL), "'cg-64' is there twice"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        uq.ProgramTimes(*arguments)


def test_ranges_and_points_are_checked():
    times = uq.ProgramTimes(["cg-64"], MODEL, ("L", "g"))
    with pytest.raises(ParameterError, match="g must be above 0 to be multiplied"):
        times.box()
    with pytest.raises(ParameterError, match="factor must be above 1; got 1"):
        times.box(1.0)
    with pytest.raises(
        ParameterError, match=r"points must have 2 columns, L, g; got shape \(1, 3\)"
    ):
        times([[1e-6, 0.0, 0.0]])
