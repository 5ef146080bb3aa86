"""Files are replaced in one step, and what is no file is written to as it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from workbench.atomic_write import atomic_write, replace_file


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    replace_file(path, b"old")
    with atomic_write(path, ".lp") as beside:
        beside.write_bytes(b"new")
        assert beside.suffix == ".lp"
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as beside:
        beside.write_bytes(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_removed_a_day_later(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    writer = "import os; from workbench.atomic_write import atomic_write as w\n"
    writer += f"with w({str(path)!r}) as part: part.write_bytes(b'half'); os._exit(9)"
    subprocess.run([sys.executable, "-c", writer], check=False)
    (left,) = tmp_path.iterdir()
    others = [tmp_path / name for name in (".kept.csv", ".other.csv.01234567", ".kept.csv.swp")]
    for other in others:
        other.write_bytes(b"")
    replace_file(path, b"new")
    assert left.exists(), "its writer may still be alive"
    for old in (left, *others):
        os.utime(old, (time.time() - 90_000,) * 2)
    replace_file(path, b"newer")
    assert {*tmp_path.iterdir()} == {path, *others}


def test_a_link_and_the_mode_of_a_file_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "kept.csv", tmp_path / "link.csv"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    replace_file(pipe, b"through it")
    reader.join()
    assert read == [b"through it"]
    assert pipe.is_fifo()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        replace_file(tmp_path / "missing" / "file", b"")
