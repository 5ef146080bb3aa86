"""Packets over a network of many routers, in integer ticks, in SST/macro v11.1's order.

``layout`` names the cells of the state, ``calendar`` has what comes to routers and hosts, ``lists``
other ordered lists, ``timers`` hosts' own events. ``ports`` is what the port models share:
``snappr``, and ``pisces`` with its ``arbiters``. ``entering``, ``injection`` and ``nic`` are a
host's interface, ``engine`` serves all in windows. ``sst_routes`` routes as SST/macro's routers do,
``routing`` by any table.

Around them stand host layers, which say what is sent and what follows from what comes in:
``collectives`` with its ``ranks`` and ``schedules`` is SST/macro's collective engine, ``traffic``
sends at random.
"""

from kernels.fabric import collectives, layout, nic, routing, traffic

__all__ = ["collectives", "layout", "nic", "routing", "traffic"]
