"""Errors of predictions on published systems: medians, the target, and which algorithm is picked.

shipped_evaluation().to_frame()         # all systems, as `make whole-machine` computed them
shipped_evaluation().plot("fugaku")
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult

if TYPE_CHECKING:
    import pandas as pd


Variant = Literal["two nodes", "algorithm", "surplus", "surplus of two"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What was known: point-to-point alone; and one thing learnt on the smallest number of nodes, or
(``surplus of two``) on the two smallest."""

TARGET_ERROR = 0.25
"""The target, a question of ours: a median error of 25 %. 12 of 19 cases hold it; 50 %, 14."""

TARGET_SPAN = (2, 8)
"""The target holds at 2 to 8 times the smallest number of nodes."""

FILE = "errors.json"


@dataclass(frozen=True)
class PredictionCase:
    """A collective of a system whose algorithm is named, or left to the library."""

    table: str  # name of the shipped system
    system: str  # as its title has it
    collective: str
    label: str  # of the algorithm in the data; empty is the library's choice
    algorithm: str  # here; empty where the label names none, or the library chose
    ranks_per_node: int
    least_nodes: int  # on which one thing is learnt
    surplus_s: float  # learnt there, of a round; nan where nothing is predicted
    grows: bool  # whether that of the two smallest numbers of nodes is in proportion to them
    own_messages: bool  # whether the messages were measured on the same system
    crowd_measured: bool  # and while several ranks of a node sent at once

    @property
    def predicted(self) -> bool:
        """Whether the label is known here, or the choice is the library's."""
        return bool(self.algorithm) or not self.label


@dataclass(frozen=True, eq=False, repr=False)
class PredictionErrors(StoredResult):
    """Published medians of collectives beside what was predicted from two nodes.

    Attributes:
        cases: collectives and algorithms; those with labels unknown here have no prediction.
        case: int64[tests], the case of each test.
        nodes: int64[tests].
        block_bytes: int64[tests].
        measured: float64[tests], median, s.
        predicted: float64[variants, tests], s: by point-to-point alone; where the library chose,
            by the algorithm that was nearest at that size on the fewest nodes; with the surplus of
            a round that was learnt there; and with that of the two fewest. nan where there is none,
            or, of what was learnt, on the nodes on which it was.
        uncrowded: float64[tests], s: by point-to-point alone without the messages of several ranks
            of a node at once; nan where these were not measured, or nothing is predicted.
        algorithms: of each test by point-to-point alone; empty where nothing is predicted.
        learnt: algorithm of each test as it was learnt; empty where none was.
    """

    cases: tuple[PredictionCase, ...]
    case: NDArray[np.int64]
    nodes: NDArray[np.int64]
    block_bytes: NDArray[np.int64]
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64] = field(metadata={"axes": 2})
    uncrowded: NDArray[np.float64]
    algorithms: tuple[str, ...]
    learnt: tuple[str, ...]

    plot = Drawing("plot_prediction_errors")

    def _check(self) -> None:
        count = len(self.measured)
        self._check_lengths(dict.fromkeys(("case", "nodes", "block_bytes", "uncrowded"), count))
        if self.predicted.shape != (len(VARIANTS), count):
            raise ParameterError("predicted must be float64[variants, tests]", key="predicted")
        if not len(self.algorithms) == len(self.learnt) == count:
            raise ParameterError(
                "algorithms and learnt must have an entry a test", key="algorithms"
            )
        if count and not 0 <= self.case.min() <= self.case.max() < len(self.cases):
            raise ParameterError("case must number the cases", key="case")

    @property
    def error(self) -> FloatArray:
        """Predicted over measured less 1, float64[variants, tests]."""
        return np.asarray(self.predicted / self.measured - 1.0)

    def errors_of(self, variant: Variant) -> FloatArray:
        """Return the errors of a variant, float64[tests].

        Args:
            variant: one of ``VARIANTS``.

        Raises:
            ParameterError: there is no such variant.
        """
        if variant not in VARIANTS:
            raise ParameterError(
                f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}", key="variant"
            )
        return np.asarray(self.error[VARIANTS.index(variant)])

    @property
    def times_least(self) -> FloatArray:
        """Nodes of each test over the fewest of its case, float64[tests]."""
        least = np.array([one.least_nodes for one in self.cases])
        return np.asarray(self.nodes / least[self.case])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a case: median |error| in percent of each variant, all and 2 to 8 times.

        ``2-8x`` are the tests on 2 to 8 times the smallest number of nodes.
        """
        import pandas as pd

        near = (self.times_least >= TARGET_SPAN[0]) & (self.times_least <= TARGET_SPAN[1])
        rows = []
        for at, case in enumerate(self.cases):
            if not case.predicted:
                continue
            mine = self.case == at
            nodes = np.unique(self.nodes[mine])
            row: dict[str, object] = {
                "system": case.system,
                "collective": case.collective,
                "algorithm": case.label or "library's choice",
                "messages": "own" if case.own_messages else "assumed",
                "ranks a node": case.ranks_per_node,
                "nodes": f"{nodes[0]}-{nodes[-1]}" if len(nodes) > 1 else f"{nodes[0]}",
                "tests": int(mine.sum()),
            }
            for name in VARIANTS:
                row[f"{name} (%)"] = _median(self.errors_of(name)[mine])
                row[f"{name} 2-8x (%)"] = _median(self.errors_of(name)[mine & near])
            row["surplus (µs)"] = 1e6 * case.surplus_s
            rows.append(row)
        return pd.DataFrame(rows)

    def targets(self) -> pd.DataFrame:
        """Return for each system and collective whether the target holds, one row each.

        Systems with their own messages and one rank a node; algorithms that are named are
        predicted from two nodes alone, those that the library chose are learnt on the fewest
        nodes. ``median error (%)`` is over all sizes on 2 to 8 times these.
        """
        import pandas as pd

        near = (self.times_least >= TARGET_SPAN[0]) & (self.times_least <= TARGET_SPAN[1])
        groups: dict[tuple[str, str, str], list[FloatArray]] = {}
        for at, case in enumerate(self.cases):
            if not (case.predicted and case.own_messages and case.ranks_per_node == 1):
                continue
            variant: Variant = "two nodes" if case.label else "algorithm"
            errors = self.errors_of(variant)[(self.case == at) & near]
            key = (case.system, case.collective, "named" if case.label else "learnt")
            groups.setdefault(key, []).append(errors)
        rows = []
        for (system, collective, how), parts in groups.items():
            errors = np.concatenate(parts)
            errors = errors[np.isfinite(errors)]
            if len(errors):
                median = _median(errors)
                held = median <= 100 * TARGET_ERROR
                rows.append((system, collective, how, len(errors), median, held))
        columns = ("system", "collective", "algorithm", "tests", "median error (%)", "holds")
        return pd.DataFrame(rows, columns=list(columns))

    def learning(self, of_two: bool = False) -> pd.DataFrame:
        """Return for each system whether a surplus of a round helps, and what the others say.

        One row a system, with medians of |error|: ``off on the fewest (%)`` is that of messages
        alone there, where the surplus is learnt; ``two nodes (%)`` and ``surplus (%)`` are those
        on more nodes. ``others`` is which of these has the least mean over the other systems; so
        the choice is made without the system for which it counts.

        Args:
            of_two: adds the surplus of the two fewest numbers of nodes, for the tests on more than
                these; ``grows`` is the number of cases in which it is in proportion to the nodes.
        """
        import pandas as pd

        variants: tuple[Variant, ...] = ("two nodes", "surplus")
        if of_two:
            variants = (*variants, "surplus of two")
        off = [np.abs(self.errors_of(one)) for one in variants]
        name = np.array([one.system for one in self.cases])[self.case]
        more = np.all(np.isfinite(off), axis=0)
        systems = list(dict.fromkeys(name[more].tolist()))
        medians = {one: [_median(error[more & (name == one)]) for error in off] for one in systems}
        rows = []
        for one in systems:
            mine = more & (name == one)
            first = (name == one) & np.isfinite(off[0]) & (self.times_least == 1)
            others = [medians[other] for other in systems if other != one]
            advice = variants[int(np.argmin(np.mean(others, axis=0)))] if others else ""
            rows.append((one, int(mine.sum()), _median(off[0][first]), *medians[one], advice))
        columns = ["system", "tests", "off on the fewest (%)", *(f"{one} (%)" for one in variants)]
        table = pd.DataFrame(rows, columns=[*columns, "others"])
        if of_two:
            grown = [
                f"{sum(self.cases[at].grows for at in cases)} of {len(cases)}"
                for cases in (np.unique(self.case[more & (name == one)]) for one in systems)
            ]
            table.insert(len(columns), "grows", grown)
        return table

    def ranking(self) -> pd.DataFrame:
        """Return for each system, collective, nodes and size which algorithm is predicted best.

        Of the algorithms that were forced: ``picked`` is predicted to be the fastest, by
        point-to-point alone, ``best`` was measured to be, ``best known`` is that of those that are
        predicted. ``over best`` is the measured time of the picked one over that of the best one,
        1.1 or less where it is within 10 %; ``over best known`` likewise. Rows have two algorithms
        that are predicted, or more.
        """
        import pandas as pd

        groups: dict[tuple[str, str, int, int], list[int]] = {}
        for at, case in enumerate(self.case.tolist()):
            one = self.cases[case]
            if one.label:
                key = (one.system, one.collective, int(self.nodes[at]), int(self.block_bytes[at]))
                groups.setdefault(key, []).append(at)
        rows = []
        for key, members in sorted(groups.items()):
            known = [at for at in members if np.isfinite(self.predicted[0, at])]
            if len({self.algorithms[at] for at in known}) < 2:
                continue
            picked = min(known, key=lambda at: self.predicted[0, at])
            best, best_known = (
                min(some, key=lambda at: self.measured[at]) for some in (members, known)
            )
            labels = [self.cases[self.case[at]].label for at in (picked, best_known, best)]
            over = [self.measured[picked] / self.measured[at] for at in (best_known, best)]
            rows.append((*key, len(members), len(known), *labels, *over))
        columns = ("system", "collective", "nodes", "block bytes", "forced", "predicted")
        more = ("picked", "best known", "best", "over best known", "over best")
        return pd.DataFrame(rows, columns=[*columns, *more])

    def of(self, *tables: str) -> PredictionErrors:
        """Return the part of some systems.

        Args:
            tables: their names, as ``shipped_systems`` has them.

        Raises:
            ParameterError: a system is not among those that were evaluated.
        """
        known = {case.table for case in self.cases}
        if missing := sorted(set(tables) - known):
            raise ParameterError(
                f"tables must be among {', '.join(sorted(known))}; got {', '.join(missing)}",
                key="tables",
            )
        kept = [at for at, case in enumerate(self.cases) if case.table in tables]
        number = {at: place for place, at in enumerate(kept)}
        chosen = np.flatnonzero(np.isin(self.case, kept))
        return replace(
            self,
            cases=tuple(self.cases[at] for at in kept),
            case=np.array([number[at] for at in self.case[chosen].tolist()], np.int64),
            nodes=self.nodes[chosen],
            block_bytes=self.block_bytes[chosen],
            measured=self.measured[chosen],
            predicted=self.predicted[:, chosen],
            uncrowded=self.uncrowded[chosen],
            algorithms=tuple(self.algorithms[at] for at in chosen),
            learnt=tuple(self.learnt[at] for at in chosen),
        )

    def __repr__(self) -> str:
        used = np.isfinite(self.predicted[0])
        systems = len({case.table for case in self.cases})
        medians = ", ".join(f"{name} {_median(self.errors_of(name)):.0f} %" for name in VARIANTS)
        return (
            f"PredictionErrors({systems} systems, {int(used.sum())} of {len(used)} tests "
            f"predicted; median error by {medians})"
        )


@lru_cache(maxsize=1)
def shipped_evaluation() -> PredictionErrors:
    """Return the errors on all shipped systems, as ``make whole-machine`` computed them."""
    return PredictionErrors.load(data_folder() / "predictions" / FILE)


def _median(errors: FloatArray) -> float:
    """Return the median of |error| in percent; nan without any."""
    finite = np.abs(errors[np.isfinite(errors)])
    return 100 * float(np.median(finite)) if len(finite) else float("nan")
