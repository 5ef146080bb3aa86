"""What each rank's delay library reports when its program has ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import ParseError

_FIRST = "workbench delay 1"


@dataclass(frozen=True)
class RankReport:
    """A rank's report; times in ns as the library counts them."""

    mpi: str
    program_ns: int  # from the end of MPI_Init to the beginning of MPI_Finalize
    already_due: int  # messages older than the delay when their receives were posted
    latest_ns: int  # the most that a release was late
    late: Counter[int]  # number of releases by how late they were at most, ns
    undelayed: Counter[str]  # calls by name


def read_report(path: Path) -> RankReport:
    """Return the report of a file; ParseError names the line that is wrong."""
    lines = path.read_text("utf-8", "replace").splitlines()
    if not lines or lines[0] != _FIRST or lines[-1] != "end":
        raise ParseError(
            f"a report must begin with {_FIRST!r} and finish with 'end'; the program may have been "
            "ended in MPI_Finalize; run it again",
            source=path.name,
        )
    mpi, numbers = "", dict.fromkeys(("program", "already-due", "latest"), 0)
    late: Counter[int] = Counter()
    undelayed: Counter[str] = Counter()
    for number, line in enumerate(lines[1:-1], start=2):
        kind, _, rest = line.partition(" ")
        try:
            if kind == "mpi":
                mpi = rest
            elif kind in numbers:
                numbers[kind] = int(rest)
            elif kind == "late":
                at_most, count = map(int, rest.split())
                late[at_most] += count
            elif kind == "undelayed":
                name, count_text = rest.split()
                undelayed[name] += int(count_text)
        except ValueError as error:
            raise ParseError(
                f"a line must be a name and its numbers; got {line!r}; run the program again",
                source=path.name,
                line=number,
            ) from error
    return RankReport(
        mpi, numbers["program"], numbers["already-due"], numbers["latest"], late, undelayed
    )


def quantile_ns(late: Counter[int], share: float) -> int:
    """Return the lateness in ns that this share of releases did not exceed; 0 of none."""
    wanted, seen = share * late.total(), 0
    for at_most in sorted(late):
        seen += late[at_most]
        if seen >= wanted:
            return at_most
    return 0
