from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import FitResult, fit
from workbench.fit.to_machine import to_machine, write_machines
from workbench.fit.trust.bootstrap import intervals
from workbench.machines import Machine
from workbench.models import LogGPS, Protocol

MACHINE = "azure-hb96v3-hdr"


@pytest.fixture(scope="module")
def fitted() -> FitResult:
    return fit(datasets.load(MACHINE), Protocol(), trials=5)


def test_a_machine_holds_the_fit_and_says_how_it_was_made(fitted: FitResult) -> None:
    machine = to_machine(fitted, {"eager.latency": (1e-6, 2e-6)})
    assert machine.name == MACHINE
    assert machine.model == fitted.model
    assert machine.rmspe == fitted.rmspe
    assert isinstance(fitted.model, Protocol)
    assert machine.loggps == LogGPS.from_protocol(fitted.model, errors=machine.errors)
    assert machine.loggps.errors["L"] > 0
    told = machine.provenance.details
    assert (told["engine"], told["trials"], told["seed"], told["loss"]) == (
        "least-squares",
        "5",
        "0",
        "rmsre",
    )
    assert told["measured"] == fitted.measured.provenance.caption()
    assert machine.provenance.origin == "simulated"


def test_machines_are_written_by_one_call(fitted: FitResult, tmp_path: Path) -> None:
    folder = tmp_path / "machines"
    ends = {"eager.latency": (1e-6, 2e-6)}
    made = write_machines(folder, [MACHINE], intervals=lambda _: ends, trials=5)
    assert [path.name for path in folder.iterdir()] == [f"{MACHINE}.json"]
    whole = to_machine(fitted, ends)
    assert Machine.load(folder / f"{MACHINE}.json").to_dict() == made[0].to_dict()
    # the curve of a shipped machine stays in its dataset
    assert made[0].to_dict() == dataclasses.replace(whole, measured=None).to_dict()
    assert Machine.load(whole.save(tmp_path / "one.json")).curve.to_dict() == (
        fitted.measured.to_dict()
    )


def test_refits_give_their_percentiles_and_are_named(fitted: FitResult) -> None:
    drawn = intervals(fitted, draws=2, trials=3)
    machine = to_machine(fitted, drawn)
    assert set(machine.intervals) == set(fitted.values)
    low, _, high = drawn.percentiles("eager.latency")
    assert machine.intervals["eager.latency"] == (low, high)
    assert "2 refits" in machine.provenance.details["intervals"]


def test_a_curve_without_spread_has_no_intervals(tmp_path: Path) -> None:
    def unasked(_: FitResult) -> dict[str, tuple[float, float]]:
        raise AssertionError

    machine = "alps-gh200-slingshot11"
    (made,) = write_machines(tmp_path, [machine], intervals=unasked, trials=1)
    assert made.intervals == {}


def test_other_models_have_loggps_of_the_measured_curve_and_failed_fits_none(
    fitted: FitResult,
) -> None:
    machine = to_machine(fit(fitted.measured, "logp", trials=1), name="mine")
    assert machine.name == "mine"
    latency = machine.loggps.L + 2 * machine.loggps.o
    assert math.isclose(latency, fitted.measured.latency_s[0])
    failed = dataclasses.replace(fitted, success=False, message="stopped after 0 of 5 trials")
    with pytest.raises(ParameterError, match="did not: stopped after 0 of 5 trials"):
        to_machine(failed)
