from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.unit.stored import trust_arrays
from tests.unit.tolerance.results import MODEL, from_lines
from workbench.errors import ParameterError, ParseError, WorkbenchError
from workbench.programs import ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate import replay
from workbench.tolerance import LatencySensitivity, analyse
from workbench.tolerance.contention import ContentionReport, ResourceShare
from workbench.tolerance.curve import RENDEZVOUS, more_than_messages

# T = 100 us, then 90 us + 5 L from 2 us on, then 50 us + 10 L from 8 us on.
BENT = ((100_000, 0), (90_000, 5), (50_000, 10))


def test_the_curve_follows_its_lines() -> None:
    result = from_lines(*BENT)
    assert result.critical_latencies == pytest.approx([2e-6, 8e-6])
    assert result.slopes.tolist() == [0, 5, 10]
    assert result.T_of([1e-6, 2e-6, 4e-6, 10e-6]) == pytest.approx([1e-4, 1e-4, 1.1e-4, 1.5e-4])
    assert result.lambda_of([1e-6, 3e-6, 9e-6, 20e-6]).tolist() == [0, 5, 10, 10]
    assert result.lambda_of(result.critical_latencies).tolist() == [5, 10], "the slope above"
    assert result.rho_of(10e-6) == pytest.approx(100 / 150)
    assert result.interval == pytest.approx((1e-6, 20e-6))


def test_outside_its_interval_a_curve_is_not_known() -> None:
    result = from_lines(*BENT)
    for ask in (result.T_of, result.lambda_of, result.rho_of):
        with pytest.raises(ParameterError, match="L must lie within the analysed interval"):
            ask([1e-6, 21e-6])
        with pytest.raises(ParameterError, match="got nan"):
            ask(math.nan)


def test_a_program_without_any_time_has_no_share() -> None:
    result = from_lines((0, 0))
    assert result.rho_of([1e-6, 2e-6]).tolist() == [0, 0]
    assert result.to_frame()["rho_to"].tolist() == [0]


def test_frames_hold_pieces_and_tolerances() -> None:
    result = from_lines(*BENT)
    pieces = result.to_frame()
    assert pieces["lambda_L"].tolist() == [0, 5, 10]
    assert pieces["from_ns"].tolist() == pytest.approx([1000, 2000, 8000])
    assert pieces["T_to_ns"].tolist() == pytest.approx([100_000, 130_000, 250_000])
    assert pieces["rho_from"].tolist() == pytest.approx([0, 0.1, 80 / 130])
    borne = result.tolerances()
    assert borne["percent"].tolist() == [1, 2, 5]
    assert borne["largest_L_ns"].tolist() == pytest.approx([2200, 2400, 3000])
    assert borne["added_ns"].tolist() == pytest.approx([1200, 1400, 2000])
    assert borne["T_ns"].tolist() == pytest.approx([101_000, 102_000, 105_000])


def test_the_summary_is_in_nanoseconds_and_whole_where_it_can_be() -> None:
    summary = from_lines(*BENT).summary()
    assert summary == {
        "makespan_ns": 100_000,
        "lambda_L": 0,
        "critical_messages": None,
        "lambda_G": 400,
        "rho_L": 0.0,
        "tolerance_ns": {"1": 2200, "2": 2400, "5": 3000},
        "critical_latencies_ns": [2000, 8000],
    }
    assert isinstance(summary["makespan_ns"], int)
    thirds = from_lines((100, 0), (0, 3), lo_ns=1, hi_ns=50).summary()
    assert thirds["critical_latencies_ns"] == [pytest.approx(100 / 3, rel=1e-12)]


def test_a_result_speaks() -> None:
    result = from_lines(*BENT, percent=(1.0,), warnings=("it is 42 % optimistic",))
    assert repr(result) == (
        "LatencySensitivity(lines, 2 ranks, 8 operations at L 1 µs: T 100 µs, λ_L 0, λ_G 400, "
        "ρ_L 0.00 %, L within 1 % 2.20 µs (+1.20 µs), critical latencies 2; it is 42 % optimistic)"
    )
    page = result._repr_html_()
    assert "it is 42 % optimistic" in page and "2.20 µs" in page
    assert "2 (between 1,000 ns and 20,000 ns)" in page
    corner = from_lines(*BENT, lambda_L_left=0, lambda_L=5, source="<b>")
    assert "λ_L 5 above, 0 below" in repr(corner)
    assert "&lt;b&gt;" in corner._repr_html_()
    assert "any latency" in repr(from_lines((7, 0)))


def test_a_rendezvous_counts_four_latencies_of_one_message() -> None:
    """Header, request, data, acknowledgement; three where the receiver came last (appendix B)."""

    def crossing(before_send: int, before_receive: int, size: int) -> ExecutionGraph:
        return ExecutionGraph.from_goal(
            f"num_ranks 2\n"
            f"rank 0 {{\nc: calc {before_send}\na: send {size}b to 1\na requires c\n}}\n"
            f"rank 1 {{\nc: calc {before_receive}\nb: recv {size}b from 0\nb requires c\n}}\n"
        )

    model, more = MODEL.replace(S=1000), 100e-9
    for (waits, size), llamp, loggopsim in (
        (((50_000, 0), 100_000), 4, 1),
        (((0, 50_000), 100_000), 3, 0),
        (((50_000, 0), 1000), 1, 1),
    ):
        graph = crossing(*waits, size)
        for lp in (False, True):
            result = analyse(graph, model, lp=lp)
            assert (result.lambda_L, result.critical_messages) == (llamp, 1)
            assert more_than_messages(result) == (llamp > 1)
        for semantics, latencies in (("llamp", llamp), ("loggopsim", loggopsim)):
            near, far = (
                replay(graph, model.replace(L=L), semantics=semantics).makespan_ns
                for L in (model.L, model.L + more)
            )
            assert (far - near) / (more * 1e9) == latencies
    found = analyse(crossing(50_000, 0, 100_000), model)
    assert "4 (latencies on the critical path)" in found._repr_html_()
    assert RENDEZVOUS in found.notes and RENDEZVOUS in found._repr_html_()


def test_what_was_saved_before_messages_were_counted_is_loaded(tmp_path: Path) -> None:
    path = from_lines(*BENT, critical_messages=7).save(tmp_path / "a.json")
    assert LatencySensitivity.load(path).critical_messages == 7
    content = json.loads(path.read_text())
    del content["critical_messages"]
    path.write_text(json.dumps(content))
    assert LatencySensitivity.load(path).critical_messages is None


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    shares = (ResourceShare("CPU", 7, 9), ResourceShare("rules", -2, -2))
    origin = Provenance("simulated", "both")
    report = ContentionReport("lines", MODEL, 95, 100, shares, origin)
    for number, result in enumerate(
        (from_lines(*BENT, contention=report, warnings=("a", "b")), from_lines((7, 0)))
    ):
        path = result.save(tmp_path / f"{number}.json")
        loaded = LatencySensitivity.load(path)
        assert repr(loaded) == repr(result)
        assert loaded.contention == result.contention
        assert loaded.tolerance == result.tolerance
        assert loaded.model == result.model
        for name in ("corners", "corner_T", "slopes", "critical_path", "slack_ps"):
            left, right = getattr(loaded, name), getattr(result, name)
            assert left.dtype == right.dtype and left.tolist() == right.tolist()
        for name in ("T", "lambda_G", "lambda_o", "rho_L", "seconds", "method", "warnings"):
            assert getattr(loaded, name) == getattr(result, name)


def test_what_is_no_saved_result_is_reported(tmp_path: Path) -> None:
    path = from_lines(*BENT).save(tmp_path / "one.json")
    whole = json.loads(path.read_text())
    for key in ("model", "tolerance", "method", "T"):
        for value in (None, [], "x", {"a": "b"}):
            path.write_text(json.dumps(whole | {key: value}))
            with pytest.raises(ParseError, match=r"one\.json"):
                LatencySensitivity.load(path)
    path.write_text(json.dumps(whole | {"version": 99}))
    with pytest.raises(ParseError, match="version 99"):
        LatencySensitivity.load(path)
    path.write_text(json.dumps(whole))
    path.with_suffix(".npz").unlink()
    with pytest.raises(ParseError, match=r"one\.npz"):
        LatencySensitivity.load(path)


def test_arrays_of_any_bytes_only_raise_our_errors(tmp_path: Path) -> None:
    path = from_lines(*BENT).save(tmp_path / "one.json")
    trust_arrays(path)
    arrays = path.with_suffix(".npz")
    whole = arrays.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        broken = bytearray(whole)
        for at in rng.integers(0, len(whole), int(rng.integers(1, 6))):
            broken[at] = int(rng.integers(256))
        arrays.write_bytes(bytes(broken[: int(rng.integers(1, len(whole) + 1))]))
        try:
            LatencySensitivity.load(path)
        except WorkbenchError:
            refused += 1
    assert refused > 250


def test_a_header_does_not_decide_how_much_memory_is_taken(tmp_path: Path) -> None:
    path = from_lines(*BENT).save(tmp_path / "one.json")
    trust_arrays(path)
    arrays = path.with_suffix(".npz")
    with zipfile.ZipFile(arrays) as packed:
        entries = {name: packed.read(name) for name in packed.namelist()}
    entries["slopes.npy"] = entries["slopes.npy"].replace(b"(3,), ", b"(9999999999999,), ", 1)
    with zipfile.ZipFile(arrays, "w") as packed:
        for name, data in entries.items():
            packed.writestr(name, data)
    with pytest.raises(ParseError, match=r"slopes|header|whole"):
        LatencySensitivity.load(path)
