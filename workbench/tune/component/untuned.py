"""The rules of a component that remain where some of its parameters are not tuned.

A parameter that is not tuned has its default wherever it applies. Where it applies may depend on
one that is tuned, so that a rule about it can be a rule about that one:

    segment applies where algorithm == 4, and is 1024    (not tuned)
    count <= segment                                     (a constraint)
    not (algorithm == 4) or (count <= 1024)              (what is left of it)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.errors import ParameterError
from workbench.tune.component.parameter import ComponentParameter
from workbench.tune.space.constraints import Configuration, Expression, TunedValue, parents_first


def untuned(
    parameters: Sequence[ComponentParameter], tuned: Collection[str]
) -> tuple[dict[str, TunedValue | None], dict[str, Expression]]:
    """Return the untuned parameters' values (None: not passed) and conditions on tuned ones."""
    conditions = {p.name: p.condition for p in parameters if p.condition is not None}
    by_name = {p.name: p for p in parameters}
    held: dict[str, TunedValue | None] = {}
    where: dict[str, Expression] = {}
    for name in parents_first(by_name, conditions):
        parameter = by_name[name]
        if name in tuned or (parameter.default is None and not parameter.optional):
            continue
        held[name] = None if parameter.optional else parameter.default
        rule = conditions.get(name)
        if held[name] is None or rule is None:
            continue
        left = _guarded(rule.given(held), _guards(rule, where), condition=True)
        if any(other in held and held[other] is None for other in rule.names):
            held[name] = None
        elif left.names:
            where[name] = left
        elif not left.holds({}):
            held[name] = None
    return held, where


def rule_left(
    rule: Expression, held: Configuration, where: Mapping[str, Expression], key: str
) -> Expression | None:
    """Return a rule with ``untuned``'s values and conditions put in; None if it always holds."""
    unset = [name for name in rule.names if name in held and held[name] is None]
    condition = key != "constraints"
    if unset and not condition:
        return None
    left = rule.given(held)
    guards = _guards(rule, where)
    holds = not left.names and not unset and left.holds({})
    if holds and not (condition and guards):
        return None
    if not unset and (left.names or holds or (guards and not condition)):
        return _guarded(left, guards, condition=condition)
    fixed = ", ".join(f"{name}={held[name]}" for name in rule.names if name in held)
    what = f"{key} applies only where {rule.text}" if condition else f"{rule.text} must hold"
    raise ParameterError(
        f"{what}, but {fixed} is not tuned; tune it as well"
        + (f", or leave {key} out" if condition else ", or change its default"),
        key=key,
    )


def _guards(rule: Expression, where: Mapping[str, Expression]) -> list[Expression]:
    return [where[name] for name in rule.names if name in where]


def _guarded(rule: Expression, guards: Sequence[Expression], *, condition: bool) -> Expression:
    """Return a rule for where all guards hold: elsewhere conditions fail, constraints hold."""
    if not guards:
        return rule
    passed = " and ".join(f"({guard.text})" for guard in guards)
    text = f"{passed} and ({rule.text})" if condition else f"not ({passed}) or ({rule.text})"
    return Expression(text)
