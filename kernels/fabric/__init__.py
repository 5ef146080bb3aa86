"""Packets over a network of many routers, in integer ticks, in SST/macro v11.1's order.

``layout`` names the cells of the state, ``lists`` its ordered lists; ``ports``, ``snappr`` and
``nic`` are the network, ``engine`` the windows in which it is served. Around them stand host
layers, which say what is sent and what follows from what comes in: ``collectives`` with its
``schedules`` is SST/macro's collective engine. ``sst_routes`` routes as SST/macro's routers do,
``routing`` by any table.
"""

from pathlib import Path

from kernels import cache_of_all

with cache_of_all(Path(__file__).parent):
    from kernels.fabric import collectives, layout, nic, routing, traffic

__all__ = ["collectives", "layout", "nic", "routing", "traffic"]
