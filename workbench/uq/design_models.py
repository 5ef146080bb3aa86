"""The simulators that a plan of a design names: what varies, what it is set to, and the times.

    gather = named_model("gemini", {"collective": "gather"})
    gather.box.names, gather.tests
    gather.times(points)  # float64[n, tests], s

A plan holds names and numbers only; nothing in it is executed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import whole_each
from workbench.errors import ParameterError
from workbench.parameters import Parameter
from workbench.suggestions import did_you_mean
from workbench.uq.parameters import ParameterBox

if TYPE_CHECKING:
    from workbench.uq.collectives.gemini import TorusPlaces


@dataclass(frozen=True)
class DesignModel:
    """A simulator whose runs a plan describes.

    Attributes:
        about: what it simulates and how, a phrase for captions.
        box: its parameters, in the order of the columns of points, with usual ranges.
        nominal: float64[parameters], values of those that do not vary.
        tests: a label for each column of times.
        times: float64[n, tests] in s of float64[n, parameters].
    """

    about: str
    box: ParameterBox
    nominal: tuple[float, ...]
    tests: tuple[str, ...]
    times: Callable[[FloatArray], FloatArray]


def named_model(name: str, settings: Mapping[str, Any] | None = None) -> DesignModel:
    """Return the simulator of a name in ``DESIGN_MODELS``.

    Args:
        name: of the model.
        settings: arguments of the function that makes it, such as ``collective``.

    Raises:
        ParameterError: there is no such model, or a setting is missing, unknown or not accepted.
    """
    if name not in DESIGN_MODELS:
        raise ParameterError(
            f"model must be one of {', '.join(DESIGN_MODELS)}; got {name!r}"
            f"{did_you_mean(name, DESIGN_MODELS)}",
            key="model",
        )
    given = dict(settings or {})
    known = inspect.signature(DESIGN_MODELS[name]).parameters
    for key in given:
        if key not in known:
            raise ParameterError(
                f"settings of {name} must be among {', '.join(known)}; got {key!r}"
                f"{did_you_mean(key, known)}",
                key="settings",
            )
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in given:
            raise ParameterError(
                f"settings of {name} must have {key}; add {key}: ...", key="settings"
            )
    try:
        return DESIGN_MODELS[name](**given)
    except (TypeError, ValueError) as error:  # a ParameterError is a ValueError
        raise ParameterError(f"settings of {name}: {error}", key="settings") from error


def _gemini(
    collective: str,
    places: str | Mapping[str, Any] = "hopper",
    nodes: Sequence[int] | None = None,
    block_bytes: Sequence[int] | None = None,
    model: str = "rounds",
) -> DesignModel:
    """Return a collective on a Gemini-like torus; the paper's tests unless others are given.

    The model is ``rounds``, the analytic one, or a congestion of the fabric: ``flow``, ``packet``
    or ``packet-flow``.
    """
    from workbench.simulate.fabric.fabric import CONGESTIONS
    from workbench.uq.collectives.gemini import BOX, NOMINAL, GeminiCollective, paper_tests
    from workbench.uq.collectives.gemini_fabric import FabricCollective
    from workbench.uq.collectives.models import CollectiveTest

    usual = paper_tests(collective)
    tests = usual
    if nodes is not None or block_bytes is not None:
        sizes = block_bytes or sorted({test.block_bytes for test in usual})
        counts = nodes or sorted({test.nodes for test in usual})
        tests = tuple(CollectiveTest(n, size) for n in counts for size in sizes)
    about, machine = "the analytic model of rounds; no packet is simulated", None
    for congestion in CONGESTIONS:
        if model == congestion:
            machine = FabricCollective(collective, tests, congestion, _places(places))
            about = machine.about
    if model != "rounds" and machine is None:
        known = ("rounds", *CONGESTIONS)
        raise ParameterError(
            f"model must be one of {', '.join(known)}; got {model!r}{did_you_mean(model, known)}",
            key="settings",
        )
    return DesignModel(
        f"{collective} on a Gemini-like torus, by {about}",
        BOX,
        NOMINAL,
        tuple(test.label for test in tests),
        machine or GeminiCollective(collective, tests, _places(places)),
    )


def _places(given: str | Mapping[str, Any]) -> TorusPlaces:
    from workbench.uq.collectives.gemini import HOPPER, SCALED_HOPPER, SHUFFLED_HOPPER, TorusPlaces

    known = {"hopper": HOPPER, "shuffled-hopper": SHUFFLED_HOPPER, "scaled-hopper": SCALED_HOPPER}
    if isinstance(given, str):
        if given not in known:
            raise ParameterError(
                f"places must be one of {', '.join(known)}, or a mapping with a shape; got "
                f"{given!r}{did_you_mean(given, known)}",
                key="settings",
            )
        return known[given]
    lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
    return TorusPlaces(**{**given, **lists})


def _rounds(
    collective: str,
    algorithm: str,
    nodes: Sequence[int],
    block_bytes: Sequence[int],
    shape: Sequence[int] | None = None,
) -> DesignModel:
    """Return the model of rounds that measured collectives are calibrated with."""
    from workbench.uq.collectives.models import CollectiveTest, model_named

    model = model_named(f"rounds:{algorithm}", collective)
    torus = None if shape is None else tuple(shape)
    tests = [CollectiveTest(n, size, 1, torus) for n in nodes for size in block_bytes]
    return DesignModel(
        f"{collective} by {algorithm}, by the rounds' latencies and bytes",
        ParameterBox(model.parameters),
        tuple(float(one.value) for one in model.parameters),
        tuple(test.label for test in tests),
        # One by one: a matrix product's last bits depend on how many rows it has.
        lambda points: np.concatenate([model.times(row[None], tests) for row in points]),
    )


def _osu(
    model: str = "snappr",
    sizes: Sequence[int] = (1024, 65536),
    benchmarks: Sequence[str] = ("latency", "bandwidth"),
) -> DesignModel:
    """Return the OSU tests between two nodes; a bandwidth as the time of one message."""
    from workbench.fit.space import SearchSpace
    from workbench.models.ini import find_model
    from workbench.simulate import BENCHMARKS, simulate_osu

    sizes = whole_each(sizes, "sizes", 1)
    for name in benchmarks:
        if name not in BENCHMARKS:
            raise ParameterError(
                f"benchmarks must be among {', '.join(BENCHMARKS)}; got {name!r}", key="settings"
            )
    network = find_model(model)
    # Thresholds act in steps, which polynomials do not follow.
    varied = [one for one in SearchSpace.for_model(network).dimensions if not one.whole]
    wanted = [(name, size) for name in benchmarks for size in sizes]

    def row(values: FloatArray) -> list[float]:
        pairs = zip(varied, values, strict=True)
        changed = network.with_values({one.key: one.clip(float(value)) for one, value in pairs})
        curve = simulate_osu(changed, sizes, benchmarks=tuple(benchmarks))
        times = {"latency": curve.latency_s, "bandwidth": curve.sizes / curve.bandwidth_Bps}
        return [float(times[name][sizes.index(size)]) for name, size in wanted]

    return DesignModel(
        f"OSU tests between two nodes, by {type(network).__name__}",
        ParameterBox(Parameter(one.key, one.unit, one.low, one.high, one.log) for one in varied),
        tuple(float(one.value) for one in varied),
        tuple(f"{name} at {size} B" for name, size in wanted),
        lambda points: np.array([row(values) for values in points]),
    )


def _program(
    programs: Sequence[str],
    machine: str,
    parameters: Sequence[str] = ("L", "o", "G"),
    factor: float = 4.0,
) -> DesignModel:
    """Return the run times of programs, replayed on a machine's LogGPS parameters."""
    from workbench import machines
    from workbench.uq.program_times import ProgramTimes

    model = machines.load(machine).loggps
    times = ProgramTimes(list(programs), model, tuple(parameters))
    return DesignModel(
        f"run times of {', '.join(programs)}, replayed on the LogGPS parameters of {machine}",
        times.box(factor),
        tuple(getattr(model, name) for name in times.parameters),
        times.tests,
        times,
    )


DESIGN_MODELS: dict[str, Callable[..., DesignModel]] = {
    "gemini": _gemini,
    "rounds": _rounds,
    "osu": _osu,
    "program": _program,
}
"""The simulators by the names that a plan gives them."""
