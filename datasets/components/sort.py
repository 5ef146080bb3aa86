"""A merge sort in plain Python, with what one would tune in it: runs in milliseconds anywhere."""

from __future__ import annotations

import argparse
import heapq
import random
import sys
import time


def insertion_sort(items: list[float]) -> list[float]:
    """Sort a short list in place and return it."""
    for at in range(1, len(items)):
        item = items[at]
        place = at
        while place and items[place - 1] > item:
            items[place] = items[place - 1]
            place -= 1
        items[place] = item
    return items


def merge(left: list[float], right: list[float]) -> list[float]:
    """Return two sorted lists as one, by comparing their heads."""
    merged: list[float] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def merge_sort(items: list[float], cutoff: int, ways: int, heap: bool) -> list[float]:
    """Return the items sorted: in `ways` parts, those of at most `cutoff` by insertion."""
    if len(items) <= max(cutoff, 1):
        return insertion_sort(items)
    step = -(-len(items) // ways)
    parts = [
        merge_sort(items[at : at + step], cutoff, ways, heap) for at in range(0, len(items), step)
    ]
    if heap:
        return list(heapq.merge(*parts))
    while len(parts) > 1:
        pairs = [merge(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def main() -> None:
    """Sort the same numbers every time, and print how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cutoff", type=int, default=16)
    parser.add_argument("--ways", type=int, default=2)
    parser.add_argument("--heap", action="store_true")
    parser.add_argument("--numbers", type=int, default=4000)
    options = parser.parse_args()
    numbers = [random.Random(at).random() for at in range(options.numbers)]
    start = time.perf_counter()
    result = merge_sort(numbers.copy(), options.cutoff, options.ways, options.heap)
    seconds = time.perf_counter() - start
    if result != sorted(numbers):
        raise SystemExit("not sorted")
    sys.stdout.write(f"sorted {len(result)} numbers in {1e3 * seconds:.3f} ms\n")


if __name__ == "__main__":
    main()
