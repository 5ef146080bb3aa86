"""``workbench replay``: LogGOPSim's figures on its defaults, traces, and what is refused."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.goal_programs import CROSSED
from tests.unit import commands
from workbench import machines, models, programs
from workbench.cli import main
from workbench.cli.output import byte_count
from workbench.cli.program_options import nanoseconds
from workbench.simulate.replay import replay

answer = partial(commands.answer, "replay")

PINGPONG = """num_ranks 2
rank 0 {
a: send 8b to 1 tag 1
b: recv 8b from 1 tag 2
b requires a
}
rank 1 {
a: recv 8b from 0 tag 1
b: send 8b to 0 tag 2
b requires a
}
"""


@pytest.fixture
def pingpong(tmp_path: Path) -> str:
    path = tmp_path / "pingpong.goal"
    path.write_text(PINGPONG)
    return str(path)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A recorded program as the file it ships in."""
    found = programs.list()["cg-4"]
    return str(found.path.parent / found.descriptor["resources"][0]["path"])


def many_ties() -> str:
    """A program whose end depends on the order of 40 sends that become free together."""
    sends = "".join(f"s{peer}: send {64 * peer}b to {peer}\n" for peer in range(1, 41))
    text = f"num_ranks 41\nrank 0 {{\n{sends}}}\n"
    for peer in range(1, 41):
        text += f"rank {peer} {{\nr: recv {64 * peer}b from 0\n"
        text += f"c: calc {1000 * peer}\nc requires r\n}}\n"
    return text


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["replay", *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    # notes of what a trace does not tell come before
    *notes, error = err.splitlines()
    assert all(line.startswith("workbench: note: ") for line in notes)
    assert error.startswith("workbench: error: ")
    return error


def test_a_ping_pong_on_the_defaults(capsys: pytest.CaptureFixture[str], pingpong: str) -> None:
    """There and back: o + L + o + 7 G each, by hand from the defaults 2500, 1500, 6 ns."""
    printed = answer(capsys, pingpong)
    there = 1500 + 2500 + 1500 + 7 * 6
    assert printed["finish_ns"] == [2 * there, there + 1500]
    assert printed["makespan_ns"] == 2 * there
    assert printed["events"] == 6
    assert printed["seconds"] > 0
    assert list(printed)[:4] == ["finish_ns", "makespan_ns", "events", "seconds"]


def test_every_parameter_is_passed_on(capsys: pytest.CaptureFixture[str], pingpong: str) -> None:
    words = ["-L", "100", "-o", "10", "-g", "3", "-G", "0.018", "-O", "0.5", "-S", "4"]
    printed = answer(capsys, pingpong, *words)
    model = models.LogGPS(L=1e-7, o=1e-8, g=3e-9, G=1.8e-11, O=5e-10, S=4)
    expected = replay(programs.read_goal(PINGPONG), model)
    assert printed["finish_ns"] == expected.finish_ns
    unlimited = answer(capsys, pingpong, *words[:-1], "-1")
    assert unlimited["finish_ns"] != printed["finish_ns"]


def test_the_other_semantics(capsys: pytest.CaptureFixture[str], pingpong: str) -> None:
    printed = answer(capsys, pingpong, "--semantics", "llamp", "-o", "0")
    assert printed["finish_ns"] == [2 * (2500 + 42), 2500 + 42]
    assert printed["semantics"] == "llamp"


def test_a_machines_profile_and_options_before_it(
    capsys: pytest.CaptureFixture[str], pingpong: str
) -> None:
    machine = "azure-hb96v3-hdr"
    model = machines.load(machine).loggps
    graph = programs.read_goal(PINGPONG)
    assert answer(capsys, pingpong, "--machine", machine)["finish_ns"] == (
        replay(graph, model).finish_ns
    )
    slower = answer(capsys, pingpong, "--machine", machine, "-L", "9000")
    assert slower["finish_ns"] == replay(graph, model.replace(L=9e-6)).finish_ns


def test_a_trace_with_an_algorithm_of_ones_own(
    capsys: pytest.CaptureFixture[str], trace: str
) -> None:
    program = programs.load("cg-4")
    model = models.LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0, S=65535)
    for name in ("ring", "reduce-bcast"):
        printed = answer(capsys, trace, "--algorithm", f"allreduce={name}")
        expected = replay(program.graph(allreduce=name), model)
        assert printed["finish_ns"] == expected.finish_ns
        assert printed["events"] == expected.events


def test_people_read_a_line_a_rank(capsys: pytest.CaptureFixture[str], pingpong: str) -> None:
    assert main(["replay", pingpong]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "rank 0       11,084 ns" in out
    assert "makespan         11,084 ns" in out
    assert "L 2.50 µs" in out


def test_of_many_ranks_the_last_ones_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "many.goal"
    ranks = "".join(f"rank {r} {{\na: calc {100 + r}\n}}\n" for r in range(40))
    path.write_text(f"num_ranks 40\n{ranks}")
    assert main(["replay", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("rank ")]
    assert len(shown) == 32
    assert shown[0].split() == ["rank", "39", "139", "ns"]
    assert any("32 of 40 ranks" in line for line in lines)


def test_a_deadlock_names_who_waits_with_status_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "crossed.goal"
    path.write_text(CROSSED)
    for semantics in ("loggopsim", "llamp"):
        err = refusal(capsys, str(path), "--semantics", semantics)
        for phrase in ("rank 0, line 3: send 100000 B to 1", "rank 1, line 8: send 100000 B to 0"):
            assert phrase in err, err
    assert answer(capsys, str(path), "-S", "100000")["makespan_ns"] > 0


@for_each(
    "words, said",
    [
        ("FILE --semantics other", "semantics must be one of loggopsim, llamp"),
        ("FILE --machine nowhere", "no machine is named 'nowhere'"),
        ("FILE --algorithm allreduce=ring", "--algorithm needs a trace"),
        ("FILE -S 99999999999", "S must be a whole number"),
        ("nowhere.goal", "nowhere.goal"),
    ],
)
def test_what_is_wrong_is_one_paragraph(
    capsys: pytest.CaptureFixture[str], pingpong: str, words: str, said: str
) -> None:
    assert said in refusal(capsys, *words.replace("FILE", pingpong).split())


def test_another_algorithm_for_few_elements_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "cg-4", "--algorithm", "allreduce=ring"]) == 0
    said = "note: 402 collectives: allreduce of fewer elements than the blocks of ring runs"
    assert said in capsys.readouterr().err


def test_an_unknown_algorithm_lists_the_known_ones(
    capsys: pytest.CaptureFixture[str], trace: str
) -> None:
    assert "ring" in refusal(capsys, trace, "--algorithm", "allreduce=rign")


@for_each(
    "words, said",
    [
        ("", "FILE"),
        ("f -L some", "must be a number of ns, at least 0; got 'some'"),
        ("f -L -5", "-L"),
        ("f -G nan", "must be a number of ns"),
        ("f --algorithm ring", "must be OPERATION=NAME"),
    ],
)
def test_a_wrong_command_line_has_status_2(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert said in commands.usage(capsys, "replay", *words.split())


def test_help_states_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    text = commands.help_text(capsys, "replay")
    for default in ("2500", "1500", "1000", "6", "65535"):
        assert f"(default {default})" in text


@for_each("text, ns", [("2500", 2500.0), ("2.5us", 2500.0), ("0.018ns/B", 0.018), ("40ps", 0.04)])
def test_times_may_have_their_unit(text: str, ns: float) -> None:
    assert nanoseconds(text) == ns


@for_each("text, size", [("65536", 65536), ("64KiB", 65536), ("64kB", 64000), ("-1", -1)])
def test_sizes_may_have_their_unit(text: str, size: int) -> None:
    assert byte_count(text) == size
    with pytest.raises(argparse.ArgumentTypeError, match="units are B, kB"):
        byte_count("64kb")


def test_the_order_of_ties_is_an_option_and_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "ties.goal"
    path.write_text(many_ties())
    graph, model = (
        programs.read(path),
        models.LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535),
    )
    makespans = {}
    for ties in ("stable", "libstdc++"):
        printed = answer(capsys, str(path), "--ties", ties)
        assert printed["ties"] == ties
        makespans[ties] = printed["makespan_ns"]
        assert makespans[ties] == replay(graph, model, ties=ties).makespan_ns
    assert answer(capsys, str(path))["makespan_ns"] == makespans["stable"]
    assert makespans["libstdc++"] != makespans["stable"]
    assert main(["replay", str(path), "--ties", "libstdc++"]) == 0
    assert "ties as libstdc++'s std::sort leaves them" in capsys.readouterr().out
    assert main(["replay", str(path), "--ties", "gnu"]) == 1
    assert "ties must be one of stable, libstdc++" in capsys.readouterr().err
