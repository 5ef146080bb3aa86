"""Random machines of many switches: the kernels give what plain Python gives, to the tick."""

import dataclasses

import pytest

from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective as run_reference
from tests.reference.fabric_random import random_entries
from workbench.simulate.fabric.sst import run_collective

pytestmark = pytest.mark.jit_only


def check(network, seed):
    entries = random_entries(network, seed)
    # The kernels place packets of one and two bytes, which SST/macro's PISCES does not.
    config = dataclasses.replace(fabric_config(entries), charge_last_packet=True)
    text = "".join(f"{key} = {value}\n" for key, value in entries.items())
    assert run_collective(text).time_us() == pytest.approx(run_reference(config), rel=1e-12)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("network", ["snappr", "pisces"])
def test_random_machine(network, seed):
    check(network, seed)


@pytest.mark.parametrize("network", ["snappr", "pisces"])
@pytest.mark.parametrize("seed", [711, 1287, 2137])
def test_overlay_messages_of_one_tick(network, seed):
    # Of 3,000 random machines these have ties that an order by nodes alone decides otherwise.
    check(network, seed)
