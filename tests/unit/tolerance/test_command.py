"""``workbench tolerance``: the figures of the sweep and of the linear program, and refusals."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.goal_programs import FIG4C
from tests.unit import commands
from workbench import machines, programs
from workbench.cli import main
from workbench.tolerance import analyse
from workbench.validation import predict_recording, recording_of

answer = partial(commands.answer, "tolerance")
# With these T = max(L + 1.115 us, 1.5 us).
OPTIONS = ("-L", "500", "-o", "0", "-G", "5", "-S", "65536", "--interval", "0", "1000")


@pytest.fixture
def figure(tmp_path: Path) -> str:
    path = tmp_path / "figure.goal"
    path.write_text(FIG4C)
    return str(path)


@for_each("way", [(), ("--lp",)])
def test_the_papers_figure(
    capsys: pytest.CaptureFixture[str], figure: str, way: tuple[str, ...]
) -> None:
    """T(0.5) = 1.615; it is critical at 0.385; within 10 % of 1.615 it bears 0.6615 us."""
    printed = answer(capsys, figure, *OPTIONS, "--percent", "1", "10", *way)
    assert printed == {
        "makespan_ns": 1615,
        "lambda_L": 1,
        "lambda_G": 3,
        "rho_L": pytest.approx(500 / 1615),
        "tolerance_ns": {"1": 516.15, "10": 661.5},
        "critical_latencies_ns": [385],
        "critical_messages": 1,
    }
    assert list(printed)[:5] == ["makespan_ns", "lambda_L", "lambda_G", "rho_L", "tolerance_ns"]


def test_the_usual_percentages_and_interval(
    capsys: pytest.CaptureFixture[str], figure: str
) -> None:
    printed = answer(capsys, figure, "-L", "100", "-o", "0", "-G", "5")
    assert printed["tolerance_ns"] == {"1": 400, "2": 415, "5": 460}
    assert printed["critical_latencies_ns"] == [385]


def test_a_latency_without_bound_is_null_with_a_note(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "alone.goal"
    path.write_text("num_ranks 1\nrank 0 {\ncalc 100\n}\n")
    for way in ((), ("--lp",)):
        assert main(["tolerance", str(path), "--percent", "5", "--json", *way]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["tolerance_ns"] == {"5": None}
        assert err == "workbench: note: no latency makes the program slower by 5 %\n"
    assert main(["tolerance", str(path), "--percent", "5"]) == 0
    assert "L within 5 %        any latency" in capsys.readouterr().out


def test_a_trace_with_an_algorithm_on_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = programs.list()["cg-4"]
    trace = str(found.path.parent / found.descriptor["resources"][0]["path"])
    machine = "azure-hb96v3-hdr"
    model = machines.load(machine).loggps
    for name in ("ring", "reduce-bcast"):
        printed = answer(capsys, trace, "--machine", machine, "--algorithm", f"allreduce={name}")
        graph = programs.load("cg-4").graph(allreduce=name)
        expected = analyse(graph, model, contention=False).summary()
        assert printed["makespan_ns"] == expected["makespan_ns"]
        assert printed["tolerance_ns"] == expected["tolerance_ns"]
        assert printed["lambda_L"] == expected["lambda_L"]


def test_what_contention_changes_is_a_note(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.goal"
    path.write_text("num_ranks 1\nrank 0 {\ncalc 300\ncalc 500\n}\n")
    assert main(["tolerance", str(path), "--json"]) == 0
    err = capsys.readouterr().err
    assert "note: the times without contention are 38 % optimistic: 500 ns against 800 ns" in err
    assert main(["tolerance", str(path), "--json", "--no-contention"]) == 0
    assert "optimistic" not in capsys.readouterr().err


def test_people_read_a_line_a_number(capsys: pytest.CaptureFixture[str], figure: str) -> None:
    assert main(["tolerance", figure, *OPTIONS]) == 0
    out = capsys.readouterr().out
    for line in (
        "figure.goal, 2 ranks, 6 operations at L 500 ns",
        "T                   1,615 ns (run time)",
        "λ_L                 1 (latencies on the critical path)",
        "ρ_L                 30.96 % (latency's share of T)",
        "L within 1 %        516.15 ns (+16.2 ns)",
        "critical latencies  1 (between 0 ns and 1,000 ns)",
        "messages            1 (on the critical path)",
        "             385 ns  λ_L 0 to 1",
    ):
        assert line in out, out


@for_each(
    "words, said",
    [
        ("FILE --interval 5 5", "the interval must"),
        ("FILE --machine nowhere", "no machine is named 'nowhere'"),
        ("FILE --algorithm allreduce=ring", "--algorithm needs a trace"),
        ("nowhere.goal", "nowhere.goal"),
    ],
)
def test_what_is_wrong_is_one_paragraph(
    capsys: pytest.CaptureFixture[str], figure: str, words: str, said: str
) -> None:
    assert said in commands.refusal(capsys, "tolerance", *words.replace("FILE", figure).split())


@for_each(
    "words, said",
    [
        ("", "FILE"),
        ("f --percent 0", "must be a percentage above 0; got '0'"),
        ("f --percent x", "must be a percentage above 0"),
        ("f --interval 1", "--interval"),
        ("f --interval 1 nan", "must be a number of ns"),
        ("f -L -5", "-L"),
    ],
)
def test_a_wrong_command_line_has_status_2(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert said in commands.usage(capsys, "tolerance", *words.split())


def test_help_states_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    text = commands.help_text(capsys, "tolerance")
    for default in ("2500", "1500", "6", "65535", "1 2 5"):
        assert f"(default {default})" in text


RUNS = "latency_us,time_s,program,ranks\n0,1.615e-6,figure,2\n1,2.7e-6,figure,2\n0,1,other,2\n"


def test_measured_run_times_stand_beside_the_predicted_ones(
    capsys: pytest.CaptureFixture[str], figure: str, tmp_path: Path
) -> None:
    """T is L + 1.115 us: 1.615 us, and 2.615 us where 2.7 us were measured."""
    runs, page = tmp_path / "runs.csv", tmp_path / "page.html"
    runs.write_text(f"# origin: emulated\n{RUNS}")
    given = (figure, *OPTIONS[:8], "--measured", str(runs), "--measured-program", "figure")
    printed = answer(capsys, *given, "--save", str(page))
    measured = printed["measured"]
    assert measured["points"]["predicted_s"] == pytest.approx([1.615e-6, 2.615e-6])
    assert measured["rrmse_percent"] == pytest.approx(100 * 0.085 / 2**0.5 / (4.315 / 2))
    assert measured["provenance"]["origin"] == "emulated"
    assert "emulated runs: median" in page.read_text("utf-8")
    assert main(["tolerance", *given]) == 0
    out = capsys.readouterr().out
    assert "RRMSE 2.79 % of 2 medians (proportional 2.79 %)" in out
    assert "measured runs: emulated: runs (runs.csv)" in out


def test_runs_of_another_program_are_refused(
    capsys: pytest.CaptureFixture[str], figure: str, tmp_path: Path
) -> None:
    runs = tmp_path / "runs.csv"
    runs.write_text(RUNS)
    for given, message in (
        (["--measured-program", "x"], "--measured-program x needs --measured FILE.csv"),
        (["--measured", str(runs), "--measured-program", "x"], "they are of figure on 2 ranks, "),
        (["--measured", str(tmp_path / "none.csv")], "cannot be read as a file"),
    ):
        assert main(["tolerance", figure, *OPTIONS, *given]) == 1
        assert message in capsys.readouterr().err


def test_the_gap_per_byte_instead_of_the_latency(
    capsys: pytest.CaptureFixture[str], figure: str, tmp_path: Path
) -> None:
    """T is the greater of 1.6 us + 3 G and 1.5 us, with a G of 5 ns/B at first."""
    page = tmp_path / "page.html"
    given = (figure, *OPTIONS[:8], "--bandwidth", "--percent", "10")
    printed = answer(capsys, *given, "--save", str(page))
    G = (1615 * 1.1 - 1600) / 3
    assert printed == {
        "makespan_ns": pytest.approx(1615),
        "lambda_G": 3,
        "rho_G": pytest.approx(15 / 1615),
        "tolerance_ns_per_byte": {"10": pytest.approx(G)},
        "least_bandwidth_GBps": {"10": pytest.approx(1 / G)},
        "critical_gaps_ns_per_byte": [],
        "slopes": [3],
    }
    assert "Run time over gap per byte" in page.read_text("utf-8")
    assert main(["tolerance", *given, "--interval", "0", "1ns/B"]) == 0
    out = capsys.readouterr().out
    assert "G within 10 %           58.8333 ns/B (0.017 GB/s)" in out
    assert "critical gaps per byte  0 (between 0 ns/B and 1 ns/B (1 GB/s))" in out
    for other in (
        ["--lp"],
        ["--measured", "runs.csv"],
        ["--measured-program", "halo"],
        ["--traced", f"1us={figure}"],
    ):
        assert main(["tolerance", *given, *other]) == 1
        assert f"leave out --bandwidth or {other[0]}" in capsys.readouterr().err


def test_the_overhead_of_the_mean_message(
    capsys: pytest.CaptureFixture[str], figure: str, tmp_path: Path
) -> None:
    """The message has 4 B: o is 100 ns + 4 * 10 ns, and by Netgauge's line 2 us."""
    table = tmp_path / "netgauge.txt"
    table.write_text("L=1 s=1 o_s=2 o_r=2 g=1 G=0.001\n")
    options = (figure, "-L", "500", "-o", "100", "-O", "10", "-G", "5")
    assert answer(capsys, *options, "--overhead-at-mean-size")["makespan_ns"] == 1615 + 2 * 140
    for given, o in (([], "140 ns"), (["--overheads", str(table)], "2 µs")):
        assert main(["tolerance", *options, "--overhead-at-mean-size", *given]) == 0
        note = capsys.readouterr().err
        assert f"note: o is {o}, that of a message of 4 B, the mean of 1 message of" in note
    none = ["--overheads", str(tmp_path / "none")]
    assert main(["tolerance", *options, "--overhead-at-mean-size", *none]) == 1
    assert "No such file" in capsys.readouterr().err
    assert main(["tolerance", *options, *none]) == 1
    assert "needs --overhead-at-mean-size" in capsys.readouterr().err


def test_traces_at_several_latencies_are_compared(
    capsys: pytest.CaptureFixture[str], figure: str, tmp_path: Path
) -> None:
    """The other trace computes 1 us longer before its message, and so is 1 us longer at any L."""
    runs, other, page = tmp_path / "runs.csv", tmp_path / "other.goal", tmp_path / "page.html"
    runs.write_text("latency_us,time_s\n0,1.615e-6\n1,2.615e-6\n")
    other.write_text(FIG4C.replace("calc 100\n", "calc 1100\n"))
    given = (figure, *OPTIONS[:8], "--measured", str(runs), "--traced", f"1us={other}")
    traces = answer(capsys, *given, "--save", str(page))["traces"]
    assert [one["traced_us"] for one in traces] == [0, 1]
    assert traces[0]["rrmse_percent"] == pytest.approx(0, abs=1e-9)
    assert traces[1]["rrmse_percent"] == pytest.approx(100 / 2.115)
    assert "2 traces" in page.read_text("utf-8")
    assert main(["tolerance", *given]) == 0
    assert "RRMSE (%)" in capsys.readouterr().out
    assert main(["tolerance", figure, "--traced", f"1us={other}"]) == 1
    assert "--traced needs --measured FILE.csv" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["tolerance", *given, "--traced", "500us"])
    assert "must be LATENCY=FILE" in capsys.readouterr().err


def test_the_solver_of_linear_programs_prints_nothing(
    capfd: pytest.CaptureFixture[str], figure: str
) -> None:
    """What a library prints past Python would stand before the JSON."""
    assert main(["tolerance", figure, *OPTIONS, "--lp", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["makespan_ns"] == 1615


def test_arrivals_decide_whom_a_master_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], figure: str
) -> None:
    recording = recording_of("master_worker-4")
    trace, runs, two = (tmp_path / name for name in ("trace.zip", "runs.csv", "two.csv"))
    two.write_text("latency_us,time_s\n0,1.615e-6\n1,2.615e-6\n")
    trace.write_bytes(recording.traces[0.0])
    runs.write_text(recording.runs.to_csv())
    model = recording.model()
    options = ["-L", f"{1e9 * model.L}", "-o", f"{1e9 * model.o}", "-G", f"{1e9 * model.G}"]
    given = [str(trace), *options, "-S", "-1", "--measured", str(runs)]
    assert main(["tolerance", *given, "--arrivals", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = predict_recording(recording, latency="set")
    assert printed["measured"]["rrmse_percent"] == pytest.approx(found.rrmse_percent, rel=1e-6)
    assert main(["tolerance", *given, "--arrivals"]) == 0
    assert "replays by arrival, straight lines between them" in capsys.readouterr().out
    for refused, said in (
        ([str(trace), "--arrivals"], "--arrivals needs --measured FILE.csv"),
        ([*given, "--arrivals", "--lp"], "leave out --arrivals or --lp"),
        ([*given, "--arrivals", "--traced", f"1us={trace}"], "leave out --arrivals or --traced"),
        ([figure, "--measured", str(two), "--arrivals"], "figure.goal is a GOAL file"),
        ([*given, "--arrivals", "--bandwidth"], "leave out --bandwidth or --measured"),
    ):
        assert main(["tolerance", *refused]) == 1
        assert said in capsys.readouterr().err
