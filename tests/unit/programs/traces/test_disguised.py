"""What liballprof leaves out is found again: recorded traces, disguised, give the same program."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from tests.cases import for_each
from tests.reference.traces import disguise
from tests.unit.programs.traces.writing import recorded, same
from workbench.programs.traces import read_trace

ROOT = Path(__file__).resolve().parents[4]
SHIPPED = sorted((ROOT / "datasets" / "traces").glob("*/trace.zip"))


@for_each("stride", [4, 8])
@for_each("path", SHIPPED)
def test_shipped_traces(path: Path, stride: int) -> None:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        files = {name: archive.read(name).decode("ascii") for name in archive.namelist()}
    found = read_trace(disguise(files, stride=stride))
    same(found, read_trace(files))


@for_each("stride", [4, 8])
def test_rows_and_columns_of_a_grid_with_every_kind_of_wait(stride: int) -> None:
    files = recorded(*[grid(rank) for rank in range(6)])
    same(read_trace(disguise(files, stride=stride)), read_trace(files))


def grid(rank: int) -> list[str]:
    """Return the calls of a rank of a 2 x 3 grid that also has its rows, columns and a copy."""
    row, column = divmod(rank, 3)
    rows = [" ".join(str(3 * r + c) for c in range(3)) for r in range(2)]
    columns = [" ".join(str(3 * r + c) for r in range(2)) for c in range(3)]
    next_, last = (rank + 1) % 6, (rank - 1) % 6
    return [
        "# comm 1 0 1 2 3 4 5",
        f"Cart_create:{{w}}:2:0:0:0:1,{rank},6",
        f"# comm {10 + row} {rows[row]}",
        f"Cart_sub:1,{rank},6:0:{10 + row},{column},3",
        f"Bcast:0:7:{{d}}:2:{10 + row},{column},3",
        f"# comm {20 + column} {columns[column]}",
        f"Comm_split:1,{rank},6:{column}:0:{20 + column},{row},2",
        f"Allreduce:0:0:7:{{d}}:0:{20 + column},{row},2",
        "# comm 2 0 1 2 3 4 5",
        f"Comm_dup:{{w}}:2,{rank},6",
        f"Recv_init:0:3:{{d}}:{last}:5:2,{rank},6:1",
        f"Send_init:0:3:{{d}}:{next_}:5:2,{rank},6:2",
        *["Startall:2:1,2", "Waitall:2:1,2:-;-"] * 2,
        f"Irecv:0:2:{{d}}:{last}:6:{{w}}:3",
        f"Isend:0:2:{{d}}:{next_}:6:{{w}}:4",
        f"Ibarrier:1,{rank},6:5",
        "Waitall:3:3,4,5:-",
        f"Sendrecv:0:1:{{d}}:{next_}:8:0:1:{{d}}:{last}:8:{{w}}:-",
        f"Isend:0:1:{{d}}:{next_}:9:1,{rank},6:6",
        f"Recv:0:1:{{d}}:{last}:9:1,{rank},6:-",
        "Wait:6:-",
        f"Comm_free:{20 + column},{row},2",
    ]
