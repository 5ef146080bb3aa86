"""Reading and writing .ini files: SST/macro's grammar and defaults, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit.models.refusals import refusal
from workbench.errors import ParameterError, ParseError
from workbench.models import (
    PISCES,
    SNAPPR,
    SSTMACRO_MODELS,
    LogP,
    NetworkModel,
    Protocol,
    SnapprMemory,
    inspect_ini,
    read_ini,
)

RECORDED = Path(__file__).parents[2] / "conformance" / "sstmacro"
SETS = sorted(RECORDED.glob("*.json"))

SHORTEST = """
node {
  nic {
    name = snappr
    mtu = 1024
    bandwidth = 10GB/s
    credits = 8KB
    injection {
      bandwidth = 11GB/s
      latency = 1us
    }
  }
  memory.name = logp
  memory.bandwidth = 20GB/s
  memory.latency = 10ns
  proc.frequency = 2GHz
}
switch.name = snappr
switch {
  credits = 9KB
  link.bandwidth = 12GB/s
  link.latency = 250ns
  logp {
    bandwidth = 5GB/s
    out_in_latency = 2us
    hop_latency = 100ns
  }
}
"""


def at_end(line: str) -> tuple[str, int]:
    """Return ``SHORTEST`` with one more line, and that line's number."""
    return SHORTEST + line + "\n", SHORTEST.count("\n") + 1


def test_there_are_nineteen_recorded_sets() -> None:
    assert len(SETS) == 19


@for_each("path", SETS)
def test_recorded_sets_are_read_and_written_back(path: Path) -> None:
    recorded = json.loads(path.read_text())
    model = read_ini(RECORDED / recorded["ini"], recorded["overrides"])
    assert model.validate() is model
    assert model.name == {"s": "snappr", "p": "pisces", "l": "logp"}[path.stem[0]]
    for v10 in (True, False):
        again = inspect_ini(model.to_ini(v10=v10))
        assert again.model == model
        assert again.notes == ()


@for_each("name", sorted(SSTMACRO_MODELS))
def test_defaults_are_the_recorded_files(name: str) -> None:
    assert read_ini(RECORDED / f"{name}.ini") == SSTMACRO_MODELS[name]()
    assert read_ini(str(RECORDED / f"{name}.ini")) == SSTMACRO_MODELS[name]()


def test_without_a_file_the_default_set_is_read() -> None:
    assert read_ini() == SNAPPR()
    assert read_ini(overrides={"node.nic.mtu": "512"}) == SNAPPR(mtu=512)
    memory = {
        "node.memory.name": "snappr",
        "node.memory.channel_bandwidth": "0.7GB/s",
        "node.memory.num_channels": "2",
    }
    expected = SnapprMemory(channel_bandwidth=0.7 * 8e9 / 8, num_channels=2)
    assert read_ini(overrides=memory) == SNAPPR(memory=expected)


def test_a_key_left_out_gets_sstmacros_default() -> None:
    model = read_ini(SHORTEST)
    assert isinstance(model, SNAPPR)
    assert model.negligible_size == 256
    assert model.nic_buffer == 4_000_000
    assert model.ejection_latency == model.link_latency == 250 * 1e-9
    assert model.mpi.max_vshort_msg_size == 512
    assert model.nic_flow_control
    assert model.processor.lib_compute_access_width == 64


def test_credits_are_not_asked_for_without_flow_control() -> None:
    text = SHORTEST.replace("credits = 8KB", "flow_control = false").replace(
        "credits = 9KB", "flow_control = false"
    )
    model = read_ini(text)
    assert model.validate() is model
    with pytest.raises(ParseError, match=r"snappr network needs switch\.credits; "):
        read_ini(SHORTEST.replace("credits = 9KB", ""))


@for_each(
    "removed, missing",
    [
        ("mtu = 1024", "node.nic.mtu"),
        ("frequency = 2GHz", "node.proc.frequency"),
        ("hop_latency = 100ns", "switch.logp.hop_latency"),
    ],
)
def test_a_required_key_left_out_is_named(removed: str, missing: str) -> None:
    text = "\n".join(line for line in SHORTEST.split("\n") if removed not in line)
    with pytest.raises(ParseError, match=re.escape(missing)):
        read_ini(text)


def test_pisces_fills_what_is_left_out_as_sstmacro_does() -> None:
    text = PISCES().to_ini()
    xbar = re.sub(r"(xbar \{[^}]*?) *arbitrator = \w+\n", r"\1", text)
    assert xbar != text
    simple = read_ini(xbar, {"switch.arbitrator": "simple"})
    assert isinstance(simple, PISCES)
    assert (simple.link_arbitrator, simple.xbar_arbitrator) == ("simple", "simple")
    assert read_ini(text, {"switch.arbitrator": "simple"}).xbar_arbitrator == "cut_through"
    no_credits = re.sub(r"(link \{[^}]*?) *credits = \w+\n", r"\1", text)
    filled = read_ini(no_credits)
    assert isinstance(filled, PISCES)
    assert filled.link_credits == int(8 * filled.link_bandwidth * filled.link_latency)


def test_pisces_takes_the_links_arbitrator_when_the_switch_has_none() -> None:
    text = re.sub(r"^  arbitrator = cut_through\n", "", PISCES().to_ini(), flags=re.MULTILINE)
    with pytest.raises(ParseError, match=r"needs switch\.arbitrator"):
        read_ini(text)
    model = read_ini(text, {"switch.link.arbitrator": "null"})
    assert (model.link_arbitrator, model.xbar_arbitrator) == ("null", "cut_through")


def test_logp_prefers_the_inner_scope() -> None:
    model = read_ini(LogP().to_ini(), {"switch.logp.bandwidth": "3GB/s"})
    assert isinstance(model, LogP)
    assert model.bandwidth == 3e9


class TestVersion10:
    def test_spellings_are_read_when_alone_and_reported(self) -> None:
        text = (
            SHORTEST.replace("    mtu = 1024\n", "")
            .replace("    credits = 8KB\n", "")
            .replace("      latency = 1us", "      latency = 1us\n mtu = 2048\n credits = 16KB")
        )
        reading = inspect_ini(text)
        assert (reading.model.get("node.nic.mtu"), reading.model.get("node.nic.credits")) == (
            2048,
            16_000,
        )
        assert any("taken from node.nic.injection.mtu" in note for note in reading.notes)

    def test_version_11_wins_and_it_is_reported(self) -> None:
        reading = inspect_ini(SHORTEST, {"node.nic.injection.mtu": "64"})
        assert reading.model.get("node.nic.mtu") == 1024
        assert any("node.nic.injection.mtu has no effect" in note for note in reading.notes)

    def test_both_are_written(self) -> None:
        text = SNAPPR(mtu=2048).to_ini()
        assert text.count("mtu = 2048B") == 2
        assert SNAPPR(mtu=2048).to_ini(v10=False).count("mtu = 2048B") == 1


class TestUnknownKeys:
    @for_each(
        "key, meant",
        [
            ("node.nic.injecton.latency", "node.nic.injection.latency"),
            ("mpi.max_eager_msg_size", "node.app1.mpi.max_eager_msg_size"),
            ("mpi.queue.max_vshort_msg_size", "node.app1.mpi.max_vshort_msg_size"),
            ("node.mpi.post_header_delay", "node.app1.mpi.post_header_delay"),
            ("node.app1.max_eager_msg_size", "node.app1.mpi.max_eager_msg_size"),
            ("node.app2.mpi.max_eager_msg_size", "node.app1.mpi.max_eager_msg_size"),
            ("node.app1.launch_command", "node.app1.launch_cmd"),
            ("nic.mtu", "node.nic.mtu"),
            ("node.nic.credit", "node.nic.credits"),
            ("switch.bandwidh", "bandwidth"),
            ("negligible_size", "node.nic.negligible_size"),
        ],
    )
    def test_name_the_right_one_and_the_line(self, key: str, meant: str) -> None:
        text, line = at_end(f"{key} = 1")
        refusal(text, line, key, meant)
        with pytest.raises(ParameterError, match=re.escape(meant)) as caught:
            read_ini(SHORTEST, {key: "1"})
        assert caught.value.key == key

    def test_a_stranger_is_refused_without_a_guess(self) -> None:
        refusal(*at_end("colour = blue"), "colour is not a key of a snappr network (SST")

    def test_the_programs_own_keys_are_left_to_it(self) -> None:
        reading = inspect_ini(SHORTEST, {"node.app1.halo_width": "3"})
        assert reading.notes == (
            "node.app1.halo_width is for the simulated program; the workbench runs its own "
            "benchmark",
        )

    @for_each(
        "key",
        ["switch.mtu", "node.app1.mpi.poll_delay", "switch.xbar.bandwidth", "switch.link.credits"],
    )
    def test_keys_without_effect_are_reported(self, key: str) -> None:
        reading = inspect_ini(SHORTEST, {key: "1us"})
        assert reading.model == read_ini(SHORTEST)
        assert any(f"{key} has no effect" in note for note in reading.notes)


@for_each(
    "key, text",
    [
        ("node.nic.qos_levels", "2"),
        ("node.nic.queue", "round_robin"),
        ("node.nic.ignore_memory", "false"),
        ("node.nic.injection.arbitrator", "wrr"),
        ("node.nic.qos_credits", "[1KB,2KB]"),
        ("switch.link.arbitrator", "wrr"),
        ("switch.link.vl_weights", "[0.5,0.5]"),
        ("switch.logp.random_seed", "4"),
        ("switch.logp.contention.model", "sliding"),
        ("node.app1.mpi.use_put_window", "true"),
        ("node.app1.mpi.software_ack", "false"),
        ("node.app1.mpi.eager0_qos", "1"),
        ("node.app1.launch_cmd", "aprun -n 4 -N 1"),
        ("node.app1.launch_cmd", "aprun -n 2 -N 2"),
        ("node.memory.name", "pisces"),
        ("node.proc.processor", "simple"),
        ("switch.name", "sculpin"),
        ("node.nic.name", "merlin"),
        ("topology.name", "torus"),
        ("topology.geometry", "[4,4]"),
        ("topology.concentration", "1"),
        ("stop_time", "1ms"),
    ],
)
def test_what_is_not_modelled_is_reported(key: str, text: str) -> None:
    with pytest.raises(ParameterError, match=rf"not modelled: {re.escape(key)}"):
        read_ini(SHORTEST, {key: text})


@for_each(
    "key, text",
    [
        ("node.nic.qos_levels", "1"),
        ("node.app1.launch_cmd", "aprun -n 2 -N 1"),
        ("node.app1.env.OMP_NUM_THREADS", "4"),
        ("topology.geometry", "[ 1 ]"),
        ("topology.concentration", "16"),
        ("topology.name", "star"),
        ("stop_time", "0s"),
        ("node.nic.injection.xmit_active.type", "accumulator"),
    ],
)
def test_what_changes_nothing_passes_in_silence(key: str, text: str) -> None:
    reading = inspect_ini(SHORTEST, {key: text})
    assert reading.model == read_ini(SHORTEST)
    assert reading.notes == ()


def test_nic_and_switch_must_agree() -> None:
    with pytest.raises(ParseError, match=r"one model.*set node\.nic\.name = pisces"):
        read_ini(SHORTEST, {"switch.name": "pisces"})


def test_a_value_of_the_wrong_kind_has_its_line() -> None:
    refusal(
        SHORTEST.replace("mtu = 1024", "mtu = 4us"),
        5,
        "MTU (node.nic.mtu) must be a size",
        "a time",
    )
    refusal(SHORTEST.replace("mtu = 1024", "mtu ="), 5, "MTU (node.nic.mtu) must be a size")
    refusal(SHORTEST.replace("credits = 9KB", "credits = 9KiB"), 20, "switch.credits")


def test_misread_units_and_null_memory_are_reported() -> None:
    reading = inspect_ini(SHORTEST, {"switch.link.bandwidth": "1TB/s"})
    assert reading.model.get("switch.link.bandwidth") == 1e15
    assert any("10^15" in note for note in reading.notes)
    reading = inspect_ini(SHORTEST, {"node.memory.name": "null"})
    assert any("never finishes" in note for note in reading.notes)


def test_a_model_reads_only_its_own_kind() -> None:
    assert SNAPPR.from_ini(SHORTEST, {"node.nic.mtu": "512"}).mtu == 512
    with pytest.raises(ParameterError, match=r"LogP\.from_ini needs .*has snappr"):
        LogP.from_ini(SHORTEST)


def test_a_repaired_model_says_that_sstmacro_differs() -> None:
    model: NetworkModel = SNAPPR(variant="repaired")
    assert "# values of the variant 'repaired'" in model.to_ini()
    assert read_ini(model.to_ini()).replace(variant="repaired") == model
    assert "variant" not in SNAPPR().to_ini()


def test_a_model_of_our_own_is_written_and_read_back_and_changed() -> None:
    model = Protocol(eager_max=8192, short_latency=1.37e-6)
    assert read_ini(model.to_ini()) == model
    assert read_ini(model.to_ini(), {"eager.max_size": "4KB"}).get("eager.max_size") == 4000
    assert Protocol.from_ini(model.to_ini()) == model
    assert read_ini("model = protocol\n") == Protocol()


@for_each(
    "text, line, message",
    [
        ("model = protocol\nshort {\n latncy = 1us\n}", 3, "did you mean short.latency?"),
        ("model = protocol\nshort {\n latency = 1GB/s\n}", 3, "short.latency"),
        ("model = magic", 1, "model must be one of protocol"),
        ("model = protocol\nswitch {\n name = logp\n}", 3, "not a key of a protocol model"),
    ],
)
def test_a_slip_in_a_model_of_our_own_is_named_with_its_line(
    text: str, line: int, message: str
) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_ini(text)
    assert caught.value.line == line


def test_a_file_of_another_model_is_refused_by_from_ini() -> None:
    with pytest.raises(ParameterError, match="this one has logp"):
        Protocol.from_ini(LogP().to_ini())
