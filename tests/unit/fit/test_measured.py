"""What may be passed to a fit: measurements in four shapes, parameters to be held, and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit import fit
from workbench.measure import OSUCurve
from workbench.models import LogP


def test_a_measurement_is_a_curve_a_name_a_file_or_a_table(tmp_path: Path) -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    path = tmp_path / "mine.csv"
    curve.to_csv(path)
    whole = fit(curve, "logp", trials=4)
    for given in ("azure-hb96v3-hdr", path, str(path), curve.to_frame()):
        result = fit(given, "logp", trials=4)
        np.testing.assert_allclose(result.losses, whole.losses, rtol=1e-9)
    indexed = curve.to_frame().set_index("size_bytes")[["latency_us"]]
    assert fit(indexed, "logp", target="latency", trials=3).points == len(curve)


@for_each(
    "given, words",
    [
        ("azure-hb96v3", "did you mean azure-hb96v3-hdr.*there is no file"),
        (3, "must be an OSUCurve, a machine, the name of one.*got int"),
        (
            pd.DataFrame({"n": [1], "t": [2]}),
            "no table of a benchmark",
        ),
    ],
)
def test_what_is_no_measurement_is_answered_with_what_is(given: Any, words: str) -> None:
    with pytest.raises(WorkbenchError, match=words):
        fit(given, "logp", trials=2)


@for_each(
    "name",
    [
        "model",
        "loss",
        "target",
        "trials",
        "seed",
        "engine",
        "space",
        "fixed",
        "task",
    ],
)
@for_each("text", ["many", ""])
def test_a_text_where_there_must_be_none_is_refused_by_name(name: str, text: str) -> None:
    options: dict[str, Any] = {"trials": 2, name: text}
    with pytest.raises(ParameterError, match=name):
        fit(datasets.load("azure-hb96v3-hdr"), **options)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    result = fit("azure-hb96v3-hdr", "logp", trials=np.int64(3), seed=np.int32(2))
    assert result.seed == 2 and result.trials == 3


def test_what_is_fixed_is_held_and_recorded(tmp_path: Path) -> None:
    fixed = {"hop_latency": "40ns", "switch.bandwidth": None}
    where = tmp_path / "fits.db"
    result = fit("azure-hb96v3-hdr", "logp", trials=6, fixed=fixed, study=where)
    assert result.model.get("switch.hop_latency") == pytest.approx(40e-9)
    assert result.model.get("switch.bandwidth") == LogP().get("switch.bandwidth")
    assert set(result.space.keys).isdisjoint(("switch.hop_latency", "switch.bandwidth"))
    assert result.fixed_texts()["switch.hop_latency"] == "40ns"
    assert "held" in result._repr_html_()
    again = fit("azure-hb96v3-hdr", "logp", trials=6, fixed=fixed, study=where)
    np.testing.assert_array_equal(again.losses, result.losses)
    assert len(fit("azure-hb96v3-hdr", "logp", trials=2, study=where).space) == 5
    overlay = fit("azure-hb96v3-hdr", "snappr", trials=2, fixed={"negligible_size": 512})
    assert "switch.logp.bandwidth" in overlay.space.keys
    with pytest.raises(ParameterError, match="did you mean hop_latency"):
        fit("azure-hb96v3-hdr", "logp", trials=2, fixed={"hop_latencie": 1e-6})


@pytest.mark.usefixtures("toy")
def test_points_may_be_left_out_of_a_fit(machine: OSUCurve) -> None:
    whole = fit(machine, "snappr", trials=3)
    result = fit(machine, "snappr", trials=3, without=["4KiB", 8192])
    assert set(machine.sizes) - set(result.measured.sizes) == {4096, 8192}
    assert result.points == whole.points - 4
    assert (whole.left_out, "without 4 KiB, 8 KiB: 21 of 23 sizes" in result.left_out) == ("", True)
    assert result.left_out in result._repr_html_()
    again = fit(machine, "snappr", trials=3, without="4 KiB, 8KiB")
    assert again.measured.sizes.tolist() == result.measured.sizes.tolist()
    kept = [machine.sizes.tolist().index(size) for size in result.measured.sizes]
    np.testing.assert_array_equal(result.measured.latency_s, machine.latency_s[kept])
    with pytest.raises(ParameterError, match=r"must name some of the measured sizes .*; got 5 B;"):
        fit(machine, "snappr", trials=3, without=[5])
    with pytest.raises(ParameterError, match="and leave others"):
        fit(machine, "snappr", trials=3, without=machine.sizes.tolist())
