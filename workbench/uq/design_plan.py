"""The plan of a design: which simulator is run at which points.

    name: gather-grid
    model: gemini                       # a name in DESIGN_MODELS
    settings: {collective: gather, places: hopper}
    parameters: [Max BW, Link BW, Inj BW]    # with the model's ranges; or each a mapping with
                                        # name, unit, low, high and prior. All where left out
    fixed: {SMSG Lat: 5e-7}             # of the others; the model's nominal values where left out
    method: grid                        # sobol (default), latin-hypercube or grid
    points: 6                           # of a grid, along each parameter
    seed: 0
    holdout: 100                        # further points, to judge surrogates by
    rows_at_once: 36                    # points of one call of the model

``DesignPlan.from_yaml`` reads it, and ``workbench uq evaluate`` takes it. Numbers are in the
parameters' units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.parameters import Parameter
from workbench.suggestions import did_you_mean
from workbench.uq.design_models import DesignModel, named_model
from workbench.uq.designs import DesignMethod, design
from workbench.uq.parameters import ParameterBox
from workbench.yaml_plan import YamlPlan

if TYPE_CHECKING:
    import pandas as pd

_KEYS = (
    "name",
    "model",
    "settings",
    "parameters",
    "fixed",
    "method",
    "points",
    "seed",
    "holdout",
    "rows_at_once",
)


@dataclass(frozen=True)
class DesignPlan(YamlPlan):
    """What is run where: a design over a box, its hold-out points, and the simulator.

    The points of a Sobol' sequence stay as more are asked for, so that a design with the same name
    in the same database is extended by a plan with more ``points``.

    Attributes:
        name: of its rows in a database.
        parameters: a ``ParameterBox``, or names or mappings of a named model's parameters; None
            stands for all of these.
        points: as in ``design``.
        model: name in ``DESIGN_MODELS``; empty where the simulator is a function of the user's.
        settings: of the named model.
        fixed: values of a named model's other parameters; nominal ones where they are left out.
        method: as in ``design``.
        seed: as in ``design``.
        holdout: number of further points: those that follow in the Sobol' sequence, or those of
            the sequence with the same seed for other methods.
        rows_at_once: points of one call of the simulator, which are stored together.

    Raises:
        ParameterError: a value is not accepted, or names what the model lacks.
    """

    KIND: ClassVar[str] = "design"
    REQUIRED: ClassVar[tuple[str, ...]] = ("name", "points")

    name: str
    parameters: ParameterBox = None  # type: ignore[assignment]  # __post_init__ makes it one
    points: int = 256
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    fixed: Mapping[str, float] = field(default_factory=dict, hash=False)
    method: DesignMethod = "sobol"
    seed: int = 0
    holdout: int = 0
    rows_at_once: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise ParameterError(
                f"a design must have a name, one line of text; got {self.name!r}", key="name"
            )
        for key in ("settings", "fixed"):
            if not isinstance(getattr(self, key), Mapping):
                raise ParameterError(
                    f"{key} must be a mapping, such as name: value; got {getattr(self, key)!r}",
                    key=key,
                )
        if self.method not in get_args(DesignMethod):
            known = get_args(DesignMethod)
            raise ParameterError(
                f"method must be one of {', '.join(known)}; got {self.method!r}"
                f"{did_you_mean(self.method, known)}",
                key="method",
            )
        for key, least in (("points", 1), ("seed", 0), ("holdout", 0), ("rows_at_once", 1)):
            object.__setattr__(self, key, whole(getattr(self, key), key, least))
        object.__setattr__(self, "settings", dict(self.settings))
        object.__setattr__(self, "parameters", self._box(self.parameters))
        object.__setattr__(self, "fixed", self._fixed())

    @cached_property
    def simulator(self) -> DesignModel | None:
        """The named model, None where the simulator is a function of the user's."""
        return named_model(self.model, self.settings) if self.model else None

    @property
    def tests(self) -> tuple[str, ...]:
        """Labels of the named model's tests; empty where the simulator is the user's."""
        return self.simulator.tests if self.simulator is not None else ()

    @cached_property
    def design(self) -> FloatArray:
        """float64[points, parameters] of the design, without the hold-out."""
        return design(self.parameters, self.points, self.method, self.seed)

    @cached_property
    def holdout_design(self) -> FloatArray:
        """float64[holdout, parameters], at which surrogates are judged."""
        if not self.holdout:
            return np.empty((0, len(self.parameters)))
        skip = self.points if self.method == "sobol" else 0
        return design(self.parameters, self.holdout, "sobol", self.seed, skip)

    @property
    def row_count(self) -> int:
        """Number of points of the design and of its hold-out."""
        return len(self.design) + self.holdout

    @cached_property
    def rows(self) -> FloatArray:
        """float64[rows, parameters], the points of the design and then those of its hold-out."""
        return np.concatenate([self.design, self.holdout_design])

    def times(self, points: FloatArray) -> FloatArray:
        """Return the named model's times at points, float64[n, tests], seconds.

        Args:
            points: float64[n, parameters], in the order of the plan's parameters.

        Raises:
            ParameterError: the plan names no model.
        """
        if self.simulator is None:
            raise ParameterError(
                f"the plan {self.name!r} must name its model, or the function must be given: "
                "model=...",
                key="model",
            )
        return self.simulator.times(self.completed(points))

    def completed(self, points: FloatArray) -> FloatArray:
        """Return points with the values of the parameters that do not vary.

        Args:
            points: float64[n, parameters] of the plan.

        Returns:
            float64[n, all parameters] of the named model.

        Raises:
            ParameterError: the points have other columns.
        """
        found = self.parameters.columns(points, "points")
        if self.simulator is None:
            return found
        names = self.simulator.box.names
        whole_rows = np.tile(np.array(self.simulator.nominal, np.float64), (len(found), 1))
        for name, value in self.fixed.items():
            whole_rows[:, names.index(name)] = value
        whole_rows[:, [names.index(name) for name in self.parameters.names]] = found
        return whole_rows

    def problem(self, tests: Iterable[str]) -> dict[str, Any]:
        """Return what must be equal for two plans to share their rows in a database.

        Args:
            tests: of the simulator.
        """
        import workbench

        plan = self.to_dict()
        for key in ("name", "holdout", "rows_at_once"):
            del plan[key]
        if self.method == "sobol":  # with more points it begins with the same ones
            del plan["points"]
        # Another release of scipy may scramble a sequence in another way.
        first = {"first_point": self.design[0].tolist()}
        return {**plan, **first, "tests": list(tests), "workbench": workbench.__version__}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as a YAML or JSON file holds them."""
        values = {key: getattr(self, key) for key in _KEYS}
        return values | {
            "settings": dict(self.settings),
            "parameters": self.parameters.to_dict()["parameters"],
            "fixed": dict(self.fixed),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a point: ``set`` (design or holdout) and a column a parameter."""
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=list(column_names(self.parameters)))
        sets = ["design"] * len(self.design) + ["holdout"] * self.holdout
        frame.insert(0, "set", sets)
        return frame

    def __repr__(self) -> str:
        held = f" and {self.holdout} to judge by" if self.holdout else ""
        what = f"; {self.model} {self._settings_text()}".rstrip() if self.model else ""
        return (
            f"DesignPlan({self.name}: {len(self.design)} points, {self.method}{held}, in "
            f"{', '.join(self.parameters.names)}{what})"
        )

    def _repr_html_(self) -> str:
        values = self.to_dict() | {"parameters": ", ".join(self.parameters.names)}
        rows = ((key, str(value)) for key, value in values.items())
        return html_table(rows, caption=repr(self), align="l")

    def _settings_text(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())

    def _box(self, given: Any) -> ParameterBox:
        if isinstance(given, ParameterBox):
            box = given
        elif given is None and self.simulator is not None:
            box = self.simulator.box
        elif isinstance(given, Iterable) and not isinstance(given, str | Mapping):
            box = ParameterBox(map(self._parameter, given))
        else:
            raise ParameterError(
                "parameters must be a ParameterBox, or a list of names or of mappings with name, "
                f"unit, low and high; got {given!r}",
                key="parameters",
            )
        if self.simulator is not None:
            for name in box.names:
                self._check_known(name, "parameters")
        return box

    def _parameter(self, given: Any) -> Parameter:
        if isinstance(given, Parameter):
            return given
        if isinstance(given, Mapping):
            try:
                return Parameter.from_dict(given)
            except ParameterError as error:
                raise ParameterError(str(error), key="parameters") from error
        if self.simulator is None:
            raise ParameterError(
                f"a parameter must be a mapping with name, unit, low and high; got {given!r}; only "
                "a named model has ranges of its own",
                key="parameters",
            )
        self._check_known(given, "parameters")
        return self.simulator.box.parameters[self.simulator.box.names.index(given)]

    def _fixed(self) -> dict[str, float]:
        if self.fixed and self.simulator is None:
            raise ParameterError(
                "fixed must be empty where the simulator is a function; fix values inside it",
                key="fixed",
            )
        for name in self.fixed:
            self._check_known(name, "fixed")
            if name in self.parameters.names:
                raise ParameterError(
                    f"fixed must name parameters that do not vary; got {name!r}, which does; "
                    "leave it out of one of the two",
                    key="fixed",
                )
        return {name: number(value, name) for name, value in self.fixed.items()}

    def _check_known(self, name: Any, key: str) -> None:
        known = self.simulator.box.names if self.simulator is not None else ()
        if name not in known:
            raise ParameterError(
                f"{key} of {self.model} must be among {', '.join(known)}; got {name!r}"
                f"{did_you_mean(name, known)}",
                key=key,
            )


def column_names(box: ParameterBox) -> tuple[str, ...]:
    """Return the heads of the parameters' columns: ``latency (s)``."""
    return tuple(one.heading for one in box)
