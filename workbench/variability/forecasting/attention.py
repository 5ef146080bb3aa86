"""A small attention network in numpy: scaled dot-product attention and a fully connected layer.

Attention is that of Vaswani et al. (2017), section 3.2.1, with one head over the steps seen; Adam
is that of Kingma and Ba (2015), with decay of the weights apart from it (Loshchilov and Hutter
2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[Any]]
Gather = Callable[[NDArray[np.intp]], NDArray[np.float32]]

STAGES = 10
"""Number of networks that a training returns, from early to late."""

UPDATES = 600
"""Of the weights in a training."""

# Measured on emulated-link, m = 10, k = 20, every = 2: the MAPE is 9.87 %, give or take 1.1.
_WIDTH = 16  # of a step's embedding; 8 and 32 give 9.95 and 9.72 %
_HIDDEN = 32  # 16 and 64 give 9.92 and 9.83 %
_RATE = 3e-3  # half and double of it give 9.83 and 9.80 %
_DECAY = 0.01  # of weights, times the rate; none and ten times as much give 9.87 % too
_BATCH = 128  # windows; 64 and 256 give 10.01 and 9.87 %, which takes longer
_WARM_UP = 0.1  # share of the training during which the rate rises
# Kingma and Ba 2015 have 0.9 and 0.999, which gives 9.87 % too; 0.8 and 0.95 give 9.81 and 10.04.
_MOMENTUM, _SQUARES = 0.9, 0.99


@dataclass(frozen=True)
class Trained:
    """A network at some moment of its training."""

    weights: Weights  # by name
    scale: float  # of its output

    def predict(self, seen: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the forecast of ``seen[windows, steps, channels]``, float64[windows]."""
        return np.asarray(forward(self.weights, seen)[0] * self.scale, np.float64)


def train(
    gather: Gather,  # returns what is seen in windows, float32[windows, steps, channels]
    target: NDArray[np.float64],  # of all windows
    learn: NDArray[np.intp],  # the windows to learn from
    rng: np.random.Generator,  # of the weights at the start and of the order of the windows
    *,
    updates: int = UPDATES,  # of the weights, each from some of the windows
) -> list[Trained]:
    """Return networks from ``STAGES`` moments of a training, from early to late."""
    scale = float(target[learn].std()) or 1.0
    wanted = (target / scale).astype(np.float32)
    steps, channels = gather(learn[:1]).shape[1:]
    weights = first_weights(channels, steps, rng)
    mean = {name: np.zeros_like(one) for name, one in weights.items()}
    square = {name: np.zeros_like(one) for name, one in weights.items()}
    batches = max(1, -(-len(learn) // _BATCH))
    found, waiting = list[Trained](), list[NDArray[np.intp]]()
    for done in range(1, updates + 1):
        waiting = waiting or np.array_split(rng.permutation(learn), batches)
        batch = waiting.pop()
        slopes = gradient(weights, gather(batch), wanted[batch])
        rate = _RATE * _schedule(done / updates)
        weights = {
            name: _stepped(name, one, slopes[name], mean, square, rate, done)
            for name, one in weights.items()
        }
        if done * STAGES // updates > len(found):
            found.append(Trained(weights, scale))
    return found


def first_weights(
    channels: int, steps: int, rng: np.random.Generator, dtype: type = np.float32
) -> Weights:
    """Return weights at the start of a training."""

    def drawn(*shape: int, scale: float = 1.0) -> NDArray[Any]:
        values: NDArray[Any] = scale * rng.standard_normal(shape) / np.sqrt(shape[0])
        return values.astype(dtype)

    return {
        "embed": drawn(channels, _WIDTH),
        "embed_bias": np.zeros(_WIDTH, dtype),
        "place": (0.1 * rng.standard_normal((steps, _WIDTH))).astype(dtype),
        "query": drawn(_WIDTH, _WIDTH),
        "key": drawn(_WIDTH, _WIDTH),
        "value": drawn(_WIDTH, _WIDTH),
        "hidden": drawn(2 * _WIDTH, _HIDDEN),
        "hidden_bias": np.zeros(_HIDDEN, dtype),
        "out": drawn(_HIDDEN, scale=0.1),
        "out_bias": np.zeros(1, dtype),
        "skip": np.zeros(2 * channels, dtype),
    }


def forward(weights: Mapping[str, NDArray[Any]], seen: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the forecast of ``seen[windows, steps, channels]``, and what led to it.

    softmax(Q K^T / sqrt(d)) V is added to the embedded steps; its mean over the steps and its last
    step are the input of the fully connected layer. The output also has a part that is linear in
    the mean and the last of the steps seen.
    """
    embedded = seen @ weights["embed"] + weights["embed_bias"] + weights["place"]
    query, key, value = (embedded @ weights[name] for name in ("query", "key", "value"))
    score = query @ key.transpose(0, 2, 1) * _shrink(seen.dtype)
    score -= score.max(axis=2, keepdims=True)
    attention = np.exp(score)
    attention /= attention.sum(axis=2, keepdims=True)
    context = embedded + attention @ value
    pooled = np.concatenate([context.mean(axis=1), context[:, -1]], axis=1)
    hidden = np.tanh(pooled @ weights["hidden"] + weights["hidden_bias"])
    out = hidden @ weights["out"] + weights["out_bias"] + _ends(seen) @ weights["skip"]
    return out, embedded, query, key, value, attention, pooled, hidden


def gradient(
    weights: Mapping[str, NDArray[Any]], seen: NDArray[Any], wanted: NDArray[Any]
) -> Weights:
    """Return the derivatives of the mean squared error by each weight."""
    out, embedded, query, key, value, attention, pooled, hidden = forward(weights, seen)
    windows, steps, _ = embedded.shape
    d_out = 2 * (out - wanted) / windows
    d_hidden = np.outer(d_out, weights["out"]) * (1 - hidden**2)
    d_pooled = d_hidden @ weights["hidden"].T
    d_context = np.repeat(d_pooled[:, None, :_WIDTH] / steps, steps, axis=1)
    d_context[:, -1] += d_pooled[:, _WIDTH:]
    d_attention = d_context @ value.transpose(0, 2, 1)
    d_value = attention.transpose(0, 2, 1) @ d_context
    inner = (d_attention * attention).sum(axis=2, keepdims=True)
    d_score = attention * (d_attention - inner) * _shrink(seen.dtype)
    d_query, d_key = d_score @ key, d_score.transpose(0, 2, 1) @ query
    d_embedded = (
        d_context
        + d_query @ weights["query"].T
        + d_key @ weights["key"].T
        + d_value @ weights["value"].T
    )
    rows = _rows(embedded).T
    return {
        "embed": _rows(seen).T @ _rows(d_embedded),
        "embed_bias": _rows(d_embedded).sum(axis=0),
        "place": d_embedded.sum(axis=0),
        "query": rows @ _rows(d_query),
        "key": rows @ _rows(d_key),
        "value": rows @ _rows(d_value),
        "hidden": pooled.T @ d_hidden,
        "hidden_bias": d_hidden.sum(axis=0),
        "out": hidden.T @ d_out,
        "out_bias": d_out.sum(keepdims=True),
        "skip": _ends(seen).T @ d_out,
    }


def _stepped(
    name: str,
    weight: NDArray[Any],
    slope: NDArray[Any],
    mean: Weights,  # of the slopes, which is updated
    square: Weights,  # of the slopes, which is updated
    rate: float,
    done: int,
) -> NDArray[Any]:
    """Return a weight after one step of Adam, biases without decay."""
    mean[name] = _MOMENTUM * mean[name] + (1 - _MOMENTUM) * slope
    square[name] = _SQUARES * square[name] + (1 - _SQUARES) * slope**2
    step = mean[name] / (1 - _MOMENTUM**done)
    step = step / (np.sqrt(square[name] / (1 - _SQUARES**done)) + 1e-8)
    if not name.endswith("_bias") and name != "place":
        step = step + _DECAY * weight
    found: NDArray[Any] = weight - weight.dtype.type(rate) * step
    return found


def _schedule(share: float) -> float:
    """Return the rate relative to its greatest: it rises at first, then falls as a cosine."""
    return min(1.0, share / _WARM_UP) * 0.5 * (1 + math.cos(math.pi * share))


def _ends(seen: NDArray[Any]) -> NDArray[Any]:
    """Return the mean and the last of the steps seen, [windows, 2 channels]."""
    return np.concatenate([seen.mean(axis=1), seen[:, -1]], axis=1)


def _shrink(dtype: np.dtype[Any]) -> Any:
    return dtype.type(1 / np.sqrt(_WIDTH))


def _rows(values: NDArray[Any]) -> NDArray[Any]:
    return values.reshape(-1, values.shape[-1])
