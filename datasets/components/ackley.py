"""Ackley's test function with noise, which sleeps as long as its value says."""

from __future__ import annotations

import argparse
import math
import random
import sys
import time


def ackley(x: float, y: float) -> float:
    """Return the value of Ackley's function, 0 at its minimum (0, 0), at most about 15 on ±5."""
    bowl = -20 * math.exp(-0.2 * math.sqrt((x * x + y * y) / 2))
    ripple = math.exp((math.cos(2 * math.pi * x) + math.cos(2 * math.pi * y)) / 2)
    return bowl - ripple + 20 + math.e


def main() -> None:
    """Print a noisy value, after as many milliseconds for each unit as was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--x", type=float, default=3.0)
    parser.add_argument("--y", type=float, default=3.0)
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation, relative")
    parser.add_argument("--sleep-ms", type=float, default=10.0, help="for each unit of the value")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    value = 1 + ackley(options.x, options.y)
    value *= math.exp(random.Random(options.seed).gauss(0, options.noise))
    time.sleep(value * options.sleep_ms / 1e3)
    sys.stdout.write(f"value {value:.6f}\n")


if __name__ == "__main__":
    main()
