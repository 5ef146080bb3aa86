"""Rules by which packets take virtual channels, so that they never wait for one another in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.topology.channels import Channels
from workbench.topology.routing.tables import MinimalRoutes, datelines


@dataclass(frozen=True, eq=False)
class Lanes:
    """A rule of lanes; each of them has buffers of its own at every channel.

    By counting, a packet starts in lane 0, and after a channel its lane grows by that channel's
    step; where it turns from an intermediate router to its target, by another step. By datelines,
    it travels each ring of a torus in lane 0 up to the link between the ring's last router and its
    first and in lane 1 from there on, two lanes higher after each intermediate router (Dally,
    Towles: Principles and Practices of Interconnection Networks, 2004, section 14.2.3).

    Attributes:
        name: what the rule is called.
        step: int8[channels], what the lane grows by after a channel.
        phase_step: what it grows by at an intermediate router.
        dateline: whether the rule is that of datelines.
        dimension: int8[channels], the coordinate that each channel changes, -1 for none.
        wraps: int8[channels], 1 for the channels that cross a dateline.
    """

    name: str
    step: NDArray[np.int8]
    phase_step: int
    dateline: bool
    dimension: NDArray[np.int8]
    wraps: NDArray[np.int8]

    @property
    def always_rises(self) -> bool:
        """Whether each hop takes a higher lane, which leaves no room for cycles."""
        return not self.dateline and bool(np.all(self.step > 0))

    def most(self, routes: MinimalRoutes, phases: int) -> int:
        """Return a number of lanes that surely suffices.

        Args:
            routes: minimal routes.
            phases: parts that a packet's way has at most.
        """
        if self.dateline:
            return 2 * phases
        longest = int(routes.hops.max(initial=0))
        if not self.step.any():
            rises = 0
        elif self.always_rises:
            # The last hop's step is not taken, and a diverted packet's first part is one hop.
            rises = phases * longest - 1 if phases < 3 else 2 * longest
        else:
            rises = phases * longest
        return max(rises, 0) + self.phase_step * (phases - 1) + 1


def rules(
    channels: Channels, dimension: NDArray[np.int8] | None, *, phases: int
) -> Iterator[Lanes]:
    """Yield rules that may do, the ones that mostly need the fewest lanes first.

    Args:
        channels: of the topology.
        dimension: int8[channels], the coordinate that each channel changes, for routes in
            dimension order; None for others.
        phases: parts that a packet's way has at most.
    """
    topology = channels.topology
    number = channels.between_routers
    none = np.full(number, -1, np.int8)
    still = np.zeros(number, np.int8)

    def counting(name: str, step: NDArray[np.int8], phase_step: int) -> Lanes:
        return Lanes(name, step, phase_step, False, none, still)

    yield counting("one lane", still, 0)
    if phases > 1:
        yield counting("one lane for each phase", still, 1)
    if dimension is not None:
        wraps = datelines(topology, channels, dimension)
        yield Lanes("datelines", still, 0, True, dimension, wraps)
    of_link = channels.link_class[:number]
    if len(np.unique(of_link)) > 1:
        name = topology.classes[int(of_link.max())]
        step = (of_link == of_link.max()).astype(np.int8)
        yield counting(f"{name} hops taken", step, 0)
        if phases > 1:
            yield counting(f"{name} hops taken and phases", step, 1)
    yield counting("hops taken", np.ones(number, np.int8), 0)
