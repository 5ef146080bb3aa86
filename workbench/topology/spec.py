"""Topologies by a word, as the shell and notebooks name them: ``fat-tree:16``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType

from workbench.errors import ParameterError
from workbench.topology.dragonfly import dragonfly
from workbench.topology.fat_tree import fat_tree
from workbench.topology.topology import Topology

FAMILIES: Mapping[str, tuple[Callable[..., Topology], tuple[str, ...]]] = MappingProxyType(
    {"fat-tree": (fat_tree, ("k",)), "dragonfly": (dragonfly, ("g", "a", "p", "h"))}
)
"""Each family's generator, and what numbers without a letter mean, in their order.

A dragonfly's are groups, routers, hosts, and ports, as Shen et al., LLAMP, section IV.2 list them.
"""


def parse_topology(text: str) -> Topology:
    """Return the topology that a word describes.

    ``fat-tree:16``, ``dragonfly:8,4,8`` (g, a, p, with the fewest global ports) or by letters,
    ``dragonfly:a=4,p=8,h=2,wiring=relative``.

    Args:
        text: family, colon, and the parameters with commas between them.

    Raises:
        ParameterError: there is no such family, or a parameter is not accepted.
    """
    family, _, rest = (part.strip() for part in text.partition(":"))
    if family not in FAMILIES:
        raise ParameterError(
            f"a topology must be one of {', '.join(FAMILIES)} with its parameters, such as "
            f"fat-tree:16; got {text!r}",
            key="topology",
        )
    generator, order = FAMILIES[family]
    known = inspect.signature(generator).parameters
    values: dict[str, int | str] = {}
    for place, word in enumerate(part.strip() for part in rest.split(",") if part.strip()):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            if place >= len(order):
                raise ParameterError(
                    f"{family} takes at most {len(order)} numbers without letters, "
                    f"{', '.join(order)}; got {rest!r}",
                    key="topology",
                )
            name, value = order[place], name
        if name not in known:
            raise ParameterError(
                f"{family} has the parameters {', '.join(known)}; got {name!r}", key="topology"
            )
        if name in values:
            raise ParameterError(f"{family}: {name} must be given once; got {rest!r}", key=name)
        values[name] = _number(value) if name in order else value
    missing = [
        name
        for name, parameter in known.items()
        if parameter.default is inspect.Parameter.empty and name not in values
    ]
    if missing:
        raise ParameterError(f"{family} needs {', '.join(missing)}; got {text!r}", key=missing[0])
    return generator(**values)


def _number(text: str) -> int:
    try:
        if len(text) > 12:
            raise ValueError
        return int(text)
    except ValueError:
        raise ParameterError(
            f"a topology's numbers must be whole; got {text!r}", key="topology"
        ) from None
