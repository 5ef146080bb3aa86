"""The study of measured replicas: fit, sensitivity, posterior, and the largest number of nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from bokeh.models import LayoutDOM

from workbench.uq.collectives import MeasuredValidation, validate_measured

pytestmark = pytest.mark.usefixtures("short_chains")


def test_a_gather_on_fugaku_is_predicted_from_fewer_nodes(tmp_path: Path) -> None:
    study = validate_measured("gather", "default-binomial", draws=200)
    assert {test.nodes for test in study.tests} == {8, 64, 512}
    assert {test.nodes for test in study.fewer.tests} == {8, 64}
    assert study.held()[0.9] >= 0.8
    predicted = study.predict(4096, (16, 16, 16), [131072])
    assert predicted.tests == ("4096 nodes (16x16x16), 131072 B",)
    # Not quicker than all blocks over the bandwidth of a link, 6.8 GB/s.
    assert predicted.median[0] > 4095 * 131072 / 6.8e9
    assert len(study.sobol().first) == len(study.to_frame()) == len(study.tests)
    assert isinstance(study.plot(), LayoutDOM)
    read = MeasuredValidation.load(study.save(tmp_path / "study.json"))
    assert repr(read) == repr(study)
    assert "default-binomial" in repr(study)
