"""A steady-state genetic algorithm: one child a step, all that was run is the population.

SHAMan, section 3.1. The weights of a probabilistic selection are of losses in standard deviations,
so that they mean the same in every unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from workbench.checks import number, whole
from workbench.tune.heuristics.heuristic import Proposal, generator, random_neighbour
from workbench.tune.history import FloatArray, History
from workbench.tune.rules_by_name import one_of
from workbench.tune.space.space import Configuration, TuningSpace, Value

Genes = list[Value | None]

_MOST_REDRAWS = 20  # chosen: where rules allow one in ten, all fail one time in 8 (0.9**20)

SELECTIONS = ("tournament", "probabilistic")
"""How a parent is drawn from the mating pool."""


class Genetic:
    """A steady-state genetic algorithm: two parents, a crossover, perhaps a mutation."""

    def __init__(
        self,
        space: TuningSpace,
        seed: int = 0,
        *,
        selection: str = "tournament",  # a name in SELECTIONS
        crossover: str = "single-point",  # a name in CROSSOVERS
        mutation: str = "uniform",  # a name in MUTATIONS
        mutation_rate: float = 0.5,  # probability that a child mutates
        mating_pool: int = 100,  # the number of the best that can become parents
        tournament_size: int = 10,  # candidates drawn for a tournament
        elitism: bool = False,  # whether the best is always a parent
        max_repeats: int = 5,  # crossovers tried while the child equals a parent
    ) -> None:
        one_of(selection, SELECTIONS, "selection")
        one_of(crossover, CROSSOVERS, "crossover")
        one_of(mutation, MUTATIONS, "mutation")
        whole(mating_pool, "mating_pool", 2)
        whole(tournament_size, "tournament_size", 1)
        whole(max_repeats, "max_repeats", 1)
        number(mutation_rate, "mutation_rate", 0.0, 1.0)
        self._space = space
        self._seed = seed
        self._selection = selection
        self._cross = CROSSOVERS[crossover]
        self._mutate = MUTATIONS[mutation]
        self._rate = mutation_rate
        self._pool = mating_pool
        self._size = tournament_size
        self._elitism = bool(elitism)
        self._repeats = max_repeats

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a child of two configurations; a random one until two have not failed."""
        rng = generator(self._seed, history.step, attempt)
        table = history.aggregated()
        rows = np.flatnonzero(~table.failed)
        if len(rows) < 2:
            return self._space.sample(rng)
        losses = table.ranked[rows]
        order = np.argsort(losses, kind="stable")[: self._pool]
        pool = [table.configurations[row] for row in rows[order]]
        return self._child(pool, losses[order], rng)

    def _child(
        self, pool: list[Configuration], losses: FloatArray, rng: np.random.Generator
    ) -> Proposal:
        child: Proposal | None = None
        parents: list[Proposal] = []
        for _ in range(self._repeats):
            first = 0 if self._elitism else self._pick(np.arange(len(pool)), losses, rng)
            others = np.delete(np.arange(len(pool)), first)
            second = self._pick(others, losses, rng)
            parents = [dict(pool[first]), dict(pool[second])]
            child = self._repaired(self._mix(parents, rng), parents)
            if child is not None and rng.random() < self._rate:
                child = self._mutate(self._space, child, rng)
            if child is not None and child not in parents and self._space.contains(child):
                return child
        for _ in range(self._repeats):
            mutant = self._mutate(self._space, child or pool[0], rng)
            if mutant not in parents:
                break
        return mutant

    def _pick(self, rows: np.ndarray, losses: FloatArray, rng: np.random.Generator) -> int:
        if self._selection == "tournament":
            drawn = rng.choice(rows, min(self._size, len(rows)), replace=False)
            return int(drawn.min())  # the pool is in order
        spread = float(losses.std()) or 1.0
        weights = 1.0 / ((losses[rows] - losses[rows].min()) / spread + 1.0)
        return int(rng.choice(rows, p=weights / weights.sum()))

    def _mix(self, parents: list[Proposal], rng: np.random.Generator) -> Genes:
        first, second = ([parent[name] for name in self._space.names] for parent in parents)
        return self._cross(first, second, rng)

    def _repaired(self, genes: Genes, parents: list[Proposal]) -> Proposal | None:
        """Return the child, unfit values replaced by the parents'; None if a rule forbids it."""
        values: Proposal = {}
        for name, value in zip(self._space.names, genes, strict=True):
            axis = self._space.axes[name]
            options = [value, *(parent[name] for parent in parents), axis.first()]
            fits = [each for each in options if axis.contains(each)]
            values[name] = fits[0]
        child = self._space.canonical(values)
        return child if self._space.contains(child) else None


def redraw(space: TuningSpace, configuration: Configuration, rng: np.random.Generator) -> Proposal:
    """Return another allowed configuration, one parameter redrawn; any if rules forbid that."""
    here = space.canonical(configuration)
    for _ in range(_MOST_REDRAWS):
        other = space.sample(rng)
        values = {name: other[name] if value is None else value for name, value in here.items()}
        name = space.names[int(rng.integers(len(space)))]
        values[name] = space.axes[name].sample(rng)
        for each, value in values.items():
            if value is None and not space.axes[each].contains(None):
                values[each] = space.axes[each].sample(rng)
        found = space.canonical(values)
        if found != here and space.contains(found):
            return found
    return space.sample(rng)


def single_point(first: Genes, second: Genes, rng: np.random.Generator) -> Genes:
    """Return the first parent's genes up to a random cut and the second's after it."""
    if len(first) < 2:
        return list(first)
    cut = int(rng.integers(1, len(first)))
    return [*first[:cut], *second[cut:]]


def double_point(first: Genes, second: Genes, rng: np.random.Generator) -> Genes:
    """Return the first parent's genes with the second's between two random cuts."""
    if len(first) < 3:
        return single_point(first, second, rng)
    low, high = np.sort(rng.choice(np.arange(1, len(first)), 2, replace=False))
    return [*first[:low], *second[low:high], *first[high:]]


CROSSOVERS: Mapping[str, Callable[[Genes, Genes, np.random.Generator], Genes]] = MappingProxyType(
    {"single-point": single_point, "double-point": double_point}
)
"""How the genes of two parents are mixed, by name."""

MUTATIONS: Mapping[str, Callable[[TuningSpace, Configuration, np.random.Generator], Proposal]]
MUTATIONS = MappingProxyType({"uniform": redraw, "neighbour": random_neighbour})
"""How a child mutates, by name."""
