"""Read many damaged files, and fail on anything but results and ``WorkbenchError``s.

    python -m tests.fuzz --count 100000 --seed 0
    python -m tests.fuzz --format binary --first 4711 --count 1 --show

A case is made of the seed and its number alone, so that ``--first`` brings back a single one. A
case that never ends is shown by its stack after a minute, and ends the run. Memory is limited on
Linux only.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import sys
import time
import warnings
from pathlib import Path

from tests.fuzz.formats import FORMATS
from tests.fuzz.run import Tally, case, run

GROWTH_MB = 200  # of the highest resident memory, over the whole run
ROOM_MB = 1024  # of address space, for one case
HANG_S = 60
STATM = Path("/proc/self/statm")  # its first number: pages of address space


def main() -> int:
    """Run what the command line says and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="cases, over all formats")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--format", choices=sorted(FORMATS), help="one format only")
    parser.add_argument("--show", action="store_true", help="print the damaged files too")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    names = [arguments.format] if arguments.format else sorted(FORMATS)
    failed = 0
    for name in names:
        failed += fuzz(name, arguments, arguments.count // len(names))
    return 1 if failed else 0


def fuzz(name: str, arguments: argparse.Namespace, count: int) -> int:
    """Run the cases of one format and return how many failed."""
    for files in FORMATS[name].corpus:
        FORMATS[name].read(files)  # which also compiles the kernels, before memory is limited
    resident = peak_mb()
    if STATM.exists():
        space = int(STATM.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (space + ROOM_MB * 2**20, resource.RLIM_INFINITY))
    tally, begin = Tally(), time.perf_counter()
    for number in range(arguments.first, arguments.first + count):
        if arguments.show:
            for file, content in case(name, arguments.seed, number).items():
                print(f"{name} {number} {file}: {content!r}")
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        run(name, arguments.seed, number, tally)
        faulthandler.cancel_dump_traceback_later()
        if sys.stderr.isatty() and number % 100 == 0:
            print(f"\r{name} {number}", end="", file=sys.stderr)
    took = time.perf_counter() - begin
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    grown = peak_mb() - resident
    if grown > GROWTH_MB:
        tally.failures.append((-1, f"memory grew by {grown:.0f} MB"))
    refused = ", ".join(f"{many} {error}" for error, many in tally.errors.most_common())
    print(
        f"{name}: {count} files, seed {arguments.seed}: {tally.results} results, "
        f"{refused or 'none'} refused, {len(tally.failures)} failures; {took:.0f} s, slowest "
        f"{tally.slowest_s * 1e3:.0f} ms, memory +{grown:.0f} MB",
        flush=True,
    )
    for number, what in tally.failures[:5]:
        print(f"{name} case {number}:\n{what}", file=sys.stderr)
    return len(tally.failures)


def peak_mb() -> float:
    """Return the most memory that has been resident, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
