from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.errors import DatasetError, ParameterError
from workbench.fit import rmspe_by_target
from workbench.fit.baseline import baseline, baseline_table, best_effort, gain
from workbench.measure.datasheet import datasheet
from workbench.models import SNAPPR

MACHINE = "azure-hb96v3-hdr"


def test_the_sheet_is_typed_in_and_the_rest_left_at_its_defaults() -> None:
    sheet = datasheet(MACHINE)
    model = best_effort(MACHINE)
    assert model == best_effort(sheet)
    rates = {model.injection_bandwidth, model.nic_bandwidth, model.link_bandwidth}
    assert rates | {model.logp.bandwidth} == {sheet.link_rate.value}
    assert model.injection_latency == model.logp.out_in_latency == sheet.nic_latency.value
    assert model.ejection_latency == model.logp.hop_latency == sheet.switch_latency.value
    plain = SNAPPR()
    assert (model.mtu, model.nic_credits, model.mpi) == (plain.mtu, plain.nic_credits, plain.mpi)
    assert model.negligible_size == 256
    assert best_effort(MACHINE, negligible_size=0).negligible_size == 0


@for_each("machine", tuple(datasets.list()))
def test_every_machine_has_a_baseline_that_runs(machine: str) -> None:
    manual = baseline(machine)
    assert manual.machine == machine
    assert manual.rmspe == rmspe_by_target(manual.simulated, manual.measured)
    # The makers' figures leave out the software: no machine comes near, and none is as slow.
    assert manual.rmspe["joint"] > 100
    assert manual.percent_error()["latency"].iloc[0] < 0


def test_a_part_of_a_curve_is_compared_at_its_own_sizes() -> None:
    curve = datasets.load(MACHINE)
    part = baseline(curve.select(curve.sizes > 8192, ">8192"))
    assert part.machine == MACHINE
    assert len(part.simulated) == 9
    assert part.rmspe["joint"] < baseline(MACHINE).rmspe["joint"]
    assert "assumed: switch latency" in repr(part)
    assert part.plot() is not None


def test_what_tuning_gains_is_a_ratio_of_errors() -> None:
    manual = SimpleNamespace(rmspe={"joint": 500.0, "latency": 40.0, "bandwidth": math.nan})
    tuned = SimpleNamespace(rmspe={"joint": 100.0, "latency": 0.0, "bandwidth": 3.0})
    assert gain(manual, tuned) == 5
    assert gain(manual, tuned, "latency") == math.inf
    assert math.isnan(gain(manual, tuned, "bandwidth"))
    with pytest.raises(ParameterError, match="joint, latency, bandwidth; got 'both'"):
        gain(manual, tuned, "both")


def test_the_table_puts_fits_beside_the_baselines() -> None:
    alone = baseline_table()
    assert alone.index.tolist() == list(datasets.list())
    assert alone.columns.tolist() == [
        "manual_joint",
        "manual_latency",
        "manual_bandwidth",
        "assumed",
    ]
    tuned = SimpleNamespace(rmspe={"joint": 50.0, "latency": 10.0, "bandwidth": 70.0})
    table = baseline_table({MACHINE: tuned})
    assert table.index.tolist() == [MACHINE]
    row = table.loc[MACHINE]
    assert (
        row["manual_joint"]
        == alone.loc[MACHINE, "manual_joint"]
        == baseline(MACHINE).rmspe["joint"]
    )
    assert row["gain_joint"] == row["manual_joint"] / 50
    assert row["gain_bandwidth"] == row["manual_bandwidth"] / 70
    assert row["assumed"] == "switch_latency"
    with pytest.raises(DatasetError, match="no dataset is named 'elsewhere'"):
        baseline_table({"elsewhere": tuned})
