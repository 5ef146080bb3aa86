"""What can be asked of all machines that a posterior allows, and one of LogGPS parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.protocol import ProtocolRegime
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult, Uncertainty
from workbench.uq.posterior import Posterior
from workbench.uq.pushed import PosteriorOrigin

if TYPE_CHECKING:
    import pandas as pd

_CARRY = "workbench.uq.carry"
_LETTERS = ("L", "o", "g", "G", "O")  # on which times depend continuously


class CarriedOn(ABC):
    """A posterior of machines: run times, tolerances, comparisons and crossovers follow from it.

    The methods are the functions of ``workbench.uq.carry``.
    """

    makespan = Uncertainty("makespan", _CARRY)
    tolerance = Uncertainty("tolerance", _CARRY)
    latency_curve = Uncertainty("latency_curve", _CARRY)
    compare = Uncertainty("compare", _CARRY)
    crossover = Uncertainty("crossover", _CARRY)

    @property
    @abstractmethod
    def verdict(self) -> str:
        """One sentence on whether the draws may be trusted."""

    @property
    @abstractmethod
    def trusted(self) -> bool:
        """Whether they may."""

    @property
    @abstractmethod
    def drawn_from(self) -> str:
        """What the posterior is of, and to what data, for a caption."""

    @abstractmethod
    def machine(self, regime: ProtocolRegime = "eager") -> LogGPS:
        """Return the LogGPS parameters of the fitted model, or of the most probable draw.

        Args:
            regime: whose costs to take, where the model has regimes.

        Raises:
            ParameterError: the model has no LogGPS parameters.
        """

    @abstractmethod
    def machines(
        self, n: int = 100, seed: int = 0, regime: ProtocolRegime = "eager"
    ) -> tuple[LogGPS, ...]:
        """Return LogGPS parameters drawn from the posterior.

        Args:
            n: how many.
            seed: makes the choice repeatable.
            regime: whose costs to take, where the model has regimes.

        Raises:
            ParameterError: the model has no LogGPS parameters, or an argument is not accepted.
        """

    def origin(self, title: str, simulated: str, python: str) -> PosteriorOrigin:
        """Return the title, verdict and provenance that a result of this posterior shows.

        Args:
            title: of the question.
            simulated: what was simulated.
            python: the line that gives the result, with ``posterior`` as the posterior's name.
        """
        provenance = Provenance("simulated", f"{simulated}, {self.drawn_from}")
        return PosteriorOrigin(title, self.verdict, self.trusted, provenance, python)


@dataclass(frozen=True, eq=False, repr=False)
class LogGPSPosterior(StoredResult, CarriedOn):
    """Machines that measured times allow: a posterior whose parameters are those of LogGPS.

    Attributes:
        posterior: of ``calibrate``, of parameters called L, o, g, G or O.
        model: has the values of the others.
        measured: what the posterior was calibrated to, for captions.

    Raises:
        ParameterError: a parameter of the posterior is not one of LogGPS.
    """

    posterior: Posterior
    model: LogGPS
    measured: str

    plot = Drawing("plot_posterior", lambda one: one.posterior)

    def __post_init__(self) -> None:
        if wrong := [name for name in self.posterior.names if name not in _LETTERS]:
            raise ParameterError(
                f"the posterior must be of {', '.join(_LETTERS)}; got {', '.join(wrong)}",
                key="posterior",
            )

    @property
    def verdict(self) -> str:
        """One sentence on whether the chains may be trusted."""
        return self.posterior.verdict

    @property
    def trusted(self) -> bool:
        """Whether they may."""
        return self.posterior.converged

    @property
    def drawn_from(self) -> str:
        """What the posterior is of, and to what data, for a caption."""
        letters = ", ".join(self.posterior.names)
        return f"{letters} drawn from the posterior of a calibration to {self.measured}"

    def machine(self, regime: ProtocolRegime = "eager") -> LogGPS:
        """Return the parameters of the most probable draw.

        Args:
            regime: has no effect: LogGPS has none.
        """
        values = self.posterior.parameters.reshape(-1, len(self.posterior.names))
        return self._with(values[int(np.argmax(self.posterior.log_posterior))])

    def machines(
        self, n: int = 100, seed: int = 0, regime: ProtocolRegime = "eager"
    ) -> tuple[LogGPS, ...]:
        """Return parameters drawn from the posterior.

        Args:
            n: how many.
            seed: makes the choice repeatable.
            regime: has no effect: LogGPS has none.

        Raises:
            ParameterError: an argument is not accepted, or there are no draws.
        """
        return tuple(map(self._with, self.posterior.sample(n, seed)[0]))

    def to_frame(self) -> pd.DataFrame:
        """Return the posterior's summary: a row per parameter, with its interval and R-hat."""
        return self.posterior.summary()

    def __repr__(self) -> str:
        return (
            f"LogGPSPosterior({', '.join(self.posterior.names)} by {self.measured}; {self.verdict})"
        )

    def _with(self, values: FloatArray) -> LogGPS:
        return self.model.replace(**dict(zip(self.posterior.names, values.tolist(), strict=True)))
