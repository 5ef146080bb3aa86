"""How kernels are compiled: what they ask of numba beyond its own, and what it does in less time.

Kernels use ``apart`` (parts of kernels that are called by their address) and ``prefetch``. The
others change numba itself, when ``kernels`` is imported: ``compiling`` does once what it repeats,
``elements`` and ``indexing`` need less code for what stands in arrays, ``loading`` takes kernels
from the disk without what only compiling needs.
"""
