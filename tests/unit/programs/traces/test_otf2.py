"""OTF2 archives, written with Score-P's writer and read back: calls, bytes and work."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench import programs
from workbench.errors import ParameterError, ParseError
from workbench.measure import read
from workbench.models import LogGPS
from workbench.panels.program_sources import uploaded_source
from workbench.programs import Program, ProgramBuilder
from workbench.programs.program import Collective
from workbench.programs.traces import read_trace
from workbench.simulate import replay

otf2: Any = pytest.importorskip("otf2", reason="Score-P's package otf2 is not installed")

from tests.unit.programs.traces.otf2_writer import INSIDE_NS, write_otf2  # noqa: E402


def every_call() -> Program:
    """Four ranks that call everything: messages, requests, a part of the ranks, collectives."""
    builder = ProgramBuilder(4)
    pair = builder.communicator([3, 1])
    for rank in range(4):
        builder.compute(rank, 1000 * (rank + 1))
    builder.send(0, 1, 64, 7)
    builder.recv(1, 0, 64, 7)
    receive = builder.irecv(3, 1, 4096, 9, comm=pair)
    send = builder.isend(1, 3, 4096, 9, comm=pair)
    builder.compute(3, 500)
    builder.wait(3, [receive])
    builder.wait(1, [send])
    for operation, size, root in (
        ("barrier", 0, 0),
        ("bcast", 24, 2),
        ("reduce", 8, 1),
        ("allreduce", 8, 0),
        ("gather", 16, 3),
        ("scatter", 16, 3),
        ("allgather", 32, 0),
        ("alltoall", 128, 0),
        ("reduce_scatter", 40, 0),
        ("scan", 8, 0),
        ("exscan", 8, 0),
    ):
        builder.collective(operation, size, root=root)
    builder.collective("allreduce", 16, comm=pair)
    for operation, sizes in (
        ("gather", (4, 8, 12, 16)),
        ("scatter", (4, 8, 12, 16)),
        ("allgather", (4, 8, 12, 16)),
        ("alltoall", (4,) * 4 + (8,) * 4 + (12,) * 4 + (16,) * 4),
    ):
        number = builder.new_collective(Collective(operation, sizes=sizes))
        for rank in range(4):
            builder.join_collective(rank, number)
    number = builder.new_collective(Collective("bcast", size=64))
    requests = [builder.begin_collective(rank, number) for rank in range(4)]
    for rank, request in enumerate(requests):
        builder.compute(rank, 200)
        builder.wait(rank, [request])
    for rank in range(4):
        builder.compute(rank, 300)
    return builder.build()


def same(found: Program, written: Program) -> None:
    assert found.num_ranks == written.num_ranks
    for name in ("rank_start", "kind", "compute_ns", "size", "peer", "tag"):
        assert np.array_equal(getattr(found, name), getattr(written, name)), name
    for here, there in zip(
        found.collective[found.collective >= 0],
        written.collective[written.collective >= 0],
        strict=True,
    ):
        one, other = found.collectives[here], written.collectives[there]
        assert (one.operation, one.size, one.sizes, one.root) == (
            other.operation,
            other.size,
            other.sizes,
            other.root,
        )
        assert np.array_equal(found.communicators[one.comm], written.communicators[other.comm])


def test_an_archive_is_read_back_call_by_call(tmp_path: Path) -> None:
    written = every_call()
    found = read_trace(write_otf2(written, tmp_path / "run"))
    same(found, written)
    assert found.recorded is not None
    calls = np.diff(written.rank_start) - 1  # the last is work alone
    assert found.recorded.mpi_ns == tuple((INSIDE_NS * calls).tolist())
    assert found.recorded.compute_ns == tuple(
        int(written.compute_ns[start:end].sum())
        for start, end in zip(written.rank_start, written.rank_start[1:], strict=False)
    )
    model = LogGPS(L=1e-6, o=1e-7, g=1e-8, G=1e-10, O=0.0, S=1000)
    again, first = (replay(program, model).finish_ps for program in (found, written))
    assert np.array_equal(again, first)


def test_a_folder_a_zip_and_an_upload_hold_the_same_archive(tmp_path: Path) -> None:
    anchor = write_otf2(every_call(), tmp_path / "run")
    found = read_trace(anchor)
    assert programs.find(anchor.parent) == found
    reading = read(anchor)
    assert (reading.kind, reading.facts["ranks"]) == ("trace", found.num_ranks)
    with pytest.raises(ParseError, match="give its path"):
        read(("traces.otf2", anchor.read_bytes()))
    packed = tmp_path / "run.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in anchor.parent.rglob("*"):
            archive.write(file, file.relative_to(tmp_path))
    assert programs.read(packed) == found
    flat = tmp_path / "flat"
    flat.mkdir()
    files = {file.name: file.read_bytes() for file in anchor.parent.rglob("*.*")}
    for name, data in files.items():
        (flat / name).write_bytes(data)
    assert read_trace(flat) == found
    assert read_trace(files) == found
    source = uploaded_source(files)
    assert (source.name, source.make()) == (f"traces.otf2 and {len(files) - 1} more", found)


def test_both_halves_of_an_exchange_are_under_way_at_once(tmp_path: Path) -> None:
    with otf2.writer.open(str(tmp_path / "run"), timer_resolution=10**9) as trace:
        made, mpi = trace.definitions, otf2.Paradigm.MPI
        node = made.system_tree_node("machine")
        places = [
            made.location(
                "Master thread", group=made.location_group(f"Rank {rank}", system_tree_parent=node)
            )
            for rank in range(2)
        ]
        kinds = otf2.GroupType
        made.group("", group_type=kinds.COMM_LOCATIONS, paradigm=mpi, members=places)
        world = made.comm(
            "world", made.group("", group_type=kinds.COMM_GROUP, paradigm=mpi, members=places)
        )
        exchange, total = (
            made.region(f"MPI_{name}", paradigm=mpi) for name in ("Sendrecv", "Allreduce")
        )
        for rank, place in enumerate(places):
            writer = trace.event_writer_from_location(place)
            writer.enter(100, exchange)
            writer.mpi_send(110, 1 - rank, world, 0, 10**6)
            writer.mpi_recv(190, 1 - rank, world, 0, 10**6)
            writer.leave(200, exchange)
            writer.enter(1200, total)
            writer.mpi_collective_begin(1200)
            # MPI_IN_PLACE: the bytes of the other rank alone
            writer.mpi_collective_end(1290, otf2.CollectiveOp.ALLREDUCE, world, 2**32 - 1, 8, 8)
            writer.leave(1300, total)
    found = read_trace(tmp_path / "run")
    frame = found.to_frame()
    assert frame["kind"].tolist() == ["isend", "recv", "wait", "collective"] * 2
    assert frame["compute_before_ns"].tolist() == [0, 0, 0, 1000] * 2
    found.graph().validate(eager_bytes=0)  # large messages do not wait for each other
    # Of two ranks 8 bytes in place and 4 bytes otherwise are told alike.
    assert found.collectives[0].size == 4
    assert found.notes[0].startswith("1 byte counts of collectives are as large with MPI_IN_PLACE")


def test_what_is_no_archive_and_a_missing_package_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "traces.otf2").write_bytes(b"nothing")
    with pytest.raises(ParseError, match="must be the anchor file of an OTF2 archive"):
        read_trace(tmp_path / "traces.otf2")
    with pytest.raises(ParameterError, match="anchor file"):
        read_trace({"a.txt": b"0 init"}, format="otf2")
    monkeypatch.setitem(sys.modules, "otf2", None)
    with pytest.raises(ParameterError, match="pip install otf2"):
        read_trace(tmp_path / "traces.otf2")
