from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import workbench.datasets as datasets
from tests.cases import for_each
from workbench.errors import DatasetError
from workbench.measure import OSU_SIZES

ROOT = Path(__file__).resolve().parents[2] / "datasets"
FOLDERS = sorted(path.parent.name for path in ROOT.glob("*/datapackage.json"))
UNITS = {"size_bytes": "B", "_us": "us", "_MBps": "MB/s", "_count": "1"}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of two datasets that a test may spoil."""
    for name in ("azure-hb96v3-hdr", "llnl-dane-omnipath"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.setattr(datasets, "data_folder", lambda: tmp_path)
    return tmp_path


def test_every_folder_is_listed_by_its_own_name() -> None:
    listed = datasets.list()
    assert list(listed) == FOLDERS
    assert len(listed) == len(FOLDERS) == 8
    assert "azure-hb96v3-hdr" in listed
    assert all(listed[name].folder.name == name for name in listed)


def test_the_list_prints_itself_as_a_table() -> None:
    listed = datasets.list()
    lines = repr(listed).splitlines()
    assert lines[0].split() == ["name", "system", "interconnect", "MPI", "statistic", "licence"]
    assert len(lines) == 9
    table = listed._repr_html_()
    assert table.count("<tr>") == 9
    assert 'text-align:left">HDR InfiniBand, 200 Gb/s</td>' in table


@for_each("name", FOLDERS)
def test_a_dataset_loads_with_its_provenance(name: str) -> None:
    curve = datasets.load(name)
    assert curve.name == name
    assert curve.sizes.tolist() == list(OSU_SIZES)
    assert np.all(curve.latency_s > 0)
    assert np.all(curve.bandwidth_Bps > 0)
    provenance = curve.provenance
    assert provenance.origin == "published"
    assert provenance.licence in {"MIT", "CC0-1.0"}
    assert provenance.source.startswith(("doi:", "https://"))
    assert re.fullmatch("[0-9a-f]{40}", provenance.details["source commit"])
    assert provenance.details["statistic"] in provenance.caption()
    assert curve.notes


@for_each("name", FOLDERS)
def test_a_spread_encloses_its_curve(name: str) -> None:
    curve = datasets.load(name)
    if curve.provenance.details["statistic"] == "single run":
        assert curve.latency_spread is None
        assert curve.bandwidth_spread is None
        return
    for spread, median in (
        (curve.latency_spread, curve.latency_s),
        (curve.bandwidth_spread, curve.bandwidth_Bps),
    ):
        assert spread is not None
        np.testing.assert_array_equal(spread.median, median)
        rows = [spread.minimum, spread.p25, spread.median, spread.p75, spread.maximum]
        assert np.all(np.diff(rows, axis=0) >= 0)
        runs = re.search(r"over (\d+) runs", curve.provenance.details["statistic"])
        assert runs is not None
        assert np.all(spread.count == int(runs[1]))


def test_known_figures_of_the_sources() -> None:
    azure = datasets.load("azure-hb96v3-hdr")
    # Values as published; one multiplication by a power of ten on each side.
    assert azure.latency_us[0] == pytest.approx(1.57, rel=1e-15)
    assert azure.bandwidth_MBps[2] == pytest.approx(16.145, rel=1e-15)
    alps = datasets.load("alps-gh200-slingshot11")
    assert alps.latency_us[-1] == pytest.approx(181.46, rel=1e-15)
    assert alps.bandwidth_MBps[-1] == pytest.approx(24007.69, rel=1e-15)


@for_each("name", FOLDERS)
def test_a_descriptor_states_what_the_rules_ask_for(name: str) -> None:
    folder = ROOT / name
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    assert package["name"] == name
    assert package["profile"] == "tabular-data-package"
    assert {"system", "interconnect", "mpi", "programs", "statistic"} <= set(package["measurement"])
    assert package["licenses"][0]["path"].startswith("https://")
    assert {"path", "commit", "files", "selection"} <= set(package["sources"][0])
    paths = [resource["path"] for resource in package["resources"]]
    files = {path.name for path in folder.iterdir()} - {"datapackage.json", "README.md"}
    assert set(paths) == files
    assert "datasheet.json" in paths
    for resource in package["resources"]:
        if resource["format"] != "csv":
            continue
        header = (folder / resource["path"]).read_text(encoding="utf-8").splitlines()[0]
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == header.split(",")
        for field in fields:
            suffix = next(end for end in UNITS if field["name"].endswith(end))
            assert field["unit"] == UNITS[suffix]
            assert field["description"]
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for fact in (package["sources"][0]["commit"], package["licenses"][0]["name"]):
        assert fact in readme


@for_each("name", FOLDERS)
def test_numbers_carry_no_noise_of_binary_arithmetic(name: str) -> None:
    for path in (ROOT / name).glob("*.csv"):
        fields = path.read_text(encoding="utf-8").replace("\n", ",").split(",")
        assert max(len(field.partition(".")[2]) for field in fields) <= 3


def test_a_changed_file_is_refused_with_both_checksums(copy: Path) -> None:
    path = copy / "azure-hb96v3-hdr" / "spread.csv"
    path.write_bytes(path.read_bytes().replace(b"1.57", b"1.58", 1))
    with pytest.raises(
        DatasetError, match=r"spread\.csv must have the checksum sha256:[0-9a-f]{64}"
    ) as at:
        datasets.load("azure-hb96v3-hdr")
    assert re.search(r"got sha256:[0-9a-f]{64} and \d+ bytes; restore it", str(at.value))
    assert datasets.load("llnl-dane-omnipath").name == "llnl-dane-omnipath"


def test_a_file_is_given_as_text_once_its_checksum_is_right(copy: Path) -> None:
    name = "azure-hb96v3-hdr"
    assert datasets.text(name, "curve.csv") == (copy / name / "curve.csv").read_text("utf-8")
    with pytest.raises(DatasetError, match=r"got 'nothing\.txt'; it has curve\.csv, spread\.csv"):
        datasets.text(name, "nothing.txt")
    sheet = copy / name / "datasheet.json"
    sheet.write_bytes(sheet.read_bytes().replace(b"130ns", b"131ns", 1))
    with pytest.raises(DatasetError, match=r"datasheet\.json must have the checksum"):
        datasets.text(name, "datasheet.json")


def test_a_missing_file_says_how_to_get_it_back(copy: Path) -> None:
    (copy / "azure-hb96v3-hdr" / "curve.csv").unlink()
    with pytest.raises(DatasetError, match=r"curve\.csv must be readable; .*; restore it"):
        datasets.load("azure-hb96v3-hdr")


@for_each("text", ["{", "[]", '{"name": "x"}', '{"measurement": 3}'])
def test_a_descriptor_that_is_none_is_named(copy: Path, text: str) -> None:
    (copy / "azure-hb96v3-hdr" / "datapackage.json").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"azure-hb96v3-hdr.datapackage\.json must describe"):
        datasets.list()


def test_an_empty_folder_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "data_folder", lambda: tmp_path)
    with pytest.raises(DatasetError, match="found none; reinstall the package"):
        datasets.list()


def test_an_installed_package_reads_the_datasets_it_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "workbench"
    package.mkdir()
    monkeypatch.setattr(datasets, "__file__", str(package / "datasets.py"))
    assert datasets.data_folder() == tmp_path / "datasets"
    shutil.copytree(ROOT / "llnl-dane-omnipath", package / "_shipped_datasets" / "llnl")
    assert datasets.data_folder() == package / "_shipped_datasets"
    assert datasets.list().names == ("llnl-dane-omnipath",)


@for_each(
    "asked, offered",
    [
        ("azure_hb96v3_hdr", "did you mean azure-hb96v3-hdr or"),
        ("slingshot", "did you mean alps-gh200-slingshot11"),
        ("AWS-HPC6A-EFA", "did you mean aws-hpc6a-efa"),
        ("", "known: alps"),
    ],
)
def test_an_unknown_name_offers_the_near_ones(asked: str, offered: str) -> None:
    with pytest.raises(DatasetError, match=offered):
        datasets.load(asked)
