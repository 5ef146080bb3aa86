"""The table that `make bench` prints: what is measured, its target, and how it stands.

Targets of the rates of simulators, of linear programs, sweeps and loads of links (6 to 8, 10 to 12)
are a quarter more than the ratio at commit 87ea01dd, measured some minutes apart and rounded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.machine import million_events_s
from tests.benchmarks.other_simulators import SSTMacro, program

ROWS = pytest.StashKey[list["Row"]]()


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        number: by which lines are sorted, ``"3a"``.
        what: is measured, and of which case.
        value: measured.
        unit: of the value.
        ratio: to the reference in the same run, which means the same on every machine.
        reference: what the ratio is to.
        at_most: the target of the ratio, or of a value without one, where less is better.
        at_least: the same where more is better.
    """

    number: str
    what: str
    value: float
    unit: str
    ratio: float | None = None
    reference: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def verdict(self) -> str:
        judged = self.value if self.ratio is None else self.ratio
        if self.at_most is not None:
            return "met" if judged <= self.at_most else "missed"
        if self.at_least is not None:
            return "met" if judged >= self.at_least else "missed"
        return ""

    def cells(self) -> tuple[str, ...]:
        value, ratio = f"{self.value:.3g} {self.unit}", ""
        if self.ratio is not None:
            ratio = f"{self.ratio:.3g}"
        return self.number, self.what, value, ratio, self.target, self.verdict, self.reference


class Table:
    """Where a benchmark leaves its rows; they are printed together when all have run."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def add(self, number: str, what: str, value: float, unit: str, **more: object) -> None:
        """Add a line; the keywords are those of `Row`."""
        self._rows.append(Row(number, what, value, unit, **more))  # type: ignore[arg-type]


@pytest.fixture
def table(request: pytest.FixtureRequest) -> Table:
    """The table of this run."""
    return Table(request.config.stash.setdefault(ROWS, []))


@pytest.fixture
def beside_events() -> Callable[[float], dict[str, object]]:
    """Return seconds beside those of a million events of a plain queue, measured at that moment."""

    def beside(seconds: float) -> dict[str, object]:
        return {"ratio": seconds / million_events_s(), "reference": "a million events, plain heapq"}

    return beside


@pytest.fixture(scope="session")
def sstmacro(tmp_path_factory: pytest.TempPathFactory) -> SSTMacro | None:
    """SST/macro v11.1 with our benchmarks: SSTMACRO=/path/to/sstmac, or sstmac in PATH."""
    sstmac = program("SSTMACRO", "sstmac")
    return None if sstmac is None else SSTMacro.build(sstmac, tmp_path_factory.mktemp("sstmacro"))


@pytest.fixture(scope="session")
def loggopsim() -> Path | None:
    """LogGOPSim's program, txt2bin beside it: LOGGOPSIM=/path/to/LogGOPSim, or in PATH."""
    return program("LOGGOPSIM", "LogGOPSim")


@pytest.fixture(scope="session")
def schedgen() -> Path | None:
    """LogGOPSim's reader of traces: SCHEDGEN=/path/to/schedgen, or in PATH."""
    return program("SCHEDGEN", "schedgen")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what adds to the table, which `make bench` runs."""
    for item in items:
        if "table" in getattr(item, "fixturenames", ()):
            item.add_marker("table")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table after everything else."""
    rows = sorted(config.stash.get(ROWS, []), key=lambda row: (len(row.number), row.number))
    if not rows:
        return
    head = ("#", "what", "measured", "ratio", "target", "", "of the ratio, in the same run")
    lines = [head, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    terminalreporter.section("figures of this run")
    for line in lines:
        terminalreporter.write_line(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    load = os.getloadavg()
    terminalreporter.write_line(
        f"load of the last 1, 5 and 15 minutes: {load[0]:.1f}, "
        f"{load[1]:.1f}, {load[2]:.1f} on {os.cpu_count()} processors"
    )
