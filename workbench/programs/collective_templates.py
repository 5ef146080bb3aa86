"""Schedules of collectives, laid out so that each rank's part can be copied at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.programs.collectives.schedule import schedule

TemplateKey = tuple[str, str, int, int, tuple[int, ...], int | None, int, float]
"""A schedule's key: operation, algorithm, ranks, size, sizes, element, root, ns to combine a byte.

The last is 0 where nothing is combined, so that all such collectives share a template.
"""

_KEPT_OPS = 4_000_000  # about 150 MB


@dataclass(frozen=True)
class Template:
    """The operations and dependencies of each rank of a communicator in one collective."""

    op_start: NDArray[np.int64]  # (ranks + 1,) each rank's first operation
    # kind uint8, size int64, peer int32 in the communicator, tag int32 added to the collective's
    ops: tuple[NDArray[Any], ...]
    edge_start: NDArray[np.int64]  # (ranks + 1,) each rank's first edge
    edges: NDArray[np.int32]  # (2, edges) after, before, from the rank's first operation
    entry_start: NDArray[np.int64]  # (ranks + 1,) each rank's first place in ``entry``
    entry: NDArray[np.int32]  # operations that wait for no other, numbered as in ``edges``
    exit_start: NDArray[np.int64]  # (ranks + 1,) each rank's first place in ``exit``
    exit: NDArray[np.int32]  # operations that no other waits for
    tags: int  # number of consecutive tags that it needs
    note: str  # why another algorithm runs; empty where none does


class _Cache:
    """The templates used last, up to a number of operations altogether."""

    def __init__(self) -> None:
        self._templates: OrderedDict[TemplateKey, Template] = OrderedDict()
        self._ops = 0
        self._lock = threading.Lock()

    def get(self, key: TemplateKey) -> Template:
        with self._lock:
            found = self._templates.get(key)
            if found is not None:
                self._templates.move_to_end(key)
                return found
        made = _make(key)
        with self._lock:
            if key not in self._templates:
                self._templates[key] = made
                self._ops += len(made.entry) + len(made.ops[0])
            while self._ops > _KEPT_OPS and len(self._templates) > 1:
                _, dropped = self._templates.popitem(last=False)
                self._ops -= len(dropped.entry) + len(dropped.ops[0])
        return made


_CACHE = _Cache()


def template(key: TemplateKey) -> Template:
    """Return the template of a collective; those used last are cached."""
    return _CACHE.get(key)


def packed(templates: Sequence[Template]) -> tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]:
    """Return the first rank of each template, int64, and the arrays of all templates joined."""
    ranks = [len(of.op_start) - 1 for of in templates]
    starts = (
        _joined_starts([getattr(of, name) for of in templates])
        for name in ("op_start", "edge_start", "entry_start", "exit_start")
    )
    op_start, edge_start, entry_start, exit_start = starts
    ops = (np.concatenate(column) for column in zip(*(of.ops for of in templates), strict=True))
    after, before = np.concatenate([of.edges for of in templates], axis=1)
    entry, exits = (np.concatenate([getattr(of, n) for of in templates]) for n in ("entry", "exit"))
    return (
        np.cumsum([0, *ranks[:-1]], dtype=np.int64),
        (op_start, *ops, edge_start, after, before, entry_start, entry, exit_start, exits),
    )


def _joined_starts(starts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    counts = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _make(key: TemplateKey) -> Template:
    operation, algorithm, ranks, size, sizes, element_bytes, root, reduce_ns_per_byte = key
    plan = schedule(
        operation,
        algorithm,
        ranks,
        size=size,
        sizes=sizes,
        element_bytes=element_bytes,
        root=root,
        reduce_ns_per_byte=reduce_ns_per_byte,
    )
    op_start = np.asarray(plan.rank_start, np.int64)
    first = np.repeat(op_start[:-1], np.diff(op_start))
    after, before = np.asarray(plan.after, np.int64), np.asarray(plan.before, np.int64)
    order = np.lexsort((before, after))
    after, before = after[order], before[order]
    waits, awaited = np.zeros(len(plan.kind), bool), np.zeros(len(plan.kind), bool)
    waits[after], awaited[before] = True, True
    entries, exits = np.flatnonzero(~waits), np.flatnonzero(~awaited)
    tag = np.asarray(plan.tag, np.int32)
    return Template(
        op_start=op_start,
        ops=(
            np.asarray(plan.kind, np.uint8),
            np.asarray(plan.size, np.int64),
            np.asarray(plan.peer, np.int32),
            tag,
        ),
        edge_start=np.searchsorted(after, op_start),
        edges=np.stack([after - first[after], before - first[after]]).astype(np.int32),
        entry_start=np.searchsorted(entries, op_start),
        entry=(entries - first[entries]).astype(np.int32),
        exit_start=np.searchsorted(exits, op_start),
        exit=(exits - first[exits]).astype(np.int32),
        tags=int(tag.max(initial=0)) + 1,
        note=plan.note,
    )
