"""Which configuration to keep in the end, where every value is noisy."""

from __future__ import annotations

from workbench.tune.heuristics.surrogate import GaussianProcessSurrogate
from workbench.tune.history import History
from workbench.tune.space.constraints import Configuration


def recommended(history: History) -> tuple[Configuration, float] | None:
    """Return the configuration among those run of which a model expects most, and that value.

    The least of many noisy values is partly luck, the more so the more configurations were run
    once. A Gaussian process with noise weighs each value against its neighbours and its repeats,
    whatever heuristic proposed them. How large the noise is it learns of configurations that were
    run again, whichever they are; without any it takes half of what stands out for noise, and
    mostly agrees with ``History.best``, which returns the least value itself.

    Args:
        history: the runs of an experiment.

    Returns:
        The configuration and the value expected of it; None where no value is known.
    """
    table = history.aggregated()
    best = table.best()
    if best is None:
        return None
    if int(table.known.sum()) < 3:
        return table.configurations[best], history.value(float(table.losses[best]))
    row, loss = GaussianProcessSurrogate(history.space).expected(history)
    return table.configurations[row], history.value(loss)
