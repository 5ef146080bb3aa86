"""The folders of datasets/variability, and blame on the recording whose causes are known."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.cases import for_each
from workbench.errors import DatasetError
from workbench.provenance import ORIGINS
from workbench.variability import RecordedLink, blame, shipped

ROOT = Path(__file__).resolve().parents[3] / "datasets" / "variability"
FOLDERS = sorted(path.parent.name for path in ROOT.glob("*/datapackage.json"))


@pytest.fixture(scope="module")
def recorded() -> RecordedLink:
    return shipped("emulated-link")


@for_each("name", FOLDERS)
def test_a_descriptor_states_what_the_rules_ask_for(name: str) -> None:
    folder = ROOT / name
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    assert package["name"] == name
    assert package["profile"] == "tabular-data-package"
    assert package["origin"] in ORIGINS
    assert package["licenses"][0]["name"]
    assert package["caveats"]
    # Where the numbers are from: a commit of a source, or the command that made them.
    assert "created_by" in package or {"path", "commit", "files"} <= set(package["sources"][0])
    files = {path.name for path in folder.iterdir()} - {"datapackage.json", "README.md"}
    assert {resource["path"] for resource in package["resources"]} == files
    for resource in package["resources"]:
        data = (folder / resource["path"]).read_bytes()
        assert resource["bytes"] == len(data)
        assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        rows = list(csv.reader(data.decode("utf-8").splitlines()))
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == rows[0]
        assert {len(row) for row in rows} == {len(fields)}
        for at, field in enumerate(fields):
            assert field["description"]
            if field["type"] in ("integer", "number"):
                assert field["unit"]
                assert np.isfinite([float(row[at]) for row in rows[1:]]).all()
    readme = (folder / "README.md").read_text("utf-8")
    assert package["licenses"][0]["name"] in readme
    assert package["origin"] in readme
    assert f"`{name}`" in (ROOT / "README.md").read_text("utf-8")


def test_the_recording_is_as_large_as_it_says(recorded: RecordedLink) -> None:
    assert (len(recorded.runs), recorded.steps.steps) == (80, 60)
    assert recorded.provenance.origin == "emulated"
    assert recorded.provenance.caption().startswith("emulated: a shared link")
    assert recorded.steps.notes == recorded.runs.notes == recorded.jobs.notes == ()
    assert np.isfinite(recorded.steps.values).all()
    np.testing.assert_allclose(
        recorded.steps.time_s.sum(axis=1),
        recorded.runs.time_s,
        rtol=1e-6,  # six decimals
    )
    assert len(recorded.crossing) == 5
    with pytest.raises(DatasetError, match="no recording is named 'slingshot'; known: emulated-"):
        shipped("slingshot")


def test_the_counters_are_those_of_the_traffic(recorded: RecordedLink) -> None:
    steps = recorded.steps
    counter = dict(zip(steps.counters, np.moveaxis(steps.values, 2, 0), strict=True))
    sent = {user.user: recorded.sent_kB[:, :, at] for at, user in enumerate(recorded.users)}
    east = [user.user for user in recorded.users if user.crosses and user.sender == "left-users"]
    users_east = 1000 * sum(sent[name] for name in east)
    carried = counter["JOB_LEFT_BYTES"] + users_east
    # In a run: the interfaces of hosts count the headers of several packets once, acknowledgements
    # come besides, packets that the queue drops do not, and senders' buffers hold some 100 kB.
    share = counter["LINK_EAST_BYTES"].sum(axis=1) / carried.sum(axis=1)
    assert (np.abs(share - 1) < 0.05).all()
    # No more than the link's rate, 100 Mbit/s, and what its bucket of 64 kB and the time between a
    # step's end and the reading allow.
    assert np.percentile(counter["LINK_EAST_BYTES"] * 8e-6 / steps.time_s, 99) < 115


def test_what_users_send_over_the_link_slows_steps_and_other_traffic_does_not(
    recorded: RecordedLink,
) -> None:
    time_s = recorded.steps.time_s
    rates = 8e-3 * recorded.sent_kB / time_s[:, :, None]  # Mbit/s
    deviation = 1e3 * (time_s - time_s.mean(axis=0)).ravel()  # ms
    columns = np.column_stack([rates.reshape(-1, 9), np.ones(time_s.size)])
    per_Mbps = np.linalg.lstsq(columns, deviation)[0][:9]
    for user, slower in zip(recorded.users, per_Mbps, strict=True):
        assert (slower > 0.7) if user.crosses else (abs(slower) < 0.25), user


def test_blame_names_users_who_cross_the_link_and_nobody_else(recorded: RecordedLink) -> None:
    found = blame(recorded.runs, recorded.jobs, permutations=200)
    guilty = [together[0] in recorded.crossing for together in found.users]
    area = {
        method: roc_auc_score(guilty, score)
        for method, score in zip(found.methods, found.score, strict=True)
    }
    # All but the user of 4 Mbit/s, whose 4 ms a step cannot be told from nothing in 80 runs.
    assert set(found.blamed) == {*recorded.crossing} - {"u3"}
    assert area["ridge"] >= 0.95
    assert area["doubly-robust"] >= 0.95
    # What the paper scores by has no sign, and cannot tell who slows from who happens not to.
    assert area["mutual-information"] < area["signed-mutual-information"] < area["ridge"]


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    for path in (ROOT / "emulated-link").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    runs = tmp_path / "runs.csv"
    runs.write_bytes(runs.read_bytes().replace(b"r001", b"r0x1"))
    with pytest.raises(DatasetError, match=r"runs\.csv must have the checksum"):
        RecordedLink.load(tmp_path)
