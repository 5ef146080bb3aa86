"""Data packages: what is written is read, and what was damaged is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench import datasets, study, tune
from workbench.datapackage import (
    DESCRIPTOR,
    read_descriptor,
    read_resource,
    read_text,
    resource,
    write_package,
)
from workbench.errors import DatasetError, ParseError
from workbench.study import StudyResult

DATA = b"a\n1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"a.csv": DATA, "raw.csv": b"\xff\n"}
    return write_package(
        tmp_path / "small", {"title": "T"}, [(resource(n, d), d) for n, d in files.items()]
    )


def read(folder: Path, file: str = "a.csv") -> bytes:
    return read_resource(folder, read_descriptor(folder, "a package"), file, "save it again")


def test_a_package_is_read_as_it_was_written(folder: Path) -> None:
    descriptor = read_descriptor(folder, "a package")
    assert (descriptor["name"], descriptor["title"]) == ("small", "T")
    assert read(folder) == DATA
    assert read_text(folder, descriptor, "a.csv") == DATA.decode()


def test_a_changed_or_missing_file_is_named(folder: Path) -> None:
    (folder / "a.csv").write_bytes(DATA + b"2\n")
    wanted = (
        r"a\.csv must have the checksum sha256:\w{64} and 4 bytes that datapackage\.json records"
    )
    with pytest.raises(DatasetError, match=rf"{wanted}; got sha256:\w{{64}} and 6 bytes; save it"):
        read(folder)
    (folder / "a.csv").unlink()
    with pytest.raises(
        DatasetError, match=r"a\.csv must be readable; No such file.*; save it again"
    ):
        read(folder)


def test_bytes_that_are_no_text_are_named(folder: Path) -> None:
    with pytest.raises(ParseError, match=r"raw\.csv: must be UTF-8 text"):
        read_text(folder, read_descriptor(folder, "a package"), "raw.csv")


@for_each("text", [b"{", b"[]", b"\xff"])
def test_a_descriptor_that_is_none_is_named(folder: Path, text: bytes) -> None:
    (folder / DESCRIPTOR).write_bytes(text)
    with pytest.raises(ParseError, match=r"datapackage\.json:.* a package must be"):
        read(folder)
    (folder / DESCRIPTOR).unlink()
    with pytest.raises(DatasetError, match=r"datapackage\.json must be readable; No such file"):
        read(folder)


@for_each(
    "resources, says",
    [
        (None, "must record each file with its path and hash"),
        ([3], "must record each file with its path and hash"),
        ([{"path": "a.csv"}], "must record each file with its path and hash; KeyError"),
        ([], "must record a.csv"),
    ],
)
def test_a_descriptor_without_the_checksum_is_named(
    folder: Path, resources: Any, says: str
) -> None:
    (folder / DESCRIPTOR).write_text(json.dumps({"resources": resources}))
    with pytest.raises(ParseError, match=rf"datapackage\.json: {says}"):
        read(folder)


def test_a_file_of_another_folder_is_not_read(folder: Path) -> None:
    (folder.parent / "b.csv").write_bytes(DATA)
    entry = resource("../b.csv", DATA)
    (folder / DESCRIPTOR).write_text(json.dumps({"resources": [entry]}))
    with pytest.raises(ParseError, match=r"must name files of its folder; got \.\./b\.csv"):
        read(folder, "../b.csv")


def test_what_ships_is_saved_as_it_was_shipped(tmp_path: Path) -> None:
    shipped: dict[str, Any] = {
        "studies/which-loss": study.shipped("which-loss"),
        "studies/message-regimes": study.shipped("message-regimes"),
        "tuning/which-heuristic": tune.shipped_search_comparison(),
        "tuning/paper-scale": tune.shipped_search_comparison("paper-scale"),
    }
    for name, result in shipped.items():
        folder = datasets.data_folder() / name
        again = result.save(tmp_path / Path(name).name)
        for path in again.iterdir():
            if path.name != DESCRIPTOR:
                assert path.read_bytes() == (folder / path.name).read_bytes(), path
        mine, theirs = (read_descriptor(place, "a package") for place in (again, folder))
        hashes = [[entry["hash"] for entry in each["resources"]] for each in (mine, theirs)]
        assert hashes[0] == hashes[1]
        assert list(mine) == list(theirs)


def test_a_package_without_its_fields_is_not_a_result(folder: Path) -> None:
    with pytest.raises(ParseError, match=r"datapackage\.json: must record plan\.yaml"):
        StudyResult.load(folder)
    with pytest.raises(ParseError, match=r"a saved SearchComparisonTables must be complete"):
        tune.SearchComparisonTables.load(write_package(folder.parent / "empty", {}, []))
