"""What a fit starts from: the paper's SNAPPR by name, a model of the user's as it is."""

from __future__ import annotations

import pytest

from workbench import datasets
from workbench.errors import ParameterError
from workbench.fit import DEFAULT_ENGINE, FitStudy, fit, model_to_fit
from workbench.models import SNAPPR, LogP, Protocol
from workbench.study import ModelChoice

EAGER0 = "node.app1.mpi.max_vshort_msg_size"
MACHINE = "azure-hb96v3-hdr"


def test_snappr_by_name_has_no_protocol_for_small_messages() -> None:
    for model in (
        model_to_fit("snappr"),
        model_to_fit("SNAPPR", "repaired"),
        FitStudy(MACHINE, "snappr").result().model,
        ModelChoice(model="snappr").build(),
    ):
        assert model.get(EAGER0) == 0
    assert model_to_fit("snappr", "repaired").variant == "repaired"


def test_a_model_and_the_other_names_stay_as_they_are() -> None:
    own = SNAPPR()
    assert model_to_fit(own) is own
    assert FitStudy(MACHINE, own).result().model.get(EAGER0) == 512
    assert model_to_fit("logp") == LogP()
    assert model_to_fit("protocol") == Protocol()
    with pytest.raises(ParameterError, match="did you mean snappr"):
        model_to_fit("snaper")


def test_eager0_can_be_held_by_a_value_of_the_users() -> None:
    study = FitStudy(MACHINE, "snappr", fixed={EAGER0: "512B"})
    assert study.result().model.get(EAGER0) == 512


def test_a_fit_says_that_the_machines_eager_threshold_is_not_stated() -> None:
    found = fit(datasets.load(MACHINE), "logp", trials=3)
    assert found.engine == DEFAULT_ENGINE == "least-squares"
    assert "eager threshold of the machine's MPI is not stated; 8192B is assumed" in found.unstated
    assert found.unstated in found._repr_html_().replace("&#x27;", "'")
    known = fit(MACHINE, "logp", trials=3, fixed={"mpi.max_eager_msg_size": "16KiB"})
    assert known.unstated == ""
    # Protocol's threshold is fitted.
    assert fit(MACHINE, "protocol", trials=3).unstated == ""
