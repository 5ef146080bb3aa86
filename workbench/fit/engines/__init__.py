"""How a fit searches: engines that propose values and learn what came of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.fit.engines.cma_es import CMAESEngine
from workbench.fit.engines.engine import Engine, FitProblem, Points, Values
from workbench.fit.engines.least_squares import LeastSquaresEngine
from workbench.fit.engines.tpe import TPEEngine, UnivariateTPEEngine
from workbench.suggestions import did_you_mean

ENGINES: Mapping[str, Callable[[FitProblem], Engine]] = MappingProxyType(
    {
        "tpe": TPEEngine,
        "tpe-univariate": UnivariateTPEEngine,
        "cma-es": CMAESEngine,
        "least-squares": LeastSquaresEngine,
    }
)
"""The constructor of each engine, by name; ``tpe``, the paper's, is first."""

DEFAULT_ENGINE = "least-squares"
"""What a fit uses unless it is told otherwise.

On the shipped machines it finds in 300 trials what TPE finds in 2000 (notebook 02, *Engines*).
"""

PAPER_ENGINE = "tpe"
"""What Suetterlein et al. use; the names of stored studies leave it out."""

RANK_ENGINES = ("tpe", "tpe-univariate")
"""The engines that use only the order of the losses, not their values."""


def find_engine(engine: str) -> str:
    """Return the name of an engine if there is one of that name.

    Args:
        engine: a name in ``ENGINES``, in either case.

    Raises:
        ParameterError: there is none.
    """
    name = str(engine).lower()
    if name not in ENGINES:
        raise ParameterError(
            f"engine must be one of {', '.join(ENGINES)}; got {engine!r}"
            f"{did_you_mean(engine, ENGINES)}",
            key="engine",
        )
    return name


__all__ = [
    "DEFAULT_ENGINE",
    "ENGINES",
    "PAPER_ENGINE",
    "RANK_ENGINES",
    "Engine",
    "FitProblem",
    "Points",
    "Values",
    "find_engine",
]
