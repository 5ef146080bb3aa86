"""The plan of a study: all combinations of machines, models, losses, targets and other axes.

    plan = StudyPlan("which-loss", ["azure-hb96v3-hdr", "llnl-dane-omnipath"], trials=500)
    plan.cells()

The same as a file, which ``StudyPlan.from_yaml`` reads and ``workbench study run`` takes:

    name: which-loss
    machines: [azure-hb96v3-hdr, llnl-dane-omnipath]
    losses: [rmsre, mae]            # all six where it is left out
    targets: [both, latency, bandwidth]
    models:
      - snappr
      - snappr:repaired
      - label: small-packets
        model: snappr
        values: {node.nic.mtu: 512B}
    regimes: [all]                  # low and high: up to the threshold, and above it
    threshold: 512B
    engines: [tpe]
    seeds: [0]
    trials: 2000
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from workbench import datasets
from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.fit import DEFAULT_TRIALS, ENGINES, LOSSES, TARGETS
from workbench.fit.losses import find_loss
from workbench.fit.regimes import DEFAULT_THRESHOLD
from workbench.html_table import html_table
from workbench.study.cell import AXES, REGIMES, Cell
from workbench.study.model_choice import ModelChoice
from workbench.suggestions import unknown_name
from workbench.units import parse_typed_quantity
from workbench.yaml_plan import YamlPlan

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True)
class StudyPlan(YamlPlan):
    """What a study fits: the product of its lists, in their order.

    The design is that of Suetterlein et al., HPC Network Simulation Tuning via Automatic
    Extraction of Hardware Parameters: machines by losses by targets.

    Attributes:
        name: what the study is called.
        machines: names of shipped datasets.
        losses: names in ``LOSSES``, or such as ``summed(rmsre)``.
        targets: among ``both``, ``latency`` and ``bandwidth``.
        models: what is fitted: names such as ``snappr`` or ``snappr:repaired``, mappings, or
            ``ModelChoice``; kept as the last.
        regimes: among ``all``, ``low`` and ``high``.
        threshold: largest size in bytes of the low regime, a number or a text such as ``512B``.
        engines: names in ``ENGINES``.
        seeds: each makes another search.
        trials: configurations to try in each cell.

    Raises:
        ParameterError: a list is empty, or names something twice or something unknown.
    """

    KIND: ClassVar[str] = "plan"
    REQUIRED: ClassVar[tuple[str, ...]] = ("name", "machines")
    # A parameter of a model is named by its own key, which stands among the models.
    OTHERS: ClassVar[str] = "models"

    name: str
    machines: tuple[str, ...]
    losses: tuple[str, ...] = tuple(LOSSES)
    targets: tuple[str, ...] = TARGETS
    models: tuple[ModelChoice, ...] = (ModelChoice("snappr"),)
    regimes: tuple[str, ...] = ("all",)
    threshold: int = DEFAULT_THRESHOLD
    engines: tuple[str, ...] = ("tpe",)
    seeds: tuple[int, ...] = (0,)
    trials: int = DEFAULT_TRIALS

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise ParameterError(
                f"a study must have a name, one line of text; got {self.name!r}", key="name"
            )
        for key, known in (
            ("machines", datasets.list().names),
            ("targets", TARGETS),
            ("regimes", REGIMES),
            ("engines", tuple(ENGINES)),
        ):
            names = _listed(key, getattr(self, key))
            for name in names:
                if name not in known:
                    raise ParameterError(unknown_name(_ONE_OF[key], str(name), known), key=key)
            self._set(key, names)
        self._set("losses", _loss_names(self.losses))
        self._set("models", tuple(map(ModelChoice.coerce, _listed("models", self.models))))
        _refuse_twice("models", [choice.label for choice in self.models])
        self._set("seeds", whole_each(_listed("seeds", self.seeds), "seeds", 0))
        self._set("trials", whole(self.trials, "trials", 1))
        self._set("threshold", _size(self.threshold))

    def cells(self) -> tuple[Cell, ...]:
        """Return every fit of the study, the loss changing slowest and the machine fastest."""
        return tuple(
            Cell(machine, choice.label, loss, target, regime, engine, seed, self.threshold)
            for loss, target, choice, regime, engine, seed, machine in itertools.product(
                self.losses,
                self.targets,
                self.models,
                self.regimes,
                self.engines,
                self.seeds,
                self.machines,
            )
        )

    def choice(self, label: str) -> ModelChoice:
        """Return the model of that label.

        Args:
            label: label of one of the plan's models.

        Raises:
            ParameterError: the plan has no such model.
        """
        for choice in self.models:
            if choice.label == label:
                return choice
        labels = tuple(choice.label for choice in self.models)
        raise ParameterError(unknown_name("model of the plan", label, labels), key="models")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a YAML or JSON file holds them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        lists = {key: list(value) for key, value in values.items() if isinstance(value, tuple)}
        return values | lists | {"models": [choice.plain() for choice in self.models]}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a cell, with the name of its study in the database."""
        import pandas as pd

        return pd.DataFrame(
            [
                {**{axis: getattr(cell, axis) for axis in AXES}, "name": cell.name}
                for cell in self.cells()
            ]
        )

    def __repr__(self) -> str:
        parts = [
            _count(len(self.machines), "machine"),
            _count(len(self.losses), "loss", "losses"),
            _count(len(self.targets), "target"),
            _count(len(self.models), "model"),
        ]
        for key, one in (("regimes", "regime"), ("engines", "engine"), ("seeds", "seed")):
            if len(getattr(self, key)) > 1:
                parts.append(_count(len(getattr(self, key)), one))
        cells = len(self.cells())
        return (
            f"StudyPlan({self.name}: {' × '.join(parts)} = {_count(cells, 'cell')} of "
            f"{_count(self.trials, 'trial')})"
        )

    def _repr_html_(self) -> str:
        rows = (
            (key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for key, value in self.to_dict().items()
        )
        return html_table(rows, caption=repr(self), align="l")

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)


_ONE_OF = {
    "machines": "machine",
    "targets": "target",
    "regimes": "regime",
    "engines": "engine",
}


def _listed(key: str, values: Any) -> tuple[Any, ...]:
    """Return a list of names as a tuple; one name alone is a list of one."""
    if isinstance(values, str | int | ModelChoice | dict):
        values = (values,)
    if not isinstance(values, Sequence) or isinstance(values, bytes) or not values:
        raise ParameterError(
            f"{key} must be a list of at least one value; got {values!r}; leave it out for the "
            "default",
            key=key,
        )
    found = tuple(values)
    _refuse_twice(key, found)
    return found


def _loss_names(values: Any) -> tuple[str, ...]:
    names = []
    for loss in _listed("losses", values):
        try:
            names.append(find_loss(str(loss)).name)
        except ParameterError as error:
            message = unknown_name("loss", str(loss), tuple(LOSSES))
            raise ParameterError(message, key="losses") from error
    _refuse_twice("losses", names)
    return tuple(names)


def _refuse_twice(key: str, values: Sequence[Any]) -> None:
    for at, value in enumerate(values):
        if value in values[:at]:
            raise ParameterError(f"{key} must name each once; {value!r} is named twice", key=key)


def _size(value: Any) -> int:
    if isinstance(value, str):
        value = parse_typed_quantity(value, "bytes", name="threshold")
    return whole(value, "threshold", 1, unit="B")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"
