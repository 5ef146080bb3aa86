from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.models import OverheadTable, Protocol
from workbench.models.loggps import LogGPS
from workbench.models.netgauge import reading_of

times = st.floats(0, 1e-2)
rates = st.floats(0, 1e-6)


def example(**changes: object) -> LogGPS:
    values: dict[str, object] = {"L": 1.7e-6, "o": 2e-7, "g": 3e-7, "G": 4e-11, "O": 5e-11}
    return LogGPS(**(values | {"S": 16384} | changes))  # type: ignore[arg-type]


def test_it_prints_itself_with_units_and_known_errors() -> None:
    assert repr(example()) == (
        "LogGPS(L 1.70 µs, o 200 ns, g 300 ns, G 0.04 ns/B, O 0.05 ns/B, S 16 KiB)"
    )
    known = example(errors={"L": 5e-8, "G": 1e-12, "S": 100})
    assert known.text("L") == "1.70 µs ± 50 ns"
    assert known.text("G") == "0.04 ns/B ± 0.001"
    assert known.text("S") == "16 KiB ± 100 B"
    assert known._repr_html_().count("<tr>") == 6


@for_each(
    "changes, message",
    [
        ({"L": -1e-9}, "L must be a finite number of at least 0 s; got -1e-09"),
        ({"G": float("nan")}, "G must be a finite number of at least 0 s/B"),
        ({"o": "fast"}, "o must be a time such as 500ns or 2us; units are"),
        ({"g": True}, "g must be a finite number"),
        ({"S": 1.5}, "S must be a whole number of bytes"),
        ({"S": 2**31}, "S must be a whole number of bytes of at most 2147483647"),
        ({"errors": {"l": 1e-9}}, "LogGPS has L, o, g, G, O, S; got 'l'"),
        ({"errors": {"L": -1.0}}, "the error of L must be a finite number"),
    ],
)
def test_what_is_no_cost_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        example(**changes)


def test_a_changed_parameter_loses_its_error_and_no_other() -> None:
    known = example(errors={"L": 5e-8, "o": 1e-9})
    changed = known.replace(L=2e-6)
    assert changed.L == 2e-6
    assert changed.errors == {"o": 1e-9}
    assert known.errors == {"L": 5e-8, "o": 1e-9}
    assert known.replace(errors={"S": 2}).errors == {"S": 2}
    with pytest.raises(ParameterError, match="LogGPS has L, o, g, G, O, S; got 'LL'"):
        known.replace(LL=1.0)


@given(st.builds(LogGPS, times, times, times, rates, rates, st.integers(0, 2**31 - 1)))
def test_text_json_and_pickle_give_back_the_same_parameters(parameters: LogGPS) -> None:
    assert LogGPS.from_netgauge(parameters.to_text()) == parameters
    assert LogGPS.from_dict(json.loads(json.dumps(parameters.to_dict()))) == parameters
    assert pickle.loads(pickle.dumps(parameters)) == parameters


def test_a_file_is_read_back_and_a_damaged_one_refused(tmp_path: Path) -> None:
    known = example(errors={"L": 5e-8})
    path = known.save(tmp_path / "loggps.json")
    assert LogGPS.load(path) == known
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"o"', "o", 1), encoding="utf-8")
    with pytest.raises(ParseError, match="must be JSON") as caught:
        LogGPS.load(path)
    assert caught.value.line == 5
    path.write_text('{"format": "workbench LogGPS", "version": 1, "L": 1e-6}', encoding="utf-8")
    with pytest.raises(ParseError, match="o, g, G, O, S missing"):
        LogGPS.load(path)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(ParseError, match=r"loggps\.json: .*must be a JSON object, not list"):
        LogGPS.load(path)


def test_output_of_netgauge_gives_overheads_as_a_line_over_size() -> None:
    # o = 0.5 us + 0.001 us/B: mean of sender and receiver at 1 B and 1001 B.
    text = """Testing size 1
 L=1.250000  s=1  o_s=0.401000  o_r=0.601000  g=0.700000  G=0.000900 (8.68 GiB/s) lsqu(g,G)=0.1
Testing size 1001
 L=1.300000  s=1001  o_s=1.501000  o_r=1.501000  g=0.800000  G=0.000800 (9.7 GiB/s) lsqu(g,G)=0.2
"""
    parameters = LogGPS.from_netgauge(text, S=8192)
    assert (parameters.L, parameters.g, parameters.G) == (1.3e-6, 8e-7, 8e-10)
    # two points determine the line: rounding of the solver only
    assert [parameters.o, parameters.O] == pytest.approx([5e-7, 1e-9], rel=1e-9)
    assert parameters.S == 8192


REPORTS = Path(__file__).parents[2] / "data" / "reports"


def test_netgauge_rows_without_gap_or_of_another_protocol_are_marked() -> None:
    for name in ("25_netgauge.dat", "25b_netgauge_console.txt"):
        text = (REPORTS / name).read_text()
        found = LogGPS.from_netgauge(text)
        assert (found.L, found.g, found.G) == (1.78e-6, 0.62e-6, 0.083e-9)
        assert OverheadTable.from_netgauge(text).at(561) == pytest.approx(0.332e-6, abs=5e-10)
        reading = reading_of(text.encode(), name, None)
        assert reading is not None
        tables = {table.labels["parameter"]: table for table in reading.tables}
        assert tables["g"].values[1:] == [0.64, 0.63, 0.62, -17.2]
        assert math.isnan(tables["g"].values[0])
        assert tables["G"].labels["doubtful"] == "at 1, 4194304 B"
        assert (tables["G"].unit, tables["G"].values[3]) == ("ns/B", 0.083)
        assert tables["o_s"].values == [0.3, 0.3, 0.35, 3.2, 80.0]
        assert reading.facts["last_usable"] == {
            **{"size": 65536, "L_us": 1.78, "g_us": 0.62, "G_ns_per_B": 0.083}
        }
        assert "1 B: g and G are no numbers" in reading.notes[0]
        assert "lsqu jumps from 0.1 to 53.1" in reading.notes[1]
    for name, marked in (("25c_nolast.txt", 1), ("25d_nonan.txt", 1)):
        reading = reading_of((REPORTS / name).read_bytes(), name, None)
        assert reading is not None
        assert len(reading.notes) == marked
        assert reading.facts["last_usable"]["g_us"] == 0.62
    assert reading_of(b"num_ranks 1\n", "x", None) is None


def test_a_cut_netgauge_log_is_read_and_a_broken_one_names_its_line() -> None:
    text = (REPORTS / "25b_netgauge_console.txt").read_text()
    cut = reading_of(text[: text.index("o_r=3.30")].encode(), "ng.txt", None)
    assert cut is not None
    assert "line 6, the last, is cut off; left out" in cut.notes
    with pytest.raises(ParseError, match=r"ng\.txt:5: .* number for o_r="):
        LogGPS.from_netgauge(text.replace("o_r=0.36", "o_r=many"), source="ng.txt")
    with pytest.raises(ParseError, match="ng:3: some line must have a g and G that are of use"):
        LogGPS.from_netgauge("\n".join(text.splitlines()[:3]), source="ng")


def test_overheads_that_fall_with_size_have_no_cost_a_byte() -> None:
    line = " L=1 s={} o_s={} o_r={} g=1 G=0.001"
    text = "\n".join([line.format(1, 2, 2), line.format(100, 1, 1)])
    parameters = LogGPS.from_netgauge(text)
    assert parameters.O == 0
    assert parameters.o == pytest.approx(1.5e-6, rel=1e-12)


@for_each(
    "text, line, message",
    [
        ("nothing measured\n", 0, "found none"),
        ("\n L=1 s=1 o_s=1 g=1 G=1\n", 2, "number for o_r="),
        ("L=1 s=1 o_s=+ o_r=1 g=1 G=1", 1, "number for o_s="),
    ],
)
def test_what_netgauge_did_not_print_is_refused(text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        LogGPS.from_netgauge(text)
    assert caught.value.line == line


def test_a_protocol_model_gives_the_costs_of_the_regime_that_is_asked_for() -> None:
    model = Protocol(
        short_latency=1.2e-6,
        eager_latency=1.7e-6,
        short_overhead=1e-7,
        eager_overhead=2e-7,
        rendezvous_overhead=5e-7,
        short_copy_bandwidth=5e9,
        eager_copy_bandwidth=2e10,
        rendezvous_copy_bandwidth=2e11,
        eager_bandwidth=1e10,
        rendezvous_bandwidth=2.5e10,
        eager_max=16384,
    )
    eager = LogGPS.from_protocol(model)
    assert eager == LogGPS(1.7e-6, 2e-7, 2e-7, 1e-10, 5e-11, 16384)
    short = LogGPS.from_protocol(model, "short")
    assert short == LogGPS(1.2e-6, 1e-7, 1e-7, 1e-10, 2e-10, 16384)
    rendezvous = LogGPS.from_protocol(model, "rendezvous")
    assert rendezvous == LogGPS(1.7e-6, 5e-7, 5e-7, 4e-11, 5e-12, 16384)
    with pytest.raises(ParameterError, match=r"no middle messages.*take eager"):
        LogGPS.from_protocol(model, "middle")
    four = model.replace(middle_limit=2048, middle_latency=5e-6, middle_overhead=5e-7)
    assert LogGPS.from_protocol(four, "middle") == LogGPS(5e-6, 5e-7, 5e-7, 4e-11, 5e-12, 16384)
    assert LogGPS.from_protocol(four) == LogGPS(1.7e-6, 2e-7, 2e-7, 4e-11, 5e-12, 16384)
    above = four.replace(middle_limit=262144)
    assert LogGPS.from_protocol(above) == eager
    with pytest.raises(ParameterError, match="short, eager, rendezvous, middle; got 'huge'"):
        LogGPS.from_protocol(model, "huge")  # type: ignore[arg-type]


def test_errors_of_rates_become_errors_of_times_a_byte() -> None:
    model = Protocol(eager_bandwidth=1e10)
    errors = {"eager.bandwidth": 1e8, "eager.latency": 2e-8, "rendezvous.bandwidth": 1e9}
    parameters = LogGPS.from_protocol(model, errors=errors)
    # 1 % of the rate is 1 % of its inverse
    assert parameters.errors == {"L": 2e-8, "G": pytest.approx(1e-12, rel=1e-12)}
