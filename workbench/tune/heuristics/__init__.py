"""Heuristics that propose the next configuration, each by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from workbench.checks import whole
from workbench.tune.heuristics.annealing import Annealing
from workbench.tune.heuristics.baselines import ExhaustiveSearch, RandomSearch
from workbench.tune.heuristics.cma_es import CMAES
from workbench.tune.heuristics.genetic import Genetic
from workbench.tune.heuristics.heuristic import Capped, Heuristic, Proposal
from workbench.tune.heuristics.surrogate import ForestSurrogate, GaussianProcessSurrogate
from workbench.tune.heuristics.tpe import TPE
from workbench.tune.rules_by_name import Makers, make_by_name
from workbench.tune.space.space import TuningSpace

HEURISTICS: Makers[Heuristic] = Makers(
    "heuristic",
    Heuristic.ask,
    {
        "surrogate-gp": GaussianProcessSurrogate,
        "surrogate-forest": ForestSurrogate,
        "annealing": Annealing,
        "genetic": Genetic,
        "tpe": TPE,
        "cma-es": CMAES,
        "random": RandomSearch,
        "exhaustive": ExhaustiveSearch,
    },
    given=("space", "seed"),
)
"""The constructors of heuristics, called with a space and a seed; ``register`` adds your own."""

DEFAULT_HEURISTIC = "surrogate-gp"

_NEW_BY_THEMSELVES = ("surrogate-gp", "surrogate-forest", "exhaustive")


def make_heuristic(
    name: str,
    space: TuningSpace,
    seed: int = 0,
    *,
    most_runs: int | None = None,
    max_retries: int = 5,
    **options: Any,
) -> Heuristic:
    """Return a heuristic.

    Args:
        name: a name in ``HEURISTICS``, in either case.
        space: what is searched.
        seed: makes the search repeatable, a whole number of 0 or more.
        most_runs: a configuration that ran so often is not proposed again; None for no limit.
        max_retries: how often the heuristic is asked for another one, before that is drawn at
            random.
        options: values by name, as ``options_of(HEURISTICS[name])`` returns them.

    Raises:
        ParameterError: there is no such heuristic or option, or a value cannot be, or the space
            is not one the heuristic can search.
    """
    whole(seed, "seed", 0)
    whole(max_retries, "max_retries", 0)
    key = str(name).lower()
    makers: Mapping[str, Callable[..., Heuristic]] = HEURISTICS
    if key == "surrogate-gp":
        makers = {**HEURISTICS, key: partial(GaussianProcessSurrogate, most_runs=most_runs)}
    heuristic = make_by_name("heuristic", makers, name, options, space, seed)
    if most_runs is None or key in _NEW_BY_THEMSELVES:
        return heuristic
    return Capped(heuristic, space, seed, max_retries, most_runs)


__all__ = ["DEFAULT_HEURISTIC", "HEURISTICS", "Heuristic", "Proposal", "make_heuristic"]
