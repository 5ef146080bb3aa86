"""The models as values: keys, changes, bounds, refusals and printing."""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any, get_args

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ConfigurationError, ParameterError
from workbench.models import (
    PISCES,
    SNAPPR,
    LogP,
    LogPMemory,
    MPIProtocol,
    NetworkModel,
    NullMemory,
    Processor,
    Protocol,
    SnapprMemory,
    read_ini,
)
from workbench.models.parameter import Section

SSTMACRO = [
    model(memory=m) for model in (SNAPPR, LogP, PISCES) for m in (LogPMemory(), SnapprMemory())
]
EVERY = [*SSTMACRO, Protocol()]


def _name(model: NetworkModel) -> str:
    return f"{model.name}-{model.memory.name}" if model in SSTMACRO else model.name


@pytest.mark.parametrize("model", EVERY, ids=_name)
class TestEveryParameter:
    def test_is_described(self, model: NetworkModel) -> None:
        keys = [p.key for p in model.parameters()]
        assert len(set(keys)) == len(keys) >= 13
        scopes = "node|switch" if model in SSTMACRO else "short|eager|rendezvous|middle"
        for p in model.parameters():
            assert re.fullmatch(rf"({scopes})(\.[a-z0-9_]+)+", p.key)
            assert p.description.endswith(".")
            assert p.section in get_args(Section)
            assert (p.unit == "") == (p.kind in ("count", "number", "flag", "choice"))

    def test_has_bounds_that_can_be_set(self, model: NetworkModel) -> None:
        for p in model.parameters():
            if p.kind == "choice":
                for choice in p.choices:
                    assert model.with_values({p.key: choice}).get(p.key) == choice
            elif p.kind == "flag":
                assert model.with_values({p.key: False}).get(p.key) is False
            else:
                assert p.low < p.high
                assert not p.log or p.low > 0
                assert model.with_values({p.key: p.low}).get(p.key) == p.low
                assert model.with_values({p.key: p.high}).get(p.key) == p.high

    def test_sections_stand_together(self, model: NetworkModel) -> None:
        sections = [p.section for p in model.parameters()]
        changes = sum(a != b for a, b in itertools.pairwise(sections))
        assert changes == len(set(sections)) - 1

    def test_prints(self, model: NetworkModel) -> None:
        assert "\n" not in repr(model)
        assert repr(model).startswith(type(model).__name__)
        html = model._repr_html_()
        assert all(p.key in html for p in model.parameters())


def test_values_change_by_key_with_or_without_units() -> None:
    model = SNAPPR().with_values(
        {
            "node.nic.mtu": "512B",
            "node.nic.injection.latency": 5e-7,
            "node.app1.mpi.max_eager_msg_size": "16KB",
            "switch.logp.hop_latency": "20ns",
            "node.memory.latency": "20ns",
            "node.nic.flow_control": False,
        }
    )
    assert model.mtu == 512
    assert model.injection_latency == 5e-7
    assert model.mpi.max_eager_msg_size == 16_000
    assert model.logp.hop_latency == model.memory.latency == 20 * 1e-9
    assert model.nic_flow_control is False
    assert SNAPPR().mtu == 4096


def test_spellings_of_version_10_change_the_same_parameter() -> None:
    model = SNAPPR().with_values(
        {
            "node.nic.injection.mtu": 1024,
            "node.nic.injection.credits": "8KB",
            "switch.link.credits": "9KB",
        }
    )
    assert (model.mtu, model.nic_credits, model.switch_credits) == (1024, 8000, 9000)
    assert model.get("node.nic.injection.mtu") == 1024
    # the injection bandwidth is a parameter of its own, not another name for node.nic.bandwidth
    faster = SNAPPR().with_values({"node.nic.injection.bandwidth": 20e9})
    assert (faster.injection_bandwidth, faster.nic_bandwidth) == (20e9, 12.5e9)


@for_each(
    "key, meant",
    [
        ("node.nic.injecton.latency", "node.nic.injection.latency"),
        ("mpi.max_eager_msg_size", "node.app1.mpi.max_eager_msg_size"),
        ("node.mpi.post_rdma_delay", "node.app1.mpi.post_rdma_delay"),
        ("node.nic.mtuu", "node.nic.mtu"),
        ("switch.hop_latency", "switch.logp.hop_latency"),
    ],
)
def test_an_unknown_key_names_the_nearest(key: str, meant: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"did you mean {meant}?")) as caught:
        SNAPPR().with_values({key: 1})
    assert caught.value.key == key
    with pytest.raises(ParameterError, match=re.escape(meant)):
        SNAPPR().get(key)


def test_a_key_like_nothing_names_nothing() -> None:
    with pytest.raises(ParameterError, match=r"^colour is not a parameter of LogP[^?]*$"):
        LogP().with_values({"colour": 1})


def test_the_memory_model_is_not_a_value() -> None:
    with pytest.raises(ParameterError, match=r"replace\(memory="):
        SNAPPR().with_values({"node.memory.name": "snappr"})


def test_replace_names_the_nearest_attribute() -> None:
    assert SNAPPR().replace(mtu=512).mtu == 512
    with pytest.raises(ParameterError, match="did you mean nic_credits"):
        SNAPPR().replace(nic_credit=512)


@for_each(
    "change, message",
    [
        ({"mtu": 0}, "MTU (node.nic.mtu) must be at least 1"),
        ({"mtu": 4096.5}, "whole number of bytes"),
        ({"mtu": 2**32}, "at most 4294967295 B"),
        ({"mtu": True}, "must be a number"),
        ({"mtu": None}, "must be a number"),
        ({"link_bandwidth": 0.0}, "link bandwidth (switch.link.bandwidth) must be more than 0 B/s"),
        ({"link_bandwidth": float("nan")}, "must be finite"),
        ({"injection_latency": -1e-9}, "must be at least 0"),
        ({"injection_latency": 1e4}, "at most 1844 s"),
        ({"congestion": 1}, "must be True or False"),
        ({"variant": "fast"}, "variant of SNAPPR must be one of sstmacro, repaired"),
        ({"mpi": None}, "mpi must be one of MPIProtocol"),
        ({"memory": "logp"}, "memory must be one of LogPMemory, SnapprMemory, NullMemory"),
    ],
)
def test_a_wrong_value_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        SNAPPR().replace(**change)


def test_a_wrong_choice_lists_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r"switch\.arbitrator.*simple, null, cut_through"):
        PISCES(link_arbitrator="fair")


def test_numpy_scalars_become_plain_numbers() -> None:
    model = SNAPPR(mtu=np.int64(512), link_bandwidth=np.float64(1e9), congestion=np.bool_(True))
    assert type(model.mtu) is int
    assert type(model.link_bandwidth) is float
    assert model.congestion is True
    assert model == SNAPPR(mtu=512, link_bandwidth=1e9)


def test_models_are_frozen_and_hashable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SNAPPR().mtu = 1  # type: ignore[misc]
    assert len({SNAPPR(), SNAPPR(), SNAPPR(mtu=512), LogP()}) == 3


def test_null_memory_and_null_processor_values() -> None:
    model = SNAPPR(memory=NullMemory())
    assert not any(p.key.startswith("node.memory.") for p in model.parameters())
    assert Processor().frequency == 2.1 * 1e9
    assert MPIProtocol().max_vshort_msg_size == 512


BROKEN = [
    (SNAPPR(nic_credits=4095), "node.nic.credits >= node.nic.mtu"),
    (SNAPPR(switch_credits=4095), "switch.credits >= node.nic.mtu"),
    (SNAPPR(nic_buffer=4095), "node.nic.buffer >= node.nic.mtu"),
    (SNAPPR(nic_flow_control=False), "node.nic.flow_control == switch.flow_control"),
    (SNAPPR(switch_flow_control=False), "node.nic.flow_control == switch.flow_control"),
    (SNAPPR(congestion=False), "switch.congestion or not switch.flow_control"),
    (
        SNAPPR(nic_flow_control=False, switch_flow_control=False, nic_buffer=1),
        "node.nic.buffer >= node.nic.mtu",
    ),
    (PISCES(nic_credits=4095), "node.nic.injection.credits >= node.nic.injection.mtu"),
    (PISCES(mtu=64, link_credits=4095), "switch.link.credits >= switch.mtu"),
    (PISCES(switch_mtu=64, link_credits=4095), "switch.link.credits >= node.nic.injection.mtu"),
]


@for_each("model, rule", BROKEN)
def test_a_run_that_cannot_finish_is_refused(model: NetworkModel, rule: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        model.validate()
    assert caught.value.rule == rule
    assert all(key in str(caught.value) for key in caught.value.keys)


def test_the_message_says_rule_values_and_cure() -> None:
    with pytest.raises(
        ConfigurationError,
        match=re.escape(
            "credits must hold one packet: NIC credits (node.nic.credits) 4096 B < "
            "MTU (node.nic.mtu) 8192 B; "
            "raise node.nic.credits or lower node.nic.mtu"
        ),
    ):
        SNAPPR(mtu=8192, nic_credits=4096).validate()


@for_each(
    "model",
    [
        *EVERY,
        SNAPPR(mtu=4096, nic_credits=4096, switch_credits=4096, nic_buffer=4096),
        SNAPPR(nic_flow_control=False, switch_flow_control=False, nic_credits=1, switch_credits=1),
        SNAPPR(nic_flow_control=False, switch_flow_control=False, congestion=False),
    ],
)
def test_a_run_that_can_finish_passes(model: NetworkModel) -> None:
    assert model.validate() is model


def test_only_packets_that_occur_need_room() -> None:
    model = SNAPPR(mtu=8192, nic_credits=4096)
    assert model.validate(largest_message=4096) is model
    with pytest.raises(ConfigurationError, match="the largest packet, 4097 B"):
        model.validate(largest_message=4097)
    # the control messages of 64 bytes are packets too
    with pytest.raises(ConfigurationError, match="the largest packet, 64 B"):
        model.replace(nic_credits=63).validate(largest_message=1)
    overlay = model.replace(nic_credits=1, negligible_size=4096)
    assert overlay.validate(largest_message=4096) is overlay
    # a PISCES NIC waits for credits of a full mtu, whatever it sends
    with pytest.raises(ConfigurationError):
        PISCES(mtu=8192, nic_credits=4096).validate(largest_message=1)


@for_each(
    "model, values",
    [
        (SNAPPR, {"injection_latency": ("300ns", 3e-7), "mtu": ("4KiB", 4096)}),
        (PISCES, {"link_bandwidth": ("100Gbit/s", 12.5e9), "mtu": ("4kB", 4000)}),
        (LogP, {"out_in_latency": ("1.5 µs", 1.5e-6), "bandwidth": ("1TB/s", 1e12)}),
        (Protocol, {"eager_max": ("64KiB", 65536), "rendezvous_handshake": ("3us", 3e-6)}),
    ],
)
def test_keywords_take_the_units_that_panels_take(model: Any, values: dict[str, Any]) -> None:
    texts = {name: text for name, (text, _) in values.items()}
    for made in (model(**texts), model().replace(**texts)):
        for name, (_, value) in values.items():
            assert getattr(made, name) == pytest.approx(value, rel=1e-15)
    assert MPIProtocol(max_eager_msg_size="8KiB").max_eager_msg_size == 8192
    with pytest.raises(ParameterError, match="latencies is not an attribute of"):
        model(latencies="300ns")


def test_an_override_may_have_units_that_sstmacro_lacks() -> None:
    assert read_ini(None, {"node.nic.mtu": "2KiB"}).get("node.nic.mtu") == 2048
    assert (
        read_ini(None, {"switch.link.bandwidth": "80Gbit/s"}).get("switch.link.bandwidth") == 1e10
    )
