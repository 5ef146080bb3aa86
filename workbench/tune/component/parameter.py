"""One parameter of a component: its type, and how a value of it reaches the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.space.axes import AnyAxis, Choices, Grid, Range, axis_of, is_number
from workbench.tune.space.constraints import Expression, TunedValue

ParameterType = Literal["int", "float", "str", "bool", "categorical"]
PARAMETER_TYPES: tuple[str, ...] = get_args(ParameterType)

_TYPES = {
    "int": "a whole number",
    "float": "a finite number",
    "str": "a text",
    "bool": "true or false",
    "categorical": "a number, a text, true or false",
}


@dataclass(frozen=True)
class ComponentParameter:
    """One parameter of a component.

    Attributes:
        name: what configurations and rules call it.
        type: ``int``, ``float``, ``str``, ``bool``, or ``categorical`` for values of any kind
            without an order.
        default: its value without tuning, None where it is not passed then.
        optional: whether it may be left out; its default is then not passed by itself.
        env_var: the environment variable that takes its value, empty for none.
        cmd_var: whether it is an argument of the command.
        cli_var: whether it is an option of ``sbatch``.
        flag: what stands before the value: ``block-size`` gives the words ``--block-size 4``,
            ``b`` gives ``-b 4``, ``--block-size=`` gives ``--block-size=4`` (in a file with its
            dashes), ``-mca x`` stays as it is; without a flag, ``name=4``.
        suffix: what is glued to the value, such as ``K``.
        switch: for a ``bool``: the flag alone where it is true, nothing where it is false.
        description: a sentence for people.
        choices: all values a ``categorical`` or ``str`` may have; empty for any.
        condition: the rule by which it applies, None for always.
        axis: the values to try where an experiment names none.

    Raises:
        ParameterError: the attributes contradict one another.
    """

    name: str
    type: str = "int"
    default: TunedValue | None = None
    optional: bool = False
    env_var: str = ""
    cmd_var: bool = False
    cli_var: bool = False
    flag: str = ""
    suffix: str = ""
    switch: bool = False
    description: str = ""
    choices: tuple[TunedValue, ...] = ()
    condition: Expression | None = None
    axis: AnyAxis | None = None

    def __post_init__(self) -> None:
        if self.type not in PARAMETER_TYPES:
            raise ParameterError(
                f"the type of {self.name} must be one of {', '.join(PARAMETER_TYPES)}; "
                f"got {self.type!r}"
                f"{did_you_mean(self.type, PARAMETER_TYPES)}",
                key="type",
            )
        if not (self.env_var or self.cmd_var or self.cli_var):
            raise ParameterError(
                f"{self.name} must reach the component by env_var, cmd_var or cli_var; none is "
                "set; add one, such as env_var: true",
                key="env_var",
            )
        if any(sign in self.env_var for sign in "=\0"):
            raise ParameterError(
                f"an environment variable must have no = and no NUL in its name; "
                f"got {self.env_var!r}",
                key="env_var",
            )
        if self.switch and not (self.type == "bool" and self.flag):
            raise ParameterError(
                f"{self.name} must be a bool with a flag to be a switch; got type {self.type}"
                f"{'' if self.flag else ' and no flag'}",
                key="switch",
            )
        for choice in self.choices:
            if self.accepted(choice, choices=False) is None:
                raise ParameterError(self._wording(choice, "a choice"), key="choices")
        if self.default is not None:
            value = self.accepted(self.default)
            if value is None:
                raise ParameterError(self._wording(self.default, "the default"), key="default")
            object.__setattr__(self, "default", value)
        if self.axis is not None:
            object.__setattr__(self, "axis", self.axis_for(self.axis))

    def accepted(self, value: object, *, choices: bool = True) -> TunedValue | None:
        """Return a value in the parameter's type, None where it is not of that type.

        Args:
            value: any value; a whole number also stands for a floating-point one, and 2.0 for 2.
            choices: whether it must be one of the choices where there are some.
        """
        found: TunedValue | None = None
        if self.type == "bool":
            found = value if isinstance(value, bool) else None
        elif self.type == "str":
            found = value if isinstance(value, str) else None
        elif self.type == "categorical":
            found = value if isinstance(value, bool | int | float | str) else None
        elif is_number(value) and (self.type == "float" or value == int(value)):
            found = float(value) if self.type == "float" else int(value)
        if found is None or (choices and self.choices and found not in self.choices):
            return None
        return found

    def coerce(self, value: object) -> TunedValue:
        """Return a value in the parameter's type.

        Args:
            value: any value.

        Raises:
            ParameterError: it is not of that type, or none of the choices.
        """
        found = self.accepted(value)
        if found is None:
            raise ParameterError(self._wording(value, "a value"), key=self.name)
        return found

    def text(self, value: TunedValue) -> str:
        """Return the text of a value for the program: the number in full, 1 or 0 for a bool.

        Args:
            value: a value of the parameter's type.
        """
        if isinstance(value, bool):
            return f"{int(value)}{self.suffix}"
        return f"{value!r}{self.suffix}" if isinstance(value, float) else f"{value}{self.suffix}"

    def arguments(self, value: TunedValue, *, option: bool = False) -> tuple[str, ...]:
        """Return the words that pass a value on a command line.

        Args:
            value: a value of the parameter's type.
            option: whether a parameter without a flag is written ``--name=value``, which
                ``sbatch`` needs, instead of ``name=value``.
        """
        if self.switch and not value:
            return ()
        return self._words(self.text(value), option)

    def reaches(self) -> str:
        """Return the ways to the program, for people: ``$OMP_NUM_THREADS, --threads N``."""
        ways = [f"${self.env_var}"] if self.env_var else []
        for used, option in ((self.cmd_var, False), (self.cli_var, True)):
            if used:
                words = " ".join(self._words("" if self.switch else f"N{self.suffix}", option))
                ways.append(f"{'sbatch ' * option}{words}")
        return ", ".join(ways)

    def passing(self) -> dict[str, Any]:
        """Return the fields that determine how a value is passed, for JSON; empty ones left out."""
        ways = ("optional", "env_var", "cmd_var", "cli_var", "flag", "suffix", "switch")
        used = {name: getattr(self, name) for name in ways if getattr(self, name)}
        return {"default": self.default, **used}

    def axis_for(self, values: AnyAxis | Sequence[TunedValue | None]) -> AnyAxis:
        """Return the axis that values to try make for this parameter.

        Numbers of a parameter whose values have no order become choices; bounds of whole numbers
        a range of whole numbers.

        Args:
            values: an axis, or a plain list.

        Raises:
            ParameterError: a value is not of the parameter's type, or there is none.
        """
        axis: AnyAxis
        unordered = self.type in ("str", "bool", "categorical")
        if isinstance(values, Grid):
            axis = Choices(values.values) if unordered else values
        elif isinstance(values, Range):
            if self.type == "categorical":
                raise ParameterError(
                    f"the values to try of {self.name} must be a list, as those of a categorical "
                    "have no order; got a range; list them, or make it an int or a float",
                    key=self.name,
                )
            axis = values if self.type != "int" else replace(values, integer=True)
        elif isinstance(values, Choices):
            axis = values
        elif isinstance(values, str) or not isinstance(values, Sequence):
            raise ParameterError(
                f"the values to try of {self.name} must be a list, a Grid, a Range or Choices; "
                f"got {values!r}",
                key=self.name,
            )
        elif unordered:
            axis = Choices.of(values)
        elif self.type == "float":
            axis = axis_of([None if v is None else self.coerce(v) for v in values])
        else:
            axis = axis_of(values)
        self._check_axis(axis)
        return axis

    def with_axis(self, values: AnyAxis | Sequence[TunedValue | None]) -> ComponentParameter:
        """Return the parameter with these values to try.

        Args:
            values: an axis, or a plain list.

        Raises:
            ParameterError: a value is not of the parameter's type, or there is none.
        """
        return replace(self, axis=self.axis_for(values))

    def _words(self, text: str, option: bool) -> tuple[str, ...]:
        if not self.flag:
            return (f"--{self.name}={text}",) if option else (f"{self.name}={text}",)
        bare = self.flag.removesuffix("=")
        # Only long options take their value after a =; programs read -b=4 as the value "=4".
        dashes = "" if bare.startswith("-") else "-" if len(self.flag) == 1 else "--"
        words = tuple(f"{dashes}{bare}".split())
        if self.switch:
            return words
        if self.flag.endswith("="):
            return (*words[:-1], f"{words[-1]}={text}")
        return (*words, text)

    def _check_axis(self, axis: AnyAxis) -> None:
        values = (axis.low, axis.high) if isinstance(axis, Range) else axis.values
        for value in values:
            if value is None and self.optional:
                continue
            if self.accepted(value) is None:
                raise ParameterError(self._wording(value, "a value to try"), key="values")

    def _wording(self, value: object, what: str) -> str:
        if self.choices and self.accepted(value, choices=False) is not None:
            known = ", ".join(map(str, self.choices))
            return (
                f"{what} of {self.name} must be one of its choices; got {value!r}"
                f"{did_you_mean(value, self.choices)}; known: {known}"
            )
        return f"{what} of {self.name} must be {_TYPES[self.type]}; got {value!r}"
