"""Configurations of Table II of Suetterlein et al., at random and at the corners of its box."""

import itertools

import numpy as np

from workbench.errors import WorkbenchError
from workbench.fit import SearchSpace, model_to_fit
from workbench.measure import OSU_SIZES


def accepted(model, positions):
    """Return the models at these positions of the search space that are not refused at once.

    Args:
        model: the model whose parameters are moved.
        positions: float[n, dimensions], 0 to 1 between the bounds.
    """
    space = SearchSpace.for_model(model)
    found = []
    for position in positions:
        values = {d.key: d.at(x) for d, x in zip(space.dimensions, position, strict=True)}
        try:
            moved = model.with_values(values)
            moved.validate(largest_message=int(OSU_SIZES[-1]))
        except WorkbenchError:
            continue
        found.append(moved)
    return found


def sample(name, n, seed):
    """Return at most `n` models, even in the search's own scale, which refuses some."""
    model = model_to_fit(name)
    dimensions = len(SearchSpace.for_model(model))
    return accepted(model, np.random.default_rng(seed).random((n, dimensions)))


def corners(name):
    """Return the models at the corners of the search space."""
    model = model_to_fit(name)
    dimensions = len(SearchSpace.for_model(model))
    return accepted(model, itertools.product((0.0, 1.0), repeat=dimensions))
