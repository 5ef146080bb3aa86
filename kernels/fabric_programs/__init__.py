"""Programs on a fabric: the operations of each rank and the messages between them.

``fluid.run`` carries messages as flows that share channels by max-min fairness (``max_min``),
``packets.run`` as packets of ``kernels.fabric``. Both have their hosts from ``hosts``; ``layout``
names the arrays, ``events`` has two heaps, ``paths`` and ``walk`` say which channels a message
takes.
"""

from kernels.fabric_programs import fluid, layout, max_min, packets, paths, walk

__all__ = ["fluid", "layout", "max_min", "packets", "paths", "walk"]
