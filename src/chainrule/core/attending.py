"""Attention, raw: softmax(query · keyᵀ · scale + bias) · value, in blocks whose scores stay in the cache."""

import numpy as np

__all__ = ["Attention", "attend", "attend_vjp"]

SCORES = 1 << 18  # elements of a block


class Attention:
    """scale: of the products. bias: added to them, (…, L, S), −∞ where a key is not seen; None: nothing is added.
    alive: which queries see a key, (…, L, 1); None: all do."""

    __slots__ = ("scale", "bias", "alive")

    def __init__(self, scale: float, bias=None):
        self.scale, self.bias, self.alive = scale, bias, None
        if bias is not None:
            alive = np.logical_not(np.isneginf(np.maximum.reduce(bias, axis=-1, keepdims=True, initial=-np.inf)))
            if not alive.all():
                self.alive = alive
                self.bias = np.where(alive, bias, bias.dtype.type(0))


def _heads(x):
    """The last two dimensions, all others as one; half precision as single."""
    x = x.reshape(-1, *x.shape[-2:])
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _blocks(heads: int, rows: int, keys: int):
    """Pairs of slices, of heads and of rows, that together have all scores."""
    each = rows * keys
    if each > SCORES:
        step = max(SCORES // max(keys, 1), 1)
        for head in range(heads):
            for start in range(0, rows, step):
                yield slice(head, head + 1), slice(start, start + step)
        return
    step = max(SCORES // max(each, 1), 1)
    for start in range(0, heads, step):
        yield slice(start, start + step), slice(None)


def _part(full, shape, heads, rows):
    """The block of an array that broadcasts against the scores; None of None."""
    if full is None:
        return None
    full = np.broadcast_to(full, (*shape[:-2], shape[-2], full.shape[-1]))
    if len(shape) == 2:
        return full[None][heads, rows]
    flat = [np.unravel_index(i, shape[:-2]) for i in range(*heads.indices(int(np.prod(shape[:-2]))))]
    return np.stack([full[place][rows] for place in flat])


def _weights(query, key, attention, shape, heads, rows):
    scores = np.matmul(query[heads, rows] * query.dtype.type(attention.scale), key[heads].swapaxes(1, 2))
    bias = _part(attention.bias, shape, heads, rows) if np.ndim(attention.bias) > 2 else attention.bias
    if bias is not None:
        scores += bias[rows] if bias.ndim == 2 and bias.shape[0] > 1 else bias
    scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, axis=-1, keepdims=True)
    if attention.alive is not None:
        scores *= _part(attention.alive, shape, heads, rows)
    return scores


def attend(query, key, value, attention):
    """query: (…, L, D), key: (…, S, D), value: (…, S, E); laid out as the query."""
    shape = (*query.shape[:-1], key.shape[-2])
    q, k, v = _heads(query), _heads(key), _heads(value)
    out = np.empty((*q.shape[:2], v.shape[2]), q.dtype)
    for heads, rows in _blocks(q.shape[0], q.shape[1], k.shape[1]):
        np.matmul(_weights(q, k, attention, shape, heads, rows), v[heads], out=out[heads, rows])
    found = np.empty_like(query, shape=(*query.shape[:-1], value.shape[-1]))
    np.copyto(found, out.reshape(found.shape), casting="same_kind")
    return found


def attend_vjp(grad, query, key, value, attention):
    """The gradients of query, key and value."""
    shape = (*query.shape[:-1], key.shape[-2])
    g, q, k, v = _heads(grad), _heads(query), _heads(key), _heads(value)
    of_query, of_key, of_value = np.empty_like(q), np.zeros_like(k), np.zeros_like(v)
    for heads, rows in _blocks(q.shape[0], q.shape[1], k.shape[1]):
        weights = _weights(q, k, attention, shape, heads, rows)
        part = g[heads, rows]
        of_value[heads] += np.matmul(weights.swapaxes(1, 2), part)
        slope = np.matmul(part, v[heads].swapaxes(1, 2))
        slope -= np.vecdot(slope, weights)[..., None]
        slope *= weights
        slope *= slope.dtype.type(attention.scale)
        np.matmul(slope, k[heads], out=of_query[heads, rows])
        of_key[heads] += np.matmul(slope.swapaxes(1, 2), q[heads, rows])
    return of_query.reshape(query.shape), of_key.reshape(key.shape), of_value.reshape(value.shape)
