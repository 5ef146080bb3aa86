"""The table that `make bench` prints: what is measured, its target, and how it stands."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

COLLECTIVE = Path(__file__).parent / "sstmacro" / "collective.cc"
ROWS = pytest.StashKey[list["Row"]]()


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        number: by which lines are sorted, ``"3a"``.
        what: is measured, and of which case.
        value: measured.
        unit: of value and target.
        at_most: the target, where less is better.
        at_least: the target, where more is better.
        ratio: of the reference's time to ours in the same run: how many times as fast we are.
        reference: what the ratio is against.
    """

    number: str
    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    ratio: float | None = None
    reference: str = ""

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def verdict(self) -> str:
        if self.at_most is not None:
            return "met" if self.value <= self.at_most else "missed"
        if self.at_least is not None:
            return "met" if self.value >= self.at_least else "missed"
        return ""

    def cells(self) -> tuple[str, ...]:
        against = "" if self.ratio is None else f"{self.ratio:.3g} x {self.reference}"
        value = f"{self.value:.3g} {self.unit}"
        return self.number, self.what, value, self.target, self.verdict, against


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


def other_simulator(variable: str, name: str) -> Path | None:
    """Return another simulator's program, to be timed in the same run; None where there is none.

    Args:
        variable: of the environment, that names the program.
        name: of the program, as it is looked for in PATH.
    """
    given = os.environ.get(variable) or shutil.which(name)
    return None if given is None else Path(given).resolve(strict=True)


@pytest.fixture(scope="session")
def sstmacro() -> Path | None:
    """SST/macro's program: SSTMACRO=/path/to/sstmac, or sstmac in PATH."""
    return other_simulator("SSTMACRO", "sstmac")


@pytest.fixture(scope="session")
def collective_program(
    sstmacro: Path | None, tmp_path_factory: pytest.TempPathFactory
) -> Path | None:
    """The collective's program for SST/macro, compiled; None without SST/macro."""
    if sstmacro is None:
        return None
    made = tmp_path_factory.mktemp("sstmacro") / "libcollective.so"
    path = f"{sstmacro.parent}{os.pathsep}{os.environ['PATH']}"
    command = [sstmacro.parent / "sst++", "-O3", "-fPIC", "-shared", "-o", made, COLLECTIVE]
    environment = {**os.environ, "PATH": path}
    subprocess.run(command, check=True, cwd=made.parent, env=environment, capture_output=True)
    return made


@pytest.fixture(scope="session")
def loggopsim() -> Path | None:
    """LogGOPSim's program, txt2bin beside it: LOGGOPSIM=/path/to/LogGOPSim, or in PATH."""
    return other_simulator("LOGGOPSIM", "LogGOPSim")


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
    head = ("#", "what", "measured", "target", "", "as fast as, in the same run")
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
