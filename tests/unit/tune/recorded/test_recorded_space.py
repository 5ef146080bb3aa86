"""Recorded spaces: what they say of their runs, and files of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError, ParseError, WorkbenchError
from workbench.tune.recorded.files import (
    Description,
    read_recording,
    read_tables,
    recordings,
    shipped_recording,
    write_recording,
)
from workbench.tune.recorded.recorded_space import RecordedSpace
from workbench.tune.recorded.run_table import RecordedMeasurement, RecordedTable
from workbench.tune.space.axes import Choices, Grid
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace(
    {"algorithm": Choices(("a", "b", "c")), "segment": Grid((1, 2, 4))},
    conditions={"segment": "algorithm == 'b'"},
    defaults={"algorithm": "a", "segment": 1},
)
ABOUT = Description("small", "a small one", "measured", "made by a test", {"ranks": 2})


def table(values: dict[tuple[str, int | None], list[float]]) -> RecordedTable:
    runs = tuple(
        RecordedMeasurement(at, {"algorithm": a, "segment": s}, 8, 1.0 + value, {"p50_us": value})
        for (a, s), column in values.items()
        for at, value in enumerate(column)
    )
    return RecordedTable("sum", SPACE, ("p50_us",), "p50_us", runs)


GOOD = {
    ("a", None): [10.0, 12.0, 11.0],
    ("b", 1): [5.0, 5.2, 5.1],
    ("b", 2): [5.0, 5.3, 5.1],
    ("b", 4): [9.0, 9.1, 9.2],
    ("c", None): [20.0, 20.0, 20.0],
}


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedSpace:
    write_recording(tmp_path / "small", ABOUT, [table(GOOD)])
    return read_recording(tmp_path / "small")["sum/8"]


def test_default_optimum_and_potential(recorded: RecordedSpace) -> None:
    assert recorded.default == {"algorithm": "a", "segment": None}
    assert recorded.default_value == 11.0
    assert recorded.optimum == {"algorithm": "b", "segment": 1}
    assert recorded.potential == pytest.approx(1 - 5.1 / 11)
    assert recorded.unit == "us"
    assert not recorded.failed


def test_repeats_are_those_of_the_file(recorded: RecordedSpace) -> None:
    values, seconds = recorded.repeats({"algorithm": "b", "segment": 4})
    np.testing.assert_array_equal(values, [9.0, 9.1, 9.2])
    np.testing.assert_allclose(seconds, values + 1.0)


def test_time_of_the_grid_counts_what_does_not_apply(recorded: RecordedSpace) -> None:
    once = [1 + np.mean(column) for column in GOOD.values()]
    assert recorded.exhaustive_s == pytest.approx(sum(once))
    # Algorithms a and c are run with each of the three segments.
    assert recorded.grid_s == pytest.approx(sum(once) + 2 * (once[0] + once[4]))


def test_what_the_repeats_cannot_tell_ties(recorded: RecordedSpace) -> None:
    assert [each["segment"] for each in recorded.ties()] == [1, 2]


def test_what_luck_promised_is_not_confirmed(tmp_path: Path) -> None:
    # Algorithm c is best by the even repeats alone, b by the odd ones alone; both by luck.
    luck = {
        ("a", None): [10.0, 10.0, 10.0, 10.0],
        ("b", 1): [10.0, 5.0, 10.0, 5.0],
        ("b", 2): [10.0] * 4,
        ("b", 4): [10.0] * 4,
        ("c", None): [5.0, 10.0, 5.0, 10.0],
    }
    write_recording(tmp_path / "small", ABOUT, [table(luck)])
    space = read_recording(tmp_path / "small")["sum/8"]
    assert space.potential == pytest.approx(0.25)
    assert space.confirmed_potential == 0.0


def test_halves_hold_every_repeat_once(recorded: RecordedSpace) -> None:
    even, odd = recorded.half(0), recorded.half(1)
    for whole, first, second in zip(recorded.values, even.values, odd.values, strict=True):
        np.testing.assert_array_equal(whole[::2], first)
        np.testing.assert_array_equal(whole[1::2], second)
    # The medians are those of the half, not of the whole that was asked before.
    assert recorded.optimum_value == 5.1
    assert (even.optimum_value, odd.optimum_value) == (5.05, 5.2)
    assert even.default_value == 10.5
    for space, start in ((recorded, 2), (odd, 0)):
        with pytest.raises(ParameterError, match="a half must begin at 0 or 1"):
            space.half(start)


def test_three_repeats_confirm_nothing(recorded: RecordedSpace) -> None:
    assert math.isnan(recorded.confirmed_potential)


def test_two_repeats_tell_nothing(tmp_path: Path) -> None:
    short = {key: values[:2] for key, values in GOOD.items()}
    write_recording(tmp_path / "small", ABOUT, [table(short)])
    assert len(read_recording(tmp_path / "small")["sum/8"].ties()) == 5


def test_failed_runs_are_left_out(tmp_path: Path) -> None:
    whole = table({key: values for key, values in GOOD.items() if key[0] != "c"})
    bad = RecordedMeasurement(
        0, {"algorithm": "c", "segment": None}, 8, math.nan, {}, state="timeout"
    )
    runs = (*whole.runs, bad)
    written = RecordedTable("sum", SPACE, ("p50_us",), "p50_us", runs)
    write_recording(tmp_path / "small", ABOUT, [written])
    space = read_recording(tmp_path / "small")["sum/8"]
    assert space.failed == ({"algorithm": "c", "segment": None},)
    with pytest.raises(ParameterError, match="was not recorded or failed"):
        space.repeats({"algorithm": "c", "segment": None})


def test_who_is_killed_while_writing_leaves_every_recorded_run(
    recorded: RecordedSpace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (tmp_path / "small" / "sum.csv").read_bytes()

    def killed(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:40])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        write_recording(tmp_path / "small", ABOUT, [table(GOOD)])
    assert (tmp_path / "small" / "sum.csv").read_bytes() == before


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    write_recording(tmp_path / "small", ABOUT, [table(GOOD)])
    path = tmp_path / "small" / "sum.csv"
    path.write_text(path.read_text().replace("9.1", "8.1"))
    with pytest.raises(DatasetError, match="checksum"):
        read_recording(tmp_path / "small")


@for_each(
    "line, says",
    [
        ("0,,,completed,8,z,,1,1", "'z' is not one of a, b, c"),
        ("0,,,completed,8,b,3,1,1", "'3' is not one of 1, 2, 4"),
        ("0,,,completed,8,b,1,1", "9 fields; got 8"),
        ("0,,,completed,x,a,,1,1", "must hold a run"),
    ],
)
def test_a_bad_row_is_reported_with_its_line(line: str, says: str) -> None:
    empty = table({})
    with pytest.raises(ParseError, match=says) as error:
        empty.parse(empty.head() + line + "\n", "sum.csv")
    assert error.value.line == 2


@given(st.text(max_size=80))
def test_any_text_is_rows_or_an_error(text: str) -> None:
    empty = table({})
    try:
        runs = empty.parse(empty.head() + text, "sum.csv")
    except WorkbenchError:
        return
    assert all(run.configuration["algorithm"] in ("a", "b", "c") for run in runs)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_any_descriptor_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, x: object
) -> None:
    folder = tmp_path_factory.mktemp("recording")
    write_recording(folder, ABOUT, [table({})])
    values = json.loads((folder / "datapackage.json").read_text())
    for key in ("spaces", "context", "resources"):
        (folder / "datapackage.json").write_text(json.dumps({**values, key: x}))
        try:
            read_recording(folder)
        except WorkbenchError:
            continue


def test_rows_come_back(tmp_path: Path) -> None:
    run = RecordedMeasurement(
        3, {"algorithm": "b", "segment": 4}, 16, 0.5, {"p50_us": 2.0}, "2026-01-01T00:00:00", 1.5
    )
    empty = table({})
    assert empty.parse(empty.head() + empty.line(run), "x") == (run,)


def test_shipped_recordings_are_whole() -> None:
    found = recordings()
    assert {name: len(found[name]) for name in found} == {
        "dd-write": 1,
        "open-mpi-4-ranks": 20,
        "simulated-12-ranks": 20,
        "simulated-576-ranks": 20,
    }
    for recording in found.things:
        for space in recording.values():
            known: list[Configuration] = [*space.configurations, *space.failed]
            assert len(known) == space.space.size
            assert 0 < space.optimum_value <= space.default_value
            assert all(np.isfinite(each).all() and (each > 0).all() for each in space.values)
    assert {each.provenance.origin for each in found.things} == {"measured", "synthetic"}


@for_each("name, sizes", [("open-mpi-4-ranks", 5), ("dd-write", 1)])
def test_a_measured_recording_was_made_in_passes_and_records_its_load(
    name: str, sizes: int
) -> None:
    _, tables = read_tables(data_folder() / "tuning" / name)
    for each in tables:
        passes: dict[int, list[tuple[object, ...]]] = {}
        for run in each.runs:
            assert math.isfinite(run.load)
            passes.setdefault(run.round, []).append((run.size, *run.configuration.values()))
        assert len(passes) == 10
        assert {len(set(order)) for order in passes.values()} == {sizes * (each.space.size or 0)}
        # Each pass has an order of its own.
        assert len({tuple(order) for order in passes.values()}) == 10


def test_an_unknown_recording_lists_the_known() -> None:
    with pytest.raises(DatasetError, match="simulated-12-ranks"):
        shipped_recording("nothing")
