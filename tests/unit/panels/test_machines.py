"""A machine that the fit panel keeps is offered, and used, by every other panel."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workbench import datasets, machines
from workbench.errors import ParseError
from workbench.panels import ComparePanel, FitPanel, PlacementPanel, ReplayPanel
from workbench.panels.study.own_fit import OwnFit

NAME = "dane"


@pytest.fixture
def kept(panel: FitPanel) -> FitPanel:
    """The fit panel with an uploaded machine, which it has kept."""
    panel.upload({f"{NAME}.csv": datasets.load("llnl-dane-omnipath").to_csv()})
    panel.wait(60)
    panel.use_machine()
    return panel


def test_an_upload_says_what_was_read_and_begins_with_the_protocol_aware_model(
    panel: FitPanel,
) -> None:
    panel.upload({f"{NAME}.csv": datasets.load("llnl-dane-omnipath").to_csv()})
    assert "read 23 sizes of latency and 23 of bandwidth" in panel.text
    assert panel.error == ""
    assert (panel.machine, panel.kind) == (NAME, "protocol")
    panel.machine = "azure-hb96v3-hdr"
    panel.kind = "snappr"
    panel.injection_latency = "300ns"
    panel.upload({"other.csv": datasets.load("llnl-dane-omnipath").to_csv()})
    assert panel.kind == "snappr", "a model that was set by hand stays"


def test_what_is_kept_has_the_model_of_the_sliders_or_of_the_fit(kept: FitPanel) -> None:
    path = Path("machines") / f"{NAME}.json"
    assert f"saved {path}: every panel offers {NAME}" in kept.text
    machine = machines.load(NAME)
    assert machine.model == kept.model
    assert machine.curve.to_dict()["latency_us"] == kept.measured.to_dict()["latency_us"]
    assert machine.provenance.title == "protocol with values set by hand"
    machine.with_parts(topology="fat-tree:4").save(path)
    kept.machine, kept.trials = NAME, 3
    kept.run()
    result = kept.wait(60)
    assert result is not None
    kept.use_machine()
    again = machines.load(NAME)
    assert again.model == result.model
    assert again.part("topology").value == "fat-tree:4", "what was known besides stays"
    kept.machine = "azure-hb96v3-hdr"
    assert kept.use_machine() == Path("machines/my-azure-hb96v3-hdr.json")


def test_open_panels_offer_it_and_their_python_runs(kept: FitPanel) -> None:
    replay = ReplayPanel("cg-4")
    own = OwnFit(lambda: None, lambda result, request: None)
    kept.use_machine("later")
    for control in (replay.controls["machine"], own.controls["machine"]):
        assert {NAME, "later"} <= {name for _, name in control.options}
    replay.machine = "later"
    found = replay.wait(60)
    assert replay.model == machines.load("later").loggps
    there: dict[str, object] = {}
    exec(replay.python, there)  # the panel's own lines
    assert found is not None
    assert there["result"].makespan_ps == found.makespan_ps  # type: ignore[attr-defined]
    with pytest.raises(ParseError, match=r"broken\.json"):
        Path("broken.json").write_text("{", encoding="utf-8")
        replay.machine = "broken.json"
    machines.load("later").save("elsewhere.json")
    replay.machine = "elsewhere.json"
    assert replay.model == machines.load("later").loggps


def test_a_placement_and_a_comparison_take_its_wires_and_topology(kept: FitPanel) -> None:
    machine = machines.load(NAME).with_parts(
        topology="fat-tree:4", switch_latency="200ns", link_bandwidth="5GB/s", ranks_per_node=2
    )
    machines.keep(machine)
    placement = PlacementPanel("cg-4")
    placement.wait(60)
    placement.machine = NAME
    placement.wait(60)
    network = placement.state.network
    assert (network.topology, network.d_switch_ns, network.ranks_per_host) == ("fat-tree:4", 200, 2)
    host_s = (network.l_wire_ns + network.card_ns) / 1e9
    assert 2 * host_s + 200e-9 == pytest.approx(machine.loggps.L, abs=1e-12)
    assert f'machines.load("{NAME}").loggps' in placement.python
    compared = ComparePanel(["fat-tree:4", "torus:2x2x2"], simulate=False)
    compared.wait(60)
    assert "bisection (GB/s)" not in compared.text
    compared.machine = NAME
    compared.wait(60)
    assert "mean latency (µs)" in compared.text
    fabric = machines.fabric_of(machine, next(iter(compared.networks.values())))
    assert fabric.ports.link_bandwidth == 5e9


def test_start_keeps_stored_searches_and_resume_can_go_on_with_each(panel: FitPanel) -> None:
    """A search of more trials is not lost behind a later one of fewer."""
    panel.model, panel.trials = "logp", 6
    panel.run()
    first = panel.wait(60)
    panel.trials = 100_000
    run = panel.run()
    while len(run.losses) < 2:
        time.sleep(0.01)
    panel.stop()
    second = panel.wait(60)
    assert first is not None and second is not None
    other = FitPanel("azure-hb96v3-hdr")
    other.model = "logp"
    stored = dict(other.controls["resumed"].options)
    assert len(stored) == 2
    longest = max(first.trials, second.trials)
    assert next(iter(stored)).startswith(f"{longest} trials, best"), "the furthest comes first"
    other.trials = longest + 2
    shorter = [name for text, name in stored.items() if not text.startswith(f"{longest} trials")]
    other.resumed = (shorter or list(stored.values())[1:])[0]
    other.resume()
    resumed = other.wait(60)
    assert resumed is not None and resumed.trials == longest + 2
    other.trials = longest + 5
    other.run()
    assert "a new search; " in other.text and "is kept: choose it beside Resume" in other.text
    other.stop()
    other.wait(60)
