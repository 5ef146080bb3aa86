from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench import machines
from workbench.errors import ParameterError, ParseError
from workbench.models import LogGPS, OverheadTable, Protocol, overhead_at

# o is 0.5 µs at 1 B, 1.5 µs at 1001 B (twice, 1.4 and 1.6), 3.5 µs at 2001 B.
NETGAUGE = """\
 L=1.25 s=1     o_s=0.4 o_r=0.6 g=0.7 G=0.0009
 L=1.30 s=1001  o_s=1.2 o_r=1.6 g=0.8 G=0.0008
 L=1.30 s=1001  o_s=1.6 o_r=1.6 g=0.8 G=0.0008
 L=1.30 s=2001  o_s=3.5 o_r=3.5 g=0.8 G=0.0008
"""


def test_between_measured_sizes_the_overhead_is_on_a_line() -> None:
    table = OverheadTable.from_netgauge(NETGAUGE)
    assert table.sizes.tolist() == [1, 1001, 2001]
    assert table.overhead_s == pytest.approx([0.5e-6, 1.5e-6, 3.5e-6])
    assert table.at(501) == pytest.approx(1e-6)
    assert [table.at(0), table.at(1e9)] == pytest.approx([0.5e-6, 3.5e-6])
    assert overhead_at(table, 1501) == pytest.approx(2.5e-6)
    assert repr(table) == "OverheadTable(3 sizes, 1 to 2001 B; 0.5 to 3.5 µs)"
    assert table.to_frame()["overhead (µs)"].tolist() == pytest.approx([0.5, 1.5, 3.5])


def test_overheads_need_no_gap_and_those_below_0_are_left_out() -> None:
    bare = "\n".join(line.partition("g=")[0] for line in NETGAUGE.splitlines())
    assert OverheadTable.from_netgauge(bare).at(501) == pytest.approx(1e-6)
    table = OverheadTable.from_netgauge(NETGAUGE.replace("o_s=3.5", "o_s=-3.5"))
    assert table.sizes.tolist() == [1, 1001]
    assert table.notes == (
        "line 4, 2.001 KB: o_s or o_r is no time; it does not count among the overheads",
    )


def test_a_model_has_the_overhead_and_the_copy_of_the_sizes_regime() -> None:
    model = Protocol().with_values(
        {
            "short.max_size": 64,
            "eager.max_size": 1000,
            "short.overhead": 1e-7,
            "eager.overhead": 2e-7,
            "rendezvous.overhead": 3e-7,
            "short.copy_bandwidth": 1e9,
            "eager.copy_bandwidth": 2e9,
            "rendezvous.copy_bandwidth": 4e9,
        }
    )
    assert overhead_at(model, 64) == pytest.approx(1e-7 + 64e-9)
    assert overhead_at(model, 65) == pytest.approx(2e-7 + 32.5e-9)
    assert overhead_at(model, 1000) == pytest.approx(2e-7 + 500e-9)
    assert overhead_at(model, 1001) == pytest.approx(3e-7 + 250.25e-9)
    machine = machines.load("azure-hb96v3-hdr")
    assert isinstance(machine.model, Protocol)
    eager = machine.loggps
    assert overhead_at(eager, 5000) == pytest.approx(eager.o + 5000 * eager.O)
    assert overhead_at(eager, 5000) == pytest.approx(overhead_at(machine.model, 5000))


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    table = OverheadTable.from_netgauge(NETGAUGE)
    again = OverheadTable.load(table.save(tmp_path / "table.json"))
    assert again.sizes.tolist() == table.sizes.tolist()
    with pytest.raises(ParseError, match="found none"):
        OverheadTable.from_netgauge("nothing")
    with pytest.raises(ParameterError, match="ascend"):
        OverheadTable(np.array([2.0, 1.0]), np.array([1.0, 1.0]))
    with pytest.raises(ParameterError, match=r"float64\[1\]"):
        OverheadTable(np.array([2.0]), np.array([1.0, 1.0]))
    with pytest.raises(ParameterError, match="at least 0 s"):
        OverheadTable(np.array([2.0]), np.array([-1.0]))
    for overheads in (table, LogGPS(0.0, 0.0, 0.0, 0.0, 0.0, 1)):
        with pytest.raises(ParameterError, match="at least 0 B"):
            overhead_at(overheads, -1)
