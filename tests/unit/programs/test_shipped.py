"""The shipped programs: as their descriptors say, and nothing in them about who recorded them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import DatasetError
from workbench.programs import shipped
from workbench.programs.traces.recorder_rank import CPU_CLOCK

ROOT = Path(__file__).resolve().parents[3] / "datasets" / "traces"
TRACES = sorted(path.parent.name for path in ROOT.glob("*/datapackage.json"))
HEAD = re.compile(
    r"# (workbench trace 1|rank \d+ of \d+|mpi Open MPI v[\d.]+|request stride 0"
    r"|clock cpu|elapsed [\d.]+|comm \d+( \d+)+|type \d+( MPI_\w+)?)"
)
CALL = re.compile(r"MPI_\w+:(-|\d+\.\d{3})(:[-\d,]+)*:(-|\d+\.\d{3})")


def descriptor(name: str) -> dict[str, Any]:
    """Return what a trace's descriptor says."""
    values: dict[str, Any] = json.loads((ROOT / name / "datapackage.json").read_text("utf-8"))
    return values


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one trace that a test may spoil."""
    folder = tmp_path / "traces" / "cg-4"
    shutil.copytree(ROOT / "cg-4", folder)
    monkeypatch.setattr(shipped, "data_folder", lambda: tmp_path)
    return folder


def test_three_applications_were_recorded_on_two_numbers_of_ranks() -> None:
    expected = [f"{app}-{ranks}" for app in ("cg", "halo", "transpose") for ranks in (4, 8)]
    assert expected == TRACES
    assert set(TRACES) <= set(shipped.list().names)


@for_each("name", TRACES)
def test_a_trace_loads_as_its_descriptor_says(name: str) -> None:
    program, known = shipped.load(name), shipped.list()[name]
    assert program.source == known.name == name
    assert program.num_ranks == known.ranks
    assert known.format == "workbench-trace"
    assert known.provenance.origin == "measured"
    assert known.provenance.licence == "BSD-3-Clause"
    assert "oversubscribed" in known.provenance.details["processes"]
    assert program.notes == (f"{CPU_CLOCK}.",)


@for_each("name", TRACES)
def test_a_trace_holds_calls_and_nothing_else(name: str) -> None:
    values = descriptor(name)
    (resource,) = values["resources"]
    data = (ROOT / name / resource["path"]).read_bytes()
    assert len(data) == resource["bytes"] < 300_000
    assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    calls, last = 0, 0.0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        expected = [f"trace-{rank}.txt" for rank in range(values["ranks"])]
        assert archive.namelist() == expected
        for entry in archive.infolist():
            lines = archive.read(entry).decode("ascii").splitlines()
            strange = [x for x in lines if x and not HEAD.fullmatch(x) and not CALL.fullmatch(x)]
            assert strange == []
            calls += sum(line.startswith("MPI_") for line in lines)
            last = max(last, float(lines[-2].removeprefix("# elapsed ")))
    assert f"{calls} calls" in resource["description"]
    assert last == values["measurement"]["elapsed_us"]


@for_each("name", TRACES)
def test_a_trace_says_where_it_is_from(name: str) -> None:
    values = descriptor(name)
    source = ROOT / name / values["sources"][0]["path"]
    assert source.resolve().is_file()
    assert len(values["caveats"]) >= 2
    readme = (ROOT / name / "README.md").read_text("utf-8")
    for key in ("system", "program", "processes", "recorded", "mpi"):
        assert values["measurement"][key] in readme
    assert f"{values['measurement']['elapsed_us'] / 1000:.1f} ms" in readme


@for_each(
    "name, operations",
    [
        ("halo-8", {"allreduce": 10}),
        # 201 scalar products in each of two communicators
        ("cg-8", {"bcast": 1, "allreduce": 402, "reduce": 1}),
        # 12 steps of 4 exchanges in 4 rows of 2 and 4 in 2 columns of 4, of unequal parts
        ("transpose-8", {"alltoall": 12 * 4 * (4 + 2), "allreduce": 1}),
    ],
)
def test_a_trace_has_the_collectives_of_its_program(name: str, operations: dict[str, int]) -> None:
    assert shipped.load(name).operations == operations


def test_the_list_prints_itself_as_a_table() -> None:
    listed = shipped.list()
    rows = repr(listed).splitlines()
    assert rows[0].split() == ["name", "ranks", "origin", "title"]
    assert len(rows) == len(listed) + 1
    assert listed._repr_html_().count("<tr>") == len(rows)
    assert "halo-4" in listed


def test_an_unknown_name_offers_the_near_ones() -> None:
    with pytest.raises(DatasetError, match="did you mean halo-"):
        shipped.load("halo")
    with pytest.raises(DatasetError, match="known: cg-4, cg-8"):
        shipped.load("")


def test_a_changed_trace_is_refused(copy: Path) -> None:
    trace = copy / "trace.zip"
    trace.write_bytes(trace.read_bytes() + b"\n")
    with pytest.raises(DatasetError, match="must have the checksum sha256:"):
        shipped.load("cg-4")
    trace.unlink()
    with pytest.raises(DatasetError, match=r"must be readable; No such file.*restore"):
        shipped.load("cg-4")


@for_each(
    "change, word",
    [
        ({"format": "tarot"}, "format must be one of workbench-trace, generator"),
        ({"resources": []}, "IndexError"),
        ({"ranks": "many"}, "ValueError"),
        ({"origin": "dreamt"}, "origin must be one of"),
        ({"measurement": None}, "AttributeError"),
    ],
)
def test_a_spoilt_descriptor_is_named(copy: Path, change: dict[str, Any], word: str) -> None:
    path = copy / "datapackage.json"
    whole = path.read_text("utf-8")
    path.write_text(json.dumps({**json.loads(whole), **change}))
    with pytest.raises(DatasetError, match=f"{re.escape(str(path))} must describe.*{word}"):
        shipped.list()
    path.write_text(whole)
