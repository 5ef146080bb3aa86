"""Speed of GOAL: megabytes a second in and out, and memory as a multiple of the graph's arrays.

The text is a halo exchange on a 6 x 6 x 6 torus: each rank posts 26 receives and sends, waits for
all of them, computes, and begins again. Every figure is of the second run; the first compiles.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from workbench.programs.goal import read_goal, write_goal

SIDE = 6
NEIGHBOURS = [way for way in itertools.product((-1, 0, 1), repeat=3) if any(way)]
NAMES = ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic", "line")


def halo(iterations: int) -> str:
    """Return the text of a halo exchange."""
    pieces = [f"num_ranks {SIDE**3}\n"]
    for x, y, z in itertools.product(range(SIDE), repeat=3):
        lines = [f"\nrank {(x * SIDE + y) * SIDE + z} {{", "l1: calc 1000"]
        wait, label = 1, 1
        for _ in range(iterations):
            posted = []
            for way, (a, b, c) in enumerate(NEIGHBOURS):
                peer = ((x + a) % SIDE * SIDE + (y + b) % SIDE) * SIDE + (z + c) % SIDE
                for what in (
                    f"recv 1024b from {peer} tag {25 - way}",
                    f"send 1024b to {peer} tag {way}",
                ):
                    label += 1
                    posted.append(label)
                    lines += [f"l{label}: {what}", f"l{label} requires l{wait}"]
            label += 1
            wait = label
            lines += [f"l{wait}: calc 5000", *(f"l{wait} requires l{op}" for op in posted)]
        pieces.append("\n".join([*lines, "}\n"]))
    return "".join(pieces)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("goal") / "halo.goal"
    path.write_text(halo(80))
    return path


def seconds(action) -> float:
    """Return the time of the second call."""
    action()
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def array_bytes(graph) -> int:
    edges = (graph.requires.start, graph.requires.ops, graph.irequires.start, graph.irequires.ops)
    return sum(array.nbytes for array in (*(getattr(graph, name) for name in NAMES), *edges))


def test_in_and_out(path: Path, tmp_path: Path) -> None:
    megabytes = path.stat().st_size / 1e6
    graph = read_goal(path)
    binary = write_goal(graph, tmp_path / "halo.bin", binary=True)
    small = binary.stat().st_size / 1e6
    copy = tmp_path / "copy.goal"
    rates = {
        "text in": megabytes / seconds(lambda: read_goal(path)),
        "text out": megabytes / seconds(lambda: write_goal(graph, copy)),
        "binary in": small / seconds(lambda: read_goal(binary)),
        "binary out": small / seconds(lambda: write_goal(graph, binary, binary=True)),
    }
    check = seconds(graph.check)
    print(f"\n{graph!r}: {megabytes:.0f} MB of text, {small:.0f} MB binary")
    print(", ".join(f"{name} {rate:.0f} MB/s" for name, rate in rates.items()))
    print(f"check: {graph.num_ops / check / 1e6:.1f} M operations/s")
    assert copy.read_bytes() == path.read_bytes()
    assert read_goal(binary) == graph


def test_memory(path: Path) -> None:
    read_goal("num_ranks 1\nrank 0 {\n}\n")
    tracemalloc.start()
    graph = read_goal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    arrays = array_bytes(graph)
    # In a process of its own, with the pages of the file that the system keeps in memory for it.
    # VmHWM and not getrusage, whose figure a process inherits from the one that started it.
    program = (
        "import pathlib, sys\nfrom workbench.programs.goal import read_goal\n"
        "def peak():\n    text = pathlib.Path('/proc/self/status').read_text()\n"
        "    return int(text.split('VmHWM:')[1].split()[0]) * 1024\n"
        "read_goal('num_ranks 1\\nrank 0 {\\n}\\n')\nbefore = peak()\n"
        "graph = read_goal(sys.argv[1])\nprint(peak() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    resident = int(done.stdout)
    print(
        f"\narrays {arrays / 1e6:.0f} MB, {arrays / graph.num_ops:.0f} B an operation; peak while "
        f"reading {peak / arrays:.1f} times that allocated, {resident / arrays:.1f} times resident"
    )
    assert peak < 10 * arrays
    assert resident < 10 * arrays
    assert np.all(graph.kind > 0)
