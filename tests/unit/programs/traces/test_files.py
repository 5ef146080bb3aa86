"""Finding the files of a trace."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit.programs.traces.writing import liballprof, recorded, said
from workbench.errors import ParameterError, ParseError, SimulationHalted
from workbench.measure import read
from workbench.programs.traces import files as files_module, read_trace
from workbench.programs.traces.files import recognise
from workbench.tasks import Task

RING = [[f"Send:1:{r + 1}:{{d}}:{(r + 1) % 12}:0:{{w}}"] for r in range(12)]
TRACE = liballprof(RING)


def zipped(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(f"run/{name}", text)
    return data.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TRACE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@for_each("ranks", [TRACE, recorded(*RING)])
def test_progress_is_reported_rank_by_rank(ranks: dict[str, str]) -> None:
    said_so_far: list[str] = []
    read_trace(ranks, task=Task(lambda now: said_so_far.append(now.message)))
    assert said_so_far[11] == "12 of 12 ranks split into lines"
    assert said_so_far[-1] == "12 of 12 ranks read"
    assert len(said_so_far) == 24


@for_each("ranks", [TRACE, recorded(*RING)])
def test_a_stop_ends_the_reading(ranks: dict[str, str]) -> None:
    task = Task(lambda now: task.stop() if now.message == "2 of 12 ranks read" else None)
    with pytest.raises(SimulationHalted, match="reading the trace was stopped"):
        read_trace(ranks, task=task)
    assert task.progress.done == 2


def check(program: object) -> None:
    """Hold that the ranks are in order, ten after nine."""
    assert said(program, 11) == ["send 96 B to 0 tag 0"]  # type: ignore[arg-type]


def test_a_folder_with_other_files_in_it(folder: Path) -> None:
    (folder / "README.md").write_text("A ring.\n")
    (folder / ".hidden-3.txt").write_text(TRACE["pmpi-trace-rank-3.txt"])
    check(read_trace(folder))
    check(read_trace(str(folder)))
    assert read_trace(folder).source == folder.name


def test_the_file_of_rank_0_finds_the_others(folder: Path) -> None:
    (folder / "other-0.txt").write_text(liballprof([["Barrier:{w}"]])["pmpi-trace-rank-0.txt"])
    check(read_trace(folder / "pmpi-trace-rank-0.txt"))
    assert read_trace(folder / "other-0.txt").num_ranks == 1


def test_two_traces_in_a_folder_are_named(folder: Path) -> None:
    (folder / "other-0.txt").write_text(TRACE["pmpi-trace-rank-0.txt"])
    with pytest.raises(ParseError, match=r"found 2: other-\*\.txt, pmpi-trace-rank-\*\.txt"):
        read_trace(folder)


def test_ranks_with_leading_zeros(tmp_path: Path) -> None:
    for r, text in enumerate(TRACE.values()):
        (tmp_path / f"t-{r:02}.dat").write_text(text)
    check(read_trace(tmp_path))


def test_a_list_of_files_in_any_order(folder: Path) -> None:
    check(read_trace(sorted(folder.iterdir())))
    check(read_trace(iter(str(path) for path in folder.iterdir())))


def test_files_without_numbers_keep_the_order_of_the_list(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one", "another")]
    pair = [["Send:1:5:{d}:1:0:{w}"], ["Recv:1:5:{d}:0:0:{w}:9"]]
    for path, text in zip(paths, liballprof(pair).values(), strict=True):
        path.write_text(text)
    assert said(read_trace(paths), 1) == ["recv 40 B from 0 tag 0"]
    with pytest.raises(ParseError, match="names must contain the ranks"):
        read_trace(tmp_path)


def test_a_file_that_names_the_files(folder: Path) -> None:
    (folder / "list.txt").write_text("\n".join(f"elsewhere/{name}" for name in TRACE))
    check(read_trace(folder / "list.txt"))
    assert read(folder / "list.txt").kind == "trace"
    (folder / "other.txt").write_text("other.txt\n")
    with pytest.raises(ParseError, match="nothing that is read"):
        read(folder / "other.txt")


def test_a_zip_archive_in_a_file_or_uploaded(tmp_path: Path) -> None:
    (tmp_path / "trace.zip").write_bytes(zipped(TRACE))
    check(read_trace(tmp_path / "trace.zip"))
    check(read_trace(tmp_path))
    check(read_trace({"trace.zip": zipped(TRACE)}))


def test_files_compressed_one_by_one(tmp_path: Path) -> None:
    for name, text in TRACE.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    check(read_trace(tmp_path))
    check(read_trace(tmp_path / "pmpi-trace-rank-0.txt.gz"))


def test_a_missing_rank_is_named() -> None:
    gone = {name: text for name, text in TRACE.items() if "-7" not in name}
    with pytest.raises(ParseError, match=r"0 to 11 must all be there; rank 7's is missing"):
        read_trace(gone)


def test_the_last_rank_missing_is_found_by_what_the_others_say() -> None:
    gone = {name: text for name, text in TRACE.items() if "-11" not in name}
    with pytest.raises(ParseError, match="files of all 12 ranks must be there; got 11"):
        read_trace(gone)


def test_two_files_of_one_rank() -> None:
    twice = {"t-0.txt": "MPI_Init:-:0:0:1\n", "t-00.txt": "MPI_Init:-:0:0:1\n"}
    with pytest.raises(ParseError, match="two files are of the same rank"):
        read_trace(twice)


@for_each("data", [b"", b"\n\n", b"hello\n", b"\x89PNG\r\n\x1a\n", b"# only\n", b"\0"])
def test_what_is_no_trace_is_refused(data: bytes, tmp_path: Path) -> None:
    assert recognise(data) is None
    with pytest.raises(ParseError, match="must be a trace"):
        read_trace({"t-0.txt": data})
    (tmp_path / "t-0.txt").write_bytes(data)
    with pytest.raises(ParseError):
        read_trace(tmp_path / "t-0.txt")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="nowhere"):
        read_trace(tmp_path / "nowhere")
    with pytest.raises(ParseError, match="found none"):
        read_trace(tmp_path)
    with pytest.raises(ParseError, match="found none"):
        read_trace([])
    with pytest.raises(ParseError):
        read_trace("a\0b")
    with pytest.raises(ParseError, match="null: must be a file"):
        read_trace("/dev/null")


def test_damaged_archives_are_refused() -> None:
    for data in (zipped(TRACE)[:-40], b"PK\x03\x04garbage", zipped({"a.txt": "hello"})):
        with pytest.raises(ParseError):
            read_trace({"trace.zip": data})
    with pytest.raises(ParseError, match="is damaged"):
        read_trace({"t-0.txt.gz": gzip.compress(b"MPI_Init:-:0:0:1\n" * 99)[:-9]})


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MOST_BYTES", 2**20)
    with pytest.raises(ParseError, match="must not be larger than 1 MiB"):
        read_trace({"trace.zip": zipped({"t-0.txt": "MPI_Init:-:0:0:1\n" * 10**5})})
    with pytest.raises(ParseError, match="must not be larger than 1 MiB"):
        read_trace({"t-0.txt.gz": gzip.compress(b"MPI_Init:-:0:0:1\n" * 10**5)})


@for_each("source", [b"MPI_Init", 5, None, [5], {"t": 5}])
def test_other_sources_are_refused(source: object) -> None:
    with pytest.raises(ParameterError):
        read_trace(source)  # type: ignore[arg-type]


def test_unknown_formats_name_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="workbench, liballprof, simgrid, otf2"):
        read_trace(TRACE, format="otf")


def test_formats_are_recognised_by_their_first_lines() -> None:
    assert recognise(TRACE["pmpi-trace-rank-0.txt"].encode()) == "liballprof"
    assert recognise(recorded([])["trace-0.txt"].encode()) == "workbench"
    assert recognise(b"\n0 init 1\n") == "simgrid"


def test_an_empty_file_is_a_rank_without_calls() -> None:
    """And nothing is read from what the memory held before."""
    call = b"# liballprof\nMPI_Init:-:1*:1*:900\nMPI_Finalize:1000:-\n"
    for _ in range(20):
        program = read_trace({"b-0.txt": call, "b-1.txt": b""})
        assert (program.num_ranks, program.num_calls) == (2, 1)  # of work between two calls
