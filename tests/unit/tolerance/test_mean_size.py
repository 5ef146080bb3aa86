from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench import machines
from workbench.errors import ParameterError
from workbench.models import LogGPS, OverheadTable
from workbench.programs import ProgramBuilder
from workbench.tolerance import MeanSizeOverhead, analyse, overhead_at_mean_size

MODEL = LogGPS(L=1e-6, o=2e-7, g=0.0, G=1e-9, O=1e-10, S=1 << 20)


def exchange(*sizes: int) -> ProgramBuilder:
    builder = ProgramBuilder(2, source="exchange")
    for size in sizes:
        builder.send(0, 1, size)
        builder.recv(1, 0, size)
    return builder


def test_the_overhead_is_that_of_the_mean_message(tmp_path: Path) -> None:
    """500 and 1500 B have a mean of 1000 B, whose overhead is o + 1000 O."""
    program = exchange(500, 1500).build()
    found = overhead_at_mean_size(program, MODEL)
    assert (found.messages, found.mean_bytes) == (2, 1000)
    assert found.model == MODEL.replace(o=3e-7, O=0)
    table = OverheadTable(np.array([0.0, 2000.0]), np.array([0.0, 4e-6]))
    assert overhead_at_mean_size(program, MODEL, table).model.o == pytest.approx(2e-6)
    machine = machines.load("azure-hb96v3-hdr")
    text = overhead_at_mean_size(program, machine.loggps, machine).describe()
    assert "that of a message of 1,000 B, the mean of 2 messages of exchange" in text
    assert "by the machine azure-hb96v3-hdr" in text
    assert MeanSizeOverhead.load(found.save(tmp_path / "found.json")) == found
    assert found.to_frame()["at mean size"].tolist()[1] == 3e-7


def test_a_program_of_one_size_takes_as_long_as_with_its_overhead_per_byte() -> None:
    """One message takes 2 o + L + (s - 1) G; LLAMP's graph has no O, but o may contain it."""
    program = exchange(1001).build()
    model = overhead_at_mean_size(program, MODEL).model
    T = analyse(program, model, contention=False).T
    assert pytest.approx(2 * (2e-7 + 1001e-10) + 1e-6 + 1000e-9) == T


def test_without_messages_there_is_no_mean() -> None:
    builder = ProgramBuilder(1, source="alone")
    builder.compute(0, 5)
    with pytest.raises(ParameterError, match="alone sends none"):
        overhead_at_mean_size(builder.build(), MODEL)
