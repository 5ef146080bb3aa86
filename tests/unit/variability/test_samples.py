"""Counters that a monitoring service reads at its own times, summed over components by step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.variability import (
    CounterSamples,
    JobPlacement,
    StepTable,
    read_placement,
    read_samples,
)
from workbench.variability.known_files import reading_of


def steps_of(*times: tuple[float, float], runs: int = 1) -> StepTable:
    """Return steps with these starts and ends, the same in each run."""
    start, end = (
        np.tile(np.array(column, np.float64), (runs, 1)) for column in zip(*times, strict=True)
    )
    count = len(times)
    return StepTable(
        tuple("rst"[:runs]),
        start[:, 0],
        end - start,
        (),
        np.empty((runs, count, 0)),
        Provenance("measured", "by hand"),
        step_start=start,
        step_end=end,
    )


def samples_of(folder: Path, text: str | bytes, **options: object) -> CounterSamples:
    path = folder / "samples.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_samples(path, **options)  # type: ignore[arg-type]


def table(rates: dict[str, float], times: range = range(11)) -> str:
    """Return samples of counters that rise at these rates, every second."""
    rows = [f"{name},{t},{1000 + rate * t:g}" for t in times for name, rate in rates.items()]
    return "component,time,X\n" + "\n".join(rows) + "\n"


def test_rises_are_interpolated_and_summed(tmp_path: Path) -> None:
    samples = samples_of(tmp_path, table({"n1": 10, "n2": 1}))
    assert samples.interval_s == 1
    assert repr(samples) == "CounterSamples(22 samples of 2 components, 1 counters, every 1 s)"
    steps = samples.add_to(steps_of((0.25, 1.25), (1.25, 4.75)), prefix="SYS_")
    assert steps.features == ("sys",)
    np.testing.assert_allclose(steps.values[0, :, 0], [11, 38.5], rtol=1e-12)
    one = samples.add_to(steps_of((0, 1)), components=["n2"])
    assert one.values[0, 0, 0] == 1
    kept = CounterSamples.load(samples.save(tmp_path / "kept.json"))
    assert kept.to_frame().equals(samples.to_frame())


def test_only_the_components_of_a_run_or_of_others_count(tmp_path: Path) -> None:
    samples = samples_of(tmp_path, table({"n1": 10, "n2": 1, "n3": 100}))
    placement = JobPlacement(("r", "r", "s"), ("n1", "n2", "n3"), ("",) * 3, ("",) * 3)
    steps = steps_of((0, 1), runs=2)
    own = samples.add_to(steps, whose="job", placement=placement)
    others = samples.add_to(steps, whose="others", placement=placement)
    assert own.values[:, 0, 0].tolist() == [11, 100]
    assert others.values[:, 0, 0].tolist() == [100, 11]
    with pytest.raises(ParameterError, match="a placement must say which components"):
        samples.add_to(steps, whose="job")
    with pytest.raises(ParameterError, match="whose must be one of all, job, others"):
        samples.add_to(steps, whose="mine")  # type: ignore[arg-type]
    with pytest.raises(
        ParameterError, match="components must be some.*got 'n9'".replace(".*", r"[\s\S]*")
    ):
        samples.add_to(steps, components=["n9"])
    without = JobPlacement(("r",), ("n1",), ("",), ("",))
    partly = samples.add_to(steps, whose="job", placement=without)
    assert np.isnan(partly.values[1]).all()
    assert "1 runs have no component that counts: s" in partly.notes


def test_ldms_files_are_known_and_wraps_and_resets_handled(tmp_path: Path) -> None:
    wrap = [2**32 - 15, 2**32 - 5, 5, 15, 25]
    reset = [100, 110, 120, 3, 13]
    rows = [f"{1000 + at}.000100,100,nid1,7,{wrap[at]},{reset[at]}" for at in range(5)]
    text = "#Time,Time_usec,ProducerName,component_id,A,B\n" + "\n".join(rows) + "\n"
    samples = samples_of(tmp_path, text, offset_s=-1000)
    assert (samples.component, samples.counters) == (("nid1",), ("A", "B"))
    assert samples.notes == (
        "A wrapped 1 times, which was repaired",
        "B was reset 1 times; its rises there are missing",
    )
    steps = samples.add_to(steps_of((0.1, 1.1), (1.1, 3.1), (3.1, 3.9)))
    np.testing.assert_allclose(steps.values[0, :, 0], [10, 20, 8], rtol=1e-9)
    np.testing.assert_allclose(steps.values[0, :, 1], [10, np.nan, 8], rtol=1e-9)
    assert "1 of 3 steps lack samples of some component, such as run r, step 1" in steps.notes


REPORTS = Path(__file__).parents[2] / "data" / "reports"


def test_rates_and_levels_are_no_counters(tmp_path: Path) -> None:
    samples = read_samples(REPORTS / "17b_ldms_rate.csv")
    assert samples.counters == ("reads_comp#sda",)
    assert samples.total[:, 0].tolist() == [0, 100, 153, 0, 100, 1100]
    assert samples.notes == (
        "reads_comp.rate#sda are rates of counters that are there too; left out",
        "ios_in_progress#sda falls in 2 of 4 changes: it is a level, no counter; left out",
    )
    text = "time,component,A,B.rate,T\n0,n,1,9,20.5\n2,n,3,1.5,21\n3,n,4,2,19.5\n"
    samples = samples_of(tmp_path, text)
    assert samples.counters == ("A", "B.rate")
    assert samples.total[:, 1].tolist() == [0, 3, 5]
    assert samples.notes == (
        "B.rate is a rate; it was added up over the time since the sample before",
        "T counts nothing (line 2 has a fraction or a sign); left out",
    )


def test_columns_named_by_another_file_are_found(tmp_path: Path) -> None:
    content = (REPORTS / "17e_ldms_altheader.csv").read_bytes()
    head = (REPORTS / "17b_ldms_rate.csv").read_text().partition("\n")[0]
    data = tmp_path / "sda.1558387831"
    data.write_bytes(content)
    with pytest.raises(ParseError, match=r"1558387831:1: LDMS wrote the names"):
        read_samples(data)
    assert read_samples(data, header=head.split(",")).counters == ("reads_comp#sda",)
    for time in (1558387830, 1558387999):
        (tmp_path / f"sda.HEADER.{time}").write_text(head.replace("sda", f"sda{time % 100}"))
    (tmp_path / "sdb.HEADER.1558387831").write_text("a,b")
    samples = read_samples(data)
    assert samples.counters == ("reads_comp#sda30",)  # of the newest header before the data
    assert samples.notes[0] == "the columns are named by sda.HEADER.1558387830"
    reading = reading_of(content, data.name, data)
    assert reading is not None
    assert (reading.kind, reading.facts["rows"]) == ("counters", 6)
    without = reading_of(content, "17e", None)
    assert without is not None
    assert (without.facts["rows"], without.facts["columns"]) == (6, 9)
    assert "the columns have no names here" in without.notes[0]
    with pytest.raises(ParseError, match="it has 2 names, and the first row has 9 cells"):
        read_samples(data, header=("a", "b"))


@for_each(
    "head, unit",
    [
        ("#Time,Time_usec,producer,instance,component_id,hits", 1),
        ("#Time_msec,Time_usec,producer,instance,component_id,hits", 1000),
        ('#"Time","Time_usec","producer","instance","component_id","hits"', 1),
    ],
)
def test_what_ldms_writes_with_a_decomposition(tmp_path: Path, head: str, unit: int) -> None:
    rows = [f"{at * unit},0,{name},{name}/set,0,{at}\n" for at in range(3) for name in ("n1", "n2")]
    samples = samples_of(tmp_path, head + "\n" + "".join(rows))
    assert (samples.component, samples.counters) == (("n1", "n2"), ("hits",))
    assert samples.interval_s == 1
    found = reading_of((head + "\n" + "".join(rows)).encode(), "ldms.csv", None)
    assert found is not None
    assert found.title == "LDMS counters: 6 samples of 1 counters on 2 components"


def test_tables_of_other_columns_in_one_file_are_refused(tmp_path: Path) -> None:
    text = "==> a.1 <==\n#Time,ProducerName,reads\n1.0,n1,7\n2.0,n1,9\n"
    path = tmp_path / "ldms.txt"
    path.write_text(text)
    assert read_samples(path).counters == ("reads",)
    path.write_text(text + "\n==> b.1 <==\n#Time,ProducerName,writes\n1.0,n1,1\n")
    with pytest.raises(ParseError, match="a file of its own") as caught:
        read_samples(path)
    assert caught.value.line == 7


def test_files_that_were_put_one_after_another_and_cut_off_are_read(tmp_path: Path) -> None:
    head = "# Time,Time_msec,ProducerName,component_id,job_id,X\n"
    rows = [f"{1558387831 + at}.5,500,n1,1,0,{at * 10}\n" for at in range(4)]
    text = head + "".join(rows[:2]) + head + "".join(rows[2:]) + "1558387835.5,500,n"
    samples = samples_of(tmp_path, text)
    assert samples.total[:, 0].tolist() == [0, 10, 20, 30]
    assert samples.notes == (
        "the names of columns stand 1 more times; left out",
        "line 7, the last, is cut off after 3 of 6 columns; left out",
    )
    reading = reading_of(text.encode(), "ldms.csv", None)
    assert reading is not None
    assert reading.title == "LDMS counters: 4 samples of 1 counters on 1 components"


def test_gaps_and_samples_out_of_order_are_reported(tmp_path: Path) -> None:
    text = table({"n1": 10}, range(4)) + table({"n1": 10}, range(20, 24)).partition("\n")[2]
    shuffled = text.splitlines()
    shuffled[1:3] = shuffled[2:0:-1]
    samples = samples_of(tmp_path, "\n".join([*shuffled, "n1,3,9999"]) + "\n")
    assert (
        "1 samples are of a component and time that have one already, such as n1"
        in samples.notes[0]
    )
    steps = steps_of((0.5, 1.5), (2.5, 5.5), (20.5, 21), (22, 40))
    found = samples.add_to(steps)
    np.testing.assert_allclose(found.values[0, :, 0], [10, np.nan, 5, np.nan])
    wide = samples.add_to(steps, most_gap_s=60)
    assert wide.values[0, 1, 0] == pytest.approx(30)
    with pytest.raises(ParameterError, match=r"mend the clocks \(zone, offset_s\)"):
        samples.add_to(steps_of((100, 101)))
    with pytest.raises(ParameterError, match="must have starts and ends"):
        bare = steps_of((0, 1))
        samples.add_to(
            StepTable(bare.run, bare.start, bare.time_s, (), bare.values, bare.provenance)
        )


def test_an_hour_that_comes_twice_is_told_by_the_order(tmp_path: Path) -> None:
    clock = ["00:30", "01:30", "01:30", "02:30"]  # 4 November 2018 in California
    rows = [f"n1,2018-11-04T{at}:00,{3600 * count}" for count, at in enumerate(clock)]
    text = "component,time,X\n" + "\n".join(rows) + "\n"
    samples = samples_of(tmp_path, text, zone="America/Los_Angeles")
    np.testing.assert_array_equal(np.diff(samples.time), 3600)
    assert len(samples.notes) == 2
    assert "taken for the first" in samples.notes[0]
    assert "taken for the second" in samples.notes[1]


@for_each(
    "text, words",
    [
        ("time,component\n0,a\n", "a column for each counter"),
        ("time,X\n0,1\n", "lacks component"),
        ("time,component,X\nsoon,a,1\n", "2: time must be seconds or a date"),
        ("time,component,X\n0,a,1\n1,a,many\n", "3: X must be a whole number"),
        ("time,component,X\n0,,1\n", "must name the component"),
        ("time,component,X\n", "must have rows"),
    ],
)
def test_bad_samples_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        samples_of(tmp_path, text)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damaged_samples_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(table({"n1": 10, "n2": 3}, range(3)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        samples_of(tmp_path, bytes(text))
    except ParseError as error:
        assert "samples.csv" in str(error)


def test_placement_counts_routers_and_groups(tmp_path: Path) -> None:
    path = tmp_path / "placement.csv"
    path.write_text(
        'run,NodeList\nr,"c0-0c0s1n[0-3],c0-0c0s2n0"\nr,c1-0c2s15n3\nr,c2-0c0s0n0\ns,c2-1c0s0n0\n'
    )
    placement = read_placement(path, columns={"node": "NodeList"})
    frame = placement.to_frame().set_index("run")
    # Cabinets 0 and 1 of row 0 are a group, 2 is of the next; row 1 has groups of its own.
    assert frame.loc["r"].tolist() == [7, 4, 2]
    assert frame.loc["s"].tolist() == [1, 1, 1]
    assert placement.notes == ("routers and groups of 8 nodes are taken from the nodes' names",)
    steps = placement.add_to(steps_of((0, 1), (1, 2), runs=3))
    assert steps.features == ("placement", "placement")
    np.testing.assert_array_equal(steps.values[0], [[4, 2], [4, 2]])
    assert np.isnan(steps.values[2]).all()
    assert "1 runs have no placement: t" in steps.notes
    assert "c0-0c0s1" in placement.of("r")
    assert (
        JobPlacement.load(placement.save(tmp_path / "p.json"))
        .to_frame()
        .equals(placement.to_frame())
    )
    with pytest.raises(ParameterError, match="counters must be new ones"):
        placement.add_to(steps)


def test_placement_with_own_routers_and_other_nodes(tmp_path: Path) -> None:
    path = tmp_path / "placement.csv"
    path.write_text('run,node,router\nr,"nid0[08-10,12],login",a\nr,nid020,b\n')
    placement = read_placement(path)
    assert placement.node == ("nid008", "nid009", "nid010", "nid012", "login", "nid020")
    frame = placement.to_frame()
    assert frame["NUM_ROUTERS"].tolist() == [2]
    assert np.isnan(frame["NUM_GROUPS"]).all()
    assert "6 of 6 nodes have no group" in placement.notes
    assert placement.add_to(steps_of((0, 1))).counters == ("NUM_ROUTERS",)
    for text in ("nid[3-1]", "nid[1-", "nid[a]", "nid[0-9999999]", "n]1[", "a,,b"):
        path.write_text(f'run,node\nr,"{text}"\n')
        with pytest.raises(ParseError, match="2: node must be a name or a list"):
            read_placement(path)
    path.write_text("run,node\nr,n1\n")
    with pytest.raises(ParameterError, match="must name routers or groups"):
        read_placement(path).add_to(steps_of((0, 1)))
    with pytest.raises(ParameterError, match="must be those of the placement; it has x"):
        path.write_text("run,node,router\nx,n1,a\n")
        read_placement(path).add_to(steps_of((0, 1)))


def test_columns_without_names_are_no_counters(tmp_path: Path) -> None:
    text = "Time,,,component_id,x\n1.0,0,7,1,2\n2.0,0,8,1,5\n3.0,0,9,1,6\n"
    assert samples_of(tmp_path, text).counters == ("x",)
