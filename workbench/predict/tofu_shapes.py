"""Shapes of a job on a machine with Tofu-D: as a torus of six dimensions, and where unknown."""

from __future__ import annotations

import numpy as np

from workbench.topology.spec import parse_topology
from workbench.topology.tofu_d import UNIT
from workbench.uq.collectives.round_costs import placed_on

UNKNOWN_SHAPE = "tofu-d"
"""Topology of a job whose shape is not known: predictions cover the plausible ones."""

_NODES = int(np.prod(UNIT))
_SPARE = 1 / 8  # of the units: chosen; 4096 nodes have boxes from 7x7x7 to 4x6x16 then
_LONGEST = 4  # times the shortest dimension: chosen; longer boxes are seldom asked for
_MOST_SHAPES = 4  # chosen: a time for each, and the ends and two between show how they matter
_MESH_NODES = 384  # of Fugaku's small jobs, whose parts need not be closed; larger ones are tori


def torus_of(spec: str) -> tuple[tuple[int, ...] | None, str]:
    """Return the shape of a torus that a spec names, Tofu-D's too, or else the spec.

    Nodes of a Tofu-D count along A fastest, so that its six dimensions come from Z to A.
    """
    found = parse_topology(spec)
    if found.family != "tofu-d" or found.num_hosts != found.num_routers:
        return placed_on(spec)
    if "mesh" in found.parameters:
        return None, spec
    units = tuple(int(part) for part in str(found.parameters["shape"]).split("x"))
    return (*units[::-1], *UNIT[::-1]), ""


def plausible_shapes(nodes: int) -> tuple[str, ...]:
    """Return specs of Tofu-D that a job on so many nodes may have had, the most compact first.

    Boxes of units, with an eighth of them spare and no side more than four times another; of more
    than four such boxes, four by their longest side; and to 384 nodes the mesh of the first.
    """
    units = -(-nodes // _NODES)
    boxes = []
    for x in range(1, round(units ** (1 / 3)) + 2):
        for y in range(x, _LONGEST * x + 1):
            least = max(-(-units // (x * y)), y)
            most = min(int((1 + _SPARE) * units) // (x * y), _LONGEST * x)
            boxes += [(z, x * y * z, x, y) for z in range(least, most + 1)]
    if not boxes:  # no box of so few units is so full: the smallest cube that holds them
        side = next(n for n in range(1, units + 1) if n**3 >= units)
        boxes = [(side, side**3, side, side)]
    boxes.sort(key=lambda box: (box[0] / box[2], box[1]))
    places = np.unique(np.linspace(0, len(boxes) - 1, min(_MOST_SHAPES, len(boxes))).round())
    specs = [
        f"tofu-d:{x}x{y}x{z}" for z, _, x, y in (boxes[int(place)] for place in places.tolist())
    ]
    return (*specs, *([f"{specs[0]},mesh=true"] if nodes <= _MESH_NODES else []))
