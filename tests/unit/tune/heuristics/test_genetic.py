from __future__ import annotations

from collections import Counter

import numpy as np

from tests.cases import for_each
from workbench.tune.heuristics.genetic import Genetic, double_point, redraw, single_point
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({name: Grid(tuple(range(10))) for name in "abcd"})


def history_of(*rows: tuple[tuple[int, int, int, int], float]) -> History:
    history = History(SPACE)
    for values, loss in rows:
        history.append(dict(zip("abcd", values, strict=True)), loss)
    return history


def children(history: History, count: int = 200, **options) -> list[tuple]:
    found = []
    for seed in range(count):
        child = Genetic(SPACE, seed, **options).ask(history)
        assert child is not None
        found.append(tuple(child.values()))
    return found


def test_a_single_cut_falls_everywhere_between_two_genes() -> None:
    rng = np.random.default_rng(0)
    first, second = [0] * 5, [1] * 5
    found = {tuple(single_point(first, second, rng)) for _ in range(100)}
    assert found == {(0,) * cut + (1,) * (5 - cut) for cut in (1, 2, 3, 4)}
    assert single_point([0], [1], rng) == [0]


def test_two_cuts_leave_both_ends_to_the_first_parent() -> None:
    rng = np.random.default_rng(0)
    first, second = [0] * 5, [1] * 5
    found = {tuple(double_point(first, second, rng)) for _ in range(200)}
    expected = {
        (0,) * low + (1,) * (high - low) + (0,) * (5 - high)
        for low in range(1, 5)
        for high in range(low + 1, 5)
    }
    assert found == expected
    assert double_point([0, 0], [1, 1], rng) == [0, 1]


@for_each("crossover", ["single-point", "double-point"])
def test_without_mutation_every_gene_is_a_parents(crossover: str) -> None:
    history = history_of(((1, 1, 1, 1), 1.0), ((2, 2, 2, 2), 2.0), ((3, 3, 3, 3), 3.0))
    for child in children(history, 60, mutation_rate=0.0, crossover=crossover):
        assert set(child) <= {1, 2, 3} and len(set(child)) == 2


def test_better_ones_are_parents_more_often() -> None:
    history = history_of(*(((i, i, i, i), float(i)) for i in range(10)))
    for options in (
        {"selection": "tournament", "tournament_size": 4},
        {"selection": "probabilistic"},
    ):
        genes = Counter(gene for c in children(history, mutation_rate=0.0, **options) for gene in c)
        assert genes[0] > genes[9]
        assert genes[0] + genes[1] + genes[2] > genes[7] + genes[8] + genes[9]


def test_the_mating_pool_and_elitism_limit_who_is_a_parent() -> None:
    history = history_of(*(((i, i, i, i), float(i)) for i in range(10)))
    options = {"mutation_rate": 0.0, "selection": "probabilistic"}
    pool = {gene for child in children(history, mating_pool=3, **options) for gene in child}
    assert pool == {0, 1, 2}
    assert all(0 in child for child in children(history, elitism=True, **options))


def test_losses_in_other_units_weigh_the_same() -> None:
    rows = [((i, i, i, i), float(i)) for i in range(10)]
    scaled = [(values, 1e-6 * loss + 5.0) for values, loss in rows]
    options = {"selection": "probabilistic", "mutation_rate": 0.0}
    assert children(history_of(*rows), **options) == children(history_of(*scaled), **options)


def test_a_child_that_equals_a_parent_mutates() -> None:
    space = TuningSpace({"a": Grid((0, 1, 2)), "b": Grid((0, 1, 2))})
    history = History(space)
    history.append({"a": 0, "b": 0}, 1.0)
    history.append({"a": 0, "b": 1}, 2.0)
    # Whatever the cut, these two can only bear themselves.
    for seed in range(30):
        child = Genetic(space, seed, mutation_rate=0.0).ask(history)
        assert child not in ({"a": 0, "b": 0}, {"a": 0, "b": 1})


def test_genes_that_a_rule_forbids_together_are_never_proposed() -> None:
    space = TuningSpace(
        {"a": Grid(tuple(range(8))), "b": Grid(tuple(range(8))), "c": Choices(("x", "y"))},
        constraints=("a + b <= 8",),
        conditions={"b": "c == 'x'"},
    )
    rng = np.random.default_rng(4)
    history = History(space)
    for _ in range(12):
        history.append(space.sample(rng), float(rng.random()))
    for mutation in ("uniform", "neighbour"):
        for seed in range(60):
            child = Genetic(space, seed, mutation=mutation).ask(history)
            assert child is not None and space.contains(child)


def test_a_redraw_changes_one_parameter_to_any_value() -> None:
    rng = np.random.default_rng(0)
    here = {"a": 5, "b": 5, "c": 5, "d": 5}
    found = [redraw(SPACE, here, rng) for _ in range(400)]
    assert all(sum(each[name] != 5 for name in "abcd") == 1 for each in found)
    assert {each["a"] for each in found} == set(range(10))
