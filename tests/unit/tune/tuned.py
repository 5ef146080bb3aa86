"""A component of a shell's few milliseconds, and spaces that need none, for these tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.tune import Choices, Component, Configuration, Grid, TuningSpace, read_components

# Values reach it by its environment; the seed of a run stands for noise that can be repeated. A
# test may have it sleep longer than the experiment knows of.
COMPONENT = """\
components:
  bowl:
    command:
      - sh
      - -c
      - echo value $(( (A-3)*(A-3) + B*B + WORKBENCH_SEED % 3 )); sleep ${PAUSE_S:-$NAP}
    target: {regex: 'value ([0-9]+)'}
    parameters:
      A: {type: int, default: 9, env_var: true, values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
      B: {type: int, default: 5, env_var: true, values: [0, 1, 2, 3, 4, 5]}
      NAP: {type: float, default: 0, env_var: true}
"""

SPACE = TuningSpace(
    {
        "a": Grid.of(list(range(10))),
        "b": Grid.of(list(range(10))),
        "c": Choices(("x", "y")),
    },
    defaults={"a": 9, "b": 0, "c": "y"},
)


def bowl(nap_s: float = 0.0) -> Component:
    """Return the component; a run sleeps that long in s."""
    return read_components(COMPONENT.replace("default: 0,", f"default: {nap_s},"))["bowl"]


def noisy(configuration: Configuration, rng: np.random.Generator) -> tuple[float, float]:
    """Return a value with noise, and its seconds; the least is 1 at a=3, b=6, c=y."""
    values: Any = configuration
    value = 1.0 + (values["a"] - 3) ** 2 + (values["b"] - 6) ** 2 + 5.0 * (values["c"] == "x")
    value *= float(np.exp(0.02 * rng.standard_normal()))
    return value, 0.1 * value
