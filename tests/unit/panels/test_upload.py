"""Files by a button, in parts, and by a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.panels import upload
from workbench.panels.error_line import ErrorLine
from workbench.panels.upload import Parts, Upload


class Taken:
    """An upload, what it took and what it shows."""

    def __init__(self, *, multiple: bool = True, accept: str = ".csv", archive: str = "") -> None:
        self.files: list[Mapping[str, bytes]] = []
        self.error = ErrorLine()
        options = {"multiple": multiple, "accept": accept, "archive": archive}
        self.upload = Upload(
            "Upload", self.files.append, self.error, width="100px", tooltip="A table", **options
        )

    def type(self, path: Path | str) -> None:
        self.upload.path.value = str(path)


def test_parts_are_joined_in_order_and_one_that_was_sent_twice_counts_once() -> None:
    parts = Parts()
    one = {"upload": "1", "part": 0, "last": False, "name": "a"}
    assert parts.take(one, b"be") is None
    assert parts.take(one, b"be") is None
    assert parts.take({**one, "part": 1}, memoryview(b"gin")) is None
    assert parts.take({**one, "part": 2, "name": "b", "last": True}, b"") == {
        "a": b"begin",
        "b": b"",
    }
    assert parts.take({**one, "part": 2, "name": "b", "last": True}, b"") is None
    again = {"upload": "2", "part": 0, "last": True, "name": "a"}
    assert parts.take(again, b"new") == {"a": b"new"}


def test_a_path_is_read_where_the_kernel_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "runs").mkdir()
    for name in ("b.CSV", "a.csv", "notes.md", ".hidden.csv"):
        (tmp_path / "runs" / name).write_text(name)
    (tmp_path / "runs" / "failed").mkdir()
    taken = Taken()
    taken.type("~/runs")
    taken.type("~/runs/notes.md")
    assert taken.files == [{"a.csv": b"a.csv", "b.CSV": b"b.CSV"}, {"notes.md": b"notes.md"}]
    assert taken.error.message == taken.upload.path.value == ""


def test_the_folder_of_an_archive_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    for name in ("traces.otf2", "traces.def", "traces/0.evt"):
        (tmp_path / name).write_text(name)
    whole = {"traces.otf2": b"traces.otf2", "traces.def": b"traces.def", "0.evt": b"traces/0.evt"}
    for path in (tmp_path, tmp_path / "traces.otf2"):
        taken = Taken(accept="", archive=".otf2")
        taken.type(path)
        assert taken.files == [whole]


@for_each(
    "path, complaint",
    [
        (
            "away/x.csv",
            r"away/x\.csv is not on the machine where the kernel runs; the near",
        ),
        (".", r"must be a file; it is a folder"),
        ("large.csv", r"large\.csv must hold at most 0 GiB, not 0\.0; read it in Python"),
    ],
)
def test_a_path_that_is_refused_stays_to_be_mended(
    path: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "MOST_READ_B", 10)
    (tmp_path / "large.csv").write_bytes(bytes(11))
    taken = Taken(multiple=False)
    with pytest.raises(ParameterError, match=complaint):
        taken.upload.take_path(str(tmp_path / path))
    taken.type(tmp_path / path)
    assert taken.error.message
    assert taken.upload.path.value == str(tmp_path / path)
    assert taken.files == []


def test_a_folder_without_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"must hold a file of \.csv; it holds none"):
        Taken().upload.take_path(str(tmp_path))


def test_a_page_of_voila_does_not_read_the_servers_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    made = Taken().upload
    assert made.children == (made.button,)
    assert "path" not in made.button.tooltip and made.button.instead == ""
