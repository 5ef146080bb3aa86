"""Simulate the OSU latency and bandwidth tests between two nodes on one switch.

All sizes run in ascending order in one continuous simulation, as in SST/macro.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.ini_options import add_ini
from workbench.cli.output import (
    add_json,
    add_variant,
    byte_count,
    given,
    print_json,
    say,
    slow_import_notice,
)
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.measure import OSUCurve

ABOUT = "simulate the OSU latency and bandwidth tests on two nodes"

_SIMULATED = FunctionOptions("workbench.simulate.simulate_osu")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_ini(
        parser, "SST/macro's .ini of the network (default: the default values of the SNAPPR model)"
    )
    _SIMULATED.add(
        parser,
        "sizes",
        type=_sizes,
        metavar="LIST",
        help="message sizes, such as 1,100,4KiB or, doubling, 1..4MiB (default); 1 KB is 1000 B",
    )
    _SIMULATED.add(parser, "iterations", "warmup", "osu_counts", "window", "fresh")
    add_variant(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, print the curve and return the exit status."""
    from workbench.models import inspect_ini

    config = None if arguments.config is None else Path(arguments.config)
    reading = inspect_ini(config, dict(arguments.parameters))
    for note in reading.notes:
        say(f"note: {note}")
    model = reading.model.replace(**given(arguments, "variant"))
    with slow_import_notice():
        from workbench.simulate import simulate_osu
    curve = simulate_osu(model, **_SIMULATED.given(arguments))
    for note in curve.notes:
        say(f"note: {note}")
    _explain_endless(curve)
    if arguments.json:
        sizes = curve.sizes.tolist()
        print_json(
            {
                "latency_us": dict(zip(sizes, curve.latency_us.tolist(), strict=True)),
                "bandwidth_MBps": dict(zip(sizes, curve.bandwidth_MBps.tolist(), strict=True)),
                "model": model.name,
                "variant": model.variant,
                "notes": curve.notes,
            }
        )
    else:
        print(_table(curve))
    return 0


def _explain_endless(curve: OSUCurve) -> None:
    rates = zip(curve.sizes.tolist(), curve.bandwidth_Bps.tolist(), strict=True)
    endless = [f"{size} B" for size, rate in rates if not math.isfinite(rate)]
    if endless:
        say(
            f"note: messages of {', '.join(endless)} take no time in this model, so their "
            "bandwidth is infinite (null in JSON)"
        )


def _table(curve: OSUCurve) -> str:
    """Return a curve in columns like those of the benchmarks."""
    rows = zip(curve.sizes, curve.latency_us, curve.bandwidth_MBps, strict=True)
    return "\n".join(
        (
            f"# {curve.provenance.caption()}",
            f"# {'Size (B)':<10}{'Latency (us)':>18}{'Bandwidth (MB/s)':>20}",
            *(f"{size:<12}{latency:>18.6f}{rate:>20.6f}" for size, latency, rate in rows),
        )
    )


def _sizes(text: str) -> tuple[int, ...]:
    """Return the sizes in bytes of a list such as ``1..64,4KiB``: ascending, each once."""
    sizes: set[int] = set()
    for item in text.split(","):
        first, dots, last = item.partition("..")
        low = byte_count(first)
        high = byte_count(last) if dots else low
        if not 1 <= low <= high:
            raise argparse.ArgumentTypeError(
                f"sizes must be at least 1 B, and a range must ascend; got {item.strip()!r}"
            )
        sizes.update(low << doubled for doubled in range((high // low).bit_length()))
    return tuple(sorted(sizes))
