from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench import datasets
from workbench.errors import ConfigurationError, ParameterError
from workbench.fit import FitResult, rmspe_by_target
from workbench.fit.baseline import baseline
from workbench.models import read_ini
from workbench.panels import FitPanel
from workbench.panels.fit import simulation_job
from workbench.panels.fit.state import model_of, opening_model
from workbench.plotting import describe_errors, palette
from workbench.plotting.fit.curves import simulated_columns
from workbench.simulate import simulate_osu

LATENCY = "node.nic.injection.latency"
PLACED = """size_bytes,latency_us,bandwidth_MBps,placement
1,0.2,10,intra
1024,0.5,4000,intra
1,1.5,4,inter
1024,2.6,3900,inter
"""
OSU = """# OSU MPI Latency Test v7.3
# Size          Latency (us)
1                       1.50
8192                    4.00
# OSU MPI Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1                       4.10
8192                 9000.00
"""


def test_it_opens_with_a_real_machine_and_a_live_curve(panel: FitPanel) -> None:
    drawn = panel.drawn("simulated")
    expected = simulate_osu(panel.model, sizes=panel.measured.sizes)
    assert drawn["latency"] == expected.latency_us.tolist()
    assert panel.measured.provenance.origin == "published"
    assert "8 KiB message" in panel.text
    assert "published" in panel.text
    assert panel.error == ""


def test_a_slider_is_an_attribute_is_a_key(panel: FitPanel) -> None:
    before = panel.curve.latency_s
    panel.injection_latency = "300ns"
    assert panel.injection_latency == pytest.approx(3e-7)
    assert panel.curve.latency_s[0] < before[0]
    panel.set(LATENCY, 9e-7)
    assert panel.injection_latency == 9e-7
    assert panel.controls["injection_latency"].text.value == "900 ns"
    panel.reset()
    np.testing.assert_array_equal(panel.curve.latency_s, before)


def test_moving_a_slider_draws_the_model_it_says(panel: FitPanel) -> None:
    control = panel.controls["injection_latency"]
    control.input.value += 5
    expected = simulate_osu(panel.model, sizes=panel.measured.sizes)
    assert panel.model.get(LATENCY) == control.value
    assert panel.drawn("simulated")["latency"] == expected.latency_us.tolist()
    assert control.text.value in panel.python or "node.nic.injection.latency" in panel.python


def test_a_slider_sends_one_patch_of_the_two_sources_and_nothing_else(
    panel: FitPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(panel._picture.view, "send", lambda content, *_: sent.append(content))
    panel.controls["injection_latency"].input.value += 1
    [content] = sent
    events = json.loads(content["patch"])["events"]
    ids = [panel._picture.figures.simulated.id, panel._picture.errors.source.id]
    assert [event["model"]["id"] for event in events] == ids


def test_the_error_stands_beside_its_control_and_the_figures_stay(panel: FitPanel) -> None:
    shown = list(panel.drawn("simulated")["latency"])
    panel.controls["nic_credits"].text.value = "1KB"
    message = panel.controls["nic_credits"].error.message
    assert "credits must hold one packet" in message
    assert panel.error == message
    assert panel.drawn("simulated")["latency"] == shown
    assert "1KB" not in panel.python, "the line is for what is shown"
    panel.controls["nic_credits"].text.value = "64KB"
    assert panel.error == ""


@pytest.mark.usefixtures("slow_packets_of_1_B")
def test_what_takes_long_says_so_and_can_be_stopped(
    panel: FitPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(simulation_job, "_AT_ONCE_S", 0.15)
    before, python = panel.curve, panel.python
    assert "▶ Simulate" not in panel.buttons
    panel.controls["mtu"].text.value = "1 B"
    assert panel.running and panel.buttons["▶ Start"]
    assert "▶ Simulate" in panel.buttons
    assert panel.stale
    while panel.refresh() and "the curves are of earlier values" not in panel.text:
        time.sleep(0.01)
    assert "the curves are of earlier values" in panel.text
    assert (panel.curve, panel.python) == (before, python), "files hold what is drawn"
    panel.press("■ Stop")
    panel.wait(60)
    assert not panel.running and panel.curve is before
    assert "stopped; the curves are of earlier values" in panel.text
    panel.mtu = 1
    panel.machine = "aws-hpc6a-efa"
    assert panel.measured.provenance.title in panel.text
    with pytest.raises(ParameterError, match="wait for the simulation"):
        panel.save(tmp_path / "a.csv")
    panel.open("Export")
    panel.press("CSV")
    assert "wait for the simulation" in panel.error
    panel.mtu = 64
    panel.wait(60)
    expected = simulate_osu(panel.model, sizes=panel.measured.sizes)
    assert panel.curve.latency_us.tolist() == expected.latency_us.tolist()
    assert "mtu" in panel.python and "▶ Simulate" not in panel.buttons
    assert not panel.stale


def test_an_error_about_no_single_slider_is_shown_above_the_figures(panel: FitPanel) -> None:
    with pytest.raises(ConfigurationError, match="simulated time must stay below"):
        panel.injection_latency = 1
    assert "simulated time must stay below" in panel.error
    assert "the curves are of earlier values" in panel.error
    panel.injection_latency = "300ns"
    assert panel.error == ""


def test_from_code_the_same_error_is_raised(panel: FitPanel) -> None:
    with pytest.raises(ConfigurationError, match="credits must hold one packet"):
        panel.nic_credits = "1KB"
    assert "credits must hold one packet" in panel.error


@for_each(
    "name, value, words",
    [
        ("injection_latency", "300 parsecs", "300 parsecs"),
        ("machine", "azure-hb96v3", "azure-hb96v3-hdr"),
        ("loss", "rmsr", "rmsre"),
        ("model", "snaper", "snappr"),
    ],
)
def test_mistakes_are_answered_with_what_is_known(
    panel: FitPanel, name: str, value: str, words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        setattr(panel, name, value)
    with pytest.raises(AttributeError, match="did you mean injection_latency"):
        panel.injecton_latency = "300ns"


@for_each("kind", ["hybrid", "logp", "pisces", "protocol", "snappr"])
def test_each_model_brings_its_own_controls(panel: FitPanel, kind: str) -> None:
    panel.model = kind
    parameters = panel.state.model.parameters()
    controls = [one for one in panel.controls.values() if hasattr(one, "described")]
    assert {one.described.key for one in controls} == {p.key for p in parameters}
    # What the sliders say is what is drawn and what the sentence is about.
    for one in controls:
        assert one.value == panel.state.model.get(one.described.key)
    assert panel.model == opening_model(kind, panel.measured)
    assert panel.error == ""
    assert panel.drawn("simulated") == simulated_columns(panel.curve)
    # Parameters of one last word have names of their own.
    assert {p.attribute for p in parameters} <= set(panel.controls)
    assert len({p.attribute for p in parameters}) == len(parameters)


def test_the_variant_keeps_the_values(panel: FitPanel) -> None:
    panel.injection_latency = "300ns"
    exact = panel.curve.latency_s
    panel.variant = "repaired"
    assert panel.injection_latency == pytest.approx(3e-7)
    assert (panel.curve.latency_s >= exact).all(), "the last packet's time is charged"
    assert panel.curve.latency_s[12] > exact[12]


def test_another_machine_is_drawn(panel: FitPanel) -> None:
    for name in datasets.list().names[::4]:
        panel.machine = name
        assert panel.measured.name == datasets.load(name).name
        assert panel.drawn("measured")["latency"][0] == pytest.approx(
            panel.measured.latency_us[0], nan_ok=True
        )
        assert panel.model == opening_model("snappr", panel.measured)
        assert panel.drawn("simulated") == simulated_columns(panel.curve)
        assert panel.measured.provenance.title in panel.text


def test_measurements_are_uploaded(panel: FitPanel) -> None:
    panel.upload({"mine.txt": OSU})
    assert panel.machine == "mine"
    assert panel.measured.sizes.tolist() == [1, 8192]
    assert panel.measured.provenance.origin == "measured"
    assert panel.drawn("errors")["size"] == ["1 B", "8 KiB"] * 2
    assert 'measure.read_osu("mine.txt")' in panel.python.replace("'", '"')
    panel.machine = "azure-hb96v3-hdr"
    panel.machine = "mine"
    assert len(panel.measured) == 2


def test_what_was_not_read_is_shown_beside_the_upload(panel: FitPanel) -> None:
    before = panel.measured
    panel.controls["upload"].take({"x.txt": b"nothing of the kind\n"})
    assert "x.txt" in panel.error
    assert panel.measured is before
    panel.upload({"mine.txt": OSU + "8193 garbage\n"})
    assert "mine.txt:9: not understood" in panel.error


def test_each_experiment_of_an_upload_is_a_machine(panel: FitPanel) -> None:
    panel.upload({"mine.csv": PLACED})
    assert panel.machine == "mine 1"
    assert "2 experiments in one text told apart by placement" in panel.error
    assert panel.measured.latency_us[0] == pytest.approx(0.2)
    panel.machine = "mine 2"
    assert panel.measured.latency_us[0] == pytest.approx(1.5)
    assert "measure.read_osu('mine.csv', table=2)" in panel.python
    again = FitPanel.from_session(panel.session())
    assert again.measured.latency_us[0] == pytest.approx(1.5)


def test_run_shows_progress_and_ends_with_a_result(panel: FitPanel) -> None:
    panel.trials = 6
    panel.run()
    result = panel.wait(120)
    assert isinstance(result, FitResult)
    assert result.trials == 6
    assert panel.progress[0] == 1.0
    assert "6 of 6 trials" in panel.text
    assert panel.drawn("convergence")["trial"] == [0, 1, 2, 3, 4, 5]
    panel.open("Result")
    assert "node.nic.mtu" in panel.text
    assert panel.drawn("residuals latency")["error"] == pytest.approx(
        result.percent_error()["latency"].tolist()
    )
    panel.open("Trials")
    while panel.refresh():
        time.sleep(0.02)
    documents = "".join(view.document for view in panel._live_views())
    assert "The best 6 trials of azure-hb96v3-hdr snappr" in documents
    panel.use_fitted()
    assert panel.model == result.model
    np.testing.assert_array_equal(panel.curve.latency_s, result.simulated.latency_s)


def test_stop_keeps_the_best_and_resume_goes_on(panel: FitPanel) -> None:
    panel.trials = 100_000
    run = panel.run()
    while len(run.losses) < 3:
        time.sleep(0.01)
    assert panel.running
    assert not panel.buttons["▶ Start"]
    assert panel.buttons["■ Stop"]
    panel.stop()
    assert not panel.running
    assert panel.buttons["▶ Start"], "free at once, whatever the trial in flight does"
    stopped = panel.wait(30)
    done = stopped.trials
    assert 3 <= done < 100_000
    assert "stopped" in panel.text
    assert panel.buttons["▶ Start"]
    panel.trials = done + 4
    panel.resume()
    resumed = panel.wait(60)
    assert resumed.trials == done + 4
    np.testing.assert_array_equal(resumed.losses[:done], stopped.losses)
    assert len(panel.drawn("convergence")["trial"]) == done + 4


def test_a_new_panel_resumes_what_the_file_holds(panel: FitPanel) -> None:
    panel.trials = 4
    panel.run()
    first = panel.wait(60)
    other = FitPanel("azure-hb96v3-hdr")
    other.trials = 6
    other.resume()
    second = other.wait(60)
    np.testing.assert_array_equal(second.losses[:4], first.losses)
    assert second.trials == 6


def test_start_begins_anew_and_resume_without_a_fit_says_so(panel: FitPanel) -> None:
    panel.trials = 3
    panel.resume()
    panel.wait(60)
    assert "press Start" in panel.error
    for _ in range(2):
        panel.run()
        assert panel.wait(60).trials == 3


def test_without_a_file_a_stopped_fit_goes_on(panel: FitPanel) -> None:
    panel.study, panel.trials = "", 3
    panel.run()
    first = panel.wait(60)
    panel.trials = 5
    panel.resume()
    second = panel.wait(60)
    np.testing.assert_array_equal(second.losses[:3], first.losses)
    assert list(Path().iterdir()) == []


def test_sliders_answer_while_a_fit_runs(panel: FitPanel) -> None:
    panel.trials = 100_000
    run = panel.run()
    while len(run.losses) < 2:
        time.sleep(0.01)
    panel.controls["injection_latency"].input.value += 1
    expected = simulate_osu(panel.model, sizes=panel.measured.sizes)
    assert panel.drawn("simulated")["latency"] == expected.latency_us.tolist()
    assert panel.running


def test_a_fit_that_cannot_run_says_why(panel: FitPanel) -> None:
    panel.study = "no/such/folder/fits.db"
    panel.run()
    panel.wait(60)
    assert "folder" in panel.error
    assert panel.buttons["▶ Start"]


def test_files_hold_what_is_shown(panel: FitPanel, tmp_path: Path) -> None:
    panel.injection_latency = "300ns"
    assert read_ini(panel.save(tmp_path / "a.ini")) == panel.model
    rows = panel.save(tmp_path / "a.csv").read_text().splitlines()
    assert rows[0].startswith("size_bytes,measured_latency_us")
    assert len(rows) == len(panel.measured) + 1
    assert float(rows[1].split(",")[3]) == pytest.approx(panel.curve.latency_us[0], rel=1e-11)
    assert '"origin": "published"' in panel.save(tmp_path / "a.json").read_text()
    assert "RMSPE" in panel.save(tmp_path / "a.html").read_text()
    with pytest.raises(ParameterError, match=r"\.ini, \.csv, \.json, \.html"):
        panel.save(tmp_path / "a.xls")


def test_a_button_sends_the_file_to_the_browser(panel: FitPanel) -> None:
    import base64

    panel.open("Export")
    panel.press("CSV")
    offered = panel.drawn("file")
    assert offered["name"] == ["azure-hb96v3-hdr-snappr.csv"]
    assert base64.b64decode(offered["base64"][0]).startswith(b"size_bytes")


def test_the_python_tab_shows_the_lines_of_this_moment(panel: FitPanel) -> None:
    panel.injection_latency = "300ns"
    panel.open("Python")
    assert panel.python in panel.text
    panel.injection_latency = "400ns"
    assert panel.python in panel.text
    assert "400ns" in panel.text


def test_the_table_replaces_the_figures_and_follows_the_sliders(panel: FitPanel) -> None:
    shown = panel.figures  # two curves and their errors, and what a tab shows
    panel.controls["as_table"].value = True
    assert panel.figures == shown[3:]
    before = [line for line in panel.text.split("\n") if "\t" in line]
    assert len(before) == len(panel.measured) + 1
    panel.injection_latency = "300ns"
    assert [line for line in panel.text.split("\n") if "\t" in line] != before
    panel.controls["as_table"].value = False
    assert panel.figures == shown


def test_a_page_that_is_opened_later_gets_the_present_picture(panel: FitPanel) -> None:
    panel.injection_latency = "300ns"
    view = panel._picture.view
    # A page that was opened later has drawn the document without what was sent since.
    view.receive({"kind": "lacks", "view": "page", "number": 0})
    assert str(panel.curve.latency_us[0]) in view.document


def test_the_panel_prints_itself_in_one_line(panel: FitPanel) -> None:
    assert "\n" not in repr(panel)
    assert "azure-hb96v3-hdr" in repr(panel)
    assert {"injection_latency", "machine", "run"} <= set(dir(panel))


def test_the_engine_is_the_one_that_was_chosen(panel: FitPanel) -> None:
    panel.model = "logp"
    panel.engine = "cma-es"
    panel.trials = 12
    panel.open("Python")
    assert 'engine="cma-es"' in panel.text
    panel.run()
    result = panel.wait(60)
    assert result.engine == "cma-es"
    panel.trials = 14
    panel.resume()
    resumed = panel.wait(60)
    np.testing.assert_array_equal(resumed.losses[:12], result.losses)
    with pytest.raises(ParameterError, match="did you mean tpe"):
        panel.engine = "tpee"


def test_what_the_data_tell_is_computed_when_its_tab_is_opened(panel: FitPanel) -> None:
    panel.model, panel.trials = "logp", 12
    panel.open("Identifiability")
    assert "After a fit" in panel.text
    panel.open("Convergence")
    panel.run()
    panel.wait(60)
    assert not panel.refresh(), "it is not drawn in a hidden tab"
    figures = len(panel.figures)
    panel.open("Identifiability")
    while panel.refresh():
        time.sleep(0.02)
    assert len(panel.figures) > figures
    documents = "".join(view.document for view in panel._live_views())
    assert "switch.hop_latency" in documents, "a figure that is no source of values alone"
    assert panel.error == ""
    panel.machine = "aws-hpc6a-efa"
    assert "After a fit" in panel.text, "the figure belonged to the other machine's fit"


def test_a_number_out_of_range_is_reported_and_starts_no_fit(panel: FitPanel) -> None:
    trials = panel.controls["trials"]
    held = panel.trials
    trials.typed.value = 1e9
    assert "Trials must be a whole number from 1 to 1,000,000" in panel.error
    assert panel.trials == held
    panel.press("▶ Start")
    assert not panel.running
    assert "correct Trials first; nothing was started" in panel.error
    trials.typed.value = 5
    assert (panel.trials, panel.error) == (5, "")
    with pytest.raises(ParameterError, match="seed must be a whole number from 0 to"):
        panel.seed = -1
    assert panel.seed == 0


def test_files_hold_what_was_fitted_once_there_is_a_fit(panel: FitPanel, tmp_path: Path) -> None:
    assert panel.export == "sliders" and panel.controls["export"].disabled
    panel.model, panel.engine, panel.trials = "logp", "least-squares", 30
    panel.run()
    result = panel.wait(60)
    assert result is not None and result.model != panel.model
    assert panel.export == "fitted"
    assert read_ini(panel.save(tmp_path / "a.ini")) == result.model
    rows = panel.save(tmp_path / "a.csv").read_text().splitlines()
    assert rows[0].endswith("fitted_latency_us,fitted_bandwidth_MBps")
    assert float(rows[1].split(",")[3]) == pytest.approx(result.simulated.latency_us[0], rel=1e-11)
    saved = json.loads(panel.save(tmp_path / "a.json").read_text())
    assert saved["values"] == "fitted"
    assert saved["parameters"] == {p.key: p.value for p in result.model.parameters()}
    scope: dict[str, object] = {}
    exec(saved["python"], scope)
    assert scope["model"] == result.model
    panel.open("Export")
    panel.press("INI")
    offered = panel.drawn("file")
    assert offered["name"] == ["azure-hb96v3-hdr-logp-fitted.ini"]

    assert read_ini(panel.save(tmp_path / "b.ini", "sliders")) == panel.state.model
    assert panel.export == "sliders" and "Values of the sliders" in panel.text
    files, pictures = panel.text.split("Values of the sliders")[1].split(
        "The figures as drawn above"
    )
    assert "HTML" in files and "PNG" not in files and "PNG" in pictures
    panel.controls["export"].value = "fitted"
    assert read_ini(panel.save(tmp_path / "c.ini")) == result.model
    panel.machine = "aws-hpc6a-efa"
    assert panel.export == "sliders" and panel.controls["export"].disabled
    with pytest.raises(ParameterError, match="there must be a fit"):
        panel.save(tmp_path / "d.ini", "fitted")


def test_the_export_tab_says_who_reads_an_ini(panel: FitPanel) -> None:
    panel.open("Export")
    assert "SST/macro reads it" in panel.text
    panel.model = "protocol"
    assert "SST/macro cannot, it has no Protocol model" in panel.text


@for_each("kind", ["snappr", "hybrid", "logp", "pisces", "protocol"])
def test_the_first_picture_is_no_worse_than_defaults_or_data_sheet(kind: str) -> None:
    for name in datasets.list():
        measured = datasets.load(name)
        opening, defaults = (
            rmspe_by_target(simulate_osu(model, sizes=measured.sizes), measured)["joint"]
            for model in (opening_model(kind, measured), model_of(kind))
        )
        assert opening <= defaults
        if kind == "snappr":
            assert opening < baseline(name).rmspe["joint"] / 2


def test_sliders_that_were_moved_stay_with_another_machine(panel: FitPanel) -> None:
    opening = panel.state.model
    panel.machine = "gcp-c2d-ethernet-gke"
    assert panel.state.model != opening, "nothing was dialled in: the guess is the machine's"
    panel.injection_latency = "300ns"
    moved = panel.state.model
    panel.machine = "azure-hb96v3-hdr"
    assert panel.state.model == moved
    panel.reset()
    assert panel.state.model == opening


def test_parameters_of_one_last_word_are_told_apart(panel: FitPanel) -> None:
    panel.logp_bandwidth = "3GB/s"
    assert panel.state.model.get("switch.logp.bandwidth") == 3e9
    assert panel.memory_bandwidth != 3e9
    with pytest.raises(ParameterError, match="bandwidth"):
        panel.set("bandwidth", 1e9)


def test_a_fit_leaves_alone_what_is_held(panel: FitPanel) -> None:
    panel.model, panel.trials = "logp", 6
    panel.held = "hop_latency, switch.bandwidth"
    panel.hop_latency = "40ns"
    panel.open("Python")
    assert 'fixed={"hop_latency": None, "switch.bandwidth": None}' in panel.text
    panel.run()
    result = panel.wait(60)
    assert result is not None and len(result.space) == 3
    assert result.model.get("switch.hop_latency") == pytest.approx(40e-9)
    assert result.fixed_texts()["switch.hop_latency"] == "40ns"
    panel.held = "hop_latencie"
    with pytest.raises(ParameterError, match="did you mean hop_latency"):
        panel.run()


def test_the_status_counts_what_a_resumed_run_did(panel: FitPanel) -> None:
    panel.model, panel.trials = "logp", 3
    panel.run()
    panel.wait(60)
    assert "done: 3 of 3 trials, in" in panel.text
    panel.trials = 5
    panel.resume()
    panel.wait(60)
    assert "done: 5 of 5 trials, 2 of them new, in" in panel.text


def test_a_curve_as_csv_is_uploaded_and_a_picture_is_refused(panel: FitPanel) -> None:
    panel.upload({"mine.csv": panel.measured.to_csv()})
    assert panel.machine == "mine"
    np.testing.assert_allclose(panel.measured.latency_us[0], 1.58, rtol=0.05)
    panel.controls["upload"].take({"a.png": b"\x89PNG\r\n\x1a\n"})
    assert "must be a text file" in panel.error


def test_a_click_leaves_a_point_out_of_the_fit(panel: FitPanel) -> None:
    panel.model, panel.trials = "logp", 6
    sizes = panel.measured.sizes.tolist()
    panel.select("measured", sizes.index(4096), sizes.index(8192))
    assert panel.without == "4 KiB, 8 KiB"
    assert panel.selected("measured") == [], "the next click is a new one"
    hollow = np.array(panel.drawn("measured")["fill"]) == palette.WHITE
    assert panel.measured.sizes[hollow].tolist() == [4096, 8192]
    assert "Left out of this and of the fit: 4 KiB, 8 KiB (hollow points)" in panel.text
    panel.open("Python")
    assert 'without="4 KiB, 8 KiB"' in panel.text
    panel.run()
    result = panel.wait(60)
    assert result is not None and len(result.measured) == len(sizes) - 2
    assert panel.drawn("fitted")["size"] == sizes, "the line has all sizes"
    errors = describe_errors(result.measured, result.simulated)
    assert errors in panel.text
    assert len(panel.save("a.csv").read_text().splitlines()) == len(sizes) + 1
    panel.select("measured", sizes.index(4096))
    assert panel.without == "8 KiB", "a second click takes a point back"
    panel.without = "5"
    assert "must name some of the measured sizes" in panel.error
    assert panel.without == "8 KiB"
    panel.machine = "aws-hpc6a-efa"
    assert (panel.without, panel.error) == ("", "")


def test_another_upload_is_drawn_and_described_beside(panel: FitPanel, tmp_path: Path) -> None:
    panel.upload({"before.txt": OSU})
    panel.upload({"after.txt": OSU.replace("4.00", "8.00")})
    panel.pinned = "before"
    assert panel.drawn("pinned")["latency"] == [1.5, 4.0]
    assert panel.drawn("measured")["latency"] == [1.5, 8.0]
    assert "after beside before: latency +41 % (most at 8 KiB: +100 %)" in panel.text
    panel.controls["as_table"].value = True
    assert "latency of before (µs)" in panel.text
    panel.controls["as_table"].value = False
    again = FitPanel.from_session(panel.save_session(tmp_path / "two.json"))
    assert (again.machine, again.pinned) == ("after", "before")
    assert again.drawn("pinned") == panel.drawn("pinned")
    panel.pinned = ""
    assert panel.drawn("pinned")["size"] == [] and "beside" not in panel.text
