"""``workbench place``: placements as JSON and as text, what is passed on, what is refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench import programs, topology
from workbench.cli import main
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.placement import METHODS, job_hosts, place

answer = partial(commands.answer, "place")

FEW = ["--evaluations", "20"]


@pytest.fixture
def goal(tmp_path: Path) -> str:
    graph = programs.generate.halo(16, dims=2, cells=8, iterations=1, jitter=0.2, rng=1).graph()
    return str(graph.to_goal(tmp_path / "halo.goal"))


def test_a_placement_as_the_function_gives_it(
    capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    printed = answer(capsys, goal, "--topology", "fat-tree:4", "--seed", "3", *FEW)
    model = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0, S=65535)
    graph = programs.read_goal(Path(goal))
    expected = place(graph, model, topology.fat_tree(4), seed=3, evaluations=20)
    assert printed["hosts"] == expected.hosts.tolist()
    assert printed["makespan_ns"] == expected.T * 1e9
    assert printed["method"] == "search"
    assert printed["parameters"] == {"k": 4}
    assert sorted(printed["hosts"]) == list(range(16))


def test_every_option_is_passed_on(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    words = "--topology dragonfly:4,2,2 --method volume --ranks-per-host 2 --hosts 12"
    times = "--l-wire 100 --d-switch 50 --same-host 25 -o 200 -G 0.01 -S -1"
    printed = answer(capsys, goal, *words.split(), *times.split())
    model = LogGPS(L=0, o=2e-7, g=0, G=1e-11, O=0, S=2**31 - 1)
    expected = place(
        programs.read_goal(Path(goal)),
        model,
        topology.dragonfly(a=2, p=2, g=4),
        method="volume",
        ranks_per_host=2,
        hosts=range(12),
        l_wire_s=1e-7,
        d_switch_s=5e-8,
        same_host_s=2.5e-8,
    )
    assert printed["hosts"] == expected.hosts.tolist()
    assert printed["makespan_ns"] == expected.T * 1e9
    assert answer(capsys, goal, *words.split(), "--seconds", "0")["evaluations"] >= 1


def test_all_methods_side_by_side(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    words = ["--topology", "dragonfly:a=2,p=2,h=2,g=4", "--method", "all", *FEW]
    printed = answer(capsys, goal, *words)
    assert tuple(printed) == METHODS
    assert printed["block"]["hosts"] == list(range(16))
    assert main(["place", goal, *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["method", *METHODS]
    assert " ns as block " in lines[1]


def test_people_read_the_ranks_of_each_router(
    capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    assert main(["place", goal, "--topology", "fat-tree:4", "--method", "block"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("block: 16 ranks on fat tree, k=4")
    assert "group 0, router 1: ranks 2 3\n" in out


def test_a_placement_becomes_files_that_start_the_program(
    capsys: pytest.CaptureFixture[str], goal: str, tmp_path: Path
) -> None:
    ranks, hosts, names = (tmp_path / one for one in ("ranks", "hosts", "names"))
    names.write_text("\n".join(f"node{host:02d}" for host in range(16)))
    words = ["--topology", "fat-tree:4", "--method", "random", "--ranks-per-host", "2"]
    files = ["--rankfile", str(ranks), "--hostfile", str(hosts)]
    at = answer(capsys, goal, *words, *files, "--host-names", str(names))["hosts"]
    assert hosts.read_text().splitlines() == [f"node{host:02d}" for host in at]
    lines = ranks.read_text().splitlines()
    taken = [at[:rank].count(host) for rank, host in enumerate(at)]
    assert max(taken) == 1
    assert lines == [
        f"rank {rank}=node{host:02d} slot={slot}"
        for rank, (host, slot) in enumerate(zip(at, taken, strict=True))
    ]
    answer(capsys, goal, *words, *files, "--host-names", "nid{:03d}.cluster")
    assert hosts.read_text().splitlines() == [f"nid{host:03d}.cluster" for host in at]
    answer(capsys, goal, *words, *files)
    assert hosts.read_text().splitlines() == [f"host{host}" for host in at]


@for_each(
    "words, said",
    [
        (["--method", "all"], "holds one placement; got --method all"),
        (["--host-names", "a,b,c"], "each of the network's 16 hosts; got 3"),
        (["--host-names", ",".join(["a"] * 16)], "'a' occurs twice"),
        (["--host-names", "n{:q}"], "one pair of braces"),
        (["--host-names", "n {}"], "no spaces; got 'n 0'"),
    ],
)
def test_names_that_do_not_fit_are_refused_before_the_search(
    capsys: pytest.CaptureFixture[str], goal: str, tmp_path: Path, words: list[str], said: str
) -> None:
    out = tmp_path / "ranks"
    asked = ["place", goal, "--topology", "fat-tree:4", "--rankfile", str(out), *words]
    assert main(asked) == 1
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_a_latency_that_is_not_used_is_noted(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    words = ["--topology", "fat-tree:4", "--method", "block", "-L", "900", "-g", "1"]
    assert main(["place", goal, *words]) == 0
    assert "-L, -g not used" in capsys.readouterr().err


@for_each(
    "words, said",
    [
        ("FILE --topology ring:4", "a topology must be one of"),
        ("FILE --topology fat-tree:2", "more --ranks-per-host"),
        ("FILE --topology fat-tree:4 --method scotch", "method must be one of"),
        ("nowhere.goal --topology fat-tree:4", "nowhere.goal"),
        ("FILE --topology fat-tree:4 --hosts 3", "a place for each of 16 ranks"),
        ("FILE --topology fat-tree:4 --hosts -3", "hosts must be 1 to 16, the hosts of fat tree"),
        (f"FILE --topology fat-tree:4 --hosts {10**30}", "hosts must be 1 to 16"),
        (
            "FILE --topology fat-tree:4 --seed -1",
            "a whole number of at least 0; got -1",
        ),
        ("FILE --topology fat-tree:4 --seconds nan", "seconds must be at least 0"),
    ],
)
def test_what_is_wrong_is_one_paragraph(
    capsys: pytest.CaptureFixture[str], goal: str, words: str, said: str
) -> None:
    assert said in commands.refusal(capsys, "place", *words.replace("FILE", goal).split())


def test_a_topology_must_be_given(capsys: pytest.CaptureFixture[str], goal: str) -> None:
    assert "a topology must be given" in commands.refusal(capsys, "place", goal)


RANKS_AND_HOSTS = """# written by a batch system
rank 1=+n4 slot=0
rank 0=n2 slot=0
rank 2=n2 slot=1
"""


@for_each(
    "text, names, hosts",
    [
        ("5", None, [0, 1, 2, 3, 4]),
        ("cn[1,3,5-7]", None, [1, 3, 5, 6, 7]),
        ("cn01, cn10\n", None, [1, 10]),
        ("rack[1-2]n[01-02]", "rack[1-2]n[01-08]", [0, 1, 8, 9]),
        (RANKS_AND_HOSTS, None, [2, 4]),
        ("n3 slots=2\nn0 slots=2 max_slots=4\nn3\n", None, [3, 0]),
        ("n3:2\nn0:2\n", None, [3, 0]),
        ("nid00003 nid00001", "nid{:05d}", [3, 1]),
    ],
)
def test_the_hosts_of_a_job(text: str, names: str | None, hosts: list[int]) -> None:
    given = {} if names is None else {"names": names}
    assert job_hosts(text, topology.fat_tree(4), **given) == hosts


@for_each(
    "text, names, said",
    [
        ("17", None, "hosts must be 1 to 16"),
        ("cn[1,3", None, "a host must be a name or a list"),
        ("cn16", None, "numbered 0 to 15"),
        ("login cn1", None, "end in their numbers"),
        ("rack1n1,rack2n1", None, "names of all hosts of the network in order"),
        ("cn1", "rack[1-2]n[01-08]", "got 'cn1'"),
        (" ", None, "at least one host"),
    ],
)
def test_hosts_that_cannot_be_found(text: str, names: str | None, said: str) -> None:
    given = {} if names is None else {"names": names}
    with pytest.raises(ParameterError, match=said):
        job_hosts(text, topology.fat_tree(4), **given)


@for_each(
    "text, hosts",
    [
        ("n3 slots=2\nn0 slots=4\nn1", [3, 0]),
        ("rank 0=n3 slot=0\nrank 1=n2 slot=0\nrank 2=n1", [3, 2]),
        ("rank 0=n3\nrank 1=", [3]),
        ("n3:2\nn0:2\nn1", [3, 0]),
    ],
)
def test_a_last_host_that_is_cut_is_left_out(text: str, hosts: list[int]) -> None:
    with pytest.warns(UserWarning, match=r"line [23]: the text ends in the middle of this row"):
        assert job_hosts(text, topology.fat_tree(4)) == hosts
    with pytest.raises(ParameterError, match="each line of a rankfile must be as rank 0=cn5"):
        job_hosts("rank 0=n3\nrank 1=\nrank 2=n1\n", topology.fat_tree(4))


def test_hosts_equally_far_apart_are_said_to_be(
    capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    words = ["place", goal, "--topology", "star:16", "--method", "all", "--evaluations", "5"]
    assert main(words) == 0
    assert "every placement takes as long" in capsys.readouterr().out
    assert main(["place", goal, "--topology", "fat-tree:4", "--method", "block"]) == 0
    assert "every placement takes as long" not in capsys.readouterr().out
