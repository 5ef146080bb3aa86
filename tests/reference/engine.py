"""The clock and the order of events.

Time is an integer count of ticks of 1e-16 s (100 attoseconds). Two events at the same tick are
ordered by the link they travel on, then by the order they were scheduled in. Physical links come
first; after them a component's own timers, the component built last first.
"""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

TICKS_PER_SECOND = 1e16
CLOCK_MODULUS = 2**64


def ticks(seconds: float) -> int:
    """Return `seconds` in ticks, cut off, not rounded."""
    return int(seconds * TICKS_PER_SECOND)


def byte_delay(bandwidth: float) -> int:
    """Return the ticks one byte takes at `bandwidth` bytes/s."""
    return ticks(1.0 / bandwidth)


def scaled(duration: int, factor: float) -> int:
    """Return ``duration * factor`` as a double product, cut off: exact below 2**53 ticks."""
    return int(float(duration) * float(factor))


def logp_inward(node: int) -> int:
    """Return the link from `node` to the LogP overlay."""
    return 2 * node


def logp_outward(node: int) -> int:
    """Return the link from the LogP overlay to `node`."""
    return 2 * node + 1


def injection_credit(node: int) -> int:
    """Return the link that takes credits from the switch back to `node`."""
    return 4 + 2 * node


def injection(node: int) -> int:
    """Return the link that takes packets from `node` to the switch."""
    return 5 + 2 * node


def ejection(node: int) -> int:
    """Return the link that takes packets from the switch to `node`."""
    return 8 + 2 * node


def ejection_credit(node: int) -> int:
    """Return the link that takes credits from `node` back to the switch."""
    return 9 + 2 * node


SWITCH_TIMER = 100


def nic_timer(node: int) -> int:
    """Return the network interface's own timer; node 1 was built after node 0."""
    return 205 - 100 * node


def host_timer(node: int) -> int:
    """Return the operating system's own timer."""
    return 206 - 100 * node


def memory_timer(node: int) -> int:
    """Return the memory's own timer."""
    return 207 - 100 * node


def node_timer(node: int) -> int:
    """Return the node's own timer."""
    return 208 - 100 * node


class Engine:
    """A heap of events. `now` is the time of the event being handled, in ticks.

    An event may be scheduled in the past (PISCES does it for packets of one or two bytes); it is
    then the next to be handled and the clock goes back with it, which `ran_back` notes.
    """

    def __init__(self) -> None:
        self.now = 0
        self.ran_back = False
        self._events: list[tuple[int, int, int, Callable[[Any], None], Any, bool]] = []
        self._next_number = count().__next__

    def at(
        self,
        time: int,
        link: int,
        action: Callable[[Any], None],
        argument: Any = None,
        silent: bool = False,
    ) -> None:
        """Call ``action(argument)`` at `time`, in the order its `link` gives it.

        A `silent` event, of which nothing follows, may set the clock back without a note of it.
        """
        event = (time, link, self._next_number(), action, argument, silent)
        heapq.heappush(self._events, event)

    def after(
        self, delay: int, link: int, action: Callable[[Any], None], argument: Any = None
    ) -> None:
        """Call ``action(argument)`` after `delay` ticks."""
        event = (self.now + delay, link, self._next_number(), action, argument, False)
        heapq.heappush(self._events, event)

    def run(self) -> None:
        """Handle events until none is left."""
        events = self._events
        last = 0
        while events:
            self.now, _, _, action, argument, silent = heapq.heappop(events)
            if not silent:
                self.ran_back |= self.now < last
                last = self.now
            action(argument)
