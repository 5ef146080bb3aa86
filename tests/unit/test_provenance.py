from __future__ import annotations

import json

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.provenance import ORIGINS, Provenance


def test_the_caption_has_origin_title_statistic_licence_and_source() -> None:
    provenance = Provenance(
        "published",
        "Azure HB96rs_v3, HDR InfiniBand",
        source="doi:10.1/2",
        licence="MIT",
        details={"statistic": "median over 84 runs", "mpi": "HPC-X"},
    )
    assert provenance.caption() == (
        "published: Azure HB96rs_v3, HDR InfiniBand; median over 84 runs (MIT, doi:10.1/2)"
    )
    assert Provenance("simulated", "SNAPPR").caption() == "simulated: SNAPPR"


def test_provenance_goes_through_json() -> None:
    provenance = Provenance("emulated", "a bridge", "x", "CC0-1.0", {"delay": "50 us"})
    assert Provenance.from_dict(json.loads(json.dumps(provenance.to_dict()))) == provenance


def test_an_unknown_origin_lists_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=", ".join(ORIGINS)):
        Provenance("guessed", "x")  # type: ignore[arg-type]


@for_each("missing", ["origin", "title"])
def test_a_record_without_a_needed_field_names_it(missing: str) -> None:
    record = {"origin": "measured", "title": "x"}
    del record[missing]
    with pytest.raises(ParameterError, match=f"must name its {missing}"):
        Provenance.from_dict(record)
