"""The command: what it prints where, what it refuses and how, and with which exit status."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench
from tests.cases import for_each
from tests.unit.commands import answer_and_notes, help_text, refusal, usage
from workbench import datasets
from workbench.cli import main
from workbench.cli.output import in_options, print_in_any_encoding
from workbench.errors import WorkbenchError
from workbench.fit import DEFAULT_TRIALS, LOSSES, TARGETS, fit
from workbench.measure import OSU_SIZES, OSUCurve, read_osu
from workbench.models import MODELS, PISCES, SNAPPR, LogP
from workbench.simulate import simulate_osu
from workbench.units import format_quantity

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("bokeh", "ipywidgets", "numba", "numpy", "optuna", "pandas", "scipy")

LATENCY = """# OSU MPI Latency Test v7.5
# Size          Latency (us)
1                       1.57
1024                    2.40
65536                   9.80
"""
BANDWIDTH = """# OSU MPI Bandwidth Test v7.5
# Size      Bandwidth (MB/s)
1                       4.02
1024                 2950.00
65536               18400.00
"""


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "machine.txt"
    path.write_text(LATENCY + BANDWIDTH)
    return path


def test_osu_prints_what_simulate_osu_returns(capsys: pytest.CaptureFixture[str]) -> None:
    printed, err = answer_and_notes(
        capsys, "osu", "-p", "node.nic.mtu=512", "-p", "node.nic.credits=8KB"
    )
    curve = simulate_osu(SNAPPR().with_values({"node.nic.mtu": 512, "node.nic.credits": 8000}))
    assert list(printed) == ["latency_us", "bandwidth_MBps", "model", "variant", "notes"]
    assert [int(size) for size in printed["latency_us"]] == list(OSU_SIZES)
    assert list(printed["latency_us"].values()) == curve.latency_us.tolist()
    assert list(printed["bandwidth_MBps"].values()) == curve.bandwidth_MBps.tolist()
    assert (printed["model"], printed["variant"], err) == ("snappr", "sstmacro", "")


def test_osu_passes_every_option_on(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--sizes 4KiB,64..256,100 --iterations 3 --warmup 2 --window 5 --fresh"
    printed, _ = answer_and_notes(capsys, "osu", *words.split(), "--variant", "repaired")
    model = SNAPPR(variant="repaired")
    sizes = (64, 100, 128, 256, 4096)
    curve = simulate_osu(model, sizes, iterations=3, warmup=2, window=5, fresh=True)
    assert {int(size): us for size, us in printed["latency_us"].items()} == dict(
        zip(sizes, curve.latency_us.tolist(), strict=True)
    )
    assert list(printed["bandwidth_MBps"].values()) == curve.bandwidth_MBps.tolist()
    assert printed["variant"] == "repaired"


def test_osu_runs_as_many_iterations_as_the_benchmarks(capsys: pytest.CaptureFixture[str]) -> None:
    printed, _ = answer_and_notes(
        capsys, "osu", "--sizes", "4097", "--osu-counts", "-pnode.nic.mtu=999"
    )
    model = SNAPPR().with_values({"node.nic.mtu": 999})
    curve = simulate_osu(model, (4097,), osu_counts=True)
    assert list(printed["bandwidth_MBps"].values()) == curve.bandwidth_MBps.tolist()
    assert "give either it or them" in refusal(capsys, "osu", "--osu-counts", "--warmup", "2")


def test_osu_says_where_the_clock_runs_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "tails.ini"
    config.write_text(PISCES().to_ini())
    words = "--config", str(config), "--sizes", "1,2,8", "-pnode.nic.negligible_size=0"
    printed, err = answer_and_notes(capsys, "osu", *words)
    (note,) = printed["notes"]
    assert "runs back (latency at 1 B, 2 B; bandwidth at 1 B, 2 B)" in note
    assert f"note: {note}" in err
    repaired, err = answer_and_notes(capsys, "osu", *words, "--variant", "repaired")
    assert repaired["notes"] == []
    assert "runs back" not in err


def test_osu_prints_a_table_that_names_variant_and_units(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["osu", "--sizes", "1..4", "--variant", "repaired"]) == 0
    caption, heading, *rows = capsys.readouterr().out.splitlines()
    assert caption.startswith("# simulated: ")
    assert "SNAPPR, variant repaired" in caption
    assert heading.split() == ["#", "Size", "(B)", "Latency", "(us)", "Bandwidth", "(MB/s)"]
    curve = simulate_osu(SNAPPR(variant="repaired"), (1, 2, 4))
    assert [float(row.split()[1]) for row in rows] == pytest.approx(curve.latency_us, abs=5e-7)


def test_osu_reads_a_file_and_says_what_is_odd_about_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "network.ini"
    config.write_text(LogP(hop_latency=3e-7).to_ini() + "node.nic.injection.mtu = 4096\n")
    printed, err = answer_and_notes(capsys, "osu", "--config", str(config), "--sizes", "8")
    latency_us = simulate_osu(LogP(hop_latency=3e-7), (8,)).latency_us[0]
    assert printed["model"] == "logp"
    assert printed["latency_us"] == {"8": latency_us}
    assert err.startswith("workbench: note: network.ini:")
    assert "node.nic.injection.mtu has no effect" in err


def test_an_infinite_bandwidth_is_null_and_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "instant.ini"
    config.write_text(LogP().to_ini())
    instant = [f"-p{key}=0s" for key in ("switch.out_in_latency", "switch.hop_latency")]
    instant += [f"-p{key}=0s" for key in ("node.nic.injection.latency", "node.memory.latency")]
    instant += [f"-p{key}=1e30B/s" for key in ("switch.bandwidth", "node.memory.bandwidth")]
    instant += ["-pnode.nic.injection.bandwidth=1e30B/s", "-pnode.proc.frequency=1e30Hz"]
    printed, err = answer_and_notes(
        capsys, "osu", "--config", str(config), "--sizes", "8", *instant
    )
    assert printed["bandwidth_MBps"] == {"8": None}
    assert "8 B take no time" in err


@for_each(
    "words, said",
    [
        ("osu -p nic.mtu=12", "did you mean node.nic.mtu?"),
        ("osu -p node.nic.mtu=12parsecs", "MTU (node.nic.mtu) must be a size"),
        ("osu -p node.nic.credits=1KB", "credits must hold one packet"),
        ("osu --variant broken", "sstmacro, repaired"),
        ("osu --iterations 0", "iterations must be a whole number of at least 1; got 0"),
        ("osu --window 0", "window must be 1 to"),
        ("osu --config nowhere.ini", "nowhere.ini"),
        ("fit --machine azure-hb96", "did you mean azure-hb96v3-hdr"),
        ("fit --osu nowhere.txt", "nowhere.txt"),
        (
            "fit --machine azure-hb96v3-hdr --model pisce",
            "snappr, logp, pisces, protocol; got 'pisce'",
        ),
        ("fit --machine azure-hb96v3-hdr --loss mean", "loss must be one of"),
        ("fit --machine azure-hb96v3-hdr --target speed", "target must be one of"),
        ("fit --machine azure-hb96v3-hdr --trials 0", "trials must be"),
        ("fit --machine azure-hb96v3-hdr --study nowhere/fits.db", "folder nowhere must exist"),
    ],
)
def test_what_is_wrong_is_one_paragraph(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert said in refusal(capsys, *words.split())


def test_a_file_that_cannot_be_read_is_named_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "network.ini"
    config.write_text(SNAPPR().to_ini() + "node.nic.mut = 4096\n")
    line = len(config.read_text().splitlines())
    err = refusal(capsys, "osu", "--config", str(config))
    assert f"network.ini:{line}: " in err
    assert "node.nic.mtu" in err


@for_each(
    "words, said",
    [
        ("", "COMMAND"),
        ("ous", "invalid choice: 'ous'"),
        ("osu -p node.nic.mtu", "must be KEY=VALUE"),
        ("osu -p =12", "must be KEY=VALUE"),
        ("osu --sizes 8..4", "range must ascend; got '8..4'"),
        ("osu --sizes 0,1", "at least 1 B"),
        ("osu --sizes 1..", "a size must be"),
        ("osu --sizes 4K", "got '4K'"),
        ("osu --sizes -1", "--sizes"),
        ("osu --iterations some", "--iterations"),
        ("osu --iter 1", "--iter"),
        ("fit", "--machine --osu"),
        ("fit --machine a --osu b", "not allowed with"),
    ],
)
def test_a_wrong_command_line_is_one_paragraph_with_status_2(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    err = usage(capsys, *words.split())
    assert said in err
    assert err.endswith("--help\n")


@for_each(
    "text, sizes",
    [
        ("8", [8]),
        ("64, 1..8,4", [1, 2, 4, 8, 64]),
        ("3..13", [3, 6, 12]),
        ("1KB,1 KiB,1MB,1MiB,5B", [5, 1000, 1024, 10**6, 2**20]),
        ("512..2KiB", [512, 1024, 2048]),
    ],
)
def test_sizes_are_a_list_with_units_and_doubling_ranges(
    capsys: pytest.CaptureFixture[str], text: str, sizes: list[int]
) -> None:
    printed, _ = answer_and_notes(capsys, "osu", "--sizes", text)
    assert [int(size) for size in printed["latency_us"]] == sizes


def test_fit_prints_what_fit_returns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, measured: Path
) -> None:
    options = "--model logp --loss mae --target latency --trials 12 --seed 3 --variant repaired"
    study = ("--study", str(tmp_path / "fits.db"), "--name", "a")
    printed, err = answer_and_notes(capsys, "fit", "--osu", str(measured), *options.split(), *study)
    curve = read_osu(measured)
    model = LogP(variant="repaired")
    result = fit(curve, model, loss="mae", target="latency", trials=12, seed=3)
    assert list(printed)[:5] == ["rmspe", "parameters", "trials", "invalid", "seconds"]
    assert printed["rmspe"] == result.rmspe
    assert list(printed["rmspe"]) == ["joint", "latency", "bandwidth"]
    assert LogP(variant="repaired").with_values(printed["parameters"]) == result.model
    assert (printed["trials"], printed["invalid"]) == (12, 0)
    assert printed["seconds"] > 0
    assert (printed["model"], printed["variant"]) == ("logp", "repaired")
    assert err == ""


def test_a_fit_of_a_shipped_machine_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    machine = "alps-gh200-slingshot11"
    options = ("--model", "logp", "--trials", "11", "--without", "1KiB,2KiB")
    assert main(["fit", "--machine", machine, *options]) == 0
    out, err = capsys.readouterr()
    result = fit(datasets.load(machine), "logp", trials=11, without=["1KiB", "2KiB"])
    assert f"note: {result.left_out}" in out and "without 1 KiB, 2 KiB" in out
    assert out.splitlines()[0] == repr(result)
    assert datasets.load(machine).provenance.caption() in out
    assert "variant sstmacro" in out
    for d in result.space.dimensions:
        line = next(line for line in out.splitlines() if line.startswith(f"  {d.key} "))
        assert f" {format_quantity(result.values[d.key], d.kind)} " in line
    assert err == "", "no progress where nobody watches"


def test_a_study_is_resumed_by_the_same_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, measured: Path
) -> None:
    command = ["fit", "--osu", str(measured), "--model", "logp"]
    study = ["--study", str(tmp_path / "fits.db")]
    answer_and_notes(capsys, *command, *study, "--trials", "12")
    resumed, err = answer_and_notes(capsys, *command, *study, "--trials", "20")
    name = "machine-logp-rmsre-both-seed0-least-squares"
    assert f"continuing {name!r} in {tmp_path / 'fits.db'} after 12 trials" in err
    whole, _ = answer_and_notes(capsys, *command, "--trials", "20")
    resumed.pop("seconds")
    whole.pop("seconds")
    assert resumed == whole


@for_each("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_fit_with_the_best_so_far(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    measured: Path,
    number: signal.Signals,
) -> None:
    # by name: the package's own ``fit`` is the function, not the module
    evaluation = importlib.import_module("workbench.fit.evaluation")
    calls = iter(range(10_000))

    def interrupted(*args: Any, **kwargs: Any) -> OSUCurve:
        if next(calls) == 4:
            signal.raise_signal(number)
        return simulate_osu(*args, **kwargs)

    command = ["fit", "--osu", str(measured), "--model", "logp", "--trials", "400", "--json"]
    before, study = signal.getsignal(number), ("--study", str(tmp_path / f"{number}.db"))
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "simulate_osu", interrupted)
        assert main([*command, *study]) == 128 + number
    assert signal.getsignal(number) is before
    out, err = capsys.readouterr()
    stopped = json.loads(out)
    done = stopped["trials"]  # the main thread handles the signal while the fit goes on
    assert 4 <= done < 400
    assert stopped["rmspe"] == fit(read_osu(measured), "logp", trials=done).rmspe
    assert f"stopped after {done} of 400 trials, stored in" in err
    command[command.index("400")] = str(done + 5)

    assert main([*command, *study]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["trials"] == done + 5


def test_an_interrupt_outside_a_fit_is_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "list", interrupted)
    assert main(["datasets"]) == 130
    assert capsys.readouterr() == ("", "workbench: stopped\n")


def test_progress_is_one_line_that_disappears(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, measured: Path
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["fit", "--osu", str(measured), "--model", "logp", "--trials", "15"]) == 0
    err = capsys.readouterr().err
    assert "1 of 15 trials, best rmsre " in err
    assert "\n" not in err
    *_, blank, nothing = err.split("\r")
    assert (blank.strip(), nothing) == ("", "")


def test_a_fit_of_latency_alone_says_null_for_bandwidth(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "latency.txt"
    path.write_text(LATENCY)
    options = "--model logp --target latency --trials 11"
    printed, _ = answer_and_notes(capsys, "fit", "--osu", str(path), *options.split())
    assert printed["rmspe"]["bandwidth"] is None
    assert printed["rmspe"]["joint"] == printed["rmspe"]["latency"]


def test_several_files_make_one_curve_and_notes_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    latency, bandwidth = tmp_path / "latency.txt", tmp_path / "bandwidth.txt"
    latency.write_text(LATENCY + "131072 0.00\n")
    bandwidth.write_text(BANDWIDTH)
    command = ["fit", "--osu", str(latency), str(bandwidth), "--model", "logp", "--trials", "11"]
    printed, err = answer_and_notes(capsys, *command)
    assert None not in printed["rmspe"].values()
    assert err.startswith("workbench: note: latency.txt")


def test_the_fitted_model_is_written_for_osu(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, measured: Path
) -> None:
    ini = tmp_path / "fitted.ini"
    command = ["fit", "--osu", str(measured), "--model", "logp", "--trials", "12"]
    printed, _ = answer_and_notes(capsys, *command, "--ini", str(ini))
    simulated, _ = answer_and_notes(capsys, "osu", "--config", str(ini), "--sizes", "1,1024,65536")
    errors = np.array(list(simulated["latency_us"].values())) / [1.57, 2.40, 9.80] - 1
    # the same sums in another order
    assert 100 * np.sqrt(np.mean(errors**2)) == pytest.approx(printed["rmspe"]["latency"], rel=1e-9)


@for_each(
    "command, words",
    [
        ("fit --osu nowhere --ini {}/no/fitted.ini", "--ini: must be in a folder that exists"),
        ("fit --osu nowhere --ini {}", "--ini: must be a file; {} is a folder"),
        ("study run nowhere.yaml --save {}/taken", "--save: must be a folder, or one to be made"),
        ("study show nowhere.yaml --save {}/taken/x", "--save: must be in a folder"),
        ("tune run sort --save {}/out.txt", "--save: must end in .csv or .json"),
        ("tune export nowhere.db {}/no/out.csv", "file: must be in a folder that exists|FILE"),
        ("tune compare-searches --recording nowhere --save {}/taken", "--save: must be a folder"),
        ("fabric traffic torus:4,4 --csv {}/no/out.csv", "--csv: must be in a folder"),
        ("collective allreduce --ranks 4 --output {}", "--output: must be a file"),
        ("goal convert nowhere {}/no/out.goal", "OUT: must be in a folder that exists"),
        ("topology build torus:4,4 --output {}/no/out.csv", "--output: must be in a folder"),
    ],
)
def test_a_file_that_could_not_be_written_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, words: str
) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(SystemExit) as ended:
        main(command.format(tmp_path).split())
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert any(word in err for word in words.format(tmp_path).split("|")), err


def test_errors_and_notes_name_options_and_not_arguments_of_python(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "both.txt"
    path.write_text(LATENCY + BANDWIDTH.replace("Bandwidth Test", "Bi-Directional Bandwidth Test"))
    assert main(["fit", "--osu", str(path), "--model", "logp", "--trials", "2"]) == 1
    _, err = capsys.readouterr()
    assert "ask for it with --bandwidth bibw" in err and "bandwidth=" not in err
    command = ["fit", "--osu", str(path), "--model", "logp", "--trials", "2"]
    result, err = answer_and_notes(
        capsys, *command, "--bandwidth", "bibw", "--fixed", "hop_latency=40ns"
    )
    assert "the bandwidth is that of osu_bibw" in err
    assert result["fixed"] == {"switch.hop_latency": "40ns"}
    assert "switch.hop_latency" not in result["parameters"]
    assert main([*command, "--bandwidth", "bibw", "--fixed", "hop_lat=40ns"]) == 1
    assert "hop_lat is not a parameter" in capsys.readouterr().err


@for_each(
    "text, shown",
    [
        ("name another with mpirun=", "name another with --mpirun"),
        ("take more ranks_per_host or a", "take more --ranks-per-host or a"),
        ("ranks_per_host must be 1 to 9; got 0", "--ranks-per-host must be 1 to 9; got 0"),
        ("got ranks_per_host=-3; lower", "got --ranks-per-host -3; lower"),
        ("node.ranks_per_host=3 B", "node.ranks_per_host=3 B"),
        ("set ranks_per_host: 2 in the file", "set ranks_per_host: 2 in the file"),
        ("all mpirun of this", "all mpirun of this"),
    ],
)
def test_arguments_become_options_where_they_are_meant(text: str, shown: str) -> None:
    options = {"mpirun": "--mpirun", "ranks_per_host": "--ranks-per-host"}
    assert in_options(text, options) == shown


def test_a_fit_that_finds_nothing_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, measured: Path
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> OSUCurve:
        raise WorkbenchError("nothing can be simulated today")

    evaluation = importlib.import_module("workbench.fit.evaluation")
    monkeypatch.setattr(evaluation, "simulate_osu", refuse)
    command = ["fit", "--osu", str(measured), "--model", "logp", "--trials", "3", "--json"]
    assert main(command) == 1
    out, err = capsys.readouterr()
    printed = json.loads(out)
    assert printed["rmspe"] == {"joint": None, "latency": None, "bandwidth": None}
    assert (printed["parameters"], printed["trials"], printed["invalid"]) == ({}, 3, 3)
    assert "nothing can be simulated today" in err


def test_datasets_lists_every_name_that_fit_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(datasets.list())
    printed, _ = answer_and_notes(capsys, "datasets")
    assert list(printed) == list(datasets.list())
    assert all(entry["provenance"]["licence"] for entry in printed.values())


def test_doctor_fails_where_something_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench import diagnosis

    well = diagnosis.InstallationCheck("group", "one", "fine")
    ill = diagnosis.InstallationCheck("group", "two", "odd", "it is odd", "make it even")
    monkeypatch.setattr(diagnosis, "diagnose", lambda: diagnosis.Diagnosis((well,)))
    assert main(["doctor"]) == 0
    assert "fine" in capsys.readouterr().out
    monkeypatch.setattr(diagnosis, "diagnose", lambda: diagnosis.Diagnosis((well, ill)))
    assert main(["doctor", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"][0]["fix"] == "make it even"


def test_help_states_the_names_and_defaults_of_the_library(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = help_text(capsys, "fit")
    for name in (*MODELS, *LOSSES, *TARGETS, *SNAPPR.variants, f"(default {DEFAULT_TRIALS})"):
        assert name in text
    defaults = {name: p.default for name, p in inspect.signature(fit).parameters.items()}
    for option in ("model", "loss", "target"):
        assert f"(default {defaults[option]})" in text
    assert f"(default {defaults['seed']})" in text
    text = help_text(capsys, "osu")
    for name in ("iterations", "warmup", "window"):
        default = inspect.signature(simulate_osu).parameters[name].default
        said = text.partition(f"--{name} N ")[2].partition(" --")[0]
        assert said.endswith(f"(default {default})")
    assert "1..4MiB (default)" in text
    assert (OSU_SIZES[0], OSU_SIZES[-1]) == (1, 4 * 1024**2)


@for_each("words", [["--help"], ["osu", "--help"], ["fit", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom workbench.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print('heavy:', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1].split() == ["heavy:"]


def test_python_m_workbench_is_the_command() -> None:
    command = [sys.executable, "-m", "workbench"]
    run = subprocess.run([*command, "--version"], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, f"workbench {workbench.__version__}\n")
    run = subprocess.run(
        [*command, "osu", "-p", "nic.mtu=1"], cwd=ROOT, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert "did you mean node.nic.mtu?" in run.stderr


def test_a_terminal_without_the_characters_of_a_result_shows_others() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "workbench", "machine", "show", "azure-hb96v3-hdr"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"L 2.14 us +- 13.4 ns" in run.stdout
    assert b"switch_latency" in run.stdout  # the last lines are there too


def test_characters_have_replacements(capsys: pytest.CaptureFixture[str]) -> None:
    print_in_any_encoding()
    text = "µ ≤ ± × é ✕".encode("cp437", "workbench.ascii").decode("cp437")
    assert text == r"µ ≤ ± x é \u2715"
    assert "π".encode("ascii", "workbench.ascii") == rb"\u03c0"


def test_a_reader_that_leaves_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "workbench", "datasets"],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (run.returncode, run.stderr) == (128 + signal.SIGPIPE, "")
