"""Any model survives its own .ini exactly; any bytes are read or refused with a ``ParseError``."""

from __future__ import annotations

from hypothesis import given, strategies as st

from workbench.errors import ParseError
from workbench.models import (
    SNAPPR,
    SSTMACRO_MODELS,
    LogPMemory,
    ModelParameter,
    NetworkModel,
    NullMemory,
    Protocol,
    SnapprMemory,
    SSTMacroModel,
    inspect_ini,
    read_ini,
)

LINES = SNAPPR().to_ini().split("\n")
WORDS = [
    "node",
    "nic",
    "{",
    "}",
    "=",
    "include",
    "set var",
    "$x",
    "#",
    "mtu",
    "1KB",
    ".",
    "\t",
    " ",
]


def values(parameter: ModelParameter) -> st.SearchStrategy[object]:
    """Return values a parameter accepts, usual and unusual ones."""
    if parameter.kind == "flag":
        return st.booleans()
    if parameter.kind == "choice":
        return st.sampled_from(parameter.choices)
    top = min(parameter.maximum, 1e15)
    if parameter.kind in ("bytes", "count"):
        whole = st.integers(int(parameter.minimum), int(top))
        return whole | whole.map(lambda n: max(int(parameter.minimum), n // 1000 * 1000))
    return st.floats(parameter.minimum, top, exclude_min=parameter.exclusive, allow_subnormal=False)


@st.composite
def models(draw: st.DrawFn) -> SSTMacroModel:
    """Return a model of any kind with any memory, every parameter drawn."""
    memory = draw(st.sampled_from((LogPMemory(), SnapprMemory(), NullMemory())))
    model = SSTMACRO_MODELS[draw(st.sampled_from(sorted(SSTMACRO_MODELS)))](memory=memory)
    return model.with_values({p.key: draw(values(p)) for p in model.parameters()})


@given(models(), st.booleans())
def test_what_is_written_is_read_back(model: SSTMacroModel, v10: bool) -> None:
    reading = inspect_ini(model.to_ini(v10=v10))
    assert reading.model == model
    # the file says nothing odd, but for what null memory means in SST/macro
    assert len(reading.notes) == isinstance(model.memory, NullMemory)


@given(st.data())
def test_a_model_of_our_own_is_read_back(data: st.DataObject) -> None:
    model = Protocol()
    model = model.with_values({p.key: data.draw(values(p)) for p in model.parameters()})
    assert read_ini(model.to_ini()) == model


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_politely(content: bytes) -> None:
    try:
        read_ini(content)
    except ParseError:
        return
    raise AssertionError("300 bytes cannot hold a whole model")


@given(
    st.integers(0, len(LINES) - 1),
    st.text(max_size=30) | st.lists(st.sampled_from(WORDS), max_size=8).map("".join),
)
def test_a_damaged_line_is_read_or_refused(position: int, line: str) -> None:
    text = "\n".join([*LINES[:position], line, *LINES[position + 1 :]])
    try:
        model = read_ini(text.encode("utf-8", "surrogatepass"))
    except ParseError:
        return
    assert isinstance(model, NetworkModel)
