"""LogGPS parameters whose overhead is that of a program's mean message.

LogGPS has one overhead for all sizes. Shen et al., LLAMP, section III.B, take the one that a
message of the program's mean size has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import ParameterError
from workbench.machines import Machine
from workbench.models import LogGPS, OverheadTable, Protocol
from workbench.models.overheads import Overheads, overhead_at
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import SEND
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class MeanSizeOverhead(StoredResult):
    """The overhead at a program's mean message size, and the parameters with it.

    Attributes:
        program: name of the program.
        messages: how many it sends, those of its collectives among them.
        mean_bytes: mean size of these messages, bytes.
        model: the parameters, with that overhead as ``o`` and an ``O`` of 0, which it contains.
        before: the parameters that were given.
        of: where the overhead is from.
    """

    program: str
    messages: int
    mean_bytes: float
    model: LogGPS
    before: LogGPS
    of: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter, before and after."""
        import pandas as pd

        names = ("L", "o", "g", "G", "O", "S")
        return pd.DataFrame(
            {
                "parameter": names,
                "before": [getattr(self.before, name) for name in names],
                "at mean size": [getattr(self.model, name) for name in names],
            }
        )

    def __repr__(self) -> str:
        return f"MeanSizeOverhead({self.describe()})"

    def describe(self) -> str:
        """Return a sentence: which overhead, of which size, and where it is from."""
        noun = "message" if self.messages == 1 else "messages"
        return (
            f"o is {self.model.text('o')}, that of a message of {self.mean_bytes:,.0f} B, the mean "
            f"of {self.messages:,} {noun} of {self.program}, by {self.of}; it was "
            f"{self.before.text('o')} with an O of {self.before.text('O')}, and O is now 0"
        )


def overhead_at_mean_size(
    program: ProgramLike, model: LogGPS, overheads: Overheads | Machine | None = None
) -> MeanSizeOverhead:
    """Return LogGPS parameters with the overhead of a program's mean message.

    Args:
        program: the program; collectives that are still whole get the usual algorithms.
        model: the other parameters.
        overheads: a host's overhead by message size, such as ``OverheadTable.from_netgauge`` or a
            machine; None takes ``o + O s`` of the model.

    Raises:
        ParameterError: the program sends no message.
    """
    graph = graph_of(program)
    sizes = graph.size[graph.kind == SEND]
    if not len(sizes):
        raise ParameterError(
            f"a program must send messages to have a mean size; {graph.source} sends none",
            key="program",
        )
    mean = float(sizes.mean())
    o = overhead_at(_known(overheads, model), mean)
    return MeanSizeOverhead(
        program=graph.source,
        messages=len(sizes),
        mean_bytes=mean,
        model=model.replace(o=o, O=0.0),
        before=model,
        of=_name_of(overheads),
    )


def _known(overheads: Overheads | Machine | None, model: LogGPS) -> Overheads:
    """Return a source of overheads; of a machine its table, else its Protocol, else its LogGPS."""
    if isinstance(overheads, Machine):
        fitted = overheads.model if isinstance(overheads.model, Protocol) else overheads.loggps
        return overheads.overheads or fitted
    return model if overheads is None else overheads


def _name_of(overheads: Overheads | Machine | None) -> str:
    """Return in words where an overhead is from."""
    if isinstance(overheads, Machine):
        return f"the machine {overheads.name}"
    if isinstance(overheads, OverheadTable):
        return f"a table of {len(overheads.sizes)} sizes"
    return "the parameters' o + O s" if overheads is None else repr(overheads)
