"""How many injection engines the root of a gather or scatter uses, by the posterior.

    measured = [load_measured("fugaku", "gather", name) for name in ("default-binomial", ...)]
    root_engines(measured).to_frame()

An engine moves one message at a time, so that a root with one engine takes its bytes at the
bandwidth of a message. On each number of nodes the root's rate is inferred from the large blocks:
time = start + (nodes - 1) block / rate. The engines are that rate over the bandwidth of an engine,
which is only known to lie in a range, the same for all algorithms; a root uses 1 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.parameters import Parameter
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.uq.collectives.measured import MeasuredCollective, nodes_of
from workbench.uq.collectives.models import CollectiveTest, known_algorithms
from workbench.uq.collectives.round_costs import round_costs
from workbench.uq.designs import design
from workbench.uq.parameters import ParameterBox
from workbench.uq.posterior import calibrate
from workbench.uq.surrogate import fit_surrogate

if TYPE_CHECKING:
    import pandas as pd


TOFU_D_LINK = 6.8e9
"""Bandwidth of a link and of an engine, B/s (Ajima et al., The Tofu Interconnect D, 2018)."""

MOST_ENGINES = 6  # of a node of Tofu-D (the same)
LEAST_BYTES = 16_384  # of a block: of Fugaku 4 KiB gives the same, 32 KiB leaves too few sizes

_COLLECTIVES = ("gather", "scatter")
_POINTS, _DRAWS = 512, 1000  # half and double of each move Fugaku's engines by 0.02 at most


@dataclass(frozen=True, eq=False, repr=False)
class RootEngines(StoredResult):
    """The posterior of the engines of a root, for each algorithm and number of nodes.

    Attributes:
        system: what was measured, as the data name it.
        collective: ``gather`` or ``scatter``.
        bandwidth: least and greatest bandwidth of an engine, B/s; any between is as likely before.
        algorithms: of each case, its label in the data.
        nodes: int64[cases].
        rates: float64[cases, draws], bytes of the root over time, B/s.
        engines: float64[cases, draws], between 1 and 6.
        ways: float64[cases], the greatest number that the links to the root can feed: its blocks
            over those of the busiest of these links; nan where the algorithm or the torus is
            unknown.
        provenance: of the measurement; None where it is not known.
    """

    system: str
    collective: str
    bandwidth: tuple[float, float]
    algorithms: tuple[str, ...]
    nodes: NDArray[np.int64]
    rates: NDArray[np.float64] = field(metadata={"axes": 2})
    engines: NDArray[np.float64] = field(metadata={"axes": 2})
    ways: NDArray[np.float64]
    provenance: Provenance | None = None

    plot = Drawing("plot_root_engines")

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each whole number of engines, float64[cases, 6]: 1, 2, ... 6."""
        near = np.rint(self.engines)[:, :, None] == np.arange(1, MOST_ENGINES + 1)
        return np.asarray(near.mean(axis=1))

    def interval(self, level: float = 0.9) -> FloatArray:
        """Return the ends of the central interval of each case's engines, float64[cases, 2].

        Args:
            level: share of the draws within it.
        """
        tails = 0.5 - 0.5 * level, 0.5 + 0.5 * level
        return np.asarray(np.quantile(self.engines, tails, axis=1).T)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a case: the root's rate, its engines with an interval, probabilities."""
        import pandas as pd

        low, high = self.interval().T
        columns: dict[str, object] = {
            "algorithm": self.algorithms,
            "nodes": self.nodes,
            "rate (GB/s)": 1e-9 * np.median(self.rates, axis=1),
            "engines": np.median(self.engines, axis=1),
            "low 90 %": low,
            "high 90 %": high,
            "links can feed": self.ways,
        }
        for number, column in enumerate(self.probabilities.T, start=1):
            columns[f"P({number})"] = column
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        cases = zip(self.algorithms, self.nodes, np.median(self.engines, axis=1), strict=True)
        words = ", ".join(f"{name} on {nodes} nodes {count:.2f}" for name, nodes, count in cases)
        return f"RootEngines({self.collective} on {self.system}: {words})"


def root_engines(
    measured: Sequence[MeasuredCollective],
    *,
    bandwidth: tuple[float, float] = (0.8 * TOFU_D_LINK, TOFU_D_LINK),
    seed: int = 0,
) -> RootEngines:
    """Return the number of injection engines that a root uses, by algorithm and nodes.

    Args:
        measured: one collective by several algorithms; blocks of 16 KiB or more are used.
        bandwidth: range of the bandwidth of an engine, B/s. By default 80 to 100 % of what the
            data sheet of Tofu-D has, for headers take a part.
        seed: makes the result repeatable.

    Raises:
        ParameterError: it is no gather or scatter with one rank a node, there are fewer than three
            sizes, or no bandwidth within the range gives all roots 1 to 6 engines.
    """
    low, high = (above_zero(end, "bandwidth") for end in bandwidth)
    seed = whole(seed, "seed", 0)
    names = {(one.system, one.collective) for one in measured}
    if len(names) != 1 or next(iter(names))[1] not in _COLLECTIVES:
        raise ParameterError(
            f"measured must be of one system, and gather or scatter; got "
            f"{sorted(names) or 'nothing'}",
            key="measured",
        )
    cases = [(one, nodes) for one in measured for nodes in nodes_of(one.tests)]
    rates = np.stack([_rates(one.on([nodes]), seed) for one, nodes in cases])
    engines = _shared(rates, low, high, np.random.default_rng(seed))
    ways = [_ways(one, one.on([nodes]).tests[0]) for one, nodes in cases]
    return RootEngines(
        measured[0].system,
        measured[0].collective,
        (low, high),
        tuple(one.label for one, _ in cases),
        np.array([nodes for _, nodes in cases], np.int64),
        rates,
        engines,
        np.array(ways),
        measured[0].provenance,
    )


def _rates(one: MeasuredCollective, seed: int) -> FloatArray:
    """Return draws of the root's rate in B/s, float64[draws], from tests on one number of nodes."""
    kept = [at for at, test in enumerate(one.tests) if test.block_bytes >= LEAST_BYTES]
    large = one.pick(kept)
    nodes = one.tests[0].nodes
    if len(kept) < 3 or one.tests[0].ranks_per_node != 1:
        raise ParameterError(
            f"{one.label or 'the default'} on {nodes} nodes must have three sizes of "
            f"{LEAST_BYTES} B or more, and one rank a node; got {len(kept)} sizes and "
            f"{one.tests[0].ranks_per_node} ranks a node",
            key="measured",
        )
    size = np.array([test.block_bytes * (nodes - 1) for test in large.tests], np.float64)
    usual = float((size / large.medians).max())
    box = ParameterBox(
        (
            Parameter("start", "s", 0.0, float(large.medians.min())),
            Parameter("rate", "B/s", usual / 1.5, usual * 1.5, log=True),
        )
    )
    points = design(box, _POINTS, seed=seed)
    surrogate = fit_surrogate(
        box,
        points,
        points[:, :1] + size / points[:, 1:],
        degrees=range(3, 11),
        hyperbolic=(1.0,),
        transform="log",
    )
    found = calibrate(surrogate, large.to_replicas(), draws=_DRAWS // 4, seed=seed)
    return found.parameters.reshape(-1, len(box))[:, 1].copy()


def _shared(
    rates: FloatArray,  # [cases, draws], B/s
    low: float,  # B/s
    high: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Return engines[cases, draws]: rates over a bandwidth that all cases share.

    Engines are uniform from 1 to 6 before, and rates are their product with the bandwidth: given
    the rates of K cases, the density of the bandwidth is proportional to its power -K.
    """
    power = 1.0 - len(rates)
    least = np.maximum(low, rates.max(axis=0) / MOST_ENGINES)
    most = np.minimum(high, rates.min(axis=0))
    if not (possible := least < most).any():
        raise ParameterError(
            f"some bandwidth of {low:g} to {high:g} B/s must give each root 1 to {MOST_ENGINES} "
            f"engines; their rates are {rates.min():g} to {rates.max():g} B/s; give another range",
            key="bandwidth",
        )
    scaled = least[possible] / low, most[possible] / low
    if power:
        ends = [part**power for part in scaled]
        weights = (ends[1] - ends[0]) / power
    else:
        ends = [np.log(part) for part in scaled]
        weights = ends[1] - ends[0]
    count = rates.shape[1]
    at = rng.choice(len(weights), count, p=weights / weights.sum())
    inside = ends[0][at] + rng.uniform(size=count) * (ends[1] - ends[0])[at]
    drawn = low * (inside ** (1.0 / power) if power else np.exp(inside))
    return np.asarray(rates[:, possible][:, at] / drawn)


def _ways(one: MeasuredCollective, test: CollectiveTest) -> float:
    """Return the root's blocks over those of the busiest link, in the round of most messages."""
    names = known_algorithms(one.collective, one.label)
    if not names or test.shape is None:
        return float("nan")
    costs = round_costs(one.collective, names[0], test.places)
    at = int(np.argmax(costs.messages))
    return float(min(costs.blocks[at] / costs.link_blocks[at], costs.messages[at]))
