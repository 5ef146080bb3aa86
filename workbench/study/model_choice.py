"""A model in a study plan: its name, its variant and the values held fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from workbench.errors import ParameterError
from workbench.fit import SearchSpace, model_to_fit
from workbench.models import MODELS, NetworkModel, Value
from workbench.suggestions import unknown_name

_KEYS = ("label", "model", "variant", "values")


@dataclass(frozen=True)
class ModelChoice:
    """A model to fit, under the name the study gives it.

    Attributes:
        label: what tables and study names call it; made of model and variant where it is empty.
        model: name in ``workbench.models.MODELS``.
        values: parameters that differ from the model's defaults, SI or a text with a unit, by
            key. They are held: what the plan states is not searched.
        variant: one of the model's variants, such as ``repaired``; its usual one where it is empty.

    Raises:
        ParameterError: there is no such model, variant or parameter, or values are given to a
            model that has no label of its own.
    """

    label: str = ""
    model: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    variant: str = ""

    def __post_init__(self) -> None:
        name = (self.model or self.label).lower()
        if name not in MODELS:
            raise ParameterError(unknown_name("model", name, tuple(MODELS)), key="models")
        variants = MODELS[name].variants
        if self.variant and self.variant not in variants:
            raise ParameterError(
                unknown_name(f"variant of {name}", self.variant, variants), key="models"
            )
        object.__setattr__(self, "model", name)
        object.__setattr__(self, "variant", self.variant or variants[0])
        plain = self._plain_label()
        if self.values and self.label in ("", plain):
            raise ParameterError(
                f"a model with its own values needs a label that distinguishes it from {plain!r}; "
                "add one such as label: small-packets",
                key="models",
            )
        object.__setattr__(self, "label", self.label or plain)
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))
        if not self.label.isprintable() or self.label.strip() != self.label:
            raise ParameterError(
                f"a label must be one printable word or phrase; got {self.label!r}", key="models"
            )
        self.build()
        self.space()

    @classmethod
    def parse(cls, text: str) -> ModelChoice:
        """Return the choice that ``snappr`` or ``snappr:repaired`` names.

        Args:
            text: a model, and its variant after a colon.

        Raises:
            ParameterError: there is no such model or variant.
        """
        model, colon, variant = text.partition(":")
        if colon and not variant.strip():
            raise ParameterError(f"a variant must stand after the colon of {text!r}", key="models")
        return cls(model=model.strip(), variant=variant.strip())

    @classmethod
    def coerce(cls, value: Any) -> ModelChoice:
        """Return the choice that a text, a mapping or a choice stands for.

        Args:
            value: ``snappr``, ``snappr:repaired``, or a mapping with the names of the attributes.

        Raises:
            ParameterError: it is none of these, or has a key that is not known.
        """
        if isinstance(value, ModelChoice):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if not isinstance(value, Mapping):
            raise ParameterError(
                "a model must be a name such as snappr or snappr:repaired, or a mapping with "
                f"{', '.join(_KEYS)}; got {value!r}",
                key="models",
            )
        for key in value:
            if key not in _KEYS:
                raise ParameterError(unknown_name("key of a model", str(key), _KEYS), key="models")
        values = value.get("values") or {}
        if not isinstance(values, Mapping):
            raise ParameterError(
                f"the values of a model must be a mapping of parameter to value; got {values!r}",
                key="models",
            )
        return cls(
            label=str(value.get("label") or ""),
            model=str(value.get("model") or ""),
            values={str(key): _value(str(key), given) for key, given in values.items()},
            variant=str(value.get("variant") or ""),
        )

    def plain(self) -> str | dict[str, Any]:
        """Return the choice as ``coerce`` reads it, in the shortest form."""
        usual = self.variant == MODELS[self.model].variants[0]
        if not self.values and self.label == self._plain_label():
            return self.model if usual else f"{self.model}:{self.variant}"
        written: dict[str, Any] = {"label": self.label, "model": self.model}
        if not usual:
            written["variant"] = self.variant
        if self.values:
            written["values"] = dict(self.values)
        return written

    def build(self) -> NetworkModel:
        """Return the model that a fit starts from."""
        return self._model

    def space(self) -> SearchSpace:
        """Return the search space of a fit: the model's own without the values that are held."""
        return self._space

    # A shipped study asks once for each of its hundreds of fits.
    @cached_property
    def _model(self) -> NetworkModel:
        return model_to_fit(self.model, self.variant).with_values(self.values)

    @cached_property
    def _space(self) -> SearchSpace:
        space = SearchSpace.for_model(self._model)
        for key in self.values:
            if key in space.keys:
                space = space.fix(key)
        return space

    def _plain_label(self) -> str:
        return MODELS[self.model](variant=self.variant).label


def _value(key: str, given: Any) -> Value:
    if isinstance(given, str | int | float | bool):
        return given
    raise ParameterError(f"{key} must be a number or a text with a unit; got {given!r}", key=key)
