"""What a fit starts from where its caller names a model only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workbench.fit.segments import segments_of
from workbench.measure import OSUCurve
from workbench.models import MODELS, NetworkModel, Protocol, Value, find_model

DEFAULT_MODEL = "protocol"
"""The model that a fit takes where none is named.

On the shipped machines it leaves 3 to 13 % (RMSPE, ``machines.load(name).rmspe``), SNAPPR 37 to
156 % (``study.shipped("message-regimes").to_frame()``, all sizes, both benchmarks, loss rmsre).
"""

FITTED_WITH: Mapping[str, Mapping[str, Value]] = MappingProxyType(
    {"snappr": MappingProxyType({"node.app1.mpi.max_vshort_msg_size": 0})}
)
"""Values other than the model's own that a fit holds, SI, by model and key.

Section III-C of Suetterlein et al. turns SNAPPR's protocol for small messages off, which is
SST/macro's EAGER0. On each of the shipped machines the fit is better without it: the studies
``message-regimes`` and ``message-regimes-eager0``, compared in notebook 02.
"""


def model_to_fit(
    model: str | NetworkModel, variant: str = "", curve: OSUCurve | None = None
) -> NetworkModel:
    """Return the model that a fit of this name starts from; a model itself stays as it is.

    Args:
        model: name of a model, or a model.
        variant: of the model of that name; its usual one where it is empty.
        curve: what it will be fitted to; where it shows a fourth regime of message sizes, the
            model ``protocol`` gets one, whose limit is then searched too.

    Raises:
        ParameterError: there is no such model.
    """
    if isinstance(model, NetworkModel):
        return model
    found = find_model(model)
    named = MODELS[found.name](variant=variant) if variant else found
    if isinstance(named, Protocol) and curve is not None and segments_of(curve).shows(4):
        return named.with_values({"middle.limit": int(curve.sizes[-1])})
    return named.with_values(FITTED_WITH.get(found.name, {}))
