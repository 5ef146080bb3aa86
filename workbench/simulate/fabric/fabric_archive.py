"""A fabric as values for a JSON file and arrays for an npz file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR, read_ini
from workbench.result_files import Arrays
from workbench.simulate.fabric.fabric import Fabric
from workbench.topology import Topology
from workbench.topology.routing import ROUTINGS, Routing, route

_TOPOLOGY = ("links", "link_class", "host_router", "group", "coordinates")


def fabric_values(fabric: Fabric) -> dict[str, Any]:
    """Return the parts of a fabric that go into a JSON file."""
    network = fabric.topology
    made = isinstance(fabric.routing, Routing)
    return {
        "routing": fabric.routing_name,
        "choice": fabric.routes.choice if made else ROUTINGS[fabric.routing_name].choice,
        "congestion": fabric.congestion,
        "seed": fabric.seed,
        "model": fabric.ports.to_ini(),
        "variant": fabric.ports.variant,
        "topology": {
            "name": network.name,
            "num_routers": network.num_routers,
            "classes": list(network.classes),
            "parameters": dict(network.parameters),
            "family": network.family,
        },
    }


def fabric_arrays(fabric: Fabric) -> dict[str, NDArray[Any]]:
    """Return the parts of a fabric that go into an npz file."""
    return {f"topology.{name}": getattr(fabric.topology, name) for name in _TOPOLOGY}


def fabric_from(values: Mapping[str, Any], arrays: Arrays) -> Fabric:
    """Return the fabric from its ``fabric_values`` and ``fabric_arrays``."""
    network = values["topology"]
    topology = Topology(
        name=str(network["name"]),
        num_routers=int(network["num_routers"]),
        classes=tuple(map(str, network["classes"])),
        parameters=dict(network["parameters"]),
        family=str(network["family"]),
        **{name: arrays[f"topology.{name}"] for name in _TOPOLOGY},
    )
    model = read_ini(str(values["model"])).replace(variant=str(values["variant"]))
    if not isinstance(model, SNAPPR | PISCES):
        raise ParameterError(f"the model must be SNAPPR or PISCES; got {type(model).__name__}")
    name, seed = str(values["routing"]), int(values["seed"])
    usual = ROUTINGS[name].choice == values["choice"]
    routing = name if usual else route(topology, name, choice=values["choice"], seed=seed)
    return Fabric(topology, model, routing, values["congestion"], seed)
